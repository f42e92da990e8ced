"""YAML 1.2 with the line of every value, and errors that say where and what is wrong."""

from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from kernlearn.checks import suggestion
from kernlearn.exceptions import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError

#: Keys and list indices that lead from the root to a value.
KeyPath = tuple[str | int, ...]

_PREFIX = "tag:yaml.org,2002:"
_PLAIN = {_PREFIX + name for name in ("null", "bool", "int", "float", "str", "seq", "map")}
# Nodes of a document: a few hundred bytes of aliases can stand for any number.
_MOST_NODES = 100_000
_MOST_BYTES = 2**24  # of a file, which may be a device or a pipe without an end
_LONGEST = 80  # characters of a value in a message


class _Builder:
    """Builds plain data from nodes, with the line of every value; other objects are refused."""

    def __init__(self, source: str, construct: Any) -> None:
        self.source, self.construct = source, construct
        self.lines: dict[KeyPath, int] = {}

    def value(self, node: Node, path: KeyPath) -> Any:
        """Return the value of a node; an alias gives a new copy."""
        self.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, MappingNode) and node.tag in _PLAIN:
            return self._mapping(node, path)
        if isinstance(node, SequenceNode) and node.tag in _PLAIN:
            return [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        if node.tag == _PREFIX + "timestamp":  # a word: nothing here is a date
            return node.value
        if node.tag not in _PLAIN:
            tag = str(node.tag).replace(_PREFIX, "!!")
            raise self._error(node, f"not valid YAML: no tag {tag!r} here; give a plain value")
        try:
            return self.construct(node)
        except ValueError:
            kind = str(node.tag).removeprefix(_PREFIX)
            raise self._error(node, f"not valid YAML: no {kind}: {node.value!r:.60}") from None

    def _mapping(self, node: MappingNode, path: KeyPath) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key, child in node.value:
            if key.tag == _PREFIX + "merge":
                # the keys that `<<` brings in are those of the mapping around it
                parts = child.value if isinstance(child, SequenceNode) else [child]
                if not all(isinstance(part, MappingNode) for part in parts):
                    raise self._error(key, "not valid YAML: expected a mapping to merge")
                for part in reversed(parts):
                    merged |= self.value(part, path)
                continue
            if not isinstance(key, ScalarNode):
                raise self._error(key, "a key must be a plain word")
            place = (*path, key.value)  # as text: names may look like numbers
            if key.value in own:
                first = self.lines[place]
                raise self._error(
                    key, f"{key.value!r} is given twice, first on line {first}; keep one"
                )
            own[key.value] = self.value(child, place)
            self.lines[place] = key.start_mark.line + 1
        return {**merged, **own}

    def _error(self, node: Node, problem: str) -> ConfigError:
        return ConfigError(f"{self.source}:{node.start_mark.line + 1}: {problem}")


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
        If the text is no YAML, has a key twice, or holds other objects.
    """
    try:
        reader, node = _composed(text)
        if node is None:
            raise ConfigError(f"{source}: the file is empty")
        if (n_nodes := _n_nodes(node, {})) > _MOST_NODES:
            raise ConfigError(f"{source}: {n_nodes} values, with those that aliases stand for")
        builder = _Builder(source, reader.constructor.construct_object)
        return builder.value(node, ()), builder.lines
    except RecursionError:
        raise ConfigError(
            f"{source}: nested too deeply, or an alias that contains itself"
        ) from None
    except YAMLError as error:
        place, problem = source, str(error)
        if isinstance(error, MarkedYAMLError):
            mark = error.problem_mark or error.context_mark
            place = f"{source}:{(mark.line if mark else 0) + 1}"
            problem = error.problem or error.context or "cannot be read"
        raise ConfigError(f"{place}: not valid YAML: {' '.join(problem.split())}") from None


def _n_nodes(node: Node, known: dict[int, int]) -> int:
    """Return the number of nodes below a node and with it; those of an alias count each time."""
    if id(node) not in known:
        children = node.value if isinstance(node.value, list) else []
        parts = chain.from_iterable(children) if isinstance(node, MappingNode) else children
        known[id(node)] = 1 + sum(_n_nodes(part, known) for part in parts)
    return known[id(node)]


def _composed(text: str) -> tuple[Any, Node | None]:
    """Compose a document by libyaml, which is fast, or by the whole of YAML 1.2."""
    with suppress(YAMLError):
        reader = YAML(typ="safe")
        return reader, reader.compose(text)
    reader = YAML(typ="safe", pure=True)
    return reader, reader.compose(text)


def read_yaml(path: Path) -> tuple[Any, dict[KeyPath, int]]:
    """Parse a YAML file, as :func:`parse_yaml` does a text."""
    try:
        with path.open("rb") as stream:
            content = stream.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ConfigError(f"{path}: over {_MOST_BYTES >> 20} MiB, as no config or card is")
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}:{line}: not UTF-8 text (byte {error.start})") from None
    except (OSError, ValueError) as error:  # a ValueError is that of a path with a NUL in it
        raise ConfigError(f"{path}: cannot be read: {getattr(error, 'strerror', error)}") from None
    return parse_yaml(text, str(path))


def parse_scalar(text: str) -> Any:
    """Read a command-line value as the same text would be read inside a config."""
    if not text.strip():
        return None
    return parse_yaml(text, shortened(text))[0]


def shortened(value: Any) -> str:
    """Write a value for a message, which stays readable if the value is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:60]}… ({len(text)} characters)"


def explained(
    error: "ValidationError", raw: Any, unknown: Callable[[str], str] = lambda key: "unknown key"
) -> list[tuple[KeyPath, str]]:
    """Turn the errors of pydantic into paths and sentences, one for each path.

    `unknown` returns the sentence about a key that is none.
    """
    texts: dict[KeyPath, list[str]] = {}
    for one in error.errors():
        texts.setdefault(_followed(one, raw), []).append(_text(one, unknown))
    return [(path, "; or ".join(dict.fromkeys(several))) for path, several in texts.items()]


def _followed(error: Any, raw: Any) -> KeyPath:
    """Return the location of an error in the data, without what pydantic adds of types."""
    path: list[str | int] = []
    for step in error["loc"]:
        known = range(len(raw)) if isinstance(raw, list) else raw if isinstance(raw, dict) else ()
        if step in known:
            raw = raw[step]
            path.append(step)
    return (*path, error["loc"][-1]) if error["type"] == "missing" else tuple(path)


def _text(error: Any, unknown: Callable[[str], str]) -> str:
    """Say in a sentence what an error of pydantic is."""
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return unknown(str(error["loc"][-1]))
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


class _Writer(yaml.SafeDumper):
    """Writes YAML 1.1, with quotes around texts that version 1.2 reads as something else."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        with suppress(ConfigError):
            if text and parse_scalar(text) == text:
                return self.represent_str(text)
        return self.represent_scalar(_PREFIX + "str", text, style="'")

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        nested = all(isinstance(one, list) for one in sequence)
        return super().represent_sequence(tag, sequence, nested or flow_style)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_Writer.add_representer(str, _Writer.represent_text)


def dump_yaml(value: Any, one_line: bool = False) -> str:
    """Write plain data as YAML that :func:`parse_yaml` reads back, keys in their order."""
    # by default lists of plain values or of lists, and mappings of plain values on one line each
    text = yaml.dump(
        value,
        Dumper=_Writer,
        default_flow_style=one_line or None,
        width=inf if one_line else 95,
        sort_keys=False,
        allow_unicode=True,
    )
    return str(text).removesuffix("...\n")
