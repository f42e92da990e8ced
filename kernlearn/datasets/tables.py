"""From columns to matrices: labels, roles of columns, missing entries, points, fingerprints."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from numbers import Real
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.exceptions import DataError
from kernlearn.memory import row_blocks

if TYPE_CHECKING:
    import pandas as pd

#: The column of the names of rows, where the file gives it no name.
ROW_NAMES = "row names"
_SHOWN = 6  # names in a sentence
_LEAST_FILLED = 0.1  # share of a column's entries from which others are filled in
_ID_NAME = re.compile(
    r"(.*[\s_.-])?(id|uuid|guid)|index|idx|key|row|row[ _]?names?|unnamed: ?\d+", re.IGNORECASE
)
_CAMEL = re.compile(r".*[a-z]I[dD]")  # customerId, but not "paid"
_CONTENT_VERSION = "kernlearn content 1"
_BLOCK_ENTRIES = 1 << 20
_ENTRY = np.dtype([("column", "<i8"), ("value", "<f8")])


class Table(NamedTuple):
    """The result of a reader.

    X is a matrix of numbers, dense or CSR, or an array of objects, None where one is missing; a
    nominal column has the positions of its values in the published order. y are those of the
    labels, or numbers; rows `without_target` are left out.
    """

    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...]
    nominal: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    query: np.ndarray | None = None
    without_target: int = 0
    notes: tuple[str, ...] = ()

    def rows(self, chosen: np.ndarray) -> "Table":
        """Return some rows."""
        query = None if self.query is None else self.query[chosen]
        return self._replace(X=self.X[chosen], y=self.y[chosen], query=query)

    def with_target(self) -> "Table":
        """Return the rows that have a target, with the number of others."""
        if not (gaps := np.isnan(self.y)).any():
            return self
        return self.rows(~gaps)._replace(without_target=int(gaps.sum()))


def default_names(n_features: int) -> tuple[str, ...]:
    """Name features that have no names: x1, x2, and so on."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))


def joined(parts: Sequence[Table], place: str) -> Table:
    """Concatenate the rows of tables with the same columns."""
    first = parts[0]
    if len(parts) == 1:
        return first
    if any(part.feature_names != first.feature_names for part in parts):
        raise DataError(f"{place}: the files have other columns, or in another order")
    if hasattr(first.X, "tocsr"):
        from scipy import sparse

        X = sparse.vstack([part.X for part in parts], format="csr")
    else:
        X = np.concatenate([part.X for part in parts])
    query = None if first.query is None else np.concatenate([part.query for part in parts])
    y, n = np.concatenate([part.y for part in parts]), sum(part.without_target for part in parts)
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    return first._replace(X=X, y=y, query=query, without_target=n, notes=notes)


# Numbers and labels


def number_pattern(decimal: str = ".", thousands: str | None = None) -> str:
    """Return the regular expression of a number with these separators."""
    whole = r"\d+"
    if thousands is not None:
        mark = "[ \u00a0\u202f]" if thousands == " " else re.escape(thousands)
        whole = rf"\d{{1,3}}(?:{mark}\d{{3}})+|\d+"
    point = re.escape(decimal)
    return rf"\s*[+-]?(?:(?:{whole})(?:{point}\d*)?|{point}\d+)(?:[eE][+-]?\d+)?\s*"


_NUMBER = re.compile(number_pattern(), re.ASCII)


def are_numbers(labels: Iterable[str]) -> bool:
    """Tell whether all labels are numbers, and there are some."""
    return bool(every := list(labels)) and all(_NUMBER.fullmatch(label) for label in every)


def canonical_label(label: Any) -> str:
    """Spell a label so that ``+1``, ``1``, ``1.0`` and the number 1 are the same text."""
    text = str(label).strip()
    try:
        return str(int(text))  # of any length
    except ValueError:
        pass
    try:
        value = float(text)
        return str(int(value)) if value == int(value) else repr(value)
    except (ValueError, OverflowError):  # no number, NaN or infinite
        return text


def canonical_labels(y: np.typing.ArrayLike) -> np.ndarray:
    """Spell every label of an array, text or numbers, as :func:`canonical_label` does."""
    labels = np.asarray(y)
    if labels.dtype.kind == "b":
        labels = labels.astype(int)
    elif labels.dtype.kind == "f":
        labels = labels.astype(np.float64)  # the shortest form of a float32 is another number
    distinct, positions = np.unique(labels, return_inverse=True)
    spellings = np.array([canonical_label(label) for label in distinct], dtype=np.str_)
    return spellings[positions.reshape(-1)]


def default_order(labels: Iterable[str]) -> list[str]:
    """Sort labels as numbers if all are, else by the alphabet."""
    every = list(labels)
    return sorted(every, key=float) if are_numbers(every) else sorted(every)


def values_of(
    column: Any,
    classes: Sequence[str] | None,
    place_of: Callable[[int], str],
    what: str = ", label",
    renamed: Mapping[str, str] = MappingProxyType({}),
    suffix: str = "",
) -> np.ndarray:
    """Return a column as numbers, or as positions among classes; NaN where one is missing.

    `place_of` names a row in errors, and `what` the column. `renamed` are other spellings of
    classes, `suffix` is no part of a text.
    """
    import pandas as pd

    column = pd.Series(column)
    gaps = column.isna().to_numpy()
    if classes is None:
        expected = "a finite number"
        numbers = column if is_number_column(column) else pd.to_numeric(column, errors="coerce")
        values = numbers.to_numpy(np.float64, na_value=np.nan)
    else:
        expected = f"one of {', '.join(classes)[:200]}"
        exact = {text: float(code) for code, text in enumerate(classes)}
        alike = {canonical_label(text): code for text, code in exact.items()}
        alike |= {
            canonical_label(t): exact[label] for t, label in renamed.items() if label in exact
        }
        codes, distinct = pd.factorize(column)
        texts = [str(text).strip().removesuffix(suffix) for text in distinct]
        known = [exact.get(text, alike.get(canonical_label(text), np.nan)) for text in texts]
        values = np.array([*known, np.nan])[codes]  # -1 is missing
    if (wrong := ~np.isfinite(values) & ~gaps).any():
        row = int(wrong.argmax())
        found = str(column.iloc[row])
        raise DataError(f"{place_of(row)}{what}: found {found!r:.60}, expected {expected}")
    return values


# From a frame and the roles of its columns to a table


def column_position(place: Any, column: Any, names: Sequence[str], noun: str = "column") -> int:
    """Return the position of a column; a text that is no name may be a number."""
    if column in names:
        return list(names).index(column)
    number = column if isinstance(column, int) else whole_number(column)
    if number is None:
        shown = ", ".join(names)[:200]
        raise DataError(f"{place}: has no {noun} called {column!r:.60}; its {noun}s: {shown}")
    if not -len(names) <= number < len(names):
        extent = f"-{len(names)} to {len(names) - 1}"
        raise DataError(f"{place}: {noun} {number} requested, expected {extent}")
    return number % len(names)


def is_number_column(column: "pd.Series") -> bool:
    """Tell whether pandas has read a column as numbers, or as true and false."""
    from pandas.api import types

    return bool(types.is_bool_dtype(column) or types.is_numeric_dtype(column))


def unique_names(place: Any, frame: "pd.DataFrame") -> list[str]:
    """Return the names of the columns, which must differ."""
    names = list(map(str, frame.columns))
    if twice := [name for name in names if names.count(name) > 1]:
        raise DataError(f"{place}: two columns are called {twice[0]!r:.60}; rename one")
    return names


def frame_table(
    frame: "pd.DataFrame",
    options: Any,
    n_features: int,
    classes: tuple[str, ...] | None,
    place: Any,
    place_of: Callable[[int], str],
) -> Table:
    """Make a table of the columns of a file, by the options on its card.

    `place` names the file in errors, `place_of` a row.
    """
    import pandas as pd

    names = unique_names(place, frame)
    frame = frame.set_axis(names, axis=1)
    position = {c: column_position(place, c, names) for c in _columns_named(options)}
    if getattr(options, "one_hot", False):
        targets = list(range(len(names)))[-len(classes or ()) :]
    else:
        targets = [] if getattr(options, "blocks", None) else [position[options.target]]
    away = {*targets, *(position[c] for c in options.drop)}
    if options.points is not None:
        away = set(range(len(names))) - {position[options.points]}
    rest = [i for i in range(len(names)) if i not in away]
    if len(rest) != n_features:
        raise DataError(f"{place}: found {len(rest)} features, expected {n_features}")
    strict = not getattr(options, "allows_missing", True)
    y = _target(frame, options, classes, targets, place_of)
    if strict and np.isnan(y).any():
        row = place_of(int(np.isnan(y).argmax()))
        raise DataError(f"{row}: found no target, expected one; `missing` names such entries")
    nominal: dict[str, tuple[str, ...]] = {}
    if options.points is not None:
        X = _points(frame.iloc[:, rest[0]], options, place_of)
    else:
        X = np.empty((len(frame), len(rest)))
        for column, i in enumerate(rest):
            entries, name = frame.iloc[:, i], names[i]
            if name in options.nominal:
                nominal[name] = options.nominal[name]
            elif isinstance(entries.dtype, pd.CategoricalDtype):
                nominal[name] = tuple(map(str, entries.cat.categories))
            X[:, column] = values_of(entries, nominal.get(name), place_of, f", column {name}")
        if strict and np.isnan(X).any():
            row, column = np.argwhere(np.isnan(X))[0].tolist()
            raise DataError(
                f"{place_of(row)}, column {names[rest[column]]}: found nothing, expected an "
                "entry; `missing` names what stands for a missing one"
            )
    features = tuple(names[i] for i in rest)
    if not (getattr(options, "header", True) or options.columns):
        features = default_names(len(rest))
    notes = tuple(frame.attrs.get("notes", ()))
    return Table(X, y, features, nominal, notes=notes).with_target()


def _columns_named(options: Any) -> set[Any]:
    blocks = getattr(options, "blocks", None) or getattr(options, "one_hot", False)
    single = (options.points, None if blocks else options.target)
    return {c for c in (*single, *options.drop, *options.nominal) if c is not None}


def _target(
    frame: "pd.DataFrame",
    options: Any,
    classes: tuple[str, ...] | None,
    targets: list[int],
    place_of: Callable[[int], str],
) -> np.ndarray:
    """Return the codes or numbers of the target, NaN where it is missing."""
    if not targets:  # blocks of rows, which are counted when all files are read
        return np.zeros(len(frame))
    if len(targets) > 1:
        hot = frame.iloc[:, targets].to_numpy(np.float64)
        wrong = ~(((hot == 0) | (hot == 1)).all(axis=1) & (hot.sum(axis=1) == 1))
        if wrong.any():
            row = int(wrong.argmax())
            values = " ".join(f"{value:g}" for value in hot[row])
            raise DataError(
                f"{place_of(row)}: found {values} in the last {hot.shape[1]} columns, expected a "
                "single 1 and else 0"
            )
        return hot.argmax(axis=1).astype(np.float64)
    suffix = getattr(options, "target_suffix", "")
    column = frame.iloc[:, targets[0]]
    return values_of(column, classes, place_of, renamed=options.rename, suffix=suffix)


def _points(column: "pd.Series", options: Any, place_of: Callable[[int], str]) -> np.ndarray:
    """Return texts and arrays, or what values of JSON stand for; None where there is nothing."""
    import pandas as pd

    points: list[Any] = []
    for row, value in enumerate(column.astype(object)):
        if isinstance(value, np.ndarray):
            points.append(value)
        elif not isinstance(value, list | dict) and (pd.isna(value) or value == ""):
            points.append(None)
        elif options.kind != "jsonl":
            points.append(str(value))
        else:
            try:
                points.append(from_json(value))
            except ValueError as error:
                where = f"{place_of(row)}: {column.name}"
                raise DataError(f"{where}: expected {error}") from None
    return as_objects(points)


# Missing entries


def settle_missing(table: Table, missing: str, place: str) -> tuple[Table, list[str]]:
    """Drop, fill or refuse missing entries (NaN); return what was done in sentences."""
    if are_objects(table.X):
        return _whole_points(table, missing, place)
    notes: list[str] = []
    if missing == "category":
        table, notes = _own_category(table)
        missing = "drop"
    X = table.X
    gaps = X != X if X.dtype.kind == "f" else None  # only NaN differs from itself
    n_entries = 0 if gaps is None else int(gaps.sum())
    if gaps is None or not n_entries:
        return table, notes
    rows, by_column = np.ravel(gaps.sum(axis=1)) > 0, np.ravel(gaps.sum(axis=0))
    n_rows, total = int(rows.sum()), len(rows)
    extent = f"{counted(n_entries, 'missing entry')} in {n_rows} of {total} rows"
    emptiest = listed(
        f"{table.feature_names[i]} ({by_column[i]} of {total})"
        for i in np.argsort(-by_column, kind="stable")
        if by_column[i]
    )
    if missing == "error":
        raise DataError(f"{place}: {extent}; load with missing: drop, mean or most_frequent")
    if missing == "drop":
        if n_rows == total:
            raise DataError(
                f"{place}: {extent}; no row is left without them: missing: mean or most_frequent "
                f"fills them in, and drop leaves out columns: {emptiest}"
            )
        note = f"{n_rows} of {total} rows with missing entries were left out"
        return table.rows(~rows), [*notes, note]
    nearly = [i for i in range(len(by_column)) if by_column[i] > (1 - _LEAST_FILLED) * total]
    if nearly:
        names = ", ".join(table.feature_names[i] for i in nearly)
        raise DataError(
            f"{place}: nearly all entries are missing in {names}, too many to fill in: "
            f"`drop` leaves out columns; missing are {emptiest}"
        )
    from sklearn.impute import SimpleImputer

    nominal = [i for i, name in enumerate(table.feature_names) if name in table.nominal]
    filled = SimpleImputer(strategy=missing).fit_transform(X)
    means = f"their column's {missing.replace('_', ' ')}{' value' * (missing != 'mean')}"
    if missing == "mean" and (n_nominal := int(by_column[nominal].sum())):  # in dense data only
        codes = SimpleImputer(strategy="most_frequent").fit_transform(X[:, nominal])
        filled[:, nominal] = codes
        means += f", {n_nominal} of nominal columns by the most frequent value"
    filled = filled.tocsr() if hasattr(filled, "tocsr") else filled
    return table._replace(X=filled), [f"{extent} filled in by {means}"]


def _own_category(table: Table) -> tuple[Table, list[str]]:
    """Make missing entries of nominal columns a value of their own."""
    X, nominal, n = table.X, dict(table.nominal), 0
    for i, name in enumerate(table.feature_names):
        if name in nominal and (gaps := np.isnan(X[:, i])).any():
            X[gaps, i] = len(nominal[name])
            nominal[name] = (*nominal[name], "missing")
            n += int(gaps.sum())
    note = f"{counted(n, 'missing entry')} of nominal columns became the value `missing`"
    return table._replace(nominal=nominal), [note] if n else []


def _whole_points(table: Table, missing: str, place: str) -> tuple[Table, list[str]]:
    """Leave out rows whose point is missing, or has missing values."""
    gaps = np.array(
        [p is None or (isinstance(p, np.ndarray) and np.isnan(p).any()) for p in table.X]
    )
    n_missing = int(gaps.sum())
    if not n_missing:
        return table, []
    if missing not in ("drop", "category"):
        row = int(gaps.argmax()) + 1
        why = "missing values" if missing == "error" else "points cannot be filled in"
        raise DataError(f"{place}: row {row} has no whole point: {why}; `missing: drop`")
    if n_missing == len(gaps):
        raise DataError(f"{place}: no row is left, all have missing entries")
    note = f"{n_missing} of {len(gaps)} rows with missing entries were left out"
    return table.rows(~gaps), [note]


def one_hot(table: Table) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the matrix with a 0/1 column for each value of a nominal column, and its names."""
    columns: list[np.ndarray] = []
    names: list[str] = []
    for column, name in zip(table.X.T, table.feature_names, strict=True):
        values = table.nominal.get(name)
        columns += [column] if values is None else [column == i for i in range(len(values))]
        names += [name] if values is None else [f"{name}={value}" for value in values]
    return np.column_stack(columns), tuple(names)


# What was done


@dataclass(frozen=True)
class Preparation:
    """What loading did to the rows and columns of a data set.

    Parameters
    ----------
    rows : int
        The number of rows that were read.
    notes : tuple of str, default=()
        What was left out, filled in or assumed, in counts: a sentence each, without full stop.
    coded : dict of str to int, default={}
        Nominal columns that are the positions of their values, with their numbers of values.
    one_hot : dict of str to int, default={}
        Nominal columns that are one 0/1 column per value.
    id_like : dict of str to str, default={}
        Features that look like the number or name of a row, with the reason.

    Examples
    --------
    >>> from kernlearn.datasets import Preparation
    >>> Preparation(400, ("122 of 400 rows are left out",), one_hot={"city": 3}).sentences
    ['122 of 400 rows are left out', '1 nominal column is one-hot: city (3 values)']
    """

    rows: int
    notes: tuple[str, ...] = ()
    coded: dict[str, int] = field(default_factory=dict)
    one_hot: dict[str, int] = field(default_factory=dict)
    id_like: dict[str, str] = field(default_factory=dict)

    def noting(self, *notes: str) -> "Preparation":
        """Return it with further notes."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))))

    @property
    def plain(self) -> dict[str, Any]:
        """What was done as JSON has it; empty if nothing was."""
        done = {key: value for key, value in asdict(self).items() if key != "rows" and value}
        notes = {"notes": list(self.notes)} if self.notes else {}
        return {"rows": self.rows} | done | notes if done else {}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Preparation":
        """Read what :attr:`plain` returned."""
        return cls(**{"rows": 0, **plain, "notes": tuple(plain.get("notes", ()))})

    @property
    def sentences(self) -> list[str]:
        """What was done in words, one sentence per kind, without full stops."""
        lines = list(self.notes)
        if self.one_hot:
            verb = "is" if len(self.one_hot) == 1 else "are"
            lines.append(f"{nominal_columns(self.one_hot, f' {verb} one-hot')}")
        if self.coded:
            verb = "enters" if len(self.coded) == 1 else "enter"
            lines.append(nominal_columns(self.coded, f" {verb} as codes 0, 1, 2, …"))
        if self.id_like:
            shown = listed(f"{name} ({why})" for name, why in self.id_like.items())
            looks = "looks like an id" if len(self.id_like) == 1 else "look like ids"
            n = counted(len(self.id_like), "column")
            lines.append(f"{n} that {looks}, features unless `drop` names them: {shown}")
        return lines


def nominal_columns(columns: Mapping[str, int], what: str = "") -> str:
    """List nominal columns with their numbers of values, and what is done with them."""
    shown = listed(f"{name} ({values} values)" for name, values in columns.items())
    return f"{counted(len(columns), 'nominal column')}{what}: {shown}"


def grades_note(classes: Sequence[str]) -> str:
    """Say that nobody has given the order of grades in words."""
    return (
        f"the grades are in the order {' < '.join(classes)}, that of the alphabet; if it is "
        "wrong, give `grades` in theirs"
    )


def counted(n: int, noun: str) -> str:
    """Return a number with its noun."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{n} {noun if n == 1 else plural}"


def listed(parts: Iterable[str]) -> str:
    """List the first of some names."""
    every = list(parts)
    rest = len(every) - _SHOWN
    return ", ".join(every if rest < 2 else [*every[:_SHOWN], f"and {rest} more"])


def look_like_ids(X: Any, names: Iterable[str], nominal: Iterable[str]) -> dict[str, str]:
    """Return the dense columns of numbers that look like the number of a row, and why."""
    if not isinstance(X, np.ndarray) or len(X) < 10:  # fewer rows may differ by chance
        return {}
    names, coded, ids = tuple(names), set(nominal), {}
    for name, column in zip(names, X.T, strict=True):
        if name in coded:
            continue
        if is_id_name(name) and len(np.unique(column)) > len(column) // 2:
            ids[name] = "by its name"
        elif _numbers_rows(column, first=name == names[0]):
            ids[name] = f"{len(column)} different whole numbers"
    return ids


def is_id_name(name: str) -> bool:
    """Tell whether a column is named like the id of a row."""
    return bool(_ID_NAME.fullmatch(name.strip()) or _CAMEL.fullmatch(name.strip()))


def _numbers_rows(column: np.ndarray, first: bool) -> bool:
    """Tell whether a column has a different whole number in every row, with few gaps.

    In the `first` column of many rows they may be any.
    """
    n = len(column)
    for part in (column[:1000], column):  # most columns need no look at all rows
        if not (np.floor(part) == part).all() or len(np.unique(part)) < len(part):
            return False
    return (first and n >= 30) or float(column.max()) - float(column.min()) < 2 * n


def asymmetry(S: Any) -> float:
    """Return the largest difference of two entries (i, j) and (j, i) of a square matrix."""
    # in blocks, and as float64: integers without a sign have no negative differences
    blocks = (
        np.abs(np.asarray(S[rows], dtype=np.float64) - S.T[rows]).max()
        for rows in row_blocks(len(S), len(S))
    )
    return float(max(blocks, default=0.0))


def compares_rows(X: Any) -> str:
    """Say how a dense matrix looks like similarities or distances of its rows, or return ""."""
    n = len(X) if isinstance(X, np.ndarray) else 0
    if n < 3 or X.shape != (n, n) or not np.isfinite(X).all() or not X.any():
        return ""
    if asymmetry(X) <= 1e-9 * max(float(X.max()), -float(X.min())):
        return "symmetric"
    return "with zeros on the diagonal" if not np.diag(X).any() and (X >= 0).all() else ""


# Points that are no vectors


def as_objects(points: Iterable[Any]) -> np.ndarray:
    """Return points as an array of objects of shape (n_points,), whatever they are."""
    every = list(points)
    return np.fromiter(every, dtype=object, count=len(every))


def are_objects(X: Any) -> bool:
    """Tell whether data are an array of objects rather than a matrix."""
    return isinstance(X, np.ndarray) and X.ndim == 1


def kind_of(X: Any) -> str:
    """Say what points are, by the first: vectors, strings, series, graphs, sets or objects."""
    if not are_objects(X):
        return "vectors"
    first: Any = X[0] if len(X) else None
    if isinstance(first, str):
        return "strings"
    if isinstance(first, np.ndarray) and first.dtype.kind in "biuf":
        return "series"
    if isinstance(first, AbstractSet):
        return "sets"
    pair = isinstance(first, (tuple, list)) and len(first) in (2, 3)
    if _is_networkx(first) or (pair and all(isinstance(part, Mapping) for part in first)):
        return "graphs"
    return "objects"


def from_json(value: Any) -> Any:
    """Return the point that a value of JSON stands for.

    Text is a string; a list of numbers a series, of lists of numbers one with a channel for each;
    another list the set of its entries if these are texts. ``{"edges": [[u, v], ...], "labels":
    {u: label, ...}}`` is a graph; an edge may have a weight as third entry.

    Raises
    ------
    ValueError
        If it is none of these; the message says what was expected.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() <= {"edges", "labels"} and "edges" in value:
        return _graph(value["edges"], value.get("labels", {}))
    if isinstance(value, list) and value:
        if all(isinstance(entry, str) for entry in value):
            return frozenset(value)
        try:
            series = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            series = np.empty(0)
        if series.ndim in (1, 2) and series.size and np.isfinite(series).all():
            return series
    raise ValueError(
        'text, a list of numbers or of texts, lists of numbers of one length, or {"edges": '
        '[[u, v], ...], "labels": {u: label, ...}}'
    )


def _graph(edges: Any, labels: Any) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Return a graph as neighbours with weights, and labels of nodes; names of nodes are texts."""
    near: dict[str, dict[str, float]] = {str(node): {} for node in labels}
    for edge in edges if isinstance(edges, list) else [edges]:
        if not (isinstance(edge, list) and len(edge) in (2, 3)):
            raise ValueError("edges as [u, v] or [u, v, weight]")
        u, v, weight = str(edge[0]), str(edge[1]), float(edge[2] if len(edge) == 3 else 1.0)
        near.setdefault(u, {})[v] = near.setdefault(v, {})[u] = weight
    if not near:
        raise ValueError("a graph with a node")
    named = {str(node): label for node, label in labels.items()}
    return near, {node: named.get(node, 0) for node in near}


def content(point: Any) -> bytes:
    """Write a point as bytes that are the same for equal points.

    Whole numbers and floats, lists and tuples are alike; sets and mappings have no order.

    Raises
    ------
    ValueError
        If the point, or a part of it, is none of strings, numbers, arrays of numbers, lists, sets,
        mappings and graphs of networkx.
    """
    if isinstance(point, str):
        return _framed("s", point.encode("utf-8", "surrogatepass"))
    if point is None:
        return b"none"
    if isinstance(point, np.ndarray) and point.dtype.kind in "biuf":
        values = np.ascontiguousarray(point, dtype="<f8")
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no -0
        return _framed(f"a{values.shape}", values.tobytes())
    if isinstance(point, Real):  # NumPy's numbers too
        value = float(point)
        return _framed("n", str(int(value) if value.is_integer() else value).encode())
    if _is_networkx(point):
        nodes = {node: dict(data) for node, data in point.nodes(data=True)}
        near = {u: {v: dict(data) for v, data in to.items()} for u, to in point.adjacency()}
        return _framed("g", content([nodes, near]))
    if isinstance(point, Mapping):
        pairs = (content(key) + content(value) for key, value in point.items())
        return _framed("m", b"".join(sorted(pairs)))
    if isinstance(point, AbstractSet):
        return _framed("t", b"".join(sorted(map(content, point))))
    if isinstance(point, (Sequence, np.ndarray)):
        return _framed("l", b"".join(map(content, point)))
    raise ValueError(
        f"points must be strings, numbers, arrays, lists, sets, mappings or graphs of networkx, "
        f"not {type(point).__name__}: other points have no fingerprint"
    )


def _framed(mark: str, data: bytes) -> bytes:
    return f"{mark}{len(data)}:".encode() + data


def _is_networkx(point: Any) -> bool:
    return hasattr(point, "adjacency") and hasattr(point, "nodes")


def fingerprint(X: Any, y: np.typing.ArrayLike | None = None) -> str:
    """Hash the rows and labels of a data set.

    Each row is written as its label and its non-zero entries, (column, value) pairs of
    little-endian int64 and float64, and hashed by SHA-256; the sorted hashes are hashed
    together with the number of columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Dense and sparse, -0.0 and 0.0, and all NaNs are alike. Or an array of objects of
        shape (n_samples,), whose content is hashed: strings, arrays, sets, graphs and others.
    y : array-like of shape (n_samples,), optional
        Labels, text or numbers; ``"+1"``, ``1`` and ``1.0`` are alike.

    Returns
    -------
    str
        64 hexadecimal digits, the same for any order of the rows.

    Raises
    ------
    ValueError
        If X is not 2-D, or X and y differ in length.

    Examples
    --------
    >>> from kernlearn.datasets import fingerprint
    >>> fingerprint([[0, 1], [2, 3]], ["a", "b"]) == fingerprint([[2, 3], [0, 1]], ["b", "a"])
    True
    """
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    objects = X.ndim == 1 and X.dtype.kind in "OUS"
    if X.ndim != 2 and not objects:
        raise ValueError(f"X must have 2 dimensions, got {X.ndim}")
    n_samples, n_features = (len(X), 0) if objects else X.shape
    labels = np.zeros(n_samples, dtype="U1") if y is None else canonical_labels(y)
    if len(labels) != n_samples:
        raise ValueError(f"y must have one label per row of X, got {len(labels)} for {n_samples}")
    heads = [label.encode() + b"\0" for label in labels.tolist()]
    if objects:
        digests = [sha256(h + content(point)).digest() for h, point in zip(heads, X, strict=True)]
        title = f"{_CONTENT_VERSION} objects\n"
    else:
        digests = []
        step = max(1, _BLOCK_ENTRIES // max(1, n_features))
        for start in range(0, n_samples, step):
            digests += _hash_rows(X[start : start + step], heads[start : start + step])
        title = f"{_CONTENT_VERSION} {n_features}\n"
    return sha256(title.encode() + b"".join(sorted(digests))).hexdigest()


def _hash_rows(X: Any, heads: list[bytes]) -> list[bytes]:
    from scipy import sparse

    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    entries = np.empty(rows.nnz, dtype=_ENTRY)
    entries["column"] = rows.indices
    entries["value"] = np.where(np.isnan(rows.data), np.nan, rows.data)  # one NaN for all
    written = entries.tobytes()
    ends = (rows.indptr * _ENTRY.itemsize).tolist()
    return [
        sha256(head + written[start:end]).digest()
        for head, start, end in zip(heads, ends, ends[1:], strict=False)
    ]
