"""Executors: the current process, processes on this machine, or a cluster."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        ".engine.runner": "make_executor",
        "cluster": "DaskExecutor",
        "local": "Executor InProcess Limits Processes",
    },
)
