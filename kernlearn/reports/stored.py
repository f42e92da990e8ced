"""Plans of all experiments that a store has results of."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernlearn.config.read import load_config, names_files, shipped_configs
from kernlearn.engine.plan import Plan, make_plan
from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.store import Store

# A profile, and the settings on top of it.
_Way = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Skipped:
    """An experiment with results in a store that is not shown, and the reason."""

    name: str
    reason: str


#: Why an experiment without a config is not shown.
NO_CONFIG = "kernlearn has no config of that name; --config FILE gives one"


def configs_by_name(configs: Sequence[Path]) -> dict[str, Path]:
    """Return user-defined configs by the experiments that are named after them."""
    own: dict[str, Path] = {}
    for path in configs:
        if path.stem in own:
            raise ReportError(
                f"{path}: an experiment is named after its file, and {own[path.stem]} has the "
                "same name"
            )
        own[path.stem] = path
    return own


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
        User-defined configs; for other experiments the shipped config of the same name is used.
        A store says what it contains, and may come from anyone: it names no other config, and
        its runs' settings name no plug-ins and no files of data.
    profile : str, optional
        Profile of all experiments; by default, for each the profile of its runs with the most
        trials in the store.
    settings : sequence of str
        Settings of all experiments, as for :func:`~kernlearn.config.load_config`; by
        default those of the runs, chosen in the same way.
    data_dir : Path, optional
        Where data is searched first. Data sets that are not found are described by the
        trials in the store, or else omitted.

    Returns
    -------
    plans : list of Plan
    skipped : list of Skipped
        Experiments without a config or whose config has changed, and those without results
        under their profile.

    Raises
    ------
    ConfigError
        If a user-defined config cannot be read.
    ReportError
        If two of them have the same name, or the store has no run of one.
    """
    ran: dict[str, dict[_Way, None]] = {}
    for name, counts in store.experiments().items():
        ran[name] = dict.fromkeys(counts)
    own = configs_by_name(configs)
    if absent := [name for name in own if name not in ran]:
        there = ", ".join(sorted(ran)) or "none"
        raise ReportError(f"{store.path}: no run of {absent[0]}; there are runs of: {there}")
    coming = shipped_configs()
    plans, skipped = [], []
    for name, found in ran.items():
        ways: list[_Way] = list(found)
        if profile is not None:
            ways = [way for way in ways if way[0] == profile] or [(profile, ())]
        if settings:
            ways = list(dict.fromkeys((way[0], tuple(settings)) for way in ways))
        if not settings:
            ways = [way for way in ways if not any(map(names_files, way[1]))]
        if not ways:
            reason = (
                "its runs set `plugins` or `file`, files of code or data that a store may not "
                "name; give the same setting by --option"
            )
            skipped.append(Skipped(name, reason))
            continue
        config = own.get(name) or coming.get(name)
        if config is None:
            skipped.append(Skipped(name, NO_CONFIG))
            continue
        try:
            plan, n_trials = _fullest(store, config, ways, data_dir)
        except ConfigError as error:
            if name in own:
                raise
            skipped.append(Skipped(name, str(error)))
            continue
        if n_trials:
            plans.append(plan)
        else:
            reason = "it was run with an older config, other settings (--option) or --profile"
            if plan.left_out:
                reason = f"data not found here: {', '.join(plan.left_out)}"
            none = f"the store has none of its trials under profile {plan.experiment.profile}"
            skipped.append(Skipped(name, f"{none}; {reason}"))
    return plans, skipped


def _fullest(
    store: Store,
    path: Path,
    ways: Sequence[_Way],
    data_dir: Path | None,
) -> tuple[Plan, int]:
    """Return the plan with the most trials in the store, and their number.

    Of equals the one with the fewest settings, such as the experiment itself beside alternatives
    to its choices; then the latest.
    """
    plans, fault = [], None
    for profile, settings in ways:
        try:
            loaded = load_config(path, profile=profile, settings=settings, data_dir=data_dir)
        except ConfigError as error:
            # settings of an earlier run may not fit the present config
            fault = fault or error
        else:
            plan = make_plan(loaded, data_dir=data_dir, available=True)
            plans.append((plan, len(store.get(trial.key for trial in plan.trials))))
    if fault and not plans:
        raise fault
    return max(plans, key=lambda plan: (plan[1], -len(plan[0].experiment.settings)))
