"""Metrics of the comparisons that an estimator makes, and times that contain them."""

from collections import Counter
from typing import Any

from sklearn.pipeline import Pipeline

from kernlearn.experiments.engine.environment import Stopwatch


class Measured(Stopwatch):
    """Measure the seconds of a ``with`` block, and count the comparisons that are looked up in it.

    Attributes
    ----------
    compared : int
        Number of values that were looked up, and of those of other similarities.
    kept_seconds : float
        Processor seconds that those looked up took when they were computed.
    compared_seconds : float
        The same of all.
    """

    def __init__(self, comparisons: Any = None) -> None:
        super().__init__()
        self.comparisons = comparisons
        self.compared, self.kept_seconds, self.compared_seconds = 0, 0.0, 0.0

    def __enter__(self) -> "Measured":
        if (one := self.comparisons) is not None:
            self._before = Counter(one.counts), one.evaluated, one.spent
        super().__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        super().__exit__()
        if (one := self.comparisons) is not None:
            counts, evaluated, spent = self._before
            read = one.counts - counts
            self.compared = read.total() + one.evaluated - evaluated
            self.kept_seconds = one.seconds(read)
            self.compared_seconds = self.kept_seconds + one.spent - spent

    def add_comparisons(self) -> None:
        """Add what was looked up to the times, as if it had been computed."""
        self.wall += self.kept_seconds
        self.cpu += self.kept_seconds


def compared_metrics(
    estimator: Any, fitting: Measured, predicting: Measured, n_rows: int
) -> dict[str, float]:
    """Return the comparisons for the prediction of a point, their seconds, and those of `fit`.

    Those looked up are counted; others are what an estimator, or the steps of a pipeline, says
    that it has counted, without seconds.
    """
    if fitting.comparisons is not None:
        return {
            "comparisons": predicting.compared / n_rows,
            "fit_comparisons": float(fitting.compared),
            "comparison_seconds": predicting.compared_seconds / n_rows,
        }
    of_pipeline = isinstance(estimator, Pipeline)
    steps = [step for _, step in estimator.steps] if of_pipeline else [estimator]
    counts = {"comparisons": "n_comparisons_", "fit_comparisons": "n_fit_comparisons_"}
    return {
        metric: float(sum(getattr(step, name, 0) for step in steps))
        for metric, name in counts.items()
        if any(hasattr(step, name) for step in steps)
    }
