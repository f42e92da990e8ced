"""Checks of single numbers and names, and words for messages; they load no library."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any

# An integer of more digits is no position of anything; Python refuses those of over 4300.
_WHOLE = re.compile(r"-?\d{1,18}")
_SHOWN = 6  # names in a sentence


def whole_number(text: object) -> int | None:
    """Return the integer that a text gives, such as a position; None if it gives none.

    Examples
    --------
    >>> from kernlearn.checks import whole_number
    >>> whole_number("-1"), whole_number("--1"), whole_number("9" * 5000)
    (-1, None, None)
    """
    return int(text) if isinstance(text, str) and _WHOLE.fullmatch(text) else None


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n} {noun if n == 1 else plural}"


def duration(seconds: float) -> str:
    """Write seconds as text such as ``"2 h 05 min"`` or ``"40 s"``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def listed(parts: Iterable[str]) -> str:
    """List the first of some names."""
    every = list(parts)
    rest = len(every) - _SHOWN
    return ", ".join(every if rest < 2 else [*every[:_SHOWN], f"and {rest} more"])


def suggestion(word: str, allowed: Iterable[str], more: Mapping[str, str] = {}) -> str:
    """Say which of the allowed names was probably meant, or list them.

    Parameters
    ----------
    word : str
        What was written.
    allowed : iterable of str
    more : mapping of str to str, default={}
        Further words that may be meant, with what to write instead; they are not listed.

    Returns
    -------
    str
        ``"; did you mean 'x'?"`` or ``"; allowed: a, b, c"``.
    """
    names = {name.lower(): name for name in sorted(allowed)}
    meant = {**{name.lower(): text for name, text in more.items()}, **names}
    begun = [name for name in [*names, *meant] if name.startswith(word.lower())]
    if close := begun or get_close_matches(word.lower(), meant, n=1):
        return f"; did you mean {meant[close[0]]!r}?"
    return f"; allowed: {', '.join(names.values())}" if names else "; nothing is allowed here"


def _check(values: Mapping[str, Any], is_allowed: Callable[[Any], bool], text: str) -> None:
    for name, value in values.items():
        if not (isinstance(value, Real) and is_allowed(value)):
            raise ValueError(f"'{name}' must be {text}, got {value!r}")


def check_positive(**values: float) -> None:
    """Refuse anything but finite numbers above 0."""
    _check(values, lambda value: 0 < value < math.inf, "a finite number above 0")


def check_nonnegative(**values: float) -> None:
    """Refuse anything but finite numbers of 0 or more."""
    _check(values, lambda value: 0 <= value < math.inf, "a finite number of 0 or more")


def check_share(**values: float) -> None:
    """Refuse anything but numbers strictly between 0 and 1."""
    _check(values, lambda value: 0 < value < 1, "a number between 0 and 1")


def check_proportion(**values: float) -> None:
    """Refuse anything but numbers of 0 or more and below 1."""
    _check(values, lambda value: 0 <= value < 1, "a number from 0 to below 1")


def check_fraction(**values: float) -> None:
    """Refuse anything but numbers above 0 and at most 1."""
    check_positive(**values)
    _check(values, lambda value: value <= 1, "above 0 and at most 1")


def check_count(**values: int) -> None:
    """Refuse anything but ints of 1 or more."""
    for name, value in values.items():
        if isinstance(value, bool) or not (isinstance(value, Integral) and value >= 1):
            raise ValueError(f"'{name}' must be an int >= 1, got {value!r}")
