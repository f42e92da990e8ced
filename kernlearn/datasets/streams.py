"""What the generators share: a seed, checked numbers, and data in the form of :func:`load`."""

from collections.abc import Iterator
from itertools import count as counting
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from kernlearn.datasets.hashing import fingerprint
from kernlearn.datasets.readers import default_names

if TYPE_CHECKING:
    from sklearn.utils import Bunch


Seed = int | RandomState | None


def bunch(X: NDArray[np.float64], y: NDArray[Any] | None, labels: tuple[str, ...]) -> "Bunch":
    """Return data in the form of :func:`load`; labels name the classes."""
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


def random(random_state: Seed) -> RandomState:
    """Return the source of randomness that a seed stands for."""
    from sklearn.utils import check_random_state

    rng: RandomState = check_random_state(random_state)
    return rng


def count(name: str, value: Any) -> int:
    """Return a whole number of at least 1, or refuse the parameter by name."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def between(name: str, value: Any, low: float, high: float) -> float:
    """Return a number in [low, high), or refuse the parameter by name."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value < high:
        raise ValueError(f"{name} must be a number from {low} to below {high}, got {value!r}")
    return float(value)


Batch = tuple[NDArray[np.float64], NDArray[np.int64]]

# Points are drawn by so many whatever the batches, so that batches do not change the stream.
_DRAWN_AT_ONCE = 1024


def gaussian_stream(
    n_samples: int | None = None,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    drift: float = 0.0,
    batch_size: int = 1000,
    random_state: Seed = None,
) -> Iterator[Batch]:
    """Draw batches of points of two normal classes, in memory that does not grow.

    Class 1 has mean ``separation / 2`` along a unit vector, class 0 the opposite, both the
    identity as covariance. With `drift` the vector turns in a plane by so many radians every
    1000 points.

    Parameters
    ----------
    n_samples : int, optional
        The number of points; None never ends.
    n_features : int, default=20
        Their dimension, at least 2.
    positive : float, default=0.5
        The probability of class 1, from 0 up to but not including 1.
    separation : float, default=2.0
        The distance of the two means.
    drift : float, default=0.0
        Radians in 1000 points.
    batch_size : int, default=1000
        Points in a batch, of which the last may have fewer. The points do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

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
    return _batches(_chunks(random(random_state), d, share, half, speed), total, size)


def two_gaussians(
    n_samples: int = 1000,
    n_features: int = 20,
    positive: float = 0.5,
    separation: float = 2.0,
    drift: float = 0.0,
    random_state: Seed = None,
) -> "Bunch":
    """Draw the first points of :func:`gaussian_stream`, in its order.

    Parameters
    ----------
    n_samples : int, default=1000
        The number of points.
    n_features, positive, separation, drift
        As in :func:`gaussian_stream`.
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
    >>> from kernlearn.datasets import two_gaussians
    >>> two_gaussians(n_samples=10, n_features=3, random_state=0).data.shape
    (10, 3)
    """
    n = count("n_samples", n_samples)
    X, y = next(gaussian_stream(n, n_features, positive, separation, drift, n, random_state))
    return bunch(X, y, ("0", "1"))


def _chunks(
    rng: RandomState, d: int, positive: float, half: float, speed: float
) -> Iterator[Batch]:
    plane, _ = np.linalg.qr(rng.standard_normal((d, 2)))
    for start in counting(0, _DRAWN_AT_ONCE):
        y = (rng.uniform(size=_DRAWN_AT_ONCE) < positive).astype(np.int64)
        angle = speed * np.arange(start, start + _DRAWN_AT_ONCE)
        direction = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
        X = (
            rng.standard_normal((_DRAWN_AT_ONCE, d))
            + (2 * y - 1)[:, np.newaxis] * half * direction
        )
        yield X, y


def _batches(chunks: Iterator[Batch], total: int | None, size: int) -> Iterator[Batch]:
    """Cut the chunks anew into batches of a size."""
    given = 0
    X, y = next(chunks)
    while total is None or given < total:
        wanted = size if total is None else min(size, total - given)
        parts, ready = [(X, y)], len(y)
        while ready < wanted:
            parts.append(next(chunks))
            ready += len(parts[-1][1])
        joined_X = np.concatenate([x for x, _ in parts]) if len(parts) > 1 else X
        joined_y = np.concatenate([t for _, t in parts]) if len(parts) > 1 else y
        yield joined_X[:wanted], joined_y[:wanted]
        X, y = joined_X[wanted:], joined_y[wanted:]
        given += wanted
