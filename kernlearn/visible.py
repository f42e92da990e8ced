"""Texts for terminals in which every character is seen: those that steer one are written out."""

import re
from typing import Any

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


class VisibleStream:
    """A stream on which control characters are seen, not obeyed."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write a text with its control characters as Python writes them."""
        return int(self.stream.write(visible_output(text)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def unfiltered(stream: Any) -> Any:
    """Return the stream behind one that was prepared: for colours, and for data in a pipe."""
    return stream.stream if isinstance(stream, VisibleStream) else stream


def _written(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
