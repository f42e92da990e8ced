"""The experiments of which a store has something."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.experiments.loading import DEFAULT_PROFILE, load_config
from kernlearn.experiments.plan import Plan, make_plan
from kernlearn.experiments.sources import StoredDataset
from kernlearn.experiments.store import Store
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
