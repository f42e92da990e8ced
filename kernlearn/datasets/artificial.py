"""Artificial data: generators of points and of similarity matrices, by name."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.checks import check_count, check_nonnegative, check_proportion
from kernlearn.datasets.tables import fingerprint
from kernlearn.plugins import Registered

if TYPE_CHECKING:
    from kernlearn.datasets.data import Data

Seed = int | np.random.RandomState | None

_BLOCK = 1024  # rows are drawn in blocks, so that their number does not change them


def _random(seed: Seed) -> np.random.RandomState:
    from sklearn.utils import check_random_state

    return check_random_state(seed)


def to_data(X: np.ndarray, y: np.ndarray | None, *labels: str, **more: Any) -> "Data":
    """Return vectors, or an array of objects, in the form of :func:`load`."""
    from kernlearn.datasets.data import Data

    y = None if y is None else y.astype(np.int64)
    return Data(X, y, labels, fingerprint=fingerprint(X, y), **more)


def unit_ball(n_samples: int = 100, n_features: int = 50, random_state: Seed = None) -> "Data":
    """Draw points uniformly from the unit ball (the data of the thesis' figure 3.1).

    Parameters
    ----------
    n_samples : int, default=100
        The number of points.
    n_features : int, default=50
        Their dimension.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``target`` and ``card`` are None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import unit_ball
    >>> points = unit_ball(n_samples=5, n_features=3, random_state=0).data
    >>> bool(((points**2).sum(axis=1) <= 1).all())
    True
    """
    check_count(n_samples=n_samples, n_features=n_features)
    rng = _random(random_state)
    X = rng.standard_normal((n_samples, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # the share of the ball's volume within radius r is r^d
    X *= rng.uniform(size=(n_samples, 1)) ** (1 / n_features)
    return to_data(X, None)


def waveform(n_samples: int = 5000, random_state: Seed = None) -> "Data":
    """Draw from Breiman's three classes of noisy waves.

    The triangular waves are h₁(t) = max(6 - abs(t - 11), 0), h₂(t) = h₁(t - 4) and h₃(t) = h₁(t +
    4). A point of 21 coordinates is u·hᵢ(t) + (1 - u)·hⱼ(t) + ε(t) with u uniform on [0, 1] and ε
    standard normal. The equally likely classes 0, 1, 2 have (i, j) = (1, 2), (1, 3), (2, 3). The
    Bayes error is about 14 %.

    Parameters
    ----------
    n_samples : int, default=5000
        The number of points.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``card`` is None.

    Raises
    ------
    ValueError
        If n_samples is out of range.

    References
    ----------
    Breiman, L., Friedman, J., Stone, C., Olshen, R. (1984). Classification and regression
    trees, section 2.6.2.

    Examples
    --------
    >>> from kernlearn.datasets import waveform
    >>> waveform(n_samples=10, random_state=0).data.shape
    (10, 21)
    """
    check_count(n_samples=n_samples)
    rng = _random(random_state)
    peaks = np.array([[11], [15], [7]])
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - peaks), 0)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    y = rng.randint(3, size=n_samples)
    u = rng.uniform(size=(n_samples, 1))
    X = u * waves[first[y]] + (1 - u) * waves[second[y]] + rng.standard_normal((n_samples, 21))
    return to_data(X, y, "0", "1", "2")


def two_moons(n_samples: int = 500, noise: float = 0.1, random_state: Seed = None) -> "Data":
    """Draw two interleaved half circles with :func:`sklearn.datasets.make_moons`.

    Parameters
    ----------
    n_samples : int, default=500
        The number of points in both together.
    noise : float, default=0.1
        The standard deviation of the normal noise on both coordinates.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import two_moons
    >>> drawn = two_moons(100, random_state=0)
    >>> drawn.data.shape, drawn.target.tolist().count(1)
    ((100, 2), 50)
    """
    from sklearn.datasets import make_moons

    check_count(n_samples=n_samples)
    check_nonnegative(noise=noise)
    return to_data(*make_moons(n_samples, noise=noise, random_state=random_state), "0", "1")


def rings(
    n_samples: int = 500, noise: float = 0.05, factor: float = 0.5, random_state: Seed = None
) -> "Data":
    """Draw two concentric rings with :func:`sklearn.datasets.make_circles`.

    Parameters
    ----------
    n_samples : int, default=500
        The number of points in both together.
    noise : float, default=0.05
        The standard deviation of the normal noise on both coordinates.
    factor : float, default=0.5
        The radius of the inner ring, in [0, 1); that of the outer one is 1.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``card`` is None. Class 1 is the inner ring.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import rings
    >>> drawn = rings(100, noise=0.0, random_state=0)
    >>> radii = np.linalg.norm(drawn.data, axis=1).round(3)
    >>> sorted({*zip(drawn.target.tolist(), radii.tolist(), strict=True)})
    [(0, 1.0), (1, 0.5)]
    """
    from sklearn.datasets import make_circles

    check_count(n_samples=n_samples)
    check_nonnegative(noise=noise)
    check_proportion(factor=factor)
    X, y = make_circles(n_samples, noise=noise, factor=factor, random_state=random_state)
    return to_data(X, y, "0", "1")


def indefinite_similarity(
    n_samples: int = 200,
    negative: float = 0.2,
    n_negative: int | None = None,
    noise: float = 0.5,
    random_state: Seed = None,
) -> "Data":
    """Draw a symmetric similarity matrix of two classes with a chosen negative eigenfraction.

    The matrix is Q·diag(λ)·Qᵀ with a random orthogonal Q whose first column follows the labels.
    The positive and the negative eigenvalues both decay as 1, 1/2, 1/3, …, scaled so that the
    negative ones have the share `negative` of Σ abs(λ). The matrix is scaled to a largest absolute
    entry of 1.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points, at least 2; the sizes of the classes differ by at most one.
    negative : float, default=0.2
        The share of the negative eigenvalues, in [0, 1). 0 gives a positive definite matrix.
    n_negative : int, optional
        The number of negative eigenvalues, if any; half of them by default.
    noise : float, default=0.5
        Standard deviation of the normal noise on the direction that separates the classes,
        relative to its entries.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load` for a similarity: ``data`` is the matrix, of shape (n_samples,
        n_samples), and ``similarity`` is ``"similarity"``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import indefinite_similarity
    >>> K = indefinite_similarity(50, negative=0.3, random_state=0).data
    >>> spectrum = np.linalg.eigvalsh(K)
    >>> round(float(-spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()), 6)
    0.3
    """
    check_count(n_samples=n_samples)
    n = n_samples
    if n < 2:
        raise ValueError(f"n_samples must be at least 2 for two classes, got {n}")
    k = n // 2 if n_negative is None else n_negative
    check_count(n_negative=k)
    if k >= n:
        raise ValueError(f"n_negative must be below n_samples = {n}, got {k}")
    check_proportion(negative=negative)
    check_nonnegative(noise=noise)
    k = k if negative > 0 else 0
    rng = _random(random_state)
    y = rng.permutation(np.arange(n) % 2)
    directions = rng.standard_normal((n, n))
    directions[:, 0] = 2 * y - 1 + noise * directions[:, 0]
    basis, _ = np.linalg.qr(directions)
    spectrum = np.concatenate([(1 - negative) * _decay(n - k), -negative * _decay(k)])
    K = (basis * spectrum) @ basis.T
    K = (K + K.T) / (2 * np.abs(K).max())
    return to_data(K, y, "0", "1", similarity="similarity")


def _decay(k: int) -> np.ndarray:
    """Return 1, 1/2, …, 1/k, scaled to sum to 1."""
    values = 1 / np.arange(1, k + 1)
    return values / values.sum() if k else values


def two_gaussians(
    n_samples: int = 1000,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    random_state: Seed = None,
) -> "Data":
    """Draw points of two normal classes.

    Class 1 has mean ``separation / 2`` along a unit vector, class 0 the opposite, both with
    the identity as covariance. Fewer points are the first of more.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of points.
    n_features : int, default=20
        Their dimension, at least 2.
    positive : float, default=0.5
        The probability of class 1, in [0, 1).
    separation : float, default=2.0
        The distance of the two means.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> drawn = two_gaussians(1000, 3, positive=0.25, random_state=0)
    >>> drawn.data.shape, float(drawn.target.mean())
    ((1000, 3), 0.256)
    """
    check_count(n_samples=n_samples, n_features=n_features)
    if n_features < 2:
        raise ValueError(f"'n_features' must be at least 2, got {n_features}")
    check_proportion(positive=positive)
    check_nonnegative(separation=separation)
    rng = _random(random_state)
    plane, _ = np.linalg.qr(rng.standard_normal((n_features, 2)))
    rows, labels = [], []
    for _ in range(0, n_samples, _BLOCK):
        labels.append((rng.uniform(size=_BLOCK) < positive).astype(np.int64))
        means = (2 * labels[-1] - 1)[:, np.newaxis] * (separation / 2) * plane[:, 0]
        rows.append(rng.standard_normal((_BLOCK, n_features)) + means)
    X, y = np.concatenate(rows)[:n_samples], np.concatenate(labels)[:n_samples]
    return to_data(X, y, "0", "1")


_OF_VECTORS = (rings, two_gaussians, two_moons, unit_ball, waveform)


def _registered(make: Callable[..., "Data"], similarity: Any = None) -> Registered:
    title = (make.__doc__ or "").partition("\n")[0]
    return Registered("generator", make.__name__, make, title=title, similarity=similarity)


def generators() -> Mapping[str, Registered]:
    """Return the generators by name.

    Returns
    -------
    mapping of str to Registered
        Its `load` returns the function.

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> generators()["unit_ball"].parameters["n_samples"]
    100
    >>> generators()["unit_ball"].load()(n_samples=20, random_state=0).data.shape
    (20, 50)
    """
    every = [_registered(make) for make in _OF_VECTORS]
    every.insert(0, _registered(indefinite_similarity, "similarity"))
    return {generator.name: generator for generator in every}
