"""Weights of groups of features, learnt by the group lasso."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks.similarity import Floats

#: Takes factors on features, returns the weights of the scaled features, a row for each problem.
Solve = Callable[[Floats], Floats]

_LEAST = 1e-3  # the share of a group that counts as none
_CLOSE = 1e-3  # change of the shares at which they have settled
_MOST_ROUNDS = 30


def group_sizes(coef: Floats, groups: list[slice]) -> NDArray[np.float64]:
    """Return the Euclidean length of the weights of each group, over all problems."""
    return np.array([np.linalg.norm(coef[:, group]) for group in groups])


def group_lasso(solve: Solve, groups: list[slice]) -> tuple[Floats, Floats]:
    r"""Minimise :math:`\frac12 (\sum_g \|w_g\|)^2 + C \sum_i \ell_i` over the weights of groups.

    The groups' shares γ, which are not negative and sum to 1, and the weights take turns: the
    penalty is the least :math:`\frac12 \sum_g \|w_g\|^2 / \gamma_g` over the shares, which a
    solver of :math:`\frac12 \|v\|^2` minimises with the features times :math:`\sqrt{\gamma_g}`,
    and which is least for :math:`\gamma_g \propto \|w_g\|`. The problems share γ. A group whose
    share falls below 0.001 is left out, with the weight 0.

    Parameters
    ----------
    solve : callable
        Takes the factors on features, returns the weights v, (n_problems, n_features).
    groups : list of slice
        Places of the features of each group.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_features)
        Weights of the features as they are.
    shares : ndarray of shape (n_groups,)

    References
    ----------
    Z. Xu, R. Jin, H. Yang, I. King, M. R. Lyu. Simple and efficient multiple kernel learning by
    group lasso. ICML 2010, algorithm 1, for p = 1.
    """
    shares = np.full(len(groups), 1 / len(groups))
    n_features = groups[-1].stop
    for _ in range(_MOST_ROUNDS):
        factors = np.zeros(n_features)
        for group, share in zip(groups, shares, strict=True):
            factors[group] = np.sqrt(share)
        coef = solve(factors) * factors
        sizes = group_sizes(coef, groups)
        if not sizes.any():
            break
        before, shares = shares, sizes / sizes.sum()
        shares[shares < _LEAST] = 0.0
        shares /= shares.sum()
        if np.abs(shares - before).max() < _CLOSE:
            break
    return coef, shares


def slices_of(sizes: Sequence[int]) -> list[slice]:
    """Return the places of consecutive groups."""
    stops = np.cumsum(sizes).tolist()
    return [slice(stop - size, stop) for size, stop in zip(sizes, stops, strict=True)]
