"""Euclidean projections onto the sets that online learners keep their weights in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, svd

Projection = Callable[[NDArray[Any], float], NDArray[Any]]


def project_l2(w: ArrayLike, radius: float, *, nonnegative: bool = False) -> NDArray[Any]:
    r"""Project onto the ball :math:`\{v : \|v\|_2 \le r\}`.

    Parameters
    ----------
    w : array-like
        A vector, or a matrix, whose Frobenius norm is meant.
    radius : float
        The radius r > 0; infinite for no bound.
    nonnegative : bool, default=False
        Whether to project onto the part of the ball in which no entry is negative.

    Returns
    -------
    ndarray of the shape of `w`
        A new array, float32 if `w` is, else float64.

    Raises
    ------
    ValueError
        If the radius is not positive, or `w` holds NaN or infinity.

    Examples
    --------
    >>> from kernlearn.pairwise import project_l2
    >>> project_l2([3.0, 4.0], 1.0)
    array([0.6, 0.8])
    >>> project_l2([3.0, -4.0], 1.0, nonnegative=True)
    array([1., 0.])
    """
    w = _finite(w)
    _check_radius(radius)
    # The ball is symmetric about the apex of the cone: first the cone, then the ball.
    return _shrink(np.maximum(w, 0) if nonnegative else w, radius)


def project_l1(w: ArrayLike, radius: float) -> NDArray[Any]:
    r"""Project onto the ball :math:`\{v : \|v\|_1 \le r\}`.

    Parameters
    ----------
    w : array-like
        A vector, or a matrix, of which the sum of all absolute entries is meant.
    radius : float
        The radius r > 0; infinite for no bound.

    Returns
    -------
    ndarray of the shape of `w`
        A new array, float32 if `w` is, else float64.

    Raises
    ------
    ValueError
        If the radius is not positive, or `w` holds NaN or infinity.

    References
    ----------
    J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra (2008), "Efficient projections onto the
    l1-ball for learning in high dimensions", figure 1.

    Examples
    --------
    >>> from kernlearn.pairwise import project_l1
    >>> project_l1([3.0, -2.0, 0.5], 2.0)
    array([ 1.5, -0.5,  0. ])
    """
    w = _finite(w)
    _check_radius(radius)
    lowered = _lower(np.abs(w).ravel(), radius).reshape(w.shape)
    return np.where(w < 0, -lowered, lowered)


def project_simplex(w: ArrayLike, radius: float = 1.0) -> NDArray[Any]:
    r"""Project onto the simplex :math:`\{v \ge 0 : \sum_i v_i = r\}`.

    Parameters
    ----------
    w : array-like
        A vector; of an array of another shape, all entries are taken as one vector.
    radius : float, default=1.0
        The sum r > 0, finite.

    Returns
    -------
    ndarray of the shape of `w`
        A new array, float32 if `w` is, else float64.

    Raises
    ------
    ValueError
        If the radius is not positive and finite, or `w` is empty or holds NaN or infinity.

    References
    ----------
    J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra (2008), "Efficient projections onto the
    l1-ball for learning in high dimensions", figure 1.

    Examples
    --------
    >>> from kernlearn.pairwise import project_simplex
    >>> project_simplex([0.5, 1.0, -1.0])
    array([0.25, 0.75, 0.  ])
    """
    w = _finite(w)
    _check_radius(radius)
    if not np.isfinite(radius):
        raise ValueError("'radius' of a simplex must be finite, got inf")
    if not w.size:
        raise ValueError("a simplex needs one entry at least, got an empty array")
    return _on_simplex(w.ravel(), radius).reshape(w.shape)


def project_psd(M: ArrayLike, radius: float | None = None) -> NDArray[Any]:
    r"""Project onto the positive semi-definite matrices, of Frobenius norm r at most.

    Parameters
    ----------
    M : array-like of shape (n, n)
        A matrix. One that is not symmetric is nearest to what its symmetric part is nearest to.
    radius : float, default=None
        The radius r > 0; None or infinite for no bound.

    Returns
    -------
    ndarray of shape (n, n)
        A new symmetric matrix, float32 if `M` is, else float64.

    Raises
    ------
    ValueError
        If the radius is not positive, or `M` is not square or holds NaN or infinity.

    Examples
    --------
    >>> from kernlearn.pairwise import project_psd
    >>> project_psd([[2.0, 0.0], [0.0, -1.0]], radius=1.0)
    array([[1., 0.],
           [0., 0.]])
    """
    M = _square(M)
    if radius is None:
        radius = np.inf
    _check_radius(radius)
    values, vectors = _symmetric_parts(M)
    return _assemble(_shrink(np.maximum(values, 0), radius), vectors)


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
        A new array, float32 if `M` is, else float64.

    Raises
    ------
    ValueError
        If the radius is not positive, or `M` is not a matrix, not square where it must be, or
        holds NaN or infinity.

    Examples
    --------
    >>> from kernlearn.pairwise import project_trace_norm
    >>> project_trace_norm([[2.0, 0.0], [0.0, -1.0]], radius=1.0).round(6)
    array([[1., 0.],
           [0., 0.]])
    """
    if positive_semidefinite:
        M = _square(M)
        _check_radius(radius)
        values, vectors = _symmetric_parts(M)
        return _assemble(_lower(np.maximum(values, 0), radius), vectors)
    M = _finite(M)
    _check_radius(radius)
    if M.ndim != 2:
        raise ValueError(f"'M' must be a matrix, got an array of shape {M.shape}")
    left, values, right = svd(M, full_matrices=False)
    if values.sum() <= radius:
        return M.copy()
    return (left * _lower(values, radius)) @ right


_NAMED: dict[str, Projection] = {
    "l1": project_l1,
    "l2": project_l2,
    "psd": project_psd,
    "simplex": project_simplex,
    "trace_norm": project_trace_norm,
}


def as_projection(spec: str | Projection, name: str = "norm") -> Projection:
    """Return the projection of a name, or a function as it is.

    Parameters
    ----------
    spec : {"l1", "l2", "psd", "simplex", "trace_norm"} or callable
        A name, or a function (weights, radius) -> projected weights.
    name : str, default="norm"
        The parameter that an error is about.

    Returns
    -------
    callable
        A function (weights, radius) -> projected weights.

    Raises
    ------
    ValueError
        If `spec` is neither.
    """
    if isinstance(spec, str) and spec in _NAMED:
        return _NAMED[spec]
    if callable(spec):
        return spec
    names = ", ".join(map(repr, _NAMED))
    raise ValueError(
        f"{name!r} must be one of {names} or a callable (weights, radius) -> weights, got {spec!r}"
    )


def _shrink(w: NDArray[Any], radius: float) -> NDArray[Any]:
    """Scale down to an l2 norm of radius at most, without overflow on the way."""
    largest = np.abs(w).max(initial=0.0)
    if largest == 0:
        return w.copy()
    unit = w / largest
    norm = np.sqrt(np.vdot(unit, unit))
    if norm <= radius / largest:
        return w.copy()
    return unit * w.dtype.type(radius / norm)


def _lower(sizes: NDArray[Any], radius: float) -> NDArray[Any]:
    """Project a vector without negative entries onto those whose sum is radius at most."""
    if sizes.sum() <= radius:
        return sizes.copy()
    return _on_simplex(sizes, radius)


def _on_simplex(w: NDArray[Any], radius: float) -> NDArray[Any]:
    # Relative to the greatest entry: with a great common part, sums would lose the small radius.
    below = w.astype(np.float64) - float(w.max())
    descending = np.sort(below)[::-1]
    counts = np.arange(1, len(w) + 1)
    thresholds = (np.cumsum(descending) - radius) / counts
    last = np.flatnonzero(descending > thresholds)[-1]
    return np.maximum(below - thresholds[last], 0).astype(w.dtype)


def _symmetric_parts(M: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return eigenvalues and eigenvectors of the symmetric part."""
    return eigh((M + M.T) / 2, driver="evd", check_finite=False)


def _assemble(values: NDArray[Any], vectors: NDArray[Any]) -> NDArray[Any]:
    """Return the matrix of eigenvalues that are not negative, symmetric to the last bit."""
    kept = values > 0
    factor = vectors[:, kept] * np.sqrt(values[kept])
    return factor @ factor.T


def _finite(w: ArrayLike) -> NDArray[Any]:
    w = np.asarray(w)
    if w.dtype not in (np.float32, np.float64):
        w = w.astype(np.float64)
    if not np.isfinite(w).all():
        raise ValueError("what is projected must be finite, got NaN or infinity")
    return w


def _square(M: ArrayLike) -> NDArray[Any]:
    M = _finite(M)
    if M.ndim != 2 or M.shape[0] != M.shape[1]:
        raise ValueError(f"'M' must be a square matrix, got an array of shape {M.shape}")
    return M


def _check_radius(radius: float) -> None:
    if not radius > 0:
        raise ValueError(f"'radius' must be a number > 0, got {radius!r}")
