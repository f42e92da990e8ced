"""Where trials are carried out: in this process, in others on this machine, on a cluster."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "DaskExecutor": "cluster",
        "Execution": "settings",
        "Executor": "base",
        "InProcess": "in_process",
        "Limits": "base",
        "Processes": "processes",
        "make_executor": "choice",
    },
)
