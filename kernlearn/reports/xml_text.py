"""Texts with the characters that XML and the chart engine take."""

import re
from typing import Any

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: The chart engine cuts long labels between the two halves of these, which it cannot draw.
_NOT_DRAWN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")


def xml_text(text: str) -> str:
    """Return a text with a question mark for each character that XML cannot have."""
    return _NOT_XML.sub("?", text)


def drawable(value: Any) -> Any:
    """Return a part of a chart with question marks for characters that the engine aborts on."""
    if isinstance(value, str):
        return _NOT_DRAWN.sub("?", value)
    if isinstance(value, dict):
        return {drawable(key): drawable(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [drawable(part) for part in value]
    return value
