"""``kernlearn report``: tables of named experiments, or a site of all that a store holds."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
)

if TYPE_CHECKING:
    from kernlearn.experiments.plan import Plan

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
            show_default="'full'; for a site that of each experiment's latest run",
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
    from kernlearn.exceptions import ReportError

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
        plans = make_plans(
            load_experiments(named, profile or "full", splits, option, data_dir),
            data_dir,
            available,
        )
        _report_each(plans, store, output or OUTPUT, summary)
        return
    if splits is not None:
        option = [*option, f"splits={splits}"]
    path = Path(stores[0]) if stores else store
    _report_all(path, output or _SITE, summary, config, profile, option, data_dir)


def _is_store(name: str) -> bool:
    path = Path(name)
    if path.suffix.lower() in _SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def _report_each(plans: "Sequence[Plan]", store: Path, output: Path, summary: Path | None) -> None:
    """Write and show the reports of named experiments."""
    from kernlearn._progress import RunListener
    from kernlearn.experiments import Store

    with Store.existing(store) as opened:
        for plan in plans:
            RunListener().show_report(plan, opened, output, summary)


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
                f"{details['experiment']}: profile {details['profile']}, {details['done']} of "
                f"{details['trials']} trials"
            )
    for one in skipped:
        typer.echo(f"{one.name}: not shown: {one.reason}")
    typer.echo(f"Site: {write_site(reports, output, skipped=skipped)}")
