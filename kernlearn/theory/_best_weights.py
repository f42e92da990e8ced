"""The weights for which a similarity is best in the sense of Balcan & Blum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.theory._hoeffding import check_positive
from kernlearn.theory._measuring import Sample


def best_weights(
    X: Any,
    y: Any,
    *,
    gamma: float,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> NDArray[np.float64]:
    r"""Return the weighting of least hinge loss for Balcan & Blum's criterion.

    It minimises the mean of :math:`[1 - m_w(x) / \gamma]_+` over
    :math:`w \in [-1, 1]^n`, where :math:`m_w(x)` is the margin of equation 4.1 with x left out:
    a linear program with 2n variables, solved by HiGHS. The least :math:`\varepsilon` itself
    would be a hard combinatorial problem (section 4.2.2).

    There are as many weights as points, so that the loss on these points is lower than on
    others: to judge a similarity, measure it on other points than the weights were found on.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 1000 at most.
    y : array-like of shape (n_samples,)
        Two classes, each twice at least; of several, take one against the rest.
    gamma : float
        The margin :math:`\gamma > 0` below which a point costs.
    similarity : str, Kernel or callable, default="gaussian"
        As in :func:`goodness`.
    kind : {"similarity", "distance"}, default="similarity"
        As in :func:`goodness`.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights, between -1 and 1.

    Raises
    ------
    ValueError
        If an argument is not valid or there are more than two classes.

    References
    ----------
    Kar (2013), definition A.2 and section 4.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.theory.goodness import best_weights, goodness
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[:80], y[:80]
    >>> w = best_weights(X, y, gamma=0.1)
    >>> plain, best = goodness(X, y), goodness(X, y, weights=w)
    >>> best.loss("hinge", gamma=0.1) < plain.loss("hinge", gamma=0.1)
    True
    """
    from scipy.optimize import linprog

    check_positive(gamma=gamma)
    sample = Sample(similarity, kind).read(X, y)
    codes, n = sample.codes_, len(sample.codes_)
    if len(sample.classes_) > 2:
        raise ValueError(
            f"'y' must have two classes, got {len(sample.classes_)}: take one against the rest"
        )
    same = codes[:, None] == codes
    values = sample.landmarks_.compare(sample.points_).astype(np.float64)
    np.fill_diagonal(values, 0)
    n_same = same.sum(axis=1, keepdims=True) - 1
    margins = values * np.where(same, 1 / n_same, -1 / (n - 1 - n_same))
    # Variables: the weights, then each point's loss. gamma * loss >= gamma - margins @ w
    result = linprog(
        np.repeat([0.0, 1.0], n),
        A_ub=np.hstack([-margins, -gamma * np.eye(n)]),
        b_ub=np.full(n, -gamma),
        bounds=[(-1, 1)] * n + [(0, None)] * n,
        method="highs",
    )
    if not result.success:
        raise ValueError(f"no weights found for 'gamma' = {gamma!r}: {result.message}")
    return np.clip(result.x[:n], -1, 1)
