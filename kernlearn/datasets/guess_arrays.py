"""Guessing what the arrays of an NPZ or MATLAB file are."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets import arrays, matlab, text
from kernlearn.datasets.arrays import Head
from kernlearn.datasets.columns import MANY
from kernlearn.datasets.file_options import Column, Guess
from kernlearn.exceptions import DataError

_MATRICES = ("X", "A", "data", "features", "fea", "S", "K", "D")
_LABELS = ("y", "Y", "C", "label", "labels", "target", "class", "classes", "gnd")


def guess_npz(path: Path, target: Column | None) -> Guess:
    """Choose the matrix and the labels of an NPZ file."""
    heads = arrays.npz_heads(path)
    return _guess(path, "npz", "NPZ", heads, arrays.load_npz, target, ("X",), ("y",))


def guess_matlab(path: Path, target: Column | None) -> Guess:
    """Choose the matrix and the labels of a MATLAB file."""
    heads = matlab.matlab_heads(path)
    return _guess(path, "matlab", "MATLAB", heads, matlab.load_matlab, target, _MATRICES, _LABELS)


def choose_matrix(path: Path, stored: Mapping[str, Head], preferred: tuple[str, ...]) -> str:
    """Return the name of the matrix among arrays: a preferred one, or the only one."""
    matrices = [
        name
        for name, array in stored.items()
        if len(array.shape) == 2 and min(array.shape) > 1 and array.kind in "fiub"
    ]
    matrix = next((name for name in preferred if name in matrices), None)
    matrix = matrix or (matrices[0] if len(matrices) == 1 else None)
    if matrix is None:
        raise DataError(
            f"{path}: which array is the matrix is unclear; call it X. It holds {_held(stored)}"
        )
    return matrix


def _held(stored: Mapping[str, Head]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in stored.items()) or "nothing"


def _guess(
    path: Path,
    kind: str,
    title: str,
    stored: Mapping[str, Head],
    load: Callable[[Path, Sequence[str]], Mapping[str, Any]],
    target: Column | None,
    matrices: tuple[str, ...],
    labelled: tuple[str, ...],
) -> Guess:
    matrix = choose_matrix(path, stored, matrices)
    n_samples, n_features = stored[matrix].shape
    others = {name: array.shape for name, array in stored.items() if name != matrix}
    vectors = [name for name, shape in others.items() if arrays.is_vector(shape, n_samples)]
    named = [name for name in labelled if name in others]
    preferred = next((name for name in named if name in vectors), next(iter(named), None))
    wanted = str(target) if target is not None else preferred
    labels = wanted or (vectors[0] if len(vectors) == 1 else None)
    if labels not in vectors:
        turned = [name for name, shape in others.items() if arrays.is_vector(shape, n_features)]
        hint = f"; {matrix} has one column for each of {turned[0]}: transpose it" if turned else ""
        if wanted is None:
            found = f"no array holds one label per row of {matrix}"
        elif wanted not in others:
            found = f"no array is called {wanted:.60}"
        else:
            shape = others[wanted]
            found = f"{wanted:.60} has the shape {shape}, expected one label per row of {matrix}"
        raise DataError(f"{path}: {found}{hint}. It holds {_held(stored)}")
    y = load(path, [labels])[labels].ravel()
    options = {"kind": kind, "matrix": matrix, "target": labels}
    remarks = [f"{title} format, features in {matrix}, the target in {labels}"]
    return Guess(options, n_features, counted(y), y.dtype.kind in "fiub", remarks)


def counted(y: Any) -> dict[str, int] | None:
    """Count labels, spelt as on a card; None if there are too many."""
    values, counts = np.unique(y, return_counts=True)
    if len(values) > MANY:
        return None
    return dict(zip(text.canonical_labels(values).tolist(), counts.tolist(), strict=True))
