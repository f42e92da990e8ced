"""``kernlearn check``: whether numbers are still those of a committed baseline."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernlearn._options import (
    STORE,
    Available,
    Configs,
    DataDir,
    Settings,
    StorePath,
    load_experiments,
    make_plans,
)
from kernlearn._terminal import make_console, say

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console


def check(
    configs: Configs,
    against: Annotated[
        Path, typer.Option(help="Folder of the baseline, as `run --summary` wrote it.")
    ] = Path("results/baseline"),
    profile: Annotated[str, typer.Option(help="The profile that the baseline is of.")] = "quick",
    option: Settings = [],  # noqa: B006  (typer reads the default, nothing changes it)
    junit: Annotated[
        Path | None, typer.Option(help="File to write as JUnit XML, a test case a cell.")
    ] = None,
    data_dir: DataDir = None,
    store: StorePath = STORE,
    available: Available = False,
) -> None:
    """Compare what a store has with committed numbers; nothing is run.

    The exit code is 1 if a number moved by more than is allowed, or if a cell is missing on
    either side; each is named with both numbers. How far a metric may move is the config's
    `drift`; else 0.02 of an accuracy, 2 points of an error in per cent and 2 % of others, or half
    a standard deviation over the splits if that is more. Times only have to be there.
    """
    from kernlearn.exceptions import KernlearnError, SummaryError
    from kernlearn.experiments import Store
    from kernlearn.reports.check import FAILURES, check_plan
    from kernlearn.reports.junit import write_junit

    experiments = load_experiments(configs, profile, None, option, data_dir)
    console = make_console()
    checks: dict[str, pd.DataFrame] = {}
    faults = []
    with Store.existing(store) as opened:
        for plan in make_plans(experiments, data_dir, available, opened):
            try:
                checks[plan.experiment.name] = check_plan(plan, opened, against)
            except KernlearnError as error:
                faults.append(str(error))
    for name, frame in checks.items():
        _show(console, name, frame)
    if junit is not None:
        write_junit(checks, junit)
    if faults:
        raise SummaryError("\n".join(faults))
    if any(frame["outcome"].isin(FAILURES).any() for frame in checks.values()):
        say(console, "If that is meant: `kernlearn run … --summary` writes the baseline anew.")
        raise typer.Exit(1)


def _show(console: "Console", name: str, frame: "pd.DataFrame") -> None:
    from kernlearn.reports.check import FAILURES, OUTCOMES
    from kernlearn.reports.junit import cell_name, cell_text

    counts = frame["outcome"].value_counts()
    told = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES if name in counts)
    say(console, f"{name}: {len(frame)} cells: {told}")
    for _, row in frame[frame["outcome"].isin(FAILURES)].iterrows():
        say(console, f"  {row['outcome']}: {cell_name(row)}: {cell_text(row)}")
