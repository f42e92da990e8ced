"""A cache of the values of pairs of points, in memory or on disk."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from os import PathLike
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray

_QUERIED = 500  # keys of a query
_WAIT = 60.0  # seconds for another process that writes


class PairCache:
    """Values of functions of two points, kept for later fits, predictions and runs.

    A value is found by the content of the two points and by the function's name and code.

    Parameters
    ----------
    path : path-like, default=None
        A file, an SQLite database, which several processes may share; None for memory, which is
        lost with the process and is not shared with other processes.
    name : str, default=None
        What stands for the function, instead of its name, code and the values that it holds: with
        a name a cache serves a function that has changed without effect, or holds much.

    Examples
    --------
    >>> from kernlearn.similarities import FunctionSimilarity, PairCache
    >>> cache = PairCache()
    >>> similarity = FunctionSimilarity(lambda x, y: x @ y, cache=cache)
    >>> similarity([[1.0, 2.0]], [[3.0, 4.0]]), len(cache)
    (array([[11.]]), 1)
    """

    def __init__(self, path: str | PathLike[str] | None = None, name: str | None = None) -> None:
        self.path, self.name = path, name
        self._kept: dict[bytes, float] = {}

    def keys(
        self,
        function: Callable[[Any, Any], Any],
        left: Sequence[Any],
        right: Sequence[Any],
        rows: NDArray[np.intp],
        columns: NDArray[np.intp],
        symmetric: bool,
    ) -> list[bytes]:
        """Return the keys of some pairs."""
        start = (self.name or _identity(function)).encode()
        first = {i: joblib.hash(left[i]).encode() for i in np.unique(rows).tolist()}
        second = {j: joblib.hash(right[j]).encode() for j in np.unique(columns).tolist()}
        keys = []
        for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
            pair = [first[i], second[j]]
            keys.append(sha256(b"\0".join([start, *(sorted(pair) if symmetric else pair)])))
        return [key.digest()[:16] for key in keys]

    def find(self, keys: Sequence[bytes]) -> NDArray[np.float64]:
        """Return the values of keys, NaN where there is none."""
        if self.path is None:
            return np.array([self._kept.get(key, np.nan) for key in keys])
        found: dict[bytes, float] = {}
        with self._open() as database:
            for first in range(0, len(keys), _QUERIED):
                some = keys[first : first + _QUERIED]
                marks = ",".join("?" * len(some))
                query = f"SELECT key, value FROM pairs WHERE key IN ({marks})"
                found.update(database.execute(query, some))
        return np.array([found.get(key, np.nan) for key in keys])

    def keep(self, keys: Sequence[bytes], values: NDArray[np.float64]) -> None:
        """Keep the values of keys."""
        pairs = zip(keys, values.tolist(), strict=True)
        if self.path is None:
            self._kept.update(pairs)
            return
        with self._open() as database:
            database.executemany("INSERT OR REPLACE INTO pairs VALUES (?, ?)", pairs)

    def clear(self) -> None:
        """Forget all values."""
        self._kept.clear()
        if self.path is not None:
            with self._open() as database:
                database.execute("DELETE FROM pairs")

    def __len__(self) -> int:
        if self.path is None:
            return len(self._kept)
        with self._open() as database:
            return int(database.execute("SELECT COUNT(*) FROM pairs").fetchone()[0])

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        path = Path(str(self.path))
        path.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(path, timeout=_WAIT)) as database, database:
            database.execute(
                "CREATE TABLE IF NOT EXISTS pairs (key BLOB PRIMARY KEY, value REAL) WITHOUT ROWID"
            )
            yield database

    def __deepcopy__(self, memo: Any) -> Self:
        return self  # copies of a similarity share it

    def __reduce__(self) -> Any:
        return type(self), (self.path, self.name)


def _identity(function: Callable[[Any, Any], Any]) -> str:
    """Return the name and the code of a function, and the arguments that it is bound to."""
    bound: Any = None
    while isinstance(function, partial):
        bound = (bound, function.args, sorted(function.keywords.items()))
        function = function.func
    state: Any = None
    code: CodeType | None = None  # compiled functions are known by their names alone
    if isinstance(function, FunctionType):
        state = [cell.cell_contents for cell in function.__closure__ or ()]
        code = function.__code__
    elif not hasattr(function, "__qualname__"):  # an object with a method __call__
        state, function = vars(function), type(function)
        code = getattr(vars(function).get("__call__"), "__code__", None)
    parts = [function.__module__, function.__qualname__, _instructions(code), bound, state]
    return str(joblib.hash(parts))


def _instructions(code: CodeType | None) -> Any:
    """Return what a function does, whatever its place in a file."""
    if code is None:
        return None
    inner = [_instructions(c) if isinstance(c, CodeType) else c for c in code.co_consts]
    return code.co_code, code.co_names, inner
