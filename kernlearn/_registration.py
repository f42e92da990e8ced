"""What plug-ins register: checked where it is done, and kept for who loads them."""

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, Literal, TypeVar

Kind = Literal["estimator", "kernel", "dataset", "metric"]
Target = TypeVar("Target", bound=Callable[..., Any])

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Registration:
    """What a plug-in registered.

    Attributes
    ----------
    kind : {"estimator", "kernel", "dataset", "metric"}
    name : str
        What configs call it.
    target : class or function
    version : int
    summary : str
        One line for ``kernlearn list``.
    module, line : str, int
        Where it was registered.
    options : mapping
        What else the kind has.
    """

    kind: Kind
    name: str
    target: Callable[..., Any]
    version: int
    summary: str
    module: str
    line: int
    options: Mapping[str, Any] = field(default_factory=dict)


# All that was registered in this process, in its order.
_registered: list[Registration] = []


def registrations() -> tuple[Registration, ...]:
    """Return all that was registered in this process, in its order."""
    return tuple(_registered)


def begin(
    kind: Kind, name: str | None, version: int, summary: str, **options: Any
) -> Callable[[Target], Target]:
    """Check what all kinds have in common, and note who calls the function that calls this.

    Returns
    -------
    callable
        Keeps a class or function as registered there, and hands it back.
    """
    if isinstance(name, type | FunctionType):
        raise TypeError(f"write the decorator with brackets, as @register_{kind}()")
    if name is not None and not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"a name must be letters, digits and underscores, not {name!r}")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ValueError(f"version must be an integer of at least 1, not {version!r}")
    caller = sys._getframe(2)
    module, line = str(caller.f_globals.get("__name__")), caller.f_lineno

    def keep(target: Target) -> Target:
        called = name or target.__name__
        if not called.isidentifier():
            raise ValueError(f"{called} is no name for a config: give one in the brackets")
        first_line = inspect.cleandoc(target.__doc__ or "").partition("\n")[0]
        _registered.append(
            Registration(
                kind, called, target, version, summary or first_line, module, line, options
            )
        )
        return target

    return keep


def check_methods(target: type, needed: Iterable[str], base: str) -> None:
    """Refuse a class without some methods; a base class has them all."""
    found = {name for parent in target.__mro__ for name in vars(parent)}
    missing = [name for name in needed if name not in found]
    if missing:
        raise TypeError(f"{target.__name__} has no {', '.join(missing)}: derive it from {base}")


def check_function(target: Any, what: str, n_given: int, also: str = "") -> None:
    """Refuse what is no function of so many arguments, and of one more by name."""
    if isinstance(target, type) or not callable(target):
        raise TypeError(f"{what}, not {target!r}")
    parameters = list(inspect.signature(target).parameters.values())
    given = [p for p in parameters[:n_given] if p.kind in _POSITIONAL]
    if len(given) < n_given:
        raise TypeError(f"{what}; {target.__name__} takes {len(given)} arguments by position")
    check_defaults(target, {*(p.name for p in given), also})


def check_defaults(target: Any, given: Iterable[str] = ()) -> None:
    """Refuse parameters that a config cannot name, and those that it would have to."""
    for parameter in inspect.signature(target).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD and isinstance(target, type):
            continue  # scikit-learn passes over these too
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(f"{target.__name__} takes {parameter}: name every parameter")
        if parameter.default is parameter.empty and parameter.name not in given:
            raise TypeError(
                f"parameter {parameter.name!r} of {target.__name__} needs a default: a config may "
                "leave it out"
            )
