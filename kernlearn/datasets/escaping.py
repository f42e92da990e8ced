"""Texts that anybody wrote, escaped for files in CSV.

Spreadsheets compute a cell that begins with ``=``, ``+``, ``-`` or ``@``, and what they compute
may run a program: such a cell gets an apostrophe.
"""

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

_COMPUTED = re.compile("'*[=+\\-@\t\r＝＋－＠]")
# A number, perhaps with its deviation or interval.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?( ?[±\[][\d.e +\-±,\]]*)?|[+-]?inf")


def guarded(value: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would compute.

    Parameters
    ----------
    value : object
        Numbers, and texts of numbers, stay as they are.

    Returns
    -------
    object

    Examples
    --------
    >>> [guarded(value) for value in ("=1+1", "-0.5", -0.5, "K")]
    ["'=1+1", '-0.5', -0.5, 'K']
    """
    if isinstance(value, str) and _COMPUTED.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` made another one of."""
    return text[1:] if text[:1] == "'" and _COMPUTED.match(text) else text


def csv_text(frame: "DataFrame", **options: Any) -> str:
    """Return a table as CSV, its texts and heads guarded; options are those of ``to_csv``."""
    from pandas import Series

    shown = frame.copy()
    for i, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            values = [guarded(value) for value in frame.iloc[:, i]]
            # a column of objects stays one, so that its numbers are written as before
            shown.isetitem(i, Series(values, dtype=object).to_numpy())
    shown.columns = [guarded(name) for name in frame.columns]
    return str(shown.to_csv(index=False, **options))
