"""From what a config and the command line say to an executor."""

from pathlib import Path

from kernlearn.exceptions import ExecutorError
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.experiments.config.sections import Execution
from kernlearn.experiments.executors.base import Executor, Limits


def make_executor(execution: Execution, data_dir: Path | None = None) -> Executor:
    """Make the executor that settings ask for.

    Where they name none it is this process for one job without limits, processes of this
    machine otherwise, and Dask where there is a scheduler.

    Parameters
    ----------
    execution : Execution
    data_dir : Path, optional
        Where data is looked for first.

    Returns
    -------
    Executor
        To be closed when all is done.

    Raises
    ------
    ExecutorError
        If it cannot do what is asked.
    """
    limits = Limits(execution.timeout, execution.memory, execution.retries)
    name = execution.executor
    if name is None:
        beside = execution.jobs > 1 or limits.any
        name = "dask" if execution.scheduler else "processes" if beside else "in-process"
    if execution.scheduler is not None and name != "dask":
        raise ExecutorError(f"a scheduler goes with the executor 'dask', not with {name!r}")
    if name == "dask":
        from kernlearn.experiments.executors.cluster import DaskExecutor

        return DaskExecutor(execution.scheduler, execution.jobs, data_dir, limits)
    if name == "processes":
        from kernlearn.experiments.executors.local import Processes

        return Processes(execution.jobs, data_dir, limits)
    if limits.any or execution.jobs > 1:
        asked = f"{execution.jobs} jobs" if execution.jobs > 1 else "a timeout or memory limit"
        raise ExecutorError(f"the executor 'in-process' cannot have {asked}: take 'processes'")
    from kernlearn.experiments.executors.local import InProcess

    return InProcess(data_dir)


def reports_times(config: ExperimentConfig) -> bool:
    """Whether an experiment shows times, or numbers made from them."""
    shown = [*config.metrics, *(m for figure in config.figures for m in figure.metrics)]
    if config.table is not None:
        shown += config.table.metrics
    shown += [claim.check.metric for claim in config.claims]
    sources = [config.derived[name].ratio for name in shown if name in config.derived]
    return any(name.endswith("_seconds") for name in [*shown, *sources])


def check_cores(config: ExperimentConfig, executor: Executor) -> None:
    """Refuse to measure times where trials would share a core.

    Parameters
    ----------
    config : ExperimentConfig
    executor : Executor

    Raises
    ------
    ExecutorError
        If the experiment shows times and there are fewer cores than trials need.
    """
    if not reports_times(config):
        return
    crowded = executor.crowded(config.protocol.threads)
    if crowded:
        raise ExecutorError(
            f"{config.title}: reports times, and {crowded}; run fewer at a time, or measure all "
            "the same with --allow-contention"
        )
