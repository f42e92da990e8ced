"""The roles of the columns of a user's table, guessed from their entries."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import text
from kernlearn.datasets.file_options import Column, FileOptions, Guess
from kernlearn.datasets.preparation import compares_rows
from kernlearn.exceptions import DataError

#: With more distinct values, text is no nominal column and numbers are no classes.
MANY = 200
_FEW = 20
_SHOWN = 5
#: Names of columns that are taken to be the target.
TARGETS = {"target", "class", "label", "y", "outcome"}
_MISSING = {"?", "", "NA", "N/A", "na", "NaN", "nan", "null", "NULL"}
#: Missing entries of a column of text, in which NA may be a value.
SURELY_MISSING = {"?", ""}
_NAMELESS = re.compile(r"x[1-9]\d{0,17}")
_TIME = r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d\d:?\d\d)?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d\d)|"
    r"\d{1,2}\.?[ -][A-Za-z]{3,9}\.?[ -]\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{4}-\d\d"
)
_DATE = re.compile(rf"({_DAY})([ T]{_TIME})?|{_TIME}")


class Entries:
    """The entries of a column: their counts, which are missing, whether the others are numbers.

    `order` are the values of an ordered categorical column.
    """

    def __init__(
        self, name: str, entries: Sequence[str], order: Sequence[str] | None = None
    ) -> None:
        self.name, self.counts, self.order = name, Counter(entries), order
        self.n_entries, self.n_different = len(entries), len(self.counts)
        self._entries = entries
        texts = {entry for entry in self.counts if not is_number(entry)}
        self.numeric = texts <= _MISSING and len(texts) < len(self.counts)
        self.missing = texts & (_MISSING if self.numeric else SURELY_MISSING)

    @property
    def numbers(self) -> Sequence[float] | np.ndarray:
        """The entries as numbers, if all are."""
        return [text.number(entry) for entry in self._entries]

    @cached_property
    def dates(self) -> str:
        """What kind of dates the entries are; empty if they are none."""
        held = [entry for entry in self._entries if entry not in self.missing]
        if self.numeric or not held or not all(map(_DATE.fullmatch, held)):
            return ""
        in_order = all(a <= b for a, b in pairwise(held)) and self.n_different > 2
        order = ", in ascending order: random splits mix past and future" if in_order else ""
        return f"dates, such as {held[0]}{order}"

    def labels(self) -> dict[str, int] | None:
        """Return the values in order with their counts; None if there are too many."""
        if self.n_different > MANY:
            return None
        labels: Counter[str] = Counter()
        for entry, count in self.counts.items():
            if entry not in self.missing:
                labels[text.canonical_label(entry)] += count
        if self.order is not None:
            given = [text.canonical_label(value) for value in self.order]
            return {value: labels[value] for value in given if value in labels}
        return dict(sorted(labels.items(), key=lambda x: float(x[0]) if self.numeric else x[0]))


class NumberEntries(Entries):
    """The entries of a column of numbers, of which many different ones are not counted each.

    `values` are float64, and anything where `missing`.
    """

    dates = ""

    def __init__(self, name: str, values: np.ndarray, missing: np.ndarray) -> None:
        different, times = np.unique(values[~missing], return_counts=True)
        n_missing = int(missing.sum())
        self.name, self.order, self.n_entries = name, None, len(values)
        self.n_different = len(different) + (n_missing > 0)
        few = zip(different.tolist(), times.tolist(), strict=True) if len(times) <= MANY else ()
        self.counts = Counter({text.canonical_label(value): n for value, n in few})
        if n_missing:
            self.counts[""] = n_missing
        self.numeric, self.missing = len(different) > 0, {""} if n_missing else set()
        self._values = values

    @property
    def numbers(self) -> np.ndarray:
        return self._values


def guess_columns(
    path: Path,
    columns: list[Entries],
    header: Sequence[str],
    given: FileOptions,
    options: dict[str, Any],
    remarks: list[str],
    null: str | None = None,
) -> Guess:
    """Choose the role of each column from its entries.

    `null` is how an entry is given here that the format itself knows to be missing.
    """
    drop = {position(path, column, header, len(columns)) for column in given.drop}
    points = None
    if given.points is not None:
        points = position(path, given.points, header, len(columns))
    taken = drop if points is None else {*drop, points}
    target, remark = _choose_target(path, given.target, header, len(columns), taken)
    remarks.append(remark)
    chosen = columns[target]
    if target in drop:
        raise DataError(f"{path}: column {chosen.name} is the target; it cannot be dropped too")
    if points is not None:
        if options["kind"] not in ("delimited", "excel"):
            raise DataError(
                f"{path}: points: is for text in columns, sheets, lines of JSON and series"
            )
        if points == target or points in drop:
            what = "the target" if points == target else "dropped"
            raise DataError(
                f"{path}: column {columns[points].name} holds the points; it is {what}"
            )
        drop = set(range(len(columns))) - {points, target}
        n = columns[points].n_different
        texts = "text" if n == 1 else "different texts"
        remarks.append(f"the points are the texts of column {columns[points].name}: {n} {texts}")
    if not header and given.target is None and (other := _other_targets(columns, target)):
        remarks.append(other)
    if given.target is None:
        _refuse_matrix(path, columns, target, given)
    if chosen.dates:
        raise DataError(
            f"{path}: the target, column {chosen.name}, holds {chosen.dates}: name another by "
            "target, or make numbers or classes of them"
        )
    left_out: dict[str, str] = {}
    nominal: dict[str, list[str]] = {}
    missing: set[str] = set()
    for i, column in enumerate(columns):
        if i in (target, points) or i in drop:
            continue
        missing |= column.missing
        if column.numeric:
            continue
        if column.dates:
            drop.add(i)
            left_out[column.name] = column.dates
            remarks.append(f"column {column.name} is left out: {column.dates}")
            continue
        values = column.labels()
        if not values or len(values) > max(20, chosen.n_entries // 2):
            drop.add(i)
            reason = "it has no entries" if values == {} else "text with too many values"
            remarks.append(f"column {column.name} is left out: {reason}")
            n = column.n_different
            left_out[column.name] = reason if values == {} else f"text with {n} values"
            continue
        nominal[column.name] = list(values)
        some = listed(values)
        order = ", in this order" if column.order is not None else ""
        remarks.append(f"column {column.name} is nominal: {some}{order}")
    if null is not None:
        missing.discard(null)
    if len(missing) > 1:
        raise DataError(
            f"{path}: {' and '.join(map(repr, sorted(missing)))} both stand for missing entries; "
            "use only one of them"
        )
    if absent := sum(chosen.counts[entry] for entry in chosen.missing):
        total = chosen.n_entries
        raise DataError(
            f"{path}: {remark}, and missing in {absent} of {total} rows: name another by target, "
            f"or remove these rows{_other_targets(columns, target, '; ')}"
        )
    if missing:
        options["missing"] = missing.pop()
        remarks.append(f"{options['missing']!r} stands for a missing entry")
    names = {column.name: column.name for column in columns}
    if not header:
        names = {name: f"x{i + 1}" for i, name in enumerate(names)} | {chosen.name: "target"}
        options["columns"] = list(names.values())
    options["target"] = names[chosen.name]
    if points is not None:
        options["points"] = names[columns[points].name]
    options["drop"] = [names[columns[i].name] for i in sorted(drop)]
    options["nominal"] = {names[name]: values for name, values in nominal.items()}
    n_features = len(columns) - 1 - len(drop)
    if n_features < 1:
        why = "; ".join(f"{name} is left out: {reason}" for name, reason in left_out.items())
        texts = next((c.name for c in columns if left_out.get(c.name, "").startswith("text")), "")
        hint = f"; `points: {names[texts]}` takes its texts as strings to compare" if texts else ""
        why = f" ({why})" if why else ""
        raise DataError(f"{path}: no column is left as a feature{why}{hint}")
    return Guess(
        options,
        n_features,
        chosen.labels(),
        chosen.numeric,
        remarks,
        ordered=chosen.order is not None,
        ordinal=chosen.order is not None,
        left_out={names[name]: reason for name, reason in left_out.items()},
    )


def is_number(entry: str) -> bool:
    """Tell whether an entry is a finite decimal number."""
    with suppress(ValueError):
        text.number(entry)
        return True
    return False


def position(path: Path, column: Column, names: Sequence[str], width: int) -> int:
    """Return the position of a column; text that is no name may be a number.

    Without names the columns are x1, x2, and so on.
    """
    if column not in names and (number := whole_number(column)) is not None:
        column = number
    if isinstance(column, str) and not names and _NAMELESS.fullmatch(column):
        column = int(column[1:]) - 1
    return text.column_position(path, column, names, width)


def _choose_target(
    path: Path, target: Column | None, names: Sequence[str], width: int, drop: Collection[int]
) -> tuple[int, str]:
    """Return the position of the target, and a remark on how it was chosen."""
    if target is not None:
        chosen = position(path, target, names, width)
        return chosen, f"the target is column {names[chosen] if names else chosen}"
    for i, name in enumerate(names):
        if name.lower() in TARGETS and i not in drop:
            return i, f"the target is column {name}, by its name"
    last = max((i for i in range(width) if i not in drop), default=width - 1)
    which = "the last column" if last == width - 1 else "the last column that is not dropped"
    return last, f"the target is {which}{f', {names[last]}' if names else ''}"


def _refuse_matrix(
    path: Path, columns: Sequence[Entries], target: int, given: FileOptions
) -> None:
    """Refuse a matrix of similarities or distances whose last column would be the target."""
    n_rows = columns[0].n_entries
    numbers = [column for column in columns if column.numeric and not column.missing]
    if columns[target] not in numbers or len(numbers) != n_rows:
        return
    if form := compares_rows(np.array([column.numbers for column in numbers]).T):
        as_matrix = "" if given.task == "similarity" or given.matrix else "--task similarity "
        raise DataError(
            f"{path}: a {n_rows} x {n_rows} matrix, {form}, and no column of labels: give them "
            f"in a file of their own (`kernlearn datasets add {as_matrix}--labels FILE`); or name "
            "the target if the columns are features"
        )


def listed(values: Collection[str]) -> str:
    """List the first of some values, in quotes if they have commas."""
    shown = [f'"{value}"' if "," in value else value for value in list(values)[:_SHOWN]]
    return ", ".join([*shown, "…"] if len(values) > _SHOWN else shown)


def _other_targets(columns: Sequence[Entries], target: int, before: str = "") -> str:
    """Name columns of text that could be the target, if the one chosen is of numbers."""
    if not columns[target].numeric or columns[target].n_different <= _FEW:
        return ""
    few = {i: c.labels() or {} for i, c in enumerate(columns) if not c.numeric}
    named = [f"{i} ({', '.join(values)})" for i, values in few.items() if 2 <= len(values) <= _FEW]
    return f"{before}the target could also be column {' or '.join(named)}" if named else ""
