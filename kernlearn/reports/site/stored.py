"""The experiments of which a store has something."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.experiments.loading import DEFAULT_PROFILE, load_config
from kernlearn.experiments.plan import Plan, make_plan
from kernlearn.experiments.store import Store
from kernlearn.resources import shipped


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
        For all of them; by default that of each experiment's latest run.
    settings : sequence of str
        As :func:`~kernlearn.experiments.load_config` takes them.
    data_dir : Path, optional
        Where data is looked for first. Data sets that are not found are left out.

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
    latest = {run.experiment: run.profile for run in store.runs()}
    own = _by_name(configs)
    for name in own:
        if name not in latest:
            there = ", ".join(sorted(latest)) or "none"
            raise ReportError(f"{store.path}: no run of {name}; there are runs of: {there}")
    plans, skipped = [], []
    for name, last in latest.items():
        path = own.get(name, shipped("configs") / f"{name}.yaml")
        if not path.is_file():
            reason = "no config of that name comes with kernlearn; --config FILE names one's own"
            skipped.append(Skipped(name, reason))
            continue
        try:
            loaded = load_config(
                path, profile=profile or last, settings=settings, data_dir=data_dir
            )
        except ConfigError as error:
            if name in own:
                raise
            skipped.append(Skipped(name, str(error)))
            continue
        plan = make_plan(loaded, data_dir=data_dir, available=True)
        if store.statuses(trial.key for trial in plan.trials):
            plans.append(plan)
        else:
            skipped.append(Skipped(name, _nothing(plan)))
    return plans, skipped


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
        return f"{reason}; it was run with other settings (--option) or an older config"
    return f"{reason}; --profile chooses another"
