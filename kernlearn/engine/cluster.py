"""The executor on a cluster, or a local one, by Dask's ``distributed``."""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any
from uuid import uuid4

from kernlearn import __version__
from kernlearn.config.spec import Trial, canonical
from kernlearn.engine import local, own_process
from kernlearn.engine.environment import describe_environment, finished
from kernlearn.exceptions import ExecutorError
from kernlearn.lazy import missing_text
from kernlearn.store import Row, utc_now

# Seconds for a scheduler to answer.
_CONNECT = 10.0
# Seconds for a first worker to come, or for one to return when all have died.
_PATIENCE = 60.0
# Seconds between two looks at the number of workers.
_LOOK = 1.0


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
        limits: local.Limits = local.NO_LIMITS,
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
        distinct = {canonical(e): e for e in self._environments.values()}
        return {"executor": "dask", "workers": list(distinct.values())}

    def crowded(self, threads: int) -> str:
        hosts = {address: address.rpartition(":")[0] for address in self._environments}
        workers = Counter(hosts.values())
        reasons = (
            local.crowding(workers[host], threads, self._environments[a]["usable_cores"], host)
            for a, host in hosts.items()
        )
        return next(filter(None, reasons), "")

    def close(self) -> None:
        self._client.close()
        if self._cluster is not None:
            self._cluster.close()

    def run(
        self, trials: Iterable[Trial], on_start: local.OnStart = lambda trial: None
    ) -> local.Results:
        from distributed import wait

        run, waiting = uuid4().hex, iter(trials)
        running: dict[Any, tuple[Trial, str, float]] = {}
        try:
            while True:
                slots = self._slots_soon()
                while len(running) < slots and (trial := next(waiting, None)):
                    on_start(trial)
                    future = self._client.submit(
                        _execute,
                        trial,
                        self._data_dir,
                        self._limits,
                        slots > 1,
                        key=f"kernlearn-{trial.key}-{run}",
                        pure=False,
                    )
                    running[future] = (trial, utc_now(), time.perf_counter())
                if not running:
                    return
                try:
                    with self._client.as_current():
                        ended = wait(list(running), _LOOK, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    continue
                for future in ended:
                    trial, started, clock = running.pop(future)
                    if error := future.exception():
                        result = finished(trial, started, clock, error=_line(error))
                    else:
                        result = future.result()
                    future.release()
                    yield trial, result
        finally:
            self._client.cancel(list(running), force=True)

    def _connect(self, scheduler: str | None, jobs: int) -> Any:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError:
            raise ExecutorError(missing_text("the executor 'dask'", "distributed")) from None
        if scheduler is None:
            dask.config.set({"distributed.worker.daemon": False})
            dask.config.set({"distributed.scheduler.allowed-failures": self._limits.retries})
            # what workers say when they are stopped amid trials is of no interest
            with own_process.deaf_processes(pool=True):
                self._cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    processes=True,
                    dashboard_address=None,
                    preload=[own_process.__name__],
                    silence_logs=logging.CRITICAL,
                )
            return Client(self._cluster, set_as_default=False)
        try:
            return Client(scheduler, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                f"no Dask scheduler at {scheduler}: {_line(error)}; start one with "
                "`dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
            ) from None

    def _check_workers(self) -> dict[str, dict[str, Any]]:
        """Return the environment of each worker by its address."""
        self._slots_soon()
        threaded = [name for name, threads in self._client.nthreads().items() if threads > 1]
        if threaded:
            raise ExecutorError(
                f"{', '.join(threaded[:3])}: more than one thread, so that trials would disturb "
                "each other; start workers with --nthreads 1, and --nworkers for the cores"
            )
        try:
            workers = self._client.run(_describe_worker)
        except Exception as error:
            raise ExecutorError(
                f"a worker of {self._address} cannot run kernlearn: {_line(error)}; "
                "install the same version there"
            ) from None
        others = [f"{name} has {v}" for name, (v, *_) in workers.items() if v != __version__]
        if others:
            raise ExecutorError(
                f"this is kernlearn {__version__}, but {', '.join(others[:3])}; install the same "
                "there"
            )
        if self._limits.any and any(daemon for _, daemon, _ in workers.values()):
            raise ExecutorError(
                "a timeout or a memory limit needs workers that may start processes: start them "
                "with DASK_DISTRIBUTED__WORKER__DAEMON=False in their environment"
            )
        return {name: environment for name, (*_, environment) in workers.items()}

    def _slots_soon(self) -> int:
        """Return the number of workers, waiting a while if there are none."""
        if self._client.status != "running":
            raise ExecutorError("the connection to the scheduler is lost")
        if not self.slots:
            try:
                self._client.wait_for_workers(1, timeout=_PATIENCE)
            except TimeoutError:
                raise ExecutorError(
                    f"the scheduler at {self._address} has had no workers for {_PATIENCE:.0f} s; "
                    f"start some with `dask worker {self._address} --nthreads 1`"
                ) from None
        return self.slots


def _describe_worker() -> tuple[str, bool, dict[str, Any]]:
    """Return the version, whether the worker may not start processes, and its environment."""
    return __version__, current_process().daemon, describe_environment()


def _execute(trial: Trial, data_dir: Path | None, limits: local.Limits, concurrent: bool) -> Row:
    if limits.any:
        return _worker(data_dir, limits, concurrent).run(trial)
    from kernlearn.engine.trial import execute

    return execute(trial, data_dir, concurrent=concurrent)


@cache
def _worker(data_dir: Path | None, limits: local.Limits, concurrent: bool) -> local.Worker:
    """Return a process of the worker, which can be killed without the worker."""
    return local.Worker(data_dir, limits, threads=1, concurrent=concurrent)


def _line(error: BaseException) -> str:
    name = type(error).__name__
    name = "WorkerDied" if name == "KilledWorker" else name
    line = str(error).partition("\n")[0]
    return f"{name}: {line}"
