"""Choices that agree with the papers' numbers: what the alternatives would have given.

A paper leaves things open. Where one choice was made because it agrees with the paper's numbers,
the number of agreements is in-sample, and a reader should see what each alternative gives. The
config states these choices under ``forks``.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig, Fork
from kernlearn.config.spec import LABELS
from kernlearn.engine.plan import Plan, chosen_by_mean
from kernlearn.reports.summary import label_rows, summarise, tidy_runs
from kernlearn.reports.totals import SCORES, kind_of
from kernlearn.reports.verdicts import NOT_RUN, VERDICTS, tolerated
from kernlearn.store import Store

#: Name of the branch of a fork that the config takes.
CHOSEN = "as chosen"

#: Verdicts on measured numbers.
MEASURED = tuple(name for name in VERDICTS if name != NOT_RUN)

#: Columns of :func:`fork_table`.
COLUMNS = ["experiment", "choice", "reason", "branch", "numbers", *MEASURED, "deviation"]


@dataclass(frozen=True)
class Branch:
    """One way to decide a fork.

    Attributes
    ----------
    experiment, choice, reason : str
    branch : str
        :data:`CHOSEN`, or the name of an alternative.
    numbers : int
        Reported scores that were measured in all branches of the fork.
    verdicts : dict of str to int
        How many of these have each of :data:`MEASURED`.
    deviation : float
        Median distance of the measured from the reported mean, in units of the tolerance.
    """

    experiment: str
    choice: str
    reason: str
    branch: str
    numbers: int
    verdicts: dict[str, int]
    deviation: float


def branches(fork: Fork) -> dict[str, list[str]]:
    """Return the settings of each branch by its name, those of the config first."""
    return {CHOSEN: [], **fork.alternatives}


def summary_of(plan: Plan, store: Store) -> pd.DataFrame:
    """Return the summary of what a store has of a plan."""
    results = chosen_by_mean(store.get(trial.key for trial in plan.trials))
    return summarise(plan, tidy_runs(plan, results))


def judge_fork(
    name: str, fork: Fork, config: ExperimentConfig, summaries: Mapping[str, pd.DataFrame]
) -> list[Branch]:
    """Count the verdicts of each branch, over the reported scores that all have measured.

    Parameters
    ----------
    name : str
        That of the experiment.
    fork : Fork
    config : ExperimentConfig
        Whose rules decide in all branches.
    summaries : mapping of str to pandas.DataFrame
        By branch, from :func:`~kernlearn.reports.summary.summarise`.

    Returns
    -------
    list of Branch
    """
    judged = {branch: _judged(frame, fork, config) for branch, frame in summaries.items()}
    shared = set.intersection(*(set(cells) for cells in judged.values()))
    found = []
    for branch, cells in judged.items():
        counts = Counter(cells[cell][0] for cell in shared)
        distance = float(np.median([cells[cell][1] for cell in shared])) if shared else np.nan
        verdicts = {verdict: counts[verdict] for verdict in MEASURED}
        found.append(
            Branch(name, fork.choice, fork.reason, branch, len(shared), verdicts, distance)
        )
    return found


def _judged(
    summary: pd.DataFrame, fork: Fork, config: ExperimentConfig
) -> dict[tuple[object, ...], tuple[str, float]]:
    """Return the verdict on each measured score with its distance in tolerances, by its labels."""
    compared = [
        not fork.only or any(all(row[k] == v for k, v in match.items()) for match in fork.only)
        for row in summary.to_dict("records")
    ]
    summary = summary[np.array(compared, dtype=bool)]
    scores = {metric for metric in config.verdict if kind_of(metric, config) == SCORES}
    rows = summary[
        summary["metric"].isin(scores) & summary["mean"].notna() & summary["reported_mean"].notna()
    ]
    distances = [
        (str(verdict), abs(mean - reported) / tolerated(config.verdict[metric], reported))
        for metric, verdict, mean, reported in zip(
            rows["metric"].tolist(),
            rows["verdict"].tolist(),
            rows["mean"].astype(float).tolist(),
            rows["reported_mean"].astype(float).tolist(),
            strict=True,
        )
    ]
    return dict(zip(label_rows(rows, [*LABELS, "params", "metric"]), distances, strict=True))


def fork_table(found: Sequence[Branch]) -> pd.DataFrame:
    """Return one row per branch, with the columns of :data:`COLUMNS`."""
    rows = [asdict(branch) for branch in found]
    return pd.DataFrame([{**row, **row.pop("verdicts")} for row in rows], columns=COLUMNS)
