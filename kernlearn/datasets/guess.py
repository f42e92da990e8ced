"""Guessing how a user's data file reads: format, target, nominal columns, missing entries."""

import re
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from kernlearn.datasets import arrow_columns, frames, grades, matrices, parquet
from kernlearn.datasets.columns import Entries, NumberEntries, guess_columns, position
from kernlearn.datasets.file_options import FileOptions, Guess
from kernlearn.datasets.formats import Expected, Format
from kernlearn.datasets.guess_arrays import guess_matlab, guess_npz
from kernlearn.datasets.guess_objects import JSON_LINES, guess_json_lines, guess_series
from kernlearn.datasets.guess_text import guess_text
from kernlearn.datasets.members import SHEETS, ZIP, suffix_of
from kernlearn.datasets.unpacking import clear_errors, container, read_head
from kernlearn.exceptions import DataError

VERSION = 6  # to be raised when other guesses are made: cards made before are then made again
_TASKS = ("classification", "regression", "ordinal", "similarity")
_FEW = 20  # up to this many distinct whole numbers are taken for classes
_PARQUET, _NPY = b"PAR1", b"\x93NUMPY"
_MATLAB = (b"\x89HDF\r\n\x1a\n", b"MATLAB")


@clear_errors()
def card_content(path: Path, name: str, given: FileOptions) -> tuple[dict[str, Any], Guess]:
    """Guess how a file reads; return the content of a card for it, and the guess."""
    task, matrix = given.task, given.matrix
    if task is not None and task not in _TASKS:
        raise DataError(f"task {task!r}: expected one of {', '.join(_TASKS)}")
    guess = _guess(path, given)
    task = task or ("similarity" if matrix is not None else _task(guess))
    content: dict[str, Any] = {"name": name, "title": name, "task": task}
    form: dict[str, Any] = {"files": [re.sub(r"[:\\/]", "_", path.name.strip()) or "data"]}
    if (archive := container(path)) != path:
        member = path.relative_to(archive).as_posix()
        guess.remarks.append(f"the data is {member} in the archive {archive.name}")
        if member != form["files"][0]:
            form["members"] = {form["files"][0]: member}
    form["format"] = guess.format
    if task == "regression" and not guess.numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        if guess.labels is None:
            raise DataError(f"{path}: the target has too many values for {task}; name its column")
        if len(guess.labels) < 2:
            raise DataError(f"{path}: the target has only one value: {', '.join(guess.labels)}")
        labels = guess.labels
        if given.grades is not None:
            order = grades.in_order(labels, given.grades, str(path))
            labels = {label: labels[label] for label in order}
        elif not guess.ordered and not grades.are_numbers(labels):
            form["order"] = "alphabet"
        form |= {"rows": sum(labels.values()), "classes": labels}
    if guess.left_out:
        form["left_out"] = guess.left_out
    content["n_features"] = guess.n_features
    if task == "similarity":
        matrices.check_square(path, (form["rows"], guess.n_features), labelled=True)
        content["similarity"] = matrix or _matrix_kind(path, guess, form)
    elif matrix is not None:
        raise DataError(f"{path}: matrix: is for the task similarity")
    content |= {"source": {"publisher": "the user"}, "forms": [form]}
    content |= {"licence": "not stated", "citation": "not stated"}
    return content, guess


def _matrix_kind(path: Path, guess: Guess, form: dict[str, Any]) -> str:
    """Guess whether a matrix holds similarities or distances, and say so."""
    options: Any = TypeAdapter(Format).validate_python(guess.format)
    classes = tuple(form["classes"])
    table = options.read([path], Expected(guess.n_features, classes))
    kind = matrices.kind_of(table.X)
    guess.remarks.append(matrices.remark(kind))
    return kind


def file_name(path: Path) -> str:
    """Derive the name of a data set from that of its file."""
    words = re.findall(r"[a-z0-9]+", path.name.split(".")[0].lower())
    return "_".join(["own", *words]) if not words or words[0][0].isdigit() else "_".join(words)


def _task(guess: Guess) -> str:
    labels = guess.labels or {}
    if guess.ordinal and len(labels) > 2:
        return "ordinal"
    whole = bool(labels) and all(label.lstrip("-").isdecimal() for label in labels)
    few = whole and len(labels) <= _FEW
    return "classification" if few or not guess.numeric else "regression"


def _guess(path: Path, given: FileOptions) -> Guess:
    magic, suffix = read_head(path, 8), suffix_of(path.name)
    if magic == frames.OLD_EXCEL or (magic.startswith(ZIP) and suffix in SHEETS):
        return _guess_sheet(path, given)
    if given.sheet is not None:
        raise DataError(f"{path}: sheet: is for Excel and OpenDocument files")
    suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]  # it may be compressed
    if ".ts" in suffixes:
        return guess_series(path, given)
    if any(suffix in JSON_LINES for suffix in suffixes):
        return guess_json_lines(path, given)
    if magic.startswith((ZIP, *_MATLAB)) and given.points is not None:
        raise DataError(
            f"{path}: points: is for text in columns, sheets, lines of JSON and series"
        )
    if magic.startswith(ZIP):
        return guess_npz(path, given.target)
    if magic.startswith(_PARQUET):
        return _guess_parquet(path, given)
    if magic.startswith(_MATLAB) or suffix == ".mat":
        return guess_matlab(path, given.target)
    if magic.startswith(_NPY):
        raise DataError(
            f"{path}: an NPY file holds one array and no labels: write both to an NPZ file, by "
            "numpy.savez(file, X=X, y=y)"
        )
    if suffix == ".dta":
        return _guess_frame(path, "stata", frames.load_stata(path), given, {})
    return guess_text(path, given)


def _guess_sheet(path: Path, given: FileOptions) -> Guess:
    sheet = 0 if given.sheet is None else given.sheet
    table = frames.load_sheet(path, sheet, given.header)
    try:
        return _guess_frame(path, "excel", table, given, {"sheet": sheet})
    except DataError as error:
        if given.sheet is not None or len(table.sheets) < 2:
            raise
        names = ", ".join(table.sheets)
        raise DataError(
            f"{error}. This is the first of the sheets {names}; name another by sheet"
        ) from None


def _guess_frame(
    path: Path, kind: str, table: frames.Frame, given: FileOptions, more: dict[str, Any]
) -> Guess:
    names = table.names or ()
    all_names = names or [str(i) for i in range(len(table.columns))]
    columns = [
        Entries(name, entries, table.orders.get(name))
        for name, entries in zip(all_names, table.columns, strict=True)
    ]
    options: dict[str, Any] = {"kind": kind, **more}
    if kind == "excel":
        options["header"] = bool(names)
    title = "Stata format"
    if kind == "excel":
        at = table.sheets.index(more["sheet"]) if more["sheet"] in table.sheets else more["sheet"]
        others = f" of {', '.join(table.sheets)}" if len(table.sheets) > 1 else ""
        title = f"sheet {table.sheets[int(at)]}{others}"
    guess = guess_columns(path, columns, names, given, options, [title], null="")
    if guess.ordinal and given.task is None and len(guess.labels or ()) > 2:
        guess.remarks.append("the target's values have an order, which `task: ordinal` takes")
    return guess._replace(ordinal=False)  # a labelled value of Stata need not be a grade


def _guess_parquet(path: Path, given: FileOptions) -> Guess:
    kinds = parquet.column_types(path)
    all_names = list(kinds)
    drop = {all_names[position(path, c, all_names, len(kinds))] for c in given.drop}
    target = given.target
    if target is not None:
        target = all_names[position(path, target, all_names, len(kinds))]
        if target in drop:
            raise DataError(f"{path}: column {target} is the target; it cannot be dropped too")
    left_out = {n: f"values of type {kind:.60}" for n, kind in kinds.items() if kind}
    left_out = {name: why for name, why in left_out.items() if name not in drop | {target}}
    away = [name for name in all_names if name in drop or name in left_out]
    table = parquet.load_parquet(path, drop=away)
    if not table.num_rows:
        raise DataError(f"{path}: the file has no rows")
    columns = [
        _arrow_entries(name, column)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]
    options: dict[str, Any] = {"kind": "parquet"}
    remarks = ["Parquet format"]
    remarks += [f"column {name} is left out: {why}" for name, why in left_out.items()]
    given = given._replace(target=target, drop=())
    guess = guess_columns(path, columns, table.column_names, given, options, remarks, null="")
    options.pop("missing", None)  # a missing entry is null
    options["drop"] = [*away, *options["drop"]]
    return guess._replace(left_out={**left_out, **guess.left_out})


def _arrow_entries(name: str, column: Any) -> Entries:
    if arrow_columns.is_number(column.type):
        null = column.is_null().to_numpy(zero_copy_only=False)
        return NumberEntries(name, arrow_columns.plain_numbers(column, null), null)
    codes, values = arrow_columns.different_values(column)
    texts = [*map(str, values), ""]  # the last for -1
    return Entries(name, [texts[code] for code in codes], arrow_columns.category_order(column))
