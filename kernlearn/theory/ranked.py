"""What is found about several similarities on a sample."""

from dataclasses import dataclass
from typing import Any

from kernlearn.extras import needed_by
from kernlearn.theory.resampling import SplitMean


@dataclass(frozen=True)
class RankedSimilarity:
    """What was found about a similarity.

    An error is the share of wrong classes, or for numbers the mean squared error relative to the
    variance; of a method that is trained on 80 % of `n_points` points.

    Attributes
    ----------
    name : str
    n_points : int
        The points that were compared with each other.
    landmark_error, neighbor_error : SplitMean
        Of BBS, or RegLand for numbers; and of the nearest neighbours.
    expected : float
        The error that is ranked by on the points of the similarity with the most: that of the one
        at `n_points`, and the difference of both on these points.
    behind : SplitMean
        How much greater its error is than that of the first, on the points that both were compared
        on; 0 for the first.
    p_value : float
        Of this difference, adjusted by Holm's procedure; NaN for the first.
    common_points : int
        These points.
    goodness : float
        The error by the best criterion of goodness; for numbers the loss of definition 5.2.
    criterion : str
        That criterion.
    landmarks : int or None
        The number of landmarks that pays; of the first and those not told from it.
    seconds_per_comparison : float
        NaN if nothing was compared.
    n_comparisons : int
    stopped : str
        Why it was not compared on more points; empty if it was on all.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import compare_similarities
    >>> X, y = load_wine(return_X_y=True)
    >>> small = {"n_points": 60, "n_landmarks": 10, "n_splits": 3}
    >>> first = compare_similarities(X, y, ["gaussian", "scipy.canberra"], **small).first
    >>> first.name, first.n_points, first.landmark_error.value < 0.2
    ('scipy.canberra', 60, True)
    """

    name: str
    n_points: int
    landmark_error: SplitMean
    neighbor_error: SplitMean
    expected: float
    behind: SplitMean
    p_value: float
    common_points: int
    goodness: float
    criterion: str
    landmarks: int | None
    seconds_per_comparison: float
    n_comparisons: int
    stopped: str = ""


@dataclass(frozen=True)
class SimilarityComparison:
    """Similarities, the best first.

    Attributes
    ----------
    ranked : list of RankedSimilarity
        The first is the one with the least error of those that were compared on the most points,
        unless one is shown to be better on fewer; the others by their expected error.
    failed : dict of str to str
        Those that could not be measured, and why.
    ranked_by : {"landmarks", "neighbors"}
    classification : bool
    n_landmarks, n_neighbors, n_splits : int
    n_rows : int
        Points of the whole data set.
    level : float
        The probability that an interval misses, and the level of the tests.
    baseline : float
        The error of the largest class for all, or of the mean: 1.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import compare_similarities
    >>> X, y = load_wine(return_X_y=True)
    >>> small = {"n_points": 60, "n_landmarks": 10, "n_splits": 3}
    >>> found = compare_similarities(X, y, ["gaussian", "scipy.canberra"], **small)
    >>> [one.name for one in found.ranked], found.suits
    (['scipy.canberra', 'gaussian'], True)
    """

    ranked: list[RankedSimilarity]
    failed: dict[str, str]
    ranked_by: str
    classification: bool
    n_landmarks: int
    n_neighbors: int
    n_splits: int
    n_rows: int
    level: float
    baseline: float

    @property
    def first(self) -> RankedSimilarity:
        """The best one."""
        return self.ranked[0]

    @property
    def not_told_apart(self) -> list[RankedSimilarity]:
        """Others whose error is not shown to be greater than that of the first."""
        return [one for one in self.ranked[1:] if one.p_value > self.level]

    @property
    def suits(self) -> bool:
        """Whether the first is shown to be better than the baseline."""
        return self.error_of(self.first).high < self.baseline

    def error_of(self, one: RankedSimilarity) -> SplitMean:
        """Return the error of a similarity that is ranked by."""
        return one.landmark_error if self.ranked_by == "landmarks" else one.neighbor_error

    def table(self) -> Any:
        """Return a pandas.DataFrame with a row per similarity, intervals as `_low` and `_high`."""
        with needed_by("a table of similarities"):
            import pandas as pd

        rows = {}
        for one in self.ranked:
            row: dict[str, Any] = {"points": one.n_points}
            for label in ("landmark_error", "neighbor_error", "behind"):
                mean = getattr(one, label)
                row |= {label: mean.value, f"{label}_low": mean.low, f"{label}_high": mean.high}
            rows[one.name] = row | {
                "expected_error": one.expected,
                "p_holm": one.p_value,
                "common_points": one.common_points,
                "goodness": one.goodness,
                "criterion": one.criterion,
                "landmarks": one.landmarks,
                "seconds_per_comparison": one.seconds_per_comparison,
                "comparisons": one.n_comparisons,
                "stopped": one.stopped,
            }
        table = pd.DataFrame.from_dict(rows, orient="index")
        table["landmarks"] = table["landmarks"].astype("Int64")
        return table.rename_axis("similarity")
