"""A choice between values of parameters: rows held out, models along a path, and the best one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array

from kernlearn import validation
from kernlearn.validation import Indices, Random


@dataclass(frozen=True)
class Fits:
    """Fitted models that differ in some of their parameters: a part of a path.

    An estimator that can fit several values of parameters for about the price of one names these
    parameters in a tuple ``path_parameters``. Its method ``path(X, y, grid)`` takes lists of their
    values, ``grid``, and yields the models of all combinations in parts, from the least values up:
    a caller that has seen enough stops.

    Attributes
    ----------
    params : list of dict
        The values in which each model differs from the others.
    models : list of estimator
        The fitted models.
    converged : list of bool
        Whether the solver of each converged.
    values : callable
        ``values(X)`` returns the values of each model for X: a sequence of arrays. What the models
        share, such as similarities to landmarks, is computed once.
    """

    params: list[dict[str, Any]]
    models: list[Any]
    converged: Sequence[bool]
    values: Callable[[Any], Iterable[NDArray[Any]]]

    def outputs(self, method: str, X: Any) -> list[NDArray[Any]]:
        """Return what this method of each model returns for X."""
        getattr(self.models[0], method)  # an AttributeError if it has none
        pairs = zip(self.models, self.values(X), strict=True)
        return [answer(model, method, values) for model, values in pairs]


def answer(model: Any, method: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return what a method of a model returns for points, from the model's values for these.

    A method that returns something else has a private one that makes it of the values.
    """
    return np.asarray(getattr(model, f"_{method}", np.asarray)(values))


def path_points(model: Any, grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the combinations of a path's values, numbers ascending, the last parameter fastest.

    Other parameters than those in `model.path_parameters` are refused, and so are values that the
    estimator does not allow.
    """
    if unknown := [name for name in grid if name not in model.path_parameters]:
        raise ValueError(
            f"{unknown[0]!r} is no parameter of a path of {type(model).__name__}, which are "
            f"{', '.join(model.path_parameters)}"
        )
    axes, tried = {name: ascending(values) for name, values in grid.items()}, clone(model)
    tried._validate_params()
    for name, values in axes.items():
        for value in values:
            tried.set_params(**{name: value})._validate_params()
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def ascending(values: Sequence[Any]) -> list[Any]:
    """Return the distinct values, numbers ascending and None last, others in their own order."""
    distinct = list(dict.fromkeys(values))
    numbers = [np.inf if value is None else value for value in distinct]
    if np.asarray(numbers).dtype.kind not in "iuf":
        return distinct
    return [distinct[place] for place in np.argsort(numbers, kind="stable")]


def hold_out(codes: Indices, fraction: float, rng: Random) -> tuple[Indices, Indices]:
    """Hold out a stratified share of the points, by their classes; at least one of each is not.

    Returns the indices of the points to train on and of those held out, both ascending.
    """
    # Rank of a point within its class, from 0 to 1: the smallest ranks are a share of each class.
    ranks = np.empty(len(codes))
    for code in range(codes.max() + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        ranks[members] = (np.arange(len(members)) + rng.uniform()) / len(members)
        ranks[members[-1]] = np.inf
    n_held_out = min(max(round(fraction * len(codes)), 1), np.count_nonzero(ranks < np.inf))
    if n_held_out == 0:
        problem = "X holds 1 sample" if len(codes) == 1 else "y has no class with two points"
        raise ValueError(
            f"{problem}, so that none can be held out to choose parameters on: give X_val and "
            "y_val, or a single choice"
        )
    held_out = np.sort(np.argsort(ranks, kind="stable")[:n_held_out])
    return np.setdiff1d(np.arange(len(codes)), held_out), held_out


def hold_out_at_random(
    n_samples: int, fraction: float, rng: Random | np.random.Generator
) -> tuple[Indices, Indices]:
    """Hold out a random share of the points, at least one but not all.

    Returns the indices of the points to train on and of those held out, in random order.
    """
    order = rng.permutation(n_samples)
    n_held_out = min(max(round(fraction * n_samples), 1), n_samples - 1)
    return order[n_held_out:], order[:n_held_out]


def split_for_choice(
    model: Any,
    X: Any,
    y: Any,
    X_val: Any,
    y_val: Any,
    codes: Indices,
    n_choices: int,
    rng: Random,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Indices, Any, NDArray[Any] | None, NDArray[np.float64] | None, Indices | None]:
    """Return the rows of X to train on, and the validation part that parameters are chosen on.

    That is the one given, of points that `model._check_points` validates. Without one it is a
    share `model.validation_fraction` of the training points, stratified by `codes`, or those with
    these indices; None if there is no choice to make. Rows of weight 0 are in neither.
    The last two results are the weights of the validation points, None where all are 1, and
    their rows in X, None where they were given.
    """
    rows = validation.weighted_rows(weights, len(codes))
    if X_val is None and y_val is None:
        if n_choices == 1:
            return rows, None, None, None, None
        if np.ndim(model.validation_fraction):
            held_out = np.unique(model.validation_fraction)
            if held_out.dtype.kind not in "iu" or not {*held_out} < {*range(len(codes))}:
                raise ValueError("validation_fraction must hold indices of some, not all, of X")
            # a class that is in no other rows is trained on
            lost = np.setdiff1d(codes[rows], codes[np.setdiff1d(rows, held_out)])
            held_out = np.intersect1d(rows, held_out[~np.isin(codes[held_out], lost)])
            training = np.setdiff1d(rows, held_out)
        else:
            codes = np.unique(codes[rows], return_inverse=True)[1]
            training, held_out = hold_out(codes, model.validation_fraction, rng)
            training, held_out = rows[training], rows[held_out]
        weights_val = validation.taken(weights, held_out)
        return training, X[held_out], y[held_out], weights_val, held_out
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together, or neither")
    try:
        X_val = model._check_points(X_val)
    except ValueError as error:
        raise ValueError(f"X_val: {error}") from error
    dtype = np.float64 if y.dtype.kind == "f" else None
    y_val = check_array(y_val, ensure_2d=y.ndim > 1, dtype=dtype, input_name="y_val")
    if y_val.shape != (X_val.shape[0], *y.shape[1:]):
        raise ValueError(
            f"y_val must hold one value for each of the {X_val.shape[0]} points of X_val, "
            f"got shape {y_val.shape}"
        )
    return rows, X_val, y_val, None, None


class Answers(BaseEstimator):
    """What a model answers if these are its values for some points, for scikit-learn's scorers.

    Values of a single column are a vector.
    """

    def __init__(self, model: Any, values: NDArray[Any]) -> None:
        self.model = model
        self.values = validation.single_column(values)
        self.classes_ = getattr(model, "classes_", None)

    def predict(self, X: Any) -> NDArray[Any]:
        return answer(self.model, "predict", self.values)

    @available_if(lambda self: hasattr(self.model, "decision_function"))
    def decision_function(self, X: Any) -> NDArray[Any]:
        return answer(self.model, "decision_function", self.values)

    @available_if(lambda self: hasattr(self.model, "predict_proba"))
    def predict_proba(self, X: Any) -> NDArray[Any]:
        return answer(self.model, "predict_proba", self.values)

    def __sklearn_tags__(self) -> Any:
        return self.model.__sklearn_tags__()


def scores(
    scoring: Any, models: Iterable[Any], values: Sequence[Any], X: Any, y: Any, weights: Any
) -> NDArray[np.float64]:
    """Return the score by `scoring` of each model, which has such values for X."""
    scorer = check_scoring(scoring=scoring)
    options = {} if weights is None else {"sample_weight": weights}
    answers = map(Answers, models, values)
    try:
        given = np.array([scorer(one, X, y, **options) for one in answers], dtype=np.float64)
    except TypeError as error:
        if "sample_weight" not in str(error):
            raise
        problem = f"scoring={scoring!r} takes no weights: leave out sample_weight and class_weight"
        raise ValueError(problem) from error
    except AttributeError as error:
        method = str(error).rpartition(" ")[2]
        raise ValueError(f"scoring={scoring!r}: the estimator has no {method}") from error
    if given.ndim > 1 or np.isnan(given).any():
        raise ValueError(
            f"scoring={scoring!r} must give a number for held-out points, not {given}"
        )
    return given


def first_best(*criteria: NDArray[Any]) -> int:
    """Return the place of the least first criterion, ties by the next ones, then by order."""
    return int(np.lexsort([*map(np.ravel, reversed(criteria))])[0])
