"""A check of a similarity on some points."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import as_kernel
from kernlearn.kernels.pairs import check_values, pair_error
from kernlearn.similarities.turning import as_indexed

# How far apart two values of a pair may be, relative to the greater.
_SAME = 1e-6


def check_similarity(
    similarity: Any,
    X: Any,
    *,
    symmetric: bool = True,
    n_pairs: int = 100,
    random_state: Any = None,
) -> None:
    """Compare some pairs of points, and raise an error that names the first that is wrong.

    Values must be finite numbers, the same each time, whatever points they are computed together
    with, and the same for (x, y) and (y, x).

    Parameters
    ----------
    similarity : str, Kernel or callable
        As estimators take it.
    X : array-like or sequence
        Some points, at least two.
    symmetric : bool, default=True
        Whether values must be the same for (x, y) and (y, x).
    n_pairs : int, default=100
        Number of pairs; four comparisons are made of each, one without `symmetric` less.
    random_state : int, RandomState instance or None, default=None
        Seed of the pairs.

    Raises
    ------
    SimilarityError
        If a value is wrong, with the positions of the two points in X and what they are.

    Examples
    --------
    >>> from kernlearn.similarities import check_similarity
    >>> check_similarity(lambda x, y: len(x) - len(y), ["a", "bcd"], random_state=0)
    Traceback (most recent call last):
    ...
    kernlearn.exceptions.SimilarityError: the similarity of X[1] ('bcd') and X[0] ('a') is 2, \
and -2 the other way round: it is not symmetric
    """
    points = as_indexed(X)
    if (n := points.shape[0]) < 2:
        raise ValueError(f"'X' must hold at least two points, got {n}")
    kernel = as_kernel(similarity, "similarity").fitted_to(points)
    rng = check_random_state(random_state)
    for _ in range(n_pairs):
        pair = rng.choice(n, 2, replace=False)
        i, j = pair.tolist()
        x, y = points[pair[:1]], points[pair[1:]]
        try:
            first = np.asarray(kernel(x, y), dtype=np.float64)
            kernel.forget()
            if first.shape != (1, 1):
                raise ValueError(f"'similarity' gave shape {first.shape} for two points")
            check_values(first, x, y)
            again = np.asarray(kernel(x, points[pair]), dtype=np.float64)[:, 1:]
            kernel.forget()
            _same(first, again, "another time", "it changes", x, y)
            if symmetric:
                turned = np.asarray(kernel(y, x), dtype=np.float64)
                _same(first, turned, "the other way round", "it is not symmetric", x, y)
        except SimilarityError as error:
            shown = error.shown
            raise SimilarityError(error.problem, i, j, shown, ("X", "X")) from error.__cause__


def _same(first: Any, second: Any, when: str, what: str, x: Any, y: Any) -> None:
    a, b = float(first[0, 0]), float(second[0, 0])
    if abs(a - b) > _SAME * max(abs(a), abs(b)) + 1e-12:
        raise pair_error(f"is {a:.6g}, and {b:.6g} {when}: {what}", x, y, 0, 0)
