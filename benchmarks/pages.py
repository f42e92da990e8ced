"""Pages whose tables are written from the committed numbers."""

import re
import textwrap
from collections.abc import Mapping


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a text with each table between the marks of its name and of the end."""
    for name, table in tables.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
    return text


def wrapped(text: str, indent: int = 0) -> str:
    """Return a paragraph in lines of at most 120 characters, all but the first indented."""
    lines = textwrap.wrap(text, 118 - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(lines) + ("" if indent else "\n")
