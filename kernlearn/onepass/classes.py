"""Base of the classifiers from moments: labels and classes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.onepass.base import OnePassModel
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.mapped import LinearDecision
from kernlearn.onepass.repeated import check_labels
from kernlearn.sample_weights import places


class OnePassClassifier(LinearDecision, OnePassModel):
    """A linear classifier of features, from moments with an indicator of each class as target."""

    #: Whether the moments of each class are gathered.
    _by_class: Any = False

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self._moments.layout.classes  # type: ignore[return-value]

    @property
    def class_counts_(self) -> NDArray[np.int64]:
        """Number of rows of each class."""
        return self._all_sums().target_first.astype(np.int64)

    @property
    def class_means_(self) -> Floats:
        """Mean of the features of each class."""
        sums = self._all_sums()
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (sums.cross / sums.target_first).T
        return means + self._moments.layout.features.centers

    def _all_sums(self) -> Any:
        return self._moments.sums(self._groups(range(self.n_folds)))

    def _check_targets(self, y: Any, *, reset: bool) -> NDArray[Any]:
        return check_labels(y)

    def _check_first(self, classes: Any) -> None:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")

    def _check_classes(self, classes: Any) -> None:
        if not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )

    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        found = np.unique(y if classes is None else np.asarray(classes))
        if len(found) < 2:
            raise ValueError(
                f"there must be at least two classes, but there is one class: {found.tolist()}"
            )
        return {"classes": found, "by_class": bool(self._by_class)}

    def _multiples(self, y: NDArray[Any]) -> tuple[Floats, NDArray[np.intp]]:
        codes = places(self.classes_, y)
        wrong = self.classes_[codes] != y
        if wrong.any():
            raise ValueError(
                f"y contains the label {y[wrong][0].item()!r}, which is not one of the classes "
                f"{self.classes_.tolist()}; {int(wrong.sum())} of the {len(y)} rows of this chunk "
                "have such labels, and none of the chunk was added"
            )
        return np.eye(len(self.classes_))[codes], codes
