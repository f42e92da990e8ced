"""Files without a card: their format, and the roles of their columns."""

import json
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

import numpy as np

from kernlearn.checks import counted, listed
from kernlearn.datasets import matrices, odd_entries, readers
from kernlearn.datasets.card import Arrays, Pairs, Reading, Task, make_card
from kernlearn.datasets.files import PACKED, Found, container, file_bytes, is_archive, members
from kernlearn.datasets.formats import TableFile, recognised, table_file
from kernlearn.datasets.groups import ID_NAME, named_groups, repeated
from kernlearn.datasets.matrices import AS_MATRIX, TARGETS
from kernlearn.datasets.tables import (
    ROW_NAMES,
    are_numbers,
    canonical_labels,
    column_position,
    default_order,
    plain_numbers,
)
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Note on a matrix whose rows are in another order in the file.
REORDERED = "the rows are taken in the order of the columns, by their names"
_MANY = 200  # with more distinct values, text is no nominal column and numbers are no classes
_FEW = 20  # up to this many distinct whole numbers are taken for classes
_EMPTY = "it has no entries"
#: How the reasons begin why columns are no features; dates may be unclear.
DATES, TEXT, VALUES, DIGITS = "dates", "text with", "values of type", "numbers of too many digits"
UNCLEAR = " of no clear format"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DATE = re.compile(
    r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
    rf"(?:\d{{4}}([-/.])\d\d?\1\d\d?|\d\d?([./-])\d\d?\2\d{{4}}|\d\d?[ -]{_MONTH}[ -]\d{{4}}|"
    rf"{_MONTH} \d\d?,? \d{{4}})([ T].*)?|\d{{4}}-\d\d",
    re.IGNORECASE,
)


class Guess(NamedTuple):
    """How a file without a card reads, and what is in it.

    `format` is that of a card; `contents` what :func:`~kernlearn.datasets.readers.content_of`
    returns; `labels` count the values of the target, if these are few, in their order: that of the
    file, if it lists them; `task` is one that the file names.
    """

    format: dict[str, Any]
    contents: Sequence[Any]
    n_features: int
    labels: dict[str, int] | None
    is_numeric: bool  # whether the target is a number
    notes: list[str]
    left_out: Mapping[str, str] = {}
    task: str | None = None
    shared: Mapping[str, int] = {}
    marks: Mapping[str, Any] = {}

    def task_of(self, path: Any) -> str:
        """Return the task: numbers are for regression, unless they are a few whole ones."""
        if self.task is not None:
            return self.task
        if not self.is_numeric:
            return "classification"
        counts = self.labels or {}
        other = {label: n for label, n in counts.items() if not label.lstrip("-").isdecimal()}
        n, n_whole = sum(counts.values()), sum(counts.values()) - sum(other.values())
        if not 0 < len(counts) - len(other) <= _FEW or 10 * n_whole < 9 * n:
            return "regression"
        if not other:
            return "classification"
        raise DataError(
            f"{path}: {n_whole} of {n} entries of the target are few different whole numbers, and "
            f"{next(iter(other))} is none: correct it",
            [("task", "classification"), ("task", "regression")],
        )


def card_of_file(path: Path, asked: Reading, stated: str | None, name: str = "data") -> Found:
    """Read a data file and make a card for it, or for a folder of LETOR."""
    paths = _data_files(path)
    guess = _inspect(paths, asked)
    asked_for = "similarity" if asked.matrix else "ordinal" if asked.grades else None
    task = stated or asked_for or guess.task_of(path)
    if task not in get_args(Task):
        raise DataError(f"task {task!r}: expected one of {', '.join(get_args(Task))}")
    notes = list(guess.notes)
    if (archive := container(paths[0])) != paths[0]:
        member = paths[0].relative_to(archive).as_posix()
        notes.append(f"the data is {member} in the archive {archive.name}")
    names = [file.stem if file.suffix.lower() in PACKED else file.name for file in paths]
    files = [re.sub(r"[^\w.-]|^\.", "_", name) for name in names]
    form: dict[str, Any] = {"files": files, "format": guess.format, "left_out": guess.left_out}
    if len(paths) > 1:
        form |= {"files": [file.relative_to(path).as_posix() for file in paths], "folds": "files"}
    if (labels := guess.labels) is not None and len(labels) < 2:
        raise DataError(f"{path}: all targets are {''.join(labels)}, or missing (as NA and None)")
    if task == "regression" and not guess.is_numeric:
        raise DataError(f"{path}: the target of a regression must be numbers")
    if task != "regression":
        form |= _classes(path, guess, asked, task)
    n_classes, certain = len(guess.labels or ()), _FEW if stated else 2
    if task == "classification" and guess.is_numeric and n_classes > certain:
        notes.append(
            f"the {n_classes} different numbers of the target are taken as classes; the task "
            "ordinal takes them as grades, the task regression as amounts"
        )
    single = [label for label, n in (guess.labels or {}).items() if n == 1]
    if single and task != "regression":
        notes.append(f"{len(single)} of {n_classes} classes with a single row, as {single[0]!r}")
    if (task == "similarity") != (asked.matrix is not None):
        problem = f"{path}: the task similarity and `matrix` go together: take another task"
        raise DataError(problem, AS_MATRIX)
    content = {
        "name": name,
        "title": name,
        "task": task,
        "n_features": guess.n_features,
        "similarity": asked.matrix,
        "source": {"publisher": "the user"},
        "forms": [form],
        "licence": "not stated",
        "citation": "not stated",
    }
    card = make_card(content, f"{path}: no card can be made")
    besides = () if asked.labels is None else (Path(asked.labels),)
    of_files = guess.contents, tuple(notes), guess.shared, besides, guess.marks
    return Found(card.forms[0], tuple(paths), card, *of_files)


def _classes(path: Path, guess: Guess, asked: Reading, task: str) -> dict[str, Any]:
    """Return the labels of a target in their order, and how many rows have each."""
    labels = guess.labels
    if guess.is_numeric and task == "classification":
        whole = labels is not None and all(float(label).is_integer() for label in labels)
        if not whole and (labels is None or len(labels) > _FEW):
            problem = f"{path}: the target holds numbers that are not whole: make classes of them"
            raise DataError(problem, [("task", "regression")])
    if labels is None:
        kind = "classes, which a matrix takes" if asked.matrix else task
        raise DataError(f"{path}: the target has too many values for {kind}; name its column")
    known: dict[str, Any] = {"rows": sum(labels.values()), "classes": labels}
    if asked.grades is not None:
        order = asked.grades
        if other := [label for label in labels if label not in order]:
            raise DataError(f"{path}: grades: {listed(other)} is not among {listed(order)}")
        return known | {"classes": {label: labels[label] for label in order if label in labels}}
    usual = list(labels) == default_order(labels)
    if not (usual and are_numbers(labels)):
        known["order"] = "alphabet" if usual else "file"  # which may have them sorted by letters
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
        held = listed(names) or "no files"
        raise DataError(f"{path}: an archive of {held}: name the file in it, as {path.name}/FILE")
    return [path / names[0]]


def _inspect(paths: Sequence[Path], asked: Reading) -> Guess:
    """Recognise the format of a file, read it, and choose the roles of its columns.

    Several files, as of LETOR, are of one format and have the same columns.
    """
    path = paths[0]
    content = b"\n".join(map(file_bytes, paths))
    format = recognised(path, content, asked)
    if asked.labels is not None and asked.matrix is None and not isinstance(format, Arrays):
        problem = f"{path}: labels: only matrices and arrays take those of another file"
        raise DataError(problem, AS_MATRIX)
    if isinstance(format, Pairs):
        guess = _pairs(path, content)
        return guess if len(paths) == 1 else guess._replace(contents=())
    if len(paths) > 1:
        raise DataError(f"{path.parent}: a folder; name a file in it")
    if isinstance(format, Arrays):
        return _arrays(path, format, asked)
    n_lines = content.count(b"\n")
    del content  # of a large file, before it is parsed
    file = table_file(path, format, n_lines, asked.sheet)
    return _table(file, asked) if asked.matrix is None else _matrix(file, asked)


def _matrix(file: TableFile, asked: Reading) -> Guess:
    """Choose the roles of the columns of a matrix, whose labels another file may have."""
    path, options, frame = file
    frame.attrs["matrix"], order = asked.matrix, [*range(len(frame))]
    notes, shared = list[str](), dict[str, int]()
    if (by := matrices.row_names(frame)) is not None:
        order = matrices.order_of_columns(path, frame, by)
    elif asked.labels is not None and not options.header:  # nor are there names of columns
        texts = frame.columns[~plain_numbers(frame)]
        by = next((str(name) for name in texts if frame[name].is_unique), None)
    if by is not None:
        asked = asked.model_copy(update={"drop": (*asked.drop, by)})
    if asked.labels is not None:
        of_columns = frame.columns if options.header else None
        names = of_columns if by is None else frame[by]
        columns, notes, shared = matrices.labels_of(names, len(frame), asked)
        frame = frame.assign(**columns)
        asked = asked.model_copy(update={"target": next(iter(columns))})
    guess = _table(TableFile(path, options, frame), asked)
    if order != sorted(order):
        notes.append(REORDERED)
        marks = {key: values[order] for key, values in guess.marks.items()}
        guess = guess._replace(contents=(frame.iloc[order].reset_index(drop=True),), marks=marks)
    return guess._replace(notes=[*notes, *guess.notes], shared={**guess.shared, **shared})


def _pairs(path: Path, content: bytes) -> Guess:
    """Take LIBSVM's pairs, with queries for ranking."""
    table = readers.load_pairs(path, content)
    task = None if table.query is None else "ranking"
    zero_based = task is None and bool(table.X.nnz) and int(table.X.indices.min()) == 0
    if not zero_based:
        table = table._replace(X=table.X[:, 1:])
    format = {"kind": "libsvm", "zero_based": zero_based}
    labels, n_features = _counted_labels(table.y), table.X.shape[1]
    return Guess(format, (table,), n_features, labels, True, [], task=task)


def _arrays(path: Path, format: Arrays, asked: Reading) -> Guess:
    """Choose the matrix and the labels among the arrays of a file: X and y, or the only ones."""
    import pandas as pd

    arrays = readers.load_arrays(path)
    names = asked.read_as if asked.target is None else {**asked.read_as, "target": asked.target}

    def chosen(key: str, possible: list[str]) -> str:
        name = names.get(key, getattr(format, key))
        alike = [one for one in possible if f".{one}".endswith(f".{name}")]
        if len(alike := alike if key in names else alike or possible) == 1:
            return alike[0]
        shapes = {name: f"{name} of shape {array.shape}" for name, array in arrays.items()}
        ways = [(f"read_as.{key}", one) for one in alike]
        problem = f"{len(alike)} arrays could be the {key}: {listed(shapes[k] for k in alike)}"
        if not alike:
            ways = [("labels", "FILE")] if key == "target" else []
            problem = f"no array could be the {key}; it has {listed(shapes.values()) or 'none'}"
        raise DataError(f"{path}: {problem}: {'keep' if alike else 'write'} one", ways)

    flat = [k for k, a in arrays.items() if a.ndim == 2 and a.dtype.kind in "fiub"]
    wide = [k for k in flat if min(arrays[k].shape) > 1]
    matrix = chosen("matrix", flat if "matrix" in names else wide)
    n, n_features = arrays[matrix].shape
    vectors = [k for k, a in arrays.items() if k != matrix and readers.is_vector(a.shape, n)]
    notes, shared, columns = list[str](), dict[str, int](), dict[str, Any]()
    if asked.labels is None:
        target = chosen("target", vectors)
    else:
        texts = [arrays[k].ravel() for k in vectors if arrays[k].dtype.kind == "U"]
        rows = next((names for names in texts if len({*names}) == n), None)
        columns, notes, shared = matrices.labels_of(rows, n, asked)
        target = next(iter(columns))
        arrays[target] = np.asarray(columns[target])
    beside = {k: arrays[k].ravel() for k in vectors if k not in (target, *columns)}
    shared = {
        **({} if asked.groups or asked.time else named_groups(pd.DataFrame(beside))),
        **shared,
    }
    content = readers.chosen_arrays(path, arrays, matrix, target)
    if asked.matrix is None:
        matrices.refuse_symmetric(path, arrays[matrix])
    written = {"kind": format.kind, "matrix": matrix, "target": target}
    labels, is_numeric = _counted_labels(content.y), content.y.dtype.kind in "fiu"
    notes.append(f"the features are {matrix}, the target is {target}")
    if asked.matrix is None and n == n_features:
        notes.append("the features are square: `matrix: distance` or `similarity` compares points")
    marks = _marks(TableFile(path, format, pd.DataFrame({**beside, **columns})), asked)
    found = (content,), n_features, labels, is_numeric, notes
    return Guess(written, *found, shared=shared, marks=marks)


# Roles of columns


def _counted_labels(labels: Any) -> dict[str, int] | None:
    """Count labels, spelt as on a card, in their order; None if there are too many."""
    import pandas as pd

    labels = labels[pd.notna(labels)]
    if len(np.unique(labels)) > _MANY:
        return None
    values, counts = np.unique(canonical_labels(labels), return_counts=True)
    times = dict(zip(values.tolist(), counts.tolist(), strict=True))
    return {label: times[label] for label in default_order(times)}


def _table(file: TableFile, asked: Reading) -> Guess:
    """Choose the role of each column of a table from its entries, and what the user stated."""
    path, options, frame = file
    names, notes = file.names, _reading_notes(file, asked)
    target, points, left_out = _stated_roles(file, asked)
    if asked.target is None:
        last = "" if names[target].lower() in TARGETS else ", the last; `target` names another"
        notes.append(f"the target is column {names[target]}{last}")
    if asked.matrix is None:
        odd_entries.refuse_totals(file)
    marking = _marking(file, asked)
    # pandas calls the second column x x.1
    kept = [name for i, name in enumerate(names) if i not in left_out]
    bases = {name: re.sub(r"\.\d+$", "", name) for name in kept}
    if again := [name for name, base in bases.items() if base != name and base in names]:
        notes.append(f"a second column of one name is read as {listed(again)}")
    if copy := next((name for name in again if bases[name] == names[target]), None):
        problem = f"{path}: column {copy} may be a second column {names[target]}: rename it"
        raise DataError(problem, [("drop", [copy])])
    rest = [i for i in range(len(names)) if i not in (target, *left_out)] if points is None else []
    nominal = _feature_roles(file, [i for i in rest if i not in marking], left_out)
    labelled = frame[frame.iloc[:, target].notna()].select_dtypes(exclude="category")
    for name in labelled.columns.intersection([*nominal]) if len(labelled) < len(frame) else ():
        known = {*labelled[name].dropna().astype(str)}
        nominal[name] = [value for value in nominal[name] if value in known] or nominal[name]
    is_table = points is None and asked.matrix is None
    for i in marking if is_table else ():
        nominal |= _ordered_marks(file, i, dated=names[i] == asked.time)
    if asked.matrix is not None:  # a point may lack all its pairs
        left_out = {i: why for i, why in left_out.items() if why != _EMPTY}
    rest = rest if asked.matrix is None else [i for i in rest if i not in marking]
    features = [i for i in rest if i not in left_out] if points is None else [points]
    shared: dict[str, int] = {}
    if is_table and not marking:
        ids = [i for i, why in left_out.items() if why.startswith((TEXT, DIGITS))]
        shared = repeated(frame, [target, *features], ids)
    if not marking:  # of features the preparation says so
        of_points = [i for i in range(len(names)) if i not in (target, points)]
        away = [i for i, reason in left_out.items() if reason]
        shared |= named_groups(frame.iloc[:, away if points is None else of_points])
    reasons = {names[i]: reason for i, reason in left_out.items() if reason}
    if not features:
        _refuse_no_features(file, reasons)
    matrices.check_matrix(file, asked.matrix, target, features, left_out)
    if points is not None:
        odd_entries.refuse_number_texts(file, points)
    if options.kind == "delimited" and not {"decimal", "thousands"} & asked.read_as.keys():
        # labels of another file are not in this one
        odd_entries.refuse_thousands(file, features if asked.labels else [target, *features])
    if options.kind == "delimited" and points is None:
        notes += odd_entries.leading_zeros(file, features)
    labels, is_numeric = _target_labels(file, target)
    numbers: dict[str, int] = {}
    for name, values in {**nominal, names[target]: labels or ()}.items():
        first: dict[str, str] = {}
        alike = [(first.setdefault(v.strip().casefold(), v), v) for v in values]
        if pairs := [f"{a!r} and {b!r}" for a, b in alike if a != b]:
            notes.append(f"column {name}: only case or blanks tell {pairs[0]} from each other")
            if len(first) == 2:
                numbers |= {v.strip(): sorted(first).index(v.strip().casefold()) for v in values}
    if numbers:
        way = f"`read_as: {{replace: {json.dumps(numbers, ensure_ascii=False)}}}`"
        notes.append(f"{way} makes numbers of columns of two values")
    used = {target, *features}
    content = options.model_dump(mode="json", exclude_defaults=True) | {
        "kind": options.kind,
        "target": names[target],
        "drop": [name for i, name in enumerate(names) if i not in used],
        "text": [k for k in options.text if k not in names or left_out.get(names.index(k)) != ""],
        "nominal": nominal,
        "points": None if points is None else names[points],
    }
    # ARFF, Stata and SPSS list values in their order, Parquet says which have an order
    ordered = getattr(frame.dtypes.iloc[target], "ordered", False)
    ordered = ordered and options.kind in ("parquet", "feather")
    task = "ordinal" if ordered and len(labels or ()) > 2 else None
    marks = {} if is_table else _marks(file, asked)
    guessed = len(features), labels, is_numeric, notes, reasons, task, shared, marks
    return Guess(content, (frame,), *guessed)


def _reading_notes(file: TableFile, asked: Reading) -> list[str]:
    """Say how a table was read where that is not plain."""
    _, options, frame = file
    notes = []
    if not getattr(options, "header", True) and "header" not in asked.read_as:
        notes.append("the first line is data; `read_as.header` takes it as names")
    if (codec := getattr(options, "encoding", "utf-8")) != "utf-8":
        notes.append(f"the text is read as {codec}, not UTF-8")
    if empty := frame.attrs.get("empty"):
        notes.append(f"{counted(empty, 'column')} without name and entries left out")
    for text, places in frame.attrs.get("replaced", {}).items():
        number = options.replace[text]
        how = "left out" if number == "" else f"read as {number:g}"
        where = f"in {listed(places)}" if places else "in no column: none has it and else numbers"
        notes.append(f"{text!r} is {how} {where}")
    return notes


def _refuse_no_features(file: TableFile, reasons: Mapping[str, str]) -> None:
    """Say why columns are left out, and which of them could be points to compare."""
    texts = [name for name, why in reasons.items() if why.startswith((TEXT, VALUES))]
    firsts = {name: file.frame[name].dropna().iloc[0] for name in texts}
    points = [k for k, first in firsts.items() if not isinstance(first, dict) or "edges" in first]
    points.sort(key=lambda name: bool(ID_NAME.fullmatch(name)))
    why = "; ".join(f"{k} is left out: {v}" for k, v in reasons.items()) or "all are dropped"
    problem = f"{file.path}: no column of numbers or classes is left ({why})"
    if any(why == f"{VALUES} dict" for why in reasons.values()):
        problem += ": write nested fields as columns, as pandas.json_normalize does"
        points = [k for k in points if isinstance(firsts[k], dict)]
    raise DataError(problem, [("points", name) for name in points[:1]])


def _marking(file: TableFile, asked: Reading) -> list[int]:
    """Return the positions of the columns of groups and of time, if they are asked for."""
    columns = [column for column in (asked.groups, asked.time) if column is not None]
    return [column_position(file.path, column, file.names) for column in columns]


def _stated_roles(file: TableFile, asked: Reading) -> tuple[int, int | None, dict[int, str]]:
    """Return the target, the points, and why others are left out; by what is asked, and names."""
    from pandas.api.types import is_integer_dtype, is_numeric_dtype

    path, names = file.path, file.names
    left_out = {column_position(path, column, names): "" for column in asked.drop}
    for i in _marking(file, asked):  # is no feature anyway
        left_out.pop(i, None)
    if ROW_NAMES in names and asked.target != ROW_NAMES:
        left_out.setdefault(names.index(ROW_NAMES), "the first column has no name")
    points = None if asked.points is None else column_position(path, asked.points, names)
    if asked.target is None:
        free = [i for i in range(len(names)) if i not in (points, *left_out)] or [-1]
        target = next((i for one in TARGETS for i in free if names[i].lower() == one), free[-1])
        values = file.frame.iloc[:, target]
        ascends = is_integer_dtype(values) and len(values) > _FEW and values.diff().min() == 1
        if ID_NAME.fullmatch(names[target]) or (ascends and names[target].lower() not in TARGETS):
            problem = f"{path}: the last column, {names[target]}, looks like an id: remove it"
            raise DataError(problem, [("target", "NAME")])
    else:
        target = column_position(path, asked.target, names)
    rest = [i for i in range(len(names)) if i not in (target, *left_out)]
    if points is None and file.options.kind == "jsonl" and len(rest) == 1:
        points = None if is_numeric_dtype(file.frame.iloc[:, rest[0]]) else rest[0]
    if target in (points, *left_out) or points in left_out:
        raise DataError(f"{path}: a column is named twice: as `target`, as `points` or in `drop`")
    return target, points, left_out


def _feature_roles(
    file: TableFile, rest: list[int], left_out: dict[int, str]
) -> dict[str, list[str]]:
    """Return the values of nominal columns; add those that are no features to `left_out`."""
    from pandas.api.types import is_integer_dtype

    nominal: dict[str, list[str]] = {}
    most = min(_MANY, max(_FEW, len(file.frame) // 2))
    plain = plain_numbers(file.frame)
    for i in (i for i in rest if not plain[i]):
        reason, counts = _look_at(file, i)
        if counts and len(counts) > most:
            example = next(iter(counts))
            reason = reason or f"{TEXT} {len(counts)} values, such as {example!r:.40}"
        column = file.frame.iloc[:, i]
        if is_integer_dtype(column) and not column.dropna().between(-(2**53), 2**53).all():
            reason = f"{DIGITS}, such as {column.max()}"
        if reason:
            left_out[i] = reason
        elif counts is not None:
            nominal[file.names[i]] = list(counts)
    return nominal


def _marks(file: TableFile, asked: Reading) -> dict[str, Any]:
    """Return the groups and times of points to compare, NaN where one is missing."""
    import pandas as pd

    values: dict[str, Any] = {}
    for key, column in (("groups", asked.groups), ("time", asked.time)):
        if column is None:
            continue
        i = column_position(file.path, column, file.names)
        held: Any = file.frame.iloc[:, i]
        order = _ordered_marks(file, i, dated=key == "time").get(file.names[i])
        if order is not None:
            codes = pd.Categorical(held.map(str), order).codes.astype(float)
            held = pd.Series(codes).where(codes >= 0)
        values[key] = held.to_numpy(float)
    return values


def _ordered_marks(file: TableFile, i: int, *, dated: bool) -> dict[str, list[str]]:
    """Return the values of a text column of groups or times in their order; none of numbers."""
    from pandas.api.types import is_numeric_dtype

    name, column = file.names[i], file.frame.iloc[:, i].dropna()
    if is_numeric_dtype(column):
        return {}
    values = sorted({*map(str, column)})  # as they are looked up: with a time of day
    if dated:
        if (dates := _dates(values)) is None:
            raise DataError(
                f"{file.path}: time: column {name} has neither numbers nor dates of one format "
                f"and meaning, such as {values[0]!r}; write dates as 2023-12-31"
            )
        values = [values[place] for place in dates.argsort(kind="stable")]
    return {name: values}


def _dates(texts: Iterable[str]) -> "pd.Series[Any] | None":
    """Return texts as dates: by ISO 8601, or else in the format of the first.

    With months, with days and with years first they must be the same, if they fit every text.
    """
    import pandas as pd

    readings: list[pd.Series[Any]] = []
    read: Any = partial(pd.to_datetime, pd.Series([*texts]), utc=True)
    with warnings.catch_warnings(action="ignore"):
        with suppress(ValueError, TypeError):
            return read(format="ISO8601")
        for first in ({}, {"dayfirst": True}, {"yearfirst": True}):
            with suppress(ValueError, TypeError):
                readings.append(read(**first))
    return readings[0] if readings and all(readings[0].equals(one) for one in readings) else None


def _target_labels(file: TableFile, target: int) -> tuple[dict[str, int] | None, bool]:
    """Count the labels, or return None if they are too many; tell whether they are numbers."""
    reason, counts = _look_at(file, target)
    if reason:
        where = f"{file.path}: column {file.names[target]}"
        raise DataError(f"{where} cannot be the target: {reason}; name another by `target`")
    if counts is None:
        return _counted_labels(file.frame.iloc[:, target].dropna().to_numpy()), True
    few = len(counts) <= _MANY
    return {text: n for text, n in counts.items() if n} if few else None, False


def _look_at(file: TableFile, i: int) -> tuple[str, dict[str, int] | None]:
    """Return why a column is no feature, or "", and the counts of its values if not numbers."""
    from pandas.api import types

    column = file.frame.iloc[:, i]
    if not column.count():
        return _EMPTY, None
    if types.is_numeric_dtype(column) and not types.is_bool_dtype(column):
        return "", None
    held = column.dropna()
    kinds = set(map(type, held)) if held.dtype == object else set()
    if other := [kind for kind in kinds if not issubclass(kind, (str, int, float, np.generic))]:
        return f"{VALUES} {other[0].__name__}", {}
    counts: dict[Any, int] = held.astype(str).value_counts(sort=False).to_dict()
    if isinstance(column.dtype, types.CategoricalDtype):
        return "", {text: counts.get(text, 0) for text in map(str, column.cat.categories)}
    if all(map(_DATE.fullmatch, counts)):
        return (
            f"{DATES}{UNCLEAR if _dates(counts) is None else ''}, such as {held.iloc[0]}",
            counts,
        )
    if column.name not in file.options.text:
        odd_entries.refuse_odd_numbers(file, i, counts)
        if file.options.kind in ("delimited", "jsonl") and are_numbers(counts):
            return f"{DIGITS}, such as {max(counts, key=len)}", counts
    if len(counts) > _MANY:
        return "", counts
    return "", {text: counts[text] for text in default_order(counts)}
