"""Trials on a cluster, or on a local one, by Dask's ``distributed``."""

import time
from collections.abc import Callable, Iterable
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kernlearn import __version__
from kernlearn.exceptions import ExecutorError
from kernlearn.experiments.engine.environment import describe_environment
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute, failure
from kernlearn.experiments.executors.base import NO_LIMITS, Limits, OnStart, Results, crowding
from kernlearn.experiments.executors.worker import Worker
from kernlearn.experiments.store.results import Result, utc_now

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds for a scheduler to answer, and for a first worker to come or all dead ones to be back.
_CONNECT = 10.0
_PATIENCE = 60.0
# Seconds between two looks at how many workers there are.
_LOOK = 1.0

# The process in which a worker of the cluster carries out trials that have limits.
_guarded: dict[tuple[Path | None, Limits, bool], Worker] = {}


class DaskExecutor:
    """Carry out trials on the workers of a Dask scheduler.

    A worker has as many trials at a time as there is place for on its one thread: one. When it
    dies the scheduler gives that trial to another, up to a limit: its own setting
    ``distributed.scheduler.allowed-failures``, of a local cluster the limit's ``retries``.

    Parameters
    ----------
    scheduler : str or None
        Address such as ``tcp://host:8786``; None starts a local cluster.
    jobs : int
        Workers of a local cluster.
    data_dir : Path, optional
        Where a worker looks for data first; workers read it themselves.
    limits : Limits, optional
        Timeout and memory need workers that may start processes of their own.

    Raises
    ------
    ExecutorError
        If ``distributed`` is not installed, the scheduler does not answer, or its workers
        cannot do what is asked.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        jobs: int = 1,
        data_dir: Path | None = None,
        limits: Limits = NO_LIMITS,
    ) -> None:
        self._data_dir = data_dir
        self._limits = limits
        self._cluster: Any = None
        self._client = self._connect(scheduler, jobs)
        self._address = str(self._client.scheduler_info()["address"])
        try:
            self._workers = self._check_workers()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Workers at this moment."""
        return len(self._client.nthreads())

    def describe(self) -> dict[str, Any]:
        """Return the executor's name and what each kind of worker runs on."""
        different: list[dict[str, Any]] = []
        for environment in self._workers.values():
            if environment not in different:
                different.append(environment)
        return {"executor": "dask", "workers": different}

    def crowded(self, threads: int) -> str:
        """Say why trials of so many threads each would share cores; empty if they would not."""
        hosts: dict[str, list[str]] = {}
        for address in self._workers:
            hosts.setdefault(address.rpartition(":")[0], []).append(address)
        found = (
            crowding(len(names), threads, self._workers[names[0]]["usable_cores"], host)
            for host, names in hosts.items()
        )
        return next(filter(None, found), "")

    def close(self) -> None:
        """Leave the scheduler; trials that still run there are given up."""
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result, in the order in which they end."""
        run = uuid4().hex
        waiting = iter(trials)
        running: dict[Future, tuple[Trial, str, float]] = {}
        function: Callable[..., Result] = _execute_guarded if self._limits.any else _execute
        try:
            while True:
                while len(running) < (slots := self._slots_soon()) and (
                    trial := next(waiting, None)
                ):
                    on_start(trial)
                    future = self._client.submit(
                        function, trial, self._data_dir, self._limits, slots > 1,
                        key=f"kernlearn-{trial.key}-{run}", pure=False,
                    )  # fmt: skip
                    running[future] = (trial, utc_now(), time.perf_counter())
                if not running:
                    return
                for future in self._wait(list(running)):
                    trial, started, clock = running.pop(future)
                    error = future.exception()
                    result = (
                        future.result() if error is None
                        else failure(trial, _told(error), started, time.perf_counter() - clock)
                    )  # fmt: skip
                    future.release()
                    yield trial, result
        finally:
            self._client.cancel(list(running), force=True)

    def _connect(self, scheduler: str | None, jobs: int) -> "Client":
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError:
            raise ExecutorError(
                "the executor 'dask' needs distributed: pip install 'kernlearn[cluster]'"
            ) from None
        if scheduler is None:
            settings = {
                "distributed.worker.daemon": False,
                "distributed.scheduler.allowed-failures": self._limits.retries,
            }
            dask.config.set(settings)
            self._cluster = LocalCluster(
                n_workers=jobs, threads_per_worker=1, processes=True, dashboard_address=None
            )
            return Client(self._cluster, set_as_default=False)
        try:
            return Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                f"no Dask scheduler at {scheduler}: {_first_line(error)}; start one with "
                "`dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
            ) from None

    def _check_workers(self) -> dict[str, dict[str, Any]]:
        from distributed import TimeoutError as NoWorkers

        address = self._address
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (TimeoutError, NoWorkers):
            raise ExecutorError(
                f"the scheduler at {address} has had no workers for {_PATIENCE:.0f} s; start some "
                f"with `dask worker {address} --nthreads 1`"
            ) from None
        crowded = [name for name, threads in self._client.nthreads().items() if threads > 1]
        if crowded:
            raise ExecutorError(
                f"{_some(crowded)}: more than one thread, so that trials would disturb each "
                "other; start workers with --nthreads 1, and --nworkers for the cores"
            )
        try:
            found: dict[str, tuple[str, bool, dict[str, Any]]] = self._client.run(_who)
        except Exception as error:
            raise ExecutorError(
                f"a worker of {address} cannot run kernlearn: {type(error).__name__}: "
                f"{_first_line(error)}; install the same version there"
            ) from None
        others = [f"{name} has {it[0]}" for name, it in found.items() if it[0] != __version__]
        if others:
            raise ExecutorError(
                f"this is kernlearn {__version__}, but {_some(others)}; install the same there"
            )
        if self._limits.any and any(daemonic for _, daemonic, _ in found.values()):
            raise ExecutorError(
                "a timeout or a memory limit needs workers that may start processes: start them "
                "with DASK_DISTRIBUTED__WORKER__DAEMON=False in their environment"
            )
        return {name: environment for name, (_, _, environment) in found.items()}

    def _slots_soon(self) -> int:
        """Return the number of workers; wait a while where all have died."""
        deadline = time.monotonic() + _PATIENCE
        while not (slots := self.slots):
            if time.monotonic() > deadline:
                address = self._address
                raise ExecutorError(f"all workers of the scheduler at {address} are gone")
            time.sleep(_LOOK)
        return slots

    def _wait(self, futures: "list[Future]") -> "set[Future]":
        """Return the futures that have ended, once there is one."""
        from distributed import TimeoutError as NotYet
        from distributed import wait

        while True:
            try:
                with self._client.as_current():
                    return set(wait(futures, timeout=_LOOK, return_when="FIRST_COMPLETED").done)
            except (TimeoutError, NotYet):
                self._slots_soon()
                if self._client.status != "running":
                    raise ExecutorError("the connection to the scheduler is lost") from None


def _execute(trial: Trial, data_dir: Path | None, limits: Limits, beside: bool) -> Result:
    return execute(trial, data_dir, concurrent=beside)


def _execute_guarded(trial: Trial, data_dir: Path | None, limits: Limits, beside: bool) -> Result:
    """Carry out a trial in a process of the worker's, which can be ended without it."""
    kind = (data_dir, limits, beside)
    if kind not in _guarded:
        _guarded[kind] = Worker(data_dir, limits, threads=1, beside=beside)
    return _guarded[kind].run(trial)


def _who() -> tuple[str, bool, dict[str, Any]]:
    """Tell a worker's version, whether it may start no processes, and what it runs on."""
    return __version__, current_process().daemon, describe_environment()


def _told(error: BaseException) -> str:
    name = type(error).__name__
    if name == "KilledWorker":
        return f"WorkerDied: {_first_line(error)}"
    return f"{name}: {_first_line(error)}"


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
