"""Euclidean projections onto the sets that contain the weights of online learners.

All return a new array of the shape of their argument, float32 if that is, else float64, and raise
a ValueError if the radius is not positive or the argument contains NaN or infinity.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, svd


def project_l2(w: ArrayLike, radius: float, *, nonnegative: bool = False) -> NDArray[Any]:
    r"""Project onto the ball :math:`\{v : \|v\|_2 \le r\}`.

    Parameters
    ----------
    w : array-like
        A vector, or a matrix with its Frobenius norm.
    radius : float
        The radius r > 0; infinite for no bound.
    nonnegative : bool, default=False
        Whether to project onto the part of the ball in which no entry is negative.

    Returns
    -------
    ndarray of the shape of `w`

    Examples
    --------
    >>> from kernlearn.pairwise.projections import project_l2
    >>> project_l2([3.0, 4.0], 1.0)
    array([0.6, 0.8])
    >>> project_l2([3.0, -4.0], 1.0, nonnegative=True)
    array([1., 0.])
    """
    w = _checked(w, radius)
    # the ball is centred at the apex of the cone: first the cone, then the ball
    return _shrink(np.maximum(w, 0) if nonnegative else w, radius)


def project_l1(w: ArrayLike, radius: float) -> NDArray[Any]:
    r"""Project onto the ball :math:`\{v : \|v\|_1 \le r\}`.

    Parameters
    ----------
    w : array-like
        A vector, or a matrix with the sum of all absolute entries.
    radius : float
        The radius r > 0; infinite for no bound.

    Returns
    -------
    ndarray of the shape of `w`

    References
    ----------
    J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra (2008), "Efficient projections onto the
    l1-ball for learning in high dimensions", figure 1.

    Examples
    --------
    >>> from kernlearn.pairwise.projections import project_l1
    >>> project_l1([3.0, -2.0, 0.5], 2.0)
    array([ 1.5, -0.5,  0. ])
    """
    w = _checked(w, radius)
    lowered = _lower(np.abs(w).ravel(), radius).reshape(w.shape)
    return np.where(w < 0, -lowered, lowered)


def project_simplex(w: ArrayLike, radius: float = 1.0) -> NDArray[Any]:
    r"""Project onto the simplex :math:`\{v \ge 0 : \sum_i v_i = r\}`.

    Parameters
    ----------
    w : array-like
        An array, all entries of which are one vector.
    radius : float, default=1.0
        The sum r > 0, finite.

    Returns
    -------
    ndarray of the shape of `w`

    Raises
    ------
    ValueError
        If the radius is not positive and finite, or `w` is empty or contains NaN or infinity.

    References
    ----------
    As for :func:`project_l1`.

    Examples
    --------
    >>> from kernlearn.pairwise.projections import project_simplex
    >>> project_simplex([0.5, 1.0, -1.0])
    array([0.25, 0.75, 0.  ])
    """
    w = _checked(w, radius)
    if not np.isfinite(radius):
        raise ValueError("'radius' of a simplex must be finite, got inf")
    if not w.size:
        raise ValueError("a simplex needs at least one entry, got an empty array")
    return _on_simplex(w.ravel(), radius).reshape(w.shape)


def project_psd(M: ArrayLike, radius: float | None = None) -> NDArray[Any]:
    r"""Project onto the positive semi-definite matrices, of Frobenius norm r at most.

    Parameters
    ----------
    M : array-like of shape (n, n)
        A matrix. A matrix and its symmetric part have the same projection.
    radius : float, default=None
        The radius r > 0; None or infinite for no bound.

    Returns
    -------
    ndarray of shape (n, n)
        Symmetric.

    Raises
    ------
    ValueError
        If the radius is not positive, or `M` is not square or contains NaN or infinity.

    Examples
    --------
    >>> from kernlearn.pairwise.projections import project_psd
    >>> project_psd([[2.0, 0.0], [0.0, -1.0]], radius=1.0)
    array([[1., 0.],
           [0., 0.]])
    """
    return _project_spectrum(M, np.inf if radius is None else radius, _shrink)


def project_trace_norm(
    M: ArrayLike, radius: float, *, positive_semidefinite: bool = False
) -> NDArray[Any]:
    r"""Project onto the ball :math:`\{V : \|\sigma(V)\|_1 \le r\}` of the trace norm.

    The sum of the singular values is the Schatten norm :math:`\|\cdot\|_{S(1)}` of the thesis,
    section 6.6.3; of a positive semi-definite matrix it is the trace.

    Parameters
    ----------
    M : array-like of shape (m, n)
        A matrix.
    radius : float
        The radius r > 0; infinite for no bound.
    positive_semidefinite : bool, default=False
        Whether to project onto the positive semi-definite matrices in the ball; then `M` must
        be square.

    Returns
    -------
    ndarray of shape (m, n)

    Raises
    ------
    ValueError
        If the radius is not positive, or `M` is not a matrix, not square where it must be, or
        contains NaN or infinity.

    Examples
    --------
    >>> from kernlearn.pairwise.projections import project_trace_norm
    >>> project_trace_norm([[2.0, 0.0], [0.0, -1.0]], radius=1.0).round(6)
    array([[1., 0.],
           [0., 0.]])
    """
    if positive_semidefinite:
        return _project_spectrum(M, radius, _lower)
    M = _checked(M, radius)
    if M.ndim != 2:
        raise ValueError(f"'M' must be a matrix, got an array of shape {M.shape}")
    left, values, right = svd(M, full_matrices=False)
    if values.sum() <= radius:
        return M.copy()
    return (left * _lower(values, radius)) @ right


def _shrink(w: NDArray[Any], radius: float) -> NDArray[Any]:
    """Scale down to an l2 norm of at most the radius, without overflow."""
    largest = np.abs(w).max(initial=0.0)
    if largest == 0:
        return w.copy()
    unit = w / largest
    norm = np.sqrt(np.vdot(unit, unit))
    if largest <= radius / norm:
        return w.copy()
    return unit * w.dtype.type(radius / norm)


def _lower(sizes: NDArray[Any], radius: float) -> NDArray[Any]:
    """Project a non-negative vector onto those with a sum of at most the radius."""
    if sizes.sum() <= radius:
        return sizes.copy()
    return _on_simplex(sizes, radius)


def _on_simplex(w: NDArray[Any], radius: float) -> NDArray[Any]:
    # relative to the largest entry: with a large common part, sums would lose a small radius
    below = w.astype(np.float64) - float(w.max())
    descending = np.sort(below)[::-1]
    counts = np.arange(1, len(w) + 1)
    thresholds = (np.cumsum(descending) - radius) / counts
    last = np.flatnonzero(descending > thresholds)[-1]
    return np.maximum(below - thresholds[last], 0).astype(w.dtype)


def _project_spectrum(M: ArrayLike, radius: float, project: Callable[..., Any]) -> NDArray[Any]:
    """Return M's symmetric part with its eigenvalues above 0 only, and these projected."""
    M = _checked(M, radius)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"'M' must be a square matrix, got an array of shape {M.shape}")
    values, vectors = eigh((M + M.T) / 2, driver="evd", check_finite=False)
    values = project(np.maximum(values, 0), radius)
    kept = values > 0
    factor = vectors[:, kept] * np.sqrt(values[kept])
    return factor @ factor.T


def _checked(w: ArrayLike, radius: float) -> NDArray[Any]:
    w = np.asarray(w)
    if w.dtype not in (np.float32, np.float64):
        w = w.astype(np.float64)
    if not np.isfinite(w).all():
        raise ValueError("the array to project must be finite, got NaN or infinity")
    if not radius > 0:
        raise ValueError(f"'radius' must be a number > 0, got {radius!r}")
    return w
