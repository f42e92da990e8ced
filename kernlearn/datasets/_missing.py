"""Missing entries: rows left out, entries filled in, or refused."""

from collections.abc import Collection
from typing import Any, Literal, get_args

import numpy as np

from kernlearn.datasets._readers import Table
from kernlearn.exceptions import DataError

Missing = Literal["drop", "mean", "most_frequent", "error"]
MISSING: tuple[str, ...] = get_args(Missing)


def settle_missing(table: Table, missing: Missing, place: str) -> tuple[Table, str]:
    """Rid a table of missing entries.

    Parameters
    ----------
    table : Table
        NaN where an entry is missing.
    missing : {"drop", "mean", "most_frequent", "error"}
        What to do: leave the rows out; fill in the column's mean, or its most frequent value
        (always this in a nominal column); refuse.
    place : str
        Where the data was found, for messages.

    Returns
    -------
    table : Table
        Without NaN.
    note : str
        What was done; empty if nothing was missing.

    Raises
    ------
    DataError
        If entries are missing and `missing` is "error", or if nothing is left to keep or to
        fill in.
    """
    from scipy import sparse

    X = table.X
    if sparse.issparse(X):
        at = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        rows = np.zeros(X.shape[0], dtype=bool)
        rows[at[np.isnan(X.data)]] = True
        n_entries = int(np.isnan(X.data).sum())
    else:
        gaps = np.isnan(X)
        rows, n_entries = gaps.any(axis=1), int(gaps.sum())
    if not n_entries:
        return table, ""
    n_rows, total = int(rows.sum()), len(rows)
    found = f"{n_entries} entries in {n_rows} of {total} rows are missing"
    if missing == "error":
        raise DataError(f"{place}: {found}; load with missing='drop', 'mean' or 'most_frequent'")
    if missing == "drop":
        if n_rows == total:
            raise DataError(f"{place}: {found}; no row is left, load with missing='mean'")
        kept = ~rows
        query = None if table.query is None else table.query[kept]
        left = table._replace(X=X[kept], y=table.y[kept], query=query)
        return left, f"{n_rows} of {total} rows with missing entries were left out."
    nominal = {i for i, name in enumerate(table.feature_names) if name in table.nominal}
    filled = table._replace(X=_fill(X, missing, nominal, table.feature_names, place))
    means = "their column's mean" if missing == "mean" else "their column's most frequent value"
    return filled, f"{found} and were filled in by {means}."


def _fill(
    X: Any, missing: str, nominal: Collection[int], names: tuple[str, ...], place: str
) -> Any:
    from scipy import sparse
    from sklearn.impute import SimpleImputer

    gaps = (X != X).sum(axis=0) if sparse.issparse(X) else np.isnan(X).sum(axis=0)
    if (empty := np.flatnonzero(np.ravel(gaps) == X.shape[0])).size:
        raise DataError(f"{place}: the column {names[empty[0]]} has no entry at all")
    columns = list(range(X.shape[1]))
    groups = [
        (missing, [i for i in columns if i not in nominal]),
        ("most_frequent", [i for i in columns if i in nominal]),
    ]
    parts, order = [], []
    for strategy, members in groups:
        if not members:
            continue
        parts.append(SimpleImputer(strategy=strategy).fit_transform(X[:, members]))
        order += members
    joined = sparse.hstack(parts, format="csr") if sparse.issparse(X) else np.hstack(parts)
    return joined[:, np.argsort(order)]
