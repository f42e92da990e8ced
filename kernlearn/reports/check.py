"""The results of a store against committed ones, cell by cell."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.plan import Plan
from kernlearn.config.spec import LABELS
from kernlearn.exceptions import StoreError, SummaryError
from kernlearn.reports import verdicts
from kernlearn.reports.cells import summarise
from kernlearn.reports.labels import KEY
from kernlearn.reports.rows import read_details, read_splits, splits_of, splits_path, stored_rows
from kernlearn.store import Store

#: Columns of a check.
CHECKED = [*KEY, "baseline", "measured", "difference", "allowed", "std_baseline", "std_measured"]
CHECKED += ["n_baseline", "n_measured", "outcome"]
SAME, DRIFTED, LEFT_OUT = "same", "within drift", "left out"
MOVED, MISSING, NEW = "moved", "missing", "new"
OTHER_SPLITS, OTHER_SPREAD = "other splits", "other spread"
#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS, OTHER_SPREAD)
#: All outcomes, in the order in which they are reported.
OUTCOMES = (SAME, DRIFTED, LEFT_OUT, *FAILURES)
# How far a mean may move where that was not measured between processors: in points, as a share of
# errors and the like, and in standard deviations. Quick profiles run with the instructions of
# another processor moved accuracies by at most 0.015, where other parameters were chosen on one of
# the splits; most accuracies did not move, or by less than 0.005.
_POINTS, _OF_ERROR, _SPREAD = 0.02, 0.02, 0.5


def check_plan(plan: Plan, store: Store, folder: Path) -> pd.DataFrame:
    """Compare the results of a plan in a store with its baseline, as in :func:`compare_cells`.

    The folder is one written by ``kernlearn run --summary``, such as ``results/baseline``. It is
    a SummaryError if it has no baseline of the same profile, and a StoreError if the store has no
    results of the plan.
    """
    experiment, name = plan.experiment, plan.experiment.name
    profile = read_details(name, folder).profile
    if profile != experiment.profile:
        raise SummaryError(
            f"{folder / name}.json: measured under profile {profile!r}, not "
            f"{experiment.profile!r}: check with --profile {profile}"
        )
    results = stored_rows(plan, store)
    if not any(result.done for result in results.values()):
        raise StoreError(
            f"{store.path}: no results of {name} under profile "
            f"{experiment.profile!r}; `kernlearn run {experiment.path} --profile "
            f"{experiment.profile}` measures it"
        )
    baseline = read_splits(experiment, splits_path(name, folder))
    measured = splits_of(plan, results)
    before, now = (summarise(splits, experiment) for splits in (baseline, measured))
    return compare_cells(now, before, experiment.config, {*plan.left_out, *plan.not_installed})


def compare_cells(
    measured: pd.DataFrame,
    baseline: pd.DataFrame,
    config: ExperimentConfig,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Compare the cells of an experiment with earlier ones, to six digits; times are left out.

    A mean has *moved* if its distance from the baseline exceeds the drift allowed for its metric.
    The same trials give the same numbers on the same machine, but another processor adds in
    another order. Where parameters are chosen on a validation part, the last digit can decide
    between two of them. The allowance is computed from the baseline alone, so that a noisy run
    does not excuse itself.

    Cells without a mean are ignored; those of data sets and methods in ``left_out``, which are not
    available here, do not fail. The result has one row per cell in the order of the baseline, with
    the columns :data:`CHECKED`. ``allowed`` is NaN where nothing is compared. ``outcome`` is
    ``same`` to six digits, ``within drift``, ``moved``, ``missing`` (not measured), ``new`` (not
    in the baseline), ``other splits`` (another number of them), ``other spread`` or ``left out``.
    The spread is another one if the standard deviation differs by more than 1 % where the mean is
    the same, else by more than the drift allowed.
    """
    before, now = (_compared(frame, config) for frame in (baseline, measured))
    cells = pd.DataFrame(index=before.index.union(now.index, sort=False))
    for prefix, column in {"": "mean", "std_": "std", "n_": "n_splits"}.items():
        cells[f"{prefix}baseline"], cells[f"{prefix}measured"] = before[column], now[column]
    new, missing = cells["baseline"].isna(), cells["measured"].isna()
    metrics = cells.index.get_level_values("metric")
    # where nothing was measured on other processors nothing is known
    known = before["drift"] if before["drift"].any() else before["drift"] * np.nan
    drifts = known.reindex(cells.index)
    sides = zip(cells["baseline"], cells["std_baseline"], drifts, metrics, strict=True)
    allowed = pd.Series([_allowed(*side, config) for side in sides], cells.index, dtype=float)
    cells["allowed"] = allowed.mask(new | missing)
    cells["difference"] = cells["measured"] - cells["baseline"]
    is_same = cells["measured"] == cells["baseline"]
    stds = cells[["std_baseline", "std_measured"]].fillna(0)
    tolerated = cells["allowed"].mask(is_same, 0.01 * stds["std_baseline"] + 1e-9)
    is_left_out = cells.index.to_frame()[["dataset", "method"]].isin({*left_out}).any(axis=1)
    outcomes = {
        NEW: new,
        LEFT_OUT: missing & is_left_out,
        MISSING: missing,
        OTHER_SPLITS: cells["n_baseline"] != cells["n_measured"],
        MOVED: cells["difference"].abs() > cells["allowed"],
        OTHER_SPREAD: stds.diff(axis="columns")["std_measured"].abs() > tolerated,
        SAME: is_same,
    }
    cells["outcome"] = np.select([*outcomes.values()], [*outcomes], DRIFTED)
    return cells.reset_index()[CHECKED]


def _compared(cells: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Return the means that are compared, by the labels of their cells."""
    costs = [metric for metric in cells["metric"].unique() if verdicts.is_cost(metric, config)]
    cells = cells[cells["mean"].notna() & ~cells["metric"].isin(costs)]
    digits = cells[["mean", "std"]].astype(float).map("{:.6g}".format).astype(float)
    return cells.assign(**digits, **cells[[*LABELS]].fillna("")).set_index(KEY)


def _allowed(
    mean: float, std: float, measured: float, metric: str, config: ExperimentConfig
) -> float:
    """Return how far a mean may be from the baseline's.

    This is twice what was measured between processors, as far as it was measured. Else it is the
    larger of half a standard deviation and two points (0.02 of an accuracy and the like, 2 of an
    error in per cent) or, for metrics that are not between 0 and 1, 2 %; zero for numbers of rows
    and columns.
    """
    known = config.scope.metrics.get(metric)
    better = known.better if known else -1
    if metric in config.drift:
        return config.drift[metric]
    if np.isinf(mean) or not better:
        return 0.0
    if not np.isnan(measured):
        return 2 * measured + 1e-6 * abs(mean)
    is_error = better < 0 or metric.startswith("neg_")
    points = _OF_ERROR * abs(mean) if is_error else _POINTS
    points = 100 * _POINTS if metric == "error_percent" else points
    # both sides are rounded to six digits
    return max(points, _SPREAD * float(np.nan_to_num(std))) * (1 + 1e-9)


def failure_text(row: "pd.Series[Any]") -> str:
    """Name a cell that fails a check, and say how."""
    params = [f"{name}={value}" for name, value in json.loads(row["params"] or "{}").items()]
    parts = [row["dataset"], row["kernel"], row["method"], *params, row["metric"]]
    prefix = {OTHER_SPLITS: "n_", OTHER_SPREAD: "std_"}.get(row["outcome"], "")
    before, now = (row[f"{prefix}{side}"] for side in ("baseline", "measured"))
    text = f"{before:g} in the baseline, {now:g} measured".replace("nan", "not")
    if row["outcome"] == MOVED:
        text += f": {row['difference']:+.3g}, allowed {row['allowed']:.3g}"
    return f"{row['outcome']}: {' · '.join(filter(None, parts))}: {text}"
