"""What was measured, one row a trial and metric."""

from collections.abc import Mapping

import pandas as pd

from kernlearn.experiments.plan import Plan
from kernlearn.experiments.store import Result


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
