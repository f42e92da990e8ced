"""Errors that a user can do something about; the command line shows them without a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager


class KernlearnError(Exception):
    """Base of the errors below. The message says what is wrong, where, and what to do."""


class ConfigError(KernlearnError):
    """A configuration that cannot be run, with every fault found in it."""


class DataError(KernlearnError):
    """A data set that is missing, damaged or not what its card says."""


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
