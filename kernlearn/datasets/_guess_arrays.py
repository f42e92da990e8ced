"""Guessing how a file reads that says itself what it holds: ARFF, NPZ, Parquet."""

from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets._arff import _read_header
from kernlearn.datasets._column import MANY, Column
from kernlearn.datasets._formats import Arff
from kernlearn.datasets._guess import Guess, choose_target, columns_guess, position
from kernlearn.datasets._labels import canonical_labels
from kernlearn.datasets._readers import Expected, reader
from kernlearn.exceptions import DataError


def guess_arff(
    path: Path, lines: list[str], *, target: int | str | None, drop: list[int | str]
) -> Guess:
    """Guess what the attributes of an ARFF file are for.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    lines : list of str
        Its lines.
    target : int or str, optional
        The target's attribute; the last one by default.
    drop : list of int or str
        Attributes that are no features.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or has no such attribute.
    """
    header = _read_header(path, ["" if x.lstrip().startswith("%") else x for x in lines])
    width = len(header.names)
    chosen = position(path, -1 if target is None else target, header.names, width)
    dropped = {position(path, column, header.names, width) for column in drop}
    remarks = ["ARFF format", f"the target is the attribute {header.names[chosen]}"]
    for i, name in enumerate(header.names):
        if header.types[name] == "text" and i != chosen and i not in dropped:
            dropped.add(i)
            remarks.append(f"attribute {name} is left out: text")
    options = {
        "kind": "arff",
        "target": header.names[chosen],
        "drop": [header.names[i] for i in sorted(dropped)],
    }
    n_features = width - 1 - len(dropped)
    kind = header.types[header.names[chosen]]
    declared = kind if isinstance(kind, tuple) else None
    if kind == "text":
        raise DataError(f"{path}: the target is text; declare its values as {{a, b, …}}")
    y = reader("arff")([path], Arff.model_validate(options), Expected(n_features, declared)).y
    if declared is None:
        return Guess(options, n_features, _counted(y), True, remarks)
    counts = np.bincount(y.astype(np.int64), minlength=len(declared)).tolist()
    labels = {label: n for label, n in zip(declared, counts, strict=True) if n}
    return Guess(options, n_features, labels, False, remarks)


def guess_npz(path: Path, *, target: int | str | None) -> Guess:
    """Guess which arrays of an NPZ file are the matrix and the labels.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    target : int or str, optional
        The name of the labels; by default ``y``, or the only array with one entry a row.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or it cannot be told.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays: dict[str, Any] = {name: stored[name] for name in stored.files}
    except Exception as error:  # a damaged archive may raise anything at all
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no NPZ file of plain arrays: {reason}") from None
    held = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
    matrices = [name for name, array in arrays.items() if array.ndim == 2 and min(array.shape) > 1]
    matrix = "X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None
    if matrix is None:
        raise DataError(f"{path}: no array is plainly the matrix; call it X. It holds {held}")
    n_samples, n_features = arrays[matrix].shape
    vectors = [n for n, array in arrays.items() if n != matrix and array.size == n_samples]
    wanted = str(target) if target is not None else "y" if "y" in vectors else None
    labels = wanted or (vectors[0] if len(vectors) == 1 else None)
    if labels not in vectors:
        raise DataError(f"{path}: {wanted or 'no array'} holds one label a row. It holds {held}")
    y = arrays[labels].ravel()
    options = {"kind": "npz", "matrix": matrix, "target": labels}
    remarks = [f"NPZ format, features in {matrix}, the target in {labels}"]
    return Guess(options, n_features, _counted(y), y.dtype.kind in "fiub", remarks)


def guess_parquet(path: Path, *, target: int | str | None, drop: list[int | str]) -> Guess:
    """Guess what the columns of a Parquet file are for.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    target : int or str, optional
        The target's column.
    drop : list of int or str
        Columns that are no features.

    Returns
    -------
    Guess

    Raises
    ------
    DataError
        If the file is damaged, or has no such column.
    """
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except Exception as error:  # a damaged file may raise anything at all
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: damaged, or no Parquet file: {reason}") from None
    names = list(table.column_names)
    columns = [Column(name) for name in names]
    for column, values in zip(columns, table.columns, strict=True):
        for value in values.to_pylist():
            column.add("" if value is None else str(value))
    chosen, remark = choose_target(path, target, names, len(names))
    dropped = [position(path, column, names, len(names)) for column in drop]
    options = {"kind": "parquet", "header": True}
    guess = columns_guess(path, columns, chosen, dropped, options, ["Parquet format", remark])
    for key in ("header", "missing"):  # null, in Parquet
        guess.format.pop(key, None)
    return guess


def _counted(y: Any) -> dict[str, int] | None:
    values, counts = np.unique(y, return_counts=True)
    if len(values) > MANY:
        return None
    return dict(zip(canonical_labels(values).tolist(), counts.tolist(), strict=True))
