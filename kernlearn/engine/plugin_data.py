"""Data sets of plug-ins: made by their functions, checked, in the form of ``load``."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.validation import check_array

from kernlearn.config.plugins import blame
from kernlearn.datasets import fingerprint
from kernlearn.datasets.objects import as_objects
from kernlearn.exceptions import DataError
from kernlearn.kernels.base import as_points
from kernlearn.plugins import RegisteredDataset

# A run works through one data set after the other; a few stay in memory for the next trial.
_KEPT = 4


@lru_cache(maxsize=_KEPT)
def loaded_once(dataset: RegisteredDataset, numbers: bool, parameters: str) -> Bunch:
    """Make a data set that is no generator, and keep it for the next trial."""
    return make_data(dataset, numbers=numbers, parameters=json.loads(parameters))


def make_data(dataset: RegisteredDataset, *, numbers: bool, parameters: dict[str, Any]) -> Bunch:
    """Call the function of a data set or generator.

    Parameters
    ----------
    dataset : RegisteredDataset
    numbers : bool
        Whether the target is a number; otherwise it is a class.
    parameters : mapping

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`kernlearn.datasets.load`.

    Raises
    ------
    DataError
        If the function raises, or returns no data.
    """
    try:
        made = dataset.target(**parameters)
    except Exception as error:
        text = blame(error, dataset.file)
        raise DataError(f"data set {dataset.name!r} of {dataset.plugin}: {text}") from error
    try:
        return as_bunch(made, numbers=numbers, similarity=dataset.similarity)
    except (TypeError, ValueError) as error:
        raise DataError(f"data set {dataset.name!r} of {dataset.plugin}: {error}") from error


def as_bunch(made: Any, *, numbers: bool, similarity: str | None = None) -> Bunch:
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

    Returns
    -------
    sklearn.utils.Bunch

    Raises
    ------
    TypeError, ValueError
        If it is no such data.
    """
    fields = _fields(made)
    X = _points(fields["data"])
    n = X.shape[0]
    if similarity is not None and X.shape != (n, n):
        raise ValueError(f"X compares points, so it must be square, not of shape {X.shape}")
    y, names = _target(fields.get("target"), fields.get("target_names"), numbers, n)
    data = Bunch(
        data=X,
        target=y,
        target_names=names,
        card=None,
        path=None,
        sample=False,
        note=str(fields.get("note") or ""),
    )
    if similarity is not None:
        data["similarity"] = similarity
    for key in ("query", "fold"):
        if fields.get(key) is not None:
            data[key] = _whole_numbers(fields[key], key, n)
    data["fingerprint"] = fingerprint(X, _row_texts(data))
    return data


def _points(data: Any) -> Any:
    """Return a matrix of numbers, or an array of objects such as strings, sets or graphs."""
    if not hasattr(data, "ndim") and not hasattr(data, "iloc"):
        data = as_points(data)
    if getattr(data, "ndim", 2) == 1 and data.dtype.kind in "OUS" and len(data):
        return as_objects(data.tolist() if data.dtype.kind in "US" else data)
    dtype = [np.float64, np.float32]
    return check_array(data, accept_sparse="csr", dtype=dtype, input_name="X")


def _fields(made: Any) -> Mapping[str, Any]:
    if isinstance(made, tuple) and len(made) == 2:
        return {"data": made[0], "target": made[1]}
    if isinstance(made, Mapping) and "data" in made:
        return made
    kind = f"a tuple of {len(made)}" if isinstance(made, tuple) else f"a {type(made).__name__}"
    raise TypeError(f"must return (X, y), or a Bunch with data and target, not {kind}")


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
    return codes.astype(np.int64), np.array([_name(v) for v in distinct], dtype=np.str_)


def _name(value: Any) -> str:
    return f"{value:g}" if isinstance(value, np.floating) else str(value)


def _whole_numbers(values: Any, name: str, n: int) -> np.ndarray:
    array = np.asarray(values)
    if array.shape != (n,) or array.dtype.kind not in "iub":
        raise ValueError(f"{name} must be {n} whole numbers, one per row of X")
    return array.astype(np.int64)


def _row_texts(data: Bunch) -> Any:
    """Return what is hashed of each row besides its features."""
    labels = data.target
    if labels is not None and len(data.target_names):
        labels = data.target_names[labels]
    extra = [data[key] for key in ("query", "fold") if key in data]
    if not extra:
        return labels
    rows = zip(labels if labels is not None else [""] * len(extra[0]), *extra, strict=True)
    return np.array([" ".join(map(str, row)) for row in rows])
