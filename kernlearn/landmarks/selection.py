"""Choice of training points, or pairs of them, as landmarks: random, stratified, DSELECT."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Selection = Literal["random", "stratified", "dselect"]
SELECTIONS: tuple[Selection, ...] = ("random", "stratified", "dselect")

Indices: TypeAlias = NDArray[np.intp]
#: Takes the index of a training point, returns the similarity of every training point to it.
Column: TypeAlias = Callable[[int], NDArray[np.floating]]


def dselect(
    column: Column,
    candidates: ArrayLike,
    n_landmarks: int,
    rng: np.random.RandomState,
    *,
    given: ArrayLike = (),
) -> Indices:
    """Choose points that are unlike each other: DSELECT, algorithm 3, lines 1 to 5.

    The first is drawn at random. Each further one is the candidate with the least average
    similarity K(candidate, chosen) to those chosen before; ties go to the first. The thesis
    prints the arg min without the average, which its text implies.

    Parameters
    ----------
    column : callable
        ``column(i)``, of shape (n_samples,), is the similarity of every training point to
        point i, or minus the distance. It is called once for each chosen point but the last.
    candidates : array-like of shape (n_candidates,)
        Distinct indices of training points that may be chosen.
    n_landmarks : int
        Number to choose; all candidates if there are no more.
    rng : RandomState
    given : array-like of shape (n_given,), default=()
        Points, not among the candidates, that count as already chosen: the first one is then
        not drawn at random.

    Returns
    -------
    ndarray of shape (min(n_landmarks, n_candidates),)
        Indices of training points, in the order of choice.

    Raises
    ------
    ValueError
        If `n_landmarks` is below 1, there is no candidate, or a similarity is not finite.

    References
    ----------
    Kar (2013), section 4.2.3.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import dselect
    >>> x = np.array([0.0, 0.1, 1.0, 5.0])
    >>> dselect(lambda i: -abs(x - x[i]), [1, 2, 3], 3, np.random.RandomState(0), given=[0])
    array([3, 1, 2])
    """
    candidates, given = np.asarray(candidates, np.intp), np.asarray(given, np.intp)
    if n_landmarks < 1:
        raise ValueError(f"'n_landmarks' must be at least 1, got {n_landmarks!r}")
    if candidates.ndim != 1 or not len(candidates):
        raise ValueError(f"'candidates' must hold at least one number, got {candidates!r}")
    totals = np.zeros(len(candidates))
    for i in given:
        totals += _checked(column, i)[candidates]
    place = totals.argmin() if len(given) else rng.randint(len(candidates))
    chosen = [candidates[place]]
    while len(chosen) < min(n_landmarks, len(candidates)):
        totals += _checked(column, candidates[place])[candidates]
        totals[place] = np.inf  # not again
        place = totals.argmin()
        chosen.append(candidates[place])
    return np.array(chosen)


def _checked(column: Column, i: int) -> NDArray[np.floating]:
    values = column(i)
    if not np.isfinite(values).all():
        raise ValueError(
            f"'similarity' must give finite numbers, and does not between training point {i} "
            "and others"
        )
    return values


def select_landmarks(
    n_landmarks: int,
    codes: NDArray[Any],
    *,
    selection: str,
    column: Column | None = None,
    rng: np.random.RandomState,
) -> Indices:
    """Choose training points as landmarks; all, with a warning, if there are fewer.

    Parameters
    ----------
    n_landmarks : int
    codes : ndarray of shape (n_samples,)
        The class of each training point, 0 to n_classes - 1; no class is empty.
    selection : {"random", "stratified", "dselect"}
        "random" draws uniformly. "stratified" draws from each class in proportion to its size,
        by largest remainders, at least one if there are as many landmarks as classes.
        "dselect" is algorithm 3 (:func:`dselect`): for one or two classes over all points;
        for more within each class, evenly, the remainder from the larger classes. If all
        landmarks are of one of two classes, the last one is replaced by the point of the other
        class that is least similar to the rest.
    column : callable, default=None
        As for :func:`dselect`; required for "dselect".
    rng : RandomState

    Returns
    -------
    ndarray of shape (min(n_landmarks, n_samples),)
        Distinct indices of training points.

    References
    ----------
    Kar (2013), section 4.2.3 and algorithm 3; Balcan & Blum (2006).
    """
    _check_selection(selection)
    if n_landmarks > len(codes):
        warnings.warn(
            f"n_landmarks={n_landmarks} is more than the {len(codes)} training points: each of "
            "them is a landmark",
            UserWarning,
            stacklevel=2,
        )
        n_landmarks = len(codes)
    if selection == "dselect":
        return _diverse(n_landmarks, codes, column, rng)
    if selection == "random":
        return rng.permutation(len(codes))[:n_landmarks]
    shares = _proportional_shares(n_landmarks, np.bincount(codes))
    return np.concatenate(
        [rng.permutation(np.flatnonzero(codes == c))[:share] for c, share in enumerate(shares)]
    )


def select_pairs(
    n_landmarks: int,
    codes: NDArray[Any],
    *,
    selection: str,
    column: Column | None = None,
    rng: np.random.RandomState,
) -> Indices:
    """Choose pairs of training points as landmarks, for each one-vs-all problem.

    A pair is a point x⁺ of the class and a point x⁻ of the rest. Pairs may repeat.

    Parameters
    ----------
    n_landmarks : int
        Number of pairs per problem.
    codes, column, rng
        As for :func:`select_landmarks`.
    selection : {"random", "stratified", "dselect"}
        "random" draws x⁺ and x⁻ uniformly with replacement. "stratified" spreads the x⁻ over
        the classes of the rest in proportion to their sizes, by systematic sampling.
        "dselect" draws both uniformly with replacement from one set of singletons chosen as by
        :func:`select_landmarks` (algorithm 3, lines 6 to 9), `n_landmarks` but at least one
        per class.

    Returns
    -------
    ndarray of shape (n_problems, n_landmarks, 2)
        Indices of training points, x⁺ before x⁻. One problem, class 1 against class 0, for two
        classes, otherwise one per class.

    References
    ----------
    Kar (2013), sections 4.2 and 4.2.3, algorithm 3.
    """
    _check_selection(selection)
    n_classes = int(codes.max()) + 1
    if n_classes < 2:
        raise ValueError("y holds one class: pairs of landmarks need at least two")
    pool: Indices = np.arange(len(codes))
    if selection == "dselect":
        pool = _diverse(min(max(n_landmarks, n_classes), len(codes)), codes, column, rng)
    problems = [1] if n_classes == 2 else range(n_classes)
    pairs = np.empty((len(problems), n_landmarks, 2), dtype=np.intp)
    for c, drawn in zip(problems, pairs, strict=True):
        inside = codes[pool] == c
        drawn[:, 0] = rng.choice(pool[inside], n_landmarks)
        if selection == "stratified":
            drawn[:, 1] = _systematic(n_landmarks, pool[~inside], codes, rng)
        else:
            drawn[:, 1] = rng.choice(pool[~inside], n_landmarks)
    return pairs


def _check_selection(selection: str) -> None:
    if selection not in SELECTIONS:
        names = ", ".join(map(repr, SELECTIONS))
        raise ValueError(f"'selection' must be one of {names}, got {selection!r}")


def _diverse(
    n_landmarks: int, codes: NDArray[Any], column: Column | None, rng: np.random.RandomState
) -> Indices:
    """Apply DSELECT to all points of up to two classes, within each class of more."""
    if column is None:
        raise ValueError("'column' must be given for selection='dselect'")
    sizes = np.bincount(codes)
    if len(sizes) > 2:
        shares = _even_shares(n_landmarks, sizes)
        return np.concatenate(
            [
                dselect(column, np.flatnonzero(codes == c), shares[c], rng)
                for c in np.flatnonzero(shares)
            ]
        )
    chosen = dselect(column, np.arange(len(codes)), n_landmarks, rng)
    missing = np.setdiff1d(codes, codes[chosen])
    if len(missing) and n_landmarks > 1:
        others = np.flatnonzero(codes == missing[0])
        chosen[-1:] = dselect(column, others, 1, rng, given=chosen[:-1])
    return chosen


def _even_shares(n: int, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Split n ≤ Σ sizes evenly, up to the size of each class."""
    shares = np.zeros_like(sizes)
    largest_first = np.argsort(-sizes, kind="stable")
    while (left := n - int(shares.sum())) > 0:
        room = largest_first[(shares < sizes)[largest_first]]
        taking = room[:left]
        shares[taking] = np.minimum(shares[taking] + left // len(taking), sizes[taking])
    return shares


def _proportional_shares(n: int, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Split n ≤ Σ sizes in proportion, at least one per class if n suffices."""
    quotas = n * sizes / sizes.sum()
    small = quotas < 1
    if n >= len(sizes) and small.any():
        shares = np.ones_like(sizes)
        shares[~small] = _proportional_shares(n - int(small.sum()), sizes[~small])
        return shares
    shares = np.floor(quotas).astype(sizes.dtype)
    largest_remainders = np.argsort(shares - quotas, kind="stable")
    shares[largest_remainders[: n - shares.sum()]] += 1
    return shares


def _systematic(
    n: int, points: Indices, codes: NDArray[Any], rng: np.random.RandomState
) -> Indices:
    """Draw n points, evenly spaced in a random order sorted by class."""
    mixed = rng.permutation(points)
    by_class = mixed[np.argsort(codes[mixed], kind="stable")]
    places = (np.arange(n) + rng.uniform()) * (len(points) / n)
    # rounding may reach one past the end
    places = np.minimum(places.astype(np.intp), len(points) - 1)
    return rng.permutation(by_class[places])
