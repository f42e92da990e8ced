"""How many hostile inputs a test tries, and the time and memory that each may take."""

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis

from kernlearn.exceptions import KernlearnError

#: Per test; `make fuzz` tries many more than a change does.
EXAMPLES = int(os.environ.get("KERNLEARN_FUZZ_EXAMPLES", 10))
#: Seconds of computing (not of waiting for other processes) after which an input hangs.
LONGEST = 10
#: Bytes of address space that an input may take beside what the process has already.
MOST = 3 << 30

fuzzing: Any = hypothesis.settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    phases=[p for p in hypothesis.Phase if p is not hypothesis.Phase.explain],
    print_blob=True,
)


@contextmanager
def limited(seconds: float = LONGEST, memory: int = MOST) -> Iterator[None]:
    """Raise an AssertionError if a block hangs; let it have no more than so much memory."""

    def hangs(*_: object) -> None:
        raise AssertionError(f"still computing after {seconds:g} s")

    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    allowed = pages * resource.getpagesize() + memory
    handler = signal.signal(signal.SIGPROF, hangs)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, before[1]))
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGPROF, handler)


def outcome(function: Callable[..., Any], *arguments: Any, **options: Any) -> tuple[Any, str]:
    """Call a function; return what it returns, or None and the message of a user's error."""
    try:
        return function(*arguments, **options), ""
    except KernlearnError as error:
        return None, str(error)
