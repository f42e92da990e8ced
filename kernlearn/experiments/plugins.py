"""Plug-ins loaded: files that a config names, and installed packages with an entry point.

Each file is run once in a process for each of its states, and what it registered is seen only by
the configs that name it. A trial carries the files, with a hash of what they held when it was
planned, so that any process can load them and none takes a file that has changed since.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

from kernlearn._registration import Kind, registrations
from kernlearn.exceptions import PluginError
from kernlearn.experiments._plugin_entries import CALLED, entries_of
from kernlearn.experiments.own import Plugin, blame
from kernlearn.experiments.registry import ESTIMATORS, KERNELS, METRICS
from kernlearn.experiments.scope import BUILT_IN, Scope

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
