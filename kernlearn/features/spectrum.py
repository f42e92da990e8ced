"""Spectra of random Fourier features that fit a function of the distance on the unit sphere."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import minimize, nnls
from scipy.special import gammaln

# Widths of Gaussians from a 16th to 4 times that of the function at distance 0.
_WIDTHS = (1 / 16, 4.0)
_GAUSS_NODES = 64  # distances at which the fit is weighed
_CHECKED = 257  # distances at which the error is taken
_MOST_RADII = 2000


@dataclass(frozen=True)
class Spectrum:
    """A measure of frequency vectors that depends on their length alone.

    Attributes
    ----------
    n_features : int
        Dimension d of the vectors.
    radii : ndarray of shape (n_radii,)
        Lengths.
    masses : ndarray of shape (n_radii,)
        Their measure, not negative.
    """

    n_features: int
    radii: np.ndarray
    masses: np.ndarray

    def function(self, distances: np.ndarray) -> np.ndarray:
        r"""Return the transform of the measure, :math:`\sum_r m_r \Omega_d(r z)`, at distances z.

        It is what random Fourier features of the measure estimate.
        """
        return self.masses @ mean_cosines(self.n_features, self.radii, np.ravel(distances))

    def error(self, target: Callable[[np.ndarray], np.ndarray]) -> float:
        """Return the largest absolute difference from a function at distances from 0 to 2."""
        distances = np.linspace(0, 2, _CHECKED)
        return float(np.abs(self.function(distances) - target(distances)).max())

    def sample(self, n_vectors: int, random_state: np.random.RandomState) -> np.ndarray:
        """Return independent vectors of the normalised measure, of shape (d, n_vectors)."""
        shares = self.masses / self.masses.sum()
        radii = self.radii[random_state.choice(len(shares), n_vectors, p=shares)]
        directions = random_state.normal(size=(self.n_features, n_vectors))
        return directions * (radii / np.linalg.norm(directions, axis=0))


def mean_cosines(n_features: int, radii: np.ndarray, distances: np.ndarray) -> np.ndarray:
    r"""Return the means :math:`\Omega_d(r z)` of cos<w, x> over w of norm r, for x of norm z.

    They are :math:`\Gamma(d/2) (2/u)^{d/2-1} J_{d/2-1}(u)` at u = rz, which over- and underflows
    in high dimensions; here they are the integrals of cos(u t) over the first coordinate t of
    points of the sphere, by Gauss's quadrature.

    Returns
    -------
    ndarray of shape (n_radii, n_distances)
    """
    u = np.multiply.outer(radii, distances)
    if n_features == 1:
        return np.cos(u)
    # As many nodes as resolve the largest u.
    nodes, weights = _sphere_quadrature(n_features, 2 * (int(u.max(initial=0.0)) // 4 + 16))
    means = np.zeros_like(u)
    for node, weight in zip(nodes, weights, strict=True):
        means += weight * np.cos(node * u)
    return means


def _sphere_quadrature(n_features: int, n_nodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return positive nodes and weights for even functions of the first coordinate of a sphere.

    They are the eigenvalues of the recurrence of the Gegenbauer polynomials, and the squares of
    the first entries of its eigenvectors (Golub and Welsch): no gamma function overflows.
    """
    k = np.arange(2, n_nodes)
    twice = 2 * k + n_features
    squares = np.append(1 / n_features, k * (k + n_features - 3) / ((twice - 2) * (twice - 4)))
    nodes, vectors = eigh_tridiagonal(np.zeros(n_nodes), np.sqrt(squares))
    weights = vectors[0] ** 2
    used = (nodes > 0) & (weights > np.finfo(np.float64).eps / n_nodes)
    return nodes[used], weights[used] / weights[used].sum()


def fit_spectrum(
    target: Callable[[np.ndarray], np.ndarray],
    n_features: int,
    curvature: float,
    *,
    n_gaussians: int | None,
    max_iter: int = 200,
) -> Spectrum:
    r"""Fit a spectrum to a function of the distance between points of the unit sphere.

    Parameters
    ----------
    target : callable
        The function, positive at 0, of an array of distances from 0 to 2.
    n_features : int
        Dimension d.
    curvature : float
        Its second derivative at distance 0 over its value there, with the opposite sign: that
        of a Gaussian of width :math:`1/\sqrt{curvature}`. At least 0.
    n_gaussians : int or None
        Number N of Gaussians whose weighted sum, where it is positive, is the density of the
        vectors, as in the paper; None for any measure of the lengths.
    max_iter : int, default=200
        Steps of L-BFGS for the weights and widths of the Gaussians.

    Returns
    -------
    Spectrum
        For Gaussians its masses are normalised to the value at 0.

    References
    ----------
    Pennington, Yu and Kumar, "Spherical random features for polynomial kernels", NIPS 2015,
    section 3.2, algorithm 1. There the density is integrated on a uniform
    grid of lengths; here lengths are a geometric grid, which is the measure that is sampled from,
    so that nothing is lost between the fit and the features.
    """
    if curvature == 0:
        return Spectrum(n_features, np.zeros(1), np.ravel(target(np.zeros(1))))
    narrowest, widest = np.sqrt(curvature) * np.array(_WIDTHS)
    radii = _grid(n_features, narrowest, widest)
    nodes, node_weights = np.polynomial.legendre.leggauss(_GAUSS_NODES)
    distances, node_weights = nodes + 1, np.sqrt(node_weights)
    # Rows are weighted, so that a sum of squares is the integral over distances.
    cosines = mean_cosines(n_features, radii, distances) * node_weights
    values = target(distances) * node_weights
    if n_gaussians is None:
        masses = nnls(cosines.T, values, maxiter=50 * len(radii))[0]
        if not masses.any():
            masses[0] = float(target(np.zeros(1))[0])
        return Spectrum(n_features, radii[masses > 0], masses[masses > 0])
    total = float(target(np.zeros(1))[0])
    widths = np.geomspace(narrowest, widest, n_gaussians + 2)[1:-1]
    bounds = np.log(narrowest), np.log(widest)
    masses = _fit_gaussians(widths, bounds, radii, n_features, cosines, values / total, max_iter)
    return Spectrum(n_features, radii[masses > 0], total * masses[masses > 0])


def _grid(n_features: int, narrowest: float, widest: float) -> np.ndarray:
    """Return lengths that resolve all Gaussian densities of these standard deviations."""
    root = np.sqrt(n_features)
    lowest = narrowest * (root - 6 if root > 8 else root / 8)
    highest = widest * (root + 5)
    # The length of a Gaussian vector varies by 1 / √(2d) of itself.
    n_radii = int(np.log(highest / lowest) * 6 * root) + 2
    return np.geomspace(lowest, highest, min(n_radii, _MOST_RADII))


def _fit_gaussians(
    widths: np.ndarray,
    bounds: tuple[float, float],
    radii: np.ndarray,
    n_features: int,
    cosines: np.ndarray,
    values: np.ndarray,
    max_iter: int,
) -> np.ndarray:
    """Return the masses of the lengths, whose sum is 1, for the best weighted Gaussians."""
    logs = np.log(radii)
    constant = np.log(2) * (1 - n_features / 2) - gammaln(n_features / 2)

    def densities(log_widths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the logarithm of the length, for each Gaussian, and their squared ratios."""
        ratios = logs - log_widths[:, None]
        squares = np.exp(2 * ratios)
        return np.exp(constant + n_features * ratios - squares / 2), squares

    def loss(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        log_widths, weights = parameters.reshape(2, -1)
        each, squares = densities(log_widths)
        density = weights @ each
        positive = np.maximum(density, 0)
        total = positive.sum()
        if total <= 0:
            return 1e9, np.zeros_like(parameters)
        masses = positive / total
        residuals = masses @ cosines - values
        by_mass = cosines @ residuals
        by_density = (by_mass - by_mass @ masses) / total * (density > 0)
        by_width = weights * ((each * (squares - n_features)) @ by_density)
        return residuals @ residuals / 2, np.concatenate([by_width, each @ by_density])

    start = np.log(widths)
    # The best weights that are not negative; none may be zero, or its width has no slope.
    each = densities(start)[0]
    each /= each.sum(axis=1, keepdims=True)
    weights = nnls((each @ cosines).T, values)[0] + 1e-3
    found = minimize(
        loss,
        np.concatenate([start, weights]),
        jac=True,
        method="L-BFGS-B",
        bounds=[bounds] * len(start) + [(None, None)] * len(start),
        options={"maxiter": max_iter, "ftol": 1e-15, "gtol": 1e-12},
    ).x
    log_widths, weights = found.reshape(2, -1)
    masses = np.maximum(weights @ densities(log_widths)[0], 0)
    return masses / masses.sum()
