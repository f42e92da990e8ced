"""Landmarks, the similarities of points to them, and the bases of estimators by similarity."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import repeat
from math import prod
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import gen_batches
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import (
    check_array,
    check_is_fitted,
    check_random_state,
    has_fit_parameter,
)

from kernlearn import choice, validation
from kernlearn.checks import listed
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import Kernel
from kernlearn.kernels.base import OBJECTS, check_matrix, check_points, check_training, compared
from kernlearn.kernels.functions import is_precomputed, kernels_of
from kernlearn.lazy import needed_by
from kernlearn.linear.losses import LOSSES
from kernlearn.memory import row_blocks
from kernlearn.validation import Floats, Indices, Random

Reals: TypeAlias = NDArray[np.floating]

#: Similarities that an estimator keeps in training: 1 GiB of float64. More are computed anew.
KEPT_ELEMENTS = 2**27

#: Selections of landmarks that look at similarities, and at classes only to choose from each.
BY_SIMILARITY = ("dselect", "kmeans++", "leverage", "rpcholesky")
SELECTIONS = ("random", *BY_SIMILARITY)

# Similarities that are computed at a time.
_BLOCK_BYTES = 2**24


@dataclass
class Comparisons:
    """The number of similarities that were evaluated."""

    count: int = 0


@dataclass(frozen=True)
class Landmarks:
    """Training points that other points are compared with, and the similarity.

    Attributes
    ----------
    indices : ndarray of int
        Rows of the training data.
    points : array, sparse matrix or None
        None for a precomputed matrix.
    kernel : Kernel or None
        The fitted kernel; None for a precomputed matrix of similarities, which has `n_columns`
        or those of these landmarks alone.
    sign : int
        -1 for a distance: all values are similarities.
    comparisons : Comparisons
        Where evaluations are counted.
    name : str
        Name of the data of the landmarks, for errors.
    """

    indices: Indices
    points: Any
    kernel: Kernel | None
    sign: int = 1
    comparisons: Comparisons = field(default_factory=Comparisons)
    name: str = "training X"
    n_columns: int | None = None

    def compare(
        self, X: Any, rows: Indices | None = None, places: Indices | None = None, first: int = 0
    ) -> Reals:
        """Return the similarities of points, all or some `rows` of X, to the landmarks.

        A precomputed matrix X is (n_samples, n_columns) or (n_samples, n_landmarks). Other values
        must be finite: an error names the pair of points, by the `places` of training points, and
        counts others from `first`.
        """
        if self.kernel is None:
            if self.n_columns is not None and X.shape[1] != self.n_columns:
                values = X if rows is None else X[rows]
            else:
                values = X[:, self.indices] if rows is None else X[rows[:, None], self.indices]
            return values if self.sign == 1 else -values
        name = "X" if places is None else "training X"
        if rows is not None:
            X, places = X[rows], rows if places is None else places
        try:
            values = compared(self.kernel, X, self.points)
        except SimilarityError as error:
            left = first + error.left if places is None else int(places[error.left])
            right, names = int(self.indices[error.right]), (name, self.name)
            raise error.at(left, right, names) from (error.__cause__ or error)
        self.comparisons.count += values.size
        return values if self.sign == 1 else -values

    def blocks(
        self, X: Any, width: int = 0, block_bytes: int | None = None
    ) -> Iterator[tuple[slice, Reals]]:
        """Yield slices of rows of X with their similarities to the landmarks.

        `width` is the number of columns made of each row, if more than there are landmarks;
        `block_bytes` as for :func:`row_blocks`.
        """
        if not len(self.indices):
            yield slice(0, X.shape[0]), np.zeros((X.shape[0], 0), dtype=float_type(X))
            return
        columns = max(len(self.indices), width)
        for rows in row_blocks(X.shape[0], columns, block_bytes=block_bytes):
            yield rows, self.compare(X[rows], first=rows.start)

    def values(self, X: Any) -> Reals:
        """Return the similarities of all points, computed in blocks."""
        return np.concatenate([similarities for _, similarities in self.blocks(X)])

    def places_of(self, some: "Landmarks") -> Indices | slice:
        """Return the places of some of these landmarks among them."""
        return slice(None) if some is self else validation.places(self.indices, some.indices)

    def take(self, which: Indices) -> "Landmarks":
        """Return some of the landmarks, by their place among these."""
        points = None if self.points is None else self.points[which]
        return replace(self, indices=self.indices[which], points=points)


@dataclass(eq=False)
class Similarities:
    """Similarities of points to landmarks, computed once and then kept.

    Those that would exceed `KEPT_ELEMENTS` values in all are computed at each use. So are single
    columns by kernels that are not `columnwise`: solvers that stop early amplify the last digit,
    in which they differ from the columns that these kernels compute together.

    Parameters
    ----------
    landmarks : Landmarks
    X : array or sparse matrix
    places : ndarray of int, default=None
        Places of the points in the data that the user has passed, for errors.
    """

    landmarks: Landmarks
    X: Any
    places: Indices | None = None
    # by landmark: the similarities of all points
    _columns: dict[int, Reals] = field(default_factory=dict, init=False)
    _diagonal: Reals | None = field(default=None, init=False)

    @property
    def is_distance(self) -> bool:
        """Whether the similarities are distances with the other sign."""
        return self.landmarks.sign < 0

    def keep(self, which: Indices) -> bool:
        """Compute missing similarities to landmarks `which`, and return whether all are kept."""
        missing = [i for i in dict.fromkeys(which.tolist()) if i not in self._columns]
        if self.X.shape[0] * (len(self._columns) + len(missing)) > KEPT_ELEMENTS:
            return False
        if missing:
            columns = self._compute(np.array(missing), transposed=True)
            self._columns.update(zip(missing, columns, strict=True))
        return True

    def column(self, i: int) -> Reals:
        """Return the similarities to landmark `i`, shape (n_points,)."""
        return self.part(slice(None), np.array([i]), keep=True)[:, 0]

    def diagonal(self) -> Reals:
        """Return the similarity of each point to itself, where the landmarks are the points.

        It takes one value for each point of a user-defined function or of a kernel of objects.
        Other kernels compare 32 points with each other at a time.
        """
        if self._diagonal is None:
            kernel, everything = self.landmarks.kernel, np.arange(self.X.shape[0])
            each = kernel is not None and kernel.compares in OBJECTS
            batches = gen_batches(len(everything), 1 if each else 32)
            squares = (self._compute(everything[rows], everything[rows]) for rows in batches)
            self._diagonal = np.concatenate([square.diagonal() for square in squares])
        return self._diagonal

    def part(self, rows: Indices | slice, which: Indices, *, keep: bool = False) -> Reals:
        """Return the similarities of points `rows` to landmarks `which`.

        With `keep` those of all points are computed and kept, by kernels that are `columnwise`.
        """
        kernel = self.landmarks.kernel
        columnwise = kernel is not None and kernel.columnwise
        if keep and columnwise:
            self.keep(which)
        if columnwise and self._columns.keys() >= {*which.tolist()}:
            return np.ascontiguousarray(self.by_landmark(which, rows).T)
        return self._compute(which, rows)

    def by_landmark(self, which: Indices, rows: Indices | slice = slice(None)) -> Reals:
        """Return a row for each landmark: its similarities to points `rows`, or to all."""
        if not self.keep(which):
            return self._compute(which, rows, transposed=True)
        return np.array([self._columns[i][rows] for i in which.tolist()])

    def _compute(
        self, which: Indices, rows: Indices | slice = slice(None), *, transposed: bool = False
    ) -> Reals:
        """Compute similarities block by block: there is no second array of their size."""
        landmarks, values = self.landmarks.take(which), np.empty((0, 0))
        chosen = np.arange(self.X.shape[0])[rows]
        for block in row_blocks(len(chosen), len(which), block_bytes=_BLOCK_BYTES):
            part = chosen[block]
            places = None if self.places is None else self.places[part]
            # all points, without a copy
            is_whole = isinstance(rows, slice) and len(part) == self.X.shape[0]
            some = landmarks.compare(self.X, None if is_whole else part, places)
            if is_whole and not transposed:
                return some
            if not values.size:
                shape = len(chosen), len(which)
                values = np.empty(shape, some.dtype, order="F" if transposed else "C")
            values[block] = some
        return values.T if transposed else values


class Contributions(NamedTuple):
    """What each landmark, or pair of landmarks, adds to decision values.

    Attributes
    ----------
    landmarks : ndarray of int
        Rows of the landmarks in the X passed to `fit`, of the shape of `weights`; with a last axis
        of 2 for pairs (x⁺, x⁻). For k nearest neighbours those of each point, of shape (n_samples,
        n_neighbors). RegLand, ORLand and RankLand may have other landmarks, and rows of these.
    similarities : ndarray
        Those of each point to `landmarks`, of shape (n_samples, ...); distances are negated.
    weights : ndarray of shape (n_terms,) or (n_classes, n_terms)
        The weights of similarities divided by ``scale_``, or of their transformed differences;
        with a row for each class if there are more than two. A class with fewer terms than another
        ends with weights of 0. Votes of neighbours are of shape (n_samples, n_neighbors).
    shares : ndarray of shape (n_samples, n_terms) or (n_samples, n_classes, n_terms)
        The terms themselves: summed over the last axis, with `intercept` added, they are the
        decision values.
    intercept : float or ndarray
        The constant.
    classes : ndarray of shape (n_classes,) or None
        The labels that each last axis of `shares` speaks for; None for predicted numbers.

    Examples
    --------
    >>> from kernlearn.landmarks import BBSClassifier
    >>> words, y = ["ab", "abc", "abd", "xy", "xyz", "xyw"], [0, 0, 0, 1, 1, 1]
    >>> model = BBSClassifier(2, similarity="levenshtein", C=1, random_state=0).fit(words, y)
    >>> parts = model.contributions(["abx"])
    >>> [words[row] for row in parts.landmarks], parts.similarities.round(2)
    (['xyw', 'abd'], array([[0.  , 0.67]]))
    >>> bool((parts.shares.sum(axis=1) == model.decision_function(["abx"])).all())
    True
    >>> parts.to_frame().round(2)
       sample  class  landmark  similarity  weight  share
    0       0      1         5        0.00    0.98   0.00
    1       0      1         2        0.67   -0.98  -0.65
    """

    landmarks: Indices
    similarities: Reals
    weights: Reals
    shares: Reals
    intercept: Any = 0.0
    classes: NDArray[Any] | None = None

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each point, class and landmark.

        Returns
        -------
        DataFrame
            With the columns "sample", "class" (of classifiers), "landmark", "similarity", "weight"
            and "share"; for pairs also "other_landmark" and "other_similarity", those of x⁻.
        """
        with needed_by("contributions as a frame"):
            import pandas as pd
        shares = self.shares if self.shares.ndim == 3 else self.shares[:, np.newaxis]
        of_neighbours = self.similarities.shape == self.landmarks.shape
        columns = {"landmark": self.landmarks, "similarity": self.similarities}
        if self.landmarks.ndim > self.weights.ndim:
            others = {f"other_{name}": values[..., 1] for name, values in columns.items()}
            columns = {name: values[..., 0] for name, values in columns.items()} | others
        columns |= {"weight": self.weights, "share": self.shares}
        sample, of_class, _ = np.indices(shares.shape)
        flat = {"sample": sample.ravel()}
        if self.classes is not None:
            flat["class"] = self.classes[of_class.ravel()]
        for name, values in columns.items():
            # an axis of classes, where there is only that of samples
            if values.ndim == 2 and (of_neighbours or self.shares.ndim == 2):
                values = values[:, np.newaxis]
            flat[name] = np.broadcast_to(values, shares.shape).ravel()
        return pd.DataFrame(flat)


#: Values to choose from, by parameter.
Grid: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Training:
    """Points to train on, and those that parameters are chosen on.

    Attributes
    ----------
    similarities : Similarities
        Those of the points to each other.
    y : ndarray of shape (n_points,)
        Their targets or labels.
    codes : ndarray of shape (n_points,)
        Their classes.
    weights : ndarray of shape (n_points,) or None
        Factors on their losses; None where all are 1.
    X_val, y_val, weights_val : array, ndarray and ndarray, or None
        The points to choose on.
    rng : RandomState
        Draws what comes after the points that are held out.
    given : Landmarks or None
        Points that the user has passed as landmarks.
    path : dict
        Values of the models that are trained together, by parameter.
    codes_val : ndarray of shape (n_val,) or None
        For classifiers the classes of these, -1 for one without a training point.
    whole : Training or None
        All points, with those that were held out to choose on; None if none were. Kernels are
        those fitted to the points without them.
    """

    similarities: Similarities
    y: NDArray[Any]
    codes: Indices
    weights: Floats | None
    X_val: Any
    y_val: Any
    weights_val: Floats | None
    rng: Random
    given: Landmarks | None
    path: Grid
    codes_val: Indices | None = None
    whole: "Training | None" = None
    _made: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def candidates(self) -> Landmarks:
        """All the points, as landmarks."""
        return self.similarities.landmarks

    def kept(self) -> Landmarks:
        """Return all the points as landmarks, as they are now: X may be changed later."""
        return self.once("kept", lambda: self.candidates.take(np.arange(len(self.codes))))

    def signs(self) -> Floats:
        """Return a row for each one-vs-all problem, 1 for its class and -1 for the rest."""
        return validation.one_against_all(self.codes, self.codes.max() + 1)

    def merged(self, features: Reals, part: "Training", held_out: Reals) -> Reals:
        """Return the features of these points: of a part of them and of those held out of it."""
        merged = np.empty((len(self.codes), features.shape[1]), features.dtype)
        is_part = np.isin(self.candidates.indices, part.candidates.indices)
        merged[is_part], merged[~is_part] = features, held_out
        return merged

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` returns; the models of a path that use the same key share it."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]


_GAPS = "similarities in X are missing: taken as the means of training points"


def _with_pairs(matrix: Reals, means: Reals, kind: str, rows: Indices) -> tuple[Reals, Indices]:
    """Fill missing pairs of training points; return also those of `rows` that lack most."""
    if not np.isnan(matrix).any():
        return matrix, rows[:0]
    own = np.eye(len(matrix), dtype=bool)
    if kind == "distance":  # that of a point to itself is 0
        matrix = np.where(own & np.isnan(matrix), matrix.dtype.type(0), matrix)
    check_matrix(np.where(own, matrix, 0.0))
    left_out = rows[validation.lacking_most(matrix[np.ix_(rows, rows)], 0.5)]
    if len(left_out) > len(rows) / 2:
        check_matrix(matrix)
    away = f"; {len(left_out)} of {len(rows)} points, which lack more than half, are left out"
    if lack := int(np.isnan(matrix).sum()):
        validation.warn(f"{lack} of {matrix.size} {_GAPS}{away if len(left_out) else ''}")
    return validation.with_pair_means(matrix, means, of_training=True), left_out


class SimilarityEstimator(BaseEstimator):
    """An estimator with parameters ``similarity`` and ``kind``.

    Attributes
    ----------
    n_comparisons_ : int
        Number of training points that a prediction compares a point with.
    n_fit_comparisons_ : int
        Number of similarities that `fit` has asked for; 0 for a precomputed matrix.
    compared_indices_ : ndarray of shape (n_compared,)
        The landmarks that a prediction compares a point with: rows of the X, or of the landmarks,
        passed to `fit`. A precomputed matrix may have these columns alone.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **validation.PARAMETERS,
        "similarity": [str, Kernel, callable],
        "kernel": [str, Kernel, callable],
        "kind": [validation.StrOptions({"similarity", "distance"})],
        "selection": [validation.StrOptions(set(SELECTIONS))],
        "C": [validation.POSITIVE, "array-like"],
    }
    _numeric_targets = False
    #: The parameter that says what compares points.
    _compared_by = "similarity"

    similarity: Any
    kind: str
    random_state: Any = None
    validation_fraction = 0.2
    scoring: Any = None
    _landmarks: Landmarks
    #: Whether the solver did, in the models of a path.
    _converged = True

    def _kernels(self) -> list[Kernel] | None:
        """Return the kernel that compares points, fitted after `fit`; None for a matrix."""
        if (landmarks := vars(self).get("_landmarks")) is not None:
            return None if landmarks.kernel is None else [landmarks.kernel]
        return kernels_of(getattr(self, self._compared_by), self._compared_by)

    def _check_training(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Any, Any, Floats | None]:
        """Validate points, targets and weights; y may be None for an estimator without.

        An estimator that takes weights fills pairs in that a matrix lacks, and leaves out points
        that lack more than half of theirs.
        """
        self.__dict__.pop("_landmarks", None)  # of an earlier fit
        kernels, numeric = self._kernels(), self._numeric_targets
        gaps = self._fills_gaps()
        X, y = check_training(self, X, y, kernels, numeric=numeric, gaps=gaps)
        weights = validation.check_weights(sample_weight, X)
        self._pair_means = None
        if kernels is None and gaps:
            rows = validation.weighted_rows(weights, len(X))
            self._pair_means = validation.pair_means(X, None if weights is None else rows)
            X, out = _with_pairs(X, self._pair_means, self.kind, rows)
            if len(out):
                weights = np.ones(len(X)) if weights is None else weights.copy()
                weights[out] = 0.0
        return X, y.astype(np.float64) if numeric else y, weights

    def _fills_gaps(self) -> bool:
        return has_fit_parameter(self, "sample_weight")

    def _grid(self) -> Grid:
        """Return the values to choose from, by parameter, of equally good ones the best first."""
        return {}

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Validate training data; return X, y, the codes of classes, and weights."""
        X, y, weights = self._check_training(X, y, sample_weight)
        return X, y, np.zeros(len(y), dtype=np.intp), weights

    def _training(
        self,
        X: Any,
        y: Any,
        X_val: Any = None,
        y_val: Any = None,
        sample_weight: Any = None,
        landmarks: Any = None,
        path: Grid | None = None,
    ) -> Training:
        """Validate the data, and hold points out if there is a choice to make."""
        if grid := self._grid():
            self.grid_ = grid
        n_choices = prod(map(len, grid.values()))
        X, y, codes, weights = self._check_targets(X, y, sample_weight)
        rng = check_random_state(self.random_state)
        rows, X_val, y_val, weights_val, held_out = choice.split_for_choice(
            self, X, y, X_val, y_val, codes, n_choices, rng, weights
        )

        def part(
            rows: Indices, candidates: Landmarks, chosen_on: tuple[Any, Any, Any]
        ) -> Training:
            of_rows = validation.taken(y, rows), codes[rows], validation.taken(weights, rows)
            # points that are the same object are compared with themselves exactly
            points = _rows(X, rows) if candidates.points is None else candidates.points
            similarities = Similarities(candidates, points, rows)
            return Training(similarities, *of_rows, *chosen_on, rng, given, path or {})

        # rows of X as passed: with a matrix of similarities these are also its columns
        candidates = self._candidates(_rows(X, rows), validation.taken(y, rows), rows)
        given = None if landmarks is None else self._given(landmarks, candidates)
        training = part(rows, candidates, (X_val, y_val, weights_val))
        if held_out is None:
            return training
        rows = np.sort(np.concatenate([rows, held_out]))
        points = None if candidates.kernel is None else _rows(X, rows)
        every = replace(candidates, indices=rows, points=points)
        return replace(training, whole=part(rows, every, (None, None, None)))

    def _given(self, points: Any, candidates: Landmarks) -> Landmarks:
        """Return points that the user has passed as landmarks."""
        if candidates.kernel is None:
            raise ValueError(
                "landmarks must be None with similarity='precomputed': there are no points to "
                "compare with, only the rows and columns of X"
            )
        try:
            points = check_points(self, points, self._kernels())
        except ValueError as error:
            raise ValueError(f"landmarks: {error}") from error
        places = np.arange(points.shape[0])
        return replace(candidates, indices=places, points=points, name="landmarks")

    @abstractmethod
    def _learn(self, data: Training) -> Any:
        """Train the model for each choice of parameters, keep the best, and set its attributes."""

    def _fit(self, *data: Any, **more: Any) -> Self:
        """Train on data that are validated first."""
        training = self._training(*data, **more)
        with _locating(training):
            self._learn(training)
        self.n_fit_comparisons_ = training.candidates.comparisons.count
        return self

    @available_if(lambda self: hasattr(self, "path_parameters"))
    def path(
        self, X: Any, y: Any, grid: Grid, X_val: Any = None, y_val: Any = None
    ) -> Iterator[choice.Fits]:
        """Fit models that differ in some parameters; they share what is computed for all.

        Points are compared with landmarks, and embedded, once, and a solver follows a path of C.

        Parameters
        ----------
        X, y, X_val, y_val
            As for `fit`.
        grid : dict
            Values of some of `path_parameters`, by name.

        Yields
        ------
        Fits
            The models of all combinations, with the landmarks of those of `fit`. Weights are
            within the tolerance of solvers those of `fit`; predictions of SparseRegLand agree to
            1e-9 of the size of y.
        """
        points = choice.path_points(self, grid)
        base = clone(self).set_params(**points[0])
        data = base._training(X, y, X_val, y_val, path=grid)
        models = [copy(base).set_params(**point) for point in points]
        for model in models:
            with _locating(data):
                model._learn(data)
            model.n_fit_comparisons_ = data.candidates.comparisons.count
        landmarks = models[0]._landmarks
        if any(model._landmarks is not landmarks for model in models):
            used = np.unique(np.concatenate([model._landmarks.indices for model in models]))
            landmarks = data.candidates.take(np.searchsorted(data.candidates.indices, used))

        def values(X: Any) -> list[Reals]:
            return scores_of(models, models[0]._check_all(X), landmarks)

        yield choice.Fits(points, models, [model._converged for model in models], values)

    def _check_points(self, X: Any) -> Any:
        """Validate points; of a matrix of similarities those that a prediction reads."""
        check_is_fitted(self)
        landmarks = getattr(self, "_landmarks", None)
        # predictions may compare with other points than landmarks
        if (
            self._kernels() is not None
            or landmarks is None
            or self.n_comparisons_ > len(landmarks.indices)
        ):
            return self._check_all(X)
        places = self.compared_indices_
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        if shape[1:] == places.shape != (landmarks.n_columns,):
            X = self._landmark_columns(X, places)
            values: Reals = check_array(X, dtype=[np.float64, np.float32], ensure_all_finite=False)
        else:
            values = check_points(self, X, None, gaps=True)[:, places]
        return self._without_gaps(values, places)

    def _check_all(self, X: Any) -> Any:
        """Validate points; of a matrix of similarities all columns, without gaps."""
        kernels = self._kernels()
        values = check_points(self, X, kernels, gaps=True)
        return values if kernels is not None else self._without_gaps(values)

    def _without_gaps(self, values: Reals, places: Any = None) -> Reals:
        """Fill similarities to training points, all or some, by these points' means."""
        if (means := vars(self).get("_pair_means")) is not None and np.isnan(values).any():
            if (lacks := np.isnan(values).all(axis=1)).any():
                raise ValueError(
                    f"row {lacks.argmax()} of X lacks all similarities to training points: fill in "
                    "mirror images before the matrix is split"
                )
            validation.warn(f"{np.isnan(values).sum()} of {values.size} {_GAPS}")
            means = means if places is None else means[places]
            values = validation.with_pair_means(values, means)
        check_matrix(values, places)
        return values

    def _landmark_columns(self, X: Any, places: Indices) -> Any:
        """Return similarities to the landmarks alone, in order: columns are matched by name."""
        names, columns = getattr(self, "feature_names_in_", None), getattr(X, "columns", None)
        if names is None or columns is None:
            return X
        expected = names[places].tolist()
        if sorted(map(str, columns)) != sorted(expected):
            raise ValueError(
                "the columns of X must be those of all training points, or of the points "
                f"compared with, compared_indices_: {listed(map(repr, expected))}"
            )
        return X[expected]

    def _candidates(self, X: Any, y: Any, indices: Indices) -> Landmarks:
        """Fit the similarity and return every point as a landmark, with its row in the data."""
        sign = -1 if self.kind == "distance" else 1
        kernels = self._kernels()
        if kernels is None:
            return Landmarks(indices, None, None, sign, n_columns=X.shape[1])
        if sign < 0 and (isinstance(self.similarity, str) or kernels[0].is_distance):
            raise ValueError(
                "kind='distance' is for a matrix or a user-defined function: the values of "
                f"{self.similarity!r} grow as points are more alike"
            )
        names, kind = getattr(self, "feature_names_in_", None), self.get_params(False).get("kind")
        kernel = kernels[0].fitted_to(X, y, names, kind)
        comparisons = Comparisons(getattr(kernel, "n_fit_comparisons_", 0))
        return Landmarks(indices, X, kernel, sign, comparisons)

    def _set_landmarks(self, landmarks: Landmarks) -> None:
        """Set the landmarks that a prediction compares points with, and their attributes."""
        self._landmarks = landmarks
        self.n_comparisons_ = len(landmarks.indices)
        # a matrix of all columns has them in the order of `fit`
        is_whole = len(landmarks.indices) == landmarks.n_columns
        self.compared_indices_ = np.sort(landmarks.indices) if is_whole else landmarks.indices

    def _choose(
        self,
        data: Training,
        gains: Any,
        values: Sequence[Reals] = (),
        models: Any = None,
        ties: Any = None,
    ) -> int:
        """Set the values of the grid with the greatest mean gain, and return their place.

        `gains` are those of held-out points for each cell of the grid, None without such points,
        where the first cell is chosen. Equal means go to the least of `ties`, then to the first.
        With `scoring` the greatest score counts, of the `values` for these points of each model.
        """
        shape, weights = tuple(map(len, self.grid_.values())), data.weights_val
        if gains is not None and self.scoring is not None:
            of_points = values, data.X_val, data.y_val, weights
            gains, weights = choice.scores(self.scoring, models or repeat(self), *of_points), None
            ties = None
        self.validation_scores_, best = None, 0
        if gains is not None:
            means = np.average(np.reshape(gains, (-1, *shape)), axis=0, weights=weights)
            criteria = (-means,) if ties is None else (-means, ties)
            self.validation_scores_, best = means, choice.first_best(*criteria)
        grid = zip(self.grid_.items(), np.unravel_index(best, shape), strict=True)
        self.best_params_ = {name: np.asarray(of[place]).item() for (name, of), place in grid}
        for name, value in self.best_params_.items():
            setattr(self, f"{name}_", value)
        return best

    def _values(self, X: Any) -> Reals:
        """Return the scores of points."""
        return scores_of([self], self._check_points(X), self._landmarks)[0]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(getattr(self, self._compared_by))
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.input_tags.allow_nan = tags.input_tags.pairwise and self._fills_gaps()
        return tags


@contextmanager
def _locating(data: Training) -> Iterator[None]:
    """Name a held-out point by its place in the training data, or as one of X_val."""
    try:
        yield
    except SimilarityError as error:
        if error.names[0] != "X":
            raise
        left, name = error.left, "X_val"
        if data.whole is not None:
            every, trained = data.whole.candidates.indices, data.candidates.indices
            left, name = int(np.setdiff1d(every, trained)[left]), "training X"
        raise error.at(left, error.right, (name, error.names[1])) from error.__cause__


def _rows(X: Any, rows: Indices) -> Any:
    """Return rows of X, without a copy if these are all."""
    return X if len(rows) == X.shape[0] else X[rows]


def float_type(X: Any) -> type[np.floating]:
    """Return the type that features of points are computed in."""
    return np.float32 if X.dtype == np.float32 else np.float64


def scores_of(models: Sequence[Any], X: Any, landmarks: Landmarks) -> list[Reals]:
    """Return the scores of points by each model, from one comparison with landmarks, in blocks.

    A model's `_scores` takes the similarities to its own landmarks, which are some of these, and
    the type of features.
    """
    dtype = float_type(X)
    own = [(model, landmarks.places_of(model._landmarks)) for model in models]
    blocks = [
        [model._scores(similarities[:, some], dtype) for model, some in own]
        for _, similarities in landmarks.blocks(X)
    ]
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def mean_losses(
    values: list[Reals], codes: Indices, loss: str, weights: Floats | None = None
) -> Floats:
    """Return the mean loss of each of several settings, over problems and points of known classes.

    `values` are of shape (n_points, n_problems); an unknown class, with code -1, is on neither
    side of any problem.
    """
    known, n_problems = codes >= 0, values[0].shape[1]
    signs = validation.one_against_all(codes[known], max(n_problems, 2)).T
    terms = [LOSSES[loss].value(signs * each[known]).mean(axis=1) for each in values]
    return np.average(terms, axis=1, weights=validation.taken(weights, known))


@dataclass(eq=False, repr=False)
class SimilarityClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of the classifiers by similarity, which choose parameters on validation points."""

    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    random_state: Any = None

    #: The method whose scores are highest for the class that is predicted.
    _scored_by = "decision_function"

    class_weight = None  # of those without this parameter

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        X, labels, weights = self._check_training(X, y, sample_weight)
        self.classes_, codes, factors = validation.encode_labels(
            labels, self.class_weight, weights
        )
        self._factors = None if self.class_weight is None else factors
        if self._factors is not None:
            weights = self._factors[codes] * (1.0 if weights is None else weights)
        return X, labels, codes, weights

    def _training(self, *data: Any, **more: Any) -> Training:
        training = super()._training(*data, **more)
        if training.X_val is None:
            return training
        codes = validation.known_codes(self.classes_, training.y_val)
        weights = training.weights_val
        if weights is None and self._factors is not None:  # of points that are passed
            weights = np.where(codes < 0, 1.0, self._factors[codes])
        return replace(training, codes_val=codes, weights_val=weights)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function, a
            sequence of whatever it compares. X[i, j] is the similarity of point i to j as a
            landmark. A missing one, NaN, is X[j, i] if the matrix is symmetric else; if both are
            missing one of the points is left out. Warnings have the counts.
        y : array-like of shape (n_samples,)
            Labels of any kind, at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the losses of the training points, not negative, in training and, for
            points that are held out, in the choice of parameters. A point of weight 0 counts as
            absent. Landmarks are drawn without regard to weights.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on, not trained on. With ``similarity="precomputed"``
            of shape (n_val, n_samples), their similarities to the training points. If None and
            there is more than one choice, a stratified share ``validation_fraction`` of X is held
            out, and with `refit` the model chosen is trained again on all points.
        y_val : array-like of shape (n_val,), default=None
            Their labels. One that is not in y counts as an error of every choice.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class. If X_val and y_val do not match, or no label of y_val is in y.
            If points have to be held out and no class has two. If a matrix is not square, or not
            as wide as there are training points. If points, labels or similarities are not finite.
        """
        return self._fit(X, y, X_val, y_val, sample_weight)

    def _choose_class(self, data: Training, values: list[Reals], loss: str | None = None) -> int:
        """Choose by the held-out points whose class the values of each setting predict.

        With a loss ties are broken by its mean over the problems and the points of known classes.
        """
        hits, ties, codes = None, None, data.codes_val
        if values and codes is not None:
            predicted = np.column_stack([validation.predicted_codes(each) for each in values])
            hits = predicted == codes[:, np.newaxis]
            if loss:
                ties = mean_losses(values, codes, loss, data.weights_val)
        return self._choose(data, hits, values, ties=ties)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predict(getattr(self, self._scored_by)(X))

    def _predict(self, scores: Reals) -> np.ndarray:
        return self.classes_[validation.predicted_codes(scores)]

    @available_if(lambda self: self._scored_by == "decision_function")
    def decision_function(self, X: Any) -> Reals:
        """Return the decision values of points, for each one-vs-all problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two; else positive for ``classes_[1]``.
        """
        return self._values(X)
