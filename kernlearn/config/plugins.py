"""Loading of plug-ins: files that a config names, and installed packages."""

import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral, Real
from pathlib import Path
from threading import RLock
from traceback import walk_tb
from types import ModuleType
from typing import Any

from kernlearn import datasets, kernels, plugins
from kernlearn.config.entries import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.config.names import BUILT_IN, METRICS, SUPERVISED, Scope
from kernlearn.exceptions import PluginError
from kernlearn.plugins import Kind, Plugin, Registered, registrations

#: The group of entry points that installed packages use.
GROUP = "kernlearn.plugins"

_SECTIONS: dict[Kind, str] = {
    "estimator": "estimators",
    "kernel": "kernels",
    "dataset": "own_datasets",
    "metric": "metrics",
}
# Keys beside the name of a component, which none of its parameters can have.
_RESERVED: dict[Kind, set[str]] = {
    "estimator": {*MethodEntry.model_fields} - {"estimator"},
    "kernel": {*KernelEntry.model_fields} - {"kernel"},
    "dataset": {*DatasetEntry.model_fields},
    "metric": set(),
}
# Allowed types of a parameter by the type of its default; others may be anything.
_ALLOWED: dict[type, list[Any]] = {
    bool: ["boolean"],
    int: [Integral],
    float: [Real],
    str: [str],
}
# Files that this process has executed, by path and hash.
_loaded: dict[tuple[Path, str], Plugin] = {}
_loading = RLock()


def load_plugins(files: Iterable[Sequence[str]]) -> Scope:
    """Return the names that a trial sees, for the (path, hash) of each plug-in of its source.

    Files that are loaded already are not executed again; a PluginError is raised if one cannot be
    loaded, or has changed since the trial was planned.
    """
    scope = installed_plugins()
    for path, digest in files:
        scope = extended(scope, load_file(Path(path), digest=digest))
    return scope


def load_file(path: Path, *, shown: str | None = None, digest: str | None = None) -> Plugin:
    """Execute a plug-in file, unless that has been done and the file has not changed.

    Parameters
    ----------
    path : Path
    shown : str, optional
        Its name in errors.
    digest : str, optional
        Expected hash of the content.

    Raises
    ------
    PluginError
        If it cannot be read or executed, has changed, or registers nothing that can be used.
    """
    shown = shown or str(path)
    with _loading:
        if digest is not None and (path, digest) in _loaded:
            return _loaded[path, digest]
        try:
            if path.suffix != ".py":
                raise PluginError(f"{shown}: a plug-in is a Python file, .py")
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PluginError(f"{shown}: cannot be read: {reason}") from None
        actual = sha256(content).hexdigest()
        if digest is not None and actual != digest:
            raise PluginError(f"{shown}: has changed since the trials were planned; run again")
        path = path.resolve()
        if (path, actual) not in _loaded:
            _loaded[path, actual] = _execute(path, shown, content, actual)
        return _loaded[path, actual]


def _execute(path: Path, shown: str, content: bytes, digest: str) -> Plugin:
    """Execute a file as a module with a unique name."""
    mark = sha256(f"{path}\n{digest}".encode()).hexdigest()[:8]
    module = ModuleType(f"kernlearn_plugin_{path.stem}_{mark}")
    module.__file__ = str(path)
    before = len(registrations())
    # pickle, dataclasses and type hints look the module of a class up here
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
        made = [r for r in registrations()[before:] if r.module == module.__name__]
        if not made:
            raise PluginError(f"{shown}: registers nothing; `kernlearn.plugins` says how")
        return Plugin(path.stem, digest, _checked(made, path.stem, str(path), shown), path)
    except BaseException as error:
        sys.modules.pop(module.__name__, None)
        if isinstance(error, PluginError | KeyboardInterrupt):
            raise
        text = blame(error, str(path), shown)
        if isinstance(error, ModuleNotFoundError) and (path.parent / f"{error.name}.py").is_file():
            text += (
                f"; a plug-in cannot import {error.name}.py of its folder: make one file of both"
            )
        raise PluginError(text) from error


def _checked(made: list[Registered], plugin: str, file: str, shown: str) -> tuple[Registered, ...]:
    """Check what a plug-in registered, and add the plug-in's name."""
    lines: dict[tuple[Kind, str], int] = {}
    prepared = []
    for one in made:
        where = f"{shown}:{one.line}: the {one.kind} {one.name!r}"
        key = one.kind, one.name
        if key in lines:
            raise PluginError(f"{where} was registered on line {lines[key]} already")
        lines[key] = one.line
        own: dict[str, Any] = {"plugin": plugin}
        if isinstance(one, plugins.RegisteredDataset):
            own["file"] = file
        elif isinstance(one, plugins.RegisteredKernel) and not isinstance(one.target, type):
            own["target"] = kernel_class(one.target, one.name)
        elif isinstance(one, plugins.RegisteredEstimator):
            own["takes"] = next((p for p in ("kernel", "similarity") if p in one.parameters), "")
        elif isinstance(one, plugins.RegisteredMetric):
            for task in one.tasks:
                if task not in SUPERVISED:
                    available = ", ".join(SUPERVISED)
                    raise PluginError(f"{where} is for the task {task!r}; there are {available}")
        if taken := _RESERVED[one.kind] & set(one.parameters):
            keys = ", ".join(sorted(taken))
            raise PluginError(
                f"{where} has a parameter {keys}, which is a config's own key; rename it"
            )
        prepared.append(replace(one, **own))
    return tuple(prepared)


def kernel_class(function: Callable[..., Any], name: str) -> type[Any]:
    """Make a kernel class from a function.

    Parameters
    ----------
    function : callable
        (X, Y) -> matrix; its further parameters, all with defaults, become the kernel's.
    name : str
        Name of the class.
    """
    parameters = [
        p.replace(kind=p.KEYWORD_ONLY)
        for p in list(inspect.signature(function).parameters.values())[2:]
    ]
    defaults = {p.name: p.default for p in parameters}

    # scikit-learn and the checks of a config read the parameters from this
    this = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    signature = inspect.Signature([this, *parameters])

    def __init__(self: Any, **values: Any) -> None:
        signature.bind(self, **values)
        for key, value in (defaults | values).items():
            setattr(self, key, value)

    def __call__(self: Any, X: Any, Y: Any = None) -> Any:
        compare = partial(function, **self.get_params(deep=False))
        return kernels.CallableKernel(compare, takes="matrices")(X, Y)

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    constraints = {k: _ALLOWED[type(v)] for k, v in defaults.items() if type(v) in _ALLOWED}
    body = {
        "__init__": __init__,
        "__call__": __call__,
        "__doc__": function.__doc__,
        "__module__": function.__module__,
        "_parameter_constraints": constraints,
    }
    return type(name, (kernels.Kernel,), body)


def extended(scope: Scope, plugin: Plugin, shown: str | None = None) -> Scope:
    """Return the names of a scope with those of a plug-in.

    Names of a file take precedence over those of installed packages.

    Raises
    ------
    PluginError
        If a name is taken, or two files have the same name.
    """
    if plugin in scope.plugins:
        return scope
    shown = shown or str(plugin.path or plugin.name)
    if any(plugin.name == other.name for other in scope.files):
        raise PluginError(f"{shown}: another plug-in is called {plugin.name} too; rename one")
    sections: dict[str, Any] = {s: dict(getattr(scope, s)) for s in _SECTIONS.values()}
    rivals = {p.name for p in (scope.files if plugin.path is not None else scope.plugins)}
    for one in plugin.registered:
        section = sections[_SECTIONS[one.kind]]
        present = getattr(section.get(one.name), "plugin", "")
        owner = "kernlearn" if _is_built_in(one) else present
        if owner in {"kernlearn", *rivals}:
            text = f"the name {one.name!r} is taken: {owner} has a {one.kind} of that name"
            raise PluginError(f"{shown}:{one.line}: {text}")
        section[one.name] = one
    return replace(scope, **sections, plugins=(*scope.plugins, plugin))


def _is_built_in(one: Registered) -> bool:
    if one.kind == "dataset":
        return datasets.is_shipped(one.name) or one.name in datasets.generators()
    # a plug-in may define a scorer of scikit-learn otherwise
    names = METRICS if one.kind == "metric" else getattr(BUILT_IN, _SECTIONS[one.kind])
    return one.name in names


@cache
def installed_plugins() -> Scope:
    """Return kernlearn's names and those of installed packages, which are loaded.

    ``broken`` names the packages that cannot be loaded, with the errors.
    """
    scope = BUILT_IN
    with _loading:
        for point in sorted(entry_points(group=GROUP), key=lambda p: (_package(p), p.name)):
            try:
                scope = extended(scope, _load_entry_point(point), point.value)
            except PluginError as error:
                text = f"the installed plug-in {_package(point)} cannot be loaded: {error}"
                scope = replace(scope, broken=(*scope.broken, text))
    return scope


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.module


def _load_entry_point(point: EntryPoint) -> Plugin:
    before = len(registrations())
    try:
        named = point.load()
        if not isinstance(named, ModuleType):
            named()
    except (Exception, SystemExit) as error:
        raise PluginError(f"{point.value}: {blame(error, '')}") from error
    # the module may have been imported earlier
    made = {
        (one.kind, one.name): one
        for i, one in enumerate(registrations())
        if f"{one.module}.".startswith(f"{point.module}.")
        or (i >= before and not isinstance(named, ModuleType))
    }
    if not made:
        raise PluginError(f"{point.value}: registers nothing; `kernlearn.plugins` says how")
    name, version = _package(point), point.dist.version if point.dist is not None else ""
    return Plugin(name, version, _checked([*made.values()], name, "", point.value))


def blame(error: BaseException, file: str, shown: str | None = None) -> str:
    """Describe an error, with the line of a file if it was raised there.

    Parameters
    ----------
    error : BaseException
    file : str
        As compiled; empty for a file that is not the user's.
    shown : str, optional
        Its name in the message.
    """
    if isinstance(error, SyntaxError) and error.filename == file:
        line, text = error.lineno, error.msg
    else:
        steps = walk_tb(error.__traceback__)
        lines = [number for frame, number in steps if frame.f_code.co_filename == file]
        line, text = lines[-1] if lines else None, str(error)
    place = shown or file
    where = f"{place}:{line}: " if line else f"{place}: " if place else ""
    name = type(error).__name__
    return f"{where}{name}: {text}" if text else f"{where}{name}"
