"""The part of a report that shows chosen trials alone."""

from collections.abc import Sequence
from dataclasses import replace

from kernlearn.config.spec import LABELS, Trial, canonical
from kernlearn.engine.plan import chosen_by_mean
from kernlearn.reports.report import Report, remarks
from kernlearn.reports.summary import label_rows
from kernlearn.reports.tables import build_tables
from kernlearn.store import Store


def chosen_part(report: Report, trials: Sequence[Trial], store: Store) -> Report:
    """Return a report with the rows and remarks of some of its trials, without claims.

    Parameters
    ----------
    report : Report
    trials : sequence of Trial
    store : Store
        With the results of the trials.

    Returns
    -------
    Report

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, chosen_part
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     trials = [t for t in plan.trials if t.labels["kernel"] == "gaussian"]
    ...     part = chosen_part(assemble(plan, store), trials, store)
    >>> part.summary.kernel.unique().tolist()
    ['gaussian']
    """
    plan = replace(report.plan, trials=list(trials))
    labels = [*LABELS, *plan.axes]
    wanted = {canonical([trial.labels.get(label) for label in labels]) for trial in trials}
    keep = [canonical(list(row)) in wanted for row in label_rows(report.summary, labels)]
    summary = report.summary[keep]
    notes = remarks(plan, chosen_by_mean(store.get(t.key for t in trials)))
    return replace(
        report,
        plan=plan,
        summary=summary,
        tables=build_tables(summary, plan.experiment.config),
        claims=[],
        conclusions=[],
        chances=[],
        remarks=notes,
    )
