"""Metrics that tell what a trial costs: no two machines, or runs, have them in common."""

#: Endings of the names of such metrics: times, and greatest memory.
ENDINGS = ("_seconds", "_memory")

#: The greatest memory of a fit, for which a trial needs a process of its own.
FIT_MEMORY = "fit_memory"


def is_cost(metric: str) -> bool:
    """Whether a metric is a time or an amount of memory; less is better."""
    return metric.endswith(ENDINGS)


def is_time(metric: str) -> bool:
    """Whether a metric is a time, which other processes on the same cores make longer."""
    return metric.endswith(ENDINGS[0])
