"""Loading a data set by name: find it, read it, check it against its card."""

import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from kernlearn.datasets._cache import Contents, cached
from kernlearn.datasets._card import Card
from kernlearn.datasets._catalogue import find_card
from kernlearn.datasets._fingerprint import fingerprint
from kernlearn.datasets._formats import Delimited
from kernlearn.datasets._locate import Found, locate, missing_message
from kernlearn.datasets._readers import Expected, Table, reader
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Nominal = Literal["ordinal", "onehot"]


def load(
    name: str | Card,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    dtype: DTypeLike = np.float64,
    cache: bool = True,
) -> "Bunch":
    """Load a data set.

    Parameters
    ----------
    name : str or Card
        A name in the :func:`catalogue`, or a card of one's own.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes its values' positions in the published order, or one 0/1
        column a value (all zero where the entry is missing).
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        The type of the features.
    cache : bool, default=True
        Whether to keep a parsed copy in the user's cache, and to use it.

    Returns
    -------
    sklearn.utils.Bunch
        data : ndarray or CSR matrix of shape (n_samples, n_features)
            The features; CSR for LIBSVM files of which less than 20 % is not zero.
        target : ndarray of shape (n_samples,)
            Codes 0, …, k - 1 of the classes (int64), or numbers (float64).
        target_names : ndarray of str, shape (k,)
            The labels in the order of their codes; empty where the target is a number.
        feature_names : ndarray of str, shape (n_features,)
            The names of the columns.
        card : Card
            The data set's card.
        fingerprint : str
            :func:`fingerprint` of ``data`` and the labels, as returned.
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
    dtype = _float_type(dtype)
    card = find_card(name) if isinstance(name, str) else name
    found = locate(card, data_dir)
    if found is None:
        raise DataError(missing_message([card], data_dir))

    def make() -> Contents:
        return _encode(card, found, _read(card, found), nominal, dtype)

    # a carried data set is quicker made than looked up
    contents = (
        make()
        if not (cache and found.paths)
        else cached(card.name, found.paths, _variant(card, found, nominal, dtype), make)
    )
    published = nominal == "ordinal" and dtype == np.float64
    return Bunch(
        **contents._asdict(),
        card=card,
        path=found.paths[0].parent if found.paths else None,
        sample=found.form.sample,
        note=_note(found, contents.fingerprint if published else None),
    )


def _float_type(dtype: DTypeLike) -> "np.dtype[Any]":
    for allowed in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype in (allowed, allowed.type, allowed.name):
            return allowed
    raise ValueError(f"dtype must be float64 or float32, got {dtype!r}")


def _variant(card: Card, found: Found, nominal: Nominal, dtype: "np.dtype[Any]") -> dict[str, Any]:
    form = found.form.model_dump(mode="json", include={"format", "rows", "classes"})
    return {"n_features": card.n_features, **form, "nominal": nominal, "dtype": dtype.str}


def _note(found: Found, content: str | None) -> str:
    known = found.form.fingerprint
    if known is None or content is None or content == known:
        return found.form.note
    changed = f"The content (fingerprint {content[:12]}) differs from the card's ({known[:12]})."
    return f"{found.form.note} {changed}".strip()


def _read(card: Card, found: Found) -> Table:
    form = found.form
    table = reader(form.format.kind)(
        found.paths, form.format, Expected(card.n_features, card.classes)
    )
    place = ", ".join(map(str, found.paths)) or "scikit-learn"
    n_rows, n_features = table.X.shape
    if form.rows is not None and n_rows != form.rows:
        raise DataError(f"{place}: found {n_rows} rows, expected {form.rows} ({card.name})")
    if n_features != card.n_features:
        raise DataError(f"{place}: found {n_features} features, expected {card.n_features}")
    if form.classes is not None:
        counts = np.bincount(table.y.astype(np.int64), minlength=len(form.classes))
        for (label, expected), count in zip(form.classes.items(), counts.tolist(), strict=True):
            if count != expected:
                raise DataError(f"{place}: found {count} rows of {label}, expected {expected}")
    return table


def _encode(
    card: Card, found: Found, table: Table, nominal: Nominal, dtype: "np.dtype[Any]"
) -> Contents:
    X, names = table.X, table.feature_names
    options = found.form.format
    if nominal == "onehot" and isinstance(options, Delimited) and options.nominal:
        X, names = _one_hot(X, names, options.nominal)
    X = X.astype(dtype, copy=False)
    if not hasattr(X, "tocsr"):
        X = np.ascontiguousarray(X)
    labels = np.array(card.classes or (), dtype=np.str_)
    target = table.y if card.classes is None else table.y.astype(np.int64)
    content = fingerprint(X, target if card.classes is None else labels[target])
    return Contents(X, target, labels, np.array(names, dtype=np.str_), content)


def _one_hot(
    X: NDArray[np.float64], names: tuple[str, ...], nominal: dict[str, tuple[str, ...]]
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
