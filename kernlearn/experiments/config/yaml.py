"""YAML with the line of every value, so that an error can say where it is."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from kernlearn.exceptions import ConfigError

#: Keys and list indices that lead from the root to a value.
KeyPath = tuple[str | int, ...]

# An alias bomb is a small file with billions of nodes; no honest config comes near this.
_MAX_NODES = 100_000
# Deeper than any config, and well within Python's own limit.
_MAX_DEPTH = 50
# More than any float has before its point; Python writes no integer of over 4300 digits.
_MAX_BITS = 2048

_PREFIX = "tag:yaml.org,2002:"
_TYPES = {_PREFIX + name for name in ("null", "bool", "int", "float", "str", "seq", "map")}


class _Loader(yaml.SafeLoader):
    """YAML 1.2's idea of scalars: ``1e-3`` is a number; ``no`` and ``2013-01-02`` are words."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        depth = getattr(self, "_depth", 0)
        if depth > _MAX_DEPTH:
            raise _error("nested too deeply", self.peek_event())
        self._depth = depth + 1
        node = super().compose_node(parent, index)
        self._depth = depth
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
        except (ValueError, TypeError, OverflowError, LookupError):
            name = node.tag.removeprefix(_PREFIX)
            raise _error(f"a value that YAML cannot build as {name}", node) from None
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise _error("a number of too many digits", node)
        return value


def _error(problem: str, at: Any) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)


_Loader.yaml_implicit_resolvers = {
    first: [r for r in resolvers if not r[0].endswith((":bool", ":float", ":timestamp"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _PREFIX + "bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    _PREFIX + "float",
    re.compile(
        r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
        r"|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)


class _FastLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The same scalars; libyaml is many times as fast, but has no bound on the depth."""

    yaml_implicit_resolvers = _Loader.yaml_implicit_resolvers


def _composed(text: str, loader: _Loader) -> yaml.Node | None:
    """Compose a document, by libyaml unless it could be deep; errors are the Python parser's."""
    brackets = text.count("[") + text.count("{")
    # tabs are allowed in more places by libyaml
    if brackets <= 1000 and max(map(len, text.split("\n"))) <= 500 and "\t" not in text:
        fast = _FastLoader(text)
        with suppress(yaml.YAMLError):
            return fast.get_single_node()
    return loader.get_single_node()


class _Builder:
    """Builds plain data from nodes with the line of every value, and refuses the rest of YAML."""

    def __init__(self, source: str, loader: _Loader) -> None:
        self.source, self.loader = source, loader
        self.lines: dict[KeyPath, int] = {}
        self.open: set[int] = set()
        self.visited = 0

    def value(self, node: yaml.Node, path: KeyPath) -> Any:
        """Return the value of a node; what an alias repeats is built anew."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        self._check(node)
        self.open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            value: Any = self._mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            value = [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        else:
            value = self.loader.construct_object(node)
        self.open.discard(id(node))
        return value

    def _check(self, node: yaml.Node) -> None:
        """Refuse a node that would unfold without end, or to what is not plain data."""
        where = f"{self.source}:{node.start_mark.line + 1}"
        self.visited += 1
        if self.visited > _MAX_NODES:
            raise ConfigError(f"{where}: more than {_MAX_NODES} values, aliases unfolded")
        if id(node) in self.open:
            raise ConfigError(f"{where}: an alias that contains itself")
        if len(self.open) > _MAX_DEPTH:
            raise ConfigError(f"{where}: nested too deeply, aliases unfolded")
        if node.tag not in _TYPES:
            tag = node.tag.replace(_PREFIX, "!!")
            raise ConfigError(f"{where}: not valid YAML: no tag {tag!r} here; give a plain value")
        if isinstance(node, yaml.ScalarNode) and re.search("[\0\ud800-\udfff]", node.value):
            raise ConfigError(f"{where}: not valid YAML: a character that is not text")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, child in node.value:
            where = f"{self.source}:{key.start_mark.line + 1}"
            if key.tag == _PREFIX + "merge":
                # the keys that `<<` brings in are those of the mapping around it
                parts = child.value if isinstance(child, yaml.SequenceNode) else [child]
                if not all(isinstance(part, yaml.MappingNode) for part in parts):
                    raise ConfigError(f"{where}: not valid YAML: expected a mapping to merge")
                for part in reversed(parts):
                    merged |= self.value(part, path)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(f"{where}: a key must be a plain word")
            # method and data set names may look like numbers
            key.tag = _PREFIX + "str"
            self._check(key)
            place = (*path, key.value)
            if key.value in own:
                text = f"{key.value!r} is given twice, first on line {self.lines[place]}; keep one"
                raise ConfigError(f"{where}: {text}")
            own[key.value] = self.value(child, place)
            self.lines[place] = key.start_mark.line + 1
        return {**merged, **own}


def copied(value: Any) -> Any:
    """Copy the mappings and lists of a value."""
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return [copied(v) for v in value] if isinstance(value, list) else value


def parse_yaml(text: str, source: str) -> tuple[Any, dict[KeyPath, int]]:
    """Parse one YAML document.

    Parameters
    ----------
    text : str
        The document.
    source : str
        What to call it in errors, usually the file's name.

    Returns
    -------
    data : object
        Mappings, lists and scalars.
    lines : dict of tuple to int
        The line, from 1, of the value at every path of keys and indices.

    Raises
    ------
    ConfigError
        If the text is no YAML, has a key twice, or unfolds without bound.
    """
    try:
        loader = _Loader(text)
        node = _composed(text, loader)
        if node is None:
            raise ConfigError(f"{source}: the file is empty")
        builder = _Builder(source, loader)
        return builder.value(node, ()), builder.lines
    except yaml.YAMLError as error:
        line, problem = _what_is_wrong(error, text)
        raise ConfigError(f"{source}:{line}: not valid YAML: {problem}") from None


def _what_is_wrong(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Return the line of an error, and in one line what it is."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be read"
        return (mark.line if mark else 0) + 1, " ".join(problem.split())
    position = getattr(error, "position", 0)
    found = text[position : position + 1]
    return text.count("\n", 0, position) + 1, f"a character that is not text ({found!r})"


def read_yaml(path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """Parse a YAML file, as :func:`parse_yaml` does a text."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text (byte {error.start})") from None
    return parse_yaml(text, str(path))


def parse_scalar(text: str) -> Any:
    """Read a command-line value as the same text would be read inside a config."""
    if not text.strip():
        return None
    try:
        return parse_yaml(text, "value")[0]
    except ConfigError as error:
        problem = str(error).partition("not valid YAML: ")[2] or str(error).partition(": ")[2]
        raise ConfigError(f"{shortened(text)} is not a YAML value: {problem}") from None


def shortened(value: Any) -> str:
    """Write a value for a message, which stays readable if the value is long."""
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"
