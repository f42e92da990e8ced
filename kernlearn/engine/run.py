"""Runs of plans: which trials, in which order, until when; each is stored as it ends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

from kernlearn.checks import suggestion
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import SHARED
from kernlearn.config.spec import Trial, trial_keys
from kernlearn.engine.executors import Executor, InProcess, Job
from kernlearn.engine.machine import Interrupts
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import ExecutorError, SelectionError
from kernlearn.store import Row, State, Store


@dataclass(frozen=True)
class Choice:
    """Which trials to run.

    Attributes
    ----------
    only : tuple of dict
        If not empty, only trials that match one of these mappings of labels to values, as text;
        from :func:`parse_only`.
    retry_failed : bool
        Also those that failed before.
    force : bool
        Also those that are done.
    """

    only: tuple[Mapping[str, Sequence[str]], ...] = ()
    retry_failed: bool = False
    force: bool = False

    def of(self, plan: Plan) -> list[Trial]:
        """Return the trials of a plan that ``only`` allows.

        Raises
        ------
        SelectionError
            If ``only`` names what is not in the plan, or a combination that is not.
        """
        if not self.only:
            return plan.trials
        trials = [trial for trial in plan.trials if is_allowed(_numbered(trial), self.only)]
        _refuse_unknown(plan, self.only)
        if not trials:
            raise SelectionError(f"{plan.experiment.name}: --only leaves no trial")
        return trials

    def due(self, plan: Plan, known: Mapping[str, State]) -> list[Trial]:
        """Return the trials that a run carries out, of which a store has some."""
        kept = {} if self.force else known
        if self.retry_failed:
            kept = {key: state for key, state in kept.items() if state.done}
        return [trial for trial in self.of(plan) if trial.key not in kept]

    def datasets(self, config: ExperimentConfig) -> list[str]:
        """Return the labels of the data sets that ``only`` allows: others need not be here."""
        return [k for k in config.datasets if is_allowed({"dataset": k}, self.only, lacking=True)]


def sharing_training(trials: Sequence[Trial]) -> list[Job]:
    """Return trials in jobs: those that differ in a parameter of the choice alone are one."""
    jobs: dict[str, list[Trial]] = {}
    for trial in trials:
        method, key = trial.spec.method, trial.key
        if (names := SHARED.get(method.name)) and not method.select:
            rest = {name: value for name, value in method.parameters.items() if name not in names}
            spec = replace(trial.spec, method=replace(method, parameters=rest))
            (key,) = trial_keys(spec, [trial.split])
        jobs.setdefault(key, []).append(trial)
    return [tuple(job) for job in jobs.values()]


def parse_only(text: str) -> dict[str, tuple[str, ...]]:
    """Parse text such as ``dataset=letter,method=FTUNE-S``.

    A label that is given more than once may have any of its values. A part without an equals sign
    belongs to the value before it, as in ``method=RF, tuned solver``.

    Raises
    ------
    SelectionError
        If the first part has no equals sign.
    """
    match: dict[str, tuple[str, ...]] = {}
    last = ""
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals and key.strip():
            last = key.strip()
            match[last] = (*match.get(last, ()), value.strip())
        elif last and part.strip() and not equals:
            *before, value = match[last]
            match[last] = (*before, f"{value},{part.rstrip()}")
        else:
            raise SelectionError(
                f"--only {text!r}: expected LABEL=VALUE,... such as dataset=letter,method=K"
            )
    return match


def is_allowed(
    labels: Mapping[str, Any], only: Sequence[Mapping[str, Sequence[str]]], lacking: bool = False
) -> bool:
    """Whether labels match one of several mappings to values as text, or there is none.

    ``lacking`` tells whether a label that does not apply has any value, or no value.
    """

    def has(label: str, values: Sequence[str]) -> bool:
        value = labels.get(label)
        return lacking if value is None else str(value) in values

    return not only or any(all(has(*one) for one in match.items()) for match in only)


def _numbered(trial: Trial) -> dict[str, Any]:
    """Return the labels of a trial, with the number of its split."""
    return {**trial.labels, "split": trial.split + 1}


def _refuse_unknown(plan: Plan, only: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Refuse labels and values that no trial of a plan has."""
    labels = [one for trial in plan.trials for one in _numbered(trial).items()]
    there = {(label, str(value)) for label, value in labels if value is not None}
    there |= {("dataset", name) for name in plan.experiment.config.datasets}
    for label, value in [(k, value) for match in only for k, vs in match.items() for value in vs]:
        known = {value for name, value in there if name == label}
        if value not in known and (plan.trials or label == "dataset"):
            what = f"no such value{suggestion(value, known)}"
            if not known:
                what = f"no label {label!r}{suggestion(label, {name for name, _ in there})}"
            raise SelectionError(f"--only {label}={value}: {what}")
    if not plan.trials:
        missing = ", ".join(plan.left_out)
        raise SelectionError(f"{plan.experiment.name}: no trial, data not found: {missing}")


def duration(seconds: float) -> str:
    """Write seconds as text such as ``"2 h 05 min"`` or ``"40 s"``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


@dataclass(frozen=True)
class RunSummary:
    """The numbers of trials of a plan by what happened to them.

    Attributes
    ----------
    total, cached : int
        All trials; those that were in the store.
    done, failed : int
        Those that succeeded and failed in this run.
    errors : Counter of str
        The errors of all that failed, now or in an earlier run.
    """

    total: int
    cached: int
    done: int
    failed: int
    errors: Counter[str | None]


class Listener:
    """Base class of listeners to a run; its methods do nothing."""

    def run_planned(self, plan: Plan, trials: list[Trial], known: Mapping[str, State]) -> None:
        """Receive the trials to run, and the states of those of the plan that the store has."""

    def run_started(self, slots: int) -> None:
        """Receive the number of trials at a time; the executor is ready."""

    def trial_done(self, trial: Trial, row: Row) -> None:
        """Receive a trial and its row, which is in the store."""

    def run_ended(self) -> None:
        """Learn that the run has ended, also by an error or an interruption."""


_NO_CHOICE = Choice()


def run_plan(
    plan: Plan,
    store: Store,
    *,
    executor: Executor | None = None,
    choice: Choice = _NO_CHOICE,
    allow_contention: bool = False,
    listener: Listener | None = None,
) -> RunSummary:
    """Run the trials of a plan that a store lacks, in the order of its table.

    No other run may write to the store at the same time. Ctrl-C ends the run; the trials that have
    ended are in the store.

    Parameters
    ----------
    plan : Plan
    store : Store
        Receives every finished trial at once.
    executor : Executor, optional
        By default trials run in this process, which a method may end.
    choice : Choice, optional
        Which trials to run.
    allow_contention : bool, default=False
        Measure times even if trials share cores.
    listener : Listener, optional

    Returns
    -------
    RunSummary

    Raises
    ------
    StoreError
        If the store cannot be written, another run is writing to it, or it is lost.
    ExecutorError
        If the executor does not support what is asked.
    SelectionError
        If the choice names nothing in the plan.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     first, second = run_plan(plan, store), run_plan(plan, store)
    >>> first.done, second.done, second.cached
    (4, 0, 4)
    """
    listener, experiment = listener or Listener(), plan.experiment
    keys = [trial.key for trial in plan.trials]
    known = store.states(keys)
    todo = choice.due(plan, known)
    done, errors = 0, Counter[str | None]()
    with ExitStack() as stack:
        if todo:
            stack.enter_context(store.lock())
            known = store.states(keys)  # another run may have ended meanwhile
            todo = choice.due(plan, known)
        listener.run_planned(plan, todo, known)
        if todo:
            interrupts = stack.enter_context(Interrupts.caught())
            if executor is None:
                executor = stack.enter_context(closing(InProcess()))
            if not allow_contention:
                check_cores(experiment.config, executor)
            listener.run_started(executor.slots)
            stack.callback(listener.run_ended)
            results = stack.enter_context(closing(executor.run(sharing_training(todo))))  # type: ignore[type-var]
            for trial, row in results:
                with interrupts.held():
                    if interrupts.asked and not row.done:
                        continue  # the signal may be what ended it
                    row = replace(row, profile=experiment.profile, settings=experiment.settings)
                    store.put(replace(row, machine={**row.machine, **executor.about}))
                    done += row.done
                    errors.update([row.error] * (not row.done))
                    listener.trial_done(trial, row)
    before = Counter(known[key].error for key in known.keys() - {trial.key for trial in todo})
    cached, failed = before.pop(None, 0), errors.total()
    return RunSummary(len(keys), cached, done, failed, errors + before)


def check_cores(config: ExperimentConfig, executor: Executor) -> None:
    """Refuse to measure times, or metrics derived from them, while trials share cores.

    Raises
    ------
    ExecutorError
        If the experiment reports times and the trials need more cores than there are.
    """
    threads = config.protocol.threads
    for place, slots, cores in executor.places if config.shows_times else ():
        # a single trial has the machine to itself, whatever its threads
        if slots > 1 and slots * threads > cores:
            raise ExecutorError(
                f"{config.title}: reports times, and {slots} trials at a time of {threads} "
                f"thread(s) each would share the {cores} core(s) of {place}; run fewer at a "
                "time, or measure all the same with --allow-contention"
            )
