"""Methods compared on the splits and data sets that they share.

On one data set a test of splits and rows decides (:mod:`~.statistics`). Several
data sets are the sample themselves. The tests are the Wilcoxon signed-rank test of two methods and
Friedman's test of the ranks of all (Demšar 2006, Statistical Comparisons of Classifiers over
Multiple Data Sets, Journal of Machine Learning Research 7). Data sets of a family, such as parts
of one recording, count once, with their mean. Without a control that was named before, p-values
are adjusted for all pairs (Holm 1979). With a margin, two one-sided tests decide (Schuirmann
1987).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.checks import suggestion
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.plan import Plan, is_allowed
from kernlearn.datasets import catalogue
from kernlearn.exceptions import ReportError
from kernlearn.reports.cells import metric_rows
from kernlearn.reports.covariances import as_splits, covariances_of
from kernlearn.reports.differences import method_names
from kernlearn.reports.labels import cell_names, data_labels
from kernlearn.reports.rows import splits_of
from kernlearn.reports.statistics import LEVEL, Estimate, holm, resampled
from kernlearn.reports.verdicts import direction, main_metric
from kernlearn.store import Row


def ranking_metric(config: ExperimentConfig, name: str, metric: str | None = None) -> str:
    """Return the metric that methods are ranked by, of which more or less must be better."""
    if metric is None:
        if (usual := main_metric(config)) is None:
            raise ReportError(f"{name}: has no metric of which more or less is better")
        return usual
    known = [*config.scope.task_metrics(config.task), *config.derived]
    if metric not in known:
        raise ReportError(f"{name}: no metric {metric!r}{suggestion(metric, known)}")
    if not direction(metric, config):
        raise ReportError(f"{name}: neither more nor less of {metric} is better")
    return metric


def method_values(
    plan: Plan,
    results: Mapping[str, Row],
    metric: str,
    only: Sequence[Mapping[str, Sequence[str]]] = (),
) -> pd.DataFrame:
    """Return the numbers of a plan's trials: a row for each method, data set and split.

    A method that lacks a label of ``only`` is compared with all values of it.
    A method is named with its kernel and parameters where several are among the numbers. Columns
    are `dataset`, its `family`, `name`, `method`, `split`, `value` and `ratio` (of test to
    training rows). Splits below 0 are roots of covariances.
    """
    config = plan.experiment.config
    trials = [one for one in plan.trials if is_allowed(one.labels, only, lacking=True)]
    plan = replace(plan, trials=trials)
    splits = splits_of(plan, results, config.scope.task_metrics(config.task))
    roots = as_splits(covariances_of(plan, results), config, plan.experiment.name)
    values = metric_rows(pd.concat([splits, roots], ignore_index=True), metric, config)
    if values.empty:
        raise ReportError(
            f"{plan.experiment.name}: no {metric} in the store under profile "
            f"{plan.experiment.profile}: `--profile` names another, and `kernlearn plan` shows "
            "what ran and what failed"
        )
    names, families = cell_names(values, data_labels(config), ", "), []
    for dataset, name in zip(values["dataset"], names, strict=True):
        card = catalogue().get(config.datasets[dataset].name or dataset)
        # labels of the same data, such as other classes of it, are a family too
        families.append((card.family or card.name) if card else name)
    columns = ["dataset", "family", "name", "method", "split", "value", "ratio"]
    methods = {"name": values["method"], "method": method_names(values, config)}
    return values.assign(dataset=names, family=families, **methods)[columns]


@dataclass(frozen=True)
class Comparison:
    """Methods against a control.

    Attributes
    ----------
    control : str
        The method that the others are compared with.
    table : pandas.DataFrame
        A row for each method, the best first: its ``mean``, the average ``rank`` over data sets,
        the ``difference`` from the control with an interval from ``low`` to ``high`` (of level
        0.95, with a margin 0.9), ``p`` and the ``outcome``. Over data sets the difference is that
        of Hodges and Lehmann, the median of the means of all pairs.
    datasets : pandas.DataFrame
        A row for each method but the control and each data set: ``difference``, ``low``,
        ``high``, ``n_splits``.
    families : int
        The number of families of data sets, each of which counts once.
    friedman : float
        p-value of Friedman's test of the ranks; NaN for fewer than three methods or two families.
    left_out : list of str
        Data sets on which a method has no number.
    least_p : float
        The least p-value that a test over so many families can give.
    test : str
        The t-test on a data set: of splits and rows, corrected for overlapping splits where losses
        of rows are not known, or paired, as for times.
    """

    control: str
    table: pd.DataFrame
    datasets: pd.DataFrame
    families: int
    friedman: float
    left_out: list[str]
    least_p: float
    test: str


def compare_methods(
    values: pd.DataFrame, better: int, *, control: str | None = None, margin: float | None = None
) -> Comparison:
    """Compare methods with a control, by default the best of them.

    Parameters
    ----------
    values : pandas.DataFrame
        From :func:`method_values`.
    better : {1, -1}
        Whether more or less is better.
    control : str, optional
        Named before the numbers were seen. Against the best, p-values are adjusted (Holm) for all
        pairs of methods; against a control, for the other methods.
    margin : float, optional
        A difference that does not matter: p is then that of being worse by it, not adjusted.

    Returns
    -------
    Comparison

    Raises
    ------
    ReportError
        If there are fewer than two methods with numbers of the same splits, or no such control.
    """
    from scipy import stats

    wide = values.pivot_table(
        index=["dataset", "split"], columns="method", values="value", sort=False
    )
    complete = wide.dropna()
    if complete.empty or complete.shape[1] < 2:
        raise ReportError("fewer than two methods have numbers of the same splits")
    if control is not None and control not in complete:
        raise ReportError(f"no method {control!r}{suggestion(control, map(str, complete))}")
    of_dataset = values.groupby("dataset")
    families, ratios = of_dataset["family"].first(), of_dataset["ratio"].mean()
    is_split = complete.index.get_level_values("split") >= 0
    means = complete[is_split].groupby("dataset", sort=False).mean()
    of_family = means.groupby(families.reindex(means.index), sort=False).mean()
    # rounded here and in the test, so that equal differences tie
    ranks = (-better * of_family).round(12).rank(axis=1)
    order = pd.DataFrame({"rank": ranks.mean(), "mean": -better * means.mean()})
    names = [str(name) for name in order.sort_values(["rank", "mean"], kind="stable").index]
    reference = control or names[0]
    others = [name for name in names if name != reference]
    level = LEVEL if margin is None else 2 * LEVEL

    def on_dataset(a: str, b: str, dataset: Any) -> Estimate:
        gains = (complete.loc[dataset, a] - complete.loc[dataset, b]).round(12)
        return resampled(gains, ratios[dataset])

    def test(a: str, b: str) -> "Estimate | SignedRanks":
        if len(means) == 1:
            return on_dataset(a, b, means.index[0])
        return SignedRanks((of_family[a] - of_family[b]).round(12).to_numpy(dtype=float))

    pairs = [(name, reference) for name in others]
    tests = {pair: test(*pair) for pair in pairs}
    if control is None:  # the best was picked from all pairs
        tests |= {pair: test(*pair) for pair in combinations(others, 2)}
    adjusted = dict(zip(tests, holm([one.p_value() for one in tests.values()]), strict=True))
    rows: list[dict[str, Any]] = []
    for name in names:
        row: dict[str, Any] = {"mean": means[name].mean(), "rank": ranks[name].mean()}
        if one := tests.get((name, reference)):
            p = float(adjusted[name, reference]) if margin is None else _tail(one, better, margin)
            row |= {"outcome": _shown(one, p, better, margin), "difference": one.mean, "p": p}
            row["low"], row["high"] = one.interval(level)
        rows.append(row)
    each = []
    for name, dataset in product(others, means.index):
        one = on_dataset(name, reference, dataset)
        n_splits = int(is_split[complete.index.get_level_values("dataset") == dataset].sum())
        each.append((name, str(dataset), one.mean, *one.interval(level), n_splits))
    p_ranks = nan
    if len(names) > 2 and len(of_family) > 1:
        p_ranks = np.nan_to_num(stats.friedmanchisquare(*ranks.to_numpy().T)[1], nan=1.0)
    name_of_test = "corrected resampled t-test" if ratios.any() else "paired t-test"
    return Comparison(
        reference,
        pd.DataFrame(rows, index=pd.Index(names, name="method")),
        pd.DataFrame(each, columns=["method", "dataset", "difference", "low", "high", "n_splits"]),
        len(of_family),
        float(p_ranks),
        [str(name) for name in wide.index.unique("dataset") if name not in means.index],
        # adjusted for all tests, or one-sided
        min(0.5 ** (len(of_family) - 1) * (len(tests) if margin is None else 0.5), 1.0),
        name_of_test if is_split.all() else "t-test over splits and rows",
    )


@dataclass(frozen=True)
class SignedRanks:
    """Differences of two methods, one for each family of data sets, by the Wilcoxon test."""

    differences: "np.ndarray[Any, np.dtype[np.float64]]"

    @cached_property
    def _averages(self) -> "np.ndarray[Any, np.dtype[np.float64]]":
        """The means of all pairs of differences, and of each with itself, in order."""
        i, j = np.triu_indices(len(self.differences))
        return np.sort((self.differences[i] + self.differences[j]) / 2)

    @property
    def mean(self) -> float:
        """The estimate that belongs to the test: the median of these means."""
        return float(np.median(self._averages))

    def p_value(self, shift: float = 0.0, alternative: str = "two-sided") -> float:
        """Return the p-value of differences around 0, after a shift."""
        from scipy import stats

        values = self.differences + shift
        if not values.any():
            return 1.0 if alternative == "two-sided" else 0.5
        result: Any = stats.wilcoxon(values, alternative=alternative)
        return float(result.pvalue)

    def interval(self, level: float) -> tuple[float, float]:
        """Return the differences that the test does not reject, without ties exactly."""
        n, averages = len(self.differences), self._averages
        ways = [1]
        for rank in range(1, n + 1):  # in how many ways ranks add up to each sum
            ways = np.convolve(ways, [1, *[0] * (rank - 1), 1]).tolist()
        left_out = int(np.searchsorted(np.cumsum(ways) / 2**n, level / 2, side="right"))
        if not left_out:
            return -inf, inf
        return float(averages[left_out - 1]), float(averages[-left_out])


def _tail(test: Estimate | SignedRanks, better: int, margin: float) -> float:
    """Return the p-value by which a method is not worse by a margin, one-sided."""
    if isinstance(test, Estimate):
        return test.tail(better * test.mean + margin)
    return test.p_value(better * margin, "greater" if better > 0 else "less")


def _shown(test: Estimate | SignedRanks, p: float, better: int, margin: float | None) -> str:
    """Return what is shown: a difference, or with a margin what two one-sided tests show."""
    if margin is None:
        return ("better" if better * test.mean > 0 else "worse") if p < LEVEL else "not shown"
    if p < LEVEL:
        return "equivalent" if _tail(test, -better, margin) < LEVEL else "not worse"
    return "worse" if _tail(test, -better, -margin) < LEVEL else "not shown"
