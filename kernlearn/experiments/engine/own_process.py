"""Calls in a process of their own, which ends with the call, or with the process that asked."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kernlearn.apart import cause_of_death
from kernlearn.exceptions import ExecutorError
from kernlearn.memory import keeping_variables

Value = TypeVar("Value")

# Seconds between two looks for the parent process.
_PARENT_LOOK = 0.5


def call_alone(function: Callable[..., Value], *arguments: Any, **options: Any) -> Value:
    """Call a function of a module in a new process, and return its value.

    Parameters
    ----------
    function : callable
    *arguments, **options
        What it is called with. These and the value must be picklable.

    Raises
    ------
    ExecutorError
        If the process dies.
    """
    start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import answer; answer()"
    # freed memory that stays would hide what a fit needs
    keeping = keeping_variables(0)
    environment = {k: v for k, v in os.environ.items() if k not in keeping}
    process = subprocess.Popen(
        [sys.executable, "-c", start],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
    )  # fmt: skip
    try:
        answer, _ = process.communicate(pickle.dumps((function, arguments, options)))
    except BaseException:
        process.kill()
        process.wait()
        raise
    if process.returncode:
        raise ExecutorError(f"its own process died: {cause_of_death(process.returncode)}")
    value: Value = pickle.loads(answer)
    return value


def answer() -> None:
    """Do what the process that started this one asks, and send it the value."""
    # what libraries print must not get between
    out = os.dup(1)
    os.dup2(2, 1)
    function, arguments, options = pickle.load(sys.stdin.buffer)
    depend_on_parent()
    value = function(*arguments, **options)
    with os.fdopen(out, "wb") as stream:
        pickle.dump(value, stream)


def depend_on_parent() -> None:
    """Ignore Ctrl-C, on which the parent ends its processes, and end when the parent has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def _end_after(parent: int) -> None:
    # the child of a killed process gets another parent
    while os.getppid() == parent:
        time.sleep(_PARENT_LOOK)
    os._exit(1)
