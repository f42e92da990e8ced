"""k-medoids from a matrix of dissimilarities: greedy BUILD, and the swaps of FasterPAM."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Errors of as many roundings as there are points, times this, do not tell sums apart.
_ROUNDINGS = 4


def k_medoids(
    dissimilarities: Floats,
    k: int,
    *,
    served: Floats | None = None,
    rounding: float = float(np.finfo(np.float64).eps),
) -> Indices:
    """Choose k columns, the medoids, such that the sum of the rows' least values is small.

    BUILD chooses greedily the column that lowers the sum most, and then swaps of a medoid and
    another column are made as long as one lowers it: a local minimum. FasterPAM finds the best
    medoid to swap a column with in one pass of the rows, and makes the swap at once.

    Parameters
    ----------
    dissimilarities : ndarray of shape (n_points, n_candidates)
        Finite; neither symmetric nor positive of necessity.
    k : int
        From 1 to n_candidates.
    served : ndarray of shape (n_points,), default=None
        Dissimilarity of each point to the nearest of medoids that stay in any case.
    rounding : float, default=2.2e-16
        Error of the dissimilarities relative to the greatest: sums that it does not tell apart
        count as equal, and the first column is taken. Two points that are a cluster are equally
        good medoids of it.

    Returns
    -------
    ndarray of shape (k,)
        Columns, in the order in which a greedy choice among these would take them: the first few
        are good medoids as well.

    References
    ----------
    L. Kaufman, P. J. Rousseeuw. Finding Groups in Data. 1990, chapter 2 (BUILD). E. Schubert,
    P. J. Rousseeuw. Fast and eager k-medoids clustering. Information Systems 101, 2021
    (arXiv:2008.05171), algorithm 3.
    """
    costs = np.ascontiguousarray(dissimilarities, dtype=np.float64)
    # without other medoids one that is as far from all points as any serves them, and never better
    if served is None:
        served = np.full(len(costs), costs.max())
    largest = max(float(np.abs(costs).max()), 1e-300)
    least = _ROUNDINGS * len(costs) * rounding * largest
    medoids = _build(costs, served, k, least)
    _swap(costs, served, medoids, least)
    medoids.sort()
    return medoids[_build(np.ascontiguousarray(costs[:, medoids]), served, k, least)]


@njit(cache=True)  # pragma: no cover
def _first_greatest(values: Floats, least: float) -> int:
    """Return the first place of a value that is less than the greatest by no more than `least`."""
    place, greatest = 0, values.max()
    while values[place] < greatest - least:
        place += 1
    return place


@njit(cache=True)  # pragma: no cover
def _build(costs: Floats, served: Floats, k: int, least: float) -> Indices:
    """Choose k columns greedily, of columns that differ by no more than `least` the first."""
    n_points, n_candidates = costs.shape
    nearest, taken = served.copy(), np.zeros(n_candidates, dtype=np.bool_)
    medoids = np.empty(k, dtype=np.intp)
    for step in range(k):
        gains = np.zeros(n_candidates)
        for i in range(n_points):
            for c in range(n_candidates):
                gains[c] += max(nearest[i] - costs[i, c], 0.0)
        gains[taken] = -np.inf
        best = _first_greatest(gains, least)
        medoids[step], taken[best] = best, True
        for i in range(n_points):
            nearest[i] = min(nearest[i], costs[i, best])
    return medoids


@njit(cache=True)  # pragma: no cover
def _two_nearest(
    costs: Floats, served: Floats, medoids: Indices, i: int
) -> tuple[int, float, float]:
    """Return the place of a point's nearest medoid, -1 for `served`, and the two least costs."""
    nearest, first, second = -1, served[i], np.inf
    for place in range(len(medoids)):
        cost = costs[i, medoids[place]]
        if cost < first:
            nearest, first, second = place, cost, first
        elif cost < second:
            second = cost
    return nearest, first, second


@njit(cache=True)  # pragma: no cover
def _swap(costs: Floats, served: Floats, medoids: Indices, least: float) -> None:
    """Swap medoids, in place, until no swap lowers the sum by more than `least`."""
    n_points, n_candidates = costs.shape
    k = len(medoids)
    taken = np.zeros(n_candidates, dtype=np.bool_)
    taken[medoids] = True
    nearest = np.empty(n_points, dtype=np.intp)
    first, second = np.empty(n_points), np.empty(n_points)
    losses = np.zeros(k)  # of the removal of each medoid

    stale, unchanged, c = True, 0, 0
    while unchanged < n_candidates:
        if stale:
            losses[:] = 0.0
            for i in range(n_points):
                nearest[i], first[i], second[i] = _two_nearest(costs, served, medoids, i)
                if nearest[i] >= 0:
                    losses[nearest[i]] += second[i] - first[i]
            stale = False
        if not taken[c]:
            change, of_medoids = 0.0, losses.copy()
            for i in range(n_points):
                cost = costs[i, c]
                if cost < first[i]:
                    change += cost - first[i]
                    if nearest[i] >= 0:
                        of_medoids[nearest[i]] += first[i] - second[i]
                elif cost < second[i] and nearest[i] >= 0:
                    of_medoids[nearest[i]] += cost - second[i]
            place = _first_greatest(-of_medoids, least)
            if change + of_medoids[place] < -least:
                taken[medoids[place]], taken[c] = False, True
                medoids[place] = c
                stale, unchanged = True, -1
        unchanged += 1
        c = (c + 1) % n_candidates
