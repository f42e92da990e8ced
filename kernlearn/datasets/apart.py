"""Calls in processes apart, for libraries that a damaged file may make crash, hang or fill memory.

One process is kept ready for some seconds and has imported what is needed; each call is made in a
copy of it (where the system can fork), which ends with the call. Requests and answers are JSON,
and arrays come back in a file in NumPy's format: what a file has broken is never unpickled.
"""

import atexit
import json
import math
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

from kernlearn.exceptions import DataError
from kernlearn.memory import keeping_variables

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

# Seconds after which the process that is kept ready ends without a call.
_IDLE = 20
# Seconds of computing after which a small file hangs, and bytes per second that are always read.
_SECONDS, _SPEED = 5, 5e6
_TAKEN = b"taken\n"
_FORKS = hasattr(os, "fork")
# Threads of BLAS would not survive a fork, and reading needs none.
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
# Other allocators of Arrow take much address space, which is limited.
_ALLOCATOR = {"ARROW_DEFAULT_MEMORY_POOL": "system"}


class Died(Exception):
    """The process of a call ended before it had answered; the message says of what."""


class Answer(NamedTuple):
    """What a function that is called apart returns: a value of JSON, and arrays."""

    value: Any
    arrays: tuple[Any, ...] = ()


class _Ready:
    """The process that is kept ready, from the side of the one that asks."""

    def __init__(self) -> None:
        start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; serve()"
        kept = {k: v for k, v in os.environ.items() if k not in keeping_variables(0)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**kept, **dict.fromkeys(_THREADS, "1"), **_ALLOCATOR},
            start_new_session=True,
        )

    @property
    def lives(self) -> bool:
        return self.process.poll() is None

    def ask(self, request: bytes) -> int | None:
        """Return how the call ended, as `returncode` of a process; None if it did not begin."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(request)
            self.process.stdin.flush()
        except OSError:
            return None
        if self.process.stdout.readline() != _TAKEN:
            return None
        ended = self.process.stdout.readline()
        return int(ended) if ended else self.process.wait() or 1

    def end(self) -> None:
        """End the process and what it calls."""
        with suppress(OSError):
            if self.lives and _FORKS:  # the number of one that has ended may be another's
                os.killpg(self.process.pid, signal.SIGKILL)
            elif self.lives:
                self.process.kill()
        with suppress(OSError):
            self.process.communicate()


_ready: _Ready | None = None
_lock = threading.Lock()
_is_a_copy = False


def _forget() -> None:
    """Let a copy of this process have a process of its own."""
    global _ready, _lock
    _ready, _lock = None, threading.Lock()


def _end() -> None:
    global _ready
    if _ready is not None:
        _ready.end()
        _ready = None


atexit.register(_end)
if _FORKS:
    os.register_at_fork(after_in_child=_forget)


def call_apart(function: str, *arguments: Any, memory: int | None = None) -> Answer:
    """Call a function in a process apart.

    Parameters
    ----------
    function : str
        Its module and name, as ``module:name``. It returns an :class:`Answer`.
    *arguments
        What it is called with, as JSON has it.
    memory : int, optional
        The bytes that the call may take, where the system has such a limit.

    Raises
    ------
    Died
        If the process ends without an answer.
    DataError
        If the function raises it.
    """
    global _ready
    with tempfile.TemporaryDirectory(prefix="kernlearn-") as folder:
        file = Path(folder) / "answer"
        environment = {k: v for k, v in os.environ.items() if k.startswith("KERNLEARN_")}
        request = (
            json.dumps(
                [function, arguments, memory, str(file), Path.cwd().as_posix(), environment]
            ).encode()
            + b"\n"
        )
        with _lock:
            try:
                for _ in range(2):  # the one that was ready may just have ended
                    if _ready is None or not _ready.lives:
                        _end()
                        _ready = _Ready()
                    if (status := _ready.ask(request)) is not None:
                        break
                    _end()
            except BaseException:
                _end()
                raise
        if status is None:
            raise Died("no process could be started")
        if status:
            raise Died(cause_of_death(status))
        return _read_answer(file)


def _read_answer(file: Path) -> Answer:
    import numpy as np

    with file.open("rb") as stream:
        head = json.loads(stream.readline())
        if "error" in head:
            raise DataError(head["error"])
        read = np.lib.format.read_array
        arrays = tuple(read(stream, allow_pickle=False) for _ in range(head["arrays"]))
        return Answer(head["value"], arrays)


def cause_of_death(status: int) -> str:
    """Say of what a process died that ended with this status."""
    if status == -signal.SIGKILL:
        return "it was killed, probably because the memory of the machine was full"
    if status == -getattr(signal, "SIGXCPU", 0):
        return "it did not come to an end"
    return f"signal {-status}" if status < 0 else f"exit code {status}"


def serve() -> None:
    """Answer requests, each in a copy of this process, until there are none any more."""
    out = os.dup(1)
    os.dup2(2, 1)  # what libraries print must not get between
    stream: IO[bytes] = sys.stdin.buffer
    # on Windows only sockets can be waited for
    while not _FORKS or select.select([stream], [], [], _IDLE)[0]:
        if not (line := stream.readline()):
            return
        request = json.loads(line)
        import_module(request[0].partition(":")[0])  # once, for all copies
        os.write(out, _TAKEN)
        status = _in_a_copy(request) if _FORKS else _answer(*request)
        os.write(out, f"{status}\n".encode())


def _in_a_copy(request: list[Any]) -> int:
    global _is_a_copy
    child = os.fork()
    if not child:
        status, _is_a_copy = 1, True
        try:
            status = _answer(*request)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _answer(
    function: str,
    arguments: list[Any],
    memory: int | None,
    file: str,
    folder: str,
    environment: dict[str, str],
) -> int:
    """Call the function, and write what it returns or the message of its error."""
    import numpy as np

    os.chdir(folder)
    for name in [name for name in os.environ if name.startswith("KERNLEARN_")]:
        del os.environ[name]
    os.environ.update(environment)
    if memory is not None:
        _limit_memory(memory)
    module, _, name = function.partition(":")
    try:
        answer: Answer = getattr(import_module(module), name)(*arguments)
        head = {"value": answer.value, "arrays": len(answer.arrays)}
    except DataError as error:
        answer, head = Answer(None), {"error": str(error)}
    with Path(file).open("wb") as stream:
        stream.write(json.dumps(head).encode() + b"\n")
        for array in answer.arrays:
            np.lib.format.write_array(stream, array, allow_pickle=False)
    return 0


def _limit_memory(n_bytes: int) -> None:
    """Let a copy take so many bytes beside what it has."""
    statm = Path("/proc/self/statm")
    if resource is None or not _is_a_copy or not statm.exists():
        return
    has = int(statm.read_text().split()[0]) * resource.getpagesize()
    _set_limit(resource.RLIMIT_AS, has + n_bytes)
    _set_limit(resource.RLIMIT_CORE, 0)


def allow_for(n_bytes: int) -> None:
    """End this copy if it computes for much longer than so many bytes may need."""
    if resource is not None and _is_a_copy:
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = used.ru_utime + used.ru_stime + _SECONDS + n_bytes / _SPEED
        _set_limit(resource.RLIMIT_CPU, math.ceil(seconds))


def _set_limit(kind: int, value: int) -> None:
    """Set a limit that this process may set again, within the one that it was given."""
    most = resource.getrlimit(kind)[1]
    if most != resource.RLIM_INFINITY:
        value = min(value, most)
    resource.setrlimit(kind, (value, most))
