"""Measured numbers compared with committed summaries.

A mean has *moved* if its distance from the baseline exceeds the drift allowed for its metric. The
same trials give the same numbers on the same machine, but another processor or BLAS adds in
another order, and where parameters are chosen on a validation part the last digit can decide
between two of them. The allowance covers this, not changes of the method, and is computed from
the mean and deviation of the baseline, so that a noisy run does not excuse itself. Times depend
on the machine and only have to be present, as memory has.
"""

import json
from collections.abc import Collection
from pathlib import Path

import numpy as np
import pandas as pd

from kernlearn.config.model import Drift, ExperimentConfig
from kernlearn.config.names import METRICS
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import StoreError, SummaryError
from kernlearn.reports.summary import (
    KEY,
    parse_summary,
    read_details,
    read_summary,
    splits_of,
    stored_rows,
    summarise,
    summary_text,
)
from kernlearn.reports.verdicts import is_cost
from kernlearn.store import Store

_SIDES = ["std_baseline", "std_measured", "n_baseline", "n_measured"]
#: Columns of a check.
COLUMNS = [*KEY, "baseline", "measured", "difference", "allowed", *_SIDES, "outcome"]

SAME, DRIFTED, TIMED, LEFT_OUT = "same", "within drift", "timed", "left out"
MOVED, MISSING, NEW = "moved", "missing", "new"
OTHER_SPLITS, OTHER_SPREAD = "other splits", "other spread"

#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS, OTHER_SPREAD)

#: All outcomes, in the order in which they are reported.
OUTCOMES = (SAME, DRIFTED, TIMED, LEFT_OUT, *FAILURES)

# Defaults for metrics without `drift` in the config, by their direction. Quick profiles run with
# the instructions of another processor moved accuracies by at most 0.015, where other parameters
# were chosen on one of the splits; most accuracies did not move, or by less than 0.005.
_DRIFTS = {1: Drift(absolute=0.02, spread=0.5), 0: Drift(), -1: Drift(relative=0.02, spread=0.5)}
_DRIFT_OF_PERCENT = Drift(absolute=2, spread=0.5)


def check_plan(plan: Plan, store: Store, folder: Path) -> pd.DataFrame:
    """Compare the results of a plan in a store with its baseline, as in :func:`compare_summaries`.

    The folder is one written by ``kernlearn run --summary``, such as ``results/baseline``. It is
    a SummaryError if it has no baseline of the same profile, and a StoreError if the store has no
    results of the plan.
    """
    experiment = plan.experiment
    baseline = read_summary(experiment.name, folder)
    profile = read_details(experiment.name, folder).get("profile", experiment.profile)
    if profile != experiment.profile:
        raise SummaryError(
            f"{folder / experiment.name}.csv: measured under profile {profile!r}, not "
            f"{experiment.profile!r}: check with --profile {profile}"
        )
    results = stored_rows(plan, store)
    if not any(result.done for result in results.values()):
        raise StoreError(
            f"{store.path}: no results of {experiment.name} under profile "
            f"{experiment.profile!r}; `kernlearn run {experiment.path} --profile "
            f"{experiment.profile}` measures it"
        )
    # written and parsed like the baseline, so that both have the same digits
    cells = summarise(splits_of(plan, results), experiment)
    text = summary_text(cells, experiment.config)
    measured = parse_summary(text, experiment.name, experiment.name)
    left_out = {*plan.left_out, *plan.not_installed}
    return compare_summaries(measured, baseline, experiment.config, left_out)


def compare_summaries(
    measured: pd.DataFrame,
    baseline: pd.DataFrame,
    config: ExperimentConfig,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Compare two parsed summaries of an experiment, cell by cell.

    Cells without a mean are ignored; those of data sets and methods in ``left_out``, which are
    not available here, do not fail. The result has one row per cell in the order of the baseline,
    with the columns :data:`COLUMNS`. ``allowed`` is NaN where nothing is compared. ``outcome`` is
    ``same`` to six digits, ``within drift``, ``moved``, ``timed`` (a time or memory, present),
    ``missing`` (not measured), ``new`` (not in the baseline), ``other splits`` (another number of
    them), ``other spread`` (another standard deviation: by more than 1 % where the mean is the
    same, else by more than the drift allowed) or ``left out``.
    """
    before, now = (frame[frame["mean"].notna()].set_index(KEY) for frame in (baseline, measured))
    cells = before.index.union(now.index, sort=False)
    before, now = before.reindex(cells), now.reindex(cells)
    is_new, is_missing = before["mean"].isna(), now["mean"].isna()
    difference = now["mean"] - before["mean"]
    baselines = zip(before["mean"], before["std"], cells.get_level_values("metric"), strict=True)
    allowed = pd.Series([_allowed(*b, config) for b in baselines], cells, dtype=float)
    allowed = allowed.mask(is_new | is_missing)
    is_left_out = cells.to_frame()[["dataset", "method"]].isin({*left_out}).any(axis="columns")
    is_same = now["mean"] == before["mean"]
    spreads = before["std"].fillna(0), now["std"].fillna(0)
    other_spread = abs(spreads[1] - spreads[0]) > allowed.mask(is_same, 0.01 * spreads[0] + 1e-9)
    outcome = np.select(
        [
            is_new,
            is_missing & is_left_out,
            is_missing,
            before["n_splits"] != now["n_splits"],
            allowed.isna(),
            difference.abs() > allowed,
            other_spread,
            is_same,
        ],
        [NEW, LEFT_OUT, MISSING, OTHER_SPLITS, TIMED, MOVED, OTHER_SPREAD, SAME],
        DRIFTED,
    )
    numbers = [
        before["mean"],
        now["mean"],
        difference,
        allowed,
        before["std"],
        now["std"],
        before["n_splits"],
        now["n_splits"],
        pd.Series(outcome, index=cells),
    ]
    return pd.concat(numbers, axis="columns", keys=COLUMNS[len(KEY) :]).reset_index()


def _allowed(mean: float, std: float, metric: str, config: ExperimentConfig) -> float:
    """Return how far a mean may be from the baseline's, NaN for costs."""
    if is_cost(metric, config):
        return np.nan
    drift = drift_of(metric, config)
    if np.isinf(mean):
        return 0.0
    allowed = max(drift.absolute, drift.relative * abs(mean), drift.spread * np.nan_to_num(std))
    # both sides are rounded to six digits
    return allowed * (1 + 1e-9)


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
    return _DRIFTS[METRICS[metric].better if metric in METRICS else -1]


def cell_name(row: pd.Series) -> str:
    """Name a cell of a check by its labels, parameters and metric."""
    params = [f"{name}={value}" for name, value in json.loads(row["params"] or "{}").items()]
    parts = [row["dataset"], row["kernel"], row["method"], *params, row["metric"]]
    return " · ".join(part for part in parts if part)


def cell_text(row: pd.Series) -> str:
    """Describe a cell of a check: baseline, measured number, and the drift allowed."""
    if row["outcome"] == OTHER_SPREAD:
        spreads = row["std_baseline"], row["std_measured"]
        return "standard deviation {:.3g} in the baseline, {:.3g} measured".format(*spreads)
    if row["outcome"] == OTHER_SPLITS:
        return f"{row['n_baseline']:g} splits in the baseline, {row['n_measured']:g} measured"
    sides = ["not" if pd.isna(row[s]) else f"{row[s]:g}" for s in ("baseline", "measured")]
    text = "{} in the baseline, {} measured".format(*sides)
    moved = f": {row['difference']:+.3g}, allowed {row['allowed']:.3g}"
    return text + moved if row["outcome"] == MOVED else text
