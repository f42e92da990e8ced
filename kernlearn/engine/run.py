"""Runs of plans: the trials that a store lacks; each is stored as it ends."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from typing import Any

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import SHARED
from kernlearn.config.plan import Choice, Plan
from kernlearn.config.trial import Trial, trial_keys
from kernlearn.config.values import LABELS, cell_name
from kernlearn.engine.executors import Executor, InProcess, Job
from kernlearn.engine.machine import Interrupts
from kernlearn.exceptions import ExecutorError
from kernlearn.store import Row, State, Store

#: Rows that methods are tried on before a run.
FEW = 50


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


def try_methods(plan: Plan) -> dict[str, str]:
    """Fit each method once on few rows of each data set; return the errors of those that fail.

    A method that fails on 50 rows, which may be too few for it, is tried on all rows of a split.
    Of values to select the first is taken.
    """
    from kernlearn.engine.trial import execute

    failures, tried = {}, set[tuple[Any, ...]]()
    for trial in plan.trials:
        place = tuple(trial.labels[label] for label in LABELS)
        if place in tried:
            continue
        tried.add(place)
        method, protocol = trial.spec.method, trial.spec.protocol
        # a choice from one value, so that its score is tried too
        method = replace(method, select={name: one[:1] for name, one in method.select.items()})
        few = protocol.model_copy(update={"max_train": FEW, "max_test": FEW})
        for one in (few, protocol):
            spec = replace(trial.spec, method=method, protocol=one)
            (row,) = execute([replace(trial, spec=spec)])
            if row.done:
                break
        else:
            failures[cell_name(LABELS, place, " · ")] = str(row.error)
    return failures


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
