"""The choice of landmarks: at random, by DSELECT, or to span the feature space."""

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular

from kernlearn.landmarks.similarities import Reals, Similarities
from kernlearn.memory import eigh, row_blocks
from kernlearn.validation import Floats, Indices, Random, StrOptions, warn

#: Takes the index of a training point, returns the similarity of every training point to it.
Column: TypeAlias = Callable[[int], Reals]

# Most pivots that are proposed at a time: all pairs of them are compared.
_MOST_PROPOSED = 128
# Share of the trace of what is left that is rounding errors, at least.
_NOTHING = 1e-13


def dselect(
    column: Column, candidates: ArrayLike, n_landmarks: int, rng: Random, *, fixed: ArrayLike = ()
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
    fixed : array-like of shape (n_fixed,), default=()
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
    >>> dselect(lambda i: -abs(x - x[i]), [1, 2, 3], 3, np.random.RandomState(0), fixed=[0])
    array([3, 1, 2])
    """
    candidates, fixed = np.asarray(candidates, np.intp), np.asarray(fixed, np.intp)
    if n_landmarks < 1:
        raise ValueError(f"'n_landmarks' must be at least 1, got {n_landmarks!r}")
    if candidates.ndim != 1 or not len(candidates):
        raise ValueError(f"'candidates' must hold at least one number, got {candidates!r}")
    totals = np.zeros(len(candidates))
    for i in fixed:
        totals += _finite(column(i))[candidates]
    place = totals.argmin() if len(fixed) else rng.randint(len(candidates))
    chosen = [candidates[place]]
    while len(chosen) < min(n_landmarks, len(candidates)):
        totals += _finite(column(candidates[place]))[candidates]
        totals[place] = np.inf  # not again
        place = totals.argmin()
        chosen.append(candidates[place])
    return np.array(chosen)


def _finite(similarities: NDArray[Any]) -> NDArray[Any]:
    if not np.isfinite(similarities).all():
        raise ValueError("'similarity' must give finite numbers, and gave NaN or infinity")
    return similarities


def select_landmarks(
    n: int, codes: Indices, selection: str, rng: Random, similarities: Similarities
) -> Indices:
    """Choose distinct training points as landmarks; all, with a warning, if there are fewer.

    `codes` are the classes of the training points, none of them empty. "random" draws uniformly.
    The others look at the `similarities` of the training points: "dselect" is algorithm 3
    (:func:`dselect`), "kmeans++" D² sampling (:func:`kmeans_plusplus`), "leverage" recursive
    sampling by ridge leverage scores (:func:`leverage_sampling`), and "rpcholesky" randomly
    pivoted Cholesky (:func:`random_pivots`). For one or two classes they choose from all points;
    for more within each class, evenly, the remainder from the larger classes. If all landmarks are
    of one of two classes, a point of the other class replaces the last one. It is chosen by the
    same rule: for "dselect" the point that is least similar to the rest.

    Of m landmarks "dselect" asks for the similarities of all points to m - 1 at most, and
    "kmeans++" also for those of all points to themselves. "rpcholesky" asks for those to m, and
    "leverage" for as many as to 2 m points, both also for those to themselves.
    """
    if n > len(codes):
        warn(f"{n} landmarks are more than the {len(codes)} training points to choose from")
        n = len(codes)
    if selection in BY_SIMILARITY:
        return _spread(n, codes, selection, similarities, rng)
    return rng.permutation(len(codes))[:n]


def select_pairs(
    n: int, codes: Indices, selection: str, rng: Random, similarities: Similarities
) -> Indices:
    """Choose pairs of training points as landmarks, of shape (n_problems, n, 2).

    There is one problem, class 1 against class 0, for two classes, otherwise one per class. A pair
    is a point x⁺ of the class and a point x⁻ of the rest; pairs may repeat. "random" draws both
    uniformly with replacement. "dselect" draws both from one set of singletons chosen as by
    :func:`select_landmarks` (algorithm 3, lines 6 to 9), `n` but at least one per class,
    and so do the others that look at similarities; "shared" from as many that are drawn evenly
    from the classes.
    """
    n_classes = int(codes.max()) + 1
    pool: Indices = np.arange(len(codes))
    n_pooled = min(max(n, n_classes), len(codes))
    if selection in BY_SIMILARITY:
        pool = _spread(n_pooled, codes, selection, similarities, rng)
    elif selection == "shared":
        shares = _even_shares(n_pooled, np.bincount(codes))
        pool = np.concatenate(
            [rng.choice(np.flatnonzero(codes == c), m, False) for c, m in enumerate(shares)]
        )
    problems = [1] if n_classes == 2 else range(n_classes)
    pairs = np.empty((len(problems), n, 2), dtype=np.intp)
    for c, drawn in zip(problems, pairs, strict=True):
        inside = codes[pool] == c
        drawn[:, 0] = rng.choice(pool[inside], n)
        drawn[:, 1] = rng.choice(pool[~inside], n)
    return pairs


# What is less is 0: its square underflows.
_LEAST = 1e-150


class FeatureSpace:
    """The kernel of some training points, in whose feature space landmarks are drawn.

    A similarity is the kernel itself, and a distance d gives the kernel -d² / 2. The squared
    distance K(x, x) + K(z, z) - 2 K(x, z) of two points is then d(x, z)², if d(x, x) = 0. Lengths
    in the feature space depend on where its origin is, and neither -d² / 2 nor a similarity like
    -‖x - z‖₁, which has no positive value on the diagonal, has any. With these, a point o drawn at
    random becomes the origin. The kernel is K(x, z) - K(x, o) - K(z, o) + K(o, o), with the same
    distances, and positive semi-definite if these are Euclidean (Schoenberg).

    Parameters
    ----------
    similarities : Similarities
        Similarities of the training points. Only those of points to landmarks are asked for, and
        the diagonal: the kernel counts as symmetric.
    points : ndarray of shape (n_points,)
        Indices of training points; all indices below are places among these.
    rng : RandomState
        Draws the origin where there is none; the similarities of all points to it are asked for.

    Attributes
    ----------
    diagonal : ndarray of shape (n_points,)
    rounding : float
        Relative rounding error of the values.
    """

    def __init__(self, similarities: Similarities, points: Indices, rng: Random) -> None:
        self._similarities, self._points = similarities, points
        diagonal = similarities.diagonal()
        self.rounding = float(np.finfo(diagonal.dtype).eps)
        self.diagonal = self._as_kernel(diagonal[points])
        self._to_origin: Floats | None = None
        if similarities.is_distance or self.diagonal.max() <= 0:
            origin = rng.randint(len(points))
            column = similarities.column(int(points[origin]))[points]
            self._to_origin = self._as_kernel(column) - self.diagonal[origin] / 2
            self.diagonal = self.diagonal - 2 * self._to_origin

    def part(self, rows: Indices, which: Indices, *, keep: bool = False) -> Floats:
        """Return the kernel of points `rows` with points `which`, a row for each of `rows`.

        `keep` tells that all similarities to `which` will be asked for again.
        """
        rows_of_all, which_of_all = self._points[rows], self._points[which]
        values = self._as_kernel(self._similarities.part(rows_of_all, which_of_all, keep=keep))
        if self._to_origin is not None:
            values = values - self._to_origin[rows, np.newaxis] - self._to_origin[which]
        return values

    def _as_kernel(self, values: Reals) -> Floats:
        doubles: Floats = values.astype(np.float64)
        return -(doubles**2) / 2 if self._similarities.is_distance else doubles


class Sample:
    """Weighted points of a feature space, on whose span others are projected.

    Negative eigenvalues of an indefinite kernel's matrix of these points count as 0.

    Parameters
    ----------
    space : FeatureSpace
    which : ndarray of shape (n_sampled,)
        The points.
    weights : ndarray of shape (n_sampled,)
        Factors on their feature vectors.

    Attributes
    ----------
    spectrum : ndarray of shape (n_sampled,)
        Eigenvalues of the weighted kernel matrix of the points, ascending, at least 0.
    values : ndarray of shape (rank,)
        Those that are not 0 up to rounding.
    projection : ndarray of shape (n_sampled, rank)
        Maps the kernel values of a point with those sampled to its coordinates along the
        eigenvectors.
    """

    def __init__(self, space: FeatureSpace, which: Indices, weights: Floats) -> None:
        self.space, self.which = space, which
        gram = space.part(which, which) * np.outer(weights, weights)
        spectrum, vectors = eigh((gram + gram.T) / 2)
        # the square of what is kept must not underflow
        used = spectrum > max(len(which) * space.rounding * spectrum[-1], _LEAST)
        self.spectrum, self.values = np.maximum(spectrum, 0.0), spectrum[used]
        self.projection = weights[:, np.newaxis] * vectors[:, used] / np.sqrt(self.values)

    def ridge(self, rank: int) -> float:
        """Return λ, the sum of all eigenvalues but the greatest `rank`, divided by `rank`.

        It is at least what rounding allows to tell from 0.
        """
        least = np.sqrt(self.space.rounding) * self.spectrum.mean()
        return float(max(self.spectrum[:-rank].sum() / rank, least))

    def leverage(self, rows: Indices, ridge: float) -> Floats:
        """Return the approximate ridge leverage scores of points, in [0, 1].

        These are (K - K S (Sᵀ K S + λ I)⁻¹ Sᵀ K)ᵢᵢ / λ, for the matrix S that samples and weighs.
        """
        # the same, without the difference of two numbers that are large relative to λ
        scores = [
            squares @ (1 / (self.values + ridge))
            + np.divide(rest, ridge, out=np.sign(rest), where=ridge > _LEAST)
            for squares, rest in self._projected(rows)
        ]
        return np.minimum(np.concatenate(scores), 1.0)

    def rest(self, rows: Indices) -> Floats:
        """Return the squared distances of points from the span of the sample."""
        return np.concatenate([rest for _, rest in self._projected(rows)])

    def _projected(self, rows: Indices) -> Iterator[tuple[Floats, Floats]]:
        """Yield squared coordinates of blocks of points in the span, and distances from it."""
        for block in row_blocks(len(rows), len(self.which)):
            squares = (self.space.part(rows[block], self.which) @ self.projection) ** 2
            own = self.space.diagonal[rows[block]]
            rest = own - squares.sum(axis=1)
            rest[rest < np.sqrt(self.space.rounding) * np.abs(own)] = 0.0
            yield squares, rest


def kmeans_plusplus(
    similarities: Similarities, candidates: Indices, n: int, rng: Random, *, fixed: ArrayLike = ()
) -> Indices:
    """Choose points by D² sampling, the seeding of k-means++, in the kernel's feature space.

    The first is drawn uniformly. Each further one is drawn with a probability proportional to its
    squared distance from the nearest of those chosen before, K(x, x) + K(z, z) - 2 K(x, z), or d²
    for a distance d. Negative values, of an indefinite similarity, count as 0. If all are 0 it is
    drawn uniformly from the points that are left.

    The similarities of all points to each chosen one but the last are evaluated, and for a
    similarity those of all points to themselves.

    Parameters
    ----------
    similarities : Similarities
        Similarities of the training points to each other.
    candidates : ndarray of shape (n_candidates,)
        Distinct indices of training points that may be chosen.
    n : int
        Number to choose, from 1 to n_candidates.
    rng : RandomState
    fixed : array-like of shape (n_fixed,), default=()
        Points, not among the candidates, that count as already chosen.

    Returns
    -------
    ndarray of shape (n,)
        Indices of training points, in the order of choice.

    References
    ----------
    D. Arthur, S. Vassilvitskii. k-means++: the advantages of careful seeding. SODA 2007, section
    2.2, steps 1a to 1c.
    """
    diagonal = None if similarities.is_distance else similarities.diagonal().astype(np.float64)

    def squared_distances(i: int) -> Floats:
        column = similarities.column(i)[candidates].astype(np.float64)
        if diagonal is None:
            return column**2
        return np.maximum(diagonal[candidates] + diagonal[i] - 2 * column, 0.0)

    # squared distances from the nearest, which do not matter before there is one
    nearest = np.full(len(candidates), np.inf)
    chosen: list[int] = np.asarray(fixed, np.intp).tolist()
    for i in chosen:
        nearest = np.minimum(nearest, squared_distances(i))
    left, places = np.ones(len(candidates)), list[int]()
    while True:
        weights = nearest * left if chosen else left
        if not weights.any():
            weights = left
        place = int(rng.choice(len(candidates), p=weights / weights.sum()))
        places.append(place)
        if len(places) == n:
            return candidates[places]
        left[place] = 0.0
        chosen.append(int(candidates[place]))
        nearest = np.minimum(nearest, squared_distances(chosen[-1]))


def leverage_sampling(
    similarities: Similarities, candidates: Indices, n: int, rng: Random, *, fixed: ArrayLike = ()
) -> Indices:
    r"""Choose points by approximate ridge leverage scores, by recursive sampling (RRLS).

    The ridge leverage scores are the diagonal of :math:`K (K + \lambda I)^{-1}`. Half of the
    points, half of these, and so on until there are `n` at most, are drawn uniformly. From the
    smallest of these sets up, the scores of the set's points are approximated by a weighted sample
    of the set below it. With them the set is sampled, each point on its own. Of all candidates,
    finally, `n` are drawn without replacement, with probabilities proportional to their scores.

    With s landmarks λ is the mean of all eigenvalues of the sample but the greatest k,
    :math:`\lambda = \frac1k \sum_{i > k} \sigma_i`, for :math:`k = \lceil s / (4 \log s) \rceil`,
    and points are drawn with the probabilities :math:`\min(1, \log s \cdot \ell_i)`, scaled down
    to an expected number of s. The paper's constants ask for more samples than there often are
    points.

    The similarities that are evaluated are those of about s points with all candidates, as many
    with half of them, and so on: as many as those of all candidates to 2 s points. Those of the
    landmarks come in addition, and those of all points to themselves.

    For an indefinite similarity the negative eigenvalues of the sample's matrix count as 0, and
    so do negative lengths: the scores are in [0, 1]. For a distance d, or a similarity with no
    positive value on the diagonal, the scores are those of the kernel of differences from a point
    drawn at random, :class:`FeatureSpace`. If fewer points than asked for have a positive score,
    the rest is drawn uniformly.

    Parameters
    ----------
    similarities, candidates, n, rng
        As for :func:`kmeans_plusplus`.
    fixed : array-like of shape (n_fixed,), default=()
        Ignored: scores do not depend on what else is chosen.

    Returns
    -------
    ndarray of shape (n,)
        Indices of training points.

    References
    ----------
    C. Musco, C. Musco. Recursive sampling for the Nyström method. NIPS 2017 (arXiv:1605.07583),
    algorithm 3.
    """
    n_candidates = len(candidates)
    order = rng.permutation(n_candidates)
    if n >= n_candidates:
        return candidates[order]
    space = FeatureSpace(similarities, candidates, rng)
    sizes = [n_candidates]
    while sizes[-1] > n:
        sizes.append((sizes[-1] + 1) // 2)
    oversampling = max(np.log(n), 1.0)
    rank = int(np.ceil(n / (4 * oversampling)))
    which = order[: sizes.pop()]
    weights = np.ones(len(which))
    while True:
        rows = order[: sizes.pop()]
        sample = Sample(space, which, weights)
        scores = sample.leverage(rows, sample.ridge(rank))
        if not sizes:
            return candidates[order[_distinct(scores, n, rng)]]
        chances = np.minimum(oversampling * scores, 1.0)
        chances *= min(n / max(chances.sum(), 1e-300), 1.0)
        drawn = np.flatnonzero(rng.random_sample(len(rows)) < chances)
        if not len(drawn):
            drawn = rng.permutation(len(rows))[:n]
            chances = np.full(len(rows), n / len(rows))
        which, weights = rows[drawn], 1 / np.sqrt(chances[drawn])


def random_pivots(
    similarities: Similarities, candidates: Indices, n: int, rng: Random, *, fixed: ArrayLike = ()
) -> Indices:
    """Choose points by randomly pivoted Cholesky (RPCholesky).

    Each point is drawn with a probability proportional to the squared distance of its feature
    vector from the span of those drawn before: to what is left of the diagonal of K by the Nyström
    approximation with these. Points are proposed in blocks and rejected, see
    :func:`draw_pivots`.

    The similarities of all candidates to each landmark are evaluated once, those of all points to
    themselves, and for each block of at most 128 or `n` proposals those among these.

    For an indefinite similarity what is left of the diagonal is clipped at 0: points with a
    negative rest are not drawn. For a distance d, or a similarity with no positive value on the
    diagonal, the kernel is that of differences from a point drawn at random,
    :class:`FeatureSpace`. If nothing is left the rest of the landmarks is drawn uniformly.

    Parameters
    ----------
    similarities, candidates, n, rng, fixed
        As for :func:`kmeans_plusplus`.

    Returns
    -------
    ndarray of shape (n,)
        Indices of training points, in the order of choice.

    References
    ----------
    Y. Chen, E. N. Epperly, J. A. Tropp, R. J. Webber. Randomly pivoted Cholesky: practical
    approximation of a kernel matrix with few entry evaluations. CPAM 78, 2025
    (arXiv:2207.06503), algorithm 2.1. E. N. Epperly, J. A. Tropp, R. J. Webber. Embrace rejection.
    2024 (arXiv:2410.03969), algorithm 2.
    """
    fixed = np.asarray(fixed, np.intp)
    space = FeatureSpace(similarities, np.concatenate([candidates, fixed]), rng)
    everything = np.arange(len(candidates))
    if len(fixed):
        chosen = len(candidates) + np.arange(len(fixed))
        rest = Sample(space, chosen, np.ones(len(chosen))).rest(everything)
        return candidates[_distinct(rest, n, rng)]
    pivots, _ = draw_pivots(space, n, rng, n_proposed=min(n, _MOST_PROPOSED))
    others = rng.permutation(np.setdiff1d(everything, pivots))[: n - len(pivots)]
    return candidates[np.concatenate([pivots, others])]


def draw_pivots(
    space: FeatureSpace, rank: int, rng: Random, *, n_proposed: int = _MOST_PROPOSED
) -> tuple[Indices, Floats]:
    """Draw the pivots of a Cholesky factor F of the kernel K ≈ FᵀF of a feature space.

    Pivots are drawn one after the other, with probabilities proportional to the diagonal of what
    is not yet approximated. Many are proposed at a time, by the diagonal before, and rejected with
    the probability that makes this the same. The whole rows of K that are asked for are those of
    the pivots, and for each round of proposals the values among these.

    K should be positive semi-definite. If it is not, a negative diagonal, of K or of what is left,
    counts as 0: such a point is not drawn, and F has zeros there from then on.

    Parameters
    ----------
    space : FeatureSpace
    rank : int
        Most rows of F.
    rng : RandomState
    n_proposed : int, default=128
        Pivots proposed at a time. It changes what is drawn, but no probability.

    Returns
    -------
    pivots : ndarray of shape (n_rows,)
        Distinct indices, in the order in which they were drawn.
    factor : ndarray of shape (n_rows, n_samples)
        F, with fewer rows than asked for if these suffice.

    References
    ----------
    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky: practical approximation of a kernel
    matrix with few entry evaluations, CPAM 78 (2025). Epperly, Tropp & Webber, Embrace rejection:
    kernel matrix approximation by accelerated randomly pivoted Cholesky, 2024, algorithm 2.
    """
    left = np.maximum(space.diagonal, 0.0)  # of the matrix less its approximation
    n_samples, everything = len(left), np.arange(len(left))
    nothing = max(_NOTHING, 10 * space.rounding) * left.sum()
    factor = np.empty((min(rank, n_samples), n_samples))
    pivots = np.empty(len(factor), dtype=np.intp)
    k = 0
    while k < len(factor) and left.sum() > nothing:
        picks = rng.choice(n_samples, n_proposed, p=left / left.sum())
        among = space.part(picks, picks) - factor[:k, picks].T @ factor[:k, picks]
        accepted, lower = _accept(among, left[picks], rng)
        accepted = accepted[: len(factor) - k]
        if not len(accepted):  # what seemed to be left of these are rounding errors
            left[picks] = 0.0
            continue
        chosen, end = picks[accepted], k + len(accepted)
        rows = space.part(everything, chosen, keep=True).T
        rows = rows - factor[:k, chosen].T @ factor[:k]
        further = solve_triangular(lower[: len(accepted), : len(accepted)], rows, lower=True)
        further[:, left == 0] = 0.0
        factor[k:end], pivots[k:end] = further, chosen
        left = np.maximum(left - (further**2).sum(axis=0), 0.0)
        left[chosen] = 0.0
        k = end
    return pivots[:k], factor[:k]


def _accept(residual: Floats, proposed: Floats, rng: Random) -> tuple[Indices, Floats]:
    """Return which proposals are accepted, and the Cholesky factor of their residual.

    `residual` is that of the proposals, whose diagonal was `proposed` when they were drawn.
    """
    uniform = rng.random(len(proposed))
    accepted: list[int] = []
    lower = np.zeros_like(residual)
    for i in range(len(residual)):
        if residual[i, i] > max(uniform[i], _NOTHING) * proposed[i]:
            column = residual[:, i] / np.sqrt(residual[i, i])
            residual = residual - np.outer(column, column)
            lower[:, len(accepted)] = column
            accepted.append(i)
    places = np.array(accepted, dtype=np.intp)
    return places, np.tril(lower[places, : len(places)])


def _distinct(weights: Floats, n: int, rng: Random) -> Indices:
    """Draw n places in proportion to their weights, and uniformly if too few have one."""
    chances = weights / max(weights.sum(), 1e-300)
    possible = np.flatnonzero(chances)
    if len(possible) >= n:
        return rng.choice(len(weights), n, replace=False, p=chances)
    others = np.setdiff1d(np.arange(len(weights)), possible)
    return np.concatenate([possible, rng.permutation(others)[: n - len(possible)]])


_CHOOSE: dict[str, Callable[..., Indices]] = {
    "dselect": lambda points, *settings, **fixed: dselect(points.column, *settings, **fixed),
    "kmeans++": kmeans_plusplus,
    "leverage": leverage_sampling,
    "rpcholesky": random_pivots,
}
#: Selections of landmarks that look at similarities, and at classes only to choose from each.
BY_SIMILARITY = tuple(_CHOOSE)
SELECTIONS = ("random", *BY_SIMILARITY)
PAIR_SELECTION = StrOptions({*SELECTIONS, "shared"})


def _spread(
    n: int, codes: Indices, selection: str, similarities: Similarities, rng: Random
) -> Indices:
    """Choose by similarity from all points of up to two classes, within each class of more."""
    choose, sizes = _CHOOSE[selection], np.bincount(codes)
    if len(sizes) > 2:
        shares = enumerate(_even_shares(n, sizes))
        parts = [choose(similarities, np.flatnonzero(codes == c), m, rng) for c, m in shares if m]
        return np.concatenate(parts)
    chosen = choose(similarities, np.arange(len(codes)), n, rng)
    missing = np.setdiff1d(codes, codes[chosen])
    if len(missing) and n > 1:
        others = np.flatnonzero(codes == missing[0])
        chosen[-1:] = choose(similarities, others, 1, rng, fixed=chosen[:-1])
    return chosen


def _even_shares(n: int, sizes: Indices) -> Indices:
    """Split n ≤ Σ sizes evenly, up to the size of each class."""
    shares = np.zeros_like(sizes)
    for _ in range(n):
        # the class with least, of equals the largest
        order = np.lexsort([-sizes, shares, shares >= sizes])
        shares[order[0]] += 1
    return shares
