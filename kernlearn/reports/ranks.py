r"""Methods compared on the splits and data sets that they share, and two stores compared.

On a data set with J splits, whose parts overlap, the variance of a mean difference is taken as
:math:`(1/J + n_\mathrm{test}/n_\mathrm{train})\,s^2` (Nadeau & Bengio 2003, the corrected
resampled t-test). Over k data sets the mean of their means counts, with k - 1 degrees of freedom;
its variance is that of the k means divided by k, or that within the data sets if it is greater.
With a margin, two one-sided tests decide (Schuirmann 1987).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf, nan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import METRICS, suggestion
from kernlearn.exceptions import ReportError
from kernlearn.reports.summary import KEY, label_rows
from kernlearn.reports.tests import corrected_error, friedman, paired_interval
from kernlearn.reports.verdicts import direction, is_cost


def ranking_metric(config: ExperimentConfig, name: str, metric: str | None = None) -> str:
    """Return the metric that methods are ranked by, if it is one of which more or less is better.

    By default this is the first that the config marks, judges or shows and that is no time.
    """
    if metric is None:
        best = config.best.metrics if config.best else []
        listed = [m for m in (*best, *config.verdict, *config.metrics) if direction(m, config)]
        if not listed:
            raise ReportError(f"{name}: has no metric of which more or less is better")
        return next((m for m in listed if not is_cost(m, config)), listed[0])
    known = [*config.scope.task_metrics(config.task), *config.derived]
    if metric not in known:
        raise ReportError(f"{name}: no metric {metric!r}{suggestion(metric, known)}")
    if not direction(metric, config):
        raise ReportError(f"{name}: neither more nor less of {metric} is better")
    return metric


# ---- methods on shared splits ----

# Level of the tests.
_LEVEL = 0.05
#: The method that is best on held-out rows in each split.
BEST_OF = "best on held-out rows"


def method_values(
    plan: Any,
    results: Mapping[str, Any],
    metric: str,
    accepts: Callable[[Mapping[str, Any]], bool],
) -> pd.DataFrame:
    """Return the numbers of a plan's trials: a row for each method, data set and split.

    A method is named with its kernel and parameters where several are among the numbers. Columns
    are `dataset`, `name`, `method`, `split`, `value`, `score` (on held-out rows), `n_train` and
    `n_test`.
    """
    entries = plan.experiment.config.datasets
    rows = []
    for trial in plan.trials:
        labels, result = trial.labels, results.get(trial.key)
        if result is None or metric not in result.metrics or not accepts(labels):
            continue
        values = {k: labels[k] for k in ("kernel", *plan.axes) if labels.get(k) is not None}
        of_data = {
            k: values.pop(k) for k in [*values] if k in entries[labels["dataset"]].parameters
        }
        rows.append(
            {
                "dataset": ", ".join(
                    [labels["dataset"], *(f"{k}={v}" for k, v in of_data.items())]
                ),
                "name": labels["method"],
                "values": values,
                "split": trial.split,
                "value": result.metrics[metric],
                "score": result.metrics.get("selection_score", nan),
                "n_train": result.info["n_train"],
                "n_test": result.info["n_test"],
            }
        )
    if not rows:
        raise ReportError(
            f"{plan.experiment.name}: no {metric} in the store under profile "
            f"{plan.experiment.profile}; run it first"
        )
    frame = pd.DataFrame(rows)
    keys = ["kernel", *plan.axes]
    several: dict[str, set[str]] = {str(name): set() for name in frame["name"]}
    for (name, _), group in frame.groupby(["name", "dataset"])["values"]:
        several[str(name)] |= {k for k in keys if len({str(v.get(k)) for v in group}) > 1}
    frame["method"] = [
        ", ".join([name, *(_label(k, values[k]) for k in values if k in several[name])])
        for name, values in zip(frame["name"], frame["values"], strict=True)
    ]
    return frame.drop(columns="values")


def _label(name: str, value: Any) -> str:
    return str(value) if name == "kernel" else f"{name}={value}"


def with_best_of(values: pd.DataFrame, names: Sequence[str]) -> pd.DataFrame:
    """Add the one of some methods that has the best score on held-out rows in each split.

    Splits that not all of them have are left out.

    Raises
    ------
    ReportError
        If one has no score.
    """
    among = values[values["name"].isin(names) & values["score"].notna()]
    for name in names:
        if name not in set(among["name"]):
            raise ReportError(
                f"no score of {name!r} on held-out rows{suggestion(name, values['name'])}"
            )
    count = among["method"].nunique()
    whole = among.groupby(["dataset", "split"])["method"].transform("nunique") == count
    best = among[whole].sort_values("score", ascending=False, kind="stable")
    best = best.groupby(["dataset", "split"], sort=False).head(1)
    return pd.concat([values, best.assign(method=BEST_OF, name=BEST_OF)], ignore_index=True)


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
        0.95, with a margin 0.9), ``p`` and the ``outcome``.
    datasets : pandas.DataFrame
        A row for each method but the control and each data set: ``difference``, ``low``,
        ``high``, ``n_splits``.
    friedman : float
        p-value of Friedman's test of the ranks; NaN for fewer than three methods or two data sets.
    left_out : list of str
        Data sets on which a method has no number.
    """

    control: str
    table: pd.DataFrame
    datasets: pd.DataFrame
    friedman: float
    left_out: list[str]


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
    wide = values.pivot_table(
        index=["dataset", "split"], columns="method", values="value", sort=False
    )
    complete = wide.dropna()
    if complete.empty or complete.shape[1] < 2:
        raise ReportError("fewer than two methods have numbers of the same splits")
    if control is not None and control not in complete:
        raise ReportError(
            f"no method {control!r}{suggestion(control, [str(name) for name in complete])}"
        )
    means = complete.groupby("dataset", sort=False).mean()
    ranks = (-better * means).rank(axis=1)
    order = pd.DataFrame({"rank": ranks.mean(), "mean": -better * means.mean()})
    names = [str(name) for name in order.sort_values(["rank", "mean"], kind="stable").index]
    reference = control or names[0]
    others = [name for name in names if name != reference]
    sizes = values.groupby("dataset")[["n_train", "n_test"]].mean()
    ratio = sizes["n_test"] / sizes["n_train"]
    level = _LEVEL if margin is None else 2 * _LEVEL

    def each_dataset(a: str, b: str) -> pd.DataFrame:
        rows = []
        for dataset, part in (complete[a] - complete[b]).groupby(level="dataset", sort=False):
            error = corrected_error(part.to_numpy(), ratio[dataset])
            test = _Test(float(part.mean()), error, len(part) - 1)
            rows.append((dataset, test.mean, error, *test.interval(level), len(part)))
        heads = ["dataset", "difference", "error", "low", "high", "n_splits"]
        return pd.DataFrame(rows, columns=heads)

    each = {name: each_dataset(name, reference) for name in others}
    tests = {name: _test(frame) for name, frame in each.items()}
    p_values = {(name, reference): test.p_value() for name, test in tests.items()}
    if control is None:  # the best was picked from all pairs
        for a, b in combinations(others, 2):
            p_values[a, b] = _test(each_dataset(a, b)).p_value()
    pairs = sorted(p_values, key=lambda pair: p_values[pair])
    raw = np.array([p_values[pair] for pair in pairs]) * np.arange(len(pairs), 0, -1)
    adjusted = dict(zip(pairs, np.maximum.accumulate(raw.clip(max=1)).tolist(), strict=True))
    rows = []
    for name in names:
        row: dict[str, Any] = {"mean": means[name].mean(), "rank": ranks[name].mean()}
        if test := tests.get(name):
            p = adjusted[name, reference]
            row["outcome"] = test.outcome(p, better, margin)
            if margin is not None:
                p = test.tail(better * test.mean + margin)
            row |= {"difference": test.mean, "p": p}
            row["low"], row["high"] = test.interval(level)
        rows.append(row)
    of_ranks = len(names) > 2 and len(means) > 1
    places = list(wide.index.unique("dataset"))
    return Comparison(
        reference,
        pd.DataFrame(rows, index=pd.Index(names, name="method")),
        pd.concat([each[name].assign(method=name) for name in others]),
        friedman(ranks.to_numpy())[2] if of_ranks else nan,
        [str(place) for place in places if place not in means.index],
    )


class _Test(NamedTuple):
    """A mean difference with its standard error and degrees of freedom."""

    mean: float
    error: float
    degrees: int

    def tail(self, distance: float) -> float:
        """Return the probability of a mean that is larger by a distance."""
        from scipy.stats import t

        if not self.degrees or np.isinf(self.error):
            return 0.5
        if not self.error:  # all differences are the same: the sign test
            same = 0.5 ** (self.degrees + 1)
            return 0.5 if not distance else same if distance > 0 else 1 - same
        return float(t.sf(distance / self.error, self.degrees))

    def p_value(self) -> float:
        """Return the two-sided p-value of a mean of 0."""
        return 2 * self.tail(abs(self.mean))

    def interval(self, level: float) -> tuple[float, float]:
        """Return the interval of level 1 - level."""
        from scipy.stats import t

        half = float(t.isf(level / 2, self.degrees)) * self.error if self.degrees else inf
        return self.mean - half, self.mean + half

    def outcome(self, p: float, better: int, margin: float | None) -> str:
        """Return what is shown: a difference, or with a margin what two one-sided tests show."""
        ahead = better * self.mean
        if margin is None:
            return ("better" if ahead > 0 else "worse") if p < _LEVEL else "not shown"
        if self.tail(ahead + margin) < _LEVEL:
            return "equivalent" if self.tail(margin - ahead) < _LEVEL else "not worse"
        return "worse" if self.tail(-margin - ahead) < _LEVEL else "not shown"


def _test(each: pd.DataFrame) -> _Test:
    """Test the mean over data sets, or that over the splits of the only one."""
    k, mean = len(each), float(each["difference"].mean())
    if k == 1:
        return _Test(mean, float(each["error"].iloc[0]), int(each["n_splits"].iloc[0]) - 1)
    within = float(np.square(each["error"][np.isfinite(each["error"])]).sum()) / k**2
    return _Test(mean, sqrt(max(float(each["difference"].var(ddof=1)) / k, within)), k - 1)


# ---- two stores ----

#: Columns of a comparison of stores.
COLUMNS = [
    *KEY,
    "mean_a",
    "mean_b",
    "difference",
    "low",
    "high",
    "n_a",
    "n_b",
    "paired",
    "same_settings",
    "outcome",
]

# The numbers of a cell under its settings and points, by split.
_Variants = dict[tuple[str, str], "pd.Series[float]"]


def compare_stores(a: pd.DataFrame, b: pd.DataFrame, *, level: float = 0.05) -> pd.DataFrame:
    """Compare the numbers of two stores cell by cell.

    Where data and protocol are the same, and so split ``i`` has the same points on both sides,
    differences are taken split by split, with the interval of Student's paired t-test; elsewhere
    with that of Welch's test. The level is that of each cell by itself: of 100 cells that do not
    differ, about 5 will appear to at 0.05.

    Parameters
    ----------
    a, b : pandas.DataFrame
        From :func:`~kernlearn.reports.export.stored_splits`. If each has a single experiment its
        name does not matter, so that two configs can be compared.
    level : float, default=0.05

    Returns
    -------
    pandas.DataFrame
        A row per cell, with the columns :data:`COLUMNS`: ``difference`` is ``mean_b - mean_a``
        with its interval; ``outcome`` is ``same`` (all numbers equal), ``a better``, ``b better``
        or ``different`` where the interval excludes 0, ``undecided`` where it does not, ``only a``
        or ``only b``.
    """
    if max(side["experiment"].nunique() for side in (a, b)) < 2:
        name = " / ".join(dict.fromkeys([*a["experiment"], *b["experiment"]]))
        a, b = a.assign(experiment=name), b.assign(experiment=name)
    left, right = _variants(a), _variants(b)
    rows = []
    for cell in dict.fromkeys([*left, *right]):
        of_cell = _compared(left.get(cell, {}), right.get(cell, {}), str(cell[-1]), level)
        rows += [{**dict(zip(KEY, cell, strict=True)), **row} for row in of_cell]
    return pd.DataFrame(rows, columns=COLUMNS)


def _variants(side: pd.DataFrame) -> dict[tuple[Any, ...], _Variants]:
    """Group numbers by cell, then by their settings."""
    cells: dict[tuple[Any, ...], _Variants] = {}
    keys = ["settings", "points"]
    for names, group in side.groupby([*KEY, *keys], dropna=False, sort=False):
        (cell,) = label_rows(group[:1], KEY)
        values = group.set_index("split")["value"].astype(float)
        cells.setdefault(cell, {})[str(names[-2]), str(names[-1])] = values
    return cells


def _compared(
    left: _Variants, right: _Variants, metric: str, level: float
) -> list[Mapping[str, Any]]:
    """Pair variants with the same settings; then, if one is left on each side, those."""
    pairs = [(key, key) for key in left if key in right]
    only_a, only_b = [k for k in left if k not in right], [k for k in right if k not in left]
    if len(only_a) == len(only_b) == 1:
        pairs.append((only_a.pop(), only_b.pop()))
    rows: list[Mapping[str, Any]] = []
    for key_a, key_b in pairs:
        a, b = left[key_a], right[key_b]
        both = a.index.intersection(b.index)
        paired = key_a[1] == key_b[1] and len(both) > 0
        if paired:
            a, b = a[both], b[both]
            low, high = paired_interval((b - a).to_numpy(), level)
        else:
            low, high = _welch_interval(b.to_numpy(), a.to_numpy(), level)
        same = paired and np.array_equal(a, b, equal_nan=True)
        better = METRICS[metric].better if metric in METRICS else 0
        row = {"mean_a": a.mean(), "mean_b": b.mean(), "n_a": len(a), "n_b": len(b)}
        row |= {"difference": b.mean() - a.mean(), "low": low, "high": high, "paired": paired}
        outcome = "same" if same else _outcome(low, high, better)
        rows.append({**row, "same_settings": key_a == key_b, "outcome": outcome})
    for name, side, keys in (("a", left, only_a), ("b", right, only_b)):
        for values in (side[key] for key in keys):
            counts = {"n_a": 0, "n_b": 0, f"n_{name}": len(values)}
            rows.append({**counts, f"mean_{name}": values.mean(), "outcome": f"only {name}"})
    return rows


def _outcome(low: float, high: float, better: int) -> str:
    # neither is true of NaN
    if not (low > 0 or high < 0):
        return "undecided"
    if better == 0:
        return "different"
    return "b better" if (low > 0) == (better > 0) else "a better"


def _welch_interval(left: Any, right: Any, level: float) -> tuple[float, float]:
    """Return the interval of the difference of two means, by Welch's t-test."""
    from scipy import stats

    if min(len(left), len(right)) < 2:
        return -inf, inf
    if left.std() == right.std() == 0:
        difference = float(left.mean() - right.mean())
        return difference, difference
    interval = stats.ttest_ind(left, right, equal_var=False).confidence_interval(1 - level)
    return float(interval.low), float(interval.high)
