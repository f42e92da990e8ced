"""YAML 1.2 with lines: plain data alone, and errors that say where."""

from pathlib import Path

import pytest

from kernlearn.exceptions import ConfigError
from kernlearn.yaml import dump_yaml, parse_scalar, parse_yaml, read_yaml


def test_values_and_their_lines():
    data, lines = parse_yaml("a: 1\nb:\n  c: [x,\n    y]\n  1: {e: 2}\n", "f")
    assert data == {"a": 1, "b": {"c": ["x", "y"], "1": {"e": 2}}}
    places = [("a",), ("b", "c"), ("b", "c", 1), ("b", "1", "e")]
    assert [lines[place] for place in places] == [1, 3, 4, 5]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *[("1e-3", 0.001), ("1.5", 1.5), ("-2", -2), ("no", "no"), ("on", "on"), ("true", True)],
        *[("[1, x]", [1, "x"]), (".inf", float("inf")), ("", None), ("2013-01-02", "2013-01-02")],
        *[("12:30", "12:30"), ("~", None)],
    ],
)
def test_scalars(text, value):
    result = parse_scalar(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"f:3: 'a'"),
        ("a: [1, 2\nb: 3\n", r"f:\d: not valid YAML"),
        ("a: b: c\n", r"f:1: not valid YAML"),
        ("", r"f: the file is empty"),
        ("a: &x\n  b: *x\n", r"f: nested too deeply, or an alias that contains itself"),
        ("? [1, 2]\n: 3\n", r"f:1: a key"),
        ("!!python/object:os.system {}", r"f:1: not valid YAML: no tag"),
        ("a: !!python/object/apply:os.system [ls]", r"f:1: not valid YAML: no tag"),
        ("b: 1\na: !!int x\n", r"f:2: not valid YAML"),
        ("a: \x07", r"f: not valid YAML"),
        ("a: *x\n", "undefined alias"),
    ],
)
def test_errors(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_yaml(text, "f")


def test_a_file_without_an_end_is_refused():
    with pytest.raises(ConfigError, match="/dev/zero: over 16 MiB"):
        read_yaml(Path("/dev/zero"))


def test_aliases_are_copies_and_merged_keys_have_lines():
    data, lines = parse_yaml("a: &x\n  y: 1\n  z: [2]\nb:\n  <<: *x\n  y: 3\nc: *x\n", "f")
    assert data["b"] == {"y": 3, "z": [2]}
    assert (lines["b", "y"], lines["b", "z"]) == (6, 3)
    data["c"]["z"].append(1)
    assert data["a"]["z"] == [2]


def test_files(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes("title: Maß".encode("latin-1"))
    with pytest.raises(ConfigError, match=r"latin\.yaml:1"):
        read_yaml(tmp_path / "latin.yaml")


@pytest.mark.parametrize(
    "text",
    [
        *("1e5", "no", "0x1f", "1_0", "2013-01-02", "~", "1.", ".5", "true", "=", "<<", "12:30"),
        *("é", "010", ".inf", "a: b", "- x"),
    ],
)
def test_texts_are_written_so_that_they_are_read_as_texts(text):
    value = {text: [text, {"a": text}]}
    assert parse_yaml(dump_yaml(value), "f")[0] == value


def test_aliases_stand_for_few_values():
    """Nine in each of nine levels: a few hundred bytes that fill any memory."""
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10)
    )
    with pytest.raises(ConfigError, match=r"b\.yaml: \d{9,} values, with those that aliases"):
        parse_yaml(bomb, "b.yaml")
    data, _ = parse_yaml("a: &a [1, 2]\nb: [*a, *a]\n", "c.yaml")
    assert data == {"a": [1, 2], "b": [[1, 2], [1, 2]]}
