"""Base of the estimators from moments: one pass, merging, and the path of penalties."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted

from kernlearn import memory
from kernlearn.constraints import COUNT, NOT_NEGATIVE, WHOLE
from kernlearn.datasets.sources import RowChunk
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.folds import HashSample, fold_of, label_hashes, row_hashes
from kernlearn.onepass.mapped import MappedModel
from kernlearn.onepass.moments import Layout, Moments
from kernlearn.onepass.quadratic import penalty_path
from kernlearn.onepass.repeated import as_source, check_lengths

_SOLVED = frozenset(
    {"alpha_", "alphas_", "cv_errors_", "coef_", "intercept_", "coef_path_", "intercept_path_"}
)


class OnePassModel(MappedModel):
    """A linear model of features, from moments of rows that are read once."""

    _parameter_constraints: dict[str, list[Any]] = {
        **MappedModel._parameter_constraints,
        "alphas": [None, NOT_NEGATIVE, "array-like"],
        "n_folds": [COUNT],
        "sample_rows": [COUNT],
        "fold_seed": [WHOLE],
        "block_rows": [None, COUNT],
        "n_jobs": [None, Integral],
    }

    feature_map: Any
    alphas: Any
    n_folds: int
    sample_rows: int
    fold_seed: int
    block_rows: int | None
    n_jobs: int | None
    n_features_in_: int
    alpha_: float
    alphas_: Floats
    cv_errors_: Floats
    coef_: Floats
    intercept_: Any
    coef_path_: Floats
    intercept_path_: Floats

    @abstractmethod
    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        """Return the classes and whether moments are by class; numeric targets have no classes."""

    @abstractmethod
    def _check_targets(self, y: Any, *, reset: bool) -> NDArray[Any]:
        """Return the targets of a chunk as rows of numbers, or its labels."""

    @abstractmethod
    def _multiples(self, y: NDArray[Any]) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the targets as whole numbers, and the codes of classes."""

    @abstractmethod
    def _solve(self) -> None:
        """Set the fitted attributes from the moments."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the feature map on a sample of the rows, gather the moments of all, and solve.

        The data are read twice, the first time for the sample alone, which consists of the rows
        with the smallest hashes, so that it does not depend on their order. For one pass, or data
        that can be read but once, call `fit_map` with a sample and then `partial_fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or RowSource
            Rows; or with their targets what :func:`kernlearn.datasets.row_source` returns, or a
            Dask array with `y`.
        y : array-like of shape (n_samples,)
            Targets; None if X is a source with targets.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are in one fold. None: equal rows are.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """
        source = as_source(X, y, groups)
        if not source.repeatable:
            raise ValueError(
                "fit reads the data twice, which an iterator does not allow: call 'fit_map' with "
                "a sample, then 'partial_fit' with the iterator, or pass a function that returns "
                "a new one"
            )
        sample, labels, reset = HashSample(self.sample_rows, self.fold_seed), [], True
        for chunk in source:
            rows, targets, _ = self._checked(chunk, reset=reset)
            sample.add(rows, targets)
            labels.append(np.unique(targets) if targets.ndim == 1 else targets[:0])
            reset = False
        if reset:
            raise ValueError("the data have no rows")
        found = np.unique(np.concatenate(labels)) if labels[0].ndim == 1 else None
        self._start(*sample.rows(), found)
        for chunk in source:
            self._gather(*self._checked(chunk, reset=False))
        self._solve()
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def fit_map(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Fit the feature map on a sample, before the pass over all rows.

        The sample also gives the features the units that they are rounded to; it does not count
        for the moments. Copies of the estimator can then gather parts of the data, and be merged.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows from all of the data.
        y : array-like of shape (n_samples,)
            Their targets.
        classes : array-like of shape (n_classes,), default=None
            All classes, for classifiers; None takes those of `y`.

        Returns
        -------
        self : object
            The estimator, without rows.
        """
        rows, targets, _ = self._checked((X, y), reset=True)
        self._start(rows, targets, classes)
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, groups: Any = None) -> Self:
        """Add rows to the moments; the model is computed when it is first asked for.

        The result does not depend on the order of rows and how they are divided into calls,
        provided that the map has been fitted by `fit_map`; without, the first chunk is its sample.

        Parameters
        ----------
        X, y, groups
            As for `fit`; X may also be an iterator of chunks.
        classes : array-like of shape (n_classes,), default=None
            All classes, for classifiers: required in the first call without `fit_map`.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are not valid, or have a class or a number of columns that is new.
        """
        for chunk in as_source(X, y, groups):
            first = not hasattr(self, "_moments")
            checked = self._checked(chunk, reset=first)
            if first:
                self._check_first(classes)
                self._start(checked[0], checked[1], classes)
            elif classes is not None:
                self._check_classes(classes)
            self._gather(*checked)
        return self

    def merge(self, *others: "OnePassModel") -> Self:
        """Add the rows of other estimators, which have the same fitted map.

        Parameters
        ----------
        *others : OnePassModel
            Copies of this estimator after `fit_map`, each with rows of its own. They stay as they
            are.

        Returns
        -------
        self : object
            This estimator. The result is the same to the bit for any order and nesting of merges.

        Raises
        ------
        ValueError
            If they are of other features, folds, classes or targets; the message says of which.
        """
        check_is_fitted(self)
        for other in others:
            if type(other) is not type(self):
                raise ValueError(
                    f"a {type(self).__name__} cannot be merged with a {type(other).__name__}"
                )
            if other is self:
                raise ValueError(
                    "an estimator cannot be merged with itself: rows would count twice"
                )
            check_is_fitted(other)
        for other in others:
            self._moments.merge(other._moments)
            self._forget()
        return self

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows in the moments."""
        return self._moments.n_rows

    @property
    def feature_map_(self) -> Any:
        """The fitted feature map, or None."""
        return self._moments.layout.feature_map

    @property
    def moments_(self) -> Moments:
        """The moments."""
        return self._moments

    def __getattr__(self, name: str) -> Any:
        if name in _SOLVED and "_moments" in self.__dict__:
            self._solve()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "_moments" in self.__dict__

    def _checked(self, chunk: RowChunk, *, reset: bool) -> tuple[Any, NDArray[Any], Any]:
        """Validate a chunk; without groups they are None."""
        X, y, *rest = chunk
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = self._check_rows(X, reset=reset)
        targets = self._check_targets(y, reset=reset)
        groups = None
        if rest:
            groups = np.asarray(rest[0])
        check_lengths(X, y=targets, groups=groups)
        return X, targets, groups

    def _check_first(self, classes: Any) -> None:
        """Refuse a first chunk without what the others cannot tell."""

    def _check_classes(self, classes: Any) -> None:
        """Refuse classes other than those of before."""

    def _start(self, X: Any, y: NDArray[Any], classes: Any) -> None:
        """Fit the map on a sample, and make empty moments."""
        options = self._layout_options(y, classes)
        feature_map = self._fitted_map(X, y)
        layout = Layout.of_sample(
            X, y, feature_map, n_folds=self.n_folds, seed=self.fold_seed, **options
        )
        n_columns = len(layout.features.units) + 1 + layout.n_targets
        memory.require_memory(
            24 * layout.n_groups * n_columns**2,
            None,
            f"moments of {n_columns} columns in {layout.n_groups} groups of rows",
            "take fewer features or folds",
        )
        self._moments = Moments(layout)
        self._forget()

    def _gather(self, X: Any, y: NDArray[Any], groups: Any) -> None:
        hashes = row_hashes(X, self.fold_seed) if groups is None else label_hashes(groups)
        places = fold_of(hashes, self.n_folds)
        targets, codes = self._multiples(y)
        if self._moments.layout.by_class and codes is not None:
            places = places * self._moments.layout.n_targets + codes
        self._moments.add(X, targets, places, self.block_rows, self.n_jobs)
        self._forget()

    def _forget(self) -> None:
        for name in _SOLVED & self.__dict__.keys():
            del self.__dict__[name]

    def _groups(self, folds: Iterable[int], code: int | None = None) -> list[int]:
        """Return the groups of rows of some folds, of all classes or one."""
        layout = self._moments.layout
        if not layout.by_class:
            return list(folds)
        codes = range(layout.n_targets) if code is None else (code,)
        return [fold * layout.n_targets + c for fold in folds for c in codes]

    def _cut(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yield the folds to train on and those held out."""
        rows = [self._moments.rows_of(self._groups([fold])) for fold in range(self.n_folds)]
        held = [fold for fold in range(self.n_folds) if rows[fold]]
        if len(held) < 2:
            n = self._moments.n_rows
            raise ValueError(
                f"the choice of a penalty needs rows in two folds, but all of them are in "
                f"{len(held)} (n_samples={n}): pass a single value as 'alphas', or more rows or "
                "folds"
            )
        for fold in held:
            yield [other for other in held if other != fold], [fold]

    def _penalties(self, largest: float) -> Floats:
        """Return the path of penalties, ascending; `largest` is the greatest eigenvalue."""
        if self.alphas is None:
            return penalty_path(largest)
        alphas = np.atleast_1d(np.asarray(self.alphas, dtype=np.float64))
        wrong = alphas.ndim != 1 or not len(alphas) or not np.isfinite(alphas).all()
        if wrong or (alphas < 0).any():
            raise ValueError(f"alphas must be finite numbers of 0 or more, got {self.alphas!r}")
        return np.unique(alphas)
