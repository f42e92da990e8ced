"""What the generators share: a seed, checked numbers, and data in the form of :func:`load`."""

from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from kernlearn.datasets._fingerprint import fingerprint
from kernlearn.datasets._readers import default_names

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
