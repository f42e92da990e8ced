"""Reading of configs: where they are, profiles and settings, and errors with file and line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernlearn import datasets
from kernlearn.config.entries import (
    DatasetEntry,
    Entry,
    Fault,
    KernelEntry,
    MethodEntry,
    Names,
    axes_of,
)
from kernlearn.config.model import (
    DEFAULT_PROFILE,
    ExperimentConfig,
    LoadedExperiment,
    Protocol,
)
from kernlearn.config.names import TASKS, Scope, suggestion
from kernlearn.config.plugins import extended, installed_plugins, load_file
from kernlearn.datasets.files import shipped
from kernlearn.datasets.yaml import KeyPath, copied, parse_scalar, read_yaml, shortened
from kernlearn.exceptions import ConfigError, PluginError

_ENTRIES: dict[str, type[Entry]] = {
    "datasets": DatasetEntry,
    "kernels": KernelEntry,
    "methods": MethodEntry,
}


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
    try:
        if path.is_file():
            return path
    except (OSError, ValueError) as error:
        raise ConfigError(f"{shortened(str(name))}: cannot be read: {error}") from None
    known = {**shipped_configs(), **shipped_configs("examples")}
    # "configs/table3_1.yaml" outside a checkout is the shipped config, as "table3_1" is
    short = path.with_suffix("").as_posix().removeprefix("configs/")
    if path.suffix in ("", ".yaml", ".yml") and short in known:
        return known[short]
    raise ConfigError(
        f"{name}: no such file, and no config of that name comes with kernlearn"
        f"{suggestion(path.stem, known)}"
    )


def shipped_configs(folder: str = "") -> dict[str, Path]:
    """Return the configs that come with kernlearn, by name; or those of a folder among them."""
    prefix = f"{folder}/" if folder else ""
    paths = sorted((shipped("configs") / folder).glob("*.yaml"))
    return {f"{prefix}{path.stem}": path for path in paths}


def shipped_name(path: Path) -> str | None:
    """Return the name by which a config that comes with kernlearn is found; None for others."""
    known = {**shipped_configs(), **shipped_configs("examples")}
    return next((name for name, place in known.items() if place == path), None)


def load_config(
    name: str | Path,
    *,
    profile: str = DEFAULT_PROFILE,
    settings: Sequence[str] = (),
    data_dir: Path | None = None,
) -> LoadedExperiment:
    """Read a config, apply a profile and settings, and check everything.

    Parameters
    ----------
    name : str or Path
        A path, or the name of a shipped config.
    profile : str, default="full"
        ``"full"`` is the config without changes; others are defined under its ``profiles``.
    settings : sequence of str
        ``"path.to.key=value"``, the value as YAML; a key of the protocol needs no prefix.
    data_dir : Path, optional
        Folder to search for the user's own cards first.

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
    draft = _Draft.read(name)
    profiles = draft.raw.get("profiles")
    names = [*profiles] if isinstance(profiles, dict) else []
    # a profile that is not used now must be valid too
    others = [draft.copy(other) for other in names if other != profile]
    if profile not in [*names, DEFAULT_PROFILE]:
        hint = suggestion(profile, [*names, DEFAULT_PROFILE])
        raise ConfigError(f"{draft.place(('profiles',))}: no profile {profile!r}{hint}")
    draft = draft.copy(profile)
    for setting in settings:
        draft.set(setting)
    checked = [one.check(data_dir) for one in (draft, *others)]
    messages = dict.fromkeys(message for _, faults, _ in checked for message in faults)
    config = checked[0][0]
    if messages or config is None:
        causes = [error for _, _, errors in checked for error in errors]
        raise ConfigError("\n".join(messages)) from (causes[0] if causes else None)
    return LoadedExperiment(
        name=draft.path.stem,
        path=draft.path,
        profile=profile,
        config=config,
        settings=tuple(settings),
    )


def load_scope(name: str | Path) -> Scope:
    """Load the plug-ins that a config names; nothing else of it is checked."""
    draft = _Draft.read(name)
    scope, faults, errors = draft.scope()
    if faults:
        raise ConfigError("\n".join(draft.message(*fault) for fault in faults)) from errors[0]
    return scope


class _Draft:
    """A config as it is written, with the file and line, or the setting, of each value."""

    def __init__(self, path: Path, raw: dict[str, Any], places: dict[KeyPath, str]) -> None:
        self.path, self.raw, self.places = path, raw, places
        self.checked: dict[str, list[Fault]] = {}

    @classmethod
    def read(cls, name: str | Path) -> "_Draft":
        """Read the file of a config."""
        path = find_config(name)
        raw, lines = read_yaml(path)
        if not isinstance(raw, dict):
            raise ConfigError(f"{path}:1: an experiment is a mapping of keys to values")
        return cls(path, raw, {key: f"{path}:{line}" for key, line in lines.items()})

    def copy(self, profile: str) -> "_Draft":
        """Return a copy with the changes of a profile."""
        new = _Draft(self.path, copied(self.raw), dict(self.places))
        new.checked = self.checked
        for section in _ENTRIES:
            if section in new.raw:
                new.raw[section] = _by_label(new.raw[section])
        profiles = self.raw.get("profiles") or {}
        changes = profiles.get(profile) if isinstance(profiles, dict) else None
        for key, value in changes.items() if isinstance(changes, dict) else ():
            new._put(key, value, self.place(("profiles", profile, key)))
        return new

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
        path = tuple(key.split("."))
        path = ("protocol", key) if key in Protocol.model_fields else path
        here: Any = self.raw
        for step in path[:-1]:
            here[step] = {} if here.get(step) is None else here[step]
            here = here[step]
            if not isinstance(here, dict):
                raise ConfigError(f"{place}: {step} has no keys to set")
        here[path[-1]] = copied(value)
        self.places = {p: at for p, at in self.places.items() if p[: len(path)] != path}
        self.places[path] = place

    def place(self, path: Sequence[str | int]) -> str:
        """Return the place of a value, or of the nearest one around it."""
        ends = (tuple(path[:end]) for end in range(len(path), -1, -1))
        return next((self.places[end] for end in ends if end in self.places), str(self.path))

    def message(self, path: KeyPath, text: str) -> str:
        """Write a fault on one line."""
        dotted = ".".join(map(str, path))
        return f"{self.place(path)}: {dotted + ': ' if dotted else ''}{' '.join(text.split())}"

    def scope(self) -> tuple[Scope, list[Fault], list[PluginError]]:
        """Return the names that the config sees, and the faults of its plug-ins."""
        scope, listed = installed_plugins(), self.raw.get("plugins")
        faults: list[Fault] = []
        errors: list[PluginError] = []
        for i, name in enumerate(listed if isinstance(listed, list) else []):
            shown = str(self.path.parent / str(name))
            try:
                scope = extended(scope, load_file(Path(shown), shown=shown), shown)
            except PluginError as error:
                faults.append((("plugins", i), str(error)))
                errors.append(error)
        return scope, faults, errors

    def check(
        self, data_dir: Path | None
    ) -> tuple[ExperimentConfig | None, list[str], list[PluginError]]:
        """Return the experiment, messages of what is wrong, and errors of plug-ins."""
        raw, folder = dict(self.raw), self.path.parent
        scope, faults, errors = self.scope()
        if errors:  # without all plug-ins nobody can tell which names are wrong
            return None, [self.message(*fault) for fault in faults], errors
        protocol, derived = raw.get("protocol"), raw.get("derived")
        names = Names(scope, folder, data_dir, task=str(raw.get("task", "classification")))
        names.derived = [*derived] if isinstance(derived, dict) else []
        if isinstance(protocol, dict):
            names.scale, names.folds = protocol.get("scale"), protocol.get("folds")
        sections = {s: raw[s] for s in _ENTRIES if isinstance(raw.get(s), dict)}
        names.labels = {s[:-1]: [*sections.get(s, ())] for s in _ENTRIES}
        for section, entries in sections.items():
            raw[section] = {}
            for label, written in entries.items():
                if section == "datasets":
                    written = _named(label, written, folder)
                entry, own = self._entry(section, written, names)
                faults += [((section, label, *path), text) for path, text in own]
                if entry is not None:
                    raw[section][label] = entry
        varying = [entry for s in sections if s != "kernels" for entry in raw[s].values()]
        names.axes = axes_of(varying)
        config = None
        try:
            config = ExperimentConfig.model_validate(raw, context=names)
        except ValidationError as error:
            # a section is empty without its faulty entries
            known = {path[:1] for path, _ in faults}
            faults += [fault for fault in _explained(error, raw) if fault[0] not in known]
        else:
            faults += config.faults(names) if not faults else []
        return config, [self.message(*fault) for fault in faults], errors

    def _entry(self, section: str, written: Any, names: Names) -> tuple[Entry | None, list[Fault]]:
        """Return a data set, kernel or method, and its faults."""
        try:
            entry = _ENTRIES[section].model_validate(written, context=names)
        except ValidationError as error:
            return None, _explained(error, written)
        # most entries are the same in every profile
        key = repr((section, written, names.task, names.scale, names.folds))
        if key not in self.checked:
            self.checked[key] = [*entry.faults(names)] if names.task in TASKS else []
        return entry, self.checked[key]


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


def _explained(error: ValidationError, raw: Any) -> list[Fault]:
    """Turn the errors of pydantic into paths and sentences, one for each path."""
    texts: dict[KeyPath, list[str]] = {}
    for one in error.errors(include_url=False):
        texts.setdefault(_followed(one["loc"], raw), []).append(_text(one))
    return [(path, "; or ".join(dict.fromkeys(several))) for path, several in texts.items()]


def _followed(loc: Sequence[Any], raw: Any) -> KeyPath:
    """Return a location without what pydantic adds: the branch of a union, or that it is a key."""
    path: list[str | int] = []
    steps = [step for step in loc if step != "[key]"]
    for i, step in enumerate(steps):
        known = range(len(raw)) if isinstance(raw, list) else raw if isinstance(raw, dict) else ()
        if step in known:
            raw = raw[step]
        elif not (i == len(steps) - 1 and isinstance(raw, dict)):
            continue
        path.append(step)
    return tuple(path)


def _text(error: Any) -> str:
    """Say in a sentence what an error of pydantic is."""
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        models = ExperimentConfig.model_json_schema()
        keys = {key for one in models["$defs"].values() for key in one.get("properties", ())}
        return "unknown key" + suggestion(str(error["loc"][-1]), {*keys, *models["properties"]})
    if kind == "literal_error":
        # pydantic writes the alternatives as "'a', 'b' or 'c'"
        expected = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
        hint = suggestion(str(value), [one.strip("'") for one in expected])
        return f"{shortened(value)} is not allowed{hint}"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in ("dict_type", "model_type"):
        return "must be a mapping of keys to values"
    text = str(error["msg"][0].lower() + error["msg"][1:])
    return text if isinstance(value, (dict, list)) else f"{text}, not {shortened(value)}"
