"""What is still there under an old name, and the warning that says so (docs/versions.md)."""

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, TypeVar, cast

_Object = TypeVar("_Object", bound=Callable[..., Any])

#: The value of an estimator's old parameter that was not given.
NOT_GIVEN = "deprecated"


@dataclass(frozen=True)
class Deprecation:
    """Something that will be removed.

    Parameters
    ----------
    what : str
        A name such as ``"kernlearn.pairwise.follow"``, or ``"the parameter 'm' of OLP"``.
    since, removed_in : str
        The versions that deprecates and that removes it, such as ``"0.2"`` and ``"0.4"``.
    instead : str
        What to do now, such as ``"import it from kernlearn.pairwise.regret"``.
    """

    what: str
    since: str
    removed_in: str
    instead: str

    def warn(self, stacklevel: int = 2) -> None:
        """Warn the caller's caller, or one further up."""
        warnings.warn(str(self), FutureWarning, stacklevel=stacklevel + 1)

    def __str__(self) -> str:
        return (
            f"{self.what} is deprecated since version {self.since} and will be removed in "
            f"{self.removed_in}: {self.instead}"
        )


#: Everything that is deprecated; the tests fail when something should be gone.
DEPRECATIONS: list[Deprecation] = []


def deprecation(what: str, since: str, removed_in: str, instead: str) -> Deprecation:
    """Note that something is deprecated, once, and return what warns of it."""
    noted = Deprecation(what, since, removed_in, instead)
    if noted not in DEPRECATIONS:
        DEPRECATIONS.append(noted)
    return noted


def deprecated(since: str, removed_in: str, instead: str) -> Callable[[_Object], _Object]:
    """Mark a function or a class as deprecated: a call of it warns.

    Parameters
    ----------
    since, removed_in, instead : str
        As for :class:`Deprecation`.

    Examples
    --------
    >>> from kernlearn.deprecation import deprecated
    >>> @deprecated("0.2", "0.4", "call f")
    ... def g():
    ...     return 1
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     value = g()
    >>> print(str(caught[0].message).partition(".g ")[2])
    is deprecated since version 0.2 and will be removed in 0.4: call f
    """

    def mark(thing: _Object) -> _Object:
        noted = deprecation(_name(thing), since, removed_in, instead)
        if isinstance(thing, type):
            construct = cast(Any, thing).__init__

            @wraps(construct)
            def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
                if type(self) is thing:  # one that inherits from it is another class
                    noted.warn()
                construct(self, *args, **kwargs)

            # what scikit-learn reads the parameters from
            cast(Any, __init__).__signature__ = inspect.signature(construct)
            cast(Any, thing).__init__ = __init__
            return thing

        @wraps(thing)
        def call(*args: Any, **kwargs: Any) -> Any:
            noted.warn()
            return thing(*args, **kwargs)

        return cast(_Object, call)

    return mark


def renamed_parameters(
    since: str, removed_in: str, **new_names: str
) -> Callable[[_Object], _Object]:
    """Take parameters of a function by their old names too.

    Parameters
    ----------
    since, removed_in : str
        As for :class:`Deprecation`.
    **new_names : str
        The new name of each old one, which is no parameter of the function any more.

    Examples
    --------
    >>> from kernlearn.deprecation import renamed_parameters
    >>> @renamed_parameters("0.2", "0.4", m="n_landmarks")
    ... def landmarks(n_landmarks):
    ...     return n_landmarks
    >>> landmarks(m=3)  # warns
    3
    """

    def mark(function: _Object) -> _Object:
        notes = {
            old: deprecation(
                f"the parameter {old!r} of {_name(function)}", since, removed_in, f"use {new!r}"
            )
            for old, new in new_names.items()
        }
        parameters = inspect.signature(function).parameters

        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            by_place = list(parameters)[: len(args)]
            for old in notes.keys() & kwargs.keys():
                new = new_names[old]
                if new in kwargs or new in by_place:
                    raise TypeError(f"{_name(function)} got both {old!r} and {new!r}")
                notes[old].warn()
                kwargs[new] = kwargs.pop(old)
            return function(*args, **kwargs)

        return cast(_Object, call)

    return mark


def renamed_value(estimator: Any, old: str, new: str, *, since: str, removed_in: str) -> Any:
    """Return the value of an estimator's parameter that may be given by its old name.

    The old parameter stays in the constructor, with :data:`NOT_GIVEN` as its default, so that the
    estimator can be cloned; `fit` calls this.

    Raises
    ------
    ValueError
        If the old one is given, and the new one has another value than its default.
    """
    name = type(estimator).__name__
    noted = deprecation(f"the parameter {old!r} of {name}", since, removed_in, f"use {new!r}")
    value = getattr(estimator, old)
    if isinstance(value, str) and value == NOT_GIVEN:
        return getattr(estimator, new)
    usual = inspect.signature(type(estimator)).parameters[new].default
    if getattr(estimator, new) is not usual and getattr(estimator, new) != usual:
        raise ValueError(f"{name} got both {old!r} and {new!r}: give {new!r} alone")
    noted.warn(stacklevel=3)
    return value


def _name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"
