"""Rademacher complexities as arguments of bounds: by the number of points, or constants."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.checks import check_nonnegative

#: The complexity by the number m of points, or a number c for c / sqrt(m).
Complexity: TypeAlias = "float | Callable[[int], float]"


def complexity_at(complexity: Complexity, m: int) -> float:
    """Return the complexity on m points; a ValueError says where it is negative."""
    if callable(complexity):
        value = float(complexity(m))
        check_nonnegative(**{f"complexity({m})": value})
        return value
    check_nonnegative(complexity=complexity)
    return complexity / math.sqrt(m)


def mean_complexity(complexity: Complexity, sizes: NDArray[np.intp]) -> float:
    """Return the mean complexity over numbers of points, computed once for each that differs."""
    if not callable(complexity):
        return complexity_at(complexity, 1) * float(np.mean(1 / np.sqrt(sizes)))
    distinct, counts = np.unique(sizes, return_counts=True)
    values = [complexity_at(complexity, int(m)) for m in distinct]
    return float(np.average(values, weights=counts))
