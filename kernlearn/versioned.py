"""The base of all estimators, which knows the version that pickled it."""

import warnings
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.exceptions import InconsistentVersionWarning

from kernlearn.version import __version__

_KEY = "_kernlearn_version"


class VersionedEstimator(BaseEstimator):
    """An estimator that warns if another version of kernlearn pickled it.

    As scikit-learn's own estimators do for versions of scikit-learn.
    """

    def __getstate__(self) -> dict[str, Any]:
        """Return the state, with the version."""
        return {**super().__getstate__(), _KEY: __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take a state, and warn if it is another version's."""
        state = dict(state)
        found = state.pop(_KEY, None)
        if found != __version__:
            warnings.warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=f"{__version__} of kernlearn",
                    original_sklearn_version=f"{found or 'before 0.1.0'} of kernlearn",
                ),
                stacklevel=2,
            )
        super().__setstate__(state)
