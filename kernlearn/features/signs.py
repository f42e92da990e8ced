"""Random signs."""

import numpy as np
from numpy.typing import NDArray

Signs = NDArray[np.int8]


def real_signs(shape: tuple[int, ...], random_state: np.random.RandomState) -> Signs:
    """Draw 1 and -1."""
    signs = random_state.randint(0, 2, size=shape, dtype=np.int8)
    signs += signs - 1
    return signs


def complex_signs(shape: tuple[int, ...], random_state: np.random.RandomState) -> Signs:
    """Draw 1, i, -1 and -i; return the real and imaginary parts, shape (*shape, 2)."""
    parts = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], np.int8)
    drawn: Signs = parts[random_state.randint(0, 4, size=shape, dtype=np.int8)]
    return drawn
