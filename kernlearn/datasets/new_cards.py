"""Making a card for a file of one's own."""

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

from kernlearn.datasets.card import Card
from kernlearn.datasets.guess import Guess, guess_delimited, guess_libsvm, is_libsvm
from kernlearn.exceptions import DataError

_TASKS = ("classification", "regression", "ordinal")
_FEW = 20  # distinct whole numbers that are taken for classes


@dataclass(frozen=True)
class Added:
    """A card that was written.

    Parameters
    ----------
    path : pathlib.Path
        The card's file.
    card : Card
        The card; ``load(card, data_dir=path.parent)`` loads the data.
    file : pathlib.Path
        Where the data is found from now on.
    linked : bool
        Whether that is a link to the file given, which must then stay where it is.
    remarks : tuple of str
        What was guessed.
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
    target: int | str | None = None,
    task: str | None = None,
    title: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    drop: Sequence[int | str] = (),
    publisher: str = "the user",
    page: str | None = None,
    licence: str = "not stated",
    citation: str = "not stated",
    folder: str | os.PathLike[str] = "datasets",
    copy: bool = False,
) -> Added:
    r"""Look at a data file, guess how it reads and write a card for it.

    Text in columns, LIBSVM's text, ARFF, NPZ and Parquet are known, text also packed. The
    file stays where it is; a link to it is put beside the card, where :func:`load` looks for it.

    Parameters
    ----------
    file : path-like
        The file.
    name : str
        The data set's name: lower case, digits and underscores.
    target : int or str, optional
        The target's column by name, or by position from 0, or -1 for the last (for NPZ the
        array's name). By default a column called target, class, label, y or outcome, else
        the last one.
    task : {"classification", "regression", "ordinal"}, optional
        By default classification if the target is text or at most 20 whole numbers.
    title : str, optional
        The full name.
    delimiter : str, optional
        What stands between two columns; ``"blanks"`` for any run of blanks. Guessed.
    header : bool, optional
        Whether the first line names the columns. Guessed.
    drop : sequence of int or str, default=()
        Columns that are no features.
    publisher, page, licence, citation : str, optional
        What is known of where the data is from.
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
        If the file cannot be read, the name is not allowed or taken, or what was guessed
        does not load. Nothing is written then.

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
    path, place = Path(file), Path(folder)
    card_path = place / f"{name}.yaml"
    _check_free(name, card_path)
    source = {"publisher": publisher} | ({"page": page} if page else {})
    about = {"title": title or name, "source": source, "licence": licence, "citation": citation}
    content, guess = look_at(
        path, name=name, target=target, task=task, delimiter=delimiter, header=header, drop=drop
    )
    content |= about
    form = content["forms"][0]
    form["own_folder"] = True
    own = place / name / form["files"][0]
    classes = form.get("classes")
    bunch = _tried(content, path)
    if classes is None and not bunch.note:
        form["rows"] = len(bunch.data)
    form["fingerprint"] = bunch.fingerprint
    card = Card.model_validate(content)
    there = own.exists()
    linked = _place(path, own, copy)
    try:
        _write(card_path, content)
    except DataError:
        if not there:
            own.unlink()
        raise
    kinds = f", {len(classes)} classes" if classes else ""
    remarks = (*guess.remarks, f"the task is {card.task}{kinds}", *filter(None, [bunch.note]))
    return Added(card_path, card, own, linked, remarks)


def look_at(
    path: Path,
    *,
    name: str,
    target: int | str | None = None,
    task: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    drop: Sequence[int | str] = (),
) -> tuple[dict[str, Any], Guess]:
    """Guess how a file reads; return the content of a card for it, and the guess.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    name, target, task, delimiter, header, drop
        As for :func:`add`.

    Returns
    -------
    content : dict
        What :class:`Card` is made of.
    guess : Guess

    Raises
    ------
    DataError
        If the file cannot be read, or its target is not what the task needs.
    """
    if task is not None and task not in _TASKS:
        raise DataError(f"task {task!r}: expected one of {', '.join(_TASKS)}")
    guess = _guess(path, target, delimiter, header, list(drop))
    task = task or _task(guess)
    if task == "regression" and not guess.numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    form: dict[str, Any] = {"files": [_file_name(path)], "format": guess.format}
    if task != "regression":
        classes = _classes(path, guess, task)
        form |= {"rows": sum(classes.values()), "classes": classes}
    content = {
        "name": name,
        "title": name,
        "task": task,
        "n_features": guess.n_features,
        "source": {"publisher": "the user"},
        "forms": [form],
        "licence": "not stated",
        "citation": "not stated",
    }
    return content, guess


def _check_free(name: str, path: Path) -> None:
    from kernlearn.datasets.lookup import catalogue

    if name in catalogue():
        raise DataError(f"the name {name!r} is that of a data set in the catalogue; take another")
    if path.exists():
        raise DataError(f"{path}: there is such a card already; remove it, or take another name")


def _guess(
    path: Path,
    target: int | str | None,
    delimiter: str | None,
    header: bool | None,
    drop: list[int | str],
) -> Guess:
    from kernlearn.datasets.text import read_lines

    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with path.open("rb") as opened:
        magic = opened.read(8)
    if magic.startswith(b"PK\x03\x04"):
        from kernlearn.datasets.guess import guess_npz

        return guess_npz(path, target=target)
    if magic.startswith(b"PAR1"):
        from kernlearn.datasets.guess import guess_parquet

        return guess_parquet(path, target=target, drop=drop)
    if magic.startswith((b"\x89HDF", b"MATLAB")):
        raise DataError(f"{path}: for this format write a card by hand, see CONTRIBUTING.md")
    lines = read_lines(path)
    head = [line for line in lines if line.strip() and not line.lstrip().startswith("%")][:100]
    if head and head[0].lstrip().lower().startswith(("@relation", "@attribute")):
        from kernlearn.datasets.guess import guess_arff

        return guess_arff(path, lines, target=target, drop=drop)
    if is_libsvm(head):
        return guess_libsvm(path, lines)
    return guess_delimited(
        path, lines, target=target, delimiter=delimiter, header=header, drop=drop
    )


def _task(guess: Guess) -> str:
    if not guess.numeric:
        return "classification"
    labels = guess.labels
    whole = labels is not None and all(label.lstrip("-").isdecimal() for label in labels)
    return "classification" if whole and labels and len(labels) <= _FEW else "regression"


def _classes(path: Path, guess: Guess, task: str) -> dict[str, int]:
    if guess.labels is None:
        raise DataError(f"{path}: the target has too many values for {task}; name its column")
    if len(guess.labels) < 2:
        raise DataError(f"{path}: the target has one value only: {', '.join(guess.labels)}")
    return guess.labels


def _file_name(path: Path) -> str:
    name = "".join("_" if c in ":\\/" else c for c in path.name.strip())
    return name or "data"


def _tried(content: dict[str, Any], path: Path) -> Any:
    """Load by the card before anything is written."""
    from pydantic import ValidationError

    from kernlearn.datasets.loading import load

    try:
        card = Card.model_validate(content)
    except ValidationError as error:
        faults = (
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False)
        )
        raise DataError(f"{path}: no card can be made: {'; '.join(faults)}") from None
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder) / card.name
        stage.mkdir()
        _link(path, stage / card.forms[0].files[0])
        try:
            return load(card, data_dir=folder, cache=False)
        except DataError as error:
            link = str(stage / card.forms[0].files[0])
            raise DataError(str(error).replace(link, str(path))) from None


def _link(path: Path, link: Path) -> bool:
    """Link to a file, or copy it where links are not possible; return whether it is a link."""
    try:
        link.symlink_to(path.resolve())
    except OSError:
        copyfile(path, link)
        return False
    return True


def _place(path: Path, own: Path, copy: bool) -> bool:
    """Put the file where the card's data is looked for, unless it is there."""
    try:
        own.parent.mkdir(parents=True, exist_ok=True)
        if own.exists() and own.samefile(path):
            return own.is_symlink()
        if own.exists() or own.is_symlink():
            raise DataError(f"{own}: there is another file already; remove it")
        if not copy:
            return _link(path, own)
        copyfile(path, own)
    except OSError as error:
        raise DataError(f"{own}: cannot be written: {error.strerror or error}") from None
    return False


def _write(path: Path, content: dict[str, Any]) -> None:
    import yaml

    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=95)
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror or error}") from None
