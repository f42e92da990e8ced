"""The executor on a cluster, or a local one, by Dask's ``distributed``."""

import time
from collections.abc import Callable, Iterable
from multiprocessing import current_process
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import uuid4

from kernlearn import __version__
from kernlearn.exceptions import ExecutorError
from kernlearn.experiments.engine.environment import describe_environment
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute, failure
from kernlearn.experiments.executors.base import NO_LIMITS, Limits, OnStart, Results, crowding
from kernlearn.experiments.executors.local import Worker
from kernlearn.experiments.store.results import Result, utc_now

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds for a scheduler to answer.
_CONNECT = 10.0
# Seconds for a first worker to come, or for one to return when all have died.
_PATIENCE = 60.0
# Seconds between two looks at the number of workers.
_LOOK = 1.0

# On a worker of the cluster: the process that runs trials with limits.
_limited: dict[tuple[Path | None, Limits, bool], Worker] = {}


class DaskExecutor:
    """Run trials on the workers of a Dask scheduler, one at a time on each.

    When a worker dies, the scheduler gives its trial to another one, as often as its setting
    ``distributed.scheduler.allowed-failures`` says; in a local cluster, ``limits.retries`` times.

    Parameters
    ----------
    scheduler : str or None
        Address such as ``tcp://host:8786``; None starts a local cluster.
    jobs : int
        Number of workers of a local cluster.
    data_dir : Path, optional
        Folder in which a worker searches for data first; workers read it themselves.
    limits : Limits, optional
        A timeout or memory limit needs workers that may start processes.

    Raises
    ------
    ExecutorError
        If ``distributed`` is not installed, the scheduler does not answer, or its workers
        do not support what is asked.
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
            self._environments = self._check_workers()
        except BaseException:
            self.close()
            raise

    @property
    def slots(self) -> int:
        """Number of workers at present."""
        return len(self._client.nthreads())

    def describe(self) -> dict[str, Any]:
        distinct: list[dict[str, Any]] = []
        for environment in self._environments.values():
            if environment not in distinct:
                distinct.append(environment)
        return {"executor": "dask", "workers": distinct}

    def crowded(self, threads: int) -> str:
        hosts: dict[str, list[dict[str, Any]]] = {}
        for address, environment in self._environments.items():
            hosts.setdefault(address.rpartition(":")[0], []).append(environment)
        reasons = (
            crowding(len(workers), threads, workers[0]["usable_cores"], host)
            for host, workers in hosts.items()
        )
        return next(filter(None, reasons), "")

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        run = uuid4().hex
        waiting = iter(trials)
        running: dict[Future, tuple[Trial, str, float]] = {}
        function: Callable[..., Result] = _execute_limited if self._limits.any else _execute
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
                        else failure(trial, _summary(error), started, time.perf_counter() - clock)
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
            dask.config.set(
                {
                    "distributed.worker.daemon": False,
                    "distributed.scheduler.allowed-failures": self._limits.retries,
                }
            )
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
        """Return the environment of each worker by its address."""
        from distributed import TimeoutError as NoWorkers

        address = self._address
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (TimeoutError, NoWorkers):
            raise ExecutorError(
                f"the scheduler at {address} has had no workers for {_PATIENCE:.0f} s; start some "
                f"with `dask worker {address} --nthreads 1`"
            ) from None
        threaded = [name for name, threads in self._client.nthreads().items() if threads > 1]
        if threaded:
            raise ExecutorError(
                f"{_some(threaded)}: more than one thread, so that trials would disturb each "
                "other; start workers with --nthreads 1, and --nworkers for the cores"
            )
        try:
            workers: dict[str, _WorkerInfo] = self._client.run(_describe_worker)
        except Exception as error:
            raise ExecutorError(
                f"a worker of {address} cannot run kernlearn: {_first_line(error, named=True)}; "
                "install the same version there"
            ) from None
        others = [f"{name} has {w.version}" for name, w in workers.items()
                  if w.version != __version__]  # fmt: skip
        if others:
            raise ExecutorError(
                f"this is kernlearn {__version__}, but {_some(others)}; install the same there"
            )
        if self._limits.any and any(w.daemon for w in workers.values()):
            raise ExecutorError(
                "a timeout or a memory limit needs workers that may start processes: start them "
                "with DASK_DISTRIBUTED__WORKER__DAEMON=False in their environment"
            )
        return {name: w.environment for name, w in workers.items()}

    def _slots_soon(self) -> int:
        """Return the number of workers, waiting a while if all have died."""
        deadline = time.monotonic() + _PATIENCE
        while not (slots := self.slots):
            if time.monotonic() > deadline:
                raise ExecutorError(f"all workers of the scheduler at {self._address} are gone")
            time.sleep(_LOOK)
        return slots

    def _wait(self, futures: "list[Future]") -> "set[Future]":
        """Wait until a future has ended; return those that have."""
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


class _WorkerInfo(NamedTuple):
    version: str
    daemon: bool  # may not start processes
    environment: dict[str, Any]


def _describe_worker() -> _WorkerInfo:
    return _WorkerInfo(__version__, current_process().daemon, describe_environment())


def _execute(trial: Trial, data_dir: Path | None, limits: Limits, concurrent: bool) -> Result:
    return execute(trial, data_dir, concurrent=concurrent)


def _execute_limited(
    trial: Trial, data_dir: Path | None, limits: Limits, concurrent: bool
) -> Result:
    """Run a trial in a process of the worker, which can be killed without the worker."""
    kind = (data_dir, limits, concurrent)
    if kind not in _limited:
        _limited[kind] = Worker(data_dir, limits, threads=1, concurrent=concurrent)
    return _limited[kind].run(trial)


def _summary(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return f"WorkerDied: {_first_line(error)}"
    return _first_line(error, named=True)


def _first_line(error: BaseException, *, named: bool = False) -> str:
    line = str(error).partition("\n")[0]
    return f"{type(error).__name__}: {line}" if named else line


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
