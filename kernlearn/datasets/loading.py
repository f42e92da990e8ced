"""Loading data sets: files are found, read, compared with the card, and made arrays."""

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kernlearn.checks import counted, listed
from kernlearn.datasets.card import (
    OF_FILE,
    Card,
    Column,
    Missing,
    Reading,
    TableOptions,
    Task,
    read_card,
)
from kernlearn.datasets.files import (
    Found,
    catalogue,
    file_bytes,
    find_card,
    locate,
    missing_message,
)
from kernlearn.datasets.groups import ids_and_groups
from kernlearn.datasets.guessing import REORDERED, card_of_file
from kernlearn.datasets.matrices import as_matrix, complete_pairs
from kernlearn.datasets.readers import read
from kernlearn.datasets.tables import (
    Preparation,
    Table,
    are_objects,
    canonical_labels,
    column_position,
    fingerprint,
    grades_notes,
)
from kernlearn.exceptions import DataError, writing

if TYPE_CHECKING:
    from kernlearn.datasets.columns import ColumnEncoder
    from kernlearn.datasets.data import Data

Nominal = Literal["ordinal", "onehot"]
Name = str | os.PathLike[str] | Card | Found
_LEAST_FILLED = 0.1  # share of a column's entries from which others are filled in
_DENSE_FROM = 0.2  # share of entries that are not zero


def load(
    name: Name,
    *,
    target: Column | None = None,
    task: Task | None = None,
    grades: Sequence[str] | None = None,
    drop: Sequence[Column] = (),
    groups: Column | None = None,
    time: Column | None = None,
    sheet: int | str | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    labels: str | os.PathLike[str] | None = None,
    points: Column | None = None,
    read_as: Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing | None = None,
    dense: bool = False,
    frame: bool = False,
) -> "Data":
    """Load a data set.

    Parameters
    ----------
    name : str, path-like, Card or Found
        A name in the :func:`catalogue`, or of a card in a folder of :func:`search_path`. Or the
        path of a data file, of a folder of LETOR (``Fold1/test.txt``, …), or of a card (``.yaml``)
        with its data next to it. Or a card, or the result of :func:`locate`.
    target : int or str, optional
        For the path of a data file, the column to predict by name or position; by default one
        called target, class, label, outcome or y, in this order, else the last.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}, optional
        For the path of a data file, what the target is. By default regression for numbers, unless
        they are at most 20 whole ones, else classification.
    grades : sequence of str, optional
        For the path of a data file, the labels in their order. By default the order of the file
        if it has one, else numbers in theirs and texts in that of the alphabet, which
        ``preparation`` then says.
    drop : sequence of int or str, default=()
        Columns of a data file that are no features, or features of a card that are left out.
    groups : int or str, optional
        The column whose equal values mark rows that belong together; it is no feature.
    time : int or str, optional
        The column with the time of each row, numbers or dates; it is no feature.
    sheet : int or str, optional
        For the path of an Excel file, the sheet by position or name; of several, one must be
        named.
    matrix : {"similarity", "distance"}, optional
        For the path of a data file that is a square matrix with a column or array of labels:
        what its entries are.
    labels : path-like, optional
        A file with the labels of the points of a matrix, by the names of its rows, or of arrays
        in their order; `target` names their column.
    points : int or str, optional
        The column whose texts are the points themselves, for the path of a file of text in
        columns, a sheet or lines of JSON (also of series, sets and graphs). Other columns but the
        target are left out. ``"series"`` takes the series of a file ``.ts`` as they are, of any
        lengths and numbers of channels.
    read_as : mapping, default=()
        For the path of a file of text in columns, how it reads where that is not plain. The keys
        are those of a card: ``delimiter``, ``header``, ``decimal``, ``thousands``, ``comment``,
        ``quote``, ``skip``, ``encoding``, ``missing`` and ``text``. The last two are for other
        tables too.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes the positions of its values in the published order, or one
        0/1 column per value. Distances between positions of values without an order mean nothing.
    missing : {"drop", "impute", "mean", "most_frequent", "category", "error"}, optional
        What happens to missing entries. "drop" leaves out their rows. "impute" keeps them, as NaN
        in ``data``: experiments fill them in within each split, and leave out points to compare
        that are missing. Of a matrix "drop" leaves out points that lack pairs, "impute" those that
        lack more than half of theirs; it takes no other. "mean" and "most_frequent"
        fill in that value of the column over all rows, in nominal columns always the most
        frequent. "category" makes them a value of their own in nominal columns, and leaves out
        rows with others. By default as the card says, else "drop". ``preparation`` says what was
        done.
    dense : bool, default=False
        Whether a sparse matrix is made a dense one.
    frame : bool, default=False
        Whether to return the features as a pandas frame, too.

    Returns
    -------
    sklearn.utils.Bunch
        With these fields, of which those that do not apply are None.

        data : ndarray or CSR matrix of shape (n_samples, n_features)
            The features; CSR for sparse files of which less than 20 % is not zero. For a
            similarity matrix its entries, with n_features = n_samples. An array of objects of
            shape (n_samples,) if the points are strings, series or other objects.
        target : ndarray of shape (n_samples,)
            Codes 0, …, k - 1 of the labels (int64), or numbers (float64). The codes of
            ordinal and ranking data are in the order of the grades.
        target_names : ndarray of str, shape (k,)
            The labels in the order of their codes; empty if the target is a number.
        feature_names : ndarray of str, shape (n_features,)
            The names of the columns.
        query : ndarray of shape (n_samples,)
            The query of each row (int64); only for ranking.
        fold : ndarray of shape (n_samples,)
            The published fold of each row, from 0; only if the card has folds and all rows
            are kept.
        groups : ndarray of shape (n_samples,)
            The group of each row (int64); only if asked for.
        time : ndarray of shape (n_samples,)
            The time of each row, as numbers that order the rows; only if asked for.
        columns : ColumnEncoder
            How the columns of a table are encoded: a transformer for frames of new rows.
        frame : pandas.DataFrame
            The features with their names, nominal columns as categories, and missing entries in
            place; only if asked for.
        similarity : {"similarity", "distance"}
            The meaning of the matrix's entries; only for similarity matrices.
        card : Card
            The data set's card.
        found : Found
            Its files, and the form of the card in which they were found.
        fingerprint : str
            :func:`fingerprint` of ``data`` and the labels, if the card states one to compare it
            with; for ranking a label is written as ``"label qid:query"``.
        sample : bool
            Whether this is only a sample of the published data.
        note : str
            A remark for reports on this data; may be empty.
        preparation : Preparation
            What was dropped, coded or filled in, in counts and as sentences; see
            :class:`~kernlearn.datasets.Preparation`.

    Raises
    ------
    DataError
        If the name is unknown, files are missing or damaged, their content is not that of the
        card, or another argument is not one of those allowed.

    Examples
    --------
    >>> from kernlearn.datasets import load
    >>> wine = load("wine")
    >>> wine.data.shape, wine.target_names.tolist()
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    from sklearn.base import clone

    from kernlearn.datasets.data import Data

    of_file: dict[str, Any] = {"target": target, "grades": grades, "sheet": sheet}
    of_file |= {"matrix": matrix, "points": points, "read_as": dict(read_as)}
    of_file["labels"] = labels and os.fspath(labels)
    how: dict[str, Any] = {"drop": drop, "nominal": nominal, "missing": missing, "dense": dense}
    marks = {k: one for k, one in (("groups", groups), ("time", time)) if one is not None}
    asked = Reading.of(**of_file, **how, **marks)
    found = find(name, data_dir, asked, task)
    card, form, place = found.card, found.form, found.place
    if card.similarity is not None and missing not in (None, "drop", "impute"):
        text = "is for columns; of a matrix, `drop` leaves out points, `impute` fills pairs in"
        raise DataError(f"{place}: missing: {missing} {text}")
    by_default, drop = card.missing or "drop", asked.drop
    missing = missing or by_default
    table, sizes = _read(found)
    left_out = () if is_file(name) else [one for one in drop if one not in marks.values()]
    table = _without_columns(found, _marked(table, marks, place), left_out)
    n_notes = len(table.done.notes)
    if card.similarity is None:
        table = _settled(table, missing, place)
    else:
        table = complete_pairs(table, missing, place, card.similarity)
    filled = table.done.notes[n_notes:]
    table = table.noting(*_text_notes(table))
    if frame and (are_objects(table.X) or hasattr(table.X, "tocsr") or card.similarity):
        raise DataError(f"{place}: columns: raw is for tables of dense columns")
    columns, raw = None, None
    if not (are_objects(table.X) or hasattr(table.X, "tocsr") or card.similarity):
        columns = _columns(table, nominal, missing, form.format)
        if frame:
            raw = clone(columns).set_params(encoding="raw").encoded(table.X, table.texts)
    if card.similarity is None:
        table = _as_features(table, columns)
    else:
        table = as_matrix(table, card.similarity, place)
    X = table.X.toarray() if dense and hasattr(table.X, "toarray") else table.X
    if isinstance(X, np.ndarray) and not are_objects(X):
        X = np.ascontiguousarray(X, dtype=np.float64)
    codes, classes = _target(card, table)
    if len(codes) < table.done.rows:
        table = table.noting(*_lost_classes(codes, classes))
    remarks = [form.note, *(f"{sentence}." for sentence in filled)]
    content, as_published = "", nominal == "ordinal" and missing == by_default and not drop
    if as_published and form.fingerprint is not None:
        content = _fingerprint(X, codes, classes, table.query)
        if content != form.fingerprint:
            expected = form.fingerprint[:12]
            remarks.append(f"The content ({content[:12]}) differs from the card's ({expected}).")
    folds = sizes if form.folds == "files" else form.folds
    kept = folds and len(codes) == sum(folds)
    return Data(
        X,
        codes,
        classes,
        () if are_objects(X) else table.feature_names,
        fold=_published_folds(card.name, folds, table.query) if kept else None,
        query=table.query if card.task == "ranking" else None,
        groups=table.groups,
        time=table.time,
        frame=raw,
        columns=columns,
        similarity=card.similarity,
        fingerprint=content,
        preparation=table.done,
        card=card,
        found=found._replace(contents=()),
        sample=form.sample,
        note=" ".join(filter(None, remarks)),
    )


# Finding


def is_file(name: Any) -> bool:
    """Tell whether a data set is stated by the path of a data file, rather than by a card."""
    return _is_path(name) and Path(name).suffix not in (".yaml", ".yml")


def _is_path(name: Any) -> bool:
    return isinstance(name, os.PathLike) or (isinstance(name, str) and not name.isidentifier())


def find(
    name: Name,
    data_dir: str | os.PathLike[str] | None = None,
    asked: Reading | None = None,
    task: str | None = None,
) -> Found:
    """Find the files of a data set, stated as for :func:`load`; raise a DataError if missing."""
    asked = asked or Reading()
    if is_file(name):
        return card_of_file(Path(name), asked, task)  # type: ignore[arg-type]
    stated = {"task": task, **{key: getattr(asked, key) for key in OF_FILE}}
    if named := [key for key, value in stated.items() if value not in (None, {})]:
        raise DataError(f"{named[0]} is for the path of a data file; a card names its own")
    if _is_path(name):
        name, data_dir = read_card(Path(name)), Path(name).parent  # type: ignore[arg-type]
    if isinstance(name, Found):
        return name
    if not isinstance(name, (str, Card)):
        raise DataError(f"expected the name or path of a data set, got a {type(name).__name__}")
    card = name if isinstance(name, Card) else find_card(name, data_dir)
    if (found := locate(card, data_dir)) is None:
        raise DataError(missing_message([card], data_dir))
    return found


def card_preparation(found: Found, nominal: Nominal, drop: Sequence[Column]) -> Preparation:
    """Return what loading does to a data set without missing entries, by its card alone."""
    nominal_columns = getattr(found.form.format, "nominal", {})
    values = {name: len(values) for name, values in nominal_columns.items() if name not in drop}
    encoded: dict[str, Any] = {"one_hot" if nominal == "onehot" else "coded": values}
    return Preparation(found.form.rows or 0, **encoded)


# Steps of load


def _read(found: Found) -> tuple[Table, list[int]]:
    """Read the files of a data set, and compare their content with the card.

    Return the rows that have a target, and the number of rows in each file.
    """
    card, form, place = found.card, found.form, found.place
    parts = read(found.paths, form.format, card.n_features, card.classes, found.contents)
    table = _joined(parts, place)
    table = table._replace(**found.marks)
    lacks = np.isnan(table.y)
    table = table.rows(~lacks) if lacks.any() else table
    n_rows, n_features = len(table.y), 1 if are_objects(table.X) else table.X.shape[1]
    if form.rows is not None and n_rows != form.rows:
        raise DataError(f"{place}: found {n_rows} rows, expected {form.rows} ({card.name})")
    if n_features != card.n_features:
        raise DataError(f"{place}: found {n_features} features, expected {card.n_features}")
    if card.task == "similarity":
        if len(lacks) != n_features:
            size = f"{len(lacks)} rows and {n_features} columns"
            raise DataError(f"{place}: the matrix has {size}: write one of each for every point")
        table = table.columns(np.flatnonzero(~lacks)) if lacks.any() else table
    if card.task == "ranking" and table.query is None:
        raise DataError(f"{place}: found no query ids, expected one per row")
    if form.classes is not None:
        counts = np.bincount(table.y.astype(np.int64), minlength=len(form.classes)).tolist()
        for (label, expected), count in zip(form.classes.items(), counts, strict=True):
            if count != expected:
                raise DataError(f"{place}: found {count} rows of {label}, expected {expected}")
    done = Preparation(len(lacks), found.notes, shared={**found.shared})
    if n := int(lacks.sum()):
        done = done.noting(f"{n} of {len(lacks)} rows without a target were left out")
    if table.gaps:
        stated = getattr(form.format, "missing", ()) or form.format.kind != "delimited"
        way = "" if stated else "; `read_as.standard_missing: false` takes texts as they are"
        done = done.noting(f"taken as missing: {listed(table.gaps)}{way}")
    return table._replace(done=done), [len(part.y) for part in parts]


def _joined(parts: Sequence[Table], place: str) -> Table:
    """Concatenate the rows of tables with the same columns."""
    import pandas as pd

    first = parts[0]
    if len(parts) == 1:
        return first
    if any(part.feature_names != first.feature_names for part in parts):
        raise DataError(f"{place}: the files have other columns, or in another order")
    if any(part.nominal != first.nominal for part in parts):
        fault = "the files list the values of a nominal column in different orders"
        raise DataError(f"{place}: {fault}: state them in `nominal` of the card")
    if hasattr(first.X, "tocsr"):
        from scipy import sparse

        X = sparse.vstack([part.X for part in parts], format="csr")
    else:
        X = np.concatenate([part.X for part in parts])
    query = None if first.query is None else np.concatenate([part.query for part in parts])
    y, gaps = np.concatenate([part.y for part in parts]), [t for part in parts for t in part.gaps]
    if (texts := first.texts) is not None:
        texts = pd.concat([part.texts for part in parts])
    return first._replace(X=X, y=y, query=query, gaps=gaps, texts=texts)


def _marked(table: Table, asked: Mapping[str, Column], place: str) -> Table:
    """Take the columns of groups and of time out of a table's features."""
    for key, column in asked.items():
        if (values := getattr(table, key)) is None:
            if are_objects(table.X) or hasattr(table.X, "tocsr"):
                raise DataError(f"{place}: {key}: only tables have columns that are no features")
            names = table.feature_names
            i = column_position(place, column, names, "feature")
            values, column = table.X[:, i], names[i]
            table = table.columns([n for n in range(len(names)) if n != i])
        if lack := int(np.isnan(values).sum()):
            raise DataError(
                f"{place}: {key}: {lack} of {len(values)} rows lack {column}: fill it in"
            )
        if key == "groups":
            values = np.unique(values, return_inverse=True)[1]
        table = table._replace(**{key: values})
    return table


def _without_columns(found: Found, table: Table, drop: Sequence[Column]) -> Table:
    """Leave out features, and points that lack pairs; say what is left out, and why."""
    card, form, names = found.card, found.form, table.feature_names
    if drop and (card.task == "similarity" or are_objects(table.X)):
        raise DataError(f"{found.place}: drop: points to compare have no features")
    away = sorted({column_position(found.place, c, names, "feature") for c in drop})
    if away and len(away) == len(names):
        raise DataError(f"{found.place}: drop: no feature is left")
    columns = getattr(form.format, "drop", ())
    left_out = [column if isinstance(column, str) else f"column {column}" for column in columns]
    if table.texts is not None:  # but for those that the user drops
        table = table._replace(texts=table.texts[form.texts] if form.texts else None)
    left_out = list(dict.fromkeys([*form.left_out, *left_out, *(names[i] for i in away)]))
    left_out = [name for name in left_out if table.texts is None or name not in table.texts]
    if left_out:
        why = {name: f" ({reason})" for name, reason in form.left_out.items()}
        shown = listed(name + why.get(name, "") for name in left_out)
        table = table.noting(f"{counted(len(left_out), 'column')} left out: {shown}")
    if away:
        table = table.columns([i for i in range(len(names)) if i not in away])
    if card.task == "ordinal":
        table = table.noting(*grades_notes(form.order, card.classes))
    if hasattr(X := table.X, "tocsr"):
        is_full = X.nnz >= _DENSE_FROM * X.shape[0] * X.shape[1]
        return table._replace(X=X.toarray()) if is_full else table
    return table


def _text_notes(table: Table) -> list[str]:
    """Say which columns are text beside the features, and how many rows lack it."""
    counts = {} if table.texts is None else (table.texts == "").sum().to_dict()
    lack = {name: f", empty in {counted(n, 'row')}" if n else "" for name, n in counts.items()}
    return [f"{name} is text for methods with `columns: raw`{text}" for name, text in lack.items()]


def _columns(table: Table, nominal: Nominal, missing: str, form: Any) -> "ColumnEncoder":
    """Return how the columns of a table are encoded."""
    from kernlearn.datasets.columns import ColumnEncoder

    names, texts = table.feature_names, [] if table.texts is None else [*table.texts]
    values = {name: table.nominal[name] for name in names if name in table.nominal}
    gaps = [names[i] for i in np.flatnonzero(np.isnan(table.X).any(axis=0))]
    own = form if isinstance(form, TableOptions) else None  # others hold arrays
    return ColumnEncoder(names, values, nominal, texts, missing, gaps, form=own)


def _as_features(table: Table, columns: "ColumnEncoder | None") -> Table:
    """Encode nominal columns; notice ids, and columns whose values rows share."""
    if columns is None:
        return table
    ids, shared = ids_and_groups(table)
    is_marked = table.groups is not None or table.time is not None
    shared = table.done.shared | ({} if is_marked else shared)
    values = {name: len(values) for name, values in columns.nominal.items()}
    encoded: dict[str, Any] = {"coded": values}
    if columns.encoding == "onehot":
        encoded = {"one_hot": values}
        if n := int(np.isnan(table.X[:, _nominal(table)]).sum()):
            text = "none of the column's 0/1 columns is 1"
            table = table.noting(f"{counted(n, 'missing entry')} of nominal columns: {text}")
        names = tuple(columns.get_feature_names_out())
        table = table._replace(X=columns.encoded(table.X), feature_names=names)
    return table.noting(id_like=ids, shared=shared, **encoded)


def _lost_classes(codes: np.ndarray, labels: np.ndarray) -> list[str]:
    gone = labels[~np.isin(np.arange(len(labels)), codes)]
    return [f"no row of class {listed(gone)} is left"] if gone.size else []


def _settled(table: Table, missing: str, place: str) -> Table:
    """Drop, keep, fill or refuse missing entries (NaN), and say so."""
    if hasattr(table.X, "tocsr"):  # files of sparse matrices have no missing entries
        return table
    if missing == "category":
        table = _gaps_as_values(table)
    objects, names = are_objects(table.X), table.feature_names
    gaps = _gaps(table.X)
    rows, by_column, total = np.any(gaps, axis=1), gaps.sum(axis=0), len(gaps)
    if not rows.any():
        return table
    worst = [i for i in np.argsort(-by_column, kind="stable") if by_column[i]]
    extent = f"{counted(int(gaps.sum()), 'missing entry')} in {rows.sum()} of {total} rows"
    lack = "" if objects else f" ({listed(f'{names[i]} in {by_column[i]}' for i in worst)})"
    emptiest = [i for i in worst if by_column[i] > (1 - _LEAST_FILLED) * total]
    if missing == "impute" and not objects:
        how = "by training rows: the mean, of codes and of 0 and 1 the most frequent value"
        empty = listed(names[i] for i in emptiest)
        advice = f"; {empty}: nearly empty, `drop` leaves it out" if empty else ""
        note = f"{extent}{lack} filled in within each split {how}{advice}"
        return table.noting(note, imputed=int(gaps.sum()))
    drops = missing in ("drop", "category", "impute")
    if drops and not rows.all():
        note = f"{rows.sum()} of {total} rows with missing entries were left out{lack}"
        return table.rows(~rows).noting(note)
    if missing == "error" or objects:
        raise DataError(f"{place}: {extent}; load with missing: drop, mean or most_frequent")
    if drops or emptiest:
        columns = listed(f"{names[i]} ({by_column[i]} of {total})" for i in worst)
        why = "in every row" if drops else "too many to fill in"
        problem = f"{place}: {extent}, {why}; `drop` leaves out columns: {columns}"
        raise DataError(problem, [] if emptiest else [("missing", "mean")])
    table, what = _filled(table, missing)
    return table.noting(f"{extent} filled in by their column's {what} (of all rows)")


def _gaps(X: Any) -> np.ndarray:
    """Tell which entries are missing, of objects which points."""
    import pandas as pd

    if are_objects(X):
        return np.array([[bool(np.any(pd.isna(point)))] for point in X])
    return np.isnan(X)


def _nominal(table: Table) -> list[int]:
    """Return the positions of the nominal columns."""
    return [i for i, name in enumerate(table.feature_names) if name in table.nominal]


def _gaps_as_values(table: Table) -> Table:
    """Make missing entries a value of their own in nominal columns."""
    from kernlearn.datasets.columns import MISSING

    gaps, columns = _gaps(table.X), _nominal(table)
    if not (n := int(gaps[:, columns].sum())):
        return table
    X, values = table.X.copy(), dict(table.nominal)
    for i in (i for i in columns if gaps[:, i].any()):
        name = table.feature_names[i]
        X[gaps[:, i], i] = len(values[name])
        values[name] = (*values[name], MISSING)
    note = f"{counted(n, 'missing entry')} of nominal columns became the value `{MISSING}`"
    return table._replace(X=X, nominal=values).noting(note)


def _filled(table: Table, missing: str) -> tuple[Table, str]:
    """Fill in the mean or the most frequent value of each column; return in words which."""
    import pandas as pd

    frame = pd.DataFrame(table.X)
    fills, what = frame.mode().iloc[0], "most frequent value"
    if missing == "mean":
        columns, what = _nominal(table), "mean"
        if n := int(_gaps(table.X)[:, columns].sum()):
            what += f", {n} of them, in nominal columns, by the most frequent value"
        fills = frame.mean().where(~frame.columns.isin(columns), fills)
    return table._replace(X=np.ascontiguousarray(frame.fillna(fills))), what


def _target(card: Card, table: Table) -> tuple[np.ndarray, np.ndarray]:
    if card.classes is not None:
        return table.y.astype(np.int64), np.array(card.classes, dtype=np.str_)
    if card.task != "similarity":
        return table.y, np.array((), dtype=np.str_)
    # classes that the card does not list, in the order of their numbers
    distinct, codes = np.unique(table.y, return_inverse=True)
    return codes.astype(np.int64), canonical_labels(distinct)


def _fingerprint(X: Any, codes: np.ndarray, labels: np.ndarray, query: np.ndarray | None) -> str:
    """Return the fingerprint of the rows with their labels and queries."""
    texts = labels[codes] if labels.size else codes
    if query is not None:
        pairs = zip(canonical_labels(texts), query.tolist(), strict=True)
        texts = np.array([f"{label} qid:{number}" for label, number in pairs])
    return fingerprint(X, texts)


def _published_folds(name: str, folds: Sequence[int], query: np.ndarray | None) -> np.ndarray:
    """Return the published fold of each row; the rows of a query are in one fold."""
    fold = np.repeat(np.arange(len(folds)), folds)
    if query is not None:
        pairs = np.unique(np.column_stack([query, fold]), axis=0)
        again = pairs[1:, 0] == pairs[:-1, 0]
        if again.any():
            split = pairs[1:, 0][again][0]
            raise DataError(f"{name}: folds: the lengths {[*folds]} split query {split}")
    return fold


# Adding


def add(
    file: str | os.PathLike[str],
    *,
    name: str,
    task: Task | None = None,
    missing: Missing | None = None,
    folder: str | os.PathLike[str] = "datasets",
    **options: Any,
) -> "Data":
    r"""Write a card for a data file, with a copy of its data.

    Text in columns, LIBSVM's and LETOR's text, ARFF, NPZ, Parquet, Feather, Excel, Stata, SPSS,
    MATLAB, HDF5, ``.ts`` and lines of JSON are read, also compressed or in an archive.

    Parameters
    ----------
    file : path-like
        The file, or an archive that holds one; ``archive.zip/file`` is one of several.
    name : str
        The data set's name: lower case, digits and underscores.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}, optional
        What the target is, as for :func:`load`.
    missing : {"drop", "mean", "most_frequent", "category", "error"}, optional
        What :func:`load` does with missing entries of this data; by default rows are dropped.
    folder : path-like, default="datasets"
        Where the card ``<name>.yaml`` is written, and the data to ``<name>/``, unpacked.
    **options
        How the file is read: `target`, `drop`, `grades`, `sheet`, `matrix`, `points` and
        `read_as` of :func:`load`.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load`; its card is the one that was written.

    Raises
    ------
    DataError
        If the file cannot be read, the name is not allowed or taken, or the data does not load
        as guessed. Nothing is written then.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernlearn.datasets import add, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.csv"
    ...     _ = file.write_text("length,colour,kind\n1.5,red,a\n2,blue,b\n")
    ...     added = add(file, name="mine", folder=Path(folder) / "datasets")
    ...     load("mine", data_dir=Path(folder) / "datasets").target_names.tolist()
    ['a', 'b']
    >>> added.preparation.sentences[0]
    'the target is column kind, the last; `target` names another'
    """
    from kernlearn.yaml import dump_yaml

    place = Path(folder)
    card_path = place / f"{name}.yaml"
    if name in catalogue():
        raise DataError(f"the name {name!r} is that of a data set in the catalogue; use another")
    for path in (card_path, place / name):
        if path.exists():
            raise DataError(f"{path}: exists already; remove it, or use another name")
    if other := [key for key in options if key == "labels" or key not in (*OF_FILE, "drop")]:
        raise DataError(f"{other[0]} is no part of a card")
    found = card_of_file(Path(file), Reading.of(**options), task, name)
    if REORDERED in found.notes:
        raise DataError(f"{file}: {REORDERED}, which no card does: write them in that order")
    card = found.card.model_copy(update={"missing": missing})
    # loaded by the card before anything is written
    bunch = load(found._replace(card=card))
    parts = bunch.data, bunch.target, bunch.target_names, bunch.query
    own_form = {"own_folder": True, "fingerprint": _fingerprint(*parts)}
    form = found.form.model_copy(update=own_form)
    bunch.card = card.model_copy(update={"forms": (form,)})
    content = bunch.card.model_dump(mode="json", exclude_defaults=True)
    content["forms"][0]["format"]["kind"] = form.format.kind
    try:
        with writing(place, DataError):
            for source, target in zip(found.paths, form.files, strict=True):
                copy = place / name / target
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file_bytes(source))
            card_path.write_text(dump_yaml(content), encoding="utf-8")
    except DataError:
        rmtree(place / name, ignore_errors=True)
        with suppress(OSError):
            card_path.unlink()
        raise
    return bunch
