"""A stream of two normal classes; checks, seeds and bunches for all generators."""

from collections.abc import Iterator
from itertools import count as counting
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from kernlearn.datasets.cache import fingerprint
from kernlearn.datasets.formats import default_names

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Seed = int | RandomState | None
Batch = tuple[NDArray[np.float64], NDArray[np.int64]]

_BLOCK = 1024  # points are drawn in blocks, so that the batch size does not change the stream


def count(name: str, value: Any) -> int:
    """Check that a parameter is an integer of at least 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def between(name: str, value: Any, low: float, high: float) -> float:
    """Check that a parameter is a number in [low, high)."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value < high:
        raise ValueError(f"{name} must be a number from {low} to below {high}, got {value!r}")
    return float(value)


def random(random_state: Seed) -> RandomState:
    """Return the generator for a random state as scikit-learn defines it."""
    from sklearn.utils import check_random_state

    rng: RandomState = check_random_state(random_state)
    return rng


def to_bunch(X: NDArray[np.float64], y: NDArray[Any] | None, *labels: str) -> "Bunch":
    """Return data in the form of :func:`load`."""
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


def gaussian_stream(
    n_samples: int | None = None,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    drift: float = 0.0,
    batch_size: int = 1000,
    random_state: Seed = None,
) -> Iterator[Batch]:
    """Draw batches of points of two normal classes, in constant memory.

    Class 1 has mean ``separation / 2`` along a unit vector, class 0 the opposite, both with
    the identity as covariance. With `drift` the vector turns in a plane.

    Parameters
    ----------
    n_samples : int or None, default=None
        The number of points; None for an endless stream.
    n_features : int, default=20
        Their dimension, at least 2.
    positive : float, default=0.5
        The probability of class 1, in [0, 1).
    separation : float, default=2.0
        The distance of the two means.
    drift : float, default=0.0
        The angle by which the vector turns, in radians per 1000 points.
    batch_size : int, default=1000
        Points per batch; the last may have fewer. The points do not depend on it.
    random_state : int, RandomState instance or None, default=None
        The random seed or generator.

    Yields
    ------
    X : ndarray of shape (batch_size, n_features)
    y : ndarray of shape (batch_size,)
        0 and 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.datasets import gaussian_stream
    >>> [len(y) for X, y in gaussian_stream(2500, random_state=0)]
    [1000, 1000, 500]
    """
    total = None if n_samples is None else count("n_samples", n_samples)
    d = count("n_features", n_features)
    if d < 2:
        raise ValueError(f"n_features must be at least 2, for a plane to turn in, got {d}")
    size = count("batch_size", batch_size)
    share = between("positive", positive, 0, 1)
    half = between("separation", separation, 0, np.inf) / 2
    speed = between("drift", drift, 0, np.inf) / 1000
    return _batches(_blocks(random(random_state), d, share, half, speed), total, size)


def _blocks(
    rng: RandomState, d: int, positive: float, half: float, speed: float
) -> Iterator[Batch]:
    plane, _ = np.linalg.qr(rng.standard_normal((d, 2)))
    for start in counting(0, _BLOCK):
        y = (rng.uniform(size=_BLOCK) < positive).astype(np.int64)
        angle = speed * np.arange(start, start + _BLOCK)
        direction = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
        X = rng.standard_normal((_BLOCK, d)) + (2 * y - 1)[:, np.newaxis] * half * direction
        yield X, y


def _batches(blocks: Iterator[Batch], total: int | None, size: int) -> Iterator[Batch]:
    """Cut blocks into batches of `size` points."""
    n_drawn = 0
    X, y = next(blocks)
    while total is None or n_drawn < total:
        wanted = size if total is None else min(size, total - n_drawn)
        parts, ready = [(X, y)], len(y)
        while ready < wanted:
            parts.append(next(blocks))
            ready += len(parts[-1][1])
        if len(parts) > 1:
            X, y = np.concatenate([x for x, _ in parts]), np.concatenate([t for _, t in parts])
        yield X[:wanted], y[:wanted]
        X, y = X[wanted:], y[wanted:]
        n_drawn += wanted
