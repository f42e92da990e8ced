"""Which file a new one takes the place of, and pipes in place of files."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def replaced_file(path: Path) -> Path:
    """Return the file that is replaced by writing to a path: links lead to it.

    Parameters
    ----------
    path : pathlib.Path
        It may not exist.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    OSError
        If there is a folder, a device or a pipe, which no file may replace.
    """
    end = Path(os.path.realpath(path))
    if end.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if end.exists() and not end.is_file():
        raise OSError(errno.EINVAL, "a device or pipe, which no file replaces", str(path))
    return end


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a new file beside the one to write, which replaces it at the end of the block.

    Folders that lack are made. If the block raises, what was there stays as it was.

    Raises
    ------
    OSError
        As :func:`replaced_file` does, or if a folder cannot be made or the file be replaced.
    """
    end = replaced_file(path)
    part = end.with_name(f"{end.name}.{os.getpid()}.part")
    end.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        part.replace(end)
    finally:
        part.unlink(missing_ok=True)


def refuse_pipe(path: Path) -> None:
    """Refuse a named pipe: writing would wait until somebody reads it.

    Parameters
    ----------
    path : pathlib.Path
        It may not exist.

    Raises
    ------
    OSError
        If it is such a pipe.
    """
    if path.is_fifo() and not path.is_relative_to("/dev"):  # of a shell, as in >(sort)
        raise OSError(errno.ENXIO, "a named pipe, not a file", str(path))
