"""Loading data sets: files are located, read, checked against the card, encoded and cached."""

import json
import os
from collections.abc import Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from kernlearn.datasets.cache import Contents, Stamp, cached, recall, remember, stamp
from kernlearn.datasets.card import Card, Task
from kernlearn.datasets.encoding import Nominal, Wanted, encode, read
from kernlearn.datasets.file_options import FileOptions
from kernlearn.datasets.files import Found
from kernlearn.datasets.finding import find, is_file
from kernlearn.datasets.formats import Missing
from kernlearn.datasets.preparation import Preparation
from kernlearn.datasets.unpacking import container
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def load(
    name: str | os.PathLike[str] | Card | Found,
    *,
    target: int | str | None = None,
    task: Task | None = None,
    grades: Sequence[str] | None = None,
    drop: Sequence[int | str] = (),
    sheet: int | str | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    points: int | str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing | None = None,
    dense: bool | None = None,
    dtype: np.typing.DTypeLike | None = np.float64,
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
    task : {"classification", "regression", "ordinal", "similarity"}, optional
        For the path of a data file, what the target is; guessed by default.
    grades : sequence of str, optional
        For the path of a data file, the labels in their order. By default the order of the file
        if it has one, else numbers in theirs and texts in that of the alphabet, which
        ``preparation`` then says.
    drop : sequence of int or str, default=()
        Columns of a data file that are no features, or features of a card that are left out.
    sheet : int or str, optional
        For the path of an Excel file, the sheet by position or name; by default the first.
    matrix : {"similarity", "distance"}, optional
        For the path of a data file that is a square matrix with a column or array of labels:
        what its entries are.
    points : int or str, optional
        For the path of a file of text in columns, a sheet or lines of JSON, the column whose texts
        (of JSON also series, sets and graphs) are the points themselves, for similarities of such;
        other columns but the target are left out. Of a file of series (``.ts``) ``"series"``
        takes these as they are, of any lengths and numbers of channels.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes the positions of its values in the published order, or one
        0/1 column per value. Distances between positions of values without an order mean nothing.
    missing : {"drop", "mean", "most_frequent", "error"}, optional
        Rows with missing entries are dropped; or entries are filled in with the mean or the
        most frequent value of their column over all rows (in a nominal column always the
        latter); or they are an error. By default as the card says, else they are dropped.
        ``preparation`` says what was done.
    dense : bool, optional
        Whether a sparse matrix is made a dense one. By default as the card says, else not.
    dtype : {numpy.float64, numpy.float32} or None, default=numpy.float64
        The type of the features. None leaves them as they are stored: integers and float32 of
        arrays need less memory.
    cache : bool, default=True
        Whether to keep a parsed copy in the user's cache, and to use it.

    Returns
    -------
    sklearn.utils.Bunch
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
        preparation : Preparation
            What was dropped, coded or filled in, in counts and as sentences; see
            :class:`~kernlearn.datasets.preparation.Preparation`.

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

    dtype = _float_type(dtype)
    found = find(
        name,
        data_dir,
        FileOptions(target, task, grades, tuple(drop), sheet, matrix, points=points),
    )
    wanted = _wanted(found, nominal, missing, () if is_file(name) else drop, dense, dtype)
    card, form = found.card, found.form

    def make() -> Contents:
        return encode(found, read(found), wanted)

    mark = _stamp(found, wanted)
    if cache and found.paths:
        contents = cached(mark, make)
    else:
        contents = make()
        if cache:  # bundled data is loaded faster than a copy
            remember(mark, contents.known)
    fields = contents._asdict()
    fields["preparation"] = Preparation.from_plain(json.loads(contents.preparation or "{}"))
    if card.task != "ranking":
        del fields["query"]
    if card.similarity is not None:
        fields["similarity"] = card.similarity
    if form.folds and len(contents.target) == sum(form.folds):
        fields["fold"] = _published_folds(found, contents)
    published = nominal == "ordinal" and dtype != np.float32 and not wanted.drop
    comparable = published and (wanted.missing == "drop" or not contents.note)
    notes, content = [form.note, contents.note], contents.fingerprint
    if comparable and form.fingerprint not in (None, content):
        prints = f"(fingerprint {content[:12]}) differs from the card's ({form.fingerprint[:12]})"
        notes.append(f"The content {prints}.")
    fields["note"] = " ".join(filter(None, notes))
    folder = container(found.paths[0]).parent if found.paths else None
    return Bunch(**fields, card=card, path=folder, sample=form.sample)


class Known(NamedTuple):
    """What is known of a data set without reading it.

    `similarity` is the kind of matrix, if it is one.
    """

    found: Found
    fingerprint: str
    similarity: str | None
    preparation: Preparation


def known(
    name: str | os.PathLike[str] | Card | Found,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing | None = None,
    dense: bool | None = None,
    drop: Sequence[int | str] = (),
    **options: Any,
) -> Known | None:
    """Return what is known of a data set that was loaded before with these options, or None.

    The arguments are those of :func:`load`. No file is read: it is valid while the sizes and times
    of modification of the files and the card's content stay the same.
    """
    found = find(name, data_dir, FileOptions(**options, drop=tuple(drop)))
    of_card = () if is_file(name) else drop
    wanted = _wanted(found, nominal, missing, of_card, dense, np.dtype(np.float64))
    content = recall(_stamp(found, wanted))
    if content is None:
        return None
    content = {"fingerprint": content} if isinstance(content, str) else content
    done = Preparation.from_plain(content.get("preparation", {}))
    return Known(found, content["fingerprint"], found.card.similarity, done)


def _wanted(
    found: Found,
    nominal: Nominal,
    missing: Missing | None,
    drop: Sequence[int | str],
    dense: bool | None,
    dtype: "np.dtype[Any] | None",
) -> Wanted:
    """Fill in what the card says, and check the values."""
    card = found.card
    missing = missing or card.missing or "drop"
    for option, value, allowed in (("nominal", nominal, Nominal), ("missing", missing, Missing)):
        if value not in get_args(allowed):
            names = ", ".join(get_args(allowed))
            raise ValueError(f"{option} must be one of {names}, got {value!r}")
    dense = card.dense if dense is None else dense
    return Wanted(nominal, missing, dtype, (*card.drop, *drop), dense)


def _stamp(found: Found, wanted: Wanted) -> Stamp:
    card = found.card
    read_by = {"format", "rows", "classes", "labels", "left_out", "order"}
    variant = {
        "n_features": card.n_features,
        "task": card.task,
        **found.form.model_dump(mode="json", include=read_by),
        **wanted.plain,
    }
    if not found.paths:
        variant["scikit-learn"] = version("scikit-learn")
    return stamp(card.name, found.paths, variant)


def _published_folds(found: Found, contents: Contents) -> np.ndarray:
    """Return the published fold of each row; the rows of a query are in one fold."""
    folds = found.form.folds
    fold = np.repeat(np.arange(len(folds)), folds)
    if contents.query is not None:
        pairs = np.unique(np.column_stack([contents.query, fold]), axis=0)
        queries, times = np.unique(pairs[:, 0], return_counts=True)
        if (times > 1).any():
            query = queries[times > 1][0]
            parts = pairs[pairs[:, 0] == query, 1] + 1
            raise DataError(
                f"{found.card.name}: folds: the lengths {', '.join(map(str, folds))} split query "
                f"{query}: its rows are in folds {' and '.join(map(str, parts))}"
            )
    return fold


def _float_type(dtype: np.typing.DTypeLike | None) -> "np.dtype[Any] | None":
    if dtype is None:
        return None
    for allowed in (np.dtype(np.float64), np.dtype(np.float32)):
        if dtype in (allowed, allowed.type, allowed.name):
            return allowed
    raise ValueError(f"dtype must be float64, float32 or None, got {dtype!r}")
