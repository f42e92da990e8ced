"""Missing entries: rows are dropped, entries are filled in, or both are refused."""

from typing import Any

import numpy as np

from kernlearn.datasets.formats import Missing, Table
from kernlearn.exceptions import DataError


def settle_missing(table: Table, missing: Missing, place: str) -> tuple[Table, str]:
    """Drop, fill or refuse missing entries (NaN); return the table and a note on it."""
    X = table.X
    if X.dtype.kind != "f":  # integers are never missing
        return table, ""
    gaps = X != X  # only NaN differs from itself
    rows = np.ravel(gaps.sum(axis=1)) > 0
    n_entries, n_rows, total = int(gaps.sum()), int(rows.sum()), len(rows)
    if not n_entries:
        return table, ""
    extent = f"{n_entries} entries in {n_rows} of {total} rows are missing"
    if missing == "error":
        raise DataError(f"{place}: {extent}; load with missing: drop, mean or most_frequent")
    if missing == "drop":
        if n_rows == total:
            raise DataError(
                f"{place}: {extent}; no row is left without them: missing: mean or most_frequent "
                "fills them in, and drop leaves out columns"
            )
        query = None if table.query is None else table.query[~rows]
        left = table._replace(X=X[~rows], y=table.y[~rows], query=query)
        return left, f"{n_rows} of {total} rows with missing entries were left out."
    if (empty := np.flatnonzero(np.ravel(gaps.sum(axis=0)) == total)).size:
        raise DataError(f"{place}: the column {table.feature_names[empty[0]]} has no entries")
    nominal = [i for i, name in enumerate(table.feature_names) if name in table.nominal]
    means = "their column's mean" if missing == "mean" else "their column's most frequent value"
    note = f"{extent} and were filled in by {means}."
    return table._replace(X=_fill(X, missing, nominal)), note


def _fill(X: Any, missing: str, nominal: list[int]) -> Any:
    from sklearn.impute import SimpleImputer

    filled = SimpleImputer(strategy=missing).fit_transform(X)
    if nominal:  # in dense data only
        codes = SimpleImputer(strategy="most_frequent").fit_transform(X[:, nominal])
        filled[:, nominal] = codes
    return filled.tocsr() if hasattr(filled, "tocsr") else filled
