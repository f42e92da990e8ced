"""Texts for terminals in which every character is seen: those that steer one are written out."""

import re

# Controls of terminals; marks that turn the direction of what follows; line ends of Unicode, and
# halves of characters, which stand for bytes that are no text.
_STEERING = "\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff"
_IN_NAMES = re.compile(f"[{_STEERING}]")
_IN_OUTPUT = re.compile(f"(?![\n\t])[{_STEERING}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(name: str) -> str:
    r"""Return a name on one line, with its control characters as Python writes them.

    Parameters
    ----------
    name : str
        Of whoever wrote a store, a card or a config.

    Returns
    -------
    str

    Examples
    --------
    >>> print(visible("accuracy\x1b[2J\n"))
    accuracy\x1b[2J\n
    """
    return _IN_NAMES.sub(_written, name)


def visible_output(text: str) -> str:
    """Do the same for an output of several lines: ends of lines and tabs stay."""
    return _IN_OUTPUT.sub(_written, text)


def _written(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
