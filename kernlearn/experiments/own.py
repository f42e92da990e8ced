"""What a plug-in registered, in the forms that experiments use."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

from kernlearn._registration import Kind
from kernlearn.exceptions import DataError
from kernlearn.experiments.components import Component, Metric

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# A run goes through data sets one after the other; a few stay in memory for the next trial.
_KEPT = 4


@dataclass(frozen=True)
class OwnComponent(Component):
    """An estimator or kernel of a plug-in, at hand without an import.

    Attributes
    ----------
    target : class
    """

    target: Any = None

    @property
    def installed(self) -> bool:
        """Whether it is there: it has been loaded."""
        return True

    def load(self) -> Any:
        """Return the class."""
        return self.target


@dataclass(frozen=True)
class OwnMetric(Metric):
    """A metric of a plug-in.

    Attributes
    ----------
    name, plugin : str
    version : int
    tasks : tuple of str
        What it judges.
    function : callable
        ``f(y_true, y_pred) -> float``, and ``query`` if it takes that.
    """

    name: str
    plugin: str
    version: int
    tasks: tuple[str, ...]
    function: Callable[..., Any]

    @property
    def identity(self) -> dict[str, Any]:
        """What a trial's key holds of it."""
        return {"name": self.name, "plugin": self.plugin, "version": self.version}

    def measure(self, true: Any, predicted: Any, query: Any = None) -> float:
        """Return its value for true and predicted values and the rows' queries, if there are any.

        Raises
        ------
        ValueError
            If it gives no finite number.
        """
        takes_query = "query" in inspect.signature(self.function).parameters
        value = self.function(true, predicted, **({"query": query} if takes_query else {}))
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(
                f"metric {self.name!r} of {self.plugin} must give a finite number, not {value!r}"
            )
        return number


@dataclass(frozen=True)
class OwnDataset:
    """A data set of a plug-in.

    Attributes
    ----------
    name, plugin : str
    version : int
    title : str
    make : callable
        Returns (X, y) or a Bunch.
    similarity : {"similarity", "distance"} or None
        What the entries of X are, where they compare points.
    file : str
        The file that it is from; empty for a package.
    """

    name: str
    plugin: str
    version: int
    title: str
    make: Callable[..., Any]
    similarity: str | None = None
    file: str = ""

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters and their defaults."""
        return {p.name: p.default for p in inspect.signature(self.make).parameters.values()}

    @property
    def is_generator(self) -> bool:
        """Whether it is drawn anew for every split."""
        return "random_state" in self.parameters

    @property
    def identity(self) -> dict[str, Any]:
        """What a trial's key holds of it besides its name and parameters."""
        return {"plugin": self.plugin, "version": self.version}

    def __call__(self, *, numbers: bool, parameters: Mapping[str, Any]) -> "Bunch":
        """Make the data.

        Parameters
        ----------
        numbers : bool
            Whether what is predicted is a number and no class.
        parameters : mapping
            Some of :attr:`parameters`.

        Returns
        -------
        sklearn.utils.Bunch
            As from :func:`kernlearn.datasets.load`.

        Raises
        ------
        DataError
            If the function raises, or gives no data.
        """
        from kernlearn.experiments._own_data import as_bunch

        try:
            made = self.make(**parameters)
        except Exception as error:
            text = blame(error, self.file)
            raise DataError(f"data set {self.name!r} of {self.plugin}: {text}") from error
        try:
            return as_bunch(made, numbers=numbers, similarity=self.similarity)
        except (TypeError, ValueError) as error:
            raise DataError(f"data set {self.name!r} of {self.plugin}: {error}") from error


Own = OwnComponent | OwnMetric | OwnDataset


class Entry(NamedTuple):
    """What a plug-in registered.

    Attributes
    ----------
    kind : {"estimator", "kernel", "dataset", "metric"}
    name : str
    what : OwnComponent, OwnMetric or OwnDataset
    line : int
        Where it was registered.
    """

    kind: Kind
    name: str
    what: Own
    line: int


@dataclass(frozen=True, eq=False)
class Plugin:
    """A plug-in that has been loaded.

    Attributes
    ----------
    name : str
        Of the file without its ending, or of the package.
    state : str
        What tells it from itself before a change: a hash of the file, a package's version.
    entries : tuple of Entry
    path : Path or None
        Of a file.
    """

    name: str
    state: str
    entries: tuple[Entry, ...]
    path: Path | None = None


@lru_cache(maxsize=_KEPT)
def loaded_once(dataset: OwnDataset, numbers: bool, parameters: str) -> "Bunch":
    """Make a data set that is no generator, and keep it for the next trial.

    Parameters
    ----------
    dataset : OwnDataset
    numbers : bool
        Whether what is predicted is a number and no class.
    parameters : str
        As JSON.

    Returns
    -------
    sklearn.utils.Bunch
    """
    import json

    return dataset(numbers=numbers, parameters=json.loads(parameters))


def blame(error: BaseException, file: str, shown: str | None = None) -> str:
    """Say what went wrong, and on which line of a file if it was there.

    Parameters
    ----------
    error : BaseException
    file : str
        As compiled; empty for one that is not the user's.
    shown : str, optional
        What to call it instead.

    Returns
    -------
    str
    """
    if isinstance(error, SyntaxError) and error.filename == file:
        line, text = error.lineno, error.msg
    else:
        line, text = _line(error.__traceback__, file), str(error)
    place = shown or file
    where = f"{place}:{line}: " if line else f"{place}: " if place else ""
    name = type(error).__name__
    return f"{where}{name}: {text}" if text else f"{where}{name}"


def _line(trace: TracebackType | None, file: str) -> int | None:
    """Return the innermost line of a file in a traceback."""
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line
