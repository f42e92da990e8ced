"""How much memory data may take: what would take more is refused before it is taken."""

import os
from pathlib import Path

from kernlearn.exceptions import DataError
from kernlearn.memory import allowed_memory

#: The variable that sets the limit; the option ``--max-memory`` of commands sets the variable.
VARIABLE = "KERNLEARN_MAX_MEMORY"
_STEP = 1 << 20


def parse_size(text: str, where: str = VARIABLE) -> int:
    """Read a number of bytes such as ``4GB`` or ``512MiB``; `where` begins the error."""
    from pydantic import ByteSize, TypeAdapter, ValidationError

    try:
        size = int(TypeAdapter(ByteSize).validate_python(text.strip()))
    except (ValidationError, OverflowError):
        size = 0
    if not 0 < size < 2**63:
        raise DataError(f"{where} {text!r:.60}: expected a size such as 4GB or 512MB")
    return size


def given_limit() -> int | None:
    """Return the bytes that the user allows, or None."""
    text = os.environ.get(VARIABLE, "")
    return parse_size(text) if text.strip() else None


def allowed_room(held: int = 0) -> int:
    """Return the bytes that data may take: what the user allows, or half of what is free.

    What is `held` of the data already counts as free.
    """
    given = given_limit()
    return max(allowed_memory() + held, 0) // 2 if given is None else given


def require_room(
    where: Path | str, needed: int, what: str, *, held: int = 0, advice: str = ""
) -> None:
    """Raise a DataError if more memory is needed than data may take.

    Parameters
    ----------
    where : path-like
        The file, which begins the message.
    needed : int
        The bytes that will be taken at most, with those `held`.
    what : str
        What takes them, as a plural.
    held : int, default=0
        Those that are taken already.
    advice : str, default=""
        What to do, beside a higher limit.
    """
    if needed > (allowed := allowed_room(held)):
        raise no_room(where, f"{what} need about {_size(needed)} of memory", allowed, advice)


def no_room(where: Path | str, need: str, allowed: int, advice: str = "") -> DataError:
    """Make the error for data that needs more memory than is allowed."""
    whose = "half of what is free" if given_limit() is None else f"the limit of {VARIABLE}"
    more = f"{advice}; or allow" if advice else "allow"
    return DataError(
        f"{where}: {need}, and {_size(allowed)} may be taken, {whose}: {more} more by "
        f"--max-memory or {VARIABLE}"
    )


def _size(n_bytes: int) -> str:
    from rich.filesize import decimal

    return decimal(max(n_bytes, 0))


class Watch:
    """Looks at the memory of this process while objects are made from a file, and ends it.

    Parameters
    ----------
    where : path-like
        The file, which begins the message.
    what : str
        What is made, as a plural.
    """

    def __init__(self, where: Path | str, what: str) -> None:
        self.where, self.what = where, what
        self._allowed, self._before, self._unseen = allowed_room(), _own_memory(), 0

    def passed(self, n_bytes: int) -> None:
        """Note that so much of the file has been read; every megabyte there is a look."""
        self._unseen += n_bytes
        if self._unseen >= _STEP:
            self._unseen = 0
            taken = _own_memory() - self._before
            if taken > self._allowed:
                need = f"{self.what} need more than {_size(taken)} of memory"
                raise no_room(self.where, need, self._allowed)


def _own_memory() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
