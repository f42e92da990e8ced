"""Validation of parameters, weights and labels.

What scikit-learn keeps private of its validation is imported here alone.
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from os import PathLike
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, compute_class_weight, gen_batches, validation
from sklearn.utils._param_validation import HasMethods as HasMethods
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from kernlearn.checks import listed

Method = TypeVar("Method", bound=Callable[..., Any])
Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]
Random: TypeAlias = np.random.RandomState

COUNT = Interval(Integral, 1, None, closed="left")
WHOLE = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
FINITE = Interval(Real, None, None, closed="neither")
FRACTION = Interval(Real, 0, 1, closed="neither")
N_JOBS = [Integral, None]
#: What parameters may be that mean the same in many estimators, by name; the others are theirs.
PARAMETERS: dict[str, list[Any]] = {
    "C": [POSITIVE],
    "average": ["boolean"],
    "buffer_size": [COUNT],
    "class_weight": [dict, StrOptions({"balanced"}), None],
    "eta": [POSITIVE],
    "fit_intercept": ["boolean"],
    "max_iter": [COUNT],
    "n_components": [COUNT],
    "n_landmarks": [COUNT],
    "normalize": ["boolean"],
    "radius": [POSITIVE, None],
    "random_state": ["random_state"],
    "refit": ["boolean"],
    "scoring": [str, callable, None],
    "tol": [POSITIVE],
    "validation_fraction": [FRACTION, "array-like"],
}
#: Options of ``validate_data`` for rows of a matrix that may be sparse.
POINTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}

# Sums of squares between these, by type, are finite; those of float64 have all their digits.
_SQUARES = {np.dtype(np.float64): (1e-300, 1e300), np.dtype(np.float32): (0.0, 1e37)}

_ROUNDING = 1e-6  # of entries of a matrix, relative to their range
# Packages whose frames may stand between the user's code and a warning.
_INSIDE = {"kernlearn", "sklearn", "joblib"}


def refuse_text(X: Any) -> None:
    """Refuse a text, and the path of a file, where points belong."""
    if isinstance(X, (str, bytes, PathLike)):
        raise ValueError(
            f"X must hold points, got the single text or path {X!r}: `kernlearn.datasets.load` "
            f"reads files; for a point that is a text pass [{X!r}]"
        )


def validate_data(model: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """Validate data as scikit-learn does; training data whose squares overflow are refused.

    So are those whose squares are all 0. They would end as weights of zero, as points that are all
    alike, or as an error elsewhere that does not name the cause.
    """
    refuse_text(X)
    checked: Any = validation.validate_data(model, X, y, **options)
    parts: tuple[Any, ...] = checked if isinstance(checked, tuple) else (checked,)
    if options.get("y_numeric"):  # None passes, which becomes NaN
        assert_all_finite(parts[-1], input_name="y")
    if len(parts) > 1 or options.get("reset", True):
        for name, part in zip("Xy", parts, strict=False):
            values = part.data if sparse.issparse(part) else part
            if getattr(values, "dtype", None) not in _SQUARES:
                continue
            least, largest = _SQUARES[values.dtype]
            with np.errstate(over="ignore", under="ignore"):
                flat = values.ravel(order="K")
                square = flat @ flat  # in one pass
            if square > largest or (square < least and values.any()):
                flow = "overflow" if square > 1 else "underflow"
                raise ValueError(
                    f"{name} holds numbers of size {np.abs(flat).max():.3g}, whose squares "
                    f"{flow}: scale {name}"
                )
    return checked


def check_features(Z: NDArray[np.floating]) -> None:
    """Refuse features that have overflown."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = Z.sum()
    if not (np.isfinite(total) or np.isfinite(Z).all()):  # finite numbers may have no finite sum
        raise ValueError(f"features overflow the numbers of {Z.dtype}: scale X")


def validate_labelled(model: Any, X: Any, y: Any, **options: Any) -> tuple[Any, NDArray[Any]]:
    """Validate rows of a matrix that may be sparse, and labels of classes."""
    X, y = validate_data(model, X, y, **{**POINTS, **options})
    check_labels(y)
    return X, y


class TakesSparse:
    """Says to scikit-learn that an estimator takes sparse matrices, and how many classes."""

    _multiclass = True

    def __sklearn_tags__(self) -> Any:
        following: Any = super()
        tags = following.__sklearn_tags__()
        tags.input_tags.sparse = True
        if not self._multiclass:
            tags.classifier_tags.multi_class = False
        return tags


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters before a method fits, as scikit-learn does; its type stays as it is."""
    return _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation)


def refuse_unused(
    model: Any, names: Iterable[str], setting: str, advice: str = "leave it out"
) -> None:
    """Refuse parameters that are not at their default, where a setting makes them meaningless."""
    for name in names:
        if not np.array_equal(value := getattr(model, name), getattr(type(model), name)):
            raise ValueError(f"{name}={value!r} has no meaning with {setting}: {advice}")


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Return the weights of the rows of X, not negative and not all 0; None stays None."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weights.any():
        raise ValueError("sample_weight must be non-zero for at least one row, and is 0 for all")
    with np.errstate(over="ignore"):
        total = weights.sum()
        if not np.isfinite(total * total):
            raise ValueError(f"sample_weight has the sum {total:g}: divide it by its maximum")
    return np.asarray(weights, dtype=np.float64)


def weighted_rows(weights: Floats | None, n_rows: int) -> NDArray[np.intp]:
    """Return the rows that count: all without weights, else those with a weight above 0."""
    return np.arange(n_rows) if weights is None else np.flatnonzero(weights)


def without_zeros(X: Any, y: Any, weights: Floats | None) -> tuple[Any, Any, Floats | None]:
    """Leave out the rows of weight 0."""
    if weights is None or weights.all():
        return X, y, weights
    rows = np.flatnonzero(weights)
    return X[rows], y[rows], weights[rows]


def taken(values: Any, rows: Any) -> Any:
    """Return the values of some rows, None if there are none."""
    return None if values is None else values[rows]


def with_mirror_images(matrix: NDArray[Any]) -> tuple[NDArray[Any], int]:
    """Return a square matrix whose missing entries are those of the pairs in the other order.

    Of one that is not symmetric in the others it takes none. The number taken is returned too.
    """
    missing = np.isnan(matrix)
    known = ~(missing | missing.T)
    if not np.allclose(matrix[known], matrix.T[known]):
        return matrix, 0
    complete = np.where(missing, matrix.T, matrix)
    return complete, int(missing.sum() - np.isnan(complete).sum())


def is_half(matrix: np.ndarray) -> bool:
    """Whether of each two mirrored entries of a square matrix one is 0, but not all are."""
    n_own, n_values = np.count_nonzero(matrix.diagonal()), np.count_nonzero(matrix)
    blocks = gen_batches(len(matrix), 256)
    n_both = sum(np.count_nonzero((matrix[i] != 0) & (matrix[:, i].T != 0)) for i in blocks)
    return bool(n_both == n_own < n_values)


def looks_reversed(matrix: np.ndarray, kind: str | None) -> bool:
    """Whether entries of a square matrix look like distances, taken as similarities, or reversely.

    Distances are least between a point and itself, similarities are greatest there. `kind` is
    "distance" if the entries are taken for these. Pairs may be missing.
    """
    own, known = matrix.diagonal(), ~np.isnan(matrix.diagonal())
    extent = np.fmax.reduce(matrix, axis=None) - np.fmin.reduce(matrix, axis=None)
    if not (known.any() and extent > 0):
        return False
    ends = (np.fmax if kind == "distance" else np.fmin).reduce(matrix, axis=1)
    return bool((abs(own - ends)[known] <= _ROUNDING * extent).all())


def lacking_most(matrix: NDArray[Any], allowed: float = 0) -> list[int]:
    """Return few points, one after the other that lacks most pairs, until no other lacks more.

    `allowed` is the share of its pairs with the points that are left that a point may lack.
    """
    missing, left_out = np.isnan(matrix), list[int]()
    missing |= missing.T
    counts = missing.sum(axis=0)
    while counts.max(initial=0) > allowed * (len(matrix) - len(left_out)):
        worst = int(counts.argmax())
        counts -= missing[worst]
        counts[worst] = 0
        missing[:, worst] = False
        left_out.append(worst)
    return left_out


def pair_means(matrix: NDArray[Any], rows: NDArray[np.intp] | None = None) -> NDArray[Any]:
    """Return the mean of the known values of each point with the others; without any, of all.

    The others are the points `rows`, by default all.
    """
    if rows is None and not np.isnan(matrix).any():
        return (matrix.sum(axis=0) - np.diag(matrix)) / max(len(matrix) - 1, 1)
    pairs = np.ma.masked_invalid(matrix)
    pairs[np.diag_indices(len(pairs))] = np.ma.masked
    pairs = pairs if rows is None else pairs[rows]
    return pairs.mean(axis=0).filled(pairs.mean() if pairs.count() else 0.0)


def with_pair_means(
    matrix: NDArray[Any], means: NDArray[Any], *, of_training: bool = False
) -> NDArray[Any]:
    """Fill values that are missing by the means of training points, which the columns are.

    Two training points get the mean of both means.
    """
    if not np.isnan(matrix).any():
        return matrix
    fill = (means[:, np.newaxis] + means) / 2 if of_training else means
    return np.where(np.isnan(matrix), fill.astype(matrix.dtype), matrix)


def places(classes: NDArray[Any], labels: Any) -> NDArray[np.intp]:
    """Return the place of each label among the classes, which need not be sorted, -1 if none."""
    sorter = np.argsort(classes)
    try:
        positions = np.searchsorted(classes, labels, sorter=sorter)
    except TypeError:
        raise ValueError(f"labels must be of the type of the classes {classes.tolist()}") from None
    found = sorter[positions.clip(max=len(classes) - 1)]
    return np.where(classes[found] == labels, found, -1)


def at_least_two(labels: Any) -> NDArray[Any]:
    """Return the sorted classes of labels; a ValueError if there is only one."""
    classes = np.unique(labels)
    if len(classes) < 2:
        one = ", ".join(map(repr, classes.tolist()))
        raise ValueError(f"y must have at least two classes, but there is one class: {one}")
    return classes


def one_against_all(codes: Indices, n_classes: int) -> Floats:
    """Return a row for each class, 1 for its points and -1 for the rest; of two the second one."""
    positives = np.arange(n_classes) if n_classes > 2 else np.array([1])
    return np.where(codes == positives[:, np.newaxis], 1.0, -1.0)


def label_codes(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.intp]:
    """Return the place of each label among the classes; a ValueError if it is not there."""
    codes = places(classes, labels)
    if unknown := labels[codes < 0].tolist():
        raise ValueError(
            f"y contains the label {unknown[0]!r}, which is not one of the classes "
            f"{classes.tolist()}"
        )
    return codes


def class_weights(
    class_weight: Any, classes: NDArray[Any], y: Any, weights: Floats | None = None
) -> Floats:
    """Return the weight of each class; "balanced" makes the sums of the weights equal.

    `class_weight` is a dict, "balanced" or None, as in scikit-learn; `weights` are those of rows.
    """
    if weights is None or class_weight != "balanced":
        factors = compute_class_weight(class_weight, classes=classes, y=y)
        if not (np.isfinite(factors) & (factors > 0)).all():
            raise ValueError(f"class_weight must hold finite numbers above 0, not {class_weight}")
        return factors
    sums = np.bincount(places(classes, y), weights, len(classes))
    return weights.sum() / (len(classes) * sums)


def check_labels(y: Any) -> None:
    """Refuse what are no labels of classes, with advice."""
    try:
        check_classification_targets(y)
    except (TypeError, ValueError) as error:
        advice = "y must hold numbers or texts alone: leave out None, or convert y"
        if "type: continuous" in str(error):
            advice = "Pass classes that are numbers, such as half stars, as texts: y.astype(str)"
        elif isinstance(error, ValueError) and "type: unknown" not in str(error):
            raise
        raise type(error)(f"{str(error).rstrip('.')}. {advice}") from None


def encode_labels(
    y: Any, class_weight: Any, weights: Floats | None = None
) -> tuple[NDArray[Any], NDArray[np.intp], Floats]:
    """Return the sorted labels of rows with a weight, the code of each y, and class weights.

    There must be two labels at least. Rows of weight 0 have any code. For the weights of classes
    see :func:`class_weights`.
    """
    check_labels(y)
    rows = weighted_rows(weights, len(y))
    classes = at_least_two(y[rows])
    codes = places(classes, y).clip(0)
    factors = class_weights(class_weight, classes, y[rows], taken(weights, rows))
    return classes, codes, factors


def known_codes(classes: NDArray[Any], labels: Any) -> NDArray[np.intp]:
    """Return the codes of validation labels, -1 for those that are not among the classes."""
    codes = places(classes, labels)
    if (codes < 0).all():
        known, unknown = (
            listed(map(repr, each.tolist())) for each in (classes, np.unique(labels))
        )
        raise ValueError(f"y_val holds none of the classes of y ({known}), only {unknown}")
    return codes


def single_column(values: Any) -> Any:
    """Return the values of several problems as they are, those of a single one as a vector."""
    return values[:, 0] if values.shape[1:] == (1,) else values


def predicted_codes(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the class codes of scores: of several columns the greatest, of one 1 above 0."""
    if scores.size == len(scores):
        return (scores.ravel() > 0).astype(np.intp)
    return scores.argmax(axis=1)


class PredictsByScores:
    """Labels by linear scores, in less time than scikit-learn's, which serve other arrays too."""

    def predict(self: Any, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predict(self.decision_function(X))

    def _predict(self: Any, values: NDArray[Any]) -> NDArray[Any]:
        return self.classes_[predicted_codes(values)]


def candidate_values(
    value: Any, name: str, *, zero: bool = False, integer: bool = False
) -> NDArray[Any]:
    """Return the distinct values of a parameter that is a number or a sequence, ascending.

    Values must be finite numbers above 0, or from 0 with `zero`, or integers with `integer`.
    """
    values = np.atleast_1d(value)
    good = values.ndim == 1 and values.size and values.dtype.kind in ("iu" if integer else "fiu")
    if not good or not np.all((values >= 0 if zero else values > 0) & (values < np.inf)):
        what = "an int >= 1" if integer else f"a finite number {'>=' if zero else '>'} 0"
        raise ValueError(f"'{name}' must be {what} or a sequence of such, got {value!r}")
    return np.unique(values)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called kernlearn, be it through scikit-learn."""
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _INSIDE:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect all warnings of a block; none of them is shown."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught


def warn_again(caught: Iterable[warnings.WarningMessage]) -> None:
    """Issue collected warnings where they came from."""
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


@contextmanager
def noting_convergence(converged: Any, places: Any) -> Iterator[None]:
    """Set places to False if a solver in the block does not converge; warnings are given again."""
    with recorded_warnings() as caught:
        yield
    if any(issubclass(one.category, ConvergenceWarning) for one in caught):
        converged[places] = False
    warn_again(caught)
