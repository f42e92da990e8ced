"""Loading of configs: profiles, settings, and errors with file and line."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kernlearn.config import model
from kernlearn.config.beside import with_cards
from kernlearn.config.checks import Fault, Names
from kernlearn.config.entries import axes_of
from kernlearn.config.finding import find_config, readable
from kernlearn.config.methods import RESERVED_KEYS, labelled
from kernlearn.config.plugin_files import extended, installed_plugins, load_file
from kernlearn.config.registry import Scope
from kernlearn.config.streamed import with_stream_axes
from kernlearn.config.suggestions import suggestion
from kernlearn.datasets.yaml import KeyPath, copied, parse_scalar, read_yaml, shortened
from kernlearn.exceptions import ConfigError, PluginError

_PLAIN = {
    "missing": "is missing",
    "dict": "must be a mapping of keys to values",
    "model": "must be a mapping of keys to values",
    "list": "must be a list",
    "string": "must be text",
    "int": "must be a whole number",
    "float": "must be a number",
    "bool": "must be true or false",
}


def _explain(error: Any, raw: Any) -> Fault:
    """Turn one pydantic error into a path and a sentence."""
    kind, value, loc = error["type"], error.get("input"), error["loc"]
    of_key = loc[-1:] == ("[key]",)
    loc = loc[:-1] if of_key else loc
    if kind == "name" and (of_key or isinstance(loc[-1], int)):
        return tuple(loc[:-1]), error["msg"]
    if kind in ("fault", "name"):
        return tuple(loc), error["msg"]
    path = _real_path(loc, raw)
    if kind == "extra_forbidden":
        return path, "unknown key" + suggestion(str(path[-1]), _allowed_keys(loc[:-1]))
    if kind == "literal_error":
        # pydantic writes the alternatives as "'a', 'b' or 'c'"
        expected = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
        hint = suggestion(str(value), [e.strip("'") for e in expected])
        return path, f"{shortened(value)} is not allowed{hint}"
    plain = _PLAIN.get(re.sub("_(type|parsing|from_float)$", "", kind))
    text = plain or error["msg"].removeprefix("Value error, ")
    text = text[0].lower() + text[1:]
    if kind == "missing" or isinstance(value, (dict, list)):
        return path, text
    return path, f"{text}, not {shortened(value)}"


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
    section: Any = model.ExperimentConfig
    for step in loc:
        field = getattr(section, "model_fields", {}).get(step)
        for candidate in _models_in(field.annotation) if field is not None else ():
            section = candidate
    return list(section.model_fields)


def _models_in(annotation: Any) -> Iterator[Any]:
    if hasattr(annotation, "model_fields"):
        yield annotation
    else:
        for argument in getattr(annotation, "__args__", ()):
            yield from _models_in(argument)


DEFAULT_PROFILE = model.DEFAULT_PROFILE
# Keys under which configs name files.
_FILES = frozenset(("plugins", "file"))
# Sections of entries by label.
_SECTIONS = ("datasets", "kernels", "methods")

# Characters of a message; the list of allowed names may be long.
_LONGEST = 800


class _Places:
    """The file and line, or the setting, of each value of a config, for error messages."""

    def __init__(self, source: str, places: dict[KeyPath, str]) -> None:
        self.source, self._places = source, places

    def copy(self) -> "_Places":
        """Return an independent copy."""
        return _Places(self.source, dict(self._places))

    def mark(self, path: KeyPath, place: str) -> None:
        """Record that the value at a path comes from elsewhere."""
        for inner in [p for p in self._places if p[: len(path)] == path]:
            del self._places[inner]
        self._places[path] = place

    def of(self, path: Sequence[str | int]) -> str:
        """Return the place of a value, or of the nearest one around it."""
        for end in range(len(path), -1, -1):
            if tuple(path[:end]) in self._places:
                return self._places[tuple(path[:end])]
        return self.source

    def message(self, path: Sequence[str | int], text: str) -> str:
        """Prefix a text with place and path, all on one line of moderate length."""
        dotted = ".".join(readable(str(step)) for step in path)
        text = " ".join(text.split())
        if len(text) > _LONGEST:
            text = f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
        return f"{self.of(path)}: {dotted}: {text}" if dotted else f"{self.of(path)}: {text}"


def names_files(setting: str) -> bool:
    """Tell whether a setting would name files: of plug-ins, which are executed, or of data."""
    key, _, text = setting.partition("=")
    try:
        value = parse_scalar(text)
    except ConfigError:
        value = None
    return not _FILES.isdisjoint(_target(key)) or _has_key(value, _FILES)


def _has_key(value: Any, keys: frozenset[str]) -> bool:
    if isinstance(value, dict):
        return not keys.isdisjoint(value) or any(_has_key(v, keys) for v in value.values())
    return isinstance(value, list) and any(_has_key(v, keys) for v in value)


def load_config(
    name: str | Path,
    *,
    profile: str = DEFAULT_PROFILE,
    settings: Sequence[str] = (),
    data_dir: Path | None = None,
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
    path, raw, places = _read(name)
    raw |= {section: model.by_name(raw[section]) for section in _SECTIONS if section in raw}
    profiles = raw.get("profiles")
    others = [p for p in profiles if p != profile] if isinstance(profiles, dict) else []
    variants = {p: (copied(raw), places.copy()) for p in others}
    _apply_profile(raw, profile, places)
    for setting in settings:
        _apply_setting(raw, setting, places)

    checker = _Checker(path, data_dir)
    config = checker.check(raw, places)
    # a profile that is not used now must be valid too
    for other, (changed, its_places) in variants.items():
        try:
            _apply_profile(changed, other, its_places)
        except ConfigError as error:
            checker.messages.append(str(error))
        else:
            checker.check(changed, its_places)
    checker.remember()
    if checker.messages or config is None:
        messages = "\n".join(dict.fromkeys(checker.messages))
        raise ConfigError(messages) from next(iter(checker.causes), None)
    return model.LoadedExperiment(
        name=path.stem,
        path=path,
        profile=profile,
        config=config,
        settings=tuple(settings),
    )


def load_scope(name: str | Path) -> Scope:
    """Load the plug-ins that a config names; nothing else of it is checked."""
    path, raw, places = _read(name)
    scope, faults, causes = _scope(raw, path)
    if faults:
        raise ConfigError("\n".join(places.message(p, t) for p, t in faults)) from causes[0]
    return scope


def _read(name: str | Path) -> tuple[Path, dict[str, Any], _Places]:
    path = find_config(name)
    raw, lines = read_yaml(path)
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}:1: an experiment is a mapping of keys to values")
    return path, raw, _Places(str(path), {k: f"{path}:{line}" for k, line in lines.items()})


@cache
def _code() -> Any:
    """Identify the code that decides what is valid: kernlearn's files and scikit-learn."""
    from kernlearn.datasets.cache import stamp

    files = sorted(Path(__file__).parents[2].rglob("*.py"))
    return stamp("checked", files, {"scikit-learn": version("scikit-learn")})


class _Checker:
    """Validates the variants of one config, and collects what is wrong with any of them.

    What was valid once is kept in the user's cache until the code changes: checking a value needs
    the class of an estimator and so scikit-learn.
    """

    def __init__(self, path: Path, data_dir: Path | None) -> None:
        from kernlearn.datasets.cache import recall

        self.path, self.folder, self.data_dir = path, path.parent, data_dir
        self.known = frozenset(recall(_code()) or ())
        self.checked = set(self.known)
        self.messages: list[str] = []
        self.causes: list[PluginError] = []

    def check(self, raw: dict[str, Any], places: _Places) -> model.ExperimentConfig | None:
        """Return the experiment, unless it is wrong."""
        if "datasets" in raw:
            raw["datasets"] = with_cards(raw["datasets"], self.folder)
        scope, faults, causes = _scope(raw, self.path)
        self.causes += causes
        context: dict[str, Any] = {"scope": scope}
        if not faults:  # without all plug-ins nobody can tell which names are wrong
            context["names"] = self._names(raw, scope)
        config = None
        try:
            config = model.ExperimentConfig.model_validate(raw, context=context)
        except ValidationError as error:
            faults += [_explain(e, raw) for e in error.errors(include_url=False)]
        self.messages += [places.message(p, text) for p, text in faults]
        return config

    def remember(self) -> None:
        """Keep what is known to be valid."""
        from kernlearn.datasets.cache import remember

        if self.checked != self.known:
            remember(_code(), sorted(self.checked))

    def _names(self, raw: dict[str, Any], scope: Scope) -> Names:
        sections = {s: raw[s] if isinstance(raw.get(s), dict) else {} for s in _SECTIONS}
        entries = {s: [e for e in sections[s].values() if isinstance(e, dict)] for s in sections}
        methods = axes_of(map(labelled, entries["methods"]), RESERVED_KEYS["estimator"])
        axes = axes_of(map(with_stream_axes, entries["datasets"]), RESERVED_KEYS["dataset"])
        task, derived = raw.get("task", "classification"), raw.get("derived")
        metrics = raw["metrics"] if isinstance(raw.get("metrics"), list) else []
        protocol = raw.get("protocol")
        return Names(
            scope=scope,
            folder=self.folder,
            data_dir=self.data_dir,
            checked=self.checked,
            task=task if isinstance(task, str) else "",
            labels={s: list(section) for s, section in sections.items()},
            axes={k: axes.get(k, []) + methods.get(k, []) for k in {**axes, **methods}},
            derived=list(derived) if isinstance(derived, dict) else [],
            metrics=[m for m in metrics if isinstance(m, str)],
            folds=protocol.get("folds") if isinstance(protocol, dict) else None,
            scale=protocol.get("scale") if isinstance(protocol, dict) else None,
        )


def _scope(raw: dict[str, Any], path: Path) -> tuple[Scope, list[Fault], list[PluginError]]:
    """Return the names that a config sees, and the faults of its plug-ins."""
    scope, named = installed_plugins(), raw.get("plugins")
    faults: list[Fault] = []
    errors: list[PluginError] = []
    # the model reports what is no text
    listed = enumerate(named if isinstance(named, list) else [])
    names = {i: name for i, name in listed if isinstance(name, str)}
    for i, name in names.items():
        shown = str(path.parent / name)
        try:
            scope = extended(scope, load_file(path.parent / name, shown=shown), shown)
        except PluginError as error:
            faults.append((("plugins", i), str(error)))
            errors.append(error)
    return scope, faults, errors


def _apply_profile(raw: dict[str, Any], profile: str, places: _Places) -> None:
    profiles = raw.get("profiles") or {}
    if not isinstance(profiles, dict):
        return  # the model reports it
    if profile not in profiles:
        if profile == DEFAULT_PROFILE:
            return
        hint = suggestion(profile, [*profiles, DEFAULT_PROFILE])
        raise ConfigError(f"{places.of(('profiles',))}: no profile {profile!r}{hint}")
    chosen = profiles[profile]
    if isinstance(chosen, dict):
        for key, value in chosen.items():
            target = _target(key)
            place = places.of(("profiles", profile, key))
            if target[0] == "profiles":
                raise ConfigError(f"{place}: a profile cannot change profiles")
            places.mark(_put(raw, target, value, place), place)


def _apply_setting(raw: dict[str, Any], setting: str, places: _Places) -> None:
    key, equals, text = setting.partition("=")
    if not equals or not key:
        raise ConfigError(f"-o {readable(setting)}: a setting is key=value, such as splits=2")
    target, place = _target(key), f"-o {readable(setting)}"
    try:
        value = parse_scalar(text)
    except ConfigError as error:
        raise ConfigError(f"{place}: {error}") from None
    places.mark(_put(raw, target, value, place), place)


def _target(key: str) -> KeyPath:
    if key in model.Protocol.model_fields:
        return ("protocol", key)
    return tuple(key.split("."))


def _put(raw: dict[str, Any], target: KeyPath, value: Any, place: str) -> KeyPath:
    """Set a value; return the path of what is new, including new sections around it."""
    here: Any = raw
    new = target
    for depth, key in enumerate(target[:-1]):
        if here.get(key) is None:
            here[key] = {}
            new = min(new, target[: depth + 1], key=len)
        here = here[key]
        if not isinstance(here, dict):
            section = ".".join(readable(str(k)) for k in target[: depth + 1])
            raise ConfigError(f"{place}: {section} has no keys to set")
    here[target[-1]] = value
    return new
