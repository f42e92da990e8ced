import pytest

from kernlearn.datasets.yaml import dump_yaml, parse_scalar, parse_yaml, read_yaml
from kernlearn.exceptions import ConfigError


def test_every_value_has_its_line():
    data, lines = parse_yaml("a: 1\nb:\n  c: [x,\n    y]\n  d: {e: 2}\n", "f")
    assert data == {"a": 1, "b": {"c": ["x", "y"], "d": {"e": 2}}}
    assert lines[("a",)] == 1
    assert lines[("b", "c")] == 3
    assert lines[("b", "c", 1)] == 4
    assert lines[("b", "d", "e")] == 5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1.5", 1.5),
        ("-2", -2),
        ("no", "no"),
        ("on", "on"),
        ("true", True),
        ("[1, x]", [1, "x"]),
        (".inf", float("inf")),
        ("", None),
        ("2013-01-02", "2013-01-02"),
    ],
)
def test_scalars_read_as_a_scientist_means_them(text, value):
    found = parse_scalar(text)
    assert found == value
    assert type(found) is type(value)


def test_keys_are_text():
    data, lines = parse_yaml("1: a\n0/1: b\ntrue: c\n", "f")
    assert data == {"1": "a", "0/1": "b", "true": "c"}
    assert lines[("true",)] == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"f:3: 'a' is given twice, first on line 1"),
        ("a: [1, 2\nb: 3\n", r"f:\d: not valid YAML"),
        ("a: b: c\n", r"f:1: not valid YAML"),
        ("", r"f: the file is empty"),
        ("a: &x\n  b: *x\n", r"f:\d: an alias that contains itself"),
        ("? [1, 2]\n: 3\n", r"f:1: a key must be a plain word"),
        ("!!python/object:os.system {}", r"f:1: not valid YAML"),
        ("a: \x07", r"f:1: not valid YAML"),
        ("a: " + "[" * 5000, r"f:1: not valid YAML: nested too deeply"),
        ("b: 1\na: !!int x\n", r"f:2: not valid YAML: a value that YAML cannot build as int"),
        ("a: !!set {x, y}\n", r"f:1: not valid YAML: no tag '!!set' here"),
        ('a: 1\nb: "\\ud800"\n', r"f:2: not valid YAML: a character that is not text"),
        ("a: 0x" + "f" * 5000, r"f:1: not valid YAML: a number of too many digits"),
    ],
)
def test_what_yaml_lets_through_is_refused(text, message):
    with pytest.raises(ConfigError, match=message):
        parse_yaml(text, "f")


def test_alias_bomb_is_refused():
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(ConfigError, match="aliases unfolded"):
        parse_yaml("\n".join(levels), "f")


def test_a_bomb_of_merged_mappings_is_refused():
    levels = ["a0: &a0 {x: 1}"]
    levels += [f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}" for i in range(1, 40)]
    with pytest.raises(ConfigError, match="aliases unfolded"):
        parse_yaml("\n".join(levels), "f")


def test_what_an_alias_repeats_is_changed_in_one_place_alone():
    data, _ = parse_yaml("a: &x {y: 1}\nb: *x\n", "f")
    data["b"]["y"] = 2
    assert data["a"] == {"y": 1}


def test_merged_keys_have_their_lines():
    data, lines = parse_yaml("a: &x\n  y: 1\n  z: 2\nb:\n  <<: *x\n  z: 3\n", "f")
    assert data["b"] == {"y": 1, "z": 3}
    assert (lines[("b", "y")], lines[("b", "z")]) == (2, 6)


def test_shared_aliases_are_fine():
    data, _ = parse_yaml("a: &x [1, 2]\nb: *x\nc: {<<: {d: 1}, e: 2}\n", "f")
    assert data == {"a": [1, 2], "b": [1, 2], "c": {"d": 1, "e": 2}}


def test_unreadable_files_are_named(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_yaml(tmp_path / "none.yaml")
    latin = tmp_path / "latin.yaml"
    latin.write_bytes("title: Maß".encode("latin-1"))
    with pytest.raises(ConfigError, match="not UTF-8 text"):
        read_yaml(latin)


@pytest.mark.parametrize(
    "text",
    [
        "1e5",
        "no",
        "0x1f",
        "1_0",
        "2013-01-02",
        "~",
        "1.",
        ".5",
        "true",
        "=",
        "<<",
        "12:30",
        "a: b",
        "- x",
        "é",
        "010",
        ".inf",
    ],
)
def test_texts_are_written_so_that_they_are_read_as_texts(text):
    value = {text: [text, {"a": text}]}
    assert parse_yaml(dump_yaml(value), "f")[0] == value
