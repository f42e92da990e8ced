r"""Dot-product kernels written around the mean of the training points.

Maclaurin features estimate :math:`\langle x, y \rangle^n` with an error that grows with the norms.
The part of the points along their mean can be split off exactly for two families:

* :math:`(\langle x, y \rangle + r)^p = \sum_n \binom{p}{n} (u_x u_y)^{p-n} \langle \tilde x,
  \tilde y \rangle^n`, where u is the coordinate of :math:`(\sqrt r, x)` along the mean of these,
  and :math:`\tilde x` are the others;
* :math:`\exp(\langle x, y \rangle / \sigma^2) = g_x g_y \exp(\langle \tilde x, \tilde y \rangle /
  \sigma^2)`, where :math:`\tilde x = x - m` and :math:`g_x = \exp((\langle m, x \rangle - \|m\|^2
  / 2) / \sigma^2)`.

Each term is a function of x times the same function of y times a power of an inner product.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.kernels import (
    BaseDotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)

Floats = NDArray[np.float64]


class Centering(ABC):
    """A kernel as Σ bₙ gₙ(x) gₙ(y) ⟨x̃, ỹ⟩ⁿ, where x̃ = xA + shift."""

    @property
    @abstractmethod
    def series(self) -> BaseDotProductKernel:
        """The kernel with the coefficients bₙ."""

    def points(self, X: Any) -> Floats:
        """Return x̃ of each row, shape (n_samples, n_features)."""
        return self.split(X)[0]

    @abstractmethod
    def project(self, directions: Floats) -> tuple[Floats, Floats]:
        """Return P and a row c, such that ⟨x̃, ω⟩ = xP + c for each column ω of `directions`."""

    @abstractmethod
    def bases(self, X: Any) -> Floats:
        """Return what the factors gₙ are made of, shape (n_samples,)."""

    @abstractmethod
    def split(self, X: Any, out: Floats | None = None) -> tuple[Floats, Floats]:
        """Return :meth:`points` and :meth:`bases`, with what they share computed once.

        The points are written into `out` if it is given.
        """

    @abstractmethod
    def log_factors(self, bases: Floats, order: int) -> Floats:
        """Return log |gₙ|."""

    @abstractmethod
    def factors(self, bases: Floats, order: int) -> Floats:
        """Return gₙ, shape (n_samples,)."""

    @abstractmethod
    def row_scales(self, bases: Floats, dtype: np.dtype) -> tuple[Floats, Floats] | None:
        """Return s and t such that gₙ = s tⁿ⁻¹ for n ≥ 1, or None if that may leave the range."""


@dataclass(frozen=True)
class AlongTheMean(Centering):
    """A polynomial kernel split along the mean direction of (√r, x).

    The reflection that maps the mean direction to the first axis is I − 2vvᵀ, where v is the
    direction less the axis, divided by the length of that.
    """

    degree: int
    root: float
    direction: Floats
    normal: Floats
    length: float

    @classmethod
    def fit(cls, degree: int, shift: float, X: Any) -> "AlongTheMean":
        direction = np.append(np.sqrt(shift), np.asarray(X.mean(axis=0), np.float64).ravel())
        length = np.linalg.norm(direction)
        # points around 0 without a shift: any direction will do
        direction = direction / length if length else np.eye(len(direction))[0]
        normal = direction.copy()
        normal[0] -= 1.0
        length = np.linalg.norm(normal)
        normal = normal / length if length else normal
        return cls(degree, float(np.sqrt(shift)), direction, normal, float(length))

    @property
    def series(self) -> BaseDotProductKernel:
        return PolynomialKernel(self.degree, coef0=1.0)

    def project(self, directions: Floats) -> tuple[Floats, Floats]:
        along = self.normal[1:] @ directions
        projection = directions - 2 * np.outer(self.normal[1:], along)
        return projection, -2 * self.root * self.normal[0] * along

    def bases(self, X: Any) -> Floats:
        return np.asarray(X @ self.direction[1:] + self.root * self.direction[0])

    def split(self, X: Any, out: Floats | None = None) -> tuple[Floats, Floats]:
        along = X @ self.normal[1:] + self.root * self.normal[0]
        points = np.outer(-2 * along, self.normal[1:], out=out)
        points += X
        # the other way round digits would be lost for a mean close to 0
        return points, np.asarray(self.root + self.length * along)

    def log_factors(self, bases: Floats, order: int) -> Floats:
        if order == self.degree:
            return np.zeros(len(bases))
        with np.errstate(divide="ignore"):
            return (self.degree - order) * np.log(np.abs(bases))

    def factors(self, bases: Floats, order: int) -> Floats:
        if order >= self.degree:  # above it there are no terms, and features are zero
            return np.ones(len(bases))
        return np.asarray(bases ** (self.degree - order))

    def row_scales(self, bases: Floats, dtype: np.dtype) -> tuple[Floats, Floats] | None:
        range_of_powers = float(np.finfo(dtype).tiny) ** (0.5 / self.degree)
        if not np.abs(bases).min(initial=1.0) > range_of_powers:
            return None
        return bases ** (self.degree - 1), 1 / bases


@dataclass(frozen=True)
class AroundTheMean(Centering):
    """The exponential kernel of the points less their mean."""

    kernel: ExponentialKernel
    mean: Floats

    @classmethod
    def fit(cls, kernel: ExponentialKernel, X: Any) -> "AroundTheMean":
        return cls(kernel, np.asarray(X.mean(axis=0), np.float64).ravel())

    @property
    def series(self) -> BaseDotProductKernel:
        return self.kernel

    def split(self, X: Any, out: Floats | None = None) -> tuple[Floats, Floats]:
        return np.subtract(X, self.mean, out=out), self.bases(X)

    def project(self, directions: Floats) -> tuple[Floats, Floats]:
        return directions, -(self.mean @ directions)

    def bases(self, X: Any) -> Floats:
        exponents = X @ self.mean - 0.5 * (self.mean @ self.mean)
        return np.asarray(exponents / self.kernel.sigma_**2)

    def log_factors(self, bases: Floats, order: int) -> Floats:
        return bases

    def factors(self, bases: Floats, order: int) -> Floats:
        return np.exp(bases)

    def row_scales(self, bases: Floats, dtype: np.dtype) -> tuple[Floats, Floats] | None:
        return np.exp(bases), np.ones_like(bases)


def centering(kernel: BaseDotProductKernel, X: Any) -> Centering:
    """Split a fitted kernel around the mean of points.

    Raises
    ------
    ValueError
        If the kernel is of another family.
    """
    if isinstance(kernel, HomogeneousPolynomialKernel):
        return AlongTheMean.fit(kernel.degree, 0.0, X)
    if isinstance(kernel, PolynomialKernel):
        return AlongTheMean.fit(kernel.degree, float(kernel.coef0), X)
    if isinstance(kernel, ExponentialKernel):
        return AroundTheMean.fit(kernel, X)
    raise ValueError(
        f"center=True needs a polynomial or exponential kernel, {kernel!r} is not: its terms are "
        "no products of functions of x and of y"
    )
