"""Honest times: wall and processor, threads fixed."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

# Below this share of processor time in wall time something else had the core.
_BUSY = 0.9
# Shorter stretches are dominated by the clocks' own grain.
_TOO_SHORT = 0.05


@dataclass
class Stopwatch:
    """Wall and processor seconds of a ``with`` block.

    Attributes
    ----------
    wall, cpu : float
        Seconds, once the block has ended.
    """

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> "Stopwatch":
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.wall = time.perf_counter() - self._wall
        self.cpu = time.process_time() - self._cpu

    @property
    def disturbed(self) -> bool:
        """Whether the process waited for a core while the watch ran."""
        return self.wall > _TOO_SHORT and self.cpu < _BUSY * self.wall


@contextmanager
def thread_limit(threads: int) -> Iterator[None]:
    """Hold BLAS and OpenMP to a number of threads within a block."""
    with _controller(len(sys.modules)).limit(limits=threads):
        yield


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> "ThreadpoolController":
    """Find the libraries that are loaded: milliseconds, so only where an import may have been."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
