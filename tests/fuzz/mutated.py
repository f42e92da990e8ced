"""Strategies that draw damaged files, and YAML whose values, keys and bytes are replaced."""

from functools import lru_cache
from typing import Any

import yaml
from hypothesis import strategies as st

from tests.engine.test_mutated_configs import KEYS, REPLACEMENTS, places, replaced, without

#: What is put somewhere into a file, besides bytes.
INSERTED = [
    b"nan",
    b"inf",
    b"x",
    b"?",
    b",",
    b",,",
    b" ",
    b"\n",
    b"\r",
    b"\0",
    "é".encode(),
    b"'",
    b'"',
    b"{",
    b"}",
    b"[",
    b":",
    b"%",
    b"@data\n",
    b"#",
    b"1:",
    b"qid:",
    b"1e999",
    b"1_0",
    b"0x1",
    b"-",
    b"-1",
    b"1",
    b"99999999999",
    b"9" * 30,
    b"9" * 5000,
    b"1" * 10**5,
    b" " * 10**5,
    b"," * 10**5,
    b"x" * 10**5,
    b'"' + b"x" * 10**5,
    b"\n" * 10**5,
    b"[" * 10**4,
    b'{"a":' * 10**4,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"\x85",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"\x1a",
    b"\x1b[31m",
    b"\x00" * 64,
    b"\xff" * 64,
    b"\xff\xff\xff\x7f",
    b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x00\x00\x00\x80",
    b"\x01\x00\x00\x00",
]
_WAYS = ("cut", "hole", "insert", "bytes", "bit", "repeat", "swap")


@st.composite
def damaged(draw: Any, content: bytes) -> bytes:
    """Damage the bytes of a file in up to three ways."""
    for way in draw(st.lists(st.sampled_from(_WAYS), min_size=1, max_size=3)):
        at = draw(st.integers(0, len(content)))
        if way == "cut":
            content = content[:at]
        elif way == "hole":
            content = content[:at] + content[draw(st.integers(at, len(content))) :]
        elif way == "insert":
            content = content[:at] + draw(st.sampled_from(INSERTED)) + content[at:]
        elif way == "bytes":
            new = draw(st.binary(min_size=1, max_size=8) | st.sampled_from(INSERTED[-4:]))
            content = content[:at] + new + content[at + len(new) :]
        elif way == "bit":
            flipped = bytearray(content)
            if at < len(content):
                flipped[at] ^= 1 << draw(st.integers(0, 7))
            content = bytes(flipped)
        elif way == "repeat":
            end = min(len(content), at + draw(st.integers(0, 200)))
            content = content[:end] + content[at:end] * draw(st.integers(1, 50)) + content[end:]
        else:
            end = draw(st.integers(at, len(content)))
            middle = (at + end) // 2
            content = content[:at] + content[middle:end] + content[at:middle] + content[end:]
    return content


@lru_cache(maxsize=64)
def _composed(text: str) -> list[Any]:
    return [*places(yaml.compose(text, Loader=yaml.SafeLoader))]


@st.composite
def mutated_yaml(draw: Any, text: str, more: tuple[str, ...] = ()) -> bytes:
    """Replace, rename, remove and damage up to three parts of a YAML file.

    `more` are further values to put somewhere.
    """
    found = _composed(text)
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(["value", "value", "value", "key", "removed", "twice"]))
        where, value, key = draw(st.sampled_from(found))
        if way == "value" or key is None:
            new = draw(st.sampled_from([*REPLACEMENTS.values(), *more]))
            text = replaced(text, value, new)
        elif way == "key":
            text = replaced(text, key, KEYS[draw(st.sampled_from(sorted(KEYS)))] or where)
        elif way == "removed":
            text = without(text, key, value)
        else:
            text = f"{text}\n{where}: 1\n{where}: 1\n"
        try:
            found = [*places(yaml.compose(text, Loader=yaml.SafeLoader))]
        except (yaml.YAMLError, RecursionError, AttributeError):
            break
        if not found or len(text) > 50_000:
            break
    content = text.encode(errors="replace")
    return draw(damaged(content)) if draw(st.integers(0, 4)) == 0 else content
