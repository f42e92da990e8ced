"""What is made of a table that was read: checks against the card, and the arrays returned."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from kernlearn.checks import whole_number
from kernlearn.datasets import room
from kernlearn.datasets.cache import Contents, fingerprint
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.files import Found
from kernlearn.datasets.formats import Expected, Missing, Table
from kernlearn.datasets.missing import settle_missing
from kernlearn.datasets.objects import are_objects
from kernlearn.datasets.preparation import Preparation, asymmetry, compares_rows, look_like_ids
from kernlearn.datasets.text import canonical_labels, column_position
from kernlearn.datasets.unpacking import clear_errors
from kernlearn.exceptions import DataError

Nominal = Literal["ordinal", "onehot"]


class Wanted(NamedTuple):
    """How the features are to be returned; see :func:`~kernlearn.datasets.load`."""

    nominal: Nominal
    missing: Missing
    dtype: "np.dtype[Any] | None"
    drop: tuple[int | str, ...] = ()
    dense: bool = False

    @property
    def plain(self) -> dict[str, Any]:
        """The options as JSON has them."""
        dtype = None if self.dtype is None else self.dtype.str
        return {**self._asdict(), "dtype": dtype, "drop": list(self.drop)}


@clear_errors()
def read(found: Found) -> Table:
    """Read the files of a data set, and compare their content with the card."""
    card, form = found.card, found.form
    place = found.place
    table = form.format.read(found.paths, Expected(card.n_features, card.classes))
    n_rows, n_features = (len(table.X), 1) if are_objects(table.X) else table.X.shape
    if form.rows is not None and n_rows != form.rows:
        raise DataError(f"{place}: found {n_rows} rows, expected {form.rows} ({card.name})")
    if n_features != card.n_features:
        raise DataError(f"{place}: found {n_features} features, expected {card.n_features}")
    if card.task == "similarity" and n_rows != n_features:
        raise DataError(f"{place}: found a {n_rows} x {n_features} matrix, expected a square one")
    if card.task == "ranking" and table.query is None:
        raise DataError(f"{place}: found no query ids, expected one per row")
    if form.classes is not None:
        counts = np.bincount(table.y.astype(np.int64), minlength=len(form.classes))
        for (label, expected), count in zip(form.classes.items(), counts.tolist(), strict=True):
            if count != expected:
                raise DataError(f"{place}: found {count} rows of {label}, expected {expected}")
    return table


@clear_errors()
def encode(found: Found, table: Table, wanted: Wanted) -> Contents:
    """Make the arrays that are returned, and a record of what was done."""
    card, form = found.card, found.form
    if are_objects(table.X):
        return _encode_objects(found, table, wanted)
    done = Preparation(
        len(table.y),
        left_out=_left_out(found, table, wanted.drop),
        remarks=_remarks(card, form, table),
    )
    table = _without(found, table, wanted.drop)
    n_gaps, n_rows = _count_gaps(table.X)
    table, note = settle_missing(table, wanted.missing, found.place)
    if n_gaps and wanted.missing == "drop":
        done = replace(done, rows_dropped=n_rows)
    elif n_gaps:
        done = replace(done, rows_filled=n_rows, entries_filled=n_gaps, filled_by=wanted.missing)
    ids = (
        {}
        if card.task == "similarity"
        else look_like_ids(table.X, table.feature_names, table.nominal)
    )
    values = {
        name: len(table.nominal[name]) for name in table.feature_names if name in table.nominal
    }
    one_hot = wanted.nominal == "onehot"
    done = replace(
        done,
        id_like=ids,
        coded={} if one_hot else values,
        one_hot=values if one_hot else {},
        grades=_unordered(card, form),
    )
    X, names = table.X, table.feature_names
    if one_hot and values:
        width = sum(values.get(name, 1) for name in names)
        what = f"{len(X)} rows of {width} columns, one per nominal value,"
        room.require_room(found.place, 16 * len(X) * width, what, advice="drop columns")
        X, names = _one_hot(table)
    if wanted.dense and hasattr(X, "toarray"):
        room.require_room(
            found.place,
            X.shape[0] * X.shape[1] * X.dtype.itemsize,
            f"{X.shape[0]} dense rows of {X.shape[1]} columns",
            advice="leave out `dense`",
        )
        X = X.toarray()
    if wanted.dtype is not None and X.dtype != wanted.dtype:
        if not hasattr(X, "tocsr"):
            what = f"{X.shape[0]} rows of {X.shape[1]} columns as {wanted.dtype}"
            room.require_room(found.place, X.size * wanted.dtype.itemsize, what)
        X = X.astype(wanted.dtype)
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X)
    if card.task == "similarity":
        done = replace(done, asymmetry=asymmetry(X))
    target, labels = _target(card, table)
    labelled = target if not labels.size else labels[target]
    if table.query is not None:
        pairs = zip(canonical_labels(labelled), table.query.tolist(), strict=True)
        labelled = np.array([f"{label} qid:{query}" for label, query in pairs])
    return Contents(
        X,
        target,
        labels,
        np.array(names, dtype=np.str_),
        fingerprint(X, labelled),
        table.query,
        note,
        json.dumps(done.plain),
    )


def _count_gaps(X: Any) -> tuple[int, int]:
    """Count the missing entries, and the rows that have some."""
    if X.dtype.kind != "f":
        return 0, 0
    gaps = X != X  # only NaN differs from itself
    return int(gaps.sum()), int((np.ravel(gaps.sum(axis=1)) > 0).sum())


def _encode_objects(found: Found, table: Table, wanted: Wanted) -> Contents:
    """Make the arrays of a data set whose points are no vectors."""
    if wanted.drop:
        raise DataError(f"{found.place}: drop: the points have no features")
    missing = np.array([point is None or _has_gaps(point) for point in table.X], dtype=bool)
    n_missing = int(missing.sum())
    if n_missing and wanted.missing != "drop":
        row = int(missing.argmax()) + 1
        why = "missing values" if wanted.missing == "error" else "points cannot be filled in"
        raise DataError(f"{found.place}: row {row} has no whole point: {why}; `missing: drop`")
    X, y = table.X[~missing], table.y[~missing]
    if not len(X):
        raise DataError(f"{found.place}: no row is left, all have missing entries")
    done = Preparation(
        len(table.y),
        rows_dropped=n_missing,
        left_out={**found.form.left_out, **_left_out(found, table, ())},
        grades=_unordered(found.card, found.form),
        remarks=_encoding_remarks(found.form),
    )
    target, labels = _target(found.card, table._replace(y=y))
    labelled = target if not labels.size else labels[target]
    note = ""
    if n_missing:
        note = f"{n_missing} of {len(table.y)} rows with missing entries were left out."
    names = np.array((), dtype=np.str_)
    return Contents(
        X, target, labels, names, fingerprint(X, labelled), None, note, json.dumps(done.plain)
    )


def _has_gaps(point: Any) -> bool:
    return isinstance(point, np.ndarray) and bool(np.isnan(point).any())


def _encoding_remarks(form: Form) -> tuple[str, ...]:
    encoding = getattr(form.format, "encoding", "utf-8")
    return (f"the text is read as {encoding}, not UTF-8",) if encoding != "utf-8" else ()


def _unordered(card: Card, form: Form) -> tuple[str, ...]:
    """Return the grades of an ordinal target if nobody has given their order."""
    return card.classes or () if card.task == "ordinal" and form.order == "alphabet" else ()


def _one_hot(table: Table) -> tuple[np.ndarray, tuple[str, ...]]:
    columns: list[np.ndarray] = []
    names: tuple[str, ...] = ()
    for column, name in zip(table.X.T, table.feature_names, strict=True):
        values = table.nominal.get(name)
        columns += [column] if values is None else [column == i for i in range(len(values))]
        names += (name,) if values is None else tuple(f"{name}={value}" for value in values)
    return np.column_stack(columns), names


def _left_out(found: Found, table: Table, drop: Sequence[int | str]) -> dict[str, str]:
    """Return the columns that are left out, with the reasons that the card gives."""
    form = found.form
    of_format = [
        column if isinstance(column, str) else f"column {column}"
        for column in getattr(form.format, "drop", ())
    ]
    positions = _positions(found, table, drop)
    dropped = [*of_format, *(table.feature_names[i] for i in positions)]
    return {name: form.left_out.get(name, "") for name in dropped}


def _positions(found: Found, table: Table, drop: Sequence[int | str]) -> list[int]:
    names = table.feature_names
    place = found.paths[0] if found.paths else Path(found.card.name)
    numbers = [None if c in names else whole_number(c) for c in drop]
    wanted = [c if n is None else n for c, n in zip(drop, numbers, strict=True)]
    return sorted({column_position(place, c, names, len(names), "feature") for c in wanted})


def _without(found: Found, table: Table, drop: Sequence[int | str]) -> Table:
    """Leave out features of any format."""
    if not drop:
        return table
    if found.card.task == "similarity":
        raise DataError(f"{found.place}: drop: a matrix of similarities has no features")
    away = set(_positions(found, table, drop))
    kept = [i for i in range(len(table.feature_names)) if i not in away]
    if not kept:
        raise DataError(f"{found.place}: drop: no feature is left")
    return table._replace(
        X=table.X[:, kept], feature_names=tuple(table.feature_names[i] for i in kept)
    )


def _remarks(card: Card, form: Form, table: Table) -> tuple[str, ...]:
    """Notice text that is not UTF-8, and a matrix of similarities that is read as features."""
    read = _encoding_remarks(form)
    if card.task == "similarity" or not (kind := compares_rows(table.X)):
        return read
    n = len(table.X)
    square = f"symmetric {n} x {n} matrix" if kind == "symmetric" else f"{n} x {n} matrix {kind}"
    return (
        *read,
        f"the features are a {square}: if it compares the rows, say so (`matrix: similarity` or "
        "`matrix: distance` with a file, `kernlearn datasets add --task similarity`)",
    )


def _target(card: Card, table: Table) -> "tuple[np.ndarray, np.ndarray]":
    if card.classes is not None:
        return table.y.astype(np.int64), np.array(card.classes, dtype=np.str_)
    if card.task != "similarity":
        return table.y, np.array((), dtype=np.str_)
    # classes that the card does not list, in the order of their numbers
    distinct, codes = np.unique(table.y, return_inverse=True)
    return codes.astype(np.int64), canonical_labels(distinct)
