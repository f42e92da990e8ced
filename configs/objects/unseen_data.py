"""Series that come with aeon, and digits as sets of points, which no advice was written from."""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from kernlearn.plugins import register_dataset, register_kernel


def _series(name: str) -> tuple[list[np.ndarray], Any]:
    from aeon.datasets import load_classification

    X, y = load_classification(name)
    return list(X), y


@register_dataset()
def arrow_head() -> Any:
    """Outlines of projectile points, 3 classes (aeon)."""
    return _series("ArrowHead")


@register_dataset()
def basic_motions() -> Any:
    """Four motions by a watch, 6 channels (aeon)."""
    return _series("BasicMotions")


@register_dataset()
def osu_leaf() -> Any:
    """Outlines of leaves, 6 classes (aeon)."""
    return _series("OSULeaf")


@register_dataset()
def pickup_gesture() -> Any:
    """Ten gestures by a controller, of unequal lengths (aeon)."""
    return _series("PickupGestureWiimoteZ")


@register_dataset()
def digit_shapes() -> Any:
    """Places of dark pixels of 1797 digits (scikit-learn)."""
    images, digits = load_digits().images, load_digits().target
    return [np.argwhere(image > 7).astype(float) for image in images], digits


@register_kernel()
def modified_hausdorff(x: np.ndarray, y: np.ndarray) -> float:
    """Distance of Dubuisson and Jain (1994) of two sets of points."""
    gaps = cdist(x, y)
    return float(max(gaps.min(axis=0).mean(), gaps.min(axis=1).mean()))
