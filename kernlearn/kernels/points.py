"""Validation of points of any kind: rows of a matrix, texts, sets, series and other objects."""

import warnings
from collections.abc import Sequence
from numbers import Number
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.base import (
    Kernel,
    as_objects,
    first_wrong,
    from_arrow,
    is_column_of_objects,
)
from kernlearn.kernels.functions import CallableKernel

_FLOATS = (np.float64, np.float32)


def check_training(
    model: Any,
    X: Any,
    y: Any,
    kernels: Sequence[Kernel] | None,
    *,
    numeric: bool = False,
    dtypes: Sequence[Any] = _FLOATS,
) -> tuple[Any, Any]:
    """Validate the training points of an estimator, and their targets.

    Parameters
    ----------
    model : estimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it.
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence of objects
    y : array-like of shape (n_samples,) or None
    kernels : sequence of Kernel or None
        The kernels that compare the points; None for a precomputed matrix.
    numeric : bool, default=False
        Whether targets must be numbers.
    dtypes : sequence of dtype, default=(float64, float32)
        Types that a matrix may have; others are converted to the first.

    Returns
    -------
    X : ndarray, sparse matrix or ndarray of objects
    y : ndarray or None
    """
    X = from_arrow(X)
    objects = as_objects(X) if _takes_objects(X, kernels) else None
    if objects is not None:
        X = np.zeros((len(objects), 1))  # only the number of objects is left to check
    if y is None:
        X = _validated(model, X, kernels, dtypes, y=None)
    else:
        several = model.__sklearn_tags__().target_tags.multi_output
        options = {"y": y, "y_numeric": numeric, "multi_output": several}
        X, y = _validated(model, X, kernels, dtypes, **options)
        if numeric and y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
    if kernels is None:
        _check_matrix(model, X)
    return X if objects is None else objects, y


def _check_matrix(model: Any, X: np.ndarray) -> None:
    """Refuse a precomputed matrix that is not square, or several side by side.

    Warn of distances that are taken as similarities: zeros on the diagonal, nothing below, and
    values above elsewhere. Warn of half a matrix: all zeros on one side of the diagonal.
    """
    n_samples, n_columns = X.shape
    if n_columns % n_samples or (n_columns > n_samples and not hasattr(model, "kernels")):
        raise ValueError(
            "'precomputed' needs a square matrix for training, one row and one column per "
            f"training point, got shape {X.shape}"
        )
    for first in range(0, n_columns, n_samples):
        matrix = X[:, first : first + n_samples]
        diagonal = matrix.diagonal()
        if (
            getattr(model, "kind", None) != "distance"
            and not diagonal.any()
            and matrix.any()
            and matrix.min() >= 0
        ):
            advice = "Turn them into similarities, as by exp(-X / X.mean())"
            if "kind" in model.get_params(deep=False):
                advice = "Pass kind='distance' for distances"
            warnings.warn(
                "X looks like distances, with a diagonal of 0 and no value below: they are taken "
                f"as similarities, the greater the more alike. {advice}",
                UserWarning,
                stacklevel=6,
            )
        # one row tells whether a side may be empty; no copy is made of the matrix
        empty = matrix.T if matrix[-1, :-1].any() else matrix
        if matrix[-1, :-1].any() != matrix[0, 1:].any() and not any(
            row[:i].any() for i, row in enumerate(empty)
        ):
            warnings.warn(
                "X is 0 everywhere on one side of its diagonal: it looks like half a matrix. "
                "Pass X + X.T with the diagonal counted once",
                UserWarning,
                stacklevel=6,
            )


def check_points(
    model: Any, X: Any, kernels: Sequence[Kernel] | None, dtypes: Sequence[Any] = _FLOATS
) -> Any:
    """Validate points that a fitted estimator compares with its training points.

    The parameters are those of :func:`check_training`.
    """
    X = from_arrow(X)
    if _takes_objects(X, kernels):
        return as_objects(X)
    return _validated(model, X, kernels, dtypes, reset=False)


def _validated(
    model: Any, X: Any, kernels: Sequence[Kernel] | None, dtypes: Sequence[Any], **options: Any
) -> Any:
    """Validate a matrix as the kernels take it; a precomputed one for None."""
    options |= {"accept_sparse": False if kernels is None else "csr", "dtype": list(dtypes)}
    if kernels and all(kernel.missing for kernel in kernels):
        options["ensure_all_finite"] = "allow-nan"
    if kernels and all(kernel.mixed for kernel in kernels) and _holds_texts(X):
        options |= {"accept_sparse": False, "dtype": object, "ensure_all_finite": "allow-nan"}
    try:
        return validate_data(model, X, **options)
    except ValueError:
        if kernels is None:
            _refuse_broken(X)
        raise


def _holds_texts(X: Any) -> bool:
    """Tell whether a table has entries that are no numbers."""
    if hasattr(X, "dtypes"):  # a data frame
        return any(getattr(kind, "kind", "O") not in "biuf" for kind in X.dtypes)
    if hasattr(X, "dtype"):
        return X.dtype.kind in "OUS" and X.ndim == 2
    rows = X if isinstance(X, (list, tuple)) else ()
    return any(isinstance(v, str) for row in rows if isinstance(row, (list, tuple)) for v in row)


def _takes_objects(X: Any, kernels: Sequence[Kernel] | None) -> bool:
    """Whether X is a sequence of texts or other objects, and the kernels compare these."""
    if not kernels or not all(k.structured or isinstance(k, CallableKernel) for k in kernels):
        return False
    structured = any(kernel.structured for kernel in kernels)
    if hasattr(X, "shape"):
        if len(X.shape) == 3:  # points that are matrices, such as series of several channels
            return True
        if len(X.shape) == 1:
            return structured or getattr(X.dtype, "kind", "O") in "OUST"
        return is_column_of_objects(X)
    if not isinstance(X, (list, tuple)) or not X:
        return False
    # for functions, lists of one length are the rows of a matrix
    return structured or not isinstance(X[0], (list, tuple, np.ndarray, Number)) or _ragged(X)


def _ragged(points: Any) -> bool:
    """Whether points are arrays or lists of several shapes, or matrices."""
    if isinstance(points[0], Number):
        return False
    shapes = {np.shape(p) if isinstance(p, np.ndarray) else (len(p),) for p in points}
    return len(shapes) > 1 or len(shapes.pop()) > 1


def _refuse_broken(matrix: Any) -> None:
    """Name the pair of points whose similarity in a matrix is NaN or infinite, if there is one."""
    try:
        values = np.asarray(matrix)
        values = values if np.iscomplexobj(values) else values.astype(np.float64)
    except (TypeError, ValueError):
        return
    if values.ndim == 2 and not np.iscomplexobj(values) and (wrong := first_wrong(values)):
        raise SimilarityError(*wrong, ("", ""), ("X", "training X")) from None
