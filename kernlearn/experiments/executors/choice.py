"""Selection of an executor, and whether it can measure times."""

from pathlib import Path

from kernlearn.exceptions import ExecutorError
from kernlearn.experiments.config.model import Execution, ExperimentConfig
from kernlearn.experiments.executors.base import Executor, Limits


def make_executor(execution: Execution, data_dir: Path | None = None) -> Executor:
    """Create the executor that the settings ask for.

    By default this is Dask if there is a scheduler, processes for several jobs or with limits,
    and the current process otherwise.

    Parameters
    ----------
    execution : Execution
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
    limits = Limits(execution.timeout, execution.memory, execution.retries)
    name, jobs = execution.executor, execution.jobs
    if name is None:
        parallel = jobs > 1 or limits.any
        name = "dask" if execution.scheduler else "processes" if parallel else "in-process"
    if execution.scheduler is not None and name != "dask":
        raise ExecutorError(f"a scheduler goes with the executor 'dask', not with {name!r}")
    if name == "dask":
        from kernlearn.experiments.executors.cluster import DaskExecutor

        return DaskExecutor(execution.scheduler, jobs, data_dir, limits)
    from kernlearn.experiments.executors.local import InProcess, Processes

    if name == "processes":
        return Processes(jobs, data_dir, limits)
    if limits.any or jobs > 1:
        asked = f"{jobs} jobs" if jobs > 1 else "a timeout or memory limit"
        raise ExecutorError(f"the executor 'in-process' cannot have {asked}: take 'processes'")
    return InProcess(data_dir)


def reports_times(config: ExperimentConfig) -> bool:
    """Whether an experiment reports times, or metrics derived from them."""
    metrics = [*config.metrics, *(m for figure in config.figures for m in figure.metrics)]
    if config.table is not None:
        metrics += config.table.metrics
    metrics += [claim.check.metric for claim in config.claims]
    sources = [config.derived[name].ratio for name in metrics if name in config.derived]
    return any(name.endswith("_seconds") for name in [*metrics, *sources])


def check_cores(config: ExperimentConfig, executor: Executor) -> None:
    """Refuse to measure times while trials share cores.

    Raises
    ------
    ExecutorError
        If the experiment reports times and the trials need more cores than there are.
    """
    if reports_times(config) and (crowded := executor.crowded(config.protocol.threads)):
        raise ExecutorError(
            f"{config.title}: reports times, and {crowded}; run fewer at a time, or measure all "
            "the same with --allow-contention"
        )
