"""Pages that open from disk are written: of one experiment, or a site of several."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kernlearn.config.model import LoadedExperiment
from kernlearn.engine.machine import end_with_parent, shielded, usable_cores
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import ReportError
from kernlearn.reports import written
from kernlearn.reports.report import Report, assemble
from kernlearn.reports.site.environment import Link
from kernlearn.reports.site.files import address, write_assets
from kernlearn.reports.site.index import overview
from kernlearn.reports.site.pages import Written, write_page
from kernlearn.reports.stored import Skipped
from kernlearn.store import Store

_T = TypeVar("_T")


def write_report(report: Report, folder: Path) -> Path:
    """Write the page of one experiment, with all its files, into a folder.

    Parameters
    ----------
    report : Report
    folder : Path
        Created if it does not exist. Gets ``report.html`` with ``assets/``; the summary's two
        files; ``splits.csv``; ``table.csv``, ``.md`` and ``.tex`` (numbered if there are
        several); and ``.svg`` and ``.pdf`` of every chart.

    Returns
    -------
    pathlib.Path
        ``report.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, write_report
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     page = write_report(assemble(plan, store), Path(folder) / "report")
    ...     tables = sorted(path.name for path in page.parent.glob("table.*"))
    >>> page.name, tables
    ('report.html', ['table.csv', 'table.md', 'table.tex'])
    """
    page = folder / "report.html"
    with _writing(folder):
        made = write_page(report, page, folder, folder / "assets")
        write_assets(folder / "assets", charts=made.has_charts)
    return page


def write_site(
    reports: Sequence[Report],
    folder: Path,
    *,
    skipped: Sequence[Skipped] = (),
    jobs: int | None = 1,
) -> Path:
    """Write a static site of several experiments.

    Parameters
    ----------
    reports : sequence of Report
        Each experiment once.
    folder : Path
        Created if it does not exist. Gets ``index.html``, a page for each experiment,
        ``assets/`` and ``files/<experiment>/``. Other files in it are kept.
    skipped : sequence of Skipped
        Experiments that the overview lists as not shown.
    jobs : int, optional
        Number of processes that make pages; None for that of the usable cores.

    Returns
    -------
    pathlib.Path
        ``index.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, write_site
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     page = write_site([assemble(plan, store)], Path(folder) / "site")
    ...     files = sorted(path.name for path in page.parent.iterdir())
    >>> page.name, files
    ('index.html', ['assets', 'demo_ordinal.html', 'files', 'index.html'])
    """
    reports = sorted(reports, key=lambda report: _order(report.plan.experiment))
    places = _places([report.plan.experiment for report in reports], folder)
    with _writing(folder):
        made = _each(_write, [*zip(reports, places, strict=True)], _has_plugins(reports), jobs)
        return _finish(reports, places, made, folder, skipped)


def publish(
    plans: Sequence[Plan],
    store: Store,
    folder: Path,
    *,
    skipped: Sequence[Skipped] = (),
    jobs: int | None = None,
) -> tuple[Path, list[Report]]:
    """Assemble the reports of several plans and write their site, where anything has changed.

    Pages are made in several processes. Those that would be the same as before stay as they are.

    Parameters
    ----------
    plans : sequence of Plan
        Each experiment once.
    store : Store
    folder : Path
        As for :func:`write_site`.
    skipped : sequence of Skipped
        Experiments that the overview lists as not shown.
    jobs : int, optional
        Number of processes, by default that of the usable cores.

    Returns
    -------
    index : pathlib.Path
        ``index.html``
    reports : list of Report
        In the order of ``plans``, without runs and tables.

    Raises
    ------
    ReportError
        If something cannot be written.
    """
    ordered = sorted(plans, key=lambda plan: _order(plan.experiment))
    places = _places([plan.experiment for plan in ordered], folder)
    kept: dict[str, written.Kept] = {}
    with _writing(folder):
        changed = []
        for plan, place in zip(ordered, places, strict=True):
            found = written.kept(plan, store, place.page, place.around)
            if found is None:
                changed.append((plan, place))
            else:
                kept[plan.experiment.name] = found
        for (plan, _), made in zip(changed, _made(changed, store, jobs), strict=True):
            kept[plan.experiment.name] = made
        reports = {p.experiment.name: kept[p.experiment.name].report(p) for p in ordered}
        pages = [
            Written(one.has_charts, frozenset(one.addresses))
            for one in (kept[plan.experiment.name] for plan in ordered)
        ]
        index = _finish([*reports.values()], places, pages, folder, skipped)
    return index, [reports[plan.experiment.name] for plan in plans]


@dataclass(frozen=True)
class _Place:
    """Where the page of an experiment and its files are in a site, and the pages beside it."""

    page: Path
    files: Path
    assets: Path
    link: Link
    around: tuple[Link | None, Link | None]


def _places(experiments: Sequence[LoadedExperiment], folder: Path) -> list[_Place]:
    names = [experiment.name for experiment in experiments]
    # the name of the overview is taken
    stems = [f"{name}_" if name.lower() == "index" else name for name in names]
    pages = [folder / f"{stem}.html" for stem in stems]
    index = folder / "index.html"
    links = [(name, address(page, index)) for name, page in zip(names, pages, strict=True)]
    neighbours = zip([None, *links], [*links[1:], None], strict=False)
    return [
        _Place(page, folder / "files" / page.stem, folder / "assets", link, around)
        for page, link, around in zip(pages, links, neighbours, strict=False)
    ]


def _made(
    changed: Sequence[tuple[Plan, _Place]], store: Store, jobs: int | None
) -> Sequence[written.Kept]:
    """Make pages, in processes of their own if there are several."""
    plugins = any(plan.experiment.plugins for plan, _ in changed)
    if plugins or _processes(jobs, len(changed)) < 2:
        return [_make(plan, store, place) for plan, place in changed]
    # the longest first, or they would be waited for
    order = sorted(range(len(changed)), key=lambda i: -len(changed[i][0].trials))
    first = [(changed[i][0], store.path, changed[i][1]) for i in order]
    found = dict(zip(order, _each(_make_apart, first, False, jobs), strict=True))
    return [found[i] for i in range(len(changed))]


def _has_plugins(reports: Sequence[Report]) -> bool:
    return any(report.plan.experiment.plugins for report in reports)


def _processes(jobs: int | None, n_pages: int) -> int:
    return min(jobs or usable_cores(), n_pages)


def _each(
    make: Callable[..., _T], pages: Sequence[tuple[Any, ...]], plugins: bool, jobs: int | None
) -> list[_T]:
    """Call a function with the arguments of each page, in several processes.

    What a plug-in registers is known in this process alone.
    """
    jobs = _processes(jobs, len(pages))
    if plugins or jobs < 2:
        return [make(*arguments) for arguments in pages]
    from loky import ProcessPoolExecutor

    pool = ProcessPoolExecutor(jobs, initializer=end_with_parent)
    try:
        with shielded():
            futures = [pool.submit(make, *arguments) for arguments in pages]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(kill_workers=True)


def _make_apart(plan: Plan, path: Path, place: _Place) -> written.Kept:
    with Store(path, read_only=True) as store:
        return _make(plan, store, place)


def _make(plan: Plan, store: Store, place: _Place) -> written.Kept:
    report = assemble(plan, store)
    made = _write(report, place)
    kept = written.Kept.of(report, made.has_charts, made.addresses)
    files = [place.page, *(file for file in place.files.rglob("*") if file.is_file())]
    written.keep(kept, plan, store, place.page, files, place.around)
    return kept


def _write(report: Report, place: _Place) -> Written:
    return write_page(report, place.page, place.files, place.assets, place.around)


def _finish(
    reports: Sequence[Report],
    places: Sequence[_Place],
    made: Sequence[Written],
    folder: Path,
    skipped: Sequence[Skipped],
) -> Path:
    """Write what all pages share, and the overview."""
    index = folder / "index.html"
    write_assets(folder / "assets", charts=any(page.has_charts for page in made))
    links = [place.link for place in places]
    index.write_text(overview(reports, links, made, skipped), encoding="utf-8")
    return index


def _order(experiment: LoadedExperiment) -> tuple[Any, ...]:
    """Sort by the paper's year, chapter and number; experiments without them come last."""
    source = experiment.config.source
    number = re.search(r"(?:tables?|figures?|section) (\d+)(?:\.(\d+))?", source)
    place = [int(n or 0) for n in number.groups()] if number else [0, 0]
    year = re.search(r"\((\d{4})\)", source)
    return (number is None, year[1] if year else "", *place, experiment.name)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise a ReportError with one message in place of an OSError."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise ReportError(f"{place}: cannot be written: {error.strerror or error}") from None
