"""What two runs of the same trials must have in common."""


def numbers(plan, store):
    """Every metric but the times, by trial; floats as they are, to the last bit."""
    found = store.get(t.key for t in plan.trials)
    return {
        key: {k: v for k, v in r.metrics.items() if "seconds" not in k}
        for key, r in found.items()
        if r.done
    }
