"""Missing entries: rows left out, entries filled in, or refused."""

import os
import re
from collections.abc import Collection, Iterable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernlearn.datasets.cache import Contents, Stamp, cached, recall, remember, stamp
from kernlearn.datasets.card import Card, read_card
from kernlearn.datasets.hashing import canonical_labels, fingerprint
from kernlearn.datasets.lookup import Found, find_card, locate, missing_message
from kernlearn.datasets.packed import container
from kernlearn.datasets.readers import Expected, Table, reader
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch


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


def own_file(path: Path, target: int | str | None = None) -> tuple[Card, Found]:
    """Return a card for a file, and the file as found.

    Parameters
    ----------
    path : pathlib.Path
        A data file, which is looked at as :func:`add` does; or a card (``.yaml``) whose
        data lies beside it or where data is looked for.
    target : int or str, optional
        The target's column; not for a card, which names its own.

    Returns
    -------
    card : Card
    found : Found

    Raises
    ------
    DataError
        If the file is not there or does not read.
    """
    if path.suffix in (".yaml", ".yml"):
        if target is not None:
            raise DataError(f"{path}: a card names its own target; leave target out")
        card = read_card(path)
        found = locate(card, path.parent)
        if found is None:
            raise DataError(missing_message([card], path.parent))
        return card, found
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    mark = stamp(_name(path), [path], {"target": target})
    if (content := recall(mark)) is None:
        from kernlearn.datasets.new_cards import look_at

        content, _ = look_at(path, name=_name(path), target=target)
        remember(mark, content)
    card = Card.model_validate(content)
    return card, Found(card.forms[0], (path,))


def _name(path: Path) -> str:
    """Make a data set's name of a file's."""
    words = re.findall(r"[a-z0-9]+", path.name.split(".")[0].lower())
    return "_".join(["own", *words]) if not words or words[0][0].isdigit() else "_".join(words)


Nominal = Literal["ordinal", "onehot"]


def load(
    name: str | os.PathLike[str] | Card,
    *,
    target: int | str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing = "drop",
    dtype: DTypeLike = np.float64,
    cache: bool = True,
) -> "Bunch":
    """Load a data set.

    Parameters
    ----------
    name : str, path-like or Card
        A name in the :func:`catalogue` or of a card in a folder of :func:`search_path`; the
        path of a file of one's own, which is looked at as :func:`add` does, or of a card
        (``.yaml``) with its data beside it; or a card.
    target : int or str, optional
        For a file of one's own the column to predict, by name or position; by default one
        called target, class, label, y or outcome, else the last.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes its values' positions in the published order, or one 0/1
        column a value.
    missing : {"drop", "mean", "most_frequent", "error"}, default="drop"
        What becomes of missing entries: their rows are left out; they are filled in with the
        mean or the most frequent value of their column over all rows (in a nominal column
        always the latter); or they are an error. ``note`` says what was done.
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
            The labels in the order of their codes; empty where the target is a number.
        feature_names : ndarray of str, shape (n_features,)
            The names of the columns.
        query : ndarray of shape (n_samples,)
            The query of each row (int64); only for ranking.
        fold : ndarray of shape (n_samples,)
            The published fold of each row, from 0; only where the card has folds and all
            rows are kept.
        similarity : {"similarity", "distance"}
            What the entries of the matrix are; only for similarity matrices.
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
            What a report on this data has to say; empty if there is nothing.

    Raises
    ------
    DataError
        If the name is not known, files are missing or damaged, or what they hold is not
        what the card says.
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

    if nominal not in ("ordinal", "onehot"):
        raise ValueError(f"nominal must be 'ordinal' or 'onehot', got {nominal!r}")
    if missing not in MISSING:
        raise ValueError(f"missing must be one of {', '.join(MISSING)}, got {missing!r}")
    dtype = _float_type(dtype)
    card, found = _find(name, target, data_dir)

    def make() -> Contents:
        return _encode(card, found, _read(card, found), nominal, missing, dtype)

    mark = _stamp(card, found, nominal, missing, dtype)
    if not cache:
        contents = make()
    elif found.paths:
        contents = cached(mark, make)
    else:  # a bundled data set is made faster than a copy is read
        contents = make()
        if recall(mark) != contents.fingerprint:
            remember(mark, contents.fingerprint)
    fields = contents._asdict()
    if card.task != "ranking":
        del fields["query"]
    if card.similarity is not None:
        fields["similarity"] = card.similarity
    folds = found.form.folds
    if folds and len(contents.target) == sum(folds):
        fields["fold"] = np.repeat(np.arange(len(folds)), folds)
    published = nominal == "ordinal" and dtype == np.float64
    comparable = published and (missing == "drop" or not contents.note)
    fields["note"] = _note(found, contents, comparable)
    folder = container(found.paths[0]).parent if found.paths else None
    return Bunch(**fields, card=card, path=folder, sample=found.form.sample)


class Known(NamedTuple):
    """A data set as far as it is known without reading it.

    Attributes
    ----------
    fingerprint : str
        The fingerprint that :func:`load` returns.
    similarity : {"similarity", "distance"} or None
        The kind of matrix, for similarity data.
    """

    fingerprint: str
    similarity: str | None


def known_fingerprint(
    name: str | os.PathLike[str] | Card,
    *,
    target: int | str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing = "drop",
) -> Known | None:
    """Return the fingerprint of a data set that was loaded before, without reading its files.

    The arguments are those of :func:`load`. A fingerprint is valid while the sizes and times of
    modification of the files and the card's content stay the same.

    Returns
    -------
    Known or None
        None if the data set has not been loaded with these options, or has changed since.

    Raises
    ------
    DataError
        If the name is unknown or files are missing.
    """
    card, found = _find(name, target, data_dir)
    content = recall(_stamp(card, found, nominal, missing, np.dtype(np.float64)))
    return None if content is None else Known(content, card.similarity)


def _stamp(
    card: Card, found: Found, nominal: Nominal, missing: Missing, dtype: "np.dtype[Any]"
) -> Stamp:
    variant = _variant(card, found, nominal, dtype) | {"missing": missing}
    if not found.paths:
        variant["scikit-learn"] = version("scikit-learn")
    return stamp(card.name, found.paths, variant)


def _find(
    name: str | os.PathLike[str] | Card,
    target: int | str | None,
    data_dir: str | os.PathLike[str] | None,
) -> tuple[Card, Found]:
    if isinstance(name, os.PathLike) or (isinstance(name, str) and not name.isidentifier()):
        return own_file(Path(name), target)
    if target is not None:
        raise ValueError("target goes with the path of a file; a card names its own")
    card = find_card(name, data_dir) if isinstance(name, str) else name
    found = locate(card, data_dir)
    if found is None:
        raise DataError(missing_message([card], data_dir))
    return card, found


def load_all(
    names: Iterable[str],
    *,
    data_dir: str | os.PathLike[str] | None = None,
    **options: Any,
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
        If files are missing; one message lists every one.

    Examples
    --------
    >>> from kernlearn.datasets import load_all
    >>> {name: bunch.data.shape for name, bunch in load_all(["iris", "wine"]).items()}
    {'iris': (150, 4), 'wine': (178, 13)}
    """
    cards = [find_card(name, data_dir) for name in names]
    if message := missing_message(cards, data_dir):
        raise DataError(message)
    return {card.name: load(card, data_dir=data_dir, **options) for card in cards}


def _float_type(dtype: DTypeLike) -> "np.dtype[Any]":
    for allowed in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype in (allowed, allowed.type, allowed.name):
            return allowed
    raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")


def _variant(card: Card, found: Found, nominal: Nominal, dtype: "np.dtype[Any]") -> dict[str, Any]:
    form = found.form.model_dump(mode="json", include={"format", "rows", "classes", "labels"})
    return {
        "n_features": card.n_features,
        "task": card.task,
        **form,
        "nominal": nominal,
        "dtype": dtype.str,
    }


def _note(found: Found, contents: Contents, comparable: bool) -> str:
    known, content = found.form.fingerprint, contents.fingerprint
    parts = [found.form.note, contents.note]
    if comparable and known is not None and content != known:
        parts.append(
            f"The content (fingerprint {content[:12]}) differs from the card's ({known[:12]})."
        )
    return " ".join(part for part in parts if part)


def _read(card: Card, found: Found) -> Table:
    form = found.form
    table = reader(form.format.kind)(
        found.paths, form.format, Expected(card.n_features, card.classes)
    )
    place = _place(found)
    n_rows, n_features = table.X.shape
    if form.rows is not None and n_rows != form.rows:
        raise DataError(f"{place}: found {n_rows} rows, expected {form.rows} ({card.name})")
    if n_features != card.n_features:
        raise DataError(f"{place}: found {n_features} features, expected {card.n_features}")
    if card.task == "similarity" and n_rows != n_features:
        raise DataError(f"{place}: found a {n_rows} x {n_features} matrix, expected a square one")
    if card.task == "ranking" and table.query is None:
        raise DataError(f"{place}: found no query ids, expected one a row")
    if form.classes is not None:
        counts = np.bincount(table.y.astype(np.int64), minlength=len(form.classes))
        for (label, expected), count in zip(form.classes.items(), counts.tolist(), strict=True):
            if count != expected:
                raise DataError(f"{place}: found {count} rows of {label}, expected {expected}")
    return table


def _place(found: Found) -> str:
    return ", ".join(map(str, found.paths)) or "scikit-learn"


def _encode(
    card: Card,
    found: Found,
    table: Table,
    nominal: Nominal,
    missing: Missing,
    dtype: "np.dtype[Any]",
) -> Contents:
    table, note = settle_missing(table, missing, _place(found))
    X, names = table.X, table.feature_names
    if nominal == "onehot" and table.nominal:
        X, names = _one_hot(X, names, table.nominal)
    X = X.astype(dtype, copy=False)
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X)
    target, labels = _target(card, table)
    spelt = target if not labels.size else labels[target]
    if table.query is not None:
        pairs = zip(canonical_labels(spelt), table.query.tolist(), strict=True)
        spelt = np.array([f"{label} qid:{query}" for label, query in pairs])
    content = fingerprint(X, spelt)
    return Contents(X, target, labels, np.array(names, dtype=np.str_), content, table.query, note)


def _target(card: Card, table: Table) -> "tuple[NDArray[Any], NDArray[np.str_]]":
    if card.classes is not None:
        return table.y.astype(np.int64), np.array(card.classes, dtype=np.str_)
    if card.task != "similarity":
        return table.y, np.array((), dtype=np.str_)
    # classes that the card does not list: in the order of their numbers
    distinct, codes = np.unique(table.y, return_inverse=True)
    return codes.astype(np.int64), canonical_labels(distinct)


def _one_hot(
    X: NDArray[np.float64], names: tuple[str, ...], nominal: Mapping[str, tuple[str, ...]]
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    columns: list[NDArray[np.float64]] = []
    new_names: list[str] = []
    for column, name in zip(X.T, names, strict=True):
        if name in nominal:
            values = nominal[name]
            columns.append((column[:, np.newaxis] == np.arange(len(values))).astype(X.dtype))
            new_names += [f"{name}={value}" for value in values]
        else:
            columns.append(column[:, np.newaxis])
            new_names.append(name)
    return np.hstack(columns), tuple(new_names)
