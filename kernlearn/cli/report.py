"""``kernlearn check``: whether numbers are still those of a committed baseline."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kernlearn.cli.options import (
    OUTPUT,
    STORE,
    Available,
    Configs,
    DataDir,
    Settings,
    Splits,
    StorePath,
    Summary,
    load_experiments,
    make_plans,
    with_splits,
)
from kernlearn.cli.terminal import make_console, say

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
    from kernlearn.reports.check import FAILURES, check_plan, write_junit

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
    from kernlearn.reports.check import FAILURES, OUTCOMES, cell_name, cell_text

    counts = frame["outcome"].value_counts()
    told = ", ".join(f"{counts[name]} {name}" for name in OUTCOMES if name in counts)
    say(console, f"{name}: {len(frame)} cells: {told}")
    for _, row in frame[frame["outcome"].isin(FAILURES)].iterrows():
        say(console, f"  {row['outcome']}: {cell_name(row)}: {cell_text(row)}")


_SITE = Path("results/site")
_SUFFIXES = (".sqlite", ".sqlite3", ".db")
_SQLITE = b"SQLite format 3\0"


def report(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[STORE | CONFIG...]",
            help="A store, of which a site is made; or YAML files or names of shipped configs.",
            show_default="the store that --store names",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            help="'full', or one of the config's own.",
            show_default="'full'; for a site that of each experiment's runs with the most trials",
        ),
    ] = None,
    config: Annotated[
        list[Path],
        typer.Option(metavar="FILE", help="A config of one's own in the site; may be repeated."),
    ] = [],  # noqa: B006  (typer reads the default, nothing changes it)
    splits: Splits = None,
    option: Settings = [],  # noqa: B006
    data_dir: DataDir = None,
    store: StorePath = STORE,
    output: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the site, or for reports, one subfolder an experiment.",
            show_default=f"{_SITE}, or {OUTPUT}",
        ),
    ] = None,
    summary: Summary = None,
    available: Available = False,
) -> None:
    """Report what a store has, running nothing: a site of all of it, or named experiments.

    Without a CONFIG it writes a site of every experiment in the store: an overview and a page
    each, which open from disk without network. With CONFIGs it writes and shows their tables.
    """
    from kernlearn.cli.terminal import show_report, write_reports
    from kernlearn.exceptions import ReportError
    from kernlearn.experiments import Store

    named = what or []
    stores = [name for name in named if _is_store(name)]
    if stores and len(named) > 1:
        raise ReportError(
            f"{stores[0]}: a store stands alone; `kernlearn report CONFIG... --store "
            f"{stores[0]}` shows named experiments of it"
        )
    if named and not stores:
        if config:
            raise ReportError(
                f"--config {config[0]}: belongs to the site of a store; name it without --config"
            )
        experiments = load_experiments(named, profile or "full", splits, option, data_dir)
        with Store.existing(store) as opened:
            plans = make_plans(experiments, data_dir, available, opened)
            for plan in plans:
                show_report(*write_reports(plan, opened, output or OUTPUT, summary))
        return
    path = Path(stores[0]) if stores else store
    settings = with_splits(option, splits)
    _report_all(path, output or _SITE, summary, config, profile, settings, data_dir)


def _is_store(name: str) -> bool:
    path = Path(name)
    if path.suffix.lower() in _SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def _report_all(
    store: Path,
    output: Path,
    summary: Path | None,
    configs: Sequence[Path],
    profile: str | None,
    settings: Sequence[str],
    data_dir: Path | None,
) -> None:
    """Write a site of every experiment that a store has something of."""
    from kernlearn.exceptions import ReportError
    from kernlearn.experiments import Store
    from kernlearn.reports import assemble, write_site, write_summary
    from kernlearn.reports.site import stored_plans
    from kernlearn.reports.totals import total

    reports = []
    with Store.existing(store) as opened:
        plans, skipped = stored_plans(
            opened, configs=configs, profile=profile, settings=settings, data_dir=data_dir
        )
        if not plans:
            reasons = "".join(f"\n  {one.name}: {one.reason}" for one in skipped)
            raise ReportError(f"{store}: nothing to show{reasons or '; it has no runs'}")
        for plan in plans:
            found = assemble(plan, opened)
            reports.append(found)
            if summary is not None:
                write_summary(found, summary)
            details = found.details
            typer.echo(
                f"{details['experiment']}: profile {found.run_as}, {details['done']} of "
                f"{details['trials']} trials"
            )
    for one in skipped:
        typer.echo(f"{one.name}: not shown: {one.reason}")
    for sentence in total(report.measured for report in reports).in_words():
        typer.echo(sentence)
    typer.echo(f"Site: {write_site(reports, output, skipped=skipped)}")
