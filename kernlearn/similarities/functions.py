"""One's own similarity: a function of two points, or of two batches."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from kernlearn.constraints import N_JOBS, StrOptions
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.base import Kernel
from kernlearn.kernels.functions import CallableKernel
from kernlearn.kernels.pairs import Floats, Indices, compare_pairs, pair_error
from kernlearn.progress import Bar, advance
from kernlearn.similarities.cache import PairCache
from kernlearn.similarities.turning import TurnedSimilarity

_BACKENDS = {"threads": "threading", "processes": "loky"}
# Pairs that are compared between two steps of progress, and parts of them for each worker.
_MOST, _PARTS = 256, 16
# How far apart the values of (x, y) and (y, x) may be, relative to the greater.
_SYMMETRIC = 1e-9


@dataclass(eq=False, repr=False)
class FunctionSimilarity(TurnedSimilarity, CallableKernel):
    r"""A similarity or distance from a function, with workers, progress and a cache.

    Parameters
    ----------
    function : callable
        A function of two points that returns a number, or with ``takes="matrices"`` of two
        batches, (X, Y), that returns a matrix with a row for each point of X.
    takes : {"points", "matrices", "auto"}, default="points"
        What the function takes; "auto" tries.
    kind : {"similarity", "distance"}, default="similarity"
        What it returns. A distance is turned.
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        What becomes of a distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "mean_distance", default="mean_distance"
        The σ; by default the mean distance of 64 training points.
    symmetric : bool or "check", default=False
        Whether the order of the two points makes no difference: then each pair is compared once.
        "check" compares both ways, and raises an error where they differ.
    n_jobs : int, default=None
        Number of workers that call a function of points; None is 1, unless set by
        :func:`joblib.parallel_config`, and -1 all cores.
    backend : {"threads", "processes"}, default="threads"
        What the workers are. A function in pure Python gains from processes only; points are
        sent to these.
    progress : bool or callable, default=False
        True shows a bar on the terminal; a callable is given the number of pairs compared and
        their total, after some of them.
    cache : PairCache or path-like, default=None
        Keeps values for later fits and predictions; a path for a file.

    Attributes
    ----------
    evaluations : int
        Number of calls of a function of points, of the copy that an estimator has fitted.

    Notes
    -----
    While an estimator is fitted, no pair is compared twice. Threads finish the pairs that they
    have begun when a comparison fails or is interrupted; processes are ended.

    Examples
    --------
    >>> from kernlearn.similarities import FunctionSimilarity
    >>> shared = FunctionSimilarity(lambda a, b: len(a & b), symmetric=True)
    >>> shared([{1, 2}, {2, 3}, {4}])
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    """

    function: Callable[[Any, Any], Any]
    _: KW_ONLY
    takes: str = "points"
    kind: str = "similarity"
    turn: str = "negative"
    sigma: Any = "mean_distance"
    symmetric: bool | str = False
    n_jobs: int | None = None
    backend: str = "threads"
    progress: Any = False
    cache: Any = None

    _parameter_constraints = {
        **CallableKernel._parameter_constraints,
        **TurnedSimilarity._parameter_constraints,
        "kind": [StrOptions({"similarity", "distance"})],
        "symmetric": ["boolean", StrOptions({"check"})],
        "n_jobs": N_JOBS,
        "backend": [StrOptions(set(_BACKENDS))],
        "progress": ["boolean", callable],
    }

    @property
    def is_distance(self) -> bool:
        return self.kind == "distance"

    @property
    def _symmetric(self) -> bool:  # type: ignore[override]
        return bool(self.symmetric)

    def fitted_to(self, X: Any, y: object = None, names: Sequence[str] | None = None) -> Kernel:
        made = CallableKernel.fitted_to(self, X, y, names)
        made.fit(X, y)
        return made

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        return CallableKernel.__call__(self, X, Y)

    def _evaluate(
        self, left: Sequence[Any], right: Sequence[Any], rows: Indices, columns: Indices
    ) -> Floats:
        cache = self._cache()
        if cache is None:
            return self._computed(left, right, rows, columns, None)
        keys = cache.keys(self.function, left, right, rows, columns, self._symmetric)
        values = cache.find(keys)
        new = np.flatnonzero(np.isnan(values))
        if len(new):

            def keep(places: slice, found: Floats) -> None:
                cache.keep([keys[k] for k in new[places]], found)

            values[new] = self._computed(left, right, rows[new], columns[new], keep)
        self.evaluations -= len(rows) - len(new)  # those found are no calls
        return values

    def _cache(self) -> PairCache | None:
        if self.cache is None or isinstance(self.cache, PairCache):
            return self.cache
        return PairCache(self.cache)

    def _computed(
        self,
        left: Sequence[Any],
        right: Sequence[Any],
        rows: Indices,
        columns: Indices,
        keep: Callable[[slice, Floats], None] | None,
    ) -> Floats:
        """Return the values of some pairs, from workers if there are several."""
        n_jobs, n = effective_n_jobs(self.n_jobs), len(rows)
        values = np.empty(n)
        batches = list(gen_batches(n, min(max(n // (_PARTS * n_jobs), 1), _MOST)))
        parts = (_Part.of(left, right, rows[batch], columns[batch]) for batch in batches)
        checks = self.symmetric == "check"
        if n_jobs == 1:
            results = (part.compare(self.function, checks) for part in parts)
        else:
            results = Parallel(
                n_jobs, backend=_BACKENDS[self.backend], return_as="generator", batch_size=1
            )(delayed(_Part.compare)(part, self.function, checks) for part in parts)
        if checks:
            self.evaluations += n  # the other way round
        with self._shown(n) as told:
            for batch, found in zip(batches, results, strict=True):
                values[batch] = found
                if keep is not None:
                    keep(batch, found)
                told(batch.stop - batch.start)
        return values

    @contextmanager
    def _shown(self, total: int) -> Iterator[Callable[[int], None]]:
        """Yield what is told of more pairs that have been compared."""
        done = 0

        def told(n: int) -> None:
            nonlocal done
            done += n
            advance(n)
            if callable(self.progress):
                self.progress(done, total)
            elif bar is not None:
                bar.advance(n)

        bar = Bar("", total, transient=True) if self.progress is True else None
        try:
            yield told
        finally:
            if bar is not None:
                bar.close()


@dataclass(frozen=True)
class _Part:
    """Some pairs, with the points that they are of, by their places."""

    left: dict[int, Any]
    right: dict[int, Any]
    rows: Indices
    columns: Indices

    @classmethod
    def of(
        cls, left: Sequence[Any], right: Sequence[Any], rows: Indices, columns: Indices
    ) -> "_Part":
        return cls(
            {i: left[i] for i in set(rows.tolist())},
            {j: right[j] for j in set(columns.tolist())},
            rows,
            columns,
        )

    def compare(self, function: Callable[[Any, Any], Any], checks: bool) -> Floats:
        """Return the values; with `checks` they must be the same the other way round."""
        values = compare_pairs(function, self.left, self.right, self.rows, self.columns)
        if checks:
            try:
                turned = compare_pairs(function, self.right, self.left, self.columns, self.rows)
            except SimilarityError as error:
                problem = f"the other way round {error.problem}"
                places = error.right, error.left
                raise SimilarityError(problem, *places, error.shown[::-1]) from error.__cause__
            apart = np.abs(values - turned)
            wrong = apart > _SYMMETRIC * np.maximum(np.abs(values), np.abs(turned))
            if wrong.any():
                k = int(wrong.argmax())
                raise pair_error(
                    f"is {values[k]:g}, and {turned[k]:g} the other way round: it is not "
                    "symmetric",
                    self.left,
                    self.right,
                    int(self.rows[k]),
                    int(self.columns[k]),
                )
        return values
