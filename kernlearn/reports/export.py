"""Every number of a store, and tables as CSV that a spreadsheet does not compute."""

import re
from collections.abc import Sequence
from typing import Any

import pandas as pd

from kernlearn.config.spec import LABELS
from kernlearn.exceptions import StoreError
from kernlearn.reports.labels import KEY, parameters_of
from kernlearn.store import Store, chosen_by_mean

#: Columns of an export: those of a cell, with split and value for its means.
EXPORTED = [*KEY, "split", "value", "n_train", "n_test", "key"]
# What a spreadsheet computes, and what is a number, perhaps with its deviation or interval.
_COMPUTED = re.compile("'*[=+\\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?( ?[±\[][\d.e +\-±,\]]*)?|[+-]?inf")


def stored_splits(store: Store, experiments: Sequence[str] = ()) -> pd.DataFrame:
    """Return every number of a store, a row per finished trial and metric.

    A trial that measured a grid of settings has the numbers of the one that is chosen over all
    splits, as in reports.

    Parameters
    ----------
    store : Store
    experiments : sequence of str
        Names of experiments; empty for all.

    Returns
    -------
    pandas.DataFrame
        With the columns :data:`EXPORTED`.

    Raises
    ------
    StoreError
        If the store has no trials of a named experiment.
    """
    rows, stored = [], chosen_by_mean({row.key: row for row in store.rows()})
    there = {row.experiment for row in stored.values()}
    for row in stored.values():
        if not row.done or (experiments and row.experiment not in experiments):
            continue
        labels = [row.experiment, *map(row.labels.get, LABELS), parameters_of(row.labels)]
        for metric, value in row.metrics.items():
            sizes = row.info.get("n_train"), row.info.get("n_test")
            rows.append([*labels, metric, row.spec["split"], value, *sizes, row.key])
    if unknown := [name for name in experiments if name not in there]:
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: "
            f"{', '.join(sorted(there)) or 'none'}"
        )
    return pd.DataFrame(rows, columns=EXPORTED)


def guarded(value: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would compute.

    What it computes may run a program. Numbers, and texts of numbers, stay as they are.

    Examples
    --------
    >>> from kernlearn.reports.export import guarded
    >>> [guarded(value) for value in ("=1+1", "-0.5", -0.5, "K")]
    ["'=1+1", '-0.5', -0.5, 'K']
    """
    if isinstance(value, str) and _COMPUTED.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Return a table as CSV, its texts and heads guarded; options are those of ``to_csv``."""
    shown = frame.copy()
    for i, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            values = [guarded(value) for value in frame.iloc[:, i]]
            # a column of objects stays one, so that its numbers are written as before
            shown.isetitem(i, pd.Series(values, dtype=object).to_numpy())
    shown.columns = [guarded(name) for name in frame.columns]
    return str(shown.to_csv(index=False, **options))
