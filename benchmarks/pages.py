"""Pages whose tables are written from the committed numbers."""

import re
from collections.abc import Mapping


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a text with each table between the marks of its name and of the end."""
    for name, table in tables.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
    return text
