"""What a computation may take: memory, blocks of rows, and long calls that Ctrl-C ends."""

import ctypes
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

_GIB = 2**30
# Fewer bytes are not worth asking the operating system.
_UNCHECKED = 2**24

#: Size of a block of values: it stays in cache between its making and its use.
BLOCK_BYTES = 2**21
#: With fewer rows a matrix product is slow, and kernels prepare the columns anew for each block.
FEWEST_ROWS = 32

_LONG = 2e10  # floating point operations of a call that takes about a second


def row_blocks(
    n_rows: int,
    n_columns: int,
    *,
    itemsize: int = 8,
    block_bytes: int | None = None,
    multiple: int = 1,
) -> Iterator[slice]:
    """Yield consecutive slices of all rows, blocks of a matrix that is computed in blocks.

    `n_columns` is that of the widest array per row, `itemsize` the bytes per value. All blocks but
    the last have a `multiple` of so many rows. Another `block_bytes` than `BLOCK_BYTES` needs a
    measurement.
    """
    size = (block_bytes or BLOCK_BYTES) // (itemsize * max(n_columns, 1))
    size = max(size, FEWEST_ROWS)
    size = max(size - size % multiple, multiple)
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def interruptible(call: Callable[[], T], work: float = _LONG) -> T:
    """Call a function that spends long in C code, so that Ctrl-C reaches Python meanwhile.

    Python handles signals in the main thread, and only between its own instructions: there the
    call runs in another thread, for which the main one waits. After an interrupt it goes on by
    itself until it returns, since C code cannot be stopped; the end of the process ends it. The
    call must not hold Python's lock. One of little `work`, in operations, runs where it is.
    """
    if work < _LONG or threading.current_thread() is not threading.main_thread():
        return call()
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    # on Windows a signal does not end a wait
    while not wait([future], timeout=1).done:
        pass
    return future.result()


def gram(X: Any) -> Any:
    """Return XᵀX; Ctrl-C reaches Python meanwhile."""
    return interruptible(lambda: X.T @ X, 2.0 * X.size * X.shape[1])


def cholesky(matrix: Any, *, lower: bool = True) -> Any:
    """Return a Cholesky factor; Ctrl-C reaches Python meanwhile. The matrix may be overwritten."""
    import numpy as np
    from scipy.linalg import lapack

    if (work := len(matrix) ** 3 / 3) < _LONG:
        # LAPACK itself: for a hundred rows SciPy's checks take longer
        factor, failed = lapack.dpotrf(matrix, lower=lower, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        return factor
    # SciPy holds Python's lock, NumPy does not
    factor = interruptible(partial(np.linalg.cholesky, matrix), work)
    return factor if lower else factor.T


def eigh(matrix: Any) -> tuple[Any, Any]:
    """Return the eigenvalues and eigenvectors of a symmetric matrix, as `cholesky`."""
    import numpy as np
    from scipy import linalg

    if (work := 9 * len(matrix) ** 3) < _LONG:
        return linalg.eigh(matrix)
    return interruptible(partial(np.linalg.eigh, matrix), work)


def available_memory(root: Path = Path("/")) -> int:
    """Return the memory that can still be allocated without swapping, in bytes.

    The smallest of what the operating system calls available, what the process's control groups
    leave, and what its own limits (``ulimit -v``) leave. `root` is where ``proc`` and ``sys`` of
    control groups are mounted.
    """
    import psutil

    available = int(psutil.virtual_memory().available)
    return max(0, min([available, *_from_cgroups(root), *_from_own_limits()]))


def allowed_memory() -> int:
    """Return the bytes that this process may still use: available, or freed and kept."""
    return available_memory() + freed_memory()


class _AllocatorState(ctypes.Structure):
    """``mallinfo2`` of the GNU C library."""

    _names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]


def freed_memory() -> int:
    """Return the bytes that this process has freed and its C library has kept, if it tells."""
    state = getattr(c_library(), "mallinfo2", None)
    if state is None:
        return 0
    state.restype = _AllocatorState
    return int(state().fordblks)


def c_library() -> ctypes.CDLL | None:
    """Return the C library of this process, if it has one."""
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # no such name on Windows
        return None


def require_memory(needed: int, purpose: str, advice: str) -> None:
    """Raise a MemoryError if more bytes are needed than are available.

    `purpose` is what the memory is for, `advice` what to do instead.
    """
    if needed <= _UNCHECKED:
        return
    allowed = allowed_memory()
    if needed > allowed:
        raise MemoryError(
            f"{purpose} needs {needed / _GIB:.3g} GiB, but {allowed / _GIB:.3g} GiB are "
            f"available: {advice}"
        )


def _from_own_limits() -> Iterator[int]:
    """Yield what the limits of this process on its address space and its data leave."""
    try:
        import resource
    except ImportError:  # Windows
        return
    import psutil

    used = psutil.Process().memory_info()
    for kind, name in ((resource.RLIMIT_AS, "vms"), (resource.RLIMIT_DATA, "data")):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY and hasattr(used, name):
            yield limit - getattr(used, name)


def _from_cgroups(root: Path) -> Iterator[int]:
    """Yield what each control group of this process leaves."""
    mount = root / "sys/fs/cgroup"
    for line in _lines(root / "proc/self/cgroup"):
        if line.startswith("0::"):
            group = mount / line[3:].strip("/")
            for folder in (group, *group.parents):
                yield from _left_in(folder)
                if folder == mount:
                    break


def _left_in(folder: Path) -> Iterator[int]:
    limit, usage = _lines(folder / "memory.max"), _lines(folder / "memory.current")
    if not (limit and usage and limit[0].isdigit()):  # no such group, or "max"
        return
    # cached pages of files count as used, but are given up on demand
    cached = [
        int(line.split()[1])
        for line in _lines(folder / "memory.stat")
        if line.startswith("inactive_file ")
    ]
    yield int(limit[0]) - int(usage[0]) + sum(cached)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
