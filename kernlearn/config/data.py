"""The data of a trial: read, drawn by a generator, or made by a function of a plug-in."""

import json
from collections.abc import Mapping
from contextlib import chdir, nullcontext
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_array

from kernlearn.datasets import fingerprint, is_shipped, load
from kernlearn.datasets.data import Data
from kernlearn.datasets.files import container
from kernlearn.datasets.loading import find, is_file
from kernlearn.datasets.tables import as_objects
from kernlearn.exceptions import DataError
from kernlearn.kernels.base import as_points
from kernlearn.plugins import Registered, blame


def read_data(arguments: dict[str, Any]) -> Data:
    """Load a data set of the catalogue or a file, or take it from the last trials.

    A user may have edited it, or its card, since.
    """
    name, state = arguments["name"], ""
    if is_file(name):
        files = [container(path).stat() for path in (name, arguments.get("labels")) if path]
        state = " ".join(f"{one.st_mtime_ns} {one.st_size}" for one in files)
    elif isinstance(name, Path) or not is_shipped(name):
        state = find(name).identity
    return _load_once(state, json.dumps(arguments, default=str))


@lru_cache(maxsize=4)  # for the next trials; a run takes one data set after the other
def _load_once(state: str, arguments: str) -> Data:
    return load(**json.loads(arguments))


def make_data(dataset: Registered, numbers: bool, parameters: dict[str, Any]) -> Data:
    """Call the function of a plug-in that reads or draws data.

    It is called for each trial, so that a file which it reads may change. Paths in it are relative
    to the folder of the plug-in. `numbers` tells whether the target is a number; otherwise it is a
    class.

    Raises
    ------
    DataError
        If the function raises, or returns no data.
    """
    folder = Path(dataset.file).parent
    try:
        with chdir(folder) if dataset.file and folder.is_dir() else nullcontext():
            made = dataset.target(**parameters)
        return as_data(made, numbers=numbers, similarity=dataset.similarity)
    except (Exception, SystemExit) as error:
        text = blame(error, dataset.file)
        raise DataError(f"data set {dataset.name!r} of {dataset.plugin}: {text}") from error


def as_data(made: Any, *, numbers: bool, similarity: str | None = None) -> Data:
    """Return data in the form of :func:`kernlearn.datasets.load`.

    Parameters
    ----------
    made : tuple or mapping
        (X, y), or ``data``, ``target`` and further fields. y may be None. X is a matrix, or a list
        or one-dimensional array of objects: strings, series, sets, graphs or records.
    numbers : bool
        Whether the target is a number; otherwise the distinct values of y are classes.
    similarity : {"similarity", "distance"}, optional
        What the entries of X are, if they compare points.
    """
    is_pair = isinstance(made, tuple) and len(made) == 2
    fields = {"data": made[0], "target": made[1]} if is_pair else made
    if not (isinstance(fields, Mapping) and "data" in fields):
        kind = f"tuple of {len(made)}" if isinstance(made, tuple) else type(made).__name__
        raise TypeError(f"must return (X, y), or a Bunch with data and target, not a {kind}")
    X = _points(fields["data"])
    n = X.shape[0]
    if similarity is not None and X.shape != (n, n):
        raise ValueError(f"X compares points, so it must be square, not of shape {X.shape}")
    y, names = _target(fields.get("target"), fields.get("target_names"), numbers, n)
    more = {
        k: _whole_numbers(fields[k], k, n)
        for k in ("query", "fold", "groups")
        if fields.get(k) is not None
    }
    labels = y if y is None or not len(names) else names[y]
    columns = [np.full(n, "") if labels is None else labels, *more.values()]
    rows = np.array([" ".join(map(str, row)) for row in zip(*columns, strict=True)])
    note, content = str(fields.get("note") or ""), fingerprint(X, rows if more else labels)
    return Data(X, y, names, note=note, fingerprint=content, similarity=similarity, **more)


def _points(data: Any) -> Any:
    """Return a matrix of numbers, or an array of objects such as strings, sets or graphs."""
    if not hasattr(data, "ndim") and not hasattr(data, "iloc"):
        data = as_points(data)
    if getattr(data, "ndim", 2) == 1 and data.dtype.kind in "OUS" and len(data):
        return as_objects(data.tolist() if data.dtype.kind in "US" else data)
    dtype = [np.float64, np.float32]
    return check_array(data, accept_sparse="csr", dtype=dtype, input_name="X")


def _target(y: Any, names: Any, numbers: bool, n: int) -> tuple[np.ndarray | None, np.ndarray]:
    """Return numbers, or class codes and the names of the classes."""
    none = np.array((), dtype=np.str_)
    if y is None:
        return None, none
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y must have one value for each of {n} rows of X, not shape {y.shape}")
    if numbers:
        try:
            y = y.astype(np.float64)
        except ValueError:
            raise ValueError("y must be numbers for regression, not text") from None
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y has entries that are NaN or infinite")
    if numbers:
        return y, none
    if names is not None and len(names):
        codes = _whole_numbers(y, "target", n)
        if codes.min() < 0 or codes.max() >= len(names):
            raise ValueError(f"target must be codes 0 to {len(names) - 1} of the target_names")
        return codes, np.array([str(name) for name in names], dtype=np.str_)
    distinct, codes = np.unique(y, return_inverse=True)
    write = "{:g}".format if distinct.dtype.kind == "f" else str
    return codes.astype(np.int64), np.array([write(v) for v in distinct], dtype=np.str_)


def _whole_numbers(values: Any, name: str, n: int) -> np.ndarray:
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind not in "iub":
        raise ValueError(f"{name} must be {n} whole numbers, one per row of X")
    return array.astype(np.int64)
