"""Artificial points, returned as :func:`load` returns published ones."""

from typing import TYPE_CHECKING

import numpy as np

from kernlearn.datasets._generated import Seed, between, bunch, count, random

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def unit_ball(n_samples: int = 100, n_features: int = 50, random_state: Seed = None) -> "Bunch":
    """Draw points uniformly from the unit ball (the data of the thesis' figure 3.1).

    Parameters
    ----------
    n_samples : int, default=100
        The number of points.
    n_features : int, default=50
        Their dimension.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; ``target`` is None and ``card`` too.

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
    rng = random(random_state)
    n_samples = count("n_samples", n_samples)
    n_features = count("n_features", n_features)
    X = rng.standard_normal((n_samples, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # the share of the ball's volume within radius r is r^d
    X *= rng.uniform(size=(n_samples, 1)) ** (1 / n_features)
    return bunch(X, None, ())


def waveform(n_samples: int = 5000, random_state: Seed = None) -> "Bunch":
    """Draw from Breiman's three classes of noisy waves.

    With the triangular waves h₁(t) = max(6 - abs(t - 11), 0), h₂(t) = h₁(t - 4) and
    h₃(t) = h₁(t + 4), a point of 21 coordinates is u·hᵢ(t) + (1 - u)·hⱼ(t) + ε(t) with u
    uniform on [0, 1], ε standard normal and (i, j) = (1, 2), (1, 3), (2, 3) for the classes
    0, 1, 2, which are equally likely. The best possible error is about 14 %.

    Parameters
    ----------
    n_samples : int, default=5000
        The number of points.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

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
    rng = random(random_state)
    n_samples = count("n_samples", n_samples)
    peaks = np.array([[11], [15], [7]])
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - peaks), 0)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    y = rng.randint(3, size=n_samples)
    u = rng.uniform(size=(n_samples, 1))
    X = u * waves[first[y]] + (1 - u) * waves[second[y]] + rng.standard_normal((n_samples, 21))
    return bunch(X, y, ("0", "1", "2"))


def two_moons(n_samples: int = 500, noise: float = 0.1, random_state: Seed = None) -> "Bunch":
    """Draw two interleaved half circles.

    This is :func:`sklearn.datasets.make_moons`.

    Parameters
    ----------
    n_samples : int, default=500
        The number of points, in both together.
    noise : float, default=0.1
        The standard deviation of the normal noise on both coordinates.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

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
    >>> two_moons(n_samples=10, random_state=0).target_names.tolist()
    ['0', '1']
    """
    from sklearn.datasets import make_moons

    X, y = make_moons(
        count("n_samples", n_samples),
        noise=between("noise", noise, 0, np.inf),
        random_state=random(random_state),
    )
    return bunch(X, y, ("0", "1"))


def rings(
    n_samples: int = 500, noise: float = 0.05, factor: float = 0.5, random_state: Seed = None
) -> "Bunch":
    """Draw two concentric rings.

    This is :func:`sklearn.datasets.make_circles`.

    Parameters
    ----------
    n_samples : int, default=500
        The number of points, in both together.
    noise : float, default=0.05
        The standard deviation of the normal noise on both coordinates.
    factor : float, default=0.5
        The inner ring's radius, from 0 up to but not including 1, the outer one's.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

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
    >>> from kernlearn.datasets import rings
    >>> rings(n_samples=10, random_state=0).data.shape
    (10, 2)
    """
    from sklearn.datasets import make_circles

    X, y = make_circles(
        count("n_samples", n_samples),
        noise=between("noise", noise, 0, np.inf),
        factor=between("factor", factor, 0, 1),
        random_state=random(random_state),
    )
    return bunch(X, y, ("0", "1"))
