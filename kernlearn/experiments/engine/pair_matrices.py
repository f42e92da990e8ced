"""Matrices of the values of all pairs of points, computed once and kept in the user's cache."""

import json
import math
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.cache import write_whole
from kernlearn.datasets.files import cache_folder
from kernlearn.memory import require_memory

#: Bytes of all matrices that are kept; those used longest ago are removed.
LIMIT = 8 << 30

# Values that are computed between two notes of what is done: what an interruption loses.
_BLOCK = 1 << 15
# Pairs compared before anything is timed, so that no compilation is.
_WARM_UP = 2
# Estimated seconds above which a matrix is announced, and between two attempts to get a lock.
_LONG, _POLL = 5.0, 0.5
# Matrices that were opened last, by key.
_OPEN = 64
_opened: "OrderedDict[str, PairMatrix]" = OrderedDict()
_points: dict[str, Any] = {}

#: Takes two slices of points, returns the values of all their pairs.
Compare = Callable[[slice, slice], NDArray[np.float64]]


@dataclass(frozen=True)
class PairMatrix:
    """The values of all pairs of points.

    Attributes
    ----------
    values : ndarray of shape (n_points, n_points)
        Mapped into memory if it is in the cache.
    seconds : float
        Processor seconds of one comparison, on the mean over all that were made.
    path : Path or None
        Its file.
    """

    values: NDArray[np.float64]
    seconds: float
    path: Path | None = None

    def __reduce__(self) -> Any:
        # another process opens the file; a matrix without one is sent
        if self.path is None:
            return PairMatrix, (np.asarray(self.values), self.seconds)
        return _reopened, (self.path, self.values.shape[0])


@dataclass(frozen=True)
class Wanted:
    """A matrix that is to be had.

    Attributes
    ----------
    identity : dict
        What determines its values, in plain values.
    label : str
        Its name in messages.
    n_points : int
    compare : callable
        Computes the values of the pairs of two slices of points, in one thread.
    symmetric : bool
        Whether the order of two points makes no difference.
    """

    identity: dict[str, Any]
    label: str
    n_points: int
    compare: Compare
    symmetric: bool

    @property
    def key(self) -> str:
        """A hash of what determines the values."""
        return sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()[:32]


def folder() -> Path:
    """Return the folder of the matrices; it need not exist."""
    return cache_folder() / "pairs"


def pair_matrices(wanted: Iterable[Wanted]) -> "dict[str, PairMatrix]":
    """Return matrices by key, those that are not in the cache after they have been computed.

    If another process computes one of them, the others are computed first. In a cache that cannot
    be written nothing is kept but in the memory of this process.

    Raises
    ------
    SimilarityError
        If a value is not finite; the error names the points.
    MemoryError
        If a matrix is larger than what the cache may hold, or than the memory.
    """
    found: dict[str, PairMatrix] = {}
    waiting = {one.key: one for one in wanted}
    while waiting:
        taken = {key: _taken(one, wait=False) for key, one in waiting.items()}
        if all(matrix is None for matrix in taken.values()):
            first = next(iter(waiting))
            taken = {first: _taken(waiting[first], wait=True)}
        for key, matrix in taken.items():
            if matrix is not None:
                found[key] = matrix
                del waiting[key]
    return found


def _taken(wanted: Wanted, *, wait: bool) -> PairMatrix | None:
    """Open or compute a matrix; None if another process computes it and is not waited for."""
    key, n = wanted.key, wanted.n_points
    if key in _opened:
        _opened.move_to_end(key)
        return _opened[key]
    path = folder() / f"{key}.npy"
    matrix = _read(path, n)
    if matrix is None:
        _check_size(wanted)
        try:
            with _locked(path, wait=wait) as held:
                if not held:
                    return None
                matrix = _read(path, n) or _made(wanted, path)
        except OSError:
            _say_unwritable(str(folder()))
            matrix = _made(wanted, None)
    _remember(wanted, matrix)
    return matrix


def _remember(wanted: Wanted, matrix: PairMatrix) -> None:
    """Keep a matrix open; of those without a file only the ones of the same points."""
    points = wanted.identity.get("points")
    for key, other in list(_opened.items()):
        if other.path is None and _points.get(key) != points:
            del _opened[key]
    _opened[wanted.key], _points[wanted.key] = matrix, points
    if len(_opened) > _OPEN:
        del _points[_opened.popitem(last=False)[0]]


@cache
def _say_unwritable(where: str) -> None:
    _say(f"{where} cannot be written: comparisons are kept in the memory of this process only")


def _check_size(wanted: Wanted) -> None:
    needed = 8 * wanted.n_points**2
    if needed > LIMIT:
        raise MemoryError(
            f"compare_once: the values of all pairs of {wanted.n_points} points take "
            f"{needed / 2**30:.3g} GiB, more than the {LIMIT / 2**30:.3g} GiB that are kept: give "
            "the data set `sample`, or leave compare_once out"
        )


@contextmanager
def _locked(path: Path, *, wait: bool) -> Iterator[bool]:
    """Hold the lock of a matrix; the value tells whether it is held."""
    from filelock import FileLock, Timeout

    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_suffix(".lock"))
    try:
        lock.acquire(timeout=-1 if wait else 0, poll_interval=_POLL)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def _read(path: Path, n_points: int) -> PairMatrix | None:
    # a damaged file may raise anything at all, and is computed again
    with suppress(Exception):
        seconds = float(json.loads(_note(path).read_text(encoding="utf-8"))["seconds"])
        values = np.load(path, mmap_mode="r", allow_pickle=False)
        if values.shape == (n_points, n_points) and values.dtype == np.float64:
            with suppress(OSError):
                path.touch()  # used last
            return PairMatrix(values, seconds, path)
    return None


def _reopened(path: Path, n_points: int) -> PairMatrix:
    matrix = _read(path, n_points)
    if matrix is None:
        raise OSError(f"{path}: was removed from the cache while it was in use; run again")
    return matrix


def _note(path: Path) -> Path:
    return path.with_suffix(".json")


def _made(wanted: Wanted, path: Path | None) -> PairMatrix:
    """Compute a matrix, and keep it in a file if there is to be one.

    What an interrupted process has computed is taken from its file.
    """
    n = wanted.n_points
    require_memory(8 * n * n, None, "compare_once", "give the data set `sample`")
    values, part = np.empty((n, n)), _Part(path)
    done = part.taken_up(wanted, values)
    for state, block in _computed(wanted, values, done):
        part.add(block, state)
        done = state
    seconds = done.seconds / done.pairs
    if path is not None and part.writable:
        _remove_oldest(values.nbytes)
        note = json.dumps({**wanted.identity, "seconds": seconds, "pairs": done.pairs}).encode()
        write_whole(_note(path), lambda file: file.write(note))
        write_whole(path, lambda file: np.save(file, values))
    part.remove()
    return (path and _read(path, n)) or PairMatrix(values, seconds)


@dataclass(frozen=True)
class _Done:
    """How many rows are computed, by how many comparisons in how many seconds."""

    rows: int = 0
    pairs: int = 0
    seconds: float = 0.0


class _Part:
    """The blocks of a matrix in the order in which they are computed, in a file."""

    def __init__(self, path: Path | None) -> None:
        self.writable = path is not None
        place = path or Path("none")
        self._values, self._state = place.with_suffix(".part"), place.with_suffix(".done")

    def taken_up(self, wanted: Wanted, values: NDArray[np.float64]) -> _Done:
        """Fill in the blocks of the file, and return what is done."""
        if not self.writable:
            return _Done()
        with suppress(OSError, ValueError, TypeError):
            done = _Done(**json.loads(self._state.read_text(encoding="utf-8")))
            found = np.fromfile(self._values, dtype=np.float64, count=done.pairs)
            if len(found) == done.pairs:
                with self._values.open("r+b") as file:
                    file.truncate(found.nbytes)
                first = 0
                for rows, columns in _blocks(wanted, 0, done.rows):
                    size = (rows.stop - rows.start) * (columns.stop - columns.start)
                    block = found[first : first + size].reshape(rows.stop - rows.start, -1)
                    _fill(wanted, values, rows, columns, block)
                    first += size
                return done
        self.remove()
        return _Done()

    def add(self, block: NDArray[np.float64], done: _Done) -> None:
        """Write a block, then what is done with it; without room on the disk nothing more."""
        if self.writable:
            try:
                with self._values.open("ab") as file:
                    file.write(block.tobytes())
            except OSError:
                self.writable = False
                return
            text = json.dumps(asdict(done)).encode()
            write_whole(self._state, lambda file: file.write(text))

    def remove(self) -> None:
        """Remove the file, as far as that is possible."""
        for file in (self._state, self._values):
            with suppress(OSError):
                file.unlink(missing_ok=True)


def _blocks(wanted: Wanted, first: int, end: int) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the blocks between two rows.

    Points of a symmetric similarity are compared with the later points alone.
    """
    n = wanted.n_points
    while first < end:
        start = first if wanted.symmetric else 0
        last = min(n, first + max(1, _BLOCK // (n - start)))
        yield slice(first, last), slice(start, n)
        first = last


def _fill(
    wanted: Wanted, values: NDArray[np.float64], rows: slice, columns: slice, block: Any
) -> None:
    values[rows, columns] = block
    if wanted.symmetric:
        values[columns, rows] = block.T


def _computed(
    wanted: Wanted, values: NDArray[np.float64], done: _Done
) -> Iterator[tuple[_Done, NDArray[np.float64]]]:
    """Compute the rows of a matrix that are missing, and yield what is done after each block."""
    n, first, announced = wanted.n_points, done.rows, False
    started = time.perf_counter()
    some = slice(0, _WARM_UP)
    wanted.compare(some, some)
    for rows, columns in _blocks(wanted, first, n):
        clock = time.process_time()
        block = np.ascontiguousarray(wanted.compare(rows, columns), dtype=np.float64)
        seconds = done.seconds + time.process_time() - clock
        _fill(wanted, values, rows, columns, block)
        done = _Done(rows.stop, done.pairs + block.size, seconds)
        left = (n - rows.stop) * (n - columns.start) / (2 if wanted.symmetric else 1)
        if not announced and (expected := left * seconds / done.pairs) > _LONG:
            announced = True
            again = f", from point {first + 1} on" if first else ""
            _say(
                f"comparing all pairs of {n} points by {wanted.label}{again}: about "
                f"{math.ceil(expected)} s"
            )
        yield done, block
    if announced:
        _say(
            f"compared all pairs of {n} points by {wanted.label} in "
            f"{time.perf_counter() - started:.0f} s, {1e6 * done.seconds / done.pairs:.3g} µs each"
        )


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _remove_oldest(needed: int) -> None:
    """Remove the matrices used longest ago, so that another one fits."""
    with suppress(OSError):
        files = sorted(folder().glob("*.npy"), key=lambda file: file.stat().st_mtime)
        total = sum(file.stat().st_size for file in files)
        for file in files:
            if total + needed <= LIMIT:
                break
            total -= file.stat().st_size
            for suffix in (".npy", ".json", ".lock"):
                file.with_suffix(suffix).unlink(missing_ok=True)
