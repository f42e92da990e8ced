"""Reading of configs: where they are, profiles and settings, and errors with file and line.

A fault is a path of keys with what is wrong there. All faults of a config are in one error.
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from functools import cache
from inspect import Parameter, isclass
from math import inf, isfinite
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from kernlearn import datasets
from kernlearn.checks import listed, suggestion
from kernlearn.config import model
from kernlearn.config.model import reported_files
from kernlearn.config.names import BUILT_IN, KINDS, SUPERVISED, TASKS, Scope
from kernlearn.config.values import LABELS, RESERVED, Value, as_label
from kernlearn.datasets.card import OF_FILE
from kernlearn.datasets.files import shipped
from kernlearn.exceptions import ConfigError, KernlearnError, PluginError
from kernlearn.plugins import Plugin, Registered, load_file
from kernlearn.yaml import KeyPath, explained, parse_scalar, read_yaml

Fault = tuple[KeyPath, str]

#: Folders of the experiments that come with kernlearn; those of the papers are in none.
_FOLDERS = ("", "controls", "demos", "objects", "today")


class Names:
    """What the sections of a config may refer to: the context of their validation.

    Attributes
    ----------
    scope : Scope
    folder : Path
        Folder of the config.
    labels : dict of str to list of str
        The labels of each kind: "dataset", "kernel" and "method".
    axes : dict of str to list
        The varied parameters with all their values, and "kernel" with the labels of results.
    as_written : bool
        Whether no profile or setting has changed the config, and no entry has a fault.
    task : str
    derived : list of str
        The derived metrics.
    """

    def __init__(self, raw: Any, scope: Scope, folder: Path, as_written: bool = True) -> None:
        sections = {key: value if isinstance(value, dict) else {} for key, value in raw.items()}
        self.scope, self.folder, self.as_written = scope, folder, as_written
        self.labels = {label: [*sections.get(f"{label}s", ())] for label in LABELS}
        self.axes: dict[str, list[Any]] = {}
        self.task = str(raw.get("task", "classification"))
        self.derived = [*sections.get("derived", ())]

    def of(self, kind: str) -> list[str]:
        """Return the names of a kind."""
        if kind == "task":
            return [*TASKS]
        if kind == "reported numbers":
            return [*reported_files(self.folder)]
        if kind == "config":
            folders = (self.folder, shipped("configs"))
            return [path.stem for folder in folders for path in folder.rglob("[!.]*.yaml")]
        if kind.startswith("label"):
            labels = dict.fromkeys((*LABELS, *self.axes))
            return [*labels, *(["metric"] if kind == "label or metric" else [])]
        if kind.endswith("metric"):
            measured = self.scope.task_metrics(self.task)
            return [*measured, *(self.derived if kind == "metric" else [])]
        return self.labels[kind]

    def check(self, kind: str, name: Any) -> None:
        """Raise a ValueError if there is no such name of a kind."""
        # an unknown task has no metrics
        if name not in (allowed := self.of(kind)) and (allowed or not kind.endswith("metric")):
            what = kind.replace("dataset", "data set")
            tasks = [one for one in TASKS if name in self.scope.task_metrics(one)]
            if tasks and kind.endswith("metric"):
                raise ValueError(f"{name!r} is a {what} of {listed(tasks)}, not of {self.task}")
            raise ValueError(f"no {what} {name!r}{suggestion(str(name), allowed)}")

    def check_value(self, label: str, value: Any) -> None:
        """Raise a ValueError if no cell of the config as written has a value of a label."""
        if label not in self.axes:
            self.check(label, value)
        elif self.as_written and value not in (known := [*map(as_label, self.axes[label])]):
            raise ValueError(f"no {label} {value!r}{suggestion(str(value), map(str, known))}")


def find_config(name: str | Path) -> Path:
    """Find a config by path or, among those that come with kernlearn, by name.

    Parameters
    ----------
    name : str or Path
        ``configs/table3_1.yaml`` or ``table3_1``.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    ConfigError
        If there is no such file and no shipped config of that name.

    Examples
    --------
    >>> from kernlearn.config import find_config
    >>> find_config("table3_1").name
    'table3_1.yaml'
    """
    path = Path(name)
    with suppress(OSError):  # of a name that is too long
        if path.is_file():
            return path
    known = {**shipped_configs(), **shipped_configs("examples")}
    # "configs/table3_1.yaml" outside a checkout is the shipped config, as "table3_1" is
    short = path.with_suffix("").as_posix().removeprefix("configs/")
    short = short if short in known or path.parts[:1] != ("configs",) else path.stem
    if path.suffix in ("", ".yaml", ".yml") and short in known:
        return known[short]
    text = f"{name}: no such file, and no config of that name comes with kernlearn"
    beside = [str(one) for one in path.parent.glob("[!.]*.yaml")]
    raise ConfigError(f"{text}{suggestion(path.stem, [*known, *beside])}")


def shipped_configs(folder: str = "") -> dict[str, Path]:
    """Return the configs that come with kernlearn, by name; or those of a folder among them.

    Examples and lists of methods have a name with their folder; they are no experiments.
    """
    root = shipped("configs")
    if folder:
        return {f"{folder}/{path.stem}": path for path in sorted((root / folder).glob("*.yaml"))}
    paths = [path for name in _FOLDERS for path in (root / name).glob("*.yaml")]
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def shipped_name(path: Path) -> str | None:
    """Return the name by which a config that comes with kernlearn is found; None for others."""
    known = {**shipped_configs(), **shipped_configs("examples")}
    return next((name for name, place in known.items() if place == path.resolve()), None)


def load_config(
    name: str | Path, *, profile: str = model.DEFAULT_PROFILE, settings: Sequence[str] = ()
) -> model.LoadedExperiment:
    """Read a config, apply a profile and settings, and check everything.

    Parameters
    ----------
    name : str or Path
        A path, or the name of a shipped config.
    profile : str, default="full"
        ``"full"`` is the config without changes; others are defined under its ``profiles``.
    settings : sequence of str
        ``"path.to.key=value"``, the value as YAML; a key of the protocol needs no prefix.
        Those that change nothing are not kept.

    Returns
    -------
    LoadedExperiment

    Raises
    ------
    ConfigError
        With one line for every fault: ``file:line: path: what is wrong``. Its cause is the
        first exception of a plug-in.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> loaded = load_config("demo_ordinal", profile="quick", settings=["seed=7"])
    >>> loaded.config.title
    'Ordinal regression with landmarks, in small'
    >>> loaded.config.protocol.splits, loaded.config.protocol.seed
    (2, 7)
    """
    return _Draft(find_config(name)).loaded(profile, settings)


def check_variants(experiment: model.LoadedExperiment) -> None:
    """Check the profiles of a config and the alternatives of its forks.

    Raises
    ------
    ConfigError
        With the faults of the first that has any.
    """
    draft = _Draft(experiment.path)
    for profile in experiment.config.profiles:
        deepcopy(draft).loaded(profile, ())
    for fork in experiment.config.forks:
        for changes in fork.alternatives.values():
            deepcopy(draft).loaded(model.DEFAULT_PROFILE, changes)


def load_scope(name: str | Path) -> Scope:
    """Load the plug-ins that a config names; nothing else of it is checked."""
    return _Draft(find_config(name)).scope()


class _Draft:
    """A config as it is written, with the file and line, or the setting, of each value."""

    def __init__(self, path: Path) -> None:
        raw, lines = read_yaml(path)
        if not isinstance(raw, dict):
            advice = f"`kernlearn init {path}` writes one for a file of data"
            raise ConfigError(f"{path}:1: a config is a mapping of keys to values; {advice}")
        self.path, self.raw, self.as_written = path, raw, True
        self.places = {key: f"{path}:{line}" for key, line in lines.items()}
        self._label_entries()

    def loaded(self, profile: str, settings: Iterable[str]) -> model.LoadedExperiment:
        """Apply a profile and settings, and return the experiment."""
        self.use_profile(profile)
        changes = []
        for setting in settings:
            before = repr(self.raw)  # 1.0 is not 1 everywhere
            self.set(setting)
            changes += [setting] if repr(self.raw) != before else []
        return model.LoadedExperiment(
            name=self.path.stem,
            path=self.path,
            profile=profile,
            config=self.checked(),
            settings=tuple(changes),
        )

    def _label_entries(self) -> None:
        """Make sections of entries mappings by label."""
        for key in _ENTRIES:
            labels = section if isinstance(section := self.raw.get(key), list) else []
            if twice := [label for label in labels if labels.count(label) > 1]:
                raise ConfigError(f"{self.place((key,))}: {key}: {twice[0]} is listed twice")
        self.raw |= {key: _by_label(self.raw[key]) for key in _ENTRIES.keys() & self.raw.keys()}

    def use_profile(self, profile: str) -> None:
        """Apply the changes of a profile."""
        profiles = self.raw.get("profiles")
        defined = profiles if isinstance(profiles, dict) else {}
        if model.DEFAULT_PROFILE in defined:
            place = self.place(("profiles", model.DEFAULT_PROFILE))
            raise ConfigError(f"{place}: `full` is the config itself; name the profile otherwise")
        if profile not in [*defined, model.DEFAULT_PROFILE]:
            hint = suggestion(profile, [*defined, model.DEFAULT_PROFILE])
            raise ConfigError(f"{self.place(('profiles',))}: no profile {profile!r}{hint}")
        changes = defined.get(profile)
        for key, value in changes.items() if isinstance(changes, dict) else ():
            self._put(key, value, self.place(("profiles", profile, key)))

    def set(self, setting: str) -> None:
        """Apply a setting of the command line."""
        key, equals, text = setting.partition("=")
        if not equals or not key:
            raise ConfigError(f"-o {setting}: a setting is key=value, such as splits=2")
        try:
            value = parse_scalar(text)
        except ConfigError as error:
            raise ConfigError(f"-o {setting}: {error}") from None
        self._put(key, value, f"-o {setting}")

    def _put(self, key: str, value: Any, place: str) -> None:
        """Set the value at a path of keys joined by dots, with the sections around it."""
        if key == "protocol" and isinstance(value, dict):
            for inner, one in value.items():  # what a profile does not name stays
                self._put(f"protocol.{inner}", one, place)
            return
        path = ("protocol", key) if key in model.Protocol.model_fields else tuple(key.split("."))
        here: Any = self.raw
        self.as_written = False
        for i, step in enumerate(path[:-1], 1):
            if here.get(step) is None:
                here[step], self.places[path[:i]] = {}, place
            here = here[step]
            if not isinstance(here, dict):
                raise ConfigError(f"{place}: {step} has no keys to set")
        here[path[-1]] = deepcopy(value)
        self._label_entries()
        self.places = {p: at for p, at in self.places.items() if p[: len(path)] != path}
        self.places[path] = place

    def place(self, path: Sequence[str | int]) -> str:
        """Return the place of a value, or of the nearest one around it."""
        ends = (tuple(path[:end]) for end in range(len(path), -1, -1))
        return next((self.places[end] for end in ends if end in self.places), str(self.path))

    def _error(self, faults: Sequence[Fault]) -> ConfigError:
        """Return an error with a line for each fault."""
        lines = [
            f"{self.place(path)}: {'.'.join(map(str, path))}: {' '.join(text.split())}"
            for path, text in faults
        ]
        return ConfigError("\n".join(dict.fromkeys(lines)))

    def scope(self) -> Scope:
        """Return the names that the config sees; without all plug-ins none can be checked."""
        scope, names = BUILT_IN, self.raw.get("plugins")
        faults: list[Fault] = []
        causes: list[PluginError] = []
        for i, name in enumerate(names if isinstance(names, list) else []):
            shown = str(self.path.parent / str(name))
            try:
                plugin = load_file(Path(shown), shown=shown)
                if plugin not in scope.plugins:
                    _check_plugin(plugin, scope, shown)
                    scope = scope.extended(plugin)
            except PluginError as error:
                faults.append((("plugins", i), str(error)))
                causes.append(error)
        if faults:
            raise self._error(faults) from causes[0]
        return scope

    def checked(self) -> model.ExperimentConfig:
        """Return the experiment, or raise an error with all faults."""
        raw, folder = dict(self.raw), self.path.parent
        names = Names(raw, self.scope(), folder, self.as_written)
        faults: list[Fault] = []
        varying: list[model.Entry] = []
        kernels: list[str] = []
        for section, (entry_model, check) in _ENTRIES.items():
            if not isinstance(raw.get(section), dict):
                continue
            entries: dict[str, Any] = {}
            for label, written in raw[section].items():
                if section == "datasets":
                    written = _named(label, written, folder)
                try:
                    entry = entries[label] = entry_model.model_validate(written, context=names)
                    # without a task nobody can tell what fits it
                    own = [*check(entry, names)] if names.task in TASKS else []
                    own += _label_faults(entry)
                except ValidationError as error:
                    own = explained(error, written, _unknown)
                elsewhere = _homes().keys() - {*entry_model.model_fields, "kernel"}
                for path, text in own:
                    if path and path[0] in elsewhere:
                        text = "is no key here" if text.startswith("unknown key") else text
                        text += f"; the config's key {path[0]} belongs {_homes()[str(path[0])]}"
                    faults.append(((section, label, *path), text))
            raw[section] = entries
            if section == "kernels":
                kernels = [name for k, entry in entries.items() for name, _ in entry.variants(k)]
            else:
                varying += entries.values()
        names.axes = {**model.axes_of(varying), "kernel": kernels}
        names.as_written &= not faults
        try:
            config = model.ExperimentConfig.model_validate(raw, context=names)
        except ValidationError as error:
            # a section is empty without its faulty entries
            known = {path[:1] for path, _ in faults}
            faults += [fault for fault in explained(error, raw, _unknown) if fault[0] not in known]
        else:
            faults = faults or [*_config_faults(config, names)]
            if not faults:
                return config
        raise self._error(faults)


def _by_label(section: Any) -> Any:
    """Turn a list of names, and entries without keys, into a mapping of mappings."""
    if isinstance(section, list) and all(isinstance(name, str) for name in section):
        return {name: {} for name in section}
    if isinstance(section, dict):
        return {label: {} if entry is None else entry for label, entry in section.items()}
    return section


def _named(label: str, entry: Any, folder: Path) -> Any:
    """Name a data set by its label, or by the card of that name beside the config."""
    if not isinstance(entry, dict) or {"file", "generator"} & entry.keys():
        return entry
    name = str(entry.get("name", label))
    card = folder / f"{name}.yaml"
    own = name.isidentifier() and not datasets.is_shipped(name) and card.is_file()
    if own and "\nforms:" in card.read_text(encoding="utf-8", errors="replace"):
        return {key: value for key, value in entry.items() if key != "name"} | {"file": card.name}
    return {"name": label, **entry}


@cache
def _homes() -> dict[str, str]:
    """Return where each key of configs belongs, the outermost place or places."""
    homes = dict[str, str]()
    parts: list[tuple[str, Any]] = [("at the top level", model.ExperimentConfig)]
    while parts:
        places, inner = dict[str, dict[str, None]](), []
        for place, section in parts:
            new = {k: one for k, one in section.model_fields.items() if k not in homes}
            for key, field in new.items():
                places.setdefault(key, {})[place] = None
                inner += [(f"under `{key}`", one) for one in _models(field.annotation)]
        homes |= {key: " or ".join(several) for key, several in places.items()}
        parts = inner
    return homes


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the sections within a type."""
    if isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for one in get_args(annotation):
        yield from _models(one)


def _unknown(key: str) -> str:
    """Say where an unknown key belongs, or which was probably meant."""
    homes = _homes()
    text = f"is no key here: it belongs {homes[key]}" if key in homes else "unknown key"
    hint = suggestion(key, homes.keys() - {key})
    return text + (hint if "did you mean" in hint else "")


def _check_plugin(plugin: Plugin, scope: Scope, shown: str) -> None:
    """Refuse a plug-in whose names are taken, or which no config could use."""
    name = plugin.path.stem
    if any(name == other.path.stem for other in scope.plugins):
        raise PluginError(f"{shown}: another plug-in is called {name} too; rename one")
    # a plug-in may define a scorer of scikit-learn otherwise
    taken = {(kind, k) for kind in KINDS for k in getattr(scope, f"{kind}s")}
    taken -= {("metric", name) for name, one in scope.metrics.items() if one.scorer}
    for one in plugin.registered:
        where = f"{shown}:{one.line}: the {one.kind} {one.name!r}"
        shipped_too = one.kind == "dataset" and datasets.is_shipped(one.name)
        if (one.kind, one.name) in taken or shipped_too:
            raise PluginError(f"{where} has a name that is taken")
        taken.add((one.kind, one.name))
        if unknown := {*one.tasks}.difference(SUPERVISED):
            allowed = ", ".join(SUPERVISED)
            raise PluginError(f"{where} is for the task {min(unknown)!r}; there are {allowed}")


# Keys for data that is read.
_OF_READING = ("drop", "dense", "missing", "nominal")
# The tasks of keys that change targets.
_BINARY = ("classification", "bipartite_ranking", "regret")
_OF_TASKS = {"binarize": _BINARY, "bins": ("ordinal",), "grades": (*_BINARY, "ordinal", "ranking")}
# The tasks whose targets are classes.
_TARGETS = dict.fromkeys(
    ("bipartite_ranking", "regret", "ordinal", "similarity"), "classification"
)


def _dataset_faults(entry: model.DatasetEntry, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with a data set."""
    made = entry.maker(names.scope)
    if entry.generator is not None and made is None:
        hint = suggestion(entry.generator, names.scope.generators)
        yield ("generator",), f"no generator {entry.generator!r}{hint}"
        return
    if not entry.is_there(names.folder):
        if not entry.optional:
            yield ("file",), f"no file {entry.file!r} in the config's folder, {names.folder}"
        return
    settable = set() if made is None else made.parameters.keys() - {"random_state"}
    for key in [key for key in entry.parameters if key not in settable]:
        hint = suggestion(key, {*model.DatasetEntry.model_fields, *settable})
        yield (key,), f"unknown key{hint}"
    yield from _ambiguous(entry, settable)
    useless = [key for key, tasks in _OF_TASKS.items() if names.task not in tasks]
    useless += OF_FILE if made is not None or entry.of_card else ()
    for key in (*useless, *(_OF_READING if made is not None else ())):
        if getattr(entry, key) not in (None, (), {}):
            yield (key,), f"has no effect with this kind of data and `task: {names.task}`"
    if made is None and entry.of_card:
        try:
            faults = _card_faults(entry, entry.card(names.folder), names)
            yield from (((), text) for text in faults)
        except KernlearnError as error:
            yield (), str(error)
    elif names.task in ("regression", "ranking") and (entry.matrix or (made and not made.plugin)):
        # which are codes, and no amounts
        what = "a matrix has" if entry.matrix else f"{entry.generator} draws"
        yield (), f"{what} classes, which `task: {names.task}` cannot take"


def _ambiguous(entry: model.Entry, parameters: Iterable[str]) -> Iterator[Fault]:
    """Yield the keys that are parameters of the component too."""
    keys = {*type(entry).model_fields} & entry.model_fields_set - {"estimator", "kernel"}
    for key in sorted(keys.intersection(parameters)):
        yield (key,), "is a key of configs; a parameter of that name cannot be set"


def _card_faults(entry: model.DatasetEntry, card: datasets.Card, names: Names) -> Iterator[str]:
    """Yield what of a card does not fit the task."""
    task = names.task
    needed, kind = (_TARGETS.get(one, one) for one in (task, card.task))
    if entry.bins is not None and card.task != "regression":
        yield f"bins cut numbers into grades, and the target of {card.name} is no number"
    elif task == "ordinal" and card.task == "regression":
        if entry.bins is None:
            yield f"{card.name} has numbers to predict: `bins` cuts them into grades"
    elif needed in ("classification", "regression", "ranking") and kind != needed:
        yield f"{card.name} is data for `task: {kind}`, not for `task: {task}`"


def _label_faults(entry: model.Entry) -> Iterator[Fault]:
    """Yield what cannot be a label of results."""
    for name, value in entry.shown_parameters.items():
        if value.varies and name in RESERVED:
            text = f"varies, and results have a column {name!r} already: give it another name"
            yield (name,), f"{text}, as `shown_as: {{{name}: NAME}}` in a method"


def _kernel_faults(entry: model.KernelEntry, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with a kernel."""
    try:
        yield from _parameter_faults(names.scope.kernel(entry.kernel), entry.parameters, names)
    except (KernlearnError, ValueError) as error:
        yield ("kernel",), str(error)


def _method_faults(entry: model.MethodEntry, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with a method."""
    for parameter, label in entry.shown_as.items():
        if parameter not in entry.parameters:
            text = f"is no parameter here{suggestion(parameter, entry.parameters)}"
            yield ("shown_as", parameter), text
        elif label in {*entry.parameters} - {parameter} or not label.isidentifier():
            yield ("shown_as", parameter), f"{label!r} cannot be a label: take another name"
    steps = entry.labelled_steps
    if entry.steps and (len(steps) < len(entry.steps) or any("__" in label for label in steps)):
        yield ("steps",), "give each step a name of its own, without `__`"
        return
    faults: list[Fault] = []
    for i, step in enumerate(steps.values()):
        place = ("steps", i) if entry.steps else ()
        own = _estimator_faults(step, entry, names)
        faults += [((*place, *path), text) for path, text in own]
    yield from faults
    if not faults and names.task in SUPERVISED and entry.is_installed(names.scope):
        from sklearn.base import BaseEstimator, is_regressor

        first = {key: value.candidates[0] for key, value in entry.parameters.items()}
        task = TASKS[names.task].load()
        try:
            made = names.scope.make_method(entry.components(names.scope), first)
            if not hasattr(made, task.output):
                text = f"{step.estimator} has no method {task.output}"
                yield (), f"{text}, which `task: {names.task}` needs"
            elif task.has_labels and isinstance(made, BaseEstimator) and is_regressor(made):
                text = f"{step.estimator} predicts numbers, no classes"
                yield (), f"{text}: for numbers write `task: regression` at the top level"
            for i, one in enumerate(made[:-1] if entry.steps else ()):
                if not hasattr(one, "transform"):
                    yield ("steps", i), "has no method transform, which a step before others needs"
        except Exception as error:  # of any library
            yield (), f"cannot be made: {error or type(error).__name__}"


def _estimator_faults(step: Any, entry: model.MethodEntry, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with a step of a method, which may be the method itself."""
    name, own = step.estimator, step.parameters
    try:
        estimator = names.scope.estimator(name)
        if estimator.missing:
            if not entry.optional:
                yield ("estimator",), f"{estimator.missing}, or make the method `optional`"
            return
        if "." in name and not hasattr(estimator.load(), "set_params"):
            raise TypeError(f"{name} is no estimator: a class with fit and set_params")
        parameters = estimator.parameters
    except Exception as error:  # of any library that is imported
        yield ("estimator",), str(error)
        return
    known = names.labels["dataset"]
    for key, value in own.items():
        choices = value.content if value.form == "by_dataset" else {"default": None}
        for label in choices.keys() - {"default", *known}:
            hint = suggestion(label, [*known, "default"])
            yield (key, "by_dataset", label), f"no data set {label!r}{hint}"
        if "default" not in choices and (missing := [k for k in known if k not in choices]):
            yield (key,), f"by_dataset gives no value for {', '.join(missing)}"
    yield from _ambiguous(entry, parameters)
    yield from _parameter_faults(estimator, own, names)
    # a similarity has a default, a kernel has none that would suit
    has_kernel = "kernel" in own or (entry.steps is None and names.labels["kernel"])
    if estimator.takes == "kernel" and not has_kernel:
        yield (), f"{estimator.name} needs a kernel: give it one, or a section `kernels`"


def _parameter_faults(
    component: Registered, own: Mapping[str, Value], names: Names
) -> Iterator[Fault]:
    """Yield the faults of parameters: the component is made with each value of each of them."""
    first = {key: value.candidates[0] for key, value in own.items()}
    required = {k for k in own if component.parameters.get(k) is Parameter.empty}
    for key, value in own.items():
        others = {k: v for k, v in first.items() if k in {*required, key.partition("__")[0]}}
        try:
            for candidate in value.candidates:
                names.scope.make(component, {**others, key: candidate})
        except Exception as error:  # of any library
            yield (key,), str(error) or type(error).__name__


_ENTRIES: dict[str, tuple[Any, Any]] = {
    "datasets": (model.DatasetEntry, _dataset_faults),
    "kernels": (model.KernelEntry, _kernel_faults),
    "methods": (model.MethodEntry, _method_faults),
}


def _config_faults(config: model.ExperimentConfig, names: Names) -> Iterator[Fault]:
    """Yield what is wrong with valid sections and entries beside each other."""
    scope = config.scope
    takes = any(method.takes_kernel(scope) for method in config.methods.values())
    if not takes and config.task != "kernel_approximation":
        for label in config.kernels:
            yield ("kernels", label), "is not used: no method takes a kernel of it"
    protocol = config.protocol
    if protocol.scale_target is not None and config.task != "regression":
        yield ("protocol", "scale_target"), f"is for regression, not for `task: {config.task}`"
    if protocol.stratify and config.task in ("regression", "ranking"):
        yield ("protocol", "stratify"), f"is for classes, not for `task: {config.task}`"
    chosen_by = scope.metrics.get(protocol.select_by or "")
    if chosen_by and not (chosen_by.better and (chosen_by.target or chosen_by.scorer)):
        yield ("protocol", "select_by"), f"{chosen_by.name} is no score of predictions"
    unused = [("train", "folds"), ("train", "time"), ("validation", "holdout")]
    for key, other in unused if protocol.refit else [*unused, ("validation", "folds")]:
        given = names.as_written and key in protocol.model_fields_set
        if given and getattr(protocol, other) is not None:
            yield ("protocol", key), f"has no effect with {other}: leave it out"
    for name in config.derived.keys() & scope.metrics.keys():
        yield ("derived", name), "is the name of a measured metric; take another"
    for i, name in enumerate(config.metrics if protocol.select_by_mean else ()):
        if name in scope.metrics and scope.metrics[name].scorer:
            yield ("metrics", i), f"{name} cannot be measured with select_by_mean"
    if config.reported_path is not None and (text := _table_fault(config.reported_path, names)):
        yield ("reported",), text


def _table_fault(path: Path, names: Names) -> str:
    """Say what is wrong with a file of reported numbers; its columns may be labels of results."""
    needed = {"dataset", "method", "metric", "mean"}
    allowed, line, seen = {*names.of("label"), *needed, "std"}, 1, set[tuple[str, ...]]()
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if not needed <= {*(reader.fieldnames or ())} <= allowed:
                return f"{path}:1: needs {', '.join(needed)}; may have {', '.join(allowed)}"
            for row in reader:
                line = reader.line_num
                if None in row or None in row.values():
                    raise ValueError("not as many fields as the first line")
                if not (isfinite(float(row["mean"])) and 0 <= float(row.get("std") or 0) < inf):
                    raise ValueError("a number is not finite, or a deviation below 0")
                cell = tuple(text for key, text in row.items() if key not in ("mean", "std"))
                if cell in seen:
                    raise ValueError("this number occurs a second time")
                seen.add(cell)
    except (OSError, ValueError, csv.Error) as error:
        return f"{path}:{line}: {error}"
    return ""
