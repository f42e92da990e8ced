r"""Whether a method is no worse than another one by more than a margin, paired by split.

On each data set both methods are measured on the same splits. The parts of several splits overlap,
so that their differences are not independent: with J splits, whose differences have the variance
:math:`s^2`, the variance of their mean is taken as

.. math:: v = \Big(\frac 1 J + \frac{n_\mathrm{test}}{n_\mathrm{train}}\Big) s^2

(Nadeau & Bengio 2003, Inference for the generalization error, Machine Learning 52, the corrected
resampled t-test). Over k data sets, a sample of those that there are, the mean of their means
counts, each with the same weight. Its variance is that of the k means divided by k, which
contains what the splits contribute, or :math:`\sum_i v_i / k^2` if that is greater, as it can be
by chance for few data sets. Student's t with k - 1 degrees of freedom gives two one-sided tests
(Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15): the method is not worse by
the margin if the lower one rejects, and equivalent if both do. The interval of level 1 - 2α says
the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.entries import varied
from kernlearn.config.names import suggestion
from kernlearn.engine import Plan
from kernlearn.exceptions import ReportError
from kernlearn.store import Row

#: What stands for the method that is chosen in each split by its score on held-out rows.
CHOSEN = "best on held-out rows"
#: The level of each one-sided test.
LEVEL = 0.05
_MIN_DATASETS = 2


def corrected_error(values: np.ndarray, ratio: float) -> float:
    """Return the standard error of the mean of numbers on overlapping splits.

    `ratio` is that of the number of test rows to the number of training rows. The error is
    infinite for a single split.
    """
    n = len(values)
    return inf if n < 2 else sqrt((1 / n + ratio) * values.var(ddof=1))


@dataclass(frozen=True)
class OneSidedTests:
    """Two one-sided tests of the mean difference over data sets.

    Attributes
    ----------
    margin, level : float
        By how much worse is still no worse, and the level of each one-sided test.
    difference, error : float
        The mean over data sets and its standard error.
    low, high : float
        The interval of level 1 - 2 ``level``.
    p_worse, p_better : float
        p-values of the tests that the method is worse, or better, by the margin.
    """

    margin: float
    level: float
    difference: float
    error: float
    low: float
    high: float
    p_worse: float
    p_better: float

    @property
    def not_worse(self) -> bool:
        """Whether it is shown to be no worse by the margin."""
        return self.p_worse < self.level

    @property
    def equivalent(self) -> bool:
        """Whether it is shown to be neither worse nor better by the margin."""
        return self.not_worse and self.p_better < self.level

    @property
    def verdict(self) -> str:
        """What is shown, in words."""
        if self.equivalent:
            return "equivalent"
        if self.not_worse:
            return "not worse"
        return "worse" if self.high < -self.margin else "not shown"


@dataclass(frozen=True)
class Equivalence(OneSidedTests):
    """A method against a control, with the tests of their differences.

    Attributes
    ----------
    method, control, metric : str
    datasets : DataFrame
        A row for each data set: ``n_splits``, ``n_train``, ``n_test``, the ``difference``,
        positive where the method is better, its ``error``, and the ``comparisons`` and
        ``control_comparisons`` of a prediction.
    chosen : dict of str to int
        How often each method is the one chosen on held-out rows.
    """

    method: str
    control: str
    metric: str
    datasets: pd.DataFrame
    chosen: Mapping[str, int]


def one_sided_tests(
    means: Sequence[float], errors: Sequence[float], margin: float, level: float
) -> OneSidedTests:
    """Test the mean over data sets; see the docstring of this module.

    Parameters
    ----------
    means, errors : sequence of float
        The mean difference on each data set, and its standard error, infinite if it is not known.
    margin, level : float

    Returns
    -------
    OneSidedTests
    """
    from scipy.stats import t

    k = len(means)
    mean = float(np.mean(means))
    between = float(np.var(means, ddof=1)) / k
    known = np.square([error for error in errors if np.isfinite(error)])
    within = float(known.sum()) / k**2
    error, degrees = sqrt(max(between, within)), k - 1
    half = float(t.isf(level, degrees)) * error

    def p(distance: float) -> float:
        at = distance / error if error else inf * np.sign(distance) if distance else 0.0
        return float(t.sf(at, degrees))

    interval = mean - half, mean + half
    return OneSidedTests(margin, level, mean, error, *interval, p(mean + margin), p(margin - mean))


def split_values(
    plan: Plan,
    results: Mapping[str, Row],
    metric: str,
    wanted: Callable[[Mapping[str, Any]], bool],
) -> pd.DataFrame:
    """Return the numbers of each trial whose labels are wanted, a row for each.

    Columns are ``dataset`` and ``method`` (each with what it varies), ``split``, ``value``,
    ``score`` (that of the chosen parameters on held-out rows), ``comparisons``, ``n_train``,
    ``n_test``.
    """
    rows = []
    # a generator draws a data set for each value of its parameters
    drawn = {
        name: varied(entry.parameters) for name, entry in plan.experiment.config.datasets.items()
    }
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is None or not result.done or not wanted(trial.labels):
            continue
        labels, metrics = trial.labels, result.metrics
        if metric not in metrics:
            continue
        if not {"n_train", "n_test"} <= result.info.keys():
            raise ReportError(f"{trial}: the store does not say how many rows it has")
        given = [k for k in plan.axes if labels.get(k) is not None]
        data = [f"{k}={labels[k]}" for k in given if k in drawn[labels["dataset"]]]
        own = [f"{k}={labels[k]}" for k in given if k not in drawn[labels["dataset"]]]
        kernel = [labels["kernel"]] if labels.get("kernel") else []
        rows.append(
            {
                "dataset": ", ".join([labels["dataset"], *data]),
                "name": labels["method"],
                "method": ", ".join([labels["method"], *kernel, *own]),
                "split": trial.split,
                "value": metrics[metric],
                "score": metrics.get("selection_score", nan),
                "comparisons": metrics.get("comparisons", nan),
                "n_train": result.info["n_train"],
                "n_test": result.info["n_test"],
            }
        )
    return pd.DataFrame(rows)


def with_chosen(values: pd.DataFrame, methods: Sequence[str]) -> pd.DataFrame:
    """Add the method that has the best score on held-out rows in each split; the first of equals.

    `methods` are those to choose from. Splits that not all of them have are left out.
    """
    among = values[values["name"].isin(methods) & values["score"].notna()]
    places = {name: i for i, name in enumerate(dict.fromkeys(among["method"]))}
    among = among.assign(place=among["method"].map(places))
    whole = among.groupby(["dataset", "split"])["place"].transform("nunique") == len(places)
    ordered = among[whole].sort_values(["score", "place"], ascending=[False, True])
    best = ordered.groupby(["dataset", "split"], sort=False).head(1)
    chosen = best.assign(picked=best["method"], method=CHOSEN, name=CHOSEN)
    return pd.concat([values, chosen.drop(columns="place")], ignore_index=True)


def against_control(
    values: pd.DataFrame, control: str, metric: str, better: int, margin: float
) -> list[Equivalence]:
    """Compare each method with a control, on the data sets and splits that both have.

    Parameters
    ----------
    values : DataFrame
        From :func:`split_values` or :func:`with_chosen`.
    control : str
    metric : str
    better : {1, -1}
        Whether more or less of the metric is better.
    margin : float

    Returns
    -------
    list of Equivalence

    Raises
    ------
    ReportError
        If there is no such control, or there are fewer than two data sets.
    """
    names = list(dict.fromkeys(values["method"])) if len(values) else []
    if control not in names:
        raise ReportError(f"no method {control!r} to compare with{suggestion(control, names)}")
    place = ["dataset", "split"]
    theirs = values[values["method"] == control].set_index(place)
    found = []
    for method in names:
        if method == control:
            continue
        own = values[values["method"] == method].set_index(place)
        both = own.join(theirs, how="inner", rsuffix="_control")
        both["difference"] = better * (both["value"] - both["value_control"])
        groups = list(both.groupby(level="dataset", sort=False))
        if len(groups) < _MIN_DATASETS:
            continue
        table = pd.DataFrame(
            [
                {
                    "dataset": dataset,
                    "n_splits": len(part),
                    "n_train": int(part["n_train"].mean()),
                    "n_test": int(part["n_test"].mean()),
                    "difference": float(part["difference"].mean()),
                    "error": corrected_error(
                        part["difference"].to_numpy(), (part["n_test"] / part["n_train"]).mean()
                    ),
                    "comparisons": float(part["comparisons"].mean()),
                    "control_comparisons": float(part["comparisons_control"].mean()),
                }
                for dataset, part in groups
            ]
        ).set_index("dataset")
        tests = one_sided_tests(list(table["difference"]), list(table["error"]), margin, LEVEL)
        chosen = own["picked"].value_counts().to_dict() if method == CHOSEN else {}
        found.append(
            Equivalence(
                **vars(tests),
                method=method,
                control=control,
                metric=metric,
                datasets=table,
                chosen=chosen,
            )
        )
    if not found:
        raise ReportError(f"{metric}: fewer than {_MIN_DATASETS} data sets to compare on")
    return found
