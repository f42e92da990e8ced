"""Checks of single numbers: each raises a ValueError that names the argument and its value."""

from __future__ import annotations

import math
from numbers import Integral, Real


def check_positive(**values: float) -> None:
    """Refuse anything but finite numbers above 0."""
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 < value < math.inf):
            raise ValueError(f"'{name}' must be a finite number above 0, got {value!r}")


def check_nonnegative(**values: float) -> None:
    """Refuse anything but finite numbers of 0 or more."""
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 <= value < math.inf):
            raise ValueError(f"'{name}' must be a finite number of 0 or more, got {value!r}")


def check_share(**values: float) -> None:
    """Refuse anything but numbers strictly between 0 and 1."""
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 < value < 1):
            raise ValueError(f"'{name}' must be a number between 0 and 1, got {value!r}")


def check_proportion(**values: float) -> None:
    """Refuse anything but numbers of 0 or more and below 1."""
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 <= value < 1):
            raise ValueError(f"'{name}' must be a number from 0 to below 1, got {value!r}")


def check_fraction(**values: float) -> None:
    """Refuse anything but numbers above 0 and at most 1."""
    check_positive(**values)
    for name, value in values.items():
        if value > 1:
            raise ValueError(f"'{name}' must be above 0 and at most 1, got {value!r}")


def check_count(**values: int) -> None:
    """Refuse anything but ints of 1 or more."""
    for name, value in values.items():
        if isinstance(value, bool) or not (isinstance(value, Integral) and value >= 1):
            raise ValueError(f"'{name}' must be an int >= 1, got {value!r}")
