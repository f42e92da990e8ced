"""Solutions of objective (1) for a grid of settings."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from kernlearn.model_selection import Indices, first_best
from kernlearn.voted.problem import Floats, KernelFamily, Solution


@dataclass(frozen=True)
class Setting:
    """Values of the parameters, and the complexities r_k of the penalties Λ_k = λ r_k + β."""

    params: dict[str, float]
    complexities: Floats

    @property
    def penalties(self) -> Floats:
        """The penalties Λ_k; 0 times an infinite complexity is 0."""
        lam, beta = self.params.get("lam", 0.0), self.params["beta"]
        return lam * self.complexities + beta if lam else np.full(len(self.complexities), beta)


@dataclass(frozen=True)
class VotedPath:
    """All solutions of a grid of settings on one training set.

    The axes of the grid are in the order of `axes`, each descending; lists are flattened row by
    row.

    Attributes
    ----------
    axes : dict of str to ndarray
        The values of each parameter.
    settings : list of Setting
    solutions : list of list of Solution
        For each setting one per one-vs-all problem; one problem for two classes.
    classes : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.voted import VotedKernelClassifier
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> path = VotedKernelClassifier(beta=[1e-3, 1e-2]).path(X[:60], y[:60])
    >>> path.axes, path.shape
    ({'lam': array([0.01]), 'beta': array([0.01 , 0.001])}, (1, 2))
    >>> errors = path.errors(X[60:], y[60:])
    >>> path.settings[path.best(errors)].params
    {'lam': 0.01, 'beta': 0.001}
    """

    axes: dict[str, Floats]
    settings: list[Setting]
    solutions: list[list[Solution]]
    classes: NDArray[Any]
    family: KernelFamily
    _check: Callable[[Any], Any]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid."""
        return tuple(len(values) for values in self.axes.values())

    @property
    def n_support(self) -> Indices:
        """Number of points with a coefficient for any kernel, of the shape of the grid."""
        return np.array([len(support(row)) for row in self.solutions]).reshape(self.shape)

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether all gaps are within the tolerance, of the shape of the grid."""
        found = [all(solution.converged for solution in row) for row in self.solutions]
        return np.array(found).reshape(self.shape)

    @property
    def objective(self) -> Floats:
        """Objective (1), summed over one-vs-all problems, of the shape of the grid."""
        values = [sum(s.objective for s in row) for row in self.solutions]
        return np.array(values).reshape(self.shape)

    def decision_functions(self, X: Any) -> Floats:
        """Return the decision values for all settings; kernels are evaluated once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for the estimator's ``predict``.

        Returns
        -------
        ndarray of shape (n_settings, n_samples, n_problems)
        """
        X = self._check(X)
        together = [solution for row in self.solutions for solution in row]
        sums = self.family.sums(X, coefficients(together, self.family))
        return sums.T.reshape(len(self.settings), -1, X.shape[0]).transpose(0, 2, 1)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict classes for all settings.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for the estimator's ``predict``.

        Returns
        -------
        ndarray of shape (n_settings, n_samples)
        """
        return self.classes[np.array([decide(v) for v in self.decision_functions(X)])]

    def errors(self, X: Any, y: ArrayLike, sample_weight: Any = None) -> Floats:
        """Return the error rate for all settings.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the errors.

        Returns
        -------
        ndarray of the shape of the grid
        """
        y = np.asarray(y)
        if not len(y):
            raise ValueError("y must hold at least one label")
        wrong = self.predict(X) != y
        return np.average(wrong, axis=1, weights=sample_weight).reshape(self.shape)

    def best(self, errors: Floats) -> int:
        """Return the setting with the least error, the fewest points, the greatest penalties.

        Parameters
        ----------
        errors : ndarray of the shape of the grid

        Returns
        -------
        int
            Its place in `settings`.
        """
        # rounded to ignore rounding errors
        return first_best(np.round(errors, 12), self.n_support)


def coefficients(solutions: Sequence[Solution], family: KernelFamily) -> list[Any]:
    """Return a sparse array of shape (n_solutions, n_points) for each kernel."""
    shape = (len(solutions), family.n_points)
    rows = np.repeat(np.arange(len(solutions)), [len(s.coef) for s in solutions])
    kernels, points, coef = (
        np.concatenate([getattr(s, name) for s in solutions])
        for name in ("kernels", "points", "coef")
    )
    return [
        sparse.csr_array((coef[kernels == k], (rows[kernels == k], points[kernels == k])), shape)
        for k in range(family.n_kernels)
    ]


def support(solutions: Sequence[Solution]) -> Indices:
    """Return the points with a coefficient in any solution."""
    return np.unique(np.concatenate([s.points for s in solutions]))


def decide(values: Floats) -> Indices:
    """Return the class codes for decision values of shape (n_samples, n_problems)."""
    if values.shape[1] == 1:
        return (values[:, 0] > 0).astype(np.intp)
    return values.argmax(axis=1)
