"""YAML with the line of every value, so that an error can say where it is."""

import re
from pathlib import Path
from typing import Any

import yaml

from kernlearn.exceptions import ConfigError

#: Keys and list indices that lead from the root to a value.
KeyPath = tuple[str | int, ...]

# An alias bomb is a small file with billions of nodes; no honest config comes near this.
_MAX_NODES = 100_000


class _Loader(yaml.SafeLoader):
    """YAML 1.2's idea of booleans and floats: ``1e-3`` is a number, ``no`` a word."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if not tag.endswith((":bool", ":float"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(
        r"^[-+]?(?:(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+"
        r"|\.(?:inf|Inf|INF))$|^\.(?:nan|NaN|NAN)$"
    ),
    list("-+0123456789."),
)


class _Lines:
    """Collect the line of every value below a node, and refuse what YAML lets through."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines: dict[KeyPath, int] = {}
        self.open: set[int] = set()

    def visit(self, node: yaml.Node, path: KeyPath) -> None:
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if len(self.lines) > _MAX_NODES:
            raise ConfigError(f"{self.source}: more than {_MAX_NODES} values, aliases unfolded")
        if id(node) in self.open:
            raise ConfigError(f"{self.source}:{line}: an alias that contains itself")
        self.open.add(id(node))
        if isinstance(node, yaml.MappingNode):
            self._visit_mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            for i, child in enumerate(node.value):
                self.visit(child, (*path, i))
        self.open.discard(id(node))

    def _visit_mapping(self, node: yaml.MappingNode, path: KeyPath) -> None:
        seen: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(f"{self.source}:{line}: a key must be a plain word")
            if key.value in seen:
                raise ConfigError(
                    f"{self.source}:{line}: {key.value!r} is given twice, first on line "
                    f"{seen[key.value]}; keep one"
                )
            seen[key.value] = line
            self.visit(child, (*path, key.value))
            self.lines[(*path, key.value)] = line


def _string_keys(value: Any) -> Any:
    """Make every key a string: method and data set names may look like numbers."""
    if isinstance(value, dict):
        return {str(k): _string_keys(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_string_keys(v) for v in value]
    return value


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
        node = loader.get_single_node()
        if node is None:
            raise ConfigError(f"{source}: the file is empty")
        collected = _Lines(source)
        collected.visit(node, ())
        return _string_keys(loader.construct_document(node)), collected.lines
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{source}:{mark.line + 1}" if mark else source
        raise ConfigError(f"{where}: not valid YAML: {error.problem or error.context}") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not valid YAML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{source}: nested too deeply") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ConfigError(f"{source}: a value that YAML cannot build: {error}") from None


def read_yaml(path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """Parse a YAML file, as :func:`parse_yaml` does a text."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return parse_yaml(text, str(path))


def parse_scalar(text: str) -> Any:
    """Read a command-line value as the same text would be read inside a config."""
    try:
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        raise ConfigError(f"{text!r} is not a YAML value: {error}") from None
