"""What a data set's function of a plug-in returned, checked and in the form of ``load``."""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch
from sklearn.utils.validation import check_array

from kernlearn.datasets import fingerprint
from kernlearn.exceptions import DataError
from kernlearn.experiments.registry import Component, Metric
from kernlearn.plugins import Kind


def as_bunch(made: Any, *, numbers: bool, similarity: str | None = None) -> Bunch:
    """Return data in the form of :func:`kernlearn.datasets.load`.

    Parameters
    ----------
    made : tuple or mapping
        (X, y), or ``data``, ``target`` and what else there is. y may be None.
    numbers : bool
        Whether what is predicted is a number; else the distinct values of y are classes.
    similarity : {"similarity", "distance"}, optional
        What the entries of X are, where they compare points.

    Returns
    -------
    sklearn.utils.Bunch

    Raises
    ------
    TypeError, ValueError
        If it is no such data.
    """
    given = _given(made)
    X = check_array(
        given["data"], accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"
    )
    n = X.shape[0]
    if similarity is not None and X.shape != (n, n):
        raise ValueError(f"X compares points, so it must be square, not of shape {X.shape}")
    y, names = _target(given.get("target"), given.get("target_names"), numbers, n)
    found = Bunch(
        data=X, target=y, target_names=names, card=None, path=None, sample=False,
        note=str(given.get("note") or ""),
    )  # fmt: skip
    if similarity is not None:
        found["similarity"] = similarity
    for key in ("query", "fold"):
        if given.get(key) is not None:
            found[key] = _whole_numbers(given[key], key, n)
    found["fingerprint"] = fingerprint(X, _spelt(found))
    return found


def _given(made: Any) -> Mapping[str, Any]:
    if isinstance(made, tuple) and len(made) == 2:
        return {"data": made[0], "target": made[1]}
    if isinstance(made, Mapping) and "data" in made:
        return made
    kind = f"a tuple of {len(made)}" if isinstance(made, tuple) else f"a {type(made).__name__}"
    raise TypeError(f"must return (X, y), or a Bunch with data and target, not {kind}")


def _target(
    y: Any, names: Any, numbers: bool, n: int
) -> tuple[NDArray[Any] | None, NDArray[np.str_]]:
    """Return numbers, or codes of classes and the names of these."""
    none = np.array((), dtype=np.str_)
    if y is None:
        return None, none
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y must have one value for each of {n} rows of X, not shape {y.shape}")
    if numbers:
        try:
            y = y.astype(np.float64)
        except ValueError:
            raise ValueError("y must be numbers for regression, not text") from None
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y has entries that are NaN or infinite")
    if numbers:
        return y, none
    if names is not None and len(names):
        codes = _whole_numbers(y, "target", n)
        if codes.min() < 0 or codes.max() >= len(names):
            raise ValueError(f"target must be codes 0 to {len(names) - 1} of the target_names")
        return codes, np.array([str(name) for name in names], dtype=np.str_)
    distinct, codes = np.unique(y, return_inverse=True)
    return codes.astype(np.int64), np.array([_name(v) for v in distinct], dtype=np.str_)


def _name(value: Any) -> str:
    return f"{value:g}" if isinstance(value, np.floating) else str(value)


def _whole_numbers(values: Any, name: str, n: int) -> NDArray[np.int64]:
    found = np.asarray(values)
    if found.shape != (n,) or found.dtype.kind not in "iub":
        raise ValueError(f"{name} must be {n} whole numbers, one a row of X")
    return found.astype(np.int64)


def _spelt(data: Bunch) -> Any:
    """Return what is hashed of each row besides its features."""
    labels = data.target
    if labels is not None and len(data.target_names):
        labels = data.target_names[labels]
    extra = [data[key] for key in ("query", "fold") if key in data]
    if not extra:
        return labels
    whole = zip(labels if labels is not None else [""] * len(extra[0]), *extra, strict=True)
    return np.array([" ".join(map(str, row)) for row in whole])


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
