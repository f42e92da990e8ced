"""How much memory there is, so that what cannot fit is refused before it is begun."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_GIB = 2**30


def available_memory(root: Path = Path("/")) -> int:
    """Memory that can still be taken without swapping, in bytes.

    The least of what the kernel calls available and what the process's control groups
    leave; where neither is told the free physical pages, or all of them.

    Parameters
    ----------
    root : Path, default=Path("/")
        Where ``proc`` and ``sys`` are mounted.

    Returns
    -------
    int
    """
    told = [*_from_meminfo(root / "proc/meminfo"), *_from_cgroups(root)]
    if told:
        return max(0, min(told))
    pages = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
    return os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE")


def require_memory(needed: int, limit: int | None, purpose: str, advice: str) -> None:
    """Refuse what needs more memory than allowed, or than there is.

    Parameters
    ----------
    needed : int
        Bytes.
    limit : int or None
        Bytes allowed; None means what is available.
    purpose, advice : str
        What the memory is for, and what to do instead.

    Raises
    ------
    MemoryError
        If `needed` is more.
    """
    allowed = available_memory() if limit is None else limit
    if needed > allowed:
        source = "are available" if limit is None else "are allowed by memory_limit"
        raise MemoryError(
            f"{purpose} needs {needed / _GIB:.3g} GiB, but {allowed / _GIB:.3g} GiB {source}: "
            f"{advice}"
        )


def _from_meminfo(file: Path) -> Iterator[int]:
    for line in _lines(file):
        if line.startswith("MemAvailable:"):
            yield int(line.split()[1]) * 1024


def _from_cgroups(root: Path) -> Iterator[int]:
    """Read what each control group above this process leaves, of version 2 or 1."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if not controllers:
            mount, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "")
        elif "memory" in controllers.split(","):
            mount = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_")
        else:
            continue
        group = mount / path.strip("/")
        for folder in (group, *group.parents):
            yield from _left_in(folder, *names)
            if folder == mount:
                break


def _left_in(folder: Path, limit_name: str, usage_name: str, prefix: str) -> Iterator[int]:
    limit, usage = _lines(folder / limit_name), _lines(folder / usage_name)
    if not (limit and usage and limit[0].isdigit()):  # no such group, or "max"
        return
    # Cached file pages count as used, but are given up on demand.
    cached = [
        int(line.split()[1])
        for line in _lines(folder / "memory.stat")
        if line.startswith(f"{prefix}inactive_file ")
    ]
    yield int(limit[0]) - int(usage[0]) + sum(cached)


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:
        return []
