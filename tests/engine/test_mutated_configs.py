"""Hundreds of broken configs: each is refused with its file and line, none with a traceback."""

import contextlib
import random
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import yaml

from kernlearn.config import load_config
from kernlearn.datasets.resources import shipped
from kernlearn.engine import make_plan
from kernlearn.exceptions import ConfigError, DataError

SHIPPED = sorted(shipped("configs").glob("*.yaml"))
SEED = 20131

#: What a value is replaced by. A few suit some places; those must then load.
REPLACEMENTS = {
    "list": "[1, x]",
    "empty list": "[]",
    "list of mappings": "[{a: 1}]",
    "list of kernels": "[{kernel: Nothing}, {kernel: [1]}]",
    "mapping": "{a: 1}",
    "empty mapping": "{}",
    "null": "null",
    "bool": "true",
    "text": "nonsense",
    "empty text": '""',
    "negative": "-3",
    "zero": "0",
    "fraction": "0.123",
    "huge integer": "1" + "0" * 400,
    "integer of many digits": "9" * 5000,
    "hexadecimal of many digits": "0x" + "f" * 5000,
    "huge float": "1e400",
    "nan": ".nan",
    "infinity": "-.inf",
    "date": "2013-02-30",
    "undefined alias": "*nowhere",
    "own alias": "&me [*me]",
    "own alias in a mapping": "&me {a: *me}",
    "select without a list": "{select: 3}",
    "empty select": "{select: []}",
    "select of lists": "{select: [[1], {a: 2}]}",
    "select misspelt": "{selects: [1, 2]}",
    "by_dataset without a mapping": "{by_dataset: 7}",
    "by_dataset of nothing": "{by_dataset: {}}",
    "by_dataset of a stranger": "{by_dataset: {nobody: 1}}",
    "select inside by_dataset": "{by_dataset: {default: {select: 3}}}",
    "by_dataset inside by_dataset": "{by_dataset: {default: {by_dataset: 3}}}",
    "by_dataset inside select": "{select: [{by_dataset: {default: 1}}]}",
    "unknown kernel": "{kernel: Nothing}",
    "kernel that is a list": "{kernel: [gaussian]}",
    "kernel of bad parameters": "{kernel: gaussian, sigma: [-1, {select: 2}]}",
    "tag": "!!python/name:os.system",
    "set": "!!set {a, b}",
    "bool that is none": "!!bool maybe",
    "integer that is none": '!!int ""',
    "half a character": '"\\ud800"',
    "NUL": '"a\\0b"',
    "very long text": "y" * 100_000,
    "look-alike": "accurаcy",  # with a Cyrillic letter
    "unclosed quote": '"never closed',
    "unclosed bracket": "[1, 2",
    "unclosed brace": "{a: [1}",
    "deep nesting": "[" * 3000 + "]" * 3000,
}

KEYS = {
    "unknown": "qqqq",
    "wrong case": None,
    "look-alike": "metriсs",
    "empty": '""',
    "number": "3.14",
    "null": "null",
    "list": "? [1, 2]\n:",
    "alias": "*nowhere",
    "merge": "<<",
    "nested parameter": "kernel__x",
    "deeper parameter": "kernel__sigma__x",
    "dots": "a..b",
}


Place = tuple[str, yaml.Node, yaml.Node | None]


def places(node: yaml.Node, path: tuple[str, ...] = ()) -> Iterator[Place]:
    """Yield the path, the value and the key of everything below a node."""
    children: list[tuple[str, yaml.Node, yaml.Node | None]] = []
    if isinstance(node, yaml.MappingNode):
        children = [(str(key.value)[:40], value, key) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        children = [(str(i), value, None) for i, value in enumerate(node.value)]
    for name, value, key in children:
        yield ".".join((*path, name)), value, key
        yield from places(value, (*path, name))


def replaced(text: str, node: yaml.Node, new: str) -> str:
    """Replace a node's text, keeping the line breaks at its end."""
    old = text[node.start_mark.index : node.end_mark.index]
    end = old[len(old.rstrip()) :]
    return text[: node.start_mark.index] + new + end + text[node.end_mark.index :]


def without(text: str, key: yaml.Node, value: yaml.Node) -> str:
    """Leave out a key of a block with its value."""
    return text[: key.start_mark.index] + text[value.end_mark.index :].lstrip("\n, ")


def mutations(path: Path, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Yield a description and the new text, for some mutations of one config."""
    text = path.read_text(encoding="utf-8")
    found = [*places(yaml.compose(text, Loader=yaml.SafeLoader))]
    keyed = [(where, value, key) for where, value, key in found if key is not None]
    for what in rng.sample(sorted(REPLACEMENTS), 22):
        where, value, _ = rng.choice(found)
        yield f"{where} <- {what}", replaced(text, value, REPLACEMENTS[what])
    for what in rng.sample(sorted(KEYS), 5):
        where, _, key = rng.choice(keyed)
        yield f"{where} renamed: {what}", replaced(text, key, KEYS[what] or key.value.swapcase())
    for where, value, key in rng.sample(keyed, 2):
        yield f"{where} deleted", without(text, key, value)
        yield (
            f"{where} in tabs",
            text[: key.start_mark.index] + "\t" + text[key.start_mark.index :],
        )
    for where, value, key in keyed:
        if where in ("title", "datasets", "methods", "metrics"):
            yield f"{where} deleted", without(text, key, value)
    for where in rng.sample(["title", "task", "methods", "metrics", "protocol"], 2):
        yield f"{where} twice", f"{text}\n{where}: 1\n{where}: 1\n"


def refused_with_places(path: Path, **options) -> bool:
    """Whether a config is refused; each line of the message must name the file and the line."""
    try:
        experiment = load_config(path, **options)
    except ConfigError as error:
        for line in str(error).split("\n"):
            assert re.match(re.escape(str(path)) + r":[1-9]\d*: .", line), line
            assert len(line) < 1500
        return True
    # what loads can be planned, but for data that is not here
    with contextlib.suppress(DataError):
        make_plan(experiment, available=True)
    return False


@pytest.mark.parametrize("every", [12, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_mutated_configs_are_refused_with_file_and_line(every, tmp_path, monkeypatch):
    monkeypatch.delenv("KERNLEARN_DATA", raising=False)
    rng, refused, valid = random.Random(SEED), [], []
    target = tmp_path / "mutated.yaml"
    for n, source in enumerate(SHIPPED):
        for what, text in islice(mutations(source, rng), n % every, None, every):
            target.write_text(text, encoding="utf-8", newline="")
            try:
                found = refused if refused_with_places(target) else valid
            except Exception as error:
                raise AssertionError(f"{source.name}: {what}") from error
            found.append(f"{source.name}: {what}")
    assert len(refused) >= 500 / every
    assert len(valid) < len(refused) / 5
