"""Columns that tell rows apart, or name what rows have in common."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.datasets.tables import Table

if TYPE_CHECKING:
    import pandas as pd

#: Names of columns that look like the id of a row.
ID_NAME = re.compile(r"(?i:(.*[\s_.-])?(id|uuid|guid)|index|idx|row|row.?names?)|.*[a-z]I[dD]")
# Names of columns whose values several rows may have in common.
_GROUP_NAME = re.compile(
    r"(?i:(.*[\s_.-])?(id|uuid|guid|subject|patient|individual|person|user|client|customer|"
    r"family|household|animal|mouse|pig|subj|donor|[psucm]id)([\s_.-]?(no|nr|id|number))?|"
    r"groups?|subjects|patients)|.*[a-z]I[dD]"
)
# Names that others have too, such as age_group, and so only columns of many values.
_PART_NAME = re.compile(r"(?i:(.*[\s_.-])?(group|visit|session)([\s_.-]?(no|nr|id|number))?)")
# A text of whose values each is in so many rows names what they have in common.
_LEAST_GROUPS, _MOST_OF_GROUP = 10, 20
_LEAST_ROWS = 10  # fewer may differ by chance
_LEAST_VALUES = 20  # of a column of whose values the rows have other columns in common


def ids_and_groups(table: Table) -> tuple[dict[str, str], dict[str, int]]:
    """Return features that look like the number of a row, and those whose values rows share.

    Beside the first is the reason. The second, with their numbers of values, may name what rows
    have in common: by their names, or because each value of a text with digits is that of a few
    rows.
    """
    ids, shared = dict[str, str](), dict[str, int]()
    for name, entries in zip(table.feature_names, table.X.T, strict=True):
        column, texts = entries[~np.isnan(entries)], table.nominal.get(name)
        values, counts = np.unique(column, return_counts=True)
        n_values, are_whole = len(values), (values == np.floor(values)).all()
        if texts is None and len(entries) >= _LEAST_ROWS and 2 * n_values > len(entries):
            ascend = len(entries) >= _LEAST_VALUES and (np.diff(column) > 0).all()
            are_distinct = n_values == len(column) and (
                ascend or np.ptp(values) < 2 * len(entries)
            )
            if are_distinct and are_whole:
                ids[name] = f"{n_values} different whole numbers"
            elif ID_NAME.fullmatch(name.strip()):
                ids[name] = "by its name"
        if name not in ids and 2 < n_values < len(column):
            are_codes = texts is not None and all(any(map(str.isdigit, text)) for text in texts)
            are_few = counts.min() >= 2 and counts.max() <= _MOST_OF_GROUP
            by_name = are_whole and _names_groups(name, n_values)
            if by_name or (are_codes and are_few and n_values >= _LEAST_GROUPS):
                shared[name] = n_values
    return ids, shared


def named_groups(frame: "pd.DataFrame") -> dict[str, int]:
    """Return the columns that are called as groups and have repeated values, and how many."""
    shared = {}
    for name in frame.columns:
        held = frame[name].dropna().astype(str)
        n_values = held.nunique()
        if 2 < n_values < len(held) and _names_groups(str(name), n_values):
            shared[str(name)] = n_values
    return shared


def _names_groups(name: str, n_values: int) -> bool:
    """Tell whether a column of so many values is called as one of groups."""
    many = n_values >= _LEAST_GROUPS and _PART_NAME.fullmatch(name.strip())
    return bool(many or _GROUP_NAME.fullmatch(name.strip()))


def repeated(
    frame: "pd.DataFrame", used: Sequence[int], left_out: Sequence[int]
) -> dict[str, int]:
    """Return the column of whose values the rows have most else in common, and how many it has.

    Its values are whole numbers or texts, each in up to 50 rows on average, and the target or two
    other columns are the same in all rows of a value: none that ranges of its numbers make.
    """
    import pandas as pd
    from pandas.api.types import is_numeric_dtype

    found, most = dict[str, int](), 1
    codes = np.empty((0, 0))
    for i in (*left_out, *used[1:]):
        column = _hashable(frame.iloc[:, i].dropna())
        of_numbers, n_values = is_numeric_dtype(column), column.nunique()
        column = column.astype(float) if of_numbers else column  # comparisons of others may be NA
        is_sized = min(n_values, len(column) - n_values) >= _LEAST_VALUES
        if not is_sized or len(column) > 50 * n_values or (of_numbers and (column % 1).any()):
            continue
        if not codes.size:
            columns = [pd.factorize(_hashable(frame.iloc[:, j]))[0] for j in used]
            codes = np.column_stack(columns).astype(np.int32)
        column = column.sort_values(kind="stable")
        rows, again = column.index.to_numpy(), (column == column.shift()).to_numpy()[1:]
        first, second = rows[:-1][again], rows[1:][again]
        alike = np.flatnonzero([j != i for j in used])
        for part in (slice(_LEAST_VALUES), slice(None)):  # most differ in the first pairs of rows
            same = codes[np.ix_(first[part], alike)] == codes[np.ix_(second[part], alike)]
            alike = alike[same.all(axis=0)]
        n_alike = 0
        for j in alike:
            values, counts = np.unique(codes[first, j], return_counts=True)
            n_runs = 1 + np.count_nonzero(np.diff(codes[first, j]))
            if counts.max() <= 0.9 * len(first) and not (of_numbers and n_runs == len(values)):
                n_alike += 1 if j else 2
        if n_alike > most:
            found, most = {str(frame.columns[i]): n_values}, n_alike
    return found


def _hashable(column: "pd.Series[Any]") -> "pd.Series[Any]":
    """Return a column with texts in place of what are no numbers, such as lists."""
    from pandas.api.types import is_numeric_dtype

    return column if is_numeric_dtype(column) else column.astype(str)
