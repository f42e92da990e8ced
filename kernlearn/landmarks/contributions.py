"""What each landmark, or pair of landmarks, adds to decision values."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks.similarities import Reals
from kernlearn.lazy import needed_by
from kernlearn.validation import Indices


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
