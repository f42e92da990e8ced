"""Which of the methods are best, and not by chance."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.experiments.config import BestSpec, ExperimentConfig


def paired_interval(differences: NDArray[np.floating[Any]], level: float) -> tuple[float, float]:
    """Return the confidence interval of a mean difference, by Student's paired t-test.

    Parameters
    ----------
    differences : ndarray of shape (n_splits,)
        Of two methods on the same splits.
    level : float
        Probability of the true mean outside, such as 0.05.

    Returns
    -------
    (low, high) : tuple of float
        All numbers, if there are not two splits; the mean twice, if all differences are equal.
    """
    from scipy.special import stdtrit

    n = len(differences)
    if n < 2:
        return -np.inf, np.inf
    mean, error = float(np.mean(differences)), float(np.std(differences, ddof=1) / np.sqrt(n))
    half = float(stdtrit(n - 1, 1 - level / 2)) * error
    return mean - half, mean + half


def paired(
    runs: pd.DataFrame, left: str, right: str, label: str = "method"
) -> NDArray[np.float64]:
    """Return how much one method exceeds another on the splits that both have.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of one cell and metric, with columns ``method``, ``split`` and ``value``.
    left, right : str
        Labels of methods.
    label : str
        Column to compare values of in place of ``method``.

    Returns
    -------
    ndarray of shape (n_splits,)
    """
    left_splits, left_means = _by_split(runs, label, left)
    right_splits, right_means = _by_split(runs, label, right)
    _, at_left, at_right = np.intersect1d(left_splits, right_splits, return_indices=True)
    return left_means[at_left] - right_means[at_right]


def _by_split(
    runs: pd.DataFrame, label: str, name: str
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the splits on which one method has numbers, in order, and the mean of each."""
    value = runs["value"].to_numpy(dtype=float)
    its = (runs[label].to_numpy() == name) & ~np.isnan(value)
    splits, place = np.unique(runs["split"].to_numpy()[its], return_inverse=True)
    return splits, np.bincount(place, value[its]) / np.bincount(place)


def best_methods(runs: pd.DataFrame, better: int, level: float) -> list[str]:
    """Return the method with the best mean, and all that are not significantly worse.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of one cell and metric.
    better : {1, -1}
        1 where more is better.
    level : float
        Level of the two-sided paired t-test, such as 0.05.

    Returns
    -------
    list of str
    """
    means = runs.groupby("method", sort=False)["value"].mean() * better
    first = str(means.idxmax())
    equal = [first]
    for method in means.index.drop(first):
        ahead = better * paired(runs, first, method)
        low, _ = paired_interval(ahead, level)
        if low <= 0:
            equal.append(str(method))
    return equal


def mark_best(
    runs: pd.DataFrame, config: ExperimentConfig, better: dict[str, int]
) -> pd.DataFrame:
    """Return the labels of every best cell, as the config's ``best`` asks.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.runs.tidy_runs`.
    config : ExperimentConfig
    better : dict of str to int
        The good direction of each metric.

    Returns
    -------
    pandas.DataFrame
        Columns: the labels under ``within``, ``method``, ``metric``; ``best``, always true.
    """
    spec = config.best or BestSpec(metrics=["none"])
    asked = runs["metric"].isin(spec.metrics) & runs["method"].isin(config.compared)
    keys = [*spec.within, "metric"]
    rows = [
        [*values, method, True]
        for values, cell in runs[asked].groupby(keys, dropna=False, sort=False)
        # one alone is the best of nothing
        if cell["method"].nunique() > 1
        for method in best_methods(cell, better[str(values[-1])], spec.level)
    ]
    return pd.DataFrame(rows, columns=[*keys, "method", "best"])
