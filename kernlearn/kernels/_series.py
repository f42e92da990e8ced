"""A dot-product kernel given by its Maclaurin coefficients."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from kernlearn.kernels._dot_product import BaseDotProductKernel

_FIRST_TERMS = 64
_MAX_TERMS = 2**17


class DotProductKernel(BaseDotProductKernel):
    r"""The kernel :math:`\sum_n a_n \langle x, y \rangle^n` with any :math:`a_n \ge 0`.

    Parameters
    ----------
    series : array-like of shape (n_terms,) or callable
        a_0, a_1, ... of a polynomial, or a function that takes n = 0, 1, ... (an int) and
        returns a_n.
    radius : float, default=inf
        The function is evaluated for ``|t| < radius`` only. With a callable, the radius of
        convergence of its series.
    tol : float, default=1e-12
        The series of a callable is summed until doubling the number of its terms adds no more
        than this fraction at the largest ``|t|``; at least 128 terms are looked at.

    Examples
    --------
    >>> from kernlearn.kernels import DotProductKernel
    >>> DotProductKernel([1.0, 0.0, 0.5]).function([0.0, 2.0])
    array([1., 3.])
    >>> halves = DotProductKernel(lambda n: 0.5**n, radius=2.0)
    >>> round(float(halves.function(1.0)), 6)
    2.0
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "series": ["array-like", callable],
        "radius": [Interval(Real, 0, None, closed="right")],
        "tol": [Interval(Real, 0, 1, closed="neither")],
    }

    # A parameter here, where the other kernels work it out.
    radius: float = np.inf

    def __init__(
        self,
        series: ArrayLike | Callable[[int], float],
        *,
        radius: float = np.inf,
        tol: float = 1e-12,
    ) -> None:
        self.series = series
        self.radius = radius
        self.tol = tol

    @property
    def degree_max(self) -> int | None:
        """Order above which all coefficients are zero; None for a callable."""
        if callable(self.series):
            return None
        positive = np.flatnonzero(self._given())
        return int(positive[-1]) if positive.size else 0

    def _log_coefficients(self, n_max: int) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(self._terms(n_max + 1))

    def _function(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, self._enough_terms(t, derived=False)).astype(t.dtype)

    def _derivative(self, t: np.ndarray) -> np.ndarray:
        return polyval(t, polyder(self._enough_terms(t, derived=True))).astype(t.dtype)

    def _given(self) -> np.ndarray:
        """Return the coefficients of an array, checked."""
        values = np.asarray(self.series, dtype=np.float64)
        if values.ndim != 1 or not values.size:
            raise ValueError(
                f"'series' must be a callable or a non-empty array of shape (n_terms,), "
                f"got an array of shape {values.shape}"
            )
        return _non_negative(values)

    def _terms(self, n_terms: int) -> np.ndarray:
        """Return the first coefficients, checked."""
        if callable(self.series):
            terms = np.array([self.series(n) for n in range(n_terms)], dtype=np.float64)
            return _non_negative(terms)
        terms = np.zeros(n_terms)
        given = self._given()[:n_terms]
        terms[: given.size] = given
        return terms

    def _enough_terms(self, t: np.ndarray, *, derived: bool) -> np.ndarray:
        """Return as many coefficients as the sum of f (or of f') at the largest ``|t|`` needs."""
        if not callable(self.series):
            return self._given()
        log_t = np.log(max(float(np.max(np.abs(t), initial=0.0)), np.finfo(np.float64).tiny))
        n_terms = _FIRST_TERMS
        while n_terms < _MAX_TERMS:
            coefficients = self._terms(2 * n_terms)
            n = np.arange(2 * n_terms)
            with np.errstate(divide="ignore", over="ignore"):
                logs = np.log(coefficients) + n * log_t + (np.log(n) if derived else 0.0)
                sizes = np.exp(logs - max(np.max(logs), np.finfo(np.float64).min))
            head, tail = sizes[:n_terms].sum(), sizes[n_terms:].sum()
            if tail <= self.tol * head:
                return coefficients
            n_terms *= 2
        raise ValueError(
            f"the series of {self!r} has not converged after {_MAX_TERMS} terms at an inner "
            f"product of absolute value {np.exp(log_t):.6g}: it is too close to 'radius', which "
            "may have to be given smaller"
        )


def _non_negative(coefficients: np.ndarray) -> np.ndarray:
    bad = np.flatnonzero(~(np.isfinite(coefficients) & (coefficients >= 0)))
    if bad.size:
        order = int(bad[0])
        raise ValueError(
            f"'series' has coefficient {coefficients[order]:g} at order {order}; a positive "
            "definite dot-product kernel has finite Maclaurin coefficients >= 0 only"
        )
    return coefficients
