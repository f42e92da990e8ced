"""Regression check of measured numbers against committed summaries.

A mean has *moved* if its distance from the baseline exceeds the drift allowed for its metric. The
same trials give the same numbers on the same machine, but another processor or BLAS adds in
another order, and where parameters are chosen on a validation part the last digit can decide
between two of them. The allowance covers this, not changes of the method, and is computed from
the mean and deviation of the baseline, so that a noisy run does not excuse itself. Times depend
on the machine and only have to be present.
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
from kernlearn.reports import committed
from kernlearn.reports.summary import KEY, is_time, summarise, tidy_runs
from kernlearn.reports.verdicts import Mean

#: Columns of a check.
COLUMNS = [
    *KEY, "baseline", "measured", "difference", "allowed", "n_baseline", "n_measured", "outcome",
]  # fmt: skip

SAME, DRIFTED, TIMED, LEFT_OUT = "same", "within drift", "timed", "left out"
MOVED, MISSING, NEW, OTHER_SPLITS = "moved", "missing", "new", "other splits"

#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS)

#: All outcomes, in the order in which they are reported.
OUTCOMES = (SAME, DRIFTED, TIMED, LEFT_OUT, *FAILURES)

# Defaults for metrics without `drift` in the config. Quick profiles run with the instructions of
# another processor moved accuracies by at most 0.015, where other parameters were chosen on one of
# the splits; most accuracies did not move, or by less than 0.005.
_POINTS = 0.02
_DRIFT_OF_SCORES = Drift(absolute=_POINTS, spread=0.5)
_DRIFT_OF_PERCENT = Drift(absolute=100 * _POINTS, spread=0.5)
_DRIFT_OF_OTHERS = Drift(relative=0.02, spread=0.5)

# Characters that XML 1.0 cannot represent.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_plan(plan: Plan, store: Store, folder: Path) -> pd.DataFrame:
    """Compare the results of a plan in a store with its baseline, as in :func:`compare_summaries`.

    The folder is one written by ``kernlearn run --summary``, such as ``results/baseline``.

    Raises
    ------
    SummaryError
        If there is no baseline, it cannot be read, or it is of another profile.
    StoreError
        If the store has no results of the plan.
    """
    experiment = plan.experiment
    baseline = committed.read_summary(experiment.name, folder)
    profile = committed.read_details(experiment.name, folder).get("profile", experiment.profile)
    if profile != experiment.profile:
        raise SummaryError(
            f"{folder / experiment.name}.csv: measured under profile {profile!r}, not "
            f"{experiment.profile!r}: check with --profile {profile}"
        )
    results = chosen_by_mean(plan, store.get(t.key for t in plan.trials))
    if not any(result.done for result in results.values()):
        raise StoreError(
            f"{store.path}: no results of {experiment.name} under profile "
            f"{experiment.profile!r}; `kernlearn run {experiment.path} --profile "
            f"{experiment.profile}` measures it"
        )
    # written and parsed like the baseline, so that both have the same digits
    text = committed.summary_text(summarise(plan, tidy_runs(plan, results)), experiment.config)
    measured = committed.parse_summary(text, experiment.name)
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
        From :func:`~kernlearn.reports.committed.parse_summary`. Cells without a mean are ignored.
    config : ExperimentConfig
    left_out : collection of str
        Labels of data sets and methods that are not available here; their cells do not fail.

    Returns
    -------
    pandas.DataFrame
        One row per cell, with the columns :data:`COLUMNS`, in the order of the baseline.
        ``allowed`` is NaN where nothing is compared. ``outcome`` is ``same`` to six digits,
        ``within drift``, ``moved``, ``timed`` (a time that is present), ``missing`` (not
        measured), ``new`` (not in the baseline), ``other splits`` (another number of them) or
        ``left out``.
    """
    before, now = _means(baseline), _means(measured)
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


def _means(summary: pd.DataFrame) -> dict[tuple[str, ...], Mean]:
    rows = summary[summary["mean"].notna()]
    means = rows[["mean", "std", "n_splits"]].itertuples(index=False, name=None)
    cells = rows[KEY].itertuples(index=False, name=None)
    return dict(zip(cells, starmap(Mean, means), strict=True))


def _allowed(baseline: Mean, drift: Drift) -> float:
    if np.isinf(baseline.value):
        return 0.0
    spread = drift.spread * np.nan_to_num(baseline.std)
    allowed = max(drift.absolute, drift.relative * abs(baseline.value), spread)
    # both sides are rounded to six digits
    return float(allowed * (1 + 1e-9))


def drift_of(metric: str, config: ExperimentConfig) -> Drift:
    """Return how far the mean of a metric may be from its baseline.

    By default this is the larger of half a standard deviation and two points (0.02 of an
    accuracy and the like, 2 of an error in per cent) or, for metrics that are not between 0 and
    1, 2 %; zero for numbers of rows and columns.
    """
    if metric in config.drift:
        return config.drift[metric]
    if metric == "error_percent":
        return _DRIFT_OF_PERCENT
    if metric not in METRICS:
        return _DRIFT_OF_OTHERS
    return {0: Drift(), 1: _DRIFT_OF_SCORES}.get(METRICS[metric].better, _DRIFT_OF_OTHERS)


def cell_name(row: pd.Series) -> str:
    """Name a cell of a check by its labels, parameters and metric."""
    parameters = json.loads(row["params"]) if row["params"] else {}
    labels = [row["dataset"], row["kernel"], row["method"]]
    parts = [*labels, *(f"{k}={v}" for k, v in parameters.items()), row["metric"]]
    return " · ".join(part for part in parts if part)


def cell_text(row: pd.Series) -> str:
    """Describe a cell of a check: baseline, measured number, and the drift allowed."""
    if row["outcome"] == MOVED:
        return (
            f"{row['baseline']:g} in the baseline, {row['measured']:g} measured: "
            f"{row['difference']:+.3g}, allowed {row['allowed']:.3g}"
        )
    if row["outcome"] == OTHER_SPLITS:
        return f"{row['n_baseline']:g} splits in the baseline, {row['n_measured']:g} measured"
    in_baseline = "not" if pd.isna(row["baseline"]) else f"{row['baseline']:g}"
    measured = "not" if pd.isna(row["measured"]) else f"{row['measured']:g}"
    return f"{in_baseline} in the baseline, {measured} measured"


def write_junit(checks: dict[str, pd.DataFrame], path: Path) -> None:
    """Write checks, by experiment, as JUnit XML: a suite per experiment, a test case per cell."""
    root = ElementTree.Element("testsuites", name="kernlearn check")
    for name, frame in checks.items():
        suite_name = _NOT_XML.sub("?", name)
        failed, skipped = frame["outcome"].isin(FAILURES), frame["outcome"] == LEFT_OUT
        counts = {"tests": len(frame), "failures": failed.sum(), "errors": 0,
                  "skipped": skipped.sum()}  # fmt: skip
        attributes = {key: str(count) for key, count in counts.items()}
        suite = ElementTree.SubElement(root, "testsuite", attributes, name=suite_name)
        for _, row in frame.iterrows():
            cell = _NOT_XML.sub("?", cell_name(row))
            case = ElementTree.SubElement(suite, "testcase", classname=suite_name, name=cell)
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
