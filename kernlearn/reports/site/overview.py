"""The experiments of which a store has something."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn import __version__
from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.experiments.config.loading import DEFAULT_PROFILE, load_config
from kernlearn.experiments.engine.plan import Plan, make_plan
from kernlearn.experiments.engine.sources import StoredDataset
from kernlearn.experiments.engine.spec import canonical
from kernlearn.experiments.store.results import Store, utc_now
from kernlearn.reports.site.pages import Around, write_page
from kernlearn.reports.site.rendering import OUTCOMES, address, render, write_assets, writing
from kernlearn.reports.totals import SCORES, Totals, total
from kernlearn.reports.verdicts import VERDICTS
from kernlearn.reports.writing import Report
from kernlearn.resources import shipped

# A profile, and what was set on top of it.
_Way = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Skipped:
    """An experiment of which a store has something that is not shown.

    Attributes
    ----------
    name, reason : str
    """

    name: str
    reason: str


def stored_plans(
    store: Store,
    *,
    configs: Sequence[Path] = (),
    profile: str | None = None,
    settings: Sequence[str] = (),
    data_dir: Path | None = None,
) -> tuple[list[Plan], list[Skipped]]:
    """Plan every experiment that a store has runs of.

    Parameters
    ----------
    store : Store
    configs : sequence of Path
        Configs of one's own; those of other experiments are the shipped ones of their names.
    profile : str, optional
        For all of them; by default that of each experiment's runs under which the store has
        the most trials.
    settings : sequence of str
        As :func:`~kernlearn.experiments.load_config` takes them, for all; by default those of
        the runs, chosen in the same way.
    data_dir : Path, optional
        Where data is looked for first. Of those that are not found the store's trials tell what
        they were; the others are left out.

    Returns
    -------
    plans : list of Plan
    skipped : list of Skipped
        Experiments without a config, or whose config is not what it was; and those of which
        the store has nothing under their profile.

    Raises
    ------
    ConfigError
        If a config of one's own cannot be read.
    ReportError
        If two of them have the same name, or the store has no run of one.
    """
    datasets = store.datasets()
    ran: dict[str, dict[_Way, None]] = {}
    for run in reversed(store.runs()):
        ran.setdefault(run.experiment, {})[run.profile, run.settings] = None
    own = _by_name(configs)
    for name in own:
        if name not in ran:
            there = ", ".join(sorted(ran)) or "none"
            raise ReportError(f"{store.path}: no run of {name}; there are runs of: {there}")
    plans, skipped = [], []
    for name, ways in reversed(ran.items()):
        path = own.get(name, shipped("configs") / f"{name}.yaml")
        if not path.is_file():
            reason = "no config of that name comes with kernlearn; --config FILE names one's own"
            skipped.append(Skipped(name, reason))
            continue
        try:
            plan, n_trials = _fullest(
                store, path, _asked(ways, profile, settings), data_dir, datasets
            )
        except ConfigError as error:
            if name in own:
                raise
            skipped.append(Skipped(name, str(error)))
            continue
        if n_trials:
            plans.append(plan)
        else:
            skipped.append(Skipped(name, _nothing(plan)))
    return plans, skipped


def _asked(ways: Iterable[_Way], profile: str | None, settings: Sequence[str]) -> list[_Way]:
    """Return the ways that fit what is asked for; one that no run had, if that is it."""
    if profile is not None:
        ways = [way for way in ways if way[0] == profile] or [(profile, ())]
    if settings:
        ways = [(way[0], tuple(settings)) for way in ways]
    return list(dict.fromkeys(ways))


def _fullest(
    store: Store,
    path: Path,
    ways: Sequence[_Way],
    data_dir: Path | None,
    datasets: Mapping[str, Sequence[StoredDataset]],
) -> tuple[Plan, int]:
    """Return the plan of which the store has the most trials, of equal ones the first."""
    found, faults = [], []
    for profile, settings in ways:
        try:
            loaded = load_config(path, profile=profile, settings=settings, data_dir=data_dir)
        except ConfigError as error:
            # a setting of then may be none of today's config
            faults.append(error)
            continue
        plan = make_plan(loaded, data_dir=data_dir, available=True, stored=datasets)
        found.append((plan, len(store.statuses(trial.key for trial in plan.trials))))
    if not found:
        raise faults[0]
    return max(found, key=lambda one: one[1])


def _by_name(configs: Sequence[Path]) -> Mapping[str, Path]:
    found: dict[str, Path] = {}
    for path in configs:
        if path.stem in found:
            raise ReportError(
                f"{path}: an experiment is named after its file, as that of {found[path.stem]} is"
            )
        found[path.stem] = path
    return found


def _nothing(plan: Plan) -> str:
    profile = plan.experiment.profile
    reason = f"none of its trials under profile {profile} is in the store"
    if plan.left_out:
        return f"{reason}; data not found here: {', '.join(plan.left_out)}"
    if profile == DEFAULT_PROFILE:
        return f"{reason}; it was run with an older config, or other settings (--option)"
    return f"{reason}; --profile chooses another"


def write_site(
    reports: Sequence[Report], folder: Path, *, skipped: Sequence[Skipped] = ()
) -> Path:
    """Write a static site of several experiments.

    Parameters
    ----------
    reports : sequence of Report
        Each experiment once.
    folder : Path
        Made if it is not there. Gets ``index.html``, a page for each experiment, ``assets/``
        and ``files/<experiment>/``. Other files in it stay.
    skipped : sequence of Skipped
        What the overview names as not shown.

    Returns
    -------
    pathlib.Path
        ``index.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.
    """
    reports = sorted(reports, key=_order)
    index, assets = folder / "index.html", folder / "assets"
    pages = [folder / f"{_file_name(report)}.html" for report in reports]
    links = [(_name(r), address(page, index)) for r, page in zip(reports, pages, strict=True)]
    drawn = False
    for i, (report, page) in enumerate(zip(reports, pages, strict=True)):
        around = Around(
            index.name,
            links[i - 1] if i > 0 else None,
            links[i + 1] if i + 1 < len(links) else None,
        )
        files = folder / "files" / page.stem
        drawn |= write_page(report, page, files=files, assets=assets, around=around)
    with writing(folder):
        write_assets(assets, charts=drawn)
        index.write_text(_overview(reports, links, skipped), encoding="utf-8")
    return index


def _name(report: Report) -> str:
    return report.plan.experiment.name


def _file_name(report: Report) -> str:
    # the overview's own name is taken
    name = _name(report)
    return name if name.lower() != "index" else f"{name}_"


def _order(report: Report) -> tuple[Any, ...]:
    """Sort by the paper's year, chapter and number; what has no place in a paper comes last."""
    source = report.plan.experiment.config.source
    number = re.search(r"(?:tables?|figures?|section) (\d+)(?:\.(\d+))?", source)
    place = [int(n or 0) for n in number.groups()] if number else [0, 0]
    year = re.search(r"\((\d{4})\)", source)
    return (number is None, year[1] if year else "", *place, _name(report))


def _overview(
    reports: Sequence[Report], links: Sequence[tuple[str, str]], skipped: Sequence[Skipped]
) -> str:
    totals = total(r.measured for r in reports)
    times = sorted(time for r in reports for time in r.details["measured"])
    claims = [
        (name, href, claim)
        for report, (name, href) in zip(reports, links, strict=True)
        for claim in report.claims
    ]
    return render(
        "overview.html",
        rows=[_row(r, href, totals) for r, (_, href) in zip(reports, links, strict=True)],
        overall=totals.overall().to_dict("records"),
        claims=claims,
        in_words=totals.in_words(),
        done=sum(r.details["done"] for r in reports),
        trials=sum(r.details["trials"] for r in reports),
        seconds=sum(r.details["trial_seconds"] for r in reports),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        machines=_machines(reports),
        skipped=skipped,
        assets="assets",
        version=__version__,
        written=utc_now(),
    )


def _row(report: Report, href: str, totals: Totals) -> dict[str, Any]:
    name, details = _name(report), report.details
    numbers, claims = totals.numbers, totals.claims
    scores = numbers[(numbers["experiment"] == name) & (numbers["kind"] == SCORES)]
    outcomes = claims[claims["experiment"] == name]
    return {
        "name": name,
        "href": href,
        "title": details["title"],
        "source": details["source"],
        "profile": report.run_as,
        "done": details["done"],
        "trials": details["trials"],
        "seconds": details["trial_seconds"],
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "claims": {outcome: int(outcomes[outcome].sum()) for outcome in OUTCOMES},
    }


def _machines(reports: Sequence[Report]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return each environment once, with the experiments that were measured in it."""
    found: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            found.setdefault(canonical(machine), (machine, []))[1].append(_name(report))
    return list(found.values())
