"""Executors: the current process, processes on this machine, or a cluster."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": "Executor Limits",
        "cluster": "DaskExecutor",
        "local": "Execution InProcess Processes make_executor",
    },
)
