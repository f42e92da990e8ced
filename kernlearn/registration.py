"""Records of the classes and functions that configs can name."""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

Kind = Literal["estimator", "kernel", "dataset", "metric"]


@cache
def is_installed(package: str) -> bool:
    """Tell whether a package can be imported, without importing it."""
    return find_spec(package) is not None


@dataclass(frozen=True)
class Registered:
    """A class or function that configs can name, built in or from a plug-in.

    Attributes
    ----------
    name : str
        Its name in configs.
    target : class, function or str
        ``"module:name"`` is imported on first use.
    version : int
        Raised when the same parameters give different numbers.
    summary : str
        One line for ``kernlearn list``.
    plugin : str
        The plug-in that registers it; empty for kernlearn's own.
    extra : str
        The extra that installs the library it needs, if that is optional.
    needs : str
        The package that it needs, if that is not the one of its target.
    module, line : str, int
        Where a plug-in registers it.
    """

    kind: ClassVar[Kind]

    name: str
    target: Any = None
    version: int = 1
    summary: str = ""
    plugin: str = ""
    extra: str = ""
    needs: str = ""
    module: str = ""
    line: int = 0

    def load(self) -> Any:
        """Import and return the class or function."""
        if not isinstance(self.target, str):
            return self.target
        module, _, name = self.target.partition(":")
        return getattr(import_module(module), name)

    @property
    def installed(self) -> bool:
        """Whether the library that it comes from, or needs, is installed."""
        if self.needs:
            return is_installed(self.needs)
        return not isinstance(self.target, str) or is_installed(re.split("[.:]", self.target)[0])

    @property
    def identity(self) -> dict[str, Any]:
        """What the key of a trial contains of it besides the name."""
        return {"version": self.version} | ({"plugin": self.plugin} if self.plugin else {})

    @property
    def stored_name(self) -> str:
        """The name that it has in the keys of trials."""
        return self.name

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The names and defaults of its parameters."""
        return {
            name: parameter.default
            for name, parameter in inspect.signature(self.load()).parameters.items()
            if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        }

    @property
    def settable(self) -> list[str]:
        """The parameters that a config may set."""
        return [name for name in self.parameters if name != "random_state"]


@dataclass(frozen=True)
class RegisteredEstimator(Registered):
    """An estimator; ``takes`` names its parameter for a kernel, if it has one.

    ``pinned`` are the former values of defaults
    that have changed since results were stored, for configs with ``defaults: papers``.
    ``reads_rows`` tells that `fit` takes a source of rows, whose partitions other processes read.
    """

    kind = "estimator"
    takes: str = ""
    reads_rows: bool = False
    pinned: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def foreign(self) -> bool:
        """Whether it is of another library."""
        return isinstance(self.target, str) and not self.target.startswith("kernlearn.")


@dataclass(frozen=True)
class RegisteredKernel(Registered):
    """A kernel or similarity: a class, or a function of a plug-in; and the points it compares."""

    kind = "kernel"
    points: str = "vectors"

    @property
    def stored_name(self) -> str:
        """The name of the class for a built-in kernel."""
        return self.name if self.plugin else str(self.target).partition(":")[2]


@dataclass(frozen=True)
class RegisteredDataset(Registered):
    """A function that returns data; with the parameter ``random_state`` a generator.

    ``similarity`` tells what the entries of X are if they compare points.
    """

    kind = "dataset"
    similarity: Literal["similarity", "distance"] | None = None
    file: str = ""

    @property
    def title(self) -> str:
        """Its summary."""
        return self.summary

    @property
    def is_generator(self) -> bool:
        """Whether new data is drawn for every split."""
        return "random_state" in self.parameters


@dataclass(frozen=True)
class RegisteredMetric(Registered):
    """A metric.

    ``better`` is 1 where more is better, -1 where less is, and 0 for neither; ``label`` is the
    heading of its column; ``scorer`` the name of scikit-learn's scorer, for those. Metrics without
    a target are measured by the runner itself, those that are ``named`` only where a config does.
    """

    kind = "metric"
    label: str = ""
    better: int = 0
    tasks: tuple[str, ...] = ()
    scorer: str = ""
    named: bool = False


@dataclass(frozen=True, eq=False)
class Plugin:
    """A plug-in that has been loaded.

    Attributes
    ----------
    name : str
        Name of the file without its ending, or of the package.
    state : str
        Identifies its present version: a hash of the file, or the version of the package.
    registered : tuple of Registered
    path : Path or None
        The file, unless it is a package.
    """

    name: str
    state: str
    registered: tuple[Registered, ...]
    path: Path | None = None


_R = TypeVar("_R", bound=Registered)


def by_name(*registered: _R) -> dict[str, _R]:
    """Return records by their names, in this order."""
    return {one.name: one for one in registered}
