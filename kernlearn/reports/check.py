"""Checks: results of a store against committed ones, and these against what they rest on."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.plan import Plan
from kernlearn.config.read import shipped_name
from kernlearn.config.values import LABELS
from kernlearn.exceptions import StoreError, SummaryError
from kernlearn.reports import verdicts
from kernlearn.reports.answers import answer
from kernlearn.reports.labels import KEY, label_rows
from kernlearn.reports.report import Report, assemble, read_report
from kernlearn.reports.rows import read_details, reported_digest, stored_rows
from kernlearn.store import Store

SAME, DRIFTED, LEFT_OUT = "same", "within drift", "left out"
MOVED, MISSING, NEW = "moved", "missing", "new"
OTHER_SPLITS, OTHER_SPREAD = "other splits", "other spread"
#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS, OTHER_SPREAD)
#: All outcomes, in the order in which they are reported.
OUTCOMES = (SAME, DRIFTED, LEFT_OUT, *FAILURES)
# Means have six digits; the last one may differ.
_DIGITS = 2e-6


def check_plan(
    plan: Plan, store: Store, folder: Path, *, strict: bool = False
) -> tuple[pd.DataFrame, list[str]]:
    """Compare the results of a plan in a store with its baseline, as in :func:`compare_cells`.

    Returned are the cells, and what else differs: versions, reported numbers and, of full runs on
    the same data, outcomes.

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
    before, now = read_report(experiment.path, folder), assemble(plan, store)
    absent = {*plan.left_out, *plan.not_installed}
    cells = compare_cells(now.cells, before.cells, experiment.config, absent, strict=strict)
    texts = stale(before)
    # without all data other outcomes are due to what is missing
    if not (experiment.indicative or {*plan.left_out} - {*before.details.left_out}):
        texts += other_outcomes(now, before)
    return cells, texts


def stale(report: Report) -> list[str]:
    """Return what a summary was measured with that is another one now."""
    config, details, texts = report.experiment.config, report.details, []
    name = shipped_name(report.experiment.path) or report.experiment.path
    again = f"`kernlearn run {name}` measures it again"
    for component, version in details.versions.items():
        kind, _, own = component.partition(" ")
        present = getattr(config.scope, f"{kind}s").get(own)
        if present is None and "." not in own:
            texts.append(f"there is no {component} now, which was measured: {again}")
        elif present is not None and present.version != version:
            is_now = f"{component} has version {present.version} now"
            texts.append(f"{is_now}, and had {version} when this was measured: {again}")
    if not details.versions:
        texts.append(f"measured before summaries had versions of estimators: {again}")
    if details.reported != reported_digest(config) and details.versions:
        texts.append(
            f"{config.reported} has other numbers than when this was written: `kernlearn report "
            f"{name} --summary` takes them over"
        )
    return texts


def other_outcomes(now: Report, before: Report) -> list[str]:
    """Return the verdicts, differences, claims and answers that a run decides otherwise."""
    texts = [f"answer: {one.says!r}: {text}" for one in answer(now) for text in one.changes]
    keys = {"differences": ["cell", "metric", "ahead", "behind"], "claims": ["says", "check"]}
    sides = now, before
    frames = {"verdict": [one.cells.assign(outcome=one.cells["verdict"]) for one in sides]}
    frames |= {kind: [getattr(one, kind) for one in sides] for kind in keys}
    for kind, both in frames.items():
        labels = keys.get(kind, KEY[1:])
        ours, theirs = (dict(zip(label_rows(f, labels), f["outcome"], strict=True)) for f in both)
        for place, outcome in theirs.items():
            if (found := ours.get(place, "missing")) != outcome:
                where = " ".join(str(label) for label in place if label not in (None, "{}"))
                texts.append(f"{kind}: {where}: {found or 'none'}, not {outcome or 'none'}")
    return texts


def compare_cells(
    measured: pd.DataFrame,
    baseline: pd.DataFrame,
    config: ExperimentConfig,
    left_out: Collection[str] = (),
    *,
    strict: bool = False,
) -> pd.DataFrame:
    """Compare the cells of an experiment with earlier ones, to six digits; times are left out.

    A mean has *moved* if its distance from the baseline exceeds its measured drift, or the last
    digit where there is none. The same trials give the same numbers on the same machine, but
    another processor adds in another order. Where parameters are chosen on a validation part, the
    last digit can decide between two of them. With ``strict`` nothing may move.

    Cells without a mean are ignored; those of data sets and methods in ``left_out``, which are not
    available here, do not fail. The result has one row per cell in the order of the baseline.
    ``allowed`` is NaN where nothing is compared. ``outcome`` is
    ``same`` to six digits, ``within drift``, ``moved``, ``missing`` (not measured), ``new`` (not
    in the baseline), ``other splits`` (another number of them), ``other spread`` or ``left out``.
    The spread is another one if the standard deviation differs by more than is allowed.
    """
    before, now = (_compared(frame, config) for frame in (baseline, measured))
    cells = pd.DataFrame(index=before.index.union(now.index, sort=False))
    for prefix, column in {"": "mean", "std_": "std", "n_": "n_splits"}.items():
        cells[f"{prefix}baseline"], cells[f"{prefix}measured"] = before[column], now[column]
    new, missing = cells["baseline"].isna(), cells["measured"].isna()
    metrics = cells.index.get_level_values("metric")
    own = pd.Series(metrics.map(config.drift), cells.index, dtype=float)
    drifts = own.fillna(before["drift"].reindex(cells.index)).fillna(0.0)
    stds = cells[["std_baseline", "std_measured"]].fillna(0)
    digits = _DIGITS * cells["baseline"].abs().replace(np.inf, 0.0)
    allowed, of_std = drifts + digits, drifts + _DIGITS * stds["std_baseline"]
    cells["allowed"] = (allowed * (not strict)).mask(new | missing)
    cells["difference"] = cells["measured"] - cells["baseline"]
    is_left_out = cells.index.to_frame()[["dataset", "method"]].isin({*left_out}).any(axis=1)
    outcomes = {
        NEW: new,
        LEFT_OUT: missing & is_left_out,
        MISSING: missing,
        OTHER_SPLITS: cells["n_baseline"] != cells["n_measured"],
        MOVED: cells["difference"].abs() > cells["allowed"],
        OTHER_SPREAD: stds.diff(axis="columns")["std_measured"].abs() > of_std * (not strict),
        SAME: cells["measured"] == cells["baseline"],
    }
    cells["outcome"] = np.select([*outcomes.values()], [*outcomes], DRIFTED)
    return cells.reset_index()


def _compared(cells: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Return the means that are compared, by the labels of their cells."""
    costs = [metric for metric in cells["metric"].unique() if verdicts.is_cost(metric, config)]
    cells = cells[cells["mean"].notna() & ~cells["metric"].isin(costs)]
    digits = cells[["mean", "std"]].astype(float).map("{:.6g}".format).astype(float)
    return cells.assign(**digits, **cells[[*LABELS]].fillna("")).set_index(KEY)


def failure_text(row: "pd.Series[Any]") -> str:
    """Name a cell that fails a check, and say how."""
    params = [f"{name}={value}" for name, value in json.loads(row["params"] or "{}").items()]
    parts = [row["dataset"], row["kernel"], row["method"], *params, row["metric"]]
    prefix = {OTHER_SPLITS: "n_", OTHER_SPREAD: "std_"}.get(row["outcome"], "")
    before, now = (row[f"{prefix}{side}"] for side in ("baseline", "measured"))
    text = f"{before:g} in the baseline, {now:g} measured".replace("nan", "not")
    if row["outcome"] == MOVED:
        text += f": {row['difference']:+.3g}, allowed {row['allowed']:.3g}"
    if row["outcome"] == OTHER_SPREAD:
        text += ": the means agree, single splits do not"
    return f"{row['outcome']}: {' · '.join(filter(None, parts))}: {text}"
