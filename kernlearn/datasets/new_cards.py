"""Adding a user's data file: a card is written for it, and the file linked next to the card."""

import os
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Literal

import numpy as np

from kernlearn.datasets.card import Card, make_card
from kernlearn.datasets.columns import listed
from kernlearn.datasets.file_options import Column, FileOptions
from kernlearn.datasets.files import Found
from kernlearn.datasets.formats import Missing
from kernlearn.datasets.guess import card_content
from kernlearn.datasets.known_cards import catalogue
from kernlearn.datasets.loading import load
from kernlearn.datasets.members import data_file
from kernlearn.datasets.preparation import Preparation
from kernlearn.datasets.unpacking import container
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
    delimiter: str | None = None,
    header: bool | None = None,
    drop: Sequence[Column] = (),
    grades: Sequence[str] | None = None,
    missing: Missing | None = None,
    sheet: int | str | None = None,
    labels: str | os.PathLike[str] | None = None,
    matrix: Literal["similarity", "distance"] | None = None,
    points: Column | None = None,
    publisher: str = "the user",
    page: str | None = None,
    licence: str = "not stated",
    citation: str = "not stated",
    folder: str | os.PathLike[str] = "datasets",
    copy: bool = False,
) -> Added:
    r"""Guess how a data file reads and write a card for it.

    Text in columns (with quotes, ``sep=`` lines or decimal commas too), LIBSVM's text, ARFF, NPZ,
    Parquet, Excel, Stata, MATLAB and HDF5 files are supported, also compressed, and alone of their
    kind in an archive. The file stays where it is; a link next to the card makes it available to
    :func:`load`.

    Parameters
    ----------
    file : path-like
        The file, or an archive that holds one; ``archive.zip/file`` is one of several.
    name : str
        The data set's name: lower case, digits and underscores.
    target : int or str, optional
        The target's column by name, or by position from 0 (-1 is the last); for NPZ the array's
        name. By default a column called target, class, label, y or outcome, else the last one.
    task : {"classification", "regression", "ordinal", "similarity"}, optional
        By default ordinal if the target is an ordered categorical column, classification if it is
        text or at most 20 whole numbers. Similarity is for a square matrix of similarities or
        distances, with a column or array of labels or with `labels`.
    title : str, optional
        The full name.
    delimiter : str, optional
        The separator of columns; ``"blanks"`` for any run of blanks. Guessed by default.
    header : bool, optional
        Whether the first line names the columns. Guessed by default.
    drop : sequence of int or str, default=()
        Columns that are no features. Without names the columns are x1, x2, and so on.
    grades : sequence of str, optional
        The labels in their order. By default that of an ordered categorical column or of numbers;
        else that of the alphabet, which is then said.
    missing : {"drop", "mean", "most_frequent", "error"}, optional
        What :func:`load` does with missing entries of this data; by default rows are dropped.
    sheet : int or str, optional
        The sheet of an Excel file, by position or name; by default the first.
    labels : path-like, optional
        For a matrix without labels, a file with one label per line. Both are written to an NPZ
        file next to the card.
    matrix : {"similarity", "distance"}, optional
        What the entries of a matrix are; by default distances if they are not negative and 0 on
        the diagonal.
    points : int or str, optional
        As for :func:`load`.
    publisher, page, licence, citation : str, optional
        The source of the data.
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
    from kernlearn.datasets.yaml import CARD_NODES, dump_yaml, parse_yaml

    path, place = Path(file), Path(folder)
    card_path = place / f"{name}.yaml"
    if name in catalogue():
        raise DataError(f"the name {name!r} is that of a data set in the catalogue; use another")
    if card_path.exists():
        raise DataError(f"{card_path}: the card exists already; remove it, or use another name")
    given = FileOptions(target, task, grades, drop, sheet, matrix, delimiter, header, points)
    with ExitStack() as stack:
        if labels is not None:
            temporary = stack.enter_context(tempfile.TemporaryDirectory())
            path = _with_labels(data_file(path), Path(labels), Path(temporary), given)
        path = data_file(path)
        content, guess = card_content(path, name, given)
        if labels is not None:
            n = content["n_features"]
            guess.remarks[0] = f"a {n} x {n} matrix, and labels in {Path(labels).name}"
        source = {"publisher": publisher} | ({"page": page} if page else {})
        content |= {"title": title or name, "source": source}
        content |= {"licence": licence, "citation": citation}
        content |= {"missing": missing} if missing is not None else {}
        form = content["forms"][0]
        form["own_folder"] = True
        own = (
            place / name / (form["files"][0] if container(path) == path else container(path).name)
        )
        classes = form.get("classes")
        card = make_card(content, f"{path}: no card can be made")
        # loaded by the card before anything is written
        bunch = load(Found(card.forms[0], (path,), card), cache=False)
        if classes is None and not bunch.note:
            form["rows"] = bunch.data.shape[0]
        form["fingerprint"] = bunch.fingerprint
        text = dump_yaml(content, width=95)
        # what cannot be read back is not written
        card = make_card(
            parse_yaml(text, str(card_path), fault=DataError, most=CARD_NODES)[0],
            f"{path}: no card can be made",
        )
        try:
            own.parent.mkdir(parents=True, exist_ok=True)
            card_path.write_text(text, encoding="utf-8")
            linked = _put_next_to_card(container(path), own, copy or labels is not None)
        except (DataError, OSError) as error:
            with suppress(OSError):
                card_path.unlink()
            if isinstance(error, DataError):
                raise
            raise DataError(f"{place}: cannot be written: {error.strerror or error}") from None
    # the guess has said these already
    done = replace(bunch.preparation, left_out={}, coded={}, one_hot={})
    remarks = (*guess.remarks, _summary(card, bunch.data.shape[0], done), *done.sentences)
    return Added(card_path, card, own, linked, remarks)


def _summary(card: Card, n_rows: int, done: Preparation) -> str:
    """Say what the data set is: its task, its size and its labels."""
    labels = ""
    if card.classes is not None and card.task == "ordinal" and not done.grades:
        labels = f" in the order {' < '.join(card.classes)}"
    elif card.classes is not None:
        labels = f": {listed(card.classes)}"
    kinds = f", {len(card.classes)} classes{labels}" if card.classes is not None else ""
    features = "feature" if card.n_features == 1 else "features"
    size = f"{n_rows + done.rows_dropped} rows, {card.n_features} {features}"
    if card.similarity is not None:
        size = f"{card.n_features} points"
    return f"the task is {card.task}: {size}{kinds}"


def _with_labels(path: Path, labels: Path, folder: Path, given: FileOptions) -> Path:
    """Write a matrix and its labels to one NPZ file."""
    from kernlearn.datasets import matrices

    if given.task != "similarity" and given.matrix is None:
        raise DataError(f"{labels}: labels in a file of their own go with the task similarity")
    if not labels.is_file():
        raise DataError(f"{labels}: no such file")
    S = matrices.read_matrix(path, given)
    matrices.check_square(path, S.shape, labelled=False)
    written = folder / f"{path.stem}.npz"
    np.savez(written, X=S, y=matrices.read_labels(labels, len(S)))
    return written


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
