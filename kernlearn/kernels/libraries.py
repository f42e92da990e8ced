"""Distances and similarities of other libraries: one class, and an adapter for each library."""

import inspect
from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import is_not
from threading import Lock
from time import perf_counter
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import check_array

from kernlearn.kernels.base import pair_error, raised, refuse_vectors, shown, to_dense
from kernlearn.kernels.distances import TurnedSimilarity
from kernlearn.kernels.known_pairs import known_values
from kernlearn.kernels.registry import LIBRARIES, library_of
from kernlearn.validation import N_JOBS, WHOLE, StrOptions

# Most pairs compared at a time by a slow distance, and the time that an interruption waits for.
PAIRS_AT_A_TIME, _SECONDS = 2**14, 0.2
_FIRST_PAIRS = 8  # that tell how long a pair takes

# Distances of vectors of true and false.
_BOOLEAN = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
# Distances of scikit-learn that are computed by a matrix product.
_BY_PRODUCT = ("euclidean", "l2", "cosine", "nan_euclidean")
_MEASURES = ("normalized_similarity", "similarity", "normalized_distance", "distance")
# Neither Numba's simplest threading layer nor a kernel of GraKeL may be entered by two threads.
_one_at_a_time = Lock()


class LibrarySimilarity(TurnedSimilarity):
    r"""A distance or similarity of SciPy, scikit-learn, RapidFuzz, aeon or GraKeL, by its name.

    Parameters
    ----------
    name : str
        Its dotted name, such as "scipy.canberra" or "aeon.twe": one of :func:`names`.
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        The similarity of points at distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "auto", default="auto"
        The σ; "auto" is the mean distance of 64 training points.
    **parameters
        The library's own parameters, such as ``nu`` of "aeon.twe"; also

        - ``n_jobs``, the number of threads, of scikit-learn, RapidFuzz and aeon;
        - ``measure`` of the edit distances of RapidFuzz: "normalized_similarity" (the default),
          "similarity", "normalized_distance" or "distance".

    Attributes
    ----------
    sigma_ : float
        The σ used, set by `fit` with ``turn="exponential"``.

    Notes
    -----
    SciPy and scikit-learn compare rows of a matrix; sparse rows become dense for most distances.
    RapidFuzz compares strings, or lists of tokens or other hashable items.

    aeon compares series of any lengths, each an array of shape (n_channels, length) or (length,).
    They come in a list, in the rows of a matrix, or in an array of shape (n_series, n_channels,
    length). It needs the extra ``series``.

    GraKeL compares graphs of networkx or of its own, or lists of edges (or dictionaries of
    neighbours), node labels and edge labels. Labels of networkx graphs are their attributes
    ``label``, 0 for nodes without. Values are :math:`K(x, y) / \sqrt{K(x, x) K(y, y)}`, 0 if the
    root is. It needs the extra ``graphs``.

    Examples
    --------
    >>> from kernlearn.kernels import LibrarySimilarity
    >>> LibrarySimilarity("scipy.minkowski", p=1)([[0.0, 0.0]], [[1.0, 2.0], [0.0, 0.0]])
    array([[-3.,  0.]])
    >>> LibrarySimilarity("scipy.canberra", turn="reciprocal")([[1.0]], [[1.0], [3.0]])
    array([[1.        , 0.66666667]])
    >>> LibrarySimilarity("rapidfuzz.jaro_winkler")(["martha"], ["marhta", "bertha"]).round(3)
    array([[0.961, 0.778]])
    >>> LibrarySimilarity("rapidfuzz.osa", measure="distance")(["martha"], ["marhta"])
    array([[-1.]])
    """

    _parameter_constraints = {
        **TurnedSimilarity._parameter_constraints,
        "n_jobs": N_JOBS,
        "measure": [StrOptions(set(_MEASURES))],
        "random_state": [WHOLE],
    }
    #: GraKeL's kernel of the last call, and the graphs on the right that it is fitted to:
    #: landmarks, most likely, which the next call has too.
    _last: tuple[list[Any], Any] = [], None

    def __init__(
        self, name: str, *, turn: str = "negative", sigma: Any = "auto", **parameters: Any
    ) -> None:
        self.name, self.turn, self.sigma = name, turn, sigma
        library = library_of(name)
        if library is None:
            listed = ", ".join(LIBRARIES)
            raise ValueError(f"'name' must begin with a library of {listed}, got {name!r}")
        self.library, _, self.method = name.partition(".")
        defaults = _ADAPTERS[self.library][0](self.method)
        if unknown := parameters.keys() - defaults.keys():
            raise ValueError(
                f"{name} has no parameter {', '.join(sorted(unknown))}; it has "
                f"{', '.join([*defaults, 'turn', 'sigma'])}"
            )
        self.parameters = {**defaults, **parameters}
        vectors = "gaps" if name == "sklearn.nan_euclidean" else "vectors"
        self.compares = vectors if library.points == "vectors" else "objects"
        by_product = self.method in _BY_PRODUCT or not self.is_distance
        self.columnwise = self.library != "sklearn" or not by_product
        self._last = [], None

    @property
    def is_distance(self) -> bool:
        kind = LIBRARIES[self.library].kinds[self.method]
        return str(self.parameters.get("measure", kind)).endswith("distance")

    def options(self, *others: str) -> dict[str, Any]:
        """Return the parameters of the library that are not None, without `others`."""
        return {k: v for k, v in self.parameters.items() if k not in others and v is not None}

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        compare = partial(_ADAPTERS[self.library][1], self)
        if self.library != "aeon":
            return compare(X, Y)
        return known_values(repr((self.name, sorted(self.parameters.items()))), compare, X, Y)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, also those of the library.

        Parameters
        ----------
        deep : bool, default=True
            Ignored: no parameter is an estimator.

        Returns
        -------
        dict
        """
        return {**super().get_params(deep=False), **self.parameters}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; with another `name`, those of its library have their defaults.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : object
        """
        before = self.get_params()
        if "name" in params:
            before = {"turn": self.turn, "sigma": self.sigma}
        self.__init__(**{**before, **params})  # type: ignore[misc]
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in super().__getstate__().items() if key != "_last"}


@cache
def _keywords(function: Callable[..., Any], *others: str) -> dict[str, Any]:
    """Return the parameters of a function that have defaults, without the points and others."""
    parameters = list(inspect.signature(function).parameters.values())[2:]
    every = {p.name: p.default for p in parameters if p.default is not p.empty}
    return {name: default for name, default in every.items() if name not in others}


def _scipy_defaults(name: str) -> dict[str, Any]:
    from scipy.spatial import distance

    return _keywords(getattr(distance, name), "axis", "centered", "keepdims")


def _scipy(one: LibrarySimilarity, X: Any, Y: Any) -> NDArray[Any]:
    from scipy.spatial.distance import cdist

    left, right = (check_array(to_dense(Z), dtype=np.float64) for Z in (X, Y))
    if one.method in _BOOLEAN:
        left, right = left != 0, right != 0
    return cdist(left, right, metric=one.method, **one.options())


def _sklearn_defaults(name: str) -> dict[str, Any]:
    from sklearn.metrics import pairwise

    if LIBRARIES["sklearn"].kinds[name] == "distance":
        return {"n_jobs": None}
    return _keywords(getattr(pairwise, name), "dense_output")


def _sklearn(one: LibrarySimilarity, X: Any, Y: Any) -> NDArray[Any]:
    from sklearn.metrics import pairwise

    if one.is_distance:
        n_jobs = one.parameters["n_jobs"]
        return pairwise.pairwise_distances(X, Y, metric=one.method, n_jobs=n_jobs)
    return getattr(pairwise, one.method)(X, Y, **one.options())


# The names there, where they are not in lower case.
_RAPIDFUZZ = {"lcs_seq": "LCSseq", "osa": "OSA", "q_ratio": "QRatio", "w_ratio": "WRatio"}
_RAPIDFUZZ_DEFAULTS: dict[str, dict[str, Any]] = {
    "hamming": {"pad": True},
    "jaro_winkler": {"prefix_weight": 0.1},
    "levenshtein": {"weights": (1, 1, 1)},
}


def _rapidfuzz_defaults(name: str) -> dict[str, Any]:
    measure = {} if name.endswith("ratio") else {"measure": _MEASURES[0]}
    return {**measure, "n_jobs": None, **_RAPIDFUZZ_DEFAULTS.get(name, {})}


def _rapidfuzz(one: LibrarySimilarity, X: Any, Y: Any) -> NDArray[Any]:
    from rapidfuzz import distance, fuzz
    from rapidfuzz.process import cdist

    left, right = _texts(X, "X"), _texts(Y, "Y")
    kinds = {isinstance(points[0], str) for points in (left, right) if points}
    if len(kinds) > 1:
        raise ValueError("strings are compared with lists of them: pass points of one kind")
    settings: dict[str, Any] = {"dtype": np.float64, "workers": one.parameters["n_jobs"] or 1}
    if one.method.endswith("ratio"):
        scorer = getattr(fuzz, _RAPIDFUZZ.get(one.method, one.method))
        return cdist(left, right, scorer=scorer, **settings) / 100
    own = one.options("n_jobs", "measure")
    if own == _RAPIDFUZZ_DEFAULTS.get(one.method, {}):
        own = {}  # without arguments it is faster
    if "weights" in own:
        own["weights"] = tuple(own["weights"])
    title = "".join(part.title() for part in one.method.split("_"))
    module = getattr(distance, _RAPIDFUZZ.get(one.method, title))
    scorer = getattr(module, one.parameters["measure"])
    return cdist(left, right, scorer=scorer, scorer_kwargs=own or None, **settings)


def _texts(points: Any, name: str) -> list[Any]:
    """Return texts as they are, other sequences as tuples: RapidFuzz hashes their items."""
    expected = "strings or sequences of hashable items"
    refuse_vectors(points, name, expected)
    texts = [point if isinstance(point, str) else _hashable(point) for point in points]
    for place, text in enumerate(texts):
        try:
            hash(text)
        except TypeError:
            text = None
        if not isinstance(text, Sequence):
            raise _wrong(name, expected, points[place], place)
    return texts


def _wrong(name: str, expected: str, point: Any, place: int) -> ValueError:
    return ValueError(f"'{name}' must hold {expected}, got {shown(point)} at {place}")


def _hashable(value: Any) -> Any:
    """Return lists and arrays as tuples, also those within."""
    value = value.tolist() if isinstance(value, np.ndarray) else value
    return tuple(map(_hashable, value)) if isinstance(value, (list, tuple)) else value


# Arguments of aeon's functions that say how to compute, or are series themselves.
_NOT_OF_AEON = ("transformation_precomputed", "transformed_x", "transformed_y", "init_p")


def _aeon_defaults(name: str) -> dict[str, Any]:
    from aeon import distances

    function = getattr(distances, f"{name}_distance", None)
    if function is None:
        raise ImportError(f"aeon.{name} needs a newer aeon than the one that is installed")
    return {"n_jobs": None, **_keywords(function, *_NOT_OF_AEON)}


def _aeon(one: LibrarySimilarity, X: Any, Y: Any) -> NDArray[Any]:
    from aeon import distances
    from numba import get_num_threads

    left, n_left = _series(X, "X")
    right, n_right = (left, n_left) if Y is X else _series(Y, "Y")
    if n_left != n_right:
        raise ValueError(
            f"series of 'X' have {n_left} channels and those of 'Y' {n_right}; they must have the "
            "same number"
        )
    pairwise = getattr(distances, f"{one.method}_pairwise_distance")
    options = one.options("n_jobs")
    options["n_jobs"] = min(effective_n_jobs(one.parameters["n_jobs"] or 1), get_num_threads())
    limited = "window" in options or "itakura_max_slope" in options

    def compare(some: Any, others: Any) -> NDArray[Any]:
        values = np.empty((len(some), len(others)))
        # aeon takes the left series to have one length if those on the right do, and has one
        # window for series of several lengths
        rows, columns = _by_length(some), _by_length(others)
        if not limited:
            rows = rows if len(columns) == 1 else [np.arange(len(some))]
            columns = [np.arange(len(others))]
        parts = [(j, _stacked([others[k] for k in j])) for j in columns]
        for i in rows:
            stacked = _stacked([some[k] for k in i])
            for j, right_part in parts:
                with _one_at_a_time:
                    values[np.ix_(i, j)] = pairwise(stacked, right_part, **options)
        return values

    return _by_blocks(compare, left, right, X, Y)


def _by_length(series: Any) -> list[NDArray[np.intp]]:
    """Return the places of the series of each length."""
    lengths = np.array([one.shape[-1] for one in series])
    return [np.flatnonzero(lengths == n) for n in np.unique(lengths)]


def _stacked(series: list[NDArray[Any]]) -> Any:
    """Return series of one length as an array, which aeon takes faster; others as they are."""
    return np.stack(series) if len({one.shape for one in series}) == 1 else series


def _series(points: Any, name: str) -> tuple[list[NDArray[np.float64]], int]:
    """Return series of shape (n_channels, length), and their number of channels."""
    series = []
    for place, point in enumerate(points):
        try:
            values = np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError):
            values = np.empty(0)
        if values.ndim not in (1, 2) or not values.size:
            expected = "series of numbers, arrays of shape (length,) or (n_channels, length)"
            raise _wrong(name, expected, point, place)
        if not np.isfinite(values).all():
            raise ValueError(
                f"'{name}' must hold series without NaN and infinity, got one at {place}: "
                f"{shown(point)}"
            )
        series.append(values.reshape(-1, values.shape[-1]))
    numbers = {len(one) for one in series}
    if len(numbers) != 1:
        raise ValueError(
            f"'{name}' must hold series of the same number of channels, got {sorted(numbers)}"
        )
    return series, numbers.pop()


def _grakel_class(name: str) -> Any:
    from grakel import kernels

    return getattr(kernels, "".join(part.title() for part in name.split("_")))


def _grakel_defaults(name: str) -> dict[str, Any]:
    own = _keywords(_grakel_class(name).__init__, "n_jobs", "normalize", "verbose")
    return own | ({"random_state": 0} if "random_state" in own else {})


def _grakel(one: LibrarySimilarity, X: Any, Y: Any) -> NDArray[Any]:
    options = one.options()
    if isinstance(base := options.get("base_graph_kernel"), str):
        library_of(f"grakel.{base}")
        options["base_graph_kernel"] = _grakel_class(base)
    right = [_graph(point, i, "Y") for i, point in enumerate(Y)]
    left = right if Y is X else [_graph(point, i, "X") for i, point in enumerate(X)]
    points, fitted = one._last
    if len(points) != len(Y) or any(map(is_not, points, Y)):
        fitted = None

    def compare(some: Any, others: Any) -> NDArray[Any]:
        nonlocal fitted
        with _one_at_a_time:
            is_whole = len(others) == len(right)
            kernel = fitted if is_whole else None
            kernel = kernel or _grakel_class(one.method)(**options).fit(others)
            if is_whole:
                fitted = kernel
            values = np.asarray(kernel.transform(some), dtype=np.float64)
            sizes = [np.ravel(norms).astype(np.float64) for norms in kernel.diagonal()]
        roots = np.sqrt(np.outer(sizes[1], sizes[0]))
        return np.divide(values, roots, out=np.zeros_like(values), where=roots > 0)

    values = _by_blocks(compare, left, right, X, Y, fewest=len(right))
    one._last = list(Y), fitted
    return values


def _graph(graph: Any, place: int, name: str) -> Any:
    """Return a graph as GraKeL takes it; of networkx as [neighbours, labels, edge labels]."""
    if hasattr(graph, "adjacency") and hasattr(graph, "nodes"):
        near = dict(graph.adjacency())
        edges = {
            u: {v: float(data.get("weight", 1.0)) for v, data in others.items()}
            for u, others in near.items()
        }
        labels = {u: data.get("label", 0) for u, data in graph.nodes(data=True)}
        edge_labels = {
            (u, v): data["label"]
            for u, others in near.items()
            for v, data in others.items()
            if "label" in data
        }
        return [edges, labels, edge_labels] if edge_labels else [edges, labels]
    if hasattr(graph, "desired_format") or (isinstance(graph, (list, tuple)) and graph):
        return graph
    expected = "graphs of networkx or GraKeL, or lists [edges, node labels, edge labels]"
    raise _wrong(name, expected, graph, place)


def _by_blocks(
    compare: Callable[[Any, Any], NDArray[Any]],
    left: Any,
    right: Any,
    X: Any,
    Y: Any,
    fewest: int = 1,
) -> NDArray[Any]:
    """Compare all pairs, `fewest` or some more at a time; an error names the first that fails."""
    values = np.empty((len(left), len(right)))
    n_pairs, i = max(_FIRST_PAIRS, fewest), 0
    while i < len(left):
        some, j = left[i : i + max(1, n_pairs // len(right))], 0
        while j < len(right):
            others, clock = right[j : j + max(1, n_pairs // len(some))], perf_counter()
            try:
                values[i : i + len(some), j : j + len(others)] = compare(some, others)
            except Exception:
                for k, m in np.ndindex(len(some), len(others)):
                    try:
                        compare([some[k]], [others[m]])
                    except Exception as error:
                        raise pair_error(raised(error), X, Y, i + k, j + m) from error
                raise
            rate = len(some) * len(others) / max(perf_counter() - clock, 1e-6)
            n_pairs = max(fewest, min(int(_SECONDS * rate), PAIRS_AT_A_TIME))
            j += len(others)
        i += len(some)
    return values


# For each library: the parameters of a name within it, with their defaults; and the values of all
# pairs, for a similarity and the points on the left and right.
_ADAPTERS: dict[str, tuple[Callable[[str], dict[str, Any]], Callable[..., NDArray[Any]]]] = {
    "scipy": (_scipy_defaults, _scipy),
    "sklearn": (_sklearn_defaults, _sklearn),
    "rapidfuzz": (_rapidfuzz_defaults, _rapidfuzz),
    "aeon": (_aeon_defaults, _aeon),
    "grakel": (_grakel_defaults, _grakel),
}
