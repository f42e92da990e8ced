"""The choice of landmarks: at random, by classes, by DSELECT, or to span the feature space."""

import warnings
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kernlearn.landmarks.medoids import sampled_medoids
from kernlearn.landmarks.sampling import kmeans_plusplus, leverage_sampling, random_pivots
from kernlearn.landmarks.similarity import Compared, Floats, Indices, finite

#: Those that look at similarities, and at classes only to choose from each.
BY_SIMILARITY = ("dselect", "kmeans++", "kmedoids", "leverage", "rpcholesky")
SELECTIONS = ("random", "stratified", *BY_SIMILARITY)
PAIR_SELECTIONS = (*SELECTIONS, "shared")

Random: TypeAlias = np.random.RandomState
#: Takes the index of a training point, returns the similarity of every training point to it.
Column: TypeAlias = Callable[[int], Floats]


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
        totals += finite(column(i))[candidates]
    place = totals.argmin() if len(given) else rng.randint(len(candidates))
    chosen = [candidates[place]]
    while len(chosen) < min(n_landmarks, len(candidates)):
        totals += finite(column(candidates[place]))[candidates]
        totals[place] = np.inf  # not again
        place = totals.argmin()
        chosen.append(candidates[place])
    return np.array(chosen)


def select_landmarks(
    n_landmarks: int,
    codes: Indices,
    selection: str,
    rng: Random,
    similarities: Compared | None = None,
) -> Indices:
    """Choose distinct training points as landmarks; all, with a warning, if there are fewer.

    `codes` are the classes of the training points, none of them empty. "random" draws uniformly,
    "stratified" from each class in proportion to its size, by largest remainders, at least one if
    there are as many landmarks as classes. The others look at the `similarities` of the training
    points: "dselect" is algorithm 3 (:func:`dselect`), "kmeans++" D² sampling
    (:func:`~kernlearn.landmarks.sampling.kmeans_plusplus`), "kmedoids" k-medoids of a sample
    (:func:`~kernlearn.landmarks.medoids.sampled_medoids`), "leverage" recursive sampling by ridge
    leverage scores (:func:`~kernlearn.landmarks.sampling.leverage_sampling`), and "rpcholesky"
    randomly pivoted Cholesky (:func:`~kernlearn.landmarks.sampling.random_pivots`). For one or two
    classes they choose from all points; for more within each class, evenly, the remainder from the
    larger classes. If all landmarks are of one of two classes, the last one is replaced by a point
    of the other class, chosen by the same rule: for "dselect" the point that is least similar to
    the rest.

    Of m landmarks "dselect" asks for the similarities of all points to m - 1 at most, "kmeans++"
    for these and those of all points to themselves, "rpcholesky" for those to m, "leverage" for as
    many as to 2 m other points, and those to themselves, and "kmedoids" for those of 80 + 4 m
    points to each other: their docstrings have the details.
    """
    if n_landmarks > len(codes):
        warnings.warn(
            f"n_landmarks={n_landmarks} is more than the {len(codes)} training points: each of "
            "them is a landmark",
            UserWarning,
            stacklevel=2,
        )
        n_landmarks = len(codes)
    if selection in BY_SIMILARITY:
        return _spread(n_landmarks, codes, selection, similarities, rng)
    if selection == "random":
        return rng.permutation(len(codes))[:n_landmarks]
    shares = _proportional_shares(n_landmarks, np.bincount(codes))
    drawn = [rng.permutation(np.flatnonzero(codes == c))[:n] for c, n in enumerate(shares)]
    return np.concatenate(drawn)


def extend_landmarks(
    chosen: Indices,
    n_landmarks: int,
    codes: Indices,
    selection: str,
    rng: Random,
    similarities: Compared | None = None,
) -> Indices:
    """Return the landmarks chosen before, followed by further ones: `n_landmarks` in all.

    The further ones are chosen as by :func:`select_landmarks` from the points that are left, with
    regard to those chosen before, but for "leverage", whose scores do not depend on these.
    "stratified" takes them in proportion to the points left of each class, and "shared" draws them
    evenly from the classes. There are as many points at least.
    """
    if not len(chosen) and selection != "shared":
        return select_landmarks(n_landmarks, codes, selection, rng, similarities)
    left = rng.permutation(np.setdiff1d(np.arange(len(codes)), chosen))
    n_more, sizes = n_landmarks - len(chosen), np.bincount(codes)
    if selection == "random":
        return np.concatenate([chosen, left[:n_more]])
    parts = [chosen]
    if selection == "stratified":
        present, of_left = np.unique(codes[left], return_inverse=True)
        for c, n in enumerate(_proportional_shares(n_more, np.bincount(of_left))):
            parts.append(left[codes[left] == present[c]][:n])
        return np.concatenate(parts)
    if similarities is None and selection != "shared":
        raise ValueError(f"selection={selection!r} needs the similarities of the training points")
    groups, before = codes, codes[chosen]
    if len(sizes) <= 2 and selection != "shared":
        groups, before, sizes = np.zeros_like(codes), np.zeros_like(before), np.array([len(codes)])
    shares = np.bincount(before, minlength=len(sizes))
    more = _even_shares(n_landmarks, sizes, shares) - shares
    for c, n in enumerate(more):
        candidates, given = left[groups[left] == c], chosen[before == c]
        if selection == "shared":
            parts.append(candidates[:n])
        elif n:
            candidates = np.sort(candidates)
            parts.append(_CHOOSE[selection](similarities, candidates, n, rng, given=given))
    return np.concatenate(parts)


def select_pairs(
    n_landmarks: int,
    codes: Indices,
    selection: str,
    rng: Random,
    similarities: Compared | None = None,
) -> Indices:
    """Choose pairs of training points as landmarks, of shape (n_problems, n_landmarks, 2).

    There is one problem, class 1 against class 0, for two classes, otherwise one per class. A pair
    is a point x⁺ of the class and a point x⁻ of the rest; pairs may repeat. "random" draws both
    uniformly with replacement. "stratified" spreads the x⁻ over the classes of the rest in
    proportion to their sizes, by systematic sampling. "dselect" draws both from one set of
    singletons chosen as by :func:`select_landmarks` (algorithm 3, lines 6 to 9), `n_landmarks` but
    at least one per class, and so do the others that look at similarities; "shared" from as many
    that are drawn evenly from the classes.
    """
    n_classes = int(codes.max()) + 1
    if n_classes < 2:
        raise ValueError("y holds one class: pairs of landmarks need at least two")
    pool: Indices = np.arange(len(codes))
    n_pooled = min(max(n_landmarks, n_classes), len(codes))
    if selection in BY_SIMILARITY:
        pool = _spread(n_pooled, codes, selection, similarities, rng)
    elif selection == "shared":
        shares = _even_shares(n_pooled, np.bincount(codes))
        pool = np.concatenate(
            [rng.choice(np.flatnonzero(codes == c), n, False) for c, n in enumerate(shares)]
        )
    return pairs_from(pool, n_landmarks, codes, rng, spread=selection == "stratified")


def pairs_from(
    pool: Indices, n_landmarks: int, codes: Indices, rng: Random, *, spread: bool = False
) -> Indices:
    """Draw pairs of points of a pool, which has some of each class, as by :func:`select_pairs`.

    With `spread` the second points are spread over the classes of the rest.
    """
    n_classes = int(codes.max()) + 1
    problems = [1] if n_classes == 2 else range(n_classes)
    pairs = np.empty((len(problems), n_landmarks, 2), dtype=np.intp)
    for c, drawn in zip(problems, pairs, strict=True):
        inside = codes[pool] == c
        drawn[:, 0] = rng.choice(pool[inside], n_landmarks)
        if spread:
            drawn[:, 1] = _systematic(n_landmarks, pool[~inside], codes, rng)
        else:
            drawn[:, 1] = rng.choice(pool[~inside], n_landmarks)
    return pairs


def _dselect(
    similarities: Compared, candidates: Indices, n: int, rng: Random, *, given: ArrayLike = ()
) -> Indices:
    return dselect(similarities.column, candidates, n, rng, given=given)


_CHOOSE: dict[str, Callable[..., Indices]] = {
    "dselect": _dselect,
    "kmeans++": kmeans_plusplus,
    "kmedoids": sampled_medoids,
    "leverage": leverage_sampling,
    "rpcholesky": random_pivots,
}


def _spread(
    n_landmarks: int, codes: Indices, selection: str, similarities: Compared | None, rng: Random
) -> Indices:
    """Choose by similarity from all points of up to two classes, within each class of more."""
    if similarities is None:
        raise ValueError(f"selection={selection!r} needs the similarities of the training points")
    choose, sizes = _CHOOSE[selection], np.bincount(codes)
    if len(sizes) > 2:
        shares = enumerate(_even_shares(n_landmarks, sizes))
        parts = [choose(similarities, np.flatnonzero(codes == c), n, rng) for c, n in shares if n]
        return np.concatenate(parts)
    chosen = choose(similarities, np.arange(len(codes)), n_landmarks, rng)
    missing = np.setdiff1d(codes, codes[chosen])
    if len(missing) and n_landmarks > 1:
        others = np.flatnonzero(codes == missing[0])
        chosen[-1:] = choose(similarities, others, 1, rng, given=chosen[:-1])
    return chosen


def _even_shares(n: int, sizes: Indices, shares: Indices | None = None) -> Indices:
    """Split n ≤ Σ sizes evenly, up to the size of each class; no class has less than `shares`."""
    shares = np.zeros_like(sizes) if shares is None else shares.copy()
    for _ in range(n - int(shares.sum())):
        # the class with least, of equals the largest
        order = np.lexsort([-sizes, shares, shares >= sizes])
        shares[order[0]] += 1
    return shares


def _proportional_shares(n: int, sizes: Indices) -> Indices:
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


def _systematic(n: int, points: Indices, codes: Indices, rng: Random) -> Indices:
    """Draw n points, evenly spaced in a random order sorted by class."""
    mixed = rng.permutation(points)
    by_class = mixed[np.argsort(codes[mixed], kind="stable")]
    places = (np.arange(n) + rng.uniform()) * (len(points) / n)
    # rounding may reach one past the end
    places = np.minimum(places.astype(np.intp), len(points) - 1)
    return rng.permutation(by_class[places])
