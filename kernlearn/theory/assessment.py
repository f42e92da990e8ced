"""A single similarity, assessed by several criteria."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlearn.landmarks.transfer import Identity, TransferLike
from kernlearn.theory.criteria import Goodness, Sample
from kernlearn.theory.goodness import as_transfers, compare_criteria, goodness_table
from kernlearn.theory.landmarks import landmarks_for_margin


@dataclass(frozen=True, eq=False)
class SimilarityAssessment:
    """Goodness of a similarity by several criteria, with all points weighted equally.

    Attributes
    ----------
    criteria : dict of str to Goodness
    codes : ndarray of shape (n_samples,)
        The class of each point, 0, …, k - 1.
    scale : float
        The largest absolute similarity, by which all are divided.
    reach : float
        The largest difference of two similarities of a point, at least 1.
    unbounded : frozenset of str
        The criteria of which differences are not limited to [-1, 1].

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import assess_similarity
    >>> found = assess_similarity(*load_wine(return_X_y=True), {"mean": None, "sign": "sign"})
    >>> found.best, found.suits, round(found.baseline, 3)
    ('sign', True, 0.601)
    """

    criteria: dict[str, Goodness]
    codes: np.ndarray
    scale: float
    reach: float
    unbounded: frozenset[str]

    def table(self, epsilon: float, delta: float) -> Any:
        """Return one row per criterion: gamma, misplaced, mean_margin, error, landmark_pairs.

        `landmark_pairs` is the number that theorem 4.2 requires at the margin gamma that all but
        a share `epsilon` of the points have; it is missing where gamma is not above 0.
        """
        table = goodness_table(self.criteria, epsilon=epsilon)
        # theorem 4.2 is about |f| <= 1
        reach = np.where(table.index.isin(list(self.unbounded)), self.reach, 1.0)
        gammas: list[float] = (table["gamma"] / reach).tolist()
        pairs = [
            landmarks_for_margin(gamma, epsilon=epsilon, delta=delta) if gamma > 0 else None
            for gamma in gammas
        ]
        columns = ["gamma", "misplaced", "mean_margin", "error"]
        return table[columns].assign(landmark_pairs=np.array(pairs, dtype=object))

    @property
    def best(self) -> str:
        """The criterion with the smallest error."""
        return min(self.criteria, key=lambda name: self.criteria[name].error)

    @property
    def baseline(self) -> float:
        """The error of predicting the largest class for all points."""
        return 1 - float(np.bincount(self.codes).max()) / len(self.codes)

    @property
    def suits(self) -> bool:
        """Whether the best criterion beats the baseline by two standard errors."""
        error = self.criteria[self.best].error
        return error + 2 * (error * (1 - error) / len(self.codes)) ** 0.5 < self.baseline


def assess_similarity(
    X: Any,
    y: Any,
    criteria: "Mapping[str, TransferLike | None] | None" = None,
    *,
    similarity: Any = "gaussian",
    kind: str = "similarity",
    random_state: Any = None,
) -> SimilarityAssessment:
    """Assess a similarity, divided by its largest absolute value, by several criteria.

    The arguments are those of :func:`compare_criteria`; a ValueError if all similarities are 0.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.theory.goodness import assess_similarity
    >>> X, y = load_wine(return_X_y=True)
    >>> for points in (X, scale(X)):
    ...     print(round(float(assess_similarity(points, y).criteria["Balcan & Blum"].error), 3))
    0.281
    0.084
    """
    sample = Sample(similarity, kind).read_classes(X, y)
    gram = sample.gram()
    scale = float(np.abs(gram).max())
    if not scale:
        raise ValueError("all similarities are 0")
    gram = gram / scale
    functions = as_transfers(criteria)
    results = compare_criteria(
        gram, sample.codes, functions, similarity="precomputed", random_state=random_state
    )
    reach = max(1.0, float(np.ptp(gram, axis=1).max()))
    unbounded = (name for name, f in functions.items() if f is None or isinstance(f, Identity))
    return SimilarityAssessment(results, sample.codes, scale, reach, frozenset(unbounded))
