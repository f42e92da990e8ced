"""What was measured, one row a trial and metric."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd

from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.spec import Trial, canonical
from kernlearn.experiments.store.results import Result


def tidy_runs(plan: Plan, results: Mapping[str, Result]) -> pd.DataFrame:
    """Return every number of a plan's finished trials.

    Parameters
    ----------
    plan : Plan
    results : mapping of str to Result
        Finished trials by key; those of other plans are passed over.

    Returns
    -------
    pandas.DataFrame
        Columns ``dataset``, ``kernel``, ``method``, the varied parameters, ``metric``,
        ``split`` and ``value``, in the order of the plan. A label that does not apply is None.
    """
    config = plan.experiment.config
    metrics = config.scope.task_metrics(config.task)
    columns = ["dataset", "kernel", "method", *plan.axes, "metric", "split", "value"]
    rows = [
        [trial.labels.get(c) for c in columns[:-3]] + [metric, trial.split, found.metrics[metric]]
        for trial in plan.trials
        if (found := results.get(trial.key)) is not None and found.done
        for metric in metrics
        if metric in found.metrics
    ]
    frame = pd.DataFrame(rows, columns=columns)
    labels = columns[:-3]
    frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), None)
    return frame


def remarks(plan: Plan, results: Mapping[str, Result]) -> list[str]:
    """Collect the remarks on a plan's results.

    Parameters
    ----------
    plan : Plan
    results : mapping of str to Result

    Returns
    -------
    list of str
        The config's notes, classes that were merged, data that is a sample, data left out,
        missing or failed trials, and times measured under contention.
    """
    config = plan.experiment.config
    found = [(t, results[t.key]) for t in plan.trials if t.key in results]
    done = [(t, r) for t, r in found if r.done]
    said = [f"{name}: {text}" for name, text in config.notes.items()]
    positives = {t.labels["dataset"]: r.info["positive"] for t, r in done if "positive" in r.info}
    said += [f"{name}: positive classes {', '.join(p)}" for name, p in positives.items()]
    samples = {t.labels["dataset"]: r.info["sample"] for t, r in done if "sample" in r.info}
    said += [f"{name}: {note}" for name, note in samples.items()]
    if plan.left_out:
        said.append(f"left out, not found: {', '.join(plan.left_out)}")
    if plan.stored:
        said.append(f"not found here, shown as the store has them: {', '.join(plan.stored)}")
    failed = [(t, r) for t, r in found if not r.done]
    said += [f"failed: {t}: {r.error}" for t, r in failed]
    missing = len(plan.trials) - len(found)
    if missing:
        said.append(f"{missing} of {len(plan.trials)} trials not run yet")
    warned: dict[str, set[str]] = defaultdict(set)
    for trial, result in done:
        for text in result.info.get("warnings", {}):
            warned[text].add(trial.key)
    said += [f"{len(keys)} of {len(done)} trials warned: {text}" for text, keys in warned.items()]
    said += _changed_plugins(plan, done)
    contended = sum(bool(r.info.get("contended")) for _, r in done)
    if contended:
        said.append(
            f"times of {contended} of {len(done)} trials were measured while something else "
            "had a core; accuracies are not affected"
        )
    return said


def _changed_plugins(plan: Plan, done: list[tuple[Trial, Result]]) -> list[str]:
    """Say which plug-ins are no longer what they were when trials were measured."""
    scope = plan.experiment.config.scope
    changed = Counter(
        name
        for _, result in done
        for name, state in result.info.get("plugins", {}).items()
        if state != scope.state(name)
    )
    return [
        f"{name} has changed since {count} of {len(done)} trials were measured: if their numbers "
        "change with it, raise `version` in it, or run again with --force all"
        for name, count in changed.items()
    ]


def selections(plan: Plan, results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """Return how often each cell's validation chose which parameters.

    Returns
    -------
    list of dict
        The cell's labels, and ``selected``: a list of parameters with their counts.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    labels: dict[str, dict[str, Any]] = {}
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done and "selected" in result.info:
            cell = canonical(trial.labels)
            labels[cell] = trial.labels
            counts[cell][canonical(result.info["selected"])] += 1
    return [
        {**labels[cell], "selected": dict(counter.most_common())}
        for cell, counter in counts.items()
    ]
