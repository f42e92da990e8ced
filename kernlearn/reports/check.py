"""Whether numbers are still what they were: a run against committed summaries.

A mean has *moved* if it lies further from its baseline than its metric's drift allows. The same
trials give the same numbers on the same machine, but another processor or BLAS adds up in
another order, and where parameters are chosen on a validation part the last digit can decide
between two of them. The allowance is there for that, not for changes of the method, and is taken
from the baseline's own mean and deviation, so that a wild run does not excuse itself. Times are
of the machine: only that they are there is checked.
"""

import json
import re
from collections.abc import Collection
from itertools import starmap
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd

from kernlearn.exceptions import StoreError, SummaryError
from kernlearn.experiments.config.model import Drift, ExperimentConfig
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.supervised import chosen_by_mean
from kernlearn.experiments.registry import METRICS
from kernlearn.experiments.store.results import Store
from kernlearn.reports.committed import (
    KEY,
    parse_summary,
    read_details,
    read_summary,
    summary_text,
)
from kernlearn.reports.remarks import tidy_runs
from kernlearn.reports.summary import is_time, summarise
from kernlearn.reports.verdicts import Mean

#: Columns of a check.
COLUMNS = [
    *KEY, "baseline", "measured", "difference", "allowed", "n_baseline", "n_measured", "outcome",
]  # fmt: skip

SAME, DRIFTED, TIMED, LEFT_OUT = "same", "within drift", "timed", "left out"
MOVED, MISSING, NEW, OTHER_SPLITS = "moved", "missing", "new", "other splits"

#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS)

#: All outcomes, in the order in which they are told.
OUTCOMES = (SAME, DRIFTED, TIMED, LEFT_OUT, *FAILURES)

# What is allowed where the config has no `drift` for a metric. Quick profiles that were run with
# the instructions of another processor moved accuracies by 0.015 at most, where the parameters
# chosen on one of the splits were others; most of them by nothing, or by less than 0.005.
_POINTS = 0.02
_DRIFT_OF_SCORES = Drift(absolute=_POINTS, spread=0.5)
_DRIFT_OF_PERCENT = Drift(absolute=100 * _POINTS, spread=0.5)
_DRIFT_OF_OTHERS = Drift(relative=0.02, spread=0.5)


def check_plan(plan: Plan, store: Store, folder: Path) -> pd.DataFrame:
    """Compare what a store has of a plan with its committed baseline.

    Parameters
    ----------
    plan : Plan
    store : Store
    folder : Path
        Where ``kernlearn run --summary`` put the baseline, such as ``results/baseline``.

    Returns
    -------
    pandas.DataFrame
        As from :func:`compare_summaries`.

    Raises
    ------
    SummaryError
        If there is no baseline, it cannot be read, or it is of another profile.
    StoreError
        If the store has nothing of the plan.
    """
    experiment = plan.experiment
    baseline = read_summary(experiment.name, folder)
    profile = read_details(experiment.name, folder).get("profile", experiment.profile)
    if profile != experiment.profile:
        raise SummaryError(
            f"{folder / experiment.name}.csv: measured under profile {profile!r}, not "
            f"{experiment.profile!r}: check with --profile {profile}"
        )
    results = chosen_by_mean(plan, store.get(t.key for t in plan.trials))
    if not any(result.done for result in results.values()):
        raise StoreError(
            f"{store.path}: has nothing of {experiment.name} under profile "
            f"{experiment.profile!r}; `kernlearn run {experiment.path} --profile "
            f"{experiment.profile}` measures it"
        )
    # as the baseline was written, so that both have the same digits and the same texts
    text = summary_text(summarise(plan, tidy_runs(plan, results)), experiment.config)
    measured = parse_summary(text, experiment.name)
    left_out = {*plan.left_out, *plan.not_installed}
    return compare_summaries(measured, baseline, experiment.config, left_out)


def compare_summaries(
    measured: pd.DataFrame,
    baseline: pd.DataFrame,
    config: ExperimentConfig,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Compare two summaries of an experiment, cell by cell.

    Parameters
    ----------
    measured, baseline : pandas.DataFrame
        From :func:`~kernlearn.reports.committed.parse_summary`. Cells without a mean are none.
    config : ExperimentConfig
    left_out : collection of str
        Labels of data sets and methods that are not to be had here; their cells do not fail.

    Returns
    -------
    pandas.DataFrame
        One row a cell, with the columns :data:`COLUMNS`, in the order of the baseline.
        ``allowed`` is NaN where nothing is compared. ``outcome`` is ``same`` to six digits,
        ``within drift``, ``moved``, ``timed`` (there, which is all that is asked of a time),
        ``missing`` (not measured), ``new`` (not in the baseline), ``other splits`` (not as many)
        or ``left out``.
    """
    before, now = _cells(baseline), _cells(measured)
    rows = []
    for cell in dict.fromkeys([*before, *now]):
        labels = dict(zip(KEY, cell, strict=True))
        a, b, metric = before.get(cell), now.get(cell), labels["metric"]
        compared = a and b and not is_time(metric, config)
        allowed = _allowed(a, drift_of(metric, config)) if a and compared else np.nan
        outcome = _outcome(a, b, allowed)
        if outcome == MISSING and {labels["dataset"], labels["method"]} & {*left_out}:
            outcome = LEFT_OUT
        a, b = a or Mean(np.nan), b or Mean(np.nan)
        numbers = (a.value, b.value, b.value - a.value, allowed, a.n_splits, b.n_splits)
        rows.append([*cell, *numbers, outcome])
    return pd.DataFrame(rows, columns=COLUMNS)


def _outcome(baseline: Mean | None, measured: Mean | None, allowed: float) -> str:
    if baseline is None:
        return NEW
    if measured is None:
        return MISSING
    if baseline.n_splits != measured.n_splits:
        return OTHER_SPLITS
    if np.isnan(allowed):
        return TIMED
    if measured.value == baseline.value:
        return SAME
    return MOVED if abs(measured.value - baseline.value) > allowed else DRIFTED


def _cells(summary: pd.DataFrame) -> dict[tuple[str, ...], Mean]:
    found = summary[summary["mean"].notna()]
    means = found[["mean", "std", "n_splits"]].itertuples(index=False, name=None)
    return dict(
        zip(found[KEY].itertuples(index=False, name=None), starmap(Mean, means), strict=True)
    )


def _allowed(baseline: Mean, drift: Drift) -> float:
    if np.isinf(baseline.value):
        return 0.0
    spread = drift.spread * np.nan_to_num(baseline.std)
    allowed = max(drift.absolute, drift.relative * abs(baseline.value), spread)
    # both sides are rounded to six digits
    return float(allowed * (1 + 1e-9))


def drift_of(metric: str, config: ExperimentConfig) -> Drift:
    """Return how far a metric's mean may lie from its baseline.

    Parameters
    ----------
    metric : str
    config : ExperimentConfig

    Returns
    -------
    Drift
        The config's. Else the larger of half a standard deviation and two points (0.02 of an
        accuracy and the like, 2 of an error in per cent) or, for what is not between 0 and 1,
        2 %; nothing for numbers of rows and columns.
    """
    if metric in config.drift:
        return config.drift[metric]
    if metric == "error_percent":
        return _DRIFT_OF_PERCENT
    if metric not in METRICS:
        return _DRIFT_OF_OTHERS
    return {0: Drift(), 1: _DRIFT_OF_SCORES}.get(METRICS[metric].better, _DRIFT_OF_OTHERS)


# What XML 1.0 has no way to write.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def cell_name(row: pd.Series) -> str:
    """Name a cell of a check by its labels, parameters and metric."""
    parameters = json.loads(row["params"]) if row["params"] else {}
    labels = [row["dataset"], row["kernel"], row["method"]]
    parts = [*labels, *(f"{k}={v}" for k, v in parameters.items()), row["metric"]]
    return " · ".join(part for part in parts if part)


def cell_text(row: pd.Series) -> str:
    """Say of a cell of a check what it was, what it is, and what is allowed."""
    if row["outcome"] == MOVED:
        return (
            f"{row['baseline']:g} in the baseline, {row['measured']:g} measured: "
            f"{row['difference']:+.3g}, allowed {row['allowed']:.3g}"
        )
    if row["outcome"] == OTHER_SPLITS:
        return f"{row['n_baseline']:g} splits in the baseline, {row['n_measured']:g} measured"
    before = "not in the baseline" if pd.isna(row["baseline"]) else f"{row['baseline']:g} there"
    now = "not measured" if pd.isna(row["measured"]) else f"{row['measured']:g} measured"
    return f"{before}, {now}"


def write_junit(checks: dict[str, pd.DataFrame], path: Path) -> None:
    """Write checks as JUnit XML: a suite an experiment, a test case a cell.

    Parameters
    ----------
    checks : dict of str to pandas.DataFrame
        By experiment, from :func:`~kernlearn.reports.check.check_plan`.
    path : Path

    Raises
    ------
    SummaryError
        If the file cannot be written.
    """
    root = ElementTree.Element("testsuites", name="kernlearn check")
    for name, frame in checks.items():
        suite = ElementTree.SubElement(root, "testsuite", _counted(name, frame))
        for _, row in frame.iterrows():
            case = ElementTree.SubElement(
                suite, "testcase", classname=_clean(name), name=_clean(cell_name(row))
            )
            if row["outcome"] in FAILURES:
                ElementTree.SubElement(
                    case, "failure", type=row["outcome"], message=cell_text(row)
                )
            elif row["outcome"] == LEFT_OUT:
                ElementTree.SubElement(case, "skipped", message="left out, not found")
    ElementTree.indent(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise SummaryError(f"{path}: cannot be written: {error.strerror or error}") from None


def _counted(name: str, frame: pd.DataFrame) -> dict[str, str]:
    failed = int(frame["outcome"].isin(FAILURES).sum())
    skipped = int((frame["outcome"] == LEFT_OUT).sum())
    numbers = {"tests": len(frame), "failures": failed, "errors": 0, "skipped": skipped}
    return {"name": _clean(name), **{key: str(number) for key, number in numbers.items()}}


def _clean(text: str) -> str:
    return _NOT_XML.sub("?", text)
