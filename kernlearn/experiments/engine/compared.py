"""Similarities whose values are looked up: all pairs of a data set are compared once.

With ``compare_once`` the points of a trial are the numbers of their rows, and each similarity is
replaced by one that reads its values, before they are turned, from a matrix of all pairs.
"""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from typing import Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import Normalizer

from kernlearn.experiments.compose import made_values, make_method
from kernlearn.experiments.engine.build import method_parts
from kernlearn.experiments.engine.pair_matrices import PairMatrix, Wanted, pair_matrices
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.on_kernel import OnKernel
from kernlearn.experiments.registry import Scope
from kernlearn.kernels import JaccardSimilarity, Kernel, LibrarySimilarity, MatrixSimilarity
from kernlearn.kernels.base import TurnedSimilarity, as_indexed
from kernlearn.kernels.pairs import check_values

# Raised when values or files of matrices change.
_VERSION = 1
# Parameters that do not change the values before they are turned.
_NOT_OF_VALUES = frozenset(("turn", "sigma", "n_jobs"))
# Libraries whose similarities do not depend on the order of two points, with one exception.
_SYMMETRIC_LIBRARIES = frozenset(("scipy", "sklearn", "aeon"))
_ONE_WAY = "aeon.dtw_gi"


@dataclass(frozen=True)
class Read:
    """How many values were read, by the key of their matrix, and computed in how many seconds."""

    counts: Counter[str] = field(default_factory=Counter)
    evaluated: int = 0
    spent: float = 0.0

    def __add__(self, other: "Read") -> "Read":
        counts = self.counts + other.counts
        return Read(counts, self.evaluated + other.evaluated, self.spent + other.spent)

    def __sub__(self, other: "Read") -> "Read":
        counts = self.counts - other.counts
        return Read(counts, self.evaluated - other.evaluated, self.spent - other.spent)

    @property
    def total(self) -> int:
        """The number of values."""
        return self.counts.total() + self.evaluated


class Comparisons:
    """The points of a data set, the matrices of their similarities, and counts of what is read.

    It is one and the same for all copies of a similarity in a process.

    Attributes
    ----------
    points : array
    prefix : str
        How the names of the parameters begin that take similarities of the points: those of the
        first step of a pipeline.
    read : Read
        What has been read, and computed of other similarities.
    """

    def __init__(self, points: Any, prefix: str = "", digest: str | None = None) -> None:
        self.points, self.prefix = points, prefix
        self.digest = digest or str(joblib.hash(points))
        self.read = Read()
        self._matrices: dict[str, PairMatrix] = {}

    @property
    def rows(self) -> NDArray[np.float64]:
        """The numbers of the points, shape (n_points, 1)."""
        return np.arange(self.points.shape[0], dtype=np.float64)[:, np.newaxis]

    def __deepcopy__(self, memo: Any) -> Self:
        return self

    def __reduce__(self) -> Any:
        return _rebuilt, (self.points, self.prefix, self.digest, self._matrices)

    def of(self, similarity: Kernel, identity: Mapping[str, Any]) -> Kernel:
        """Return the similarity of the numbers of points that stands for one of the points."""
        if compares_slowly(similarity, identity):
            return ComparedOnce(similarity, self, identity)
        return OfNumberedPoints(similarity, self)

    def require(self, similarities: "list[ComparedOnce]") -> None:
        """Have the matrices of some similarities; those that are not kept are computed."""
        wanted = {one.wanted.key: one.wanted for one in similarities}
        self._matrices |= pair_matrices(
            one for key, one in wanted.items() if key not in self._matrices
        )

    def values(
        self, wanted: Wanted, rows: NDArray[np.intp], columns: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Return the values of all pairs of some points, and count them."""
        key = wanted.key
        if key not in self._matrices:
            self._matrices |= pair_matrices([wanted])
        self.read += Read(Counter({key: len(rows) * len(columns)}))
        values: NDArray[np.float64] = self._matrices[key].values[rows[:, np.newaxis], columns]
        return values

    def seconds(self, read: Read) -> float:
        """Return the processor seconds that the values took when they were computed."""
        return sum(n * self._matrices[key].seconds for key, n in read.counts.items())


def _rebuilt(
    points: Any, prefix: str, digest: str, matrices: dict[str, PairMatrix]
) -> Comparisons:
    made = Comparisons(points, prefix, digest)
    made._matrices = matrices
    return made


def compares_slowly(similarity: Any, identity: Mapping[str, Any]) -> bool:
    """Whether the values of a similarity are worth keeping, and depend on two points alone.

    Those are distances and similarities of libraries, of objects and of plug-ins; not kernels of
    vectors, and none that learns from points other than how to turn a distance.
    """
    if isinstance(similarity, MatrixSimilarity):
        return False
    if isinstance(similarity, TurnedSimilarity):
        return not clone(similarity).set_params(turn="negative").data_dependent
    return (similarity.structured or "plugin" in identity) and not similarity.data_dependent


class _StandsFor(Kernel):
    """A similarity of numbers of points; its parameters are those of the one it stands for."""

    def __init__(self, similarity: Kernel, comparisons: Comparisons) -> None:
        self.similarity, self.comparisons = similarity, comparisons

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.similarity.get_params(deep)

    def set_params(self, **params: Any) -> Self:
        self.similarity = clone(self.similarity).set_params(**params)
        self.__dict__.pop("wanted", None)
        return self

    def __sklearn_clone__(self) -> Self:
        return type(self)(clone(self.similarity), self.comparisons)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("similarity", "comparisons"):
            raise AttributeError(name)
        return getattr(self.similarity, name)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return f"{type(self).__name__}({self.similarity!r})"

    def _validate_params(self) -> None:
        self.similarity._validate_params()


class OfNumberedPoints(_StandsFor):
    """A similarity that is evaluated on the points, of which it gets the numbers."""

    @property
    def columnwise(self) -> bool:  # type: ignore[override]
        return self.similarity.columnwise

    @property
    def data_dependent(self) -> bool:
        return self.similarity.data_dependent

    def fit(self, X: Any, y: object = None) -> Self:
        self.similarity.fit(self._points(X), y)
        return self

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        clock = time.process_time()
        values = self.similarity(self._points(X), None if Y is None else self._points(Y))
        self.comparisons.read += Read(Counter(), values.size, time.process_time() - clock)
        return values

    def _points(self, X: Any) -> Any:
        return self.comparisons.points[numbers_of(X)]


class ComparedOnce(_StandsFor, TurnedSimilarity):
    """A similarity whose values are read from the matrix of all pairs."""

    columnwise = True

    def __init__(
        self, similarity: Kernel, comparisons: Comparisons, identity: Mapping[str, Any]
    ) -> None:
        super().__init__(similarity, comparisons)
        self.identity = identity

    def __sklearn_clone__(self) -> Self:
        return type(self)(clone(self.similarity), self.comparisons, self.identity)

    @property
    def turn(self) -> str:  # type: ignore[override]
        return str(getattr(self.similarity, "turn", "negative"))

    @property
    def sigma(self) -> Any:
        return getattr(self.similarity, "sigma", None)

    @property
    def is_distance(self) -> bool:
        inner = self.similarity
        return isinstance(inner, TurnedSimilarity) and inner.is_distance

    @cached_property
    def wanted(self) -> Wanted:
        """The matrix of its values."""
        inner = clone(self.similarity)
        known = inner.get_params(deep=False)
        if "n_jobs" in known:
            inner.set_params(n_jobs=None)
        parameters = {k: v for k, v in known.items() if k not in _NOT_OF_VALUES}
        identity = {
            "version": _VERSION,
            "points": self.comparisons.digest,
            "class": f"{type(inner).__module__.partition('_plugin_')[0]}.{type(inner).__name__}",
            "parameters": str(joblib.hash(parameters)),
            "library": _library_version(inner),
            **self.identity,
        }
        points = self.comparisons.points

        def compare(rows: slice, columns: slice) -> NDArray[np.float64]:
            left, right = points[rows], points[columns]
            if isinstance(inner, TurnedSimilarity):
                indexed = (as_indexed(part, inner.structured) for part in (left, right))
                values = np.asarray(inner._compare(*indexed), dtype=np.float64)
            else:
                values = np.asarray(inner(left, right), dtype=np.float64)
            check_values(values, left, right)
            return values

        n = points.shape[0]
        return Wanted(identity, _label(inner, parameters), n, compare, is_symmetric(inner))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "wanted"}

    def _indexed(self, X: Any) -> Any:
        return numbers_of(X)

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        return self.comparisons.values(self.wanted, X, Y)


def numbers_of(X: Any) -> NDArray[np.intp]:
    """Return the numbers of points from a column, or from an array of numbers."""
    return np.asarray(X).reshape(-1).astype(np.intp)


def is_symmetric(similarity: Any) -> bool:
    """Whether the order of two points is known to make no difference."""
    if isinstance(similarity, LibrarySimilarity):
        return similarity.library in _SYMMETRIC_LIBRARIES and similarity.name != _ONE_WAY
    return isinstance(similarity, JaccardSimilarity)


def _library_version(similarity: Any) -> str:
    if not isinstance(similarity, LibrarySimilarity):
        return ""
    return str(import_module(similarity.library).__version__)


def _label(similarity: Any, parameters: Mapping[str, Any]) -> str:
    of_library = isinstance(similarity, LibrarySimilarity)
    name = similarity.name if of_library else type(similarity).__name__
    given = ", ".join(
        f"{key}={value}"
        for key, value in parameters.items()
        if key != "name" and isinstance(value, (int, float, str))
    )
    return f"{name} ({given})" if given else name


def arranged(trial: Trial, scope: Scope, points: Any) -> Scope | None:
    """Return a scope whose similarities are compared once, with all matrices that a trial needs.

    None if the method takes no similarity that is worth it: it then gets the points themselves.

    Raises
    ------
    ValueError
        If the points are sparse, or scaled in a way that is learnt on the training part.
    """
    label = method_parts(scope, trial.spec.method)[0][0]
    prefix = f"{label}__" if label else ""
    comparisons = Comparisons(points, prefix)
    own = replace(scope, comparisons=comparisons)
    found = [one for one in _similarities(trial, own) if isinstance(one, ComparedOnce)]
    if not found:
        return None
    if sparse.issparse(points):
        raise ValueError("compare_once: the data is sparse; leave compare_once out")
    if learnt := [name for name in trial.spec.protocol.scale if name != "unit_norm"]:
        raise ValueError(
            f"compare_once: scale: {', '.join(learnt)} is learnt on the training part of each "
            "split, which changes the similarities; give scale: [] or [unit_norm]"
        )
    if trial.spec.protocol.scale:
        comparisons = Comparisons(Normalizer().fit_transform(points), prefix)
        own = replace(scope, comparisons=comparisons)
        found = [one for one in _similarities(trial, own) if isinstance(one, ComparedOnce)]
    comparisons.require(found)
    return own


def _similarities(trial: Trial, scope: Scope) -> Iterator[Any]:
    """Yield every similarity that a trial may use, with the parameters of its grid."""
    spec = trial.spec
    if spec.kernel is not None:
        kernel = scope.kernel(spec.kernel.name)
        assert kernel is not None
        yield scope.make(kernel, spec.kernel.parameters)
    method = spec.method
    parts = method_parts(scope, method)
    label, component = parts[0]
    taken = f"{label}__{component.takes}" if label else component.takes
    estimator = make_method(scope, parts, method.parameters, method.select)
    grid = {
        name: values
        for name, values in method.select.items()
        if name == taken
        or name.startswith((f"{taken}__", "kernel__"))
        or any(isinstance(value, (Mapping, list)) for value in values)
    }
    for point in ParameterGrid(grid):
        made = clone(estimator).set_params(**made_values(scope, point))
        for value in made.get_params().values():
            yield from value if isinstance(value, (list, tuple)) else (value,)


def check_all_numbered(estimator: Any, component: Any) -> None:
    """Refuse an estimator that would evaluate a similarity on the numbers of points.

    Raises
    ------
    ValueError
    """
    first = estimator.steps[0][1] if hasattr(estimator, "named_steps") else estimator
    parameters = first.get_params(deep=False)
    if isinstance(first, OnKernel):
        parameters |= first.estimator.get_params(deep=False) | {"kernel": first.kernel}
    for name, value in parameters.items():
        for one in value if isinstance(value, (list, tuple)) else (value,):
            known = isinstance(one, Kernel) and not isinstance(one, _StandsFor)
            if known or (name == component.takes and isinstance(one, str)):
                raise ValueError(
                    f"compare_once: {name}={one!r} cannot be used beside a similarity whose pairs "
                    "are compared once; leave compare_once out, or name a similarity of kernlearn"
                )
