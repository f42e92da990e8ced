"""What the model of a config finds wrong, put into words."""

import difflib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernlearn.exceptions import ConfigError, PluginError
from kernlearn.experiments.config.checks import check_references
from kernlearn.experiments.config.model import ExperimentConfig, LoadedExperiment, Protocol
from kernlearn.experiments.config.yaml import KeyPath, parse_scalar, read_yaml, shortened
from kernlearn.experiments.plugins import extended, installed_plugins, load_file
from kernlearn.experiments.registry import Scope, suggestion
from kernlearn.resources import shipped

_PLAIN = {
    "missing": "is missing",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "list_type": "must be a list",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
}


def explain(error: Any, raw: Any) -> tuple[KeyPath, str]:
    """Turn one pydantic error into a path and a sentence."""
    path = _real_path(error["loc"], raw)
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return path, "unknown key" + suggestion(str(path[-1]), _allowed_keys(error["loc"][:-1]))
    if kind == "literal_error":
        # pydantic writes the alternatives as "'a', 'b' or 'c'"
        expected = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
        return path, f"{shortened(given)} is not allowed" + suggestion(
            str(given), [e.strip("'") for e in expected]
        )
    text = _PLAIN.get(kind) or error["msg"].removeprefix("Value error, ")
    text = text[0].lower() + text[1:]
    if kind == "missing" or isinstance(given, (dict, list)):
        return path, text
    return path, f"{text}, not {shortened(given)}"


def _real_path(loc: Sequence[str | int], raw: Any) -> KeyPath:
    """Drop what pydantic adds to a location (the branch of a union) from the path."""
    path: list[str | int] = []
    here = raw
    for i, step in enumerate(loc):
        last = i == len(loc) - 1
        if isinstance(here, dict) and (step in here or last):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        elif not (last and here is None):
            continue
        path.append(step)
    return tuple(path)


def _allowed_keys(loc: Sequence[str | int]) -> list[str]:
    """Return the keys of the section at a location of the model."""
    model: Any = ExperimentConfig
    for step in loc:
        field = getattr(model, "model_fields", {}).get(step)
        if field is None:
            continue
        for candidate in _models_in(field.annotation):
            model = candidate
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[Any]:
    if hasattr(annotation, "model_fields"):
        return [annotation]
    found = []
    for argument in getattr(annotation, "__args__", ()):
        found += _models_in(argument)
    return found


DEFAULT_PROFILE = "full"

# Characters of what is wrong; the list of what is allowed may be long.
_LONGEST = 800


class Places:
    """Where each value of a config was written, for error messages."""

    def __init__(self, source: str, lines: Mapping[KeyPath, int]) -> None:
        self.source = source
        self._places = {path: f"{source}:{line}" for path, line in lines.items()}

    def copy(self) -> "Places":
        """Return the same places, to be marked apart."""
        other = Places(self.source, {})
        other._places = dict(self._places)
        return other

    def mark(self, path: KeyPath, place: str) -> None:
        """Note that the value at a path came from elsewhere."""
        for known in [p for p in self._places if p[: len(path)] == path]:
            del self._places[known]
        self._places[path] = place

    def of(self, path: Sequence[str | int]) -> str:
        """Return the place of a value, or of the nearest one around it."""
        for end in range(len(path), -1, -1):
            if tuple(path[:end]) in self._places:
                return self._places[tuple(path[:end])]
        return self.source

    def message(self, path: Sequence[str | int], text: str) -> str:
        """Put place and path before a text; all on one line, which stays readable."""
        dotted = ".".join(_readable(str(step)) for step in path)
        text = " ".join(text.split())
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
        return f"{self.of(path)}: {dotted}: {text}" if dotted else f"{self.of(path)}: {text}"


def _readable(key: str) -> str:
    return key if key and key.isprintable() and len(key) <= 80 else shortened(key)


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
    """
    path = Path(name)
    try:
        if path.is_file():
            return path
        if path.is_dir() and path.parts != (path.stem,):
            raise ConfigError(f"{_readable(str(name))}: is a folder; name a file in it")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(f"{_readable(str(name))}: cannot be read: {reason}") from None
    folder = shipped("configs")
    known = sorted(p.stem for p in folder.glob("*.yaml"))
    # "configs/table3_1.yaml" outside a checkout means the shipped one just as "table3_1" does.
    if path.suffix in ("", ".yaml", ".yml") and path.stem in known and len(path.parts) <= 2:
        return folder / f"{path.stem}.yaml"
    close = difflib.get_close_matches(path.stem, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else f"; shipped ones: {', '.join(known)}"
    raise ConfigError(
        f"{_readable(str(name))}: no such file, and no config of that name comes with "
        f"kernlearn{hint}"
    )


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
        ``"full"`` is the config as it stands; others are defined under its ``profiles``.
    settings : sequence of str
        ``"path.to.key=value"``, the value as YAML; a key of the protocol needs no prefix.
    data_dir : Path, optional
        Where a user's own cards are looked for first.

    Returns
    -------
    LoadedExperiment

    Raises
    ------
    ConfigError
        With one line for every fault found: ``file:line: path: what is wrong``. Its cause is
        the first exception of a plug-in.
    """
    path, raw, places = _read(name)
    for section in ("datasets", "kernels", "methods"):
        if isinstance(raw.get(section), list) and all(isinstance(v, str) for v in raw[section]):
            raw[section] = {v: {} for v in raw[section]}
    profiles = raw.get("profiles")
    others = [p for p in profiles if p != profile] if isinstance(profiles, dict) else []
    variants = {p: (deepcopy(raw), places.copy()) for p in others}
    _apply_profile(raw, profile, places)
    for setting in settings:
        _apply_setting(raw, setting, places)

    causes: list[PluginError] = []
    config, messages = _checked(raw, places, path.parent, data_dir, causes)
    # A profile that nobody asked for today is no less a part of the file.
    for other, (changed, its_places) in variants.items():
        try:
            _apply_profile(changed, other, its_places)
        except ConfigError as error:
            messages.append(str(error))
        else:
            messages += _checked(changed, its_places, path.parent, data_dir, causes)[1]
    if messages or config is None:
        raise ConfigError("\n".join(dict.fromkeys(messages))) from next(iter(causes), None)
    # how trials are carried out is no part of what they measure
    told = tuple(s for s in settings if not s.startswith("execution."))
    return LoadedExperiment(
        name=path.stem, path=path, profile=profile, config=config, settings=told
    )


def load_scope(name: str | Path) -> Scope:
    """Read which plug-ins a config names, and load them; nothing else of it is checked.

    Parameters
    ----------
    name : str or Path
        A path, or the name of a shipped config.

    Returns
    -------
    Scope

    Raises
    ------
    ConfigError
        If the config cannot be read, or a plug-in not loaded.
    """
    path, raw, places = _read(name)
    scope, faults, causes = _scope(raw, path.parent)
    if faults:
        raise ConfigError("\n".join(places.message(p, t) for p, t in faults)) from causes[0]
    return scope


def _read(name: str | Path) -> tuple[Path, dict[str, Any], Places]:
    path = find_config(name)
    raw, lines = read_yaml(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}:1: an experiment is a mapping of keys to values")
    return path, raw, Places(str(path), lines)


def _checked(
    raw: dict[str, Any],
    places: Places,
    folder: Path,
    data_dir: Path | None,
    causes: list[PluginError],
) -> tuple[ExperimentConfig | None, list[str]]:
    """Return the experiment, unless its form is wrong, and a message for every fault."""
    scope, faults, errors = _scope(raw, folder)
    causes += errors
    # without all plug-ins nobody can tell which names are wrong
    whole = not faults
    config = None
    try:
        config = ExperimentConfig.model_validate(raw, context={"scope": scope})
    except ValidationError as error:
        faults += [explain(e, raw) for e in error.errors(include_url=False)]
    if whole:
        structural = {fault[0] for fault in faults}
        found = check_references(raw, folder, data_dir, scope)
        faults += [f for f in found if f[0] not in structural]
    return config, [places.message(p, text) for p, text in faults]


def _scope(
    raw: dict[str, Any], folder: Path
) -> tuple[Scope, list[tuple[KeyPath, str]], list[PluginError]]:
    """Return the names that a config sees, and what is wrong with its plug-ins."""
    scope, named = installed_plugins(), raw.get("plugins")
    faults: list[tuple[KeyPath, str]] = []
    errors: list[PluginError] = []
    for i, name in enumerate(named if isinstance(named, list) else []):
        if not isinstance(name, str):
            continue  # the check of the form says so
        shown = str(folder / name)
        try:
            scope = extended(scope, load_file(folder / name, shown=shown), shown)
        except PluginError as error:
            faults.append((("plugins", i), str(error)))
            errors.append(error)
    return scope, faults, errors


def _apply_profile(raw: dict[str, Any], profile: str, places: Places) -> None:
    profiles = raw.get("profiles") or {}
    if not isinstance(profiles, dict):
        return  # the check of the whole says so
    if profile not in profiles:
        if profile == DEFAULT_PROFILE:
            return
        known = [*profiles, DEFAULT_PROFILE]
        where = places.of(("profiles",))
        raise ConfigError(f"{where}: no profile {profile!r}{suggestion(profile, known)}")
    chosen = profiles[profile]
    if isinstance(chosen, dict):
        for key, value in chosen.items():
            target = _target(key)
            place = places.of(("profiles", profile, key))
            places.mark(_put(raw, target, value, place), place)


def _apply_setting(raw: dict[str, Any], setting: str, places: Places) -> None:
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise ConfigError(f"-o {_readable(setting)}: a setting is key=value, such as splits=2")
    target, place = _target(key), f"-o {_readable(setting)}"
    try:
        value = parse_scalar(text)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None
    places.mark(_put(raw, target, value, place), place)


def _target(key: str) -> KeyPath:
    if key in Protocol.model_fields:
        return ("protocol", key)
    return tuple(key.split("."))


def _put(raw: dict[str, Any], target: KeyPath, value: Any, place: str) -> KeyPath:
    """Set a value; return the path of what is new by it, sections around it included."""
    here: Any = raw
    new = target
    for depth, key in enumerate(target[:-1]):
        if here.get(key) is None:
            here[key] = {}
            new = min(new, target[: depth + 1], key=len)
        here = here[key]
        if not isinstance(here, dict):
            raise ConfigError(
                f"{place}: {'.'.join(_readable(str(k)) for k in target[: depth + 1])} "
                "has no keys to set"
            )
    here[target[-1]] = value
    return new
