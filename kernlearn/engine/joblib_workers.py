"""Processes that joblib starts for estimators and choices of parameters end with a trial's."""

import os
from functools import cache
from typing import Any

from joblib import register_parallel_backend
from joblib.parallel import LokyBackend

from kernlearn.engine.own_process import deaf_processes, depend_on_parent


class DependentLoky(LokyBackend):
    """joblib's processes, which would wait for tasks for five minutes without their parent."""

    def configure(self, *arguments: Any, **options: Any) -> Any:
        # any thread may start them, and they serve others after it
        begin = {"initializer": _begin, "initargs": (os.getpid(),)}
        with deaf_processes(pool=True):
            return super().configure(*arguments, **{**begin, **options})

    def submit(self, *arguments: Any, **options: Any) -> Any:
        # the first task starts them
        with deaf_processes(pool=True):
            return super().submit(*arguments, **options)


def _begin(parent: int) -> None:
    depend_on_parent(parent, at_once=False)


@cache
def let_joblib_depend() -> None:
    """Have joblib use these processes in the current process from now on."""
    register_parallel_backend("loky", DependentLoky)
