"""Files of which a process apart reads the content: damaged ones can end it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kernlearn.datasets.apart import Answer, Died, allow_for, call_apart
from kernlearn.datasets.room import allowed_room
from kernlearn.datasets.unpacking import naming_damage, read_bytes
from kernlearn.exceptions import DataError

# Bytes of address space that libraries take as they read, and each of their threads.
_OF_LIBRARIES, _OF_THREAD = 1 << 27, 1 << 23


def read_apart(function: str, path: Path, kind: str, *arguments: Any) -> Answer:
    """Call a function of this package, such as ``hdf5_content:load``, in a process apart.

    Parameters
    ----------
    function : str
        The name of the module and that of the function.
    path : pathlib.Path
        The file that it reads, its first argument.
    kind : str
        What the file is taken for.
    *arguments
        Its further arguments.

    Raises
    ------
    DataError
        If the process dies, or the function raises it.
    """
    # half of what is free may be taken, and what reads takes it twice at most
    memory = 2 * allowed_room() + _OF_LIBRARIES + _OF_THREAD * (os.cpu_count() or 1)
    try:
        return call_apart(
            f"kernlearn.datasets.{function}", os.fspath(path), *arguments, memory=memory
        )
    except Died as death:
        raise DataError(
            f"{path}: damaged, or no {kind} file: the process that read it died: {death}"
        ) from None


@contextmanager
def reading(file: str, damage: str) -> Iterator[tuple[Path, bytes]]:
    """Yield the path and the content of a file in the process apart; errors name the file."""
    path = Path(file)
    content = read_bytes(path)
    with naming_damage(path, damage):
        allow_for(len(content))
        yield path, content
