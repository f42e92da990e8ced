"""A kernel class made of a plug-in's function."""

import inspect
from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np

from kernlearn.kernels import CallableKernel, Kernel

# What a parameter may be, by the type of its default; others may be anything.
_CONSTRAINTS: dict[type, list[Any]] = {
    bool: ["boolean"], int: [Integral], float: [Real], str: [str],
}  # fmt: skip


def kernel_class(function: Callable[..., Any], name: str) -> type[Kernel]:
    """Make a kernel class of a function.

    Parameters
    ----------
    function : callable
        (X, Y) -> matrix; its further parameters, all with defaults, become the kernel's.
    name : str
        Name of the class.

    Returns
    -------
    type
    """
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in list(inspect.signature(function).parameters.values())[2:]
    ]
    defaults = {p.name: p.default for p in parameters}

    # what scikit-learn, and a config's check, take for the parameters
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([this, *parameters])

    def __init__(self: Any, **values: Any) -> None:
        signature.bind(self, **values)
        for key, value in (defaults | values).items():
            setattr(self, key, value)

    def __call__(self: Any, X: Any, Y: Any = None) -> np.ndarray:
        return CallableKernel(partial(function, **self.get_params(deep=False)))(X, Y)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    constraints = {
        key: _CONSTRAINTS[type(value)]
        for key, value in defaults.items()
        if type(value) in _CONSTRAINTS
    }
    body = {
        "__init__": __init__, "__call__": __call__, "__doc__": function.__doc__,
        "__module__": function.__module__, "_parameter_constraints": constraints,
    }  # fmt: skip
    return type(name, (Kernel,), body)
