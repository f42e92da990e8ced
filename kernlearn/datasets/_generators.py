"""Artificial data sets, returned as :func:`load` returns published ones."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from kernlearn.datasets._fingerprint import fingerprint
from kernlearn.datasets._readers import default_names

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Seed = int | RandomState | None


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
    rng = _random(random_state)
    n_samples = _count("n_samples", n_samples)
    n_features = _count("n_features", n_features)
    X = rng.standard_normal((n_samples, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # the share of the ball's volume within radius r is r^d
    X *= rng.uniform(size=(n_samples, 1)) ** (1 / n_features)
    return _bunch(X, None, ())


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
    rng = _random(random_state)
    n_samples = _count("n_samples", n_samples)
    peaks = np.array([[11], [15], [7]])
    waves = np.maximum(6.0 - np.abs(np.arange(1, 22) - peaks), 0)
    first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
    y = rng.randint(3, size=n_samples)
    u = rng.uniform(size=(n_samples, 1))
    X = u * waves[first[y]] + (1 - u) * waves[second[y]] + rng.standard_normal((n_samples, 21))
    return _bunch(X, y, ("0", "1", "2"))


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
        _count("n_samples", n_samples),
        noise=_between("noise", noise, 0, np.inf),
        random_state=_random(random_state),
    )
    return _bunch(X, y, ("0", "1"))


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
        _count("n_samples", n_samples),
        noise=_between("noise", noise, 0, np.inf),
        factor=_between("factor", factor, 0, 1),
        random_state=_random(random_state),
    )
    return _bunch(X, y, ("0", "1"))


@dataclass(frozen=True)
class Generator:
    """An artificial data set by name; calling it makes the data.

    Parameters
    ----------
    name : str
        The name in a configuration.
    make : callable
        The function that makes the data.

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> list(generators()["rings"].parameters)
    ['n_samples', 'noise', 'factor', 'random_state']
    """

    name: str
    make: Callable[..., "Bunch"]

    @property
    def title(self) -> str:
        """One line on what it makes."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters and their defaults."""
        found = inspect.signature(self.make).parameters.values()
        return MappingProxyType({parameter.name: parameter.default for parameter in found})

    def __call__(self, **parameters: Any) -> "Bunch":
        """Make the data.

        Parameters
        ----------
        **parameters : dict
            Some of :attr:`parameters`.

        Returns
        -------
        sklearn.utils.Bunch

        Raises
        ------
        ValueError
            If a parameter is not known or out of range.
        """
        if unknown := sorted(parameters.keys() - self.parameters.keys()):
            raise ValueError(
                f"{self.name} has no parameter {', '.join(unknown)}; "
                f"allowed: {', '.join(self.parameters)}"
            )
        return self.make(**parameters)


def generators() -> Mapping[str, Generator]:
    """Return the generators, by name.

    Returns
    -------
    mapping of str to Generator

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> generators()["unit_ball"].parameters["n_samples"]
    100
    >>> generators()["unit_ball"](n_samples=20, n_features=5, random_state=0).data.shape
    (20, 5)
    """
    functions = (rings, two_moons, unit_ball, waveform)
    return MappingProxyType({make.__name__: Generator(make.__name__, make) for make in functions})


def _bunch(X: NDArray[np.float64], y: NDArray[Any] | None, labels: tuple[str, ...]) -> "Bunch":
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        target=None if y is None else y.astype(np.int64),
        target_names=np.array(labels, dtype=np.str_),
        feature_names=np.array(default_names(X.shape[1]), dtype=np.str_),
        fingerprint=fingerprint(X, y),
        card=None,
        path=None,
        sample=False,
        note="",
    )


def _random(random_state: Seed) -> RandomState:
    from sklearn.utils import check_random_state

    rng: RandomState = check_random_state(random_state)
    return rng


def _count(name: str, value: Any) -> int:
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def _between(name: str, value: Any, low: float, high: float) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value < high:
        raise ValueError(f"{name} must be a number from {low} to below {high}, got {value!r}")
    return float(value)
