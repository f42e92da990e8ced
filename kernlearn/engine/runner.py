"""Runs of plans: trials are executed and stored one by one, and signals stop a run cleanly."""

from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.spec import Trial
from kernlearn.engine import environment, selection
from kernlearn.engine.ahead import OneByOne
from kernlearn.engine.interrupts import Interrupts
from kernlearn.engine.local import Executor, InProcess, Limits, Processes
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import ExecutorError
from kernlearn.store import Row, Store

_DEFAULT_CHOICE = selection.Choice()


@dataclass(frozen=True)
class RunSummary:
    """The numbers of trials of a plan by what happened to them.

    Attributes
    ----------
    total, cached : int
        All trials; those that were in the store.
    done, failed : int
        Those that succeeded and failed in this run.
    failed_before : int
        Those that failed in an earlier run and were not repeated.
    """

    total: int
    cached: int
    done: int
    failed: int
    failed_before: int


class Listener:
    """Base class of what follows a run; its methods do nothing."""

    def run_planned(
        self, plan: Plan, trials: list[Trial], states: Mapping[str, selection.State]
    ) -> None:
        """Receive the trials to run, and the states of all trials of the plan."""

    def run_started(self, trials: list[Trial], estimates: selection.Estimates, slots: int) -> None:
        """Receive the estimates and the number of trials in parallel; the executor is ready."""

    def trial_started(self, trial: Trial) -> None:
        """Receive a trial that a process takes up."""

    def trial_done(self, trial: Trial, result: Row) -> None:
        """Receive a trial and its result, which is in the store."""

    def run_ended(self) -> None:
        """Learn that the run has ended, also by an error or an interruption."""


def run_plan(
    plan: Plan,
    store: Store,
    *,
    data_dir: Path | None = None,
    executor: Executor | None = None,
    choice: selection.Choice = _DEFAULT_CHOICE,
    allow_contention: bool = False,
    listener: Listener | None = None,
) -> RunSummary:
    """Run the trials of a plan that a store lacks.

    Rows of the table that need the least time come first; where several trials run at a time,
    those that take longest. No other run may write to the store at the same time.

    Parameters
    ----------
    plan : Plan
    store : Store
        Receives every finished trial at once.
    data_dir : Path, optional
        Folder that the default executor searches for data first.
    executor : Executor, optional
        By default trials run in this process.
    choice : Choice, optional
        Which trials to run in addition to the new ones.
    allow_contention : bool, default=False
        Measure times even if trials share cores.
    listener : Listener, optional

    Returns
    -------
    RunSummary

    Raises
    ------
    StoreError
        If the store cannot be written, or another run is writing to it.
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
    listener = listener or Listener()
    experiment = plan.experiment
    states = selection.trial_states(plan, store)
    todo = selection.chosen(plan, states, choice)
    estimates = selection.Estimates.of(plan, store) if todo else selection.Estimates()
    slots = executor.slots if executor else 1
    todo = selection.in_order(todo, plan, estimates, slots)
    keys = {t.key for t in todo}
    skipped = [state for key, state in states.items() if key not in keys]
    done = failed = 0
    listener.run_planned(plan, todo, states)
    if todo:
        with store.lock(), Interrupts.caught() as interrupts, ExitStack() as stack:
            if executor is None:
                executor = make_executor(data_dir=data_dir)
                stack.enter_context(closing(executor))
            if not allow_contention:
                check_cores(experiment.config, executor)
            slots = executor.slots
            place = executor.describe()
            listener.run_started(todo, estimates, slots)
            try:
                with closing(executor.run(todo, listener.trial_started)) as results:
                    for trial, result in results:
                        with interrupts.held():
                            if interrupts.asked and not result.done:
                                continue  # the signal may be what ended it
                            machine = {**result.machine, **place}
                            store.put(
                                replace(
                                    result,
                                    machine=machine,
                                    profile=experiment.profile,
                                    settings=tuple(experiment.settings),
                                )
                            )
                            estimates.add(trial.labels, result.seconds)
                            done += result.done
                            failed += not result.done
                            listener.trial_done(trial, result)
            finally:
                listener.run_ended()
    return RunSummary(
        len(plan.trials), skipped.count("cached"), done, failed, skipped.count("failed")
    )


def make_executor(
    name: str | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    data_dir: Path | None = None,
) -> Executor:
    """Create an executor.

    By default this is Dask if there is a scheduler, processes for several jobs or with limits,
    and the current process otherwise, with processes for choices of parameters that take long.

    Parameters
    ----------
    name : {"in-process", "processes", "dask"}, optional
    jobs : int, default=1
        Number of trials at a time.
    scheduler : str, optional
        Address of a Dask scheduler.
    timeout : float, optional
        Time limit of a trial in seconds.
    memory : int, optional
        Memory limit of a trial in bytes.
    data_dir : Path, optional
        Folder to search for data first.

    Returns
    -------
    Executor
        To be closed at the end.

    Raises
    ------
    ExecutorError
        If the executor does not support the settings.
    """
    limits, asked = Limits(timeout, memory), name
    if name is None:
        parallel = jobs > 1 or limits.any
        name = "dask" if scheduler else "processes" if parallel else "in-process"
    if scheduler is not None and name != "dask":
        raise ExecutorError(f"a scheduler goes with the executor 'dask', not with {name!r}")
    if name == "dask":
        from kernlearn.engine.cluster import DaskExecutor

        return DaskExecutor(scheduler, jobs, data_dir, limits)
    if name == "processes":
        return Processes(jobs, data_dir, limits)
    if limits.any or jobs > 1:
        what = f"{jobs} jobs" if jobs > 1 else "a timeout or memory limit"
        raise ExecutorError(f"the executor 'in-process' cannot have {what}: take 'processes'")
    if asked is None and environment.usable_cores() > 1:
        return OneByOne(data_dir)
    return InProcess(data_dir)


def check_cores(config: ExperimentConfig, executor: Executor) -> None:
    """Refuse to measure times, or metrics derived from them, while trials share cores.

    Raises
    ------
    ExecutorError
        If the experiment reports times and the trials need more cores than there are.
    """
    if config.shows_times and (crowded := executor.crowded(config.protocol.threads)):
        raise ExecutorError(
            f"{config.title}: reports times, and {crowded}; run fewer at a time, or measure all "
            "the same with --allow-contention"
        )
