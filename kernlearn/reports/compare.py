r"""Methods compared with one of them, on the splits and data sets that they share.

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

from kernlearn.config.suggestions import suggestion
from kernlearn.exceptions import ReportError
from kernlearn.reports.equivalence import corrected_error
from kernlearn.reports.ranks import friedman

#: Level of the tests.
LEVEL = 0.05
#: The method that is best on held-out rows in each split.
BEST_OF = "best on held-out rows"


def method_values(
    plan: Any, results: Mapping[str, Any], metric: str, wanted: Callable[[Mapping[str, Any]], bool]
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
        if result is None or metric not in result.metrics or not wanted(labels):
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
        raise ReportError(f"{plan.experiment.name}: no {metric} in the store; run it first")
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
    level = LEVEL if margin is None else 2 * LEVEL

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
        at = distance / self.error if self.error else inf * np.sign(distance) if distance else 0.0
        return float(t.sf(at, self.degrees))

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
            return ("better" if ahead > 0 else "worse") if p < LEVEL else "not shown"
        if self.tail(ahead + margin) < LEVEL:
            return "equivalent" if self.tail(margin - ahead) < LEVEL else "not worse"
        return "worse" if self.tail(-margin - ahead) < LEVEL else "not shown"


def _test(each: pd.DataFrame) -> _Test:
    """Test the mean over data sets, or that over the splits of the only one."""
    k, mean = len(each), float(each["difference"].mean())
    if k == 1:
        return _Test(mean, float(each["error"].iloc[0]), int(each["n_splits"].iloc[0]) - 1)
    within = float(np.square(each["error"][np.isfinite(each["error"])]).sum()) / k**2
    return _Test(mean, sqrt(max(float(each["difference"].var(ddof=1)) / k, within)), k - 1)
