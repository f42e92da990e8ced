"""Errors that a user can do something about; the command line shows them without a traceback."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from shlex import quote
from typing import Any


class KernlearnError(Exception):
    """Base of the errors below. The message says what is wrong, where, and what to do."""


class ConfigError(KernlearnError):
    """A configuration that cannot be run, with every fault found in it."""


class DataError(KernlearnError):
    """A data set that is missing, damaged or not what its card says.

    Parameters
    ----------
    problem : str
        What is wrong, and where.
    ways : sequence of tuples of (str, object), default=()
        Settings that help, each a key of a data set, such as ``"read_as.decimal"``, and its value,
        or ``"read_as"`` and several of its keys with values. The message has them as keys of a
        config.
    """

    def __init__(self, problem: str, ways: Sequence[tuple[str, Any]] = ()) -> None:
        super().__init__(problem, ways)
        self.problem, self.ways = problem, ways

    def __str__(self) -> str:
        return self._advising(_as_key)

    def as_options(self) -> str:
        """Return the message with options of the commands that read a file."""
        return self._advising(lambda key, value: f"`{as_option(key, value)}`")

    def _advising(self, write: Callable[[str, Any], str]) -> str:
        ways = (write(key, value) for key, value in self.ways)
        return "; or add ".join(filter(None, (self.problem, " or ".join(ways))))


def _as_key(path: str, value: Any) -> str:
    section, _, key = path.rpartition(".")
    text = json.dumps(value, ensure_ascii=False)
    return f"`{section}: {{{key}: {text}}}`" if section else f"`{key}: {text}`"


def as_option(path: str, value: Any) -> str:
    """Write a setting as an option of the commands that read a file."""
    if path == "read_as":
        return " ".join(as_option(f"{path}.{key}", one) for key, one in value.items())
    option = f"--{path} " if path in ("target", "task") else f"-o {path}="
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"{option}{quote(text)}"


class PluginError(KernlearnError):
    """A plug-in that cannot be loaded or used."""


class StoreError(KernlearnError):
    """A results store that cannot be opened, read or written."""


class ExecutorError(KernlearnError):
    """An executor that cannot carry out trials here, or not as asked."""


class SelectionError(KernlearnError):
    """A choice of trials that means nothing for the experiment."""


class SummaryError(KernlearnError):
    """Measured numbers in a file that cannot be read, or do not fit what they stand beside."""


class SimilarityError(KernlearnError, ValueError):
    """A pair of points whose similarity is no finite number, or cannot be computed.

    Attributes
    ----------
    problem : str
        What is wrong, as in "is NaN".
    left, right : int
        Positions of the two points in the data.
    shown : tuple of str
        Short representations of the two points.
    names : tuple of str
        What the positions count: the data of each of the two points.
    """

    def __init__(
        self,
        problem: str,
        left: int,
        right: int,
        shown: tuple[str, str],
        names: tuple[str, str] = ("X", "Y"),
    ) -> None:
        super().__init__(problem, left, right, shown, names)
        self.problem, self.left, self.right = problem, left, right
        self.shown, self.names = shown, names

    def at(self, left: int, right: int, names: tuple[str, str] = ("X", "Y")) -> "SimilarityError":
        """Return it with other positions of the two points, in the data of these names."""
        return SimilarityError(self.problem, left, right, self.shown, names)

    def __str__(self) -> str:
        both = zip(self.names, (self.left, self.right), self.shown, strict=True)
        pair = " and ".join(
            f"{name}[{place}]{f' ({text})' if text else ''}" for name, place, text in both
        )
        return f"the similarity of {pair} {self.problem}"


class ReportError(KernlearnError):
    """A report that cannot be put together or written."""


@contextmanager
def writing(place: object, kind: type[KernlearnError]) -> Iterator[None]:
    """Turn an OSError within the block into an error that names the file, or else `place`."""
    try:
        yield
    except OSError as error:
        where = error.filename or place
        raise kind(f"{where}: cannot be written: {error.strerror or error}") from None
