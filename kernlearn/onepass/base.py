"""Base of the estimators from moments: one pass, merging, and the path of penalties."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, NOT_NEGATIVE, WHOLE, fit_context
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.gathering import SOLVED, RowGatherer
from kernlearn.onepass.moments import Moments
from kernlearn.onepass.quadratic import penalty_path
from kernlearn.onepass.repeated import as_source


class OnePassModel(RowGatherer):
    """A linear model of features, from moments of rows that are read once."""

    _parameter_constraints: dict[str, list[Any]] = {
        **RowGatherer._parameter_constraints,
        "alphas": [None, NOT_NEGATIVE, "array-like"],
        "n_folds": [COUNT],
        "sample_rows": [COUNT],
        "fold_seed": [WHOLE],
        "block_rows": [None, COUNT],
        "n_jobs": [None, Integral],
    }

    alphas: Any
    alpha_: float
    alphas_: Floats
    cv_errors_: Floats
    coef_: Floats
    intercept_: Any
    coef_path_: Floats
    intercept_path_: Floats

    @abstractmethod
    def _solve(self) -> None:
        """Set the fitted attributes from the moments."""

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the feature map on a sample of the rows, gather the moments of all, and solve.

        The data are read twice, the first time for the sample alone, which consists of the rows
        with the smallest hashes, so that it does not depend on their order. For one pass, or data
        that can be read but once, call `fit_map` with a sample and then `partial_fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or RowSource
            Rows; or with their targets what :func:`kernlearn.datasets.row_source` returns; or a
            Dask array or data frame with `y`, or a list of delayed tuples (X, y). If a
            `distributed.Client` is active, partitions and files are read by its workers.
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
            If a parameter or the data are not valid; the estimator stays as it was.
        """
        source = as_source(X, y, groups)
        if not source.repeatable:
            raise ValueError(
                "fit reads the data twice, which an iterator does not allow: call 'fit_map' with "
                "a sample, then 'partial_fit' with the iterator, or pass a function that returns "
                "a new one"
            )
        with self._kept_on_error():
            look = self._take_look(source)
            self._start(*look.sample.rows(), look.labels)
            self._gather_all(source)
            self._solve()
        return self

    @fit_context(prefer_skip_nested_validation=False)
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

    @fit_context(prefer_skip_nested_validation=False)
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
        self._gather_all(as_source(X, y, groups), classes)
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
        if name in SOLVED and "_moments" in self.__dict__:
            self._solve()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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

    def _to_send(self) -> Self:
        """Return a copy for predictions; the moments are not sent."""
        model = self._bare()
        model.coef_, model.intercept_ = self.coef_, self.intercept_
        return model
