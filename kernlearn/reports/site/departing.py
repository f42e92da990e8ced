"""The numbers of an experiment that are better or worse than reported."""

from dataclasses import dataclass

import pandas as pd

from kernlearn.config.spec import LABELS
from kernlearn.reports import tables
from kernlearn.reports.addresses import joined
from kernlearn.reports.report import Report
from kernlearn.reports.verdicts import BASELINE_BETTER, BETTER, WORSE


@dataclass(frozen=True)
class Deviation:
    """A measured number that is better or worse than the reported one.

    ``place`` is its data set, kernel, method and parameters; ``notes`` are names of the config's
    notes that apply to it.
    """

    place: str
    metric: str
    cell: tables.Cell
    difference: str
    notes: list[str]

    @property
    def address(self) -> str:
        """Its address in the list."""
        return joined("deviation", *self.cell.place, self.cell.metric)


def deviations(report: Report) -> list[Deviation]:
    """List the numbers that are better or worse than reported, the worse first."""
    config, summary, found = report.plan.experiment.config, report.summary, []
    departing = pd.concat(
        [summary[summary["verdict"] == v] for v in (WORSE, BASELINE_BETTER, BETTER)]
    )
    for row in departing.to_dict("records"):
        metric, difference = row["metric"], row["mean"] - row["reported_mean"]
        cell = tables.make_cell(row, metric, config.scope)
        labels = [row[label] for label in LABELS if isinstance(row[label], str)]
        # "exponential (sigma=1)" is a case of "exponential"
        named = [*labels, f"{row['kernel']}".partition(" (")[0]]
        size = tables.format_number(abs(difference), metric, config.scope)
        found.append(
            Deviation(
                " · ".join(cell.place),
                config.scope.label(metric),
                cell,
                f"{'+' if difference > 0 else '−'}{size}",
                [key for key in config.notes if key in named],
            )
        )
    return found
