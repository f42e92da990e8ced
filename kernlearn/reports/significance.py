"""Which of the methods are best, and not by chance."""

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.experiments.config import BestSpec, ExperimentConfig


def paired_interval(differences: NDArray[np.float64], level: float) -> tuple[float, float]:
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
    from scipy import stats

    n = len(differences)
    if n < 2:
        return -np.inf, np.inf
    mean, error = float(np.mean(differences)), float(stats.sem(differences))
    half = stats.t.ppf(1 - level / 2, n - 1) * error
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
    by_split = runs.pivot_table(index="split", columns=label, values="value")
    if left not in by_split or right not in by_split:
        return np.empty(0)
    return (by_split[left] - by_split[right]).dropna().to_numpy()


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
