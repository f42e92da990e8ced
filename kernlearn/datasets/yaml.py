"""YAML with the line of every value, so that an error can say where it is.

Of configs and cards alike: no content of a file takes long, or ends the process.
"""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from kernlearn.exceptions import ConfigError, KernlearnError

Fault = type[KernlearnError]

#: Keys and list indices that lead from the root to a value.
KeyPath = tuple[str | int, ...]

# An alias bomb is a small file with billions of nodes; no honest config comes near this.
_MAX_NODES = 100_000
#: A card of a wide file has a name, and perhaps nominal values, for each of its columns.
CARD_NODES = 300_000
# Of a file; a card of as many nodes is smaller.
_MAX_BYTES = 1 << 25
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
        self._composed = getattr(self, "_composed", 0) + 1
        if self._composed > _MAX_NODES:  # this parser is slow
            raise _error(f"more than {_MAX_NODES} values, and long lines", self.peek_event())
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


class _TooManyError(Exception):
    """A text has more values than are read."""


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


def _composed(text: str, loader: _Loader, most: int) -> yaml.Node | None:
    """Compose a document, by libyaml unless it could be deep; errors are the Python parser's."""
    brackets = text.count("[") + text.count("{")
    # tabs are allowed in more places by libyaml
    if brackets <= 1000 and max(map(len, text.split("\n"))) <= 500 and "\t" not in text:
        with suppress(yaml.YAMLError):
            if len(text) > most:  # else it has no more values than that
                _count(text, most)
            return _FastLoader(text).get_single_node()
    return loader.get_single_node()


def _count(text: str, most: int) -> None:
    """Refuse a text with too many values before they are kept."""
    loader, n_values = _FastLoader(text), 0
    while loader.check_event():
        n_values += isinstance(loader.get_event(), yaml.NodeEvent)
        if n_values > most:
            raise _TooManyError


class _Builder:
    """Builds plain data from nodes with the line of every value, and refuses the rest of YAML."""

    def __init__(self, source: str, loader: _Loader, fault: Fault, most: int) -> None:
        self.source, self.loader, self.fault, self.most = source, loader, fault, most
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
        if self.visited > self.most:
            raise self.fault(f"{where}: more than {self.most} values, aliases unfolded")
        if id(node) in self.open:
            raise self.fault(f"{where}: an alias that contains itself")
        if len(self.open) > _MAX_DEPTH:
            raise self.fault(f"{where}: nested too deeply, aliases unfolded")
        if node.tag not in _TYPES:
            tag = node.tag.replace(_PREFIX, "!!")
            raise self.fault(f"{where}: not valid YAML: no tag {tag!r} here; give a plain value")
        if isinstance(node, yaml.ScalarNode) and re.search("[\0\ud800-\udfff]", node.value):
            raise self.fault(f"{where}: not valid YAML: a character that is not text")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, child in node.value:
            where = f"{self.source}:{key.start_mark.line + 1}"
            if key.tag == _PREFIX + "merge":
                # the keys that `<<` brings in are those of the mapping around it
                parts = child.value if isinstance(child, yaml.SequenceNode) else [child]
                if not all(isinstance(part, yaml.MappingNode) for part in parts):
                    raise self.fault(f"{where}: not valid YAML: expected a mapping to merge")
                for part in reversed(parts):
                    merged |= self.value(part, path)
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise self.fault(f"{where}: a key must be a plain word")
            # method and data set names may look like numbers
            key.tag = _PREFIX + "str"
            self._check(key)
            place = (*path, key.value)
            if key.value in own:
                text = f"{key.value!r} is given twice, first on line {self.lines[place]}; keep one"
                raise self.fault(f"{where}: {text}")
            own[key.value] = self.value(child, place)
            self.lines[place] = key.start_mark.line + 1
        return {**merged, **own}


def copied(value: Any) -> Any:
    """Copy the mappings and lists of a value."""
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    return [copied(v) for v in value] if isinstance(value, list) else value


def parse_yaml(
    text: str, source: str, *, fault: Fault = ConfigError, most: int = _MAX_NODES
) -> tuple[Any, dict[KeyPath, int]]:
    """Parse one YAML document.

    Parameters
    ----------
    text : str
        The document.
    source : str
        What to call it in errors, usually the file's name.
    fault : type of KernlearnError, default=ConfigError
        The class of errors.
    most : int, default=100000
        The largest number of values, with aliases unfolded.

    Returns
    -------
    data : object
        Mappings, lists and scalars.
    lines : dict of tuple to int
        The line, from 1, of the value at every path of keys and indices.

    Raises
    ------
    KernlearnError
        Of class `fault`, if the text is no YAML, has a key twice, or unfolds without bound.
    """
    try:
        loader = _Loader(text)
        node = _composed(text, loader, most)
        if node is None:
            raise fault(f"{source}: the file is empty")
        builder = _Builder(source, loader, fault, most)
        return builder.value(node, ()), builder.lines
    except _TooManyError:
        raise fault(f"{source}: more than {most} values") from None
    except yaml.YAMLError as error:
        line, problem = _what_is_wrong(error, text)
        raise fault(f"{source}:{line}: not valid YAML: {problem}") from None


def _what_is_wrong(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Return the line of an error, and in one line what it is."""
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be read"
        return (mark.line if mark else 0) + 1, " ".join(problem.split())
    position = getattr(error, "position", 0)
    found = text[position : position + 1]
    return text.count("\n", 0, position) + 1, f"a character that is not text ({found!r})"


def read_yaml(
    path: Path, *, fault: Fault = ConfigError, most: int = _MAX_NODES
) -> tuple[Any, dict[KeyPath, int]]:
    """Parse a YAML file, as :func:`parse_yaml` does a text."""
    try:
        if path.is_fifo() or path.is_char_device():  # which may wait for another program for ever
            raise fault(f"{path}: a pipe or a device, not a file")
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise fault(f"{path}: more than {_MAX_BYTES >> 20} MiB of YAML")
        text = content.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            line = content.count(b"\n", 0, error.start) + 1
            raise fault(f"{path}:{line}: not UTF-8 text (byte {error.start})") from None
        # a ValueError is that of a path with a NUL in it
        reason = getattr(error, "strerror", None) or error
        raise fault(f"{path}: cannot be read: {reason}") from None
    return parse_yaml(text, str(path), fault=fault, most=most)


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


class _Dumper(yaml.SafeDumper):
    """Puts texts in quotes that either kind of YAML would take for something else."""


_Dumper.yaml_implicit_resolvers = {
    first: [
        *yaml.SafeLoader.yaml_implicit_resolvers.get(first, ()),
        *_Loader.yaml_implicit_resolvers.get(first, ()),
    ]
    for first in yaml.SafeLoader.yaml_implicit_resolvers | _Loader.yaml_implicit_resolvers
}


def dump_yaml(value: Any, **options: Any) -> str:
    """Write plain data as YAML that :func:`parse_yaml` reads back, keys in their order."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **options))
