"""Rankings of the methods of an experiment: which numbers are ranked together.

The sample of the tests are the data sets, so each counts once: kernels, and values of a parameter
that several methods vary, are ranked separately.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import suggestion
from kernlearn.config.spec import LABELS
from kernlearn.engine.run import Choice, label_texts
from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import Ranks, rank_methods
from kernlearn.reports.summary import direction, is_cost, label_rows, metric_rows

_ALL = Choice()


@dataclass(frozen=True)
class Ranking:
    """The ranks of methods in one experiment by one metric.

    Attributes
    ----------
    experiment, metric : str
    labels : dict
        The kernel and the values of parameters that the numbers have in common.
    ranks : Ranks
    absent : list of str
        Methods of the config that have no number.
    """

    experiment: str
    metric: str
    labels: dict[str, Any]
    ranks: Ranks
    absent: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        """The labels as text."""
        return " · ".join(_label(name, value) for name, value in self.labels.items())


@dataclass(frozen=True)
class Wanted:
    """Which numbers are ranked, and how they are tested.

    Attributes
    ----------
    metric : str or None
        None for :func:`default_metric`.
    control : str or None
        Method that the others are compared with; None for the best.
    only : Choice
        Labels of the numbers that take part.
    reported : bool
        Rank the numbers that the paper reports, not the measured ones.
    """

    metric: str | None = None
    control: str | None = None
    only: Choice = _ALL
    reported: bool = False


def rankings(
    summary: pd.DataFrame, axes: Sequence[str], config: ExperimentConfig, name: str, wanted: Wanted
) -> list[Ranking]:
    """Rank the methods of an experiment on its data sets.

    Parameters
    ----------
    summary : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    axes : sequence of str
        Its varied parameters.
    config : ExperimentConfig
    name : str
        That of the experiment.
    wanted : Wanted

    Returns
    -------
    list of Ranking
        One for each kernel, and for each value of a parameter that more than one method has
        several values of.

    Raises
    ------
    ReportError
        If there is no such metric, neither more nor less of it is better, or there are too few
        methods or data sets.
    """
    metric = checked_metric(config, name, wanted.metric)
    derived = metric in config.derived and not wanted.reported
    rows = metric_rows(summary, metric, config) if derived else summary
    rows = rows[rows["metric"] == metric]
    rows = rows.assign(score=rows["reported_mean" if wanted.reported else "mean"].astype(float))
    methods = config.compared
    methods = [m for m in methods if _allowed(wanted.only, "method", m)]
    datasets = [d for d in config.datasets if _allowed(wanted.only, "dataset", d)]
    rows = rows[rows["method"].isin(methods) & rows["score"].notna()]
    labels = [*LABELS, *axes]
    named = [zip(labels, row, strict=True) for row in label_rows(rows, labels)]
    texts = [label_texts({label: _whole(value) for label, value in row}) for row in named]
    rows = rows[np.array([wanted.only.includes(text) for text in texts], dtype=bool)]
    if rows.empty:
        what = "reported" if wanted.reported else "measured"
        raise ReportError(f"{name}: no {what} {metric} to rank")
    found = []
    for given, table in _tables(rows, axes):
        absent = [m for m in methods if m not in set(table.attrs["methods"])]
        scores = table.reindex(list(dict.fromkeys([*datasets, *table.index])))
        try:
            ranks = rank_methods(scores, direction(metric, config), control=wanted.control)
        except ReportError as error:
            place = " · ".join([name, metric, *(_label(k, v) for k, v in given.items())])
            raise ReportError(f"{place}: {error}") from None
        found.append(Ranking(name, metric, given, ranks, absent))
    return found


def default_metric(config: ExperimentConfig) -> str | None:
    """Return the metric that methods are ranked by unless one is named; None if none can be."""
    listed = [*(config.best.metrics if config.best else []), *config.verdict, *config.metrics]
    judged = [m for m in listed if direction(m, config)]
    return next((m for m in judged if not is_cost(m, config)), judged[0] if judged else None)


def checked_metric(config: ExperimentConfig, name: str, metric: str | None) -> str:
    """Return the metric that was asked for, or the default, of the experiment of a name."""
    if metric is None:
        metric = default_metric(config)
        if metric is None:
            raise ReportError(f"{name}: has no metric of which more or less is better")
    known = list(dict.fromkeys([*config.scope.task_metrics(config.task), *config.derived]))
    if metric not in known:
        raise ReportError(f"{name}: no metric {metric!r}{suggestion(metric, known)}")
    if not direction(metric, config):
        raise ReportError(f"{name}: neither more nor less of {metric} is better")
    return metric


def _allowed(only: Choice, label: str, value: str) -> bool:
    """Whether a choice leaves room for a value of a label, whatever the other labels."""
    given = [match.get(label, value) for match in only.only]
    return not given or any(value == v if isinstance(v, str) else value in v for v in given)


def _tables(
    rows: pd.DataFrame, axes: Sequence[str]
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield scores with a row per data set and a column per method, each under its labels."""
    varied: dict[str, set[str]] = {}
    for axis in axes:
        values = rows.groupby(["dataset", "kernel", "method"], dropna=False)[axis].nunique()
        varied[axis] = set(values[values > 1].index.get_level_values("method"))
    # what several methods vary is compared at equal values; what one varies are several methods
    shared = [axis for axis, methods in varied.items() if len(methods) > 1]
    alone = [axis for axis, methods in varied.items() if len(methods) == 1]
    if rows["kernel"].nunique() > 1:
        shared = ["kernel", *shared]
    each = [[v for v in dict.fromkeys(rows[label]) if not pd.isna(v)] for label in shared]
    there = set(label_rows(rows, shared)) if shared else {()}
    combinations = [*product(*each)]
    for given in [c for c in combinations if c in there] or combinations:
        part = rows
        for label, value in zip(shared, given, strict=True):
            # methods without the parameter, or that need no kernel, take part in all
            part = part[part[label].isna() | (part[label] == value)]
        names = [
            ", ".join(
                [str(m), *(_label(a, v) for a, v in zip(alone, vs, strict=True) if v is not None)]
            )
            for m, *vs in label_rows(part, ["method", *alone])
        ]
        table = part.assign(column=names).pivot_table(
            index="dataset", columns="column", values="score", sort=False
        )
        table = table[list(dict.fromkeys(names))]
        table.attrs["methods"] = [*dict.fromkeys(part["method"])]
        yield dict(zip(shared, given, strict=True)), table


def rank_table(found: Iterable[Ranking]) -> pd.DataFrame:
    """Return one row per ranking and method, with the numbers of the tests."""
    return pd.DataFrame(
        [
            {
                "experiment": one.experiment,
                "metric": one.metric,
                "labels": one.place,
                "method": method,
                "average_rank": average,
                "control": one.ranks.control,
                "p_holm": one.ranks.holm.get(method, np.nan),
                "n_datasets": one.ranks.n_datasets,
                "n_ties": one.ranks.n_ties,
                "friedman_chi_square": one.ranks.chi_square,
                "friedman_f": one.ranks.f_statistic,
                "friedman_p": one.ranks.p_value,
                "critical_difference": one.ranks.critical_difference,
                "level": one.ranks.level,
            }
            for one in found
            for method, average in one.ranks.average.items()
        ]
    )


def _whole(value: Any) -> Any:
    """Return whole numbers as such: a column with empty cells has none."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _label(name: str, value: Any) -> str:
    if name == "kernel":
        return str(value)
    return f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
