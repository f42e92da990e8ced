"""Calls in a process of their own, which ends with the call, or with the process that asked."""

import ctypes
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from kernlearn.datasets.apart import cause_of_death
from kernlearn.exceptions import ExecutorError
from kernlearn.memory import keeping_variables

Value = TypeVar("Value")

# Seconds between two looks for the parent process.
_PARENT_LOOK = 0.5
# Signals of a terminal to all processes of a command, which the first of them answers for all.
_OF_TERMINALS = [getattr(signal, n) for n in ("SIGINT", "SIGHUP") if hasattr(signal, n)]
# Of Linux: the number of the option that names the signal for the end of the parent's thread.
_PR_SET_PDEATHSIG = 1


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
    call = pickle.dumps((os.getpid(), function, arguments, options))
    with deaf_processes():
        process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )
    try:
        answer, _ = process.communicate(call)
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
    parent, function, arguments, options = pickle.load(sys.stdin.buffer)
    depend_on_parent(parent)
    value = function(*arguments, **options)
    with os.fdopen(out, "wb") as stream:
        pickle.dump(value, stream)


@contextmanager
def deaf_processes(*, pool: bool = False) -> Iterator[None]:
    """Keep signals of the terminal from processes and threads that are started in the block.

    A process can ignore them itself only after its start. Those of a ``pool`` have one beside
    them that keeps track of their semaphores, and Python lets signals through when it starts it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
    try:
        if pool:
            from multiprocessing import resource_tracker

            resource_tracker.ensure_running()
            signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def depend_on_parent(parent: int, *, at_once: bool = True) -> None:
    """Ignore signals of the terminal, on which the parent ends its processes, and end with it.

    Parameters
    ----------
    parent : int
        The number of the parent's process, which may have ended already.
    at_once : bool, default=True
        Where the system can (Linux), end at once, also in the middle of compiled code. The thread
        that has started this process must not end before the process is not needed any more.
        Otherwise this process looks every half second, when it runs Python code.
    """
    for number in _OF_TERMINALS:
        signal.signal(number, signal.SIG_IGN)
    if at_once:
        _end_with_thread()
    threading.Thread(target=_end_after, args=(parent,), daemon=True).start()


def dask_setup(worker: Any) -> None:
    """Begin a worker of a local cluster, which preloads this module.

    Dask ends it with the parent, but only when it runs Python code.
    """
    _end_with_thread()


def _end_with_thread() -> None:
    """Let the system kill this process when the thread that has started it ends, if it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _end_after(parent: int) -> None:
    # the child of a killed process gets another parent
    while os.getppid() == parent:
        time.sleep(_PARENT_LOOK)
    os._exit(1)
