"""``kernlearn report``: tables of named experiments, or a site of all that a store holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from kernlearn._options import (
    OUTPUT,
    STORE,
    Available,
    DataDir,
    Settings,
    Splits,
    StorePath,
    Summary,
    load_experiments,
    make_plans,
    with_splits,
)

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
    from kernlearn._console import show_report, write_reports
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
