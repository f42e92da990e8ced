"""A kernel class made of a plug-in's function."""

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from numbers import Integral, Real
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

import numpy as np

from kernlearn.exceptions import PluginError
from kernlearn.experiments.config.model import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.experiments.plugin_objects import (
    Entry,
    Own,
    OwnComponent,
    OwnDataset,
    OwnMetric,
    Plugin,
    blame,
)
from kernlearn.experiments.registry import ESTIMATORS, KERNELS, METRICS, parameter_names
from kernlearn.experiments.scope import BUILT_IN, Scope
from kernlearn.kernels import CallableKernel, Kernel
from kernlearn.plugins import Kind, Registration, registrations

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


#: What messages call each kind.
CALLED: dict[Kind, str] = {
    "estimator": "estimator", "kernel": "kernel", "dataset": "data set", "metric": "metric",
}  # fmt: skip

# The keys beside a component's name in a config, which no parameter can have.
_KEYS: dict[Kind, set[str]] = {
    "estimator": set(MethodEntry.model_fields) - {"estimator"},
    "kernel": set(KernelEntry.model_fields) - {"kernel"},
    "dataset": set(DatasetEntry.model_fields),
    "metric": set(),
}


def entries_of(
    made: Sequence[Registration], plugin: str, file: str, shown: str
) -> Iterator[Entry]:
    """Yield what was registered, checked.

    Parameters
    ----------
    made : sequence of Registration
    plugin : str
        Name of the plug-in.
    file : str
        Of a file its path; empty for a package.
    shown : str
        What to call it in errors.

    Yields
    ------
    Entry

    Raises
    ------
    PluginError
        If a name comes twice, a parameter has the name of a config's own key, or a metric is
        for an unknown task.
    """
    seen: dict[tuple[Kind, str], int] = {}
    for one in made:
        where = f"{shown}:{one.line}: the {CALLED[one.kind]} {one.name!r}"
        if (one.kind, one.name) in seen:
            raise PluginError(f"{where} was registered on line {seen[one.kind, one.name]} already")
        seen[one.kind, one.name] = one.line
        what = _made(one, plugin, file)
        taken = _KEYS[one.kind] & _parameters(what)
        if taken:
            keys = ", ".join(sorted(taken))
            raise PluginError(
                f"{where} has a parameter {keys}, which is a config's own key; rename it"
            )
        if isinstance(what, OwnMetric):
            _check_tasks(what, where)
        yield Entry(one.kind, one.name, what, one.line)


def _made(one: Registration, plugin: str, file: str) -> Own:
    options = one.options
    if one.kind == "dataset":
        return OwnDataset(
            one.name, plugin, one.version, one.summary, one.target, options["similarity"], file
        )
    if one.kind == "metric":
        label = options["label"] or one.name.replace("_", " ")
        return OwnMetric(
            label, options["better"], one.name, plugin, one.version, options["tasks"], one.target
        )
    target: Any = one.target
    if not isinstance(target, type):
        target = kernel_class(target, one.name)
    path = f"{target.__module__}:{target.__qualname__}"
    return OwnComponent(path, one.version, one.summary, plugin=plugin, target=target)


def _parameters(what: Own) -> set[str]:
    if isinstance(what, OwnComponent):
        return set(parameter_names(what))
    return set(what.parameters) if isinstance(what, OwnDataset) else set()


def _check_tasks(metric: OwnMetric, where: str) -> None:
    from kernlearn.experiments.engine.tasks import TASKS

    for task in metric.tasks:
        if task not in TASKS:
            known = ", ".join(TASKS)
            raise PluginError(f"{where} is for the task {task!r}; there are {known}")


#: The group of entry points that installed packages use.
GROUP = "kernlearn.plugins"

_SECTIONS: dict[Kind, str] = {
    "estimator": "estimators", "kernel": "kernels", "dataset": "own_datasets", "metric": "metrics",
}  # fmt: skip
# Files that this process has run, by path and hash.
_loaded: dict[tuple[Path, str], Plugin] = {}
_loading = RLock()


def load_plugins(files: Iterable[Sequence[str]]) -> Scope:
    """Return the names that a trial sees; what is loaded already is not run again.

    Parameters
    ----------
    files : iterable of (path, hash)
        As the trial's source has them.

    Returns
    -------
    Scope
        kernlearn's own names, those of installed packages, and those of the files.

    Raises
    ------
    PluginError
        If a file cannot be loaded, or has changed since the trial was planned.
    """
    return _load_plugins(tuple((path, digest) for path, digest in files))


@lru_cache(maxsize=8)
def _load_plugins(files: tuple[tuple[str, str], ...]) -> Scope:
    scope = installed_plugins()
    for path, digest in files:
        scope = extended(scope, load_file(Path(path), digest=digest))
    return scope


def load_file(path: Path, *, shown: str | None = None, digest: str | None = None) -> Plugin:
    """Run a plug-in file, unless it has been run and has not changed.

    Parameters
    ----------
    path : Path
    shown : str, optional
        What to call it in errors.
    digest : str, optional
        Hash of what it must hold.

    Returns
    -------
    Plugin

    Raises
    ------
    PluginError
        If it cannot be read or run, has changed, or registers nothing that can be used.
    """
    shown = shown or str(path)
    with _loading:
        if digest is not None and (path, digest) in _loaded:
            return _loaded[path, digest]
        content = _content(path, shown)
        found = sha256(content).hexdigest()
        if digest is not None and found != digest:
            raise PluginError(f"{shown}: has changed since the trials were planned; run again")
        path = path.resolve()
        if (path, found) not in _loaded:
            _loaded[path, found] = _run(path, shown, content, found)
        return _loaded[path, found]


def _content(path: Path, shown: str) -> bytes:
    try:
        if path.suffix != ".py":
            raise PluginError(f"{shown}: a plug-in is a Python file, .py")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PluginError(f"{shown}: cannot be read: {reason}") from None


def _run(path: Path, shown: str, content: bytes, digest: str) -> Plugin:
    """Run a file as a module of its own, under a name that no other has."""
    mark = sha256(f"{path}\n{digest}".encode()).hexdigest()[:8]
    module = ModuleType(f"kernlearn_plugin_{path.stem}_{mark}")
    module.__file__ = str(path)
    before = len(registrations())
    # where pickle, dataclasses and type hints look for what a class is from
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, str(path), "exec", dont_inherit=True), module.__dict__)
        made = [r for r in registrations()[before:] if r.module == module.__name__]
        if not made:
            raise PluginError(f"{shown}: registers nothing; `kernlearn.plugins` says how")
        return Plugin(
            path.stem, digest, tuple(entries_of(made, path.stem, str(path), shown)), path
        )
    except BaseException as error:
        sys.modules.pop(module.__name__, None)
        if isinstance(error, PluginError | KeyboardInterrupt):
            raise
        raise PluginError(_told(error, path, shown)) from error


def _told(error: BaseException, path: Path, shown: str) -> str:
    text = blame(error, str(path), shown)
    if isinstance(error, ModuleNotFoundError) and (path.parent / f"{error.name}.py").is_file():
        text += f"; a plug-in cannot import {error.name}.py beside it: make one file of both"
    return text


def extended(scope: Scope, plugin: Plugin, shown: str | None = None) -> Scope:
    """Return the names of a scope with those of a plug-in.

    Parameters
    ----------
    scope : Scope
    plugin : Plugin
    shown : str, optional
        What to call it in errors.

    Returns
    -------
    Scope
        Names of a file stand before those of installed packages.

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
    nearer = {p.name for p in (scope.files if plugin.path is not None else scope.plugins)}
    for kind, name, what, line in plugin.entries:
        section = sections[_SECTIONS[kind]]
        owner = getattr(section.get(name), "plugin", "")
        if _is_built_in(kind, name):
            owner = "kernlearn"
        elif owner not in nearer:
            owner = ""
        if owner:
            raise PluginError(
                f"{shown}:{line}: the name {name!r} is taken: {owner} has {_a(kind)} of that name"
            )
        section[name] = what
    return replace(scope, **sections, plugins=(*scope.plugins, plugin))


def _is_built_in(kind: Kind, name: str) -> bool:
    if kind == "dataset":
        from kernlearn.datasets import catalogue, generators

        return name in catalogue() or name in generators()
    known: dict[Kind, Any] = {"estimator": ESTIMATORS, "kernel": KERNELS, "metric": METRICS}
    return name in known[kind]


def _a(kind: Kind) -> str:
    return f"{'an' if kind == 'estimator' else 'a'} {CALLED[kind]}"


@cache
def installed_plugins() -> Scope:
    """Return kernlearn's names and those of installed packages, which are loaded for it.

    Returns
    -------
    Scope
        ``broken`` says what is wrong with packages that cannot be loaded; their names are
        left out.
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
    # the module may have been imported before now
    of_module = (point.module, f"{point.module}.")
    made = {
        (one.kind, one.name): one
        for i, one in enumerate(registrations())
        if one.module == of_module[0]
        or one.module.startswith(of_module[1])
        or (i >= before and not isinstance(named, ModuleType))
    }
    if not made:
        raise PluginError(f"{point.value}: registers nothing; `kernlearn.plugins` says how")
    name, version = _package(point), point.dist.version if point.dist is not None else ""
    return Plugin(name, version, tuple(entries_of([*made.values()], name, "", point.value)))
