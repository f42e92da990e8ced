"""Similarities whose values are looked up: all pairs of a data set are compared once.

With ``compare_once`` the points of a trial are the numbers of their rows, and each similarity is
replaced by one that reads its values, before they are turned, from a matrix of all pairs. The
matrices are kept in the user's cache.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from random import Random
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import Normalizer
from sklearn.utils import gen_batches

from kernlearn.config.names import Scope
from kernlearn.config.spec import MethodSpec, TrialSpec
from kernlearn.datasets.files import cache_folder
from kernlearn.engine.environment import Stopwatch
from kernlearn.kernels import JaccardSimilarity, Kernel, LibrarySimilarity
from kernlearn.kernels.base import TurnedSimilarity, as_indexed, check_values
from kernlearn.memory import require_memory

# Bytes of all matrices that are kept; those used longest ago are removed.
_LIMIT = 8 << 30
# Values that are computed at a time.
_BLOCK = 1 << 15
# Parameters that do not change the values before they are turned.
_NOT_OF_VALUES = frozenset(("turn", "sigma", "n_jobs"))
# Libraries whose similarities do not depend on the order of two points, with one exception.
_SYMMETRIC_LIBRARIES = frozenset(("scipy", "sklearn", "aeon"))
_ONE_WAY = "aeon.dtw_gi"

#: Takes two slices of points, returns the values of all their pairs.
_Compare = Callable[[slice, slice], NDArray[np.float64]]


@dataclass(frozen=True)
class PairMatrix:
    """The values of all pairs of points, and the processor seconds of one comparison."""

    values: NDArray[np.float64]
    seconds: float


class Comparisons:
    """The points of a trial, the matrices of their similarities, and counts of what is read.

    It is one and the same for all copies of a similarity.

    Attributes
    ----------
    points : array
    read : Counter
        How many values were read, by the key of their matrix.
    """

    def __init__(self, points: Any) -> None:
        self.points, self.digest = points, str(joblib.hash(points))
        self.read: Counter[str] = Counter()
        self._matrices: dict[str, PairMatrix] = {}

    @property
    def rows(self) -> NDArray[np.float64]:
        """The numbers of the points, shape (n_points, 1)."""
        return np.arange(self.points.shape[0], dtype=np.float64)[:, np.newaxis]

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def of(self, similarity: Kernel, identity: Mapping[str, Any]) -> "ComparedOnce":
        """Return the similarity of numbers of points that stands for one of the points.

        The values of all pairs are computed, unless they are known. They must depend on the two
        points alone, and be slow: of a library, of objects or of a plug-in.
        """
        turned = isinstance(similarity, TurnedSimilarity)
        plain = clone(similarity).set_params(turn="negative") if turned else clone(similarity)
        slow = turned or similarity.structured or "plugin" in identity
        if not slow or plain.data_dependent:
            raise ValueError(
                f"compare_once: {similarity!r} is not compared once for all splits, as it is fast "
                "or learns from points; leave compare_once out"
            )
        known = plain.get_params(deep=False)
        if "n_jobs" in known:
            plain.set_params(n_jobs=None)
        version = ""
        if isinstance(similarity, LibrarySimilarity):
            version = str(import_module(similarity.library).__version__)
        key = joblib.hash(
            [
                f"{type(plain).__module__.partition('_plugin_')[0]}.{type(plain).__name__}",
                {name: value for name, value in known.items() if name not in _NOT_OF_VALUES},
                self.digest,
                version,
                dict(identity),
            ]
        )
        if key not in self._matrices:
            compare = _comparing(plain, self.points)
            self._matrices[key] = _kept(key, compare, self.points.shape[0], is_symmetric(plain))
        if isinstance(similarity, TurnedSimilarity):
            turn, sigma = similarity.turn, similarity.sigma
            return ComparedOnce(self, key, similarity.is_distance, turn, sigma)
        return ComparedOnce(self, key, distance=False)

    def values(
        self, key: str, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the values of all pairs of some points, and count them."""
        self.read[key] += len(rows) * len(columns)
        values: NDArray[np.float64] = self._matrices[key].values[rows[:, np.newaxis], columns]
        return values

    def seconds(self, read: Counter[str]) -> float:
        """Return the processor seconds that values took when they were computed."""
        return sum(n * self._matrices[key].seconds for key, n in read.items())


class ComparedOnce(TurnedSimilarity):
    """A similarity of numbers of points, whose values are read from a matrix of all pairs."""

    columnwise = True

    def __init__(
        self,
        comparisons: Comparisons,
        key: str,
        distance: bool,
        turn: str = "negative",
        sigma: Any = "auto",
    ) -> None:
        self.comparisons, self.key, self.distance = comparisons, key, distance
        self.turn, self.sigma = turn, sigma

    @property
    def is_distance(self) -> bool:
        return self.distance

    def _indexed(self, X: Any) -> Any:
        return np.asarray(X).reshape(-1).astype(np.intp)

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        return self.comparisons.values(self.key, X, Y)


def _comparing(similarity: Kernel, points: Any) -> _Compare:
    """Return the function that compares two slices of points, in one thread."""

    def compare(rows: slice, columns: slice) -> NDArray[np.float64]:
        left, right = points[rows], points[columns]
        if isinstance(similarity, TurnedSimilarity):
            indexed = (as_indexed(part, similarity.structured) for part in (left, right))
            values = np.asarray(similarity._compare(*indexed), dtype=np.float64)
        else:
            values = np.asarray(similarity(left, right), dtype=np.float64)
        check_values(values, left, right)
        return values

    return compare


def is_symmetric(similarity: Any) -> bool:
    """Whether the order of two points is known to make no difference."""
    if isinstance(similarity, LibrarySimilarity):
        return similarity.library in _SYMMETRIC_LIBRARIES and similarity.name != _ONE_WAY
    return isinstance(similarity, JaccardSimilarity)


def _kept(key: str, compare: _Compare, n_points: int, symmetric: bool) -> PairMatrix:
    """Return a matrix from the cache, or compute it while no other process does."""
    from filelock import FileLock

    if 8 * n_points**2 > _LIMIT:
        raise MemoryError(
            f"compare_once: the values of all pairs of {n_points} points take "
            f"{8 * n_points**2 / 2**30:.3g} GiB, more than the {_LIMIT / 2**30:.3g} GiB that are "
            "kept: give the data set `sample`, or leave compare_once out"
        )
    folder = cache_folder() / "pairs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        memory = joblib.Memory(folder, mmap_mode="r", verbose=0)
        compute = memory.cache(_computed, ignore=["compare", "n_points", "symmetric"])
        with FileLock(folder / f"{key}.lock"):
            matrix = PairMatrix(*compute(key, compare, n_points, symmetric))
            memory.reduce_size(bytes_limit=_LIMIT)
    except OSError:  # of a cache that cannot be written
        matrix = PairMatrix(*_computed(key, compare, n_points, symmetric))
    return matrix


def _computed(
    key: str, compare: _Compare, n_points: int, symmetric: bool
) -> tuple[NDArray[np.float64], float]:
    """Return the values of all pairs, and the processor seconds of one on the average."""
    require_memory(8 * n_points**2, "compare_once", "give the data set `sample`")
    values, n_pairs, seconds = np.empty((n_points, n_points)), 0, 0.0
    compare(slice(0, 2), slice(0, 2))  # what is compiled is compiled before
    for rows in gen_batches(n_points, max(1, _BLOCK // n_points)):
        columns = slice(rows.start if symmetric else 0, n_points)
        clock = time.process_time()
        block = compare(rows, columns)
        seconds += time.process_time() - clock
        values[rows, columns] = block
        if symmetric:
            values[columns, rows] = block.T
        n_pairs += block.size
    return values, seconds / n_pairs


def arranged(spec: TrialSpec, scope: Scope, points: Any) -> Scope | None:
    """Return a scope whose similarities are compared once, all that a trial needs already.

    None if the method takes no similarity: it then gets the points themselves.

    Raises
    ------
    ValueError
        If the points are sparse, or scaled in a way that is learnt on the training part, or a
        similarity cannot be compared once.
    """
    takes, kernels = _takes(spec.method, scope), [*_kernels(spec.method)]
    if spec.kernel is not None and takes:
        kernels.append((takes, {"kernel": spec.kernel.name, **spec.kernel.parameters}))
    if not kernels:
        return None
    if sparse.issparse(points):
        raise ValueError("compare_once: the data is sparse; leave compare_once out")
    if learnt := [name for name in spec.protocol.scale if name != "unit_norm"]:
        raise ValueError(
            f"compare_once: scale: {', '.join(learnt)} is learnt on the training part of each "
            "split, which changes the similarities; give scale: [] or [unit_norm]"
        )
    first = spec.method.steps[0]["step"] if spec.method.steps else ""
    if late := [name for name, _ in kernels if first and not name.startswith(f"{first}__")]:
        raise ValueError(f"compare_once: {late[0]}: only the first step may compare points")
    if spec.protocol.scale:
        points = Normalizer().fit_transform(points)
    own = replace(scope, comparisons=Comparisons(points))
    # processes that compute the same matrices at the same time begin with different ones
    Random(os.getpid()).shuffle(kernels)
    for _, kernel in kernels:
        own.value("kernels", kernel)
    return own


def _takes(method: MethodSpec, scope: Scope) -> str:
    """Return the parameter for a kernel of the config; none if the method states its own."""
    label, name = "", method.name
    if method.steps:
        label, name = method.steps[0]["step"], method.steps[0]["name"]
    component = scope.estimator(name)
    if component is None or not component.takes:
        return ""
    taken = f"{label}__{component.takes}" if label else component.takes
    return "" if label or taken in {**method.parameters, **method.select} else taken


def _kernels(method: MethodSpec) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the kernels among the parameters of a method and their candidates."""
    for name, value in method.parameters.items():
        yield from ((name, one) for one in _flat(value))
    for name, values in method.select.items():
        yield from ((name, one) for one in _flat(values))


def _flat(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping) and "kernel" in value:
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _flat(one)


class Measured(Stopwatch):
    """Measure the seconds of a ``with`` block, and count the comparisons looked up in it.

    Attributes
    ----------
    compared : int
        Number of values that were looked up.
    compared_seconds : float
        Processor seconds that these took when they were computed; they are among the times.
    """

    def __init__(self, comparisons: Comparisons | None = None) -> None:
        super().__init__()
        self.comparisons = comparisons
        self.compared, self.compared_seconds = 0, 0.0

    def __enter__(self) -> "Measured":
        if self.comparisons is not None:
            self._before = self.comparisons.read.copy()
        super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if self.comparisons is not None:
            read = self.comparisons.read - self._before
            self.compared = read.total()
            self.compared_seconds = self.comparisons.seconds(read)

    def add_comparisons(self) -> None:
        """Add what was looked up to the times, as if it had been computed."""
        self.wall += self.compared_seconds
        self.cpu += self.compared_seconds
