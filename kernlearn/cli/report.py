"""The commands ``report`` and ``check``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from kernlearn import engine, reports
from kernlearn import store as stores
from kernlearn.cli import options
from kernlearn.cli.tables import show_report
from kernlearn.exceptions import KernlearnError, ReportError, SummaryError
from kernlearn.reports import site

#: What is reported: a store, or experiments of the one given by ``--store``.
StoreOrConfigs = Annotated[
    list[str] | None,
    Argument(
        metavar="STORE | CONFIG",
        help="A results store, or config files (YAML) or names of shipped configs.",
        show_default="the store given by --store",
    ),
]

_SITE = Path("results/site")
_SUFFIXES = (".sqlite", ".sqlite3", ".db")
_SQLITE = b"SQLite format 3\0"


def report(
    what: StoreOrConfigs = None,
    profile: Annotated[
        str | None,
        Option(
            help="'full', or a profile that the config defines.",
            show_default="full; for a site, the profile with the most trials of each experiment",
        ),
    ] = None,
    config: Annotated[
        list[Path],
        Option(metavar="FILE", help="Config of your own to include in the site. Can be repeated."),
    ] = [],
    splits: options.Splits = None,
    option: options.Settings = [],
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
    output: Annotated[
        Path | None,
        Option(
            help="Folder for the site, or for reports, with a subfolder per experiment.",
            show_default=f"{_SITE}, or {options.OUTPUT}",
        ),
    ] = None,
    summary: options.Summary = None,
    available: options.Available = False,
    summaries: Annotated[
        Path | None,
        Option(
            "--from",
            metavar="FOLDER",
            help="Folder of summaries, such as results/measured, to report instead of a store.",
        ),
    ] = None,
) -> None:
    """Report the results in a store, without running anything.

    Without a CONFIG, write a site of all experiments in the store: an overview and a page per
    experiment, to be opened without a web server. With CONFIGs, write and show their reports.

    With --from, the site is written from summaries alone, which need neither store nor data; with
    CONFIGs of these.

    \b
    Examples:
      kernlearn report mine.yaml
      kernlearn report results/runs/store.sqlite --output site
      kernlearn report --from results/measured --output site
    """  # noqa: D301
    names = what or []
    if summaries is not None:
        given = {
            "--profile": profile,
            "--splits": splits,
            "--option": option,
            "--summary": summary,
            "--available": available,
            "--data-dir": data_dir,
        }
        if unfit := [name for name, value in given.items() if value]:
            raise ReportError(
                f"{unfit[0]}: belongs to the report of a store; summaries hold what was measured"
            )
        _write_site_of_summaries(summaries, names, config, output or _SITE)
        return
    stores = [name for name in names if is_store(name)]
    if stores and len(names) > 1:
        raise ReportError(
            f"{stores[0]}: a store stands alone; `kernlearn report CONFIG... --store "
            f"{stores[0]}` reports some experiments of it"
        )
    if stores or not names:
        path, settings = Path(stores[0]) if stores else store, options.with_splits(option, splits)
        with options.opened_store(path) as opened:
            plans, skipped = site.stored_plans(
                opened, configs=config, profile=profile, settings=settings, data_dir=data_dir
            )
            if not plans:
                reasons = "".join(f"\n  {one.name}: {one.reason}" for one in skipped)
                raise ReportError(f"{path}: nothing to show{reasons or '; it has no runs'}")
            _write_site(plans, skipped, opened, output or _SITE, summary)
        return
    if config:
        raise ReportError(
            f"--config {config[0]}: belongs to the site of a store; name it without --config"
        )
    loaded = options.load_experiments(names, profile or "full", splits, option, data_dir)
    with options.opened_store(store) as opened:
        for plan in options.make_plans(loaded, data_dir, available):
            show_report(*write_reports(plan, opened, output or options.OUTPUT, summary))


def write_reports(
    plan: "engine.Plan", store: "stores.Store", output: Path, summary: Path | None
) -> "tuple[reports.Report, Path]":
    """Write the page of an experiment and, if a folder for it is given, its summary.

    What a profile gives has a folder of its own, so that it never replaces the full report. A
    page that would be the same as before is not written again.
    """
    from kernlearn.reports import written

    report, experiment = reports.assemble(plan, store), plan.experiment
    profile = f"-{experiment.profile}" if experiment.indicative else ""
    folder = output / f"{experiment.name}{profile}"
    page = folder / "report.html"
    if not written.is_written(plan, store, page):
        reports.write_report(report, folder)
        written.note_written(plan, store, page)
    if summary is not None:
        reports.write_summary(report, summary)
    return report, page


def is_store(name: str) -> bool:
    """Whether a name is that of a results store, not of a config."""
    path = Path(name)
    if path.suffix.lower() in _SUFFIXES:
        return True
    try:
        if not path.is_file():  # a named pipe waits for a writer
            return False
        with path.open("rb") as file:
            return file.read(len(_SQLITE)) == _SQLITE
    except (OSError, ValueError):
        return False


def _write_site(
    plans: "list[engine.Plan]",
    skipped: "list[site.Skipped]",
    store: "stores.Store",
    output: Path,
    summary: Path | None,
) -> None:
    """Write a site of all experiments in a store."""
    from kernlearn.reports.overview import write_map

    index, written = site.publish(plans, store, output, skipped=skipped)
    if summary is not None:
        for report in written:
            reports.write_summary(report, summary)
        write_map((report.measured for report in written), summary)
    _show_site(index, written, skipped)


def _write_site_of_summaries(
    folder: Path, names: Sequence[str], configs: Sequence[Path], output: Path
) -> None:
    """Write a site of the summaries in a folder, or of those of some experiments."""
    from kernlearn.config.read import find_config, shipped_configs
    from kernlearn.reports.summarised import summarised_reports

    named = [find_config(name) for name in names]
    own = [path for path in named if path not in shipped_configs().values()]
    found, skipped = summarised_reports(
        folder, configs=[*own, *configs], names={path.stem for path in named}
    )
    if not found:
        reasons = "".join(f"\n  {one.name}: {one.reason}" for one in skipped)
        raise ReportError(f"{folder}: nothing to show{reasons or '; it has no summaries'}")
    _show_site(site.write_site(found, output, skipped=skipped, jobs=None), found, skipped)


def _show_site(
    index: Path, written: "Sequence[reports.Report]", skipped: "Sequence[site.Skipped]"
) -> None:
    """Print what a site shows, and where it is."""
    from kernlearn.reports.totals import total

    for report in written:
        name, done, trials = (report.details[k] for k in ("experiment", "done", "trials"))
        typer.echo(f"{name}: profile {report.run_as}, {done} of {trials} trials")
    for one in skipped:
        typer.echo(f"{one.name}: not shown: {one.reason}")
    for sentence in total(report.measured for report in written).in_words():
        typer.echo(sentence)
    typer.echo(f"Site: {index}")


def check(
    configs: options.Configs,
    against: Annotated[
        Path, Option(help="Folder of the baseline, written by `kernlearn run --summary`.")
    ] = Path("results/baseline"),
    profile: Annotated[str, Option(help="Profile of the baseline.")] = "quick",
    option: options.Settings = [],
    junit: Annotated[
        Path | None, Option(help="Also write a JUnit XML file with a test case per cell.")
    ] = None,
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
    available: options.Available = False,
) -> None:
    """Compare the results in a store with a baseline.

    The exit code is 1 if a number moved further than its tolerance or a cell is missing on
    either side. The tolerance is the config's `drift` for the metric; by default 0.02 for an
    accuracy, 2 points for an error in per cent and 2 % for other metrics, or half a standard
    deviation over the splits if that is more. Times are not compared.

    \b
    Examples:
      kernlearn check table3_1 --against results/baseline
    """  # noqa: D301
    from kernlearn.reports import check as rules

    loaded = options.load_experiments(configs, profile, None, option, data_dir)
    checks, errors = {}, []
    with options.opened_store(store) as opened:
        for plan in options.make_plans(loaded, data_dir, available):
            try:
                checks[plan.experiment.name] = rules.check_plan(plan, opened, against)
            except KernlearnError as error:
                errors.append(str(error))
    failed = False
    for name, frame in checks.items():
        counts = frame["outcome"].value_counts()
        outcomes = ", ".join(f"{counts[o]} {o}" for o in rules.OUTCOMES if o in counts)
        typer.echo(f"{name}: {len(frame)} cells: {outcomes}")
        for _, row in frame[frame["outcome"].isin(rules.FAILURES)].iterrows():
            failed = True
            typer.echo(f"  {row['outcome']}: {rules.cell_name(row)}: {rules.cell_text(row)}")
    if junit is not None:
        rules.write_junit(checks, junit)
    if errors:
        raise SummaryError("\n".join(errors))
    if failed:
        typer.echo("If this is intended, `kernlearn run … --summary` writes a new baseline.")
        raise typer.Exit(1)
