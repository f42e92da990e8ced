"""Loading data sets: files are found, read, compared with the card, and made arrays."""

import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import file_digest, sha256
from importlib.metadata import version
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np

from kernlearn.datasets import own
from kernlearn.datasets.card import (
    Card,
    Column,
    FileOptions,
    Missing,
    Task,
    make_card,
    read_card,
)
from kernlearn.datasets.files import (
    Found,
    catalogue,
    container,
    find_card,
    is_archive,
    locate,
    members,
    missing_message,
    naming_damage,
)
from kernlearn.datasets.readers import densified, read
from kernlearn.datasets.tables import (
    Preparation,
    Table,
    are_numbers,
    are_objects,
    asymmetry,
    canonical_labels,
    column_position,
    compares_rows,
    counted,
    fingerprint,
    grades_note,
    joined,
    listed,
    look_like_ids,
    one_hot,
    settle_missing,
)
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Nominal = Literal["ordinal", "onehot"]
Name = str | os.PathLike[str] | Card | Found


def load(
    name: Name,
    *,
    target: Column | None = None,
    task: Task | None = None,
    grades: Sequence[str] | None = None,
    drop: Sequence[Column] = (),
    sheet: int | str | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    points: Column | None = None,
    read_as: Mapping[str, Any] | Sequence[tuple[str, Any]] = (),
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    missing: Missing | None = None,
    dense: bool = False,
    hashed: bool = True,
) -> "Bunch":
    """Load a data set.

    Parameters
    ----------
    name : str, path-like, Card or Found
        A name in the :func:`catalogue` or of a card in a folder of :func:`search_path`; the
        path of a data file, or of a folder of LETOR (``Fold1/test.txt``, …), or of a card
        (``.yaml``) with its data next to it; a card; or the result of :func:`locate`.
    target : int or str, optional
        For the path of a data file, the column to predict by name or position; by default one
        called target, class, label, y or outcome, else the last.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}, optional
        For the path of a data file, what the target is. By default regression for numbers, unless
        they are at most 20 whole ones, else classification.
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
    read_as : mapping, default=()
        For the path of a file of text in columns, how it reads where that is not plain:
        ``delimiter``, ``header``, ``decimal``, ``thousands``, ``comment``, ``quote``, ``skip``,
        ``encoding``, ``missing`` and ``text``, as on a card; the last two for other tables too.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    nominal : {"ordinal", "onehot"}, default="ordinal"
        A nominal column becomes the positions of its values in the published order, or one
        0/1 column per value. Distances between positions of values without an order mean nothing.
    missing : {"drop", "mean", "most_frequent", "category", "error"}, optional
        Rows with missing entries are dropped; or entries are filled in with the mean or the
        most frequent value of their column over all rows (in a nominal column always the
        latter); or in nominal columns they are a value of their own, and rows with other missing
        entries are dropped; or they are an error. By default as the card says, else they are
        dropped. ``preparation`` says what was done.
    dense : bool, default=False
        Whether a sparse matrix is made a dense one.
    hashed : bool, default=True
        Whether to compute fingerprint and identity, which take longer than reading a large file.

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
            is written as ``"label qid:query"``. Empty unless `hashed`.
        path : pathlib.Path or None
            The folder of the files, if there are any.
        sample : bool
            Whether this is only a sample of the published data.
        note : str
            A remark for reports on this data; may be empty.
        identity : str
            What stands for the content in a plan: a hash of the bytes of its files and of how
            they are read. Empty unless `hashed`.
        preparation : Preparation
            What was dropped, coded or filled in, in counts and as sentences; see
            :class:`~kernlearn.datasets.Preparation`.

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

    options = FileOptions(target, task, grades, tuple(drop), sheet, matrix, points, dict(read_as))
    found = find(name, data_dir, options)
    card, form, place = found.card, found.form, found.place
    missing = missing or card.missing or "drop"
    for option, value, allowed in (("nominal", nominal, Nominal), ("missing", missing, Missing)):
        if value not in get_args(allowed):
            names = ", ".join(get_args(allowed))
            raise ValueError(f"{option} must be one of {names}, got {value!r}")
    tables = _read(found)
    table = joined(tables, place)
    table = table._replace(X=densified(table.X))
    done = Preparation(len(table.y) + table.without_target, (*found.notes, *table.notes))
    if n := table.without_target:
        done = done.noting(f"{n} of {done.rows} rows without a target were left out")
    away = _positions(found, table, () if is_file(name) else drop)
    if left_out := _left_out(found, table, away):
        shown = listed(f"{column} ({why})" if why else column for column, why in left_out.items())
        done = done.noting(f"{counted(len(left_out), 'column')} left out: {shown}")
    if card.task == "ordinal" and form.order == "alphabet":
        done = done.noting(grades_note(card.classes or ()))
    if away:
        kept = [i for i in range(len(table.feature_names)) if i not in away]
        features = tuple(table.feature_names[i] for i in kept)
        table = table._replace(X=table.X[:, kept], feature_names=features)
    table, notes = settle_missing(table, missing, place)
    note = "".join(f"{sentence}." for sentence in notes)
    done = done.noting(*notes)
    if not are_objects(table.X):
        table, done = _as_features(table, card, nominal, done)
        table = table._replace(X=_as_stored(table.X, dense))
    codes, labels = _target(card, table)
    bunch = Bunch(
        data=table.X,
        target=codes,
        target_names=labels,
        feature_names=np.array(() if are_objects(table.X) else table.feature_names, np.str_),
        fingerprint=_content(table, codes, labels) if hashed else "",
        preparation=done,
        card=card,
        path=container(found.paths[0]).parent if found.paths else None,
        sample=form.sample,
        identity=identity(found) if hashed else "",
    )
    if card.task == "ranking":
        bunch["query"] = table.query
    if card.similarity is not None:
        bunch["similarity"] = card.similarity
    folds = [len(part.y) for part in tables] if form.folds == "files" else form.folds
    if folds and len(codes) == sum(folds):
        bunch["fold"] = _published_folds(card.name, folds, table.query)
    published = nominal == "ordinal" and not away
    comparable = published and (missing == "drop" or not note)
    prints = ""
    if comparable and hashed and form.fingerprint not in (None, bunch.fingerprint):
        assert form.fingerprint is not None
        prints = (
            f"The content (fingerprint {bunch.fingerprint[:12]}) differs from the card's "
            f"({form.fingerprint[:12]})."
        )
    bunch["note"] = " ".join(filter(None, [form.note, note, prints]))
    return bunch


# Finding


def is_path(name: Any) -> bool:
    """Tell whether a data set is given by a path."""
    return isinstance(name, os.PathLike) or (isinstance(name, str) and not name.isidentifier())


def is_file(name: Any) -> bool:
    """Tell whether a data set is given by the path of a data file, rather than by a card."""
    return is_path(name) and Path(name).suffix not in (".yaml", ".yml")


def find(
    name: Name, data_dir: str | os.PathLike[str] | None = None, options: FileOptions | None = None
) -> Found:
    """Find the files of a data set, given as for :func:`load`; raise a DataError if missing."""
    options = options or FileOptions()
    named = [k for k, v in options._asdict().items() if k != "drop" and v not in (None, {}, ())]
    if is_path(name):
        path = Path(name)  # type: ignore[arg-type]
        if is_file(path):
            return card_of_file(path, options)
        if named:
            raise DataError(f"{path}: a card names its own {named[0]}; leave {named[0]} out")
        name, data_dir, named = read_card(path), path.parent, []
    if isinstance(name, Found):
        return name
    if named:
        called = name.name if isinstance(name, Card) else str(name)
        raise DataError(f"{called}: {named[0]} is for the path of a file; a card names its own")
    card = name if isinstance(name, Card) else find_card(str(name), data_dir)
    found = locate(card, data_dir)
    if found is None:
        raise DataError(missing_message([card], data_dir))
    return found


class Known(NamedTuple):
    """What is known of a data set before its trials.

    `fingerprint` changes with the content; `similarity` is the kind of matrix, if it is one.
    """

    found: Found
    fingerprint: str
    similarity: str | None
    preparation: Preparation


def known(
    name: str | Card | Found,
    *,
    data_dir: str | os.PathLike[str] | None = None,
    nominal: Nominal = "ordinal",
    drop: Sequence[Column] = (),
    **_: Any,
) -> Known:
    """Return what is known of a data set with a card before it is read.

    The arguments are those of :func:`load`.
    """
    found = find(name, data_dir)
    values = getattr(found.form.format, "nominal", {})
    values = {name: len(values) for name, values in values.items() if name not in drop}
    ways: dict[str, Any] = {"one_hot" if nominal == "onehot" else "coded": values}
    done = Preparation(found.form.rows or 0, **ways)
    return Known(found, identity(found), found.card.similarity, done)


def identity(found: Found) -> str:
    """Return a hash of the bytes of a data set's files and of how its card reads them."""
    read_by = {"format", "rows", "classes", "labels", "folds"}
    # what a card leaves out is not hashed: keys outlive new options of cards
    how = found.form.model_dump_json(include=read_by, exclude_defaults=True)
    how += f"{found.form.format.kind} {found.card.n_features}"
    how += str(found.card.missing)
    if not found.paths:
        how += version("scikit-learn")
    digest = sha256(how.encode())
    for path in map(container, found.paths):
        with naming_damage(path):
            state = path.stat()
            digest.update(_hash(path, state.st_size, state.st_mtime_ns))
    return digest.hexdigest()


@lru_cache(maxsize=256)
def _hash(path: Path, size: int, modified: int) -> bytes:
    with path.open("rb") as stream:
        return file_digest(stream, "sha256").digest()


# Files without a card


def card_of_file(path: Path, asked: FileOptions, name: str = "") -> Found:
    """Read a data file and make a card for it, or for a folder of LETOR."""
    paths = _data_files(path)
    guess = own.inspect(paths, asked)
    task = asked.task or ("similarity" if asked.matrix else guess.task_of(path))
    if task not in get_args(Task):
        raise DataError(f"task {task!r}: expected one of {', '.join(get_args(Task))}")
    name = name or "_".join(re.findall(r"[a-z0-9]+", container(path).name.split(".")[0].lower()))
    name = name if name[:1].isalpha() else f"own_{name}"
    files = [re.sub(r"[:\\/]", "_", file.name.strip()) or "data" for file in paths]
    form: dict[str, Any] = {"files": files, "format": guess.format, "left_out": guess.left_out}
    notes = list(guess.notes)
    if len(paths) > 1:
        form |= {"files": [str(file.relative_to(path)) for file in paths], "folds": "files"}
    elif (archive := container(paths[0])) != paths[0]:
        member = paths[0].relative_to(archive).as_posix()
        notes.append(f"the data is {member} in the archive {archive.name}")
        form["members"] = {files[0]: member}
    if task == "regression" and not guess.is_numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        form |= _classes(path, guess, asked, task)
    if (task == "similarity") != (asked.matrix is not None):
        raise DataError(
            f"{path}: `matrix: similarity` or `matrix: distance` goes with the task similarity, "
            "which says what the entries are"
        )
    content = {"name": name, "title": name, "task": task, "n_features": guess.n_features}
    content |= {"similarity": asked.matrix, "source": {"publisher": "the user"}, "forms": [form]}
    content |= {"licence": "not stated", "citation": "not stated"}
    card = make_card(content, f"{path}: no card can be made")
    return Found(card.forms[0], tuple(paths), card, guess.contents, tuple(notes))


def _classes(path: Path, guess: own.Guess, asked: FileOptions, task: str) -> dict[str, Any]:
    """Return the labels of a target in their order, and how many rows have each."""
    labels = guess.labels
    if guess.is_numeric and task == "classification":
        whole = labels is not None and all(float(label).is_integer() for label in labels)
        if not whole and (labels is None or len(labels) > own.FEW):
            raise DataError(
                f"{path}: the target holds numbers that are not whole, for `task: regression`; "
                "classification needs classes"
            )
    if labels is None:
        raise DataError(f"{path}: the target has too many values for {task}; name its column")
    if len(labels) < 2:
        raise DataError(f"{path}: the target has only one value: {', '.join(labels)}")
    known: dict[str, Any] = {"rows": sum(labels.values()), "classes": labels}
    if asked.grades is not None:
        order = [str(grade) for grade in asked.grades]
        if other := [label for label in labels if label not in order]:
            raise DataError(
                f"{path}: grades: {', '.join(other[:5])} of the target not among "
                f"{', '.join(order)}"
            )
        return known | {"classes": {label: labels[label] for label in order if label in labels}}
    if not guess.has_order and not are_numbers(labels):
        known["order"] = "alphabet"
    return known


def _data_files(path: Path) -> list[Path]:
    """Return the data file, of an archive its only one, of a folder of LETOR the parts."""
    if path.is_dir():
        parts = sorted([*path.glob("Fold[1-9]/test.txt"), *path.glob("S[1-9].txt")])
        if len(parts) < 3:
            raise DataError(f"{path}: a folder; name a file in it")
        return parts
    if not is_archive(path) or container(path) != path:
        return [path]
    names = [n for n in members(path) if not re.search(r"(^|/)(\.|__MACOSX)", n)]
    if len(names) != 1:
        shown = ", ".join(names[:5]) or "no files"
        raise DataError(
            f"{path}: an archive of {shown}: name the file with the data, as {path.name}/FILE"
        )
    return [path / names[0]]


# Steps of load


def _read(found: Found) -> list[Table]:
    """Read the files of a data set, and compare their content with the card."""
    card, form, place = found.card, found.form, found.place
    tables = read(found.paths, form.format, card.n_features, card.classes, found.contents)
    n_rows = sum(len(table.y) for table in tables)
    X = tables[0].X
    n_features = 1 if are_objects(X) else X.shape[1]
    if form.rows is not None and n_rows != form.rows:
        raise DataError(f"{place}: found {n_rows} rows, expected {form.rows} ({card.name})")
    if n_features != card.n_features:
        raise DataError(f"{place}: found {n_features} features, expected {card.n_features}")
    if card.task == "similarity" and n_rows != n_features:
        raise DataError(
            f"{place}: found a {n_rows} x {n_features} matrix besides the labels, expected a "
            "square matrix"
        )
    if card.task == "ranking" and tables[0].query is None:
        raise DataError(f"{place}: found no query ids, expected one per row")
    if form.classes is not None:
        codes = np.concatenate([table.y for table in tables]).astype(np.int64)
        counts = np.bincount(codes, minlength=len(form.classes)).tolist()
        for (label, expected), count in zip(form.classes.items(), counts, strict=True):
            if count != expected:
                raise DataError(f"{place}: found {count} rows of {label}, expected {expected}")
    return tables


def _left_out(found: Found, table: Table, drop: Sequence[int]) -> dict[str, str]:
    """Return the columns that are left out, with the reasons that the card gives."""
    columns = getattr(found.form.format, "drop", ())
    named = [column if isinstance(column, str) else f"column {column}" for column in columns]
    named += [table.feature_names[i] for i in drop]
    return {name: found.form.left_out.get(name, "") for name in (*found.form.left_out, *named)}


def _positions(found: Found, table: Table, drop: Sequence[Column]) -> list[int]:
    """Return the positions of features of a card that are left out."""
    if drop and (found.card.task == "similarity" or are_objects(table.X)):
        raise DataError(f"{found.place}: drop: points to compare have no features")
    names = table.feature_names
    away = sorted({column_position(found.place, c, names, "feature") for c in drop})
    if away and len(away) == len(names):
        raise DataError(f"{found.place}: drop: no feature is left")
    return away


def _as_features(
    table: Table, card: Card, nominal: str, done: Preparation
) -> tuple[Table, Preparation]:
    """Encode nominal columns; notice ids, and matrices of similarities."""
    if card.task == "similarity":
        if largest := asymmetry(table.X):
            done = done.noting(
                "the matrix is not symmetric: entries (i, j) and (j, i) differ by up to "
                f"{largest:.3g}"
            )
        return table, done
    if kind := compares_rows(table.X):
        n = len(table.X)
        done = done.noting(
            f"the features are a {n} x {n} matrix, {kind}: if it compares the rows, say so, "
            "`matrix: similarity` or `matrix: distance`"
        )
    done = replace(done, id_like=look_like_ids(table.X, table.feature_names, table.nominal))
    names = table.feature_names
    values = {name: len(table.nominal[name]) for name in names if name in table.nominal}
    if nominal == "ordinal" or not values:
        return table, replace(done, coded=values)
    X, names = one_hot(table)
    return table._replace(X=X, feature_names=names), replace(done, one_hot=values)


def _as_stored(X: Any, dense: bool) -> Any:
    X = X.toarray() if dense and hasattr(X, "toarray") else X
    X = X if X.dtype == np.float64 else X.astype(np.float64)
    return X if hasattr(X, "tocsr") else np.ascontiguousarray(X)


def _target(card: Card, table: Table) -> tuple[np.ndarray, np.ndarray]:
    if card.classes is not None:
        return table.y.astype(np.int64), np.array(card.classes, dtype=np.str_)
    if card.task != "similarity":
        return table.y, np.array((), dtype=np.str_)
    # classes that the card does not list, in the order of their numbers
    distinct, codes = np.unique(table.y, return_inverse=True)
    return codes.astype(np.int64), canonical_labels(distinct)


def _content(table: Table, codes: np.ndarray, labels: np.ndarray) -> str:
    """Return the fingerprint of the rows with their labels and queries."""
    texts = labels[codes] if labels.size else codes
    if table.query is not None:
        pairs = zip(canonical_labels(texts), table.query.tolist(), strict=True)
        texts = np.array([f"{label} qid:{query}" for label, query in pairs])
    return fingerprint(table.X, texts)


def _published_folds(name: str, folds: Sequence[int], query: np.ndarray | None) -> np.ndarray:
    """Return the published fold of each row; the rows of a query are in one fold."""
    fold = np.repeat(np.arange(len(folds)), folds)
    if query is not None:
        pairs = np.unique(np.column_stack([query, fold]), axis=0)
        queries, times = np.unique(pairs[:, 0], return_counts=True)
        if (times > 1).any():
            split = queries[times > 1][0]
            parts = pairs[pairs[:, 0] == split, 1] + 1
            raise DataError(
                f"{name}: folds: the lengths {', '.join(map(str, folds))} split query "
                f"{split}: its rows are in folds {' and '.join(map(str, parts))}"
            )
    return fold


# Adding


@dataclass(frozen=True)
class Added:
    r"""A card that was written.

    Parameters
    ----------
    path : pathlib.Path
        The card's file.
    card : Card
        The card; ``load(card, data_dir=path.parent)`` loads the data.
    file : pathlib.Path
        Where the data is found from now on.
    linked : bool
        Whether that is a link to the original file, which must then stay where it is.
    remarks : tuple of str
        The guesses in words.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from kernlearn.datasets import add
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.csv"
    ...     _ = file.write_text("length,colour,kind\n1.5,red,a\n2,blue,b\n")
    ...     added = add(file, name="mine", folder=Path(folder) / "datasets")
    >>> added.path.name, added.card.n_features
    ('mine.yaml', 2)
    >>> added.remarks[0]
    'the target is column kind'
    """

    path: Path
    card: Card
    file: Path
    linked: bool
    remarks: tuple[str, ...]


def add(
    file: str | os.PathLike[str],
    *,
    name: str,
    target: Column | None = None,
    task: str | None = None,
    drop: Sequence[Column] = (),
    grades: Sequence[str] | None = None,
    missing: Missing | None = None,
    sheet: int | str | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    points: Column | None = None,
    read_as: Mapping[str, Any] = {},
    folder: str | os.PathLike[str] = "datasets",
) -> Added:
    r"""Write a card for a data file, which is read as pandas reads it.

    Text in columns, LIBSVM's and LETOR's text, ARFF, NPZ, Parquet, Feather, Excel, Stata, SPSS,
    MATLAB, HDF5, ``.ts`` and lines of JSON are supported, also compressed or in an archive. The
    file stays where it is; a link next to the card makes it available to :func:`load`.

    Parameters
    ----------
    file : path-like
        The file, or an archive that holds one; ``archive.zip/file`` is one of several.
    name : str
        The data set's name: lower case, digits and underscores.
    target, drop, grades, sheet, matrix, points, read_as : optional
        As for :func:`load`.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}, optional
        As for :func:`load`.
    missing : {"drop", "mean", "most_frequent", "category", "error"}, optional
        What :func:`load` does with missing entries of this data; by default rows are dropped.
    folder : path-like, default="datasets"
        Where the card is written.

    Returns
    -------
    Added

    Raises
    ------
    DataError
        If the file cannot be read, the name is not allowed or taken, or the data does not load
        as guessed. Nothing is written then.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from kernlearn.datasets import add, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "mine.csv"
    ...     _ = file.write_text("length,colour,kind\n1.5,red,a\n2,blue,b\n")
    ...     added = add(file, name="mine", folder=Path(folder) / "datasets")
    ...     load(added.card, data_dir=added.path.parent).target_names.tolist()
    ['a', 'b']
    """
    from kernlearn.yaml import dump_yaml

    path, place = Path(file), Path(folder)
    card_path = place / f"{name}.yaml"
    if name in catalogue():
        raise DataError(f"the name {name!r} is that of a data set in the catalogue; use another")
    if card_path.exists():
        raise DataError(f"{card_path}: the card exists already; remove it, or use another name")
    found = card_of_file(
        path, FileOptions(target, task, grades, drop, sheet, matrix, points, read_as), name
    )
    # loaded by the card before anything is written
    bunch = load(found._replace(card=found.card.model_copy(update={"missing": missing})))
    form = found.form.model_copy(update={"own_folder": True, "fingerprint": bunch.fingerprint})
    card = found.card.model_copy(update={"missing": missing, "forms": (form,)})
    content = card.model_dump(mode="json", exclude_defaults=True)
    content["forms"][0]["format"]["kind"] = form.format.kind
    own_path = place / name / container(found.paths[0]).name
    try:
        own_path.parent.mkdir(parents=True, exist_ok=True)
        card_path.write_text(dump_yaml(content), encoding="utf-8")
        linked = _put_next_to_card(container(found.paths[0]), own_path)
    except (DataError, OSError) as error:
        with suppress(OSError):
            card_path.unlink()
        if isinstance(error, DataError):
            raise
        raise DataError(f"{place}: cannot be written: {error.strerror or error}") from None
    kinds = (
        f", {counted(len(card.classes), 'class')}: {listed(card.classes)}" if card.classes else ""
    )
    n_rows = bunch.preparation.rows
    size = f"the task is {card.task}: {n_rows} rows, {counted(card.n_features, 'feature')}{kinds}"
    return Added(card_path, card, own_path, linked, (*bunch.preparation.sentences, size))


def _put_next_to_card(path: Path, own_path: Path) -> bool:
    """Link or copy the file to where the card's data is found; return whether it is a link."""
    if own_path.exists() and own_path.samefile(path):
        return own_path.is_symlink()
    if own_path.exists() or own_path.is_symlink():
        raise DataError(f"{own_path}: another file exists already; remove it")
    with suppress(OSError):  # where links are not possible, the file is copied
        own_path.symlink_to(path.resolve())
        return True
    copyfile(path, own_path)
    return False


# Descriptions


@dataclass(frozen=True)
class Description:
    """The facts about a data set.

    Parameters
    ----------
    facts : dict of str to str
        The facts on the card, as text.
    notes : tuple of str
        Known faults, and remarks on the form that was found.
    paths : tuple of pathlib.Path
        The files, if any.
    found : bool
        Whether the data is available; else the following are empty.
    shape : tuple of int
        The rows and columns loaded.
    prepared : tuple of str
        What loading dropped, coded or filled in, and whether a matrix is not symmetric.
    classes : dict of str to int
        The labels and their numbers of rows; empty if the target is a number.
    target : tuple or None
        The target's values, if it is a number, as for features.
    features : tuple of tuple
        For each column its name, min, max and mean over the entries that are not missing, the
        share of zeros and the number of missing entries, over all rows; none for a similarity
        matrix.

    Examples
    --------
    >>> from kernlearn.datasets import describe
    >>> iris = describe("iris")
    >>> iris.found, iris.shape
    (True, (150, 4))
    >>> iris.classes
    {'setosa': 50, 'versicolor': 50, 'virginica': 50}
    """

    facts: dict[str, str]
    notes: tuple[str, ...]
    paths: tuple[Path, ...]
    found: bool
    shape: tuple[int, ...] = ()
    classes: dict[str, int] | None = None
    target: Any = None
    features: tuple[Any, ...] = ()
    prepared: tuple[str, ...] = ()


def describe(name: str | Card, *, data_dir: str | os.PathLike[str] | None = None) -> Description:
    """Describe a data set by its card and, if it is available, its content.

    Parameters
    ----------
    name : str or Card
        A name in the :func:`catalogue`, or a card.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.

    Returns
    -------
    Description

    Raises
    ------
    DataError
        If the name is unknown, or the files are damaged.

    Examples
    --------
    >>> from kernlearn.datasets import describe
    >>> wine = describe("wine")
    >>> wine.shape, wine.classes
    ((178, 13), {'class_0': 59, 'class_1': 71, 'class_2': 48})
    >>> wine.features[0].min, wine.features[0].max
    (11.03, 14.83)
    """
    card = find_card(name) if isinstance(name, str) else name
    found = locate(card, data_dir)
    facts = _facts(card)
    if found is None:
        return Description(facts, card.notes, (), False)
    bunch = load(found)
    notes = (*card.notes, bunch.note) if bunch.note else card.notes
    classes = target = None
    if len(bunch.target_names):
        counts = np.bincount(bunch.target, minlength=len(bunch.target_names)).tolist()
        classes = dict(zip(bunch.target_names.tolist(), counts, strict=True))
    else:
        (target,) = _ranges(bunch.target.reshape(-1, 1), ["target"])
    X, names = bunch.data, bunch.feature_names
    if len(bunch.preparation.notes):  # show all rows that were read
        table = joined(_read(found), found.place)
        X, names = table.X, table.feature_names
    features = () if card.task == "similarity" or are_objects(X) else _ranges(X, names)
    prepared = tuple(s for s in bunch.preparation.sentences if s not in bunch.note)
    shape = bunch.data.shape
    return Description(facts, notes, found.paths, True, shape, classes, target, features, prepared)


def _facts(card: Card) -> dict[str, str]:
    rows = "number of rows unknown" if card.rows is None else f"{card.rows} rows"
    size = f"{rows}, {card.n_features} features"
    if card.similarity is not None:
        size = f"{card.similarity} matrix of {card.n_features} points"
    facts = {
        "name": card.name,
        "title": card.title,
        "task": card.task,
        "size": size,
        "classes": ", ".join(card.classes or ()),
        "files": " or ".join(" + ".join(form.files) for form in card.forms if form.files),
        "publisher": card.source.publisher,
        "page": card.source.page,
        "licence": card.licence,
        "citation": " ".join(card.citation.split()),
    }
    return {fact: text for fact, text in facts.items() if text}


def _ranges(X: Any, names: Any) -> tuple[Any, ...]:
    """Summarise every column of a dense or sparse matrix."""
    import pandas as pd

    frame = pd.DataFrame(X.toarray() if hasattr(X, "toarray") else X, columns=list(names))
    rows = {
        "min": frame.min(),
        "max": frame.max(),
        "mean": frame.mean(),
        "zeros": (frame == 0).mean(),
        "missing": frame.isna().sum(),
    }
    columns = pd.DataFrame(rows).rename_axis("name").reset_index()
    return tuple(columns.itertuples(index=False, name="Column"))


@dataclass(frozen=True)
class Verified:
    """The result of comparing one data set with its card.

    Parameters
    ----------
    name : str
        The data set.
    state : {"ok", "differs", "damaged", "missing", "unknown"}
        The content is that of the card; it reads well but differs; it does not read as the card
        says; there are no files; or it reads well and the card has no fingerprint.
    paths : tuple of pathlib.Path
        Its files.
    remark : str
        The difference, or the damage and its place.
    fingerprint : str
        The content's fingerprint; empty if there is none.

    Examples
    --------
    >>> from kernlearn.datasets import verify
    >>> result = verify("iris")
    >>> result.name, result.state, result.remark, len(result.fingerprint)
    ('iris', 'ok', '', 64)
    """

    name: str
    state: Literal["ok", "differs", "damaged", "missing", "unknown"]
    paths: tuple[Path, ...] = ()
    remark: str = ""
    fingerprint: str = ""


def verify(name: str | Card, *, data_dir: str | os.PathLike[str] | None = None) -> Verified:
    """Read a data set and compare rows, classes and content with its card.

    Parameters
    ----------
    name : str or Card
        The data set.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.

    Returns
    -------
    Verified

    Raises
    ------
    DataError
        If the name is unknown.

    Examples
    --------
    >>> from kernlearn.datasets import verify
    >>> verify("iris").state, verify("diabetes_sklearn").state
    ('ok', 'unknown')
    """
    card = find_card(name) if isinstance(name, str) else name
    found = locate(card, data_dir)
    if found is None:
        return Verified(card.name, "missing", remark=" + ".join(card.forms[0].files))
    expected = found.form.fingerprint
    try:
        content: str = load(found).fingerprint
    except DataError as error:
        return Verified(card.name, "damaged", found.paths, str(error))
    if expected is None:
        remark = "the card has no fingerprint"
        return Verified(card.name, "unknown", found.paths, remark, content)
    if content != expected:
        remark = f"the content's fingerprint is {content[:12]}, the card's {expected[:12]}"
        return Verified(card.name, "differs", found.paths, remark, content)
    return Verified(card.name, "ok", found.paths, found.form.note, content)
