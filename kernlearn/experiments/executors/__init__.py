"""Executors: the current process, processes on this machine, or a cluster."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "DaskExecutor": "cluster",
        "Execution": "choice",
        "Executor": "base",
        "InProcess": "local",
        "Limits": "base",
        "Processes": "local",
        "make_executor": "choice",
    },
)
