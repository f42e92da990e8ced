"""What a name in a config stands for, and what may be written beside it."""

import difflib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Component:
    """A class or function that a config can name.

    Attributes
    ----------
    path : str
        ``"module:name"``.
    version : int
        Raised when the same parameters give other numbers, so that stored ones are stale.
    summary : str
        One line for ``kernlearn list``.
    extra : str
        The extra that installs the library it comes from; empty for what is always there.
    plugin : str
        The plug-in that registered it; empty for kernlearn's own.
    """

    path: str
    version: int
    summary: str
    extra: str = ""
    plugin: str = ""

    @property
    def identity(self) -> dict[str, Any]:
        """What a trial's key holds of it besides its name."""
        return {"version": self.version} | ({"plugin": self.plugin} if self.plugin else {})

    @property
    def installed(self) -> bool:
        """Whether the library that it comes from is there."""
        return find_spec(self.path.partition(".")[0]) is not None

    def load(self) -> Any:
        """Import and return the class or function."""
        module, _, name = self.path.partition(":")
        return getattr(import_module(module), name)


@dataclass(frozen=True)
class Metric:
    """What is known of a metric.

    Attributes
    ----------
    label : str
        Head of its column.
    better : {1, -1, 0}
        1 where more is better, -1 where less is, 0 where neither.
    """

    label: str
    better: int


def suggestion(word: str, known: Iterable[str]) -> str:
    """Say what is allowed, and which of it was probably meant.

    Parameters
    ----------
    word : str
        What was written.
    known : iterable of str
        What could have been.

    Returns
    -------
    str
        ``"; did you mean 'x'?"`` or ``"; allowed: a, b, c"``.
    """
    names = sorted(known)
    lowered = {n.lower(): n for n in names}
    close = difflib.get_close_matches(word.lower(), lowered, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {lowered[close[0]]!r}?"
    return f"; allowed: {', '.join(names)}" if names else "; nothing is allowed here"


@cache
def parameter_names(component: Component) -> tuple[str, ...]:
    """Return the names of the parameters that a config may set."""
    return tuple(
        name
        for name, parameter in inspect.signature(component.load()).parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and name != "random_state"
    )


def kernel_parameter(component: Component) -> str | None:
    """Return the name of the parameter that takes a kernel; None for what takes none."""
    names = parameter_names(component)
    return next((name for name in ("kernel", "similarity") if name in names), None)
