"""Loading data sets: files are located, read, checked against the card, encoded and cached."""

import os
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from kernlearn.datasets.cache import Contents, Stamp, cached, fingerprint, recall, remember, stamp
from kernlearn.datasets.card import Card, find_card, read_card
from kernlearn.datasets.files import Found, container, locate, missing_message
from kernlearn.datasets.formats import Expected, Table
from kernlearn.datasets.text import canonical_labels
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Nominal = Literal["ordinal", "onehot"]
Missing = Literal["drop", "mean", "most_frequent", "error"]


def load(
    name: str | os.PathLike[str] | Card | Found,
    *,
    target: int | str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing = "drop",
    dtype: np.typing.DTypeLike = np.float64,
    cache: bool = True,
) -> "Bunch":
    """Load a data set.

    Parameters
    ----------
    name : str, path-like, Card or Found
        A name in the :func:`catalogue` or of a card in a folder of :func:`search_path`; the
        path of a data file, whose format is guessed as by :func:`add`, or of a card (``.yaml``)
        with its data next to it; a card; or the result of :func:`locate`.
    target : int or str, optional
        For the path of a data file, the column to predict by name or position; by default one
        called target, class, label, y or outcome, else the last.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes the positions of its values in the published order, or one
        0/1 column per value.
    missing : {"drop", "mean", "most_frequent", "error"}, default="drop"
        Rows with missing entries are dropped; or entries are filled in with the mean or the
        most frequent value of their column over all rows (in a nominal column always the
        latter); or they are an error. ``note`` says what was done.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        The type of the features.
    cache : bool, default=True
        Whether to keep a parsed copy in the user's cache, and to use it.

    Returns
    -------
    sklearn.utils.Bunch
        data : ndarray or CSR matrix of shape (n_samples, n_features)
            The features; CSR for sparse files of which less than 20 % is not zero. For a
            similarity matrix its entries, with n_features = n_samples.
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
        similarity : {"similarity", "distance"}
            The meaning of the matrix's entries; only for similarity matrices.
        card : Card
            The data set's card.
        fingerprint : str
            :func:`fingerprint` of ``data`` and the labels, as returned; for ranking a label
            is written as ``"label qid:query"``.
        path : pathlib.Path or None
            The folder of the files, if there are any.
        sample : bool
            Whether this is only a sample of the published data.
        note : str
            A remark for reports on this data; may be empty.

    Raises
    ------
    DataError
        If the name is unknown, files are missing or damaged, or their content is not that of
        the card.
    ValueError
        If another argument is not one of those allowed.

    Examples
    --------
    >>> from kernlearn.datasets import load
    >>> wine = load("wine")
    >>> wine.data.shape, wine.target_names.tolist()
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    from sklearn.utils import Bunch

    for option, value, allowed in (("nominal", nominal, Nominal), ("missing", missing, Missing)):
        if value not in get_args(allowed):
            names = ", ".join(get_args(allowed))
            raise ValueError(f"{option} must be one of {names}, got {value!r}")
    dtype = _float_type(dtype)
    found = find(name, data_dir, target)
    card, form = found.card, found.form

    def make() -> Contents:
        return _encode(found, _read(found), nominal, missing, dtype)

    if cache and found.paths:
        contents = cached(_stamp(found, nominal, missing, dtype), make)
    else:
        contents = make()
        if cache:  # bundled data is loaded faster than a copy
            remember(_stamp(found, nominal, missing, dtype), contents.fingerprint)
    fields = contents._asdict()
    if card.task != "ranking":
        del fields["query"]
    if card.similarity is not None:
        fields["similarity"] = card.similarity
    if form.folds and len(contents.target) == sum(form.folds):
        fields["fold"] = np.repeat(np.arange(len(form.folds)), form.folds)
    published = nominal == "ordinal" and dtype == np.float64
    comparable = published and (missing == "drop" or not contents.note)
    notes, content = [form.note, contents.note], contents.fingerprint
    if comparable and form.fingerprint not in (None, content):
        prints = f"(fingerprint {content[:12]}) differs from the card's ({form.fingerprint[:12]})"
        notes.append(f"The content {prints}.")
    fields["note"] = " ".join(filter(None, notes))
    folder = container(found.paths[0]).parent if found.paths else None
    return Bunch(**fields, card=card, path=folder, sample=form.sample)


def load_all(
    names: Iterable[str], *, data_dir: str | os.PathLike[str] | None = None, **options: Any
) -> "dict[str, Bunch]":
    """Load several data sets, such as those of a paper's table.

    Parameters
    ----------
    names : iterable of str
        Names in the :func:`catalogue`.
    data_dir : path-like, optional
        A folder to look for the files in before all others.
    **options : dict
        Further arguments of :func:`load`.

    Returns
    -------
    dict of str to sklearn.utils.Bunch

    Raises
    ------
    DataError
        If files are missing; one message lists all of them.

    Examples
    --------
    >>> from kernlearn.datasets import load_all
    >>> {name: bunch.data.shape for name, bunch in load_all(["iris", "wine"]).items()}
    {'iris': (150, 4), 'wine': (178, 13)}
    """
    cards = [find_card(name, data_dir) for name in names]
    found = {card.name: locate(card, data_dir) for card in cards}
    if missing := [card for card in cards if found[card.name] is None]:
        raise DataError(missing_message(missing, data_dir))
    return {name: load(files, **options) for name, files in found.items() if files is not None}


def known_fingerprint(
    name: str | os.PathLike[str] | Card | Found,
    *,
    target: int | str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing = "drop",
) -> tuple[str, str | None] | None:
    """Return the fingerprint of a data set that was loaded before, and its kind of matrix if any.

    The arguments are those of :func:`load`. No file is read: a fingerprint is valid while the
    sizes and times of modification of the files and the card's content stay the same. Otherwise,
    or if the data set has not been loaded with these options, None is returned.
    """
    found = find(name, data_dir, target)
    content = recall(_stamp(found, nominal, missing, np.dtype(np.float64)))
    return None if content is None else (content, found.card.similarity)


def find(
    name: str | os.PathLike[str] | Card | Found,
    data_dir: str | os.PathLike[str] | None = None,
    target: int | str | None = None,
) -> Found:
    """Find the files of a data set, given as for :func:`load`; raise a DataError if missing."""
    if isinstance(name, os.PathLike) or (isinstance(name, str) and not name.isidentifier()):
        path = Path(name)
        if path.suffix not in (".yaml", ".yml"):
            return _find_file(path, target)
        if target is not None:
            raise DataError(f"{path}: a card names its own target; leave target out")
        name, data_dir = read_card(path), path.parent
    if target is not None:
        raise ValueError("target is for the path of a file; a card names its own")
    if isinstance(name, Found):
        return name
    card = find_card(name, data_dir) if isinstance(name, str) else name
    found = locate(card, data_dir)
    if found is None:
        raise DataError(missing_message([card], data_dir))
    return found


def _find_file(path: Path, target: int | str | None) -> Found:
    """Make a card for a data file, or take the one made before for the file as it is."""
    from kernlearn.datasets import guess

    if not path.is_file():
        raise DataError(f"{path}: no such file")
    name = guess.file_name(path)
    mark = stamp(name, [path], {"target": target, "guess": guess.VERSION})
    if (content := recall(mark)) is None:
        content, _ = guess.card_content(path, name, None, guess.Wishes(target))
        remember(mark, content)
    card = Card.model_validate(content)
    return Found(card.forms[0], (path,), card)


def _stamp(found: Found, nominal: Nominal, missing: Missing, dtype: "np.dtype[Any]") -> Stamp:
    card = found.card
    variant = {
        "n_features": card.n_features,
        "task": card.task,
        **found.form.model_dump(mode="json", include={"format", "rows", "classes", "labels"}),
        "nominal": nominal,
        "dtype": dtype.str,
        "missing": missing,
    }
    if not found.paths:
        variant["scikit-learn"] = version("scikit-learn")
    return stamp(card.name, found.paths, variant)


def _float_type(dtype: np.typing.DTypeLike) -> "np.dtype[Any]":
    for allowed in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype in (allowed, allowed.type, allowed.name):
            return allowed
    raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")


def _read(found: Found) -> Table:
    card, form = found.card, found.form
    place = found.place
    table = form.format.read(found.paths, Expected(card.n_features, card.classes))
    n_rows, n_features = table.X.shape
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


def _encode(
    found: Found, table: Table, nominal: Nominal, missing: Missing, dtype: "np.dtype[Any]"
) -> Contents:
    table, note = settle_missing(table, missing, found.place)
    X, names = table.X, table.feature_names
    if nominal == "onehot" and table.nominal:
        columns: list[np.ndarray] = []
        names = ()
        for column, name in zip(X.T, table.feature_names, strict=True):
            values = table.nominal.get(name)
            columns += [column] if values is None else [column == i for i in range(len(values))]
            names += (name,) if values is None else tuple(f"{name}={value}" for value in values)
        X = np.column_stack(columns)
    X = X.astype(dtype, copy=False)
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X)
    target, labels = _target(found.card, table)
    labelled = target if not labels.size else labels[target]
    if table.query is not None:
        pairs = zip(canonical_labels(labelled), table.query.tolist(), strict=True)
        labelled = np.array([f"{label} qid:{query}" for label, query in pairs])
    content = fingerprint(X, labelled)
    return Contents(X, target, labels, np.array(names, dtype=np.str_), content, table.query, note)


def _target(card: Card, table: Table) -> "tuple[np.ndarray, np.ndarray]":
    if card.classes is not None:
        return table.y.astype(np.int64), np.array(card.classes, dtype=np.str_)
    if card.task != "similarity":
        return table.y, np.array((), dtype=np.str_)
    # classes that the card does not list, in the order of their numbers
    distinct, codes = np.unique(table.y, return_inverse=True)
    return codes.astype(np.int64), canonical_labels(distinct)


def settle_missing(table: Table, missing: Missing, place: str) -> tuple[Table, str]:
    """Drop, fill or refuse missing entries (NaN); return the table and a note on it."""
    X = table.X
    gaps = X != X  # only NaN differs from itself
    rows = np.ravel(gaps.sum(axis=1)) > 0
    n_entries, n_rows, total = int(gaps.sum()), int(rows.sum()), len(rows)
    if not n_entries:
        return table, ""
    extent = f"{n_entries} entries in {n_rows} of {total} rows are missing"
    if missing == "error":
        raise DataError(f"{place}: {extent}; load with missing='drop', 'mean' or 'most_frequent'")
    if missing == "drop":
        if n_rows == total:
            raise DataError(f"{place}: {extent}; no row is left, load with missing='mean'")
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
