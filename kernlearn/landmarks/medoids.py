"""Landmarks that are k-medoids: each point has one nearby."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlearn.landmarks.similarity import Compared, Indices, finite

# Points that are compared with each other, at least, and more of them for each landmark.
_SAMPLED, _SAMPLED_EACH = 80, 4


def sampled_medoids(
    similarities: Compared,
    candidates: Indices,
    n_landmarks: int,
    rng: np.random.RandomState,
    *,
    given: ArrayLike = (),
) -> Indices:
    """Choose points by k-medoids on a sample, as CLARA does, with FasterPAM.

    Of the candidates s = 80 + 4 k are drawn uniformly, twice as many as CLARA draws, or all if
    there are fewer, and compared with each other. Those of them are chosen that have the least sum
    of dissimilarities to the nearest chosen one, up to a local minimum
    (:func:`~kernlearn.solvers.faster_pam.k_medoids`). CLARA draws five samples and compares all
    points with the medoids of each to keep the best; this takes the first, for comparisons that
    take long.

    The dissimilarity is the distance d, for a similarity K(x, x) + K(z, z) - 2 K(x, z), the
    squared distance in the kernel's feature space: where all points are as similar to themselves,
    the sum of similarities to the nearest medoid is greatest.

    At most s² similarities are evaluated, s for each of the sampled points, and none if all
    candidates are chosen. With `given` points these are s for each of them in addition, and for
    a similarity those of all points to themselves.

    Parameters
    ----------
    similarities : Compared
        Similarities of the training points to each other.
    candidates : ndarray of shape (n_candidates,)
        Distinct indices of training points that may be chosen.
    n_landmarks : int
        Number k to choose, from 1 to n_candidates.
    rng : RandomState
    given : array-like of shape (n_given,), default=()
        Points, not among the candidates, that are medoids already.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Indices of training points, in the order of a greedy choice among these.

    References
    ----------
    L. Kaufman, P. J. Rousseeuw. Finding Groups in Data. 1990, chapter 3 (CLARA). E. Schubert,
    P. J. Rousseeuw. Fast and eager k-medoids clustering. Information Systems 101, 2021
    (arXiv:2008.05171).
    """
    from kernlearn.solvers.faster_pam import k_medoids  # loads numba

    order, given = rng.permutation(candidates), np.asarray(given, np.intp)
    if n_landmarks >= len(candidates):
        return order
    sampled = np.sort(order[: _SAMPLED + _SAMPLED_EACH * n_landmarks])
    compared = finite(similarities.part(sampled, sampled))
    rounding, among = float(np.finfo(compared.dtype).eps), compared.astype(np.float64)
    own = among.diagonal()
    costs = _dissimilarities(similarities, among, own, own)
    served = None
    if len(given):
        values = finite(similarities.part(sampled, given)).astype(np.float64)
        of_given = own if similarities.is_distance else similarities.diagonal()[given]
        served = _dissimilarities(similarities, values, own, of_given).min(axis=1)
    return sampled[k_medoids(costs, n_landmarks, served=served, rounding=rounding)]


def _dissimilarities(
    similarities: Compared,
    values: NDArray[np.float64],
    own: NDArray[np.floating],
    others: NDArray[np.floating],
) -> NDArray[np.float64]:
    """Return those of points, which are as similar to themselves as `own`, and others."""
    if similarities.is_distance:
        return -values
    return own[:, np.newaxis] + others - 2 * values
