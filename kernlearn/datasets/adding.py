"""Adding a user's data file: a card is written for it, and the file linked next to the card."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Any, Literal

import numpy as np

from kernlearn.datasets import readers
from kernlearn.datasets.card import Card, Column, Missing, make_card
from kernlearn.datasets.files import Found, catalogue, container, opened
from kernlearn.datasets.loading import load
from kernlearn.datasets.own import (
    FileOptions,
    card_content,
    check_square,
    choose_matrix,
    data_file,
    decoded,
    dialect,
    listed,
)
from kernlearn.datasets.readers import ROW_NAMES
from kernlearn.datasets.tables import canonical_label, is_number_column
from kernlearn.exceptions import DataError


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
    >>> added.remarks[2]
    'the target is the last column, kind'
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
    title: str | None = None,
    drop: Sequence[Column] = (),
    grades: Sequence[str] | None = None,
    missing: Missing | None = None,
    sheet: int | str | None = None,
    labels: str | os.PathLike[str] | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    points: Column | None = None,
    read_as: Mapping[str, Any] = {},
    folder: str | os.PathLike[str] = "datasets",
    copy: bool = False,
) -> Added:
    r"""Write a card for a data file, which is read as pandas reads it.

    Text in columns, LIBSVM's and LETOR's text, ARFF, NPZ, Parquet, Excel, Stata, SPSS, MATLAB,
    HDF5, ``.ts`` and lines of JSON are supported, also compressed or in an archive. The file stays
    where it is; a link next to the card makes it available to :func:`load`.

    Parameters
    ----------
    file : path-like
        The file, or an archive that holds one; ``archive.zip/file`` is one of several.
    name : str
        The data set's name: lower case, digits and underscores.
    target, drop, grades, sheet, matrix, points, read_as : optional
        As for :func:`load`.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}, optional
        As for :func:`load`. Similarity is for a square matrix of similarities or
        distances, with a column or array of labels or with `labels`.
    title : str, optional
        The full name.
    missing : {"drop", "mean", "most_frequent", "error"}, optional
        What :func:`load` does with missing entries of this data; by default rows are dropped.
    labels : path-like, optional
        For a matrix without labels, a file with one label per line. Both are written to an NPZ
        file next to the card.
    folder : path-like, default="datasets"
        Where the card is written.
    copy : bool, default=False
        Whether the file is copied rather than linked.

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
    from kernlearn.datasets.yaml import dump_yaml

    path, place = Path(file), Path(folder)
    card_path = place / f"{name}.yaml"
    if name in catalogue():
        raise DataError(f"the name {name!r} is that of a data set in the catalogue; use another")
    if card_path.exists():
        raise DataError(f"{card_path}: the card exists already; remove it, or use another name")
    options = FileOptions(target, task, grades, drop, sheet, matrix, points, read_as)
    with ExitStack() as stack:
        if labels is not None:
            temporary = stack.enter_context(tempfile.TemporaryDirectory())
            path = _with_labels(data_file(path), Path(labels), Path(temporary), options)
        path = data_file(path)
        content, remarks = card_content(path, name, options)
        if labels is not None:
            n = content["n_features"]
            remarks[0] = f"a {n} x {n} matrix, and labels in {Path(labels).name}"
        content["title"] = title or name
        content |= {"missing": missing} if missing is not None else {}
        form = content["forms"][0]
        form["own_folder"] = True
        archived = container(path) != path
        own = place / name / (container(path).name if archived else form["files"][0])
        card = make_card(content, f"{path}: no card can be made")
        # loaded by the card before anything is written
        bunch = load(Found(card.forms[0], (path,), card))
        if form.get("classes") is None and not bunch.note:
            form["rows"] = bunch.data.shape[0]
        form["fingerprint"] = bunch.fingerprint
        card = make_card(content, f"{path}: no card can be made")
        try:
            own.parent.mkdir(parents=True, exist_ok=True)
            card_path.write_text(dump_yaml(content), encoding="utf-8")
            linked = _put_next_to_card(container(path), own, copy or labels is not None)
        except (DataError, OSError) as error:
            with suppress(OSError):
                card_path.unlink()
            if isinstance(error, DataError):
                raise
            raise DataError(f"{place}: cannot be written: {error.strerror or error}") from None
    # the remarks have these already
    done = replace(bunch.preparation, left_out={}, coded={}, one_hot={}, without_target=0)
    every = (*remarks, _summary(card, bunch.data.shape[0] + done.rows_dropped, done.grades))
    return Added(card_path, card, own, linked, (*every, *done.sentences))


def _summary(card: Card, n_rows: int, unordered: tuple[str, ...]) -> str:
    """Say what the data set is: its task, its size and its labels."""
    labels = ""
    if card.classes is not None and card.task == "ordinal" and not unordered:
        labels = f" in the order {' < '.join(card.classes)}"
    elif card.classes is not None:
        labels = f": {listed(card.classes)}"
    kinds = f", {len(card.classes)} classes{labels}" if card.classes is not None else ""
    features = "feature" if card.n_features == 1 else "features"
    size = f"{n_rows} rows, {card.n_features} {features}"
    if card.similarity is not None:
        size = f"{card.n_features} points"
    return f"the task is {card.task}: {size}{kinds}"


def _put_next_to_card(path: Path, own: Path, copy: bool) -> bool:
    """Link or copy the file to where the card's data is found; return whether it is a link."""
    if own.exists() and own.samefile(path):
        return own.is_symlink()
    if own.exists() or own.is_symlink():
        raise DataError(f"{own}: another file exists already; remove it")
    if not copy:
        with suppress(OSError):  # where links are not possible, the file is copied
            own.symlink_to(path.resolve())
            return True
    copyfile(path, own)
    return False


def _with_labels(path: Path, labels: Path, folder: Path, options: FileOptions) -> Path:
    """Write a matrix and its labels to one NPZ file."""
    if options.task != "similarity" and options.matrix is None:
        raise DataError(f"{labels}: labels in a file of their own go with the task similarity")
    S = _matrix(path, options)
    check_square(path, S.shape, labelled=False)
    with opened(labels) as stream:
        text, _ = decoded(labels, stream.read(), None)
    lines = [line.strip().strip('"') for line in text.splitlines() if line.strip()]
    lines = lines[1:] if len(lines) == len(S) + 1 else lines  # the name of the column
    if len(lines) != len(S):
        raise DataError(f"{labels}: found {len(lines)} labels, expected {len(S)}, one per line")
    written = folder / f"{path.stem}.npz"
    np.savez(written, X=S, y=np.array([canonical_label(line) for line in lines]))
    return written


def _matrix(path: Path, options: FileOptions) -> np.ndarray:
    """Read a matrix without labels; a first column with the names of rows is left out."""
    with opened(path) as stream:
        content = stream.read()
    if content.startswith((b"PK", b"MATLAB", b"\x89HDF")):
        arrays = readers.load_arrays(path)
        held = ", ".join(arrays) or "nothing"
        return np.asarray(arrays[choose_matrix(path, arrays, held)], dtype=np.float64)
    text, encoding = decoded(path, content, options.read_as.get("encoding"))
    format, _ = dialect(path, text, encoding, options)
    frame = readers.read_frame(path, format)
    if not is_number_column(frame.iloc[:, 0]) or frame.columns[0] == ROW_NAMES:
        frame = frame.iloc[:, 1:]
    for name, column in frame.items():
        if not is_number_column(column) or column.isna().any():
            raise DataError(f"{path}: column {name} of the matrix has entries that are no numbers")
    return frame.to_numpy(np.float64)
