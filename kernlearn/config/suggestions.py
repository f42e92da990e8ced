"""Names that were probably meant instead of an unknown one."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def closest(word: str, names: Collection[str]) -> str | None:
    """Return the name that is most similar to a word, apart from case, if one is similar."""
    lowered = {name.lower(): name for name in names}
    close = get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """Say which of the allowed names was probably meant, or list them.

    Parameters
    ----------
    word : str
        What was written.
    allowed : iterable of str

    Returns
    -------
    str
        ``"; did you mean 'x'?"`` or ``"; allowed: a, b, c"``.
    """
    names = sorted(allowed)
    if close := closest(word, names):
        return f"; did you mean {close!r}?"
    return f"; allowed: {', '.join(names)}" if names else "; nothing is allowed here"
