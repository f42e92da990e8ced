"""Configs broken by hand, settings and files: what is said of each, and where."""

import re
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.exceptions import ConfigError

START = "title: t\ndatasets:\n  moons: {generator: two_moons}\n"
END = "metrics: [accuracy]\n"
METHOD = "methods:\n  K: {estimator: KernelSVM, kernel: {kernel: linear}}\n"
WHOLE = START + METHOD + END
BOMB = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))

#: Configs written by hand, and what is said of them after the file's name.
BY_HAND = {
    "- a\n- b\n": ":1: an experiment is a mapping",
    "3\n": ":1: an experiment is a mapping",
    "# nothing\n": ": the file is empty",
    "": ": the file is empty",
    "a0: &a0 x\n" + BOMB: r":\d+: more than 100000 values",
    "a: &a {<<: *a}\n": ":1: an alias that contains itself",
    WHOLE + "\tx: 1\n": ":7: not valid YAML",
    WHOLE + "notes: {\n": ":8: not valid YAML",
    WHOLE + 'source: "never closed\n': ":8: not valid YAML: found unexpected end",
    WHOLE + "source: *gone\n": ":7: not valid YAML: found undefined alias",
    WHOLE + "title: u\n": ":7: 'title' is given twice, first on line 1",
    WHOLE + "notes: {<<: 3}\n": ":7: not valid YAML: expected a mapping",
    WHOLE + "? [x]\n: 1\n": ":7: a key must be a plain word",
    WHOLE + "--- \nsecond: document\n": ":7: not valid YAML: but found another document",
    WHOLE + "source: a\x07b\n": ":7: not valid YAML: a character that is not text",
    WHOLE + 'source: "\\0"\n': ":7: not valid YAML: a character that is not text",
    WHOLE
    + "protocol:\n  splits: 1"
    + "0" * 400
    + "\n": ":8: protocol.splits: input should be less",
    WHOLE + "protocol:\n  train: 1e400\n": ":8: protocol.train: ",
    WHOLE + "protocol:\n  splits: 2013-01-02\n": ":8: protocol.splits: must be a whole number",
    WHOLE + "Protocol: {splits: 2}\n": ":7: Protocol: unknown key; did you mean 'protocol'",
    WHOLE + "tаsk: regression\n": ":7: tаsk: unknown key; did you mean 'task'",
    WHOLE + "task: [regression]\n": ":7: task: .* is not allowed",
    WHOLE + "reported: ../../etc/passwd\n": ":7: reported: no reported numbers",
    WHOLE + "reported: " + "y" * 5000 + "\n": ":7: reported: no reported numbers",
    WHOLE + "profiles:\n  quick: {splitz: 2}\n": ":8: splitz: unknown key",
    WHOLE + "profiles:\n  quick: {methods.N.C: 2}\n": ":8: methods.N.estimator: is missing",
    WHOLE + "profiles:\n  quick: {title.x: 2}\n": ":8: title has no keys to set",
    WHOLE + "profiles:\n  quick: {profiles.quick.seed: 2}\n": ":8: a profile cannot change prof",
    WHOLE + "profiles:\n  quick: 3\n": ":8: profiles.quick: must be a mapping",
    WHOLE + "profiles: [quick]\n": ":7: profiles: must be a mapping",
    START
    + "methods:\n  K: 3\n"
    + END: ":5: methods.K: must be a mapping of keys to values, not 3",
    WHOLE
    + "variant_of: table4_3\n": ":7: variant_of: no config 'table4_3'; did you mean 'table4_2'",
    WHOLE + "drift: {accurate: {relative: 1}}\n": ":7: drift: no metric 'accurate'",
    WHOLE + "drift: {accuracy: {relative: -1}}\n": ":7: drift.accuracy.relative: .* greater",
    WHOLE + "drift: {accuracy: {spred: 1}}\n": ":7: drift.accuracy.spred: .* mean 'spread'",
    WHOLE
    + "verdict: {accuracy: {absolute: 1, reported_splits: 3}}\n": ":7: verdict.accuracy: .*level",
    WHOLE + "claims: 3\n": ":7: claims: must be a list",
    WHOLE + "claims: [{says: s, check: 3}]\n": ":7: claims.0.check: ",
    WHOLE + "claims: [{says: s, check: {metric: accuracy, better: [K], than: [K], "
    "where: {dataset: [moon]}}}]\n": ":7: claims.0.check.where.dataset: no dataset 'moon'",
    WHOLE + "claims: [{says: s, check: {metric: accuracy, better: [K], than: [K], "
    "where: {kernel: {a: 1}}}}]\n": ":7: claims.0.check.where.kernel: must be a value or a list",
    WHOLE + "figures: {x: dataset}\n": ":7: figures: must be a list",
    WHOLE + "figures: [{x: datset, metrics: [accuracy]}]\n": ":7: figures.0.x: no label 'datset'",
    WHOLE + "table: {rows: [[dataset]]}\n": ":7: table.rows.0: must be text",
    WHOLE + "table: {each: {a: 1}}\n": ":7: table.each: must be a list",
    WHOLE + "kernels:\n  g: {kernel: gaussian, sigma: {by_dataset: {moons: 1}}}\n": (
        ":8: kernels.g.sigma: by_dataset has no place here; give a value or a list"
    ),
    WHOLE.replace("two_moons", "two_moons, n_samples: many"): (
        ":3: datasets.moons.n_samples: must be a whole number, not 'many'"
    ),
    WHOLE.replace("two_moons", "two_moons, n_samples: {by_dataset: {x: 1}}"): (
        ":3: datasets.moons.n_samples: by_dataset has no place here"
    ),
    WHOLE.replace("two_moons}", "two_moons, file: x.csv}"): (
        ":3: datasets.moons: give one of name, file and generator"
    ),
    WHOLE.replace(
        "generator: two_moons", "file: " + "y" * 5000
    ): ":3: datasets.moons.file: no file",
    WHOLE.replace("linear", "Nothing"): ":5: methods.K.kernel.kernel: no kernel 'Nothing'",
    WHOLE.replace("linear", "[linear]"): ":5: methods.K.kernel.kernel: must be the name",
    WHOLE.replace("{kernel: linear}", "[{kernel: 3}]"): ":5: methods.K.kernel.kernel: must be",
    WHOLE.replace("}}", "}, kernel__x: 1}"): ":5: methods.K.kernel__x: linear has no such",
    WHOLE.replace("{kernel: linear}}", "x, kernel__y: 1}"): ":5: methods.K.kernel__y: needs",
    WHOLE.replace("}}", "}, C: {select: {a: 1}}}"): ":5: methods.K.C: select must be a list",
    WHOLE.replace(
        "}}", "}, C: {select: [{select: [1]}]}}"
    ): ":5: methods.K.C: select has no place",
    WHOLE.replace(
        "}}", "}, C: {by_dataset: [1]}}"
    ): ":5: methods.K.C: by_dataset must be a mapping",
    WHOLE.replace(
        "}}", "}, C: {by_dataset: {mons: 1}}}"
    ): ":5: methods.K.C.by_dataset.mons: no data",
    WHOLE.replace("}}", f"}}, C: {[*range(1, 202)]}, tol: {[*range(1, 202)]}}}"): (
        ":5: methods.K: its lists make 40401 combinations"
    ),
}


@pytest.mark.parametrize("number", range(len(BY_HAND)))
def test_what_is_said_of_configs_broken_by_hand(tmp_path, number):
    text, message = list(BY_HAND.items())[number]
    path = tmp_path / "c.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(path)
    lines = str(caught.value).split("\n")
    pattern = re.escape(str(path)) + message
    assert any(re.match(pattern, line) for line in lines), lines


def test_the_config_that_they_break_is_valid(tmp_path):
    path = tmp_path / "c.yaml"
    for text in (WHOLE, "\ufeff" + WHOLE, WHOLE.replace("\n", "\r\n")):
        path.write_bytes(text.encode())
        assert len(make_plan(load_config(path)).trials) == 5


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "c.yaml"
    for content, line in (
        (b"title: t\nsource: \xff\n", 2),
        (b"a\0b", 1),
        (WHOLE.encode("utf-16"), 1),
        (bytes(range(256)) * 20, 2),
    ):
        path.write_bytes(content)
        with pytest.raises(ConfigError, match=rf"^{re.escape(str(path))}:{line}: not "):
            load_config(path)


def test_names_that_are_no_readable_file(tmp_path, monkeypatch):
    folder = tmp_path / "c.yaml"
    folder.mkdir()
    with pytest.raises(ConfigError, match=r"c\.yaml: is a folder"):
        load_config(folder)
    for name in ("y" * 5000, "a\0b", "", "/", "x/y/z.yaml", "table9_1"):
        with pytest.raises(ConfigError):
            load_config(name)

    def refuse(path, mode):
        raise PermissionError(13, "Permission denied")

    path = tmp_path / "secret.yaml"
    path.write_text(WHOLE)
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(ConfigError, match=r"secret\.yaml: cannot be read: Permission denied"):
        load_config(path)


@pytest.mark.parametrize(
    "setting",
    [
        *(
            f"splits={new}"
            for new in (
                "x",
                "[1",
                "*a",
                "&a [*a]",
                "0",
                "-1",
                "1e400",
                ".nan",
                "9" * 5000,
                "0x" + "f" * 5000,
                "!!set {a}",
                "!!bool x",
                "'open",
                "{a: 1}",
                "null",
                "\x07",
                "\ud800",
                "[" * 3000,
                "2013-01-02",
                "1\n---\n2",
            )
        ),
        "splits",
        "=3",
        "splitz=2",
        "methods=3",
        "methods.K=",
        "methods.K.C={select: 3}",
        ".=1",
        "a..b=1",
        "methods.K.kernel.kernel=[1]",
        "methods.K.kernel__x=1",
        "methods.N.C=1",
        "title.x=1",
        "datasets.moons.n_samples=x",
        "profiles=3",
        "claims=[3]",
        "task={}",
        "methods.K.estimator=svm",
    ],
)
def test_broken_settings_are_named(tmp_path, setting):
    path = tmp_path / "c.yaml"
    path.write_text(WHOLE)
    with pytest.raises(ConfigError) as caught:
        load_config(path, settings=[setting])
    for line in str(caught.value).split("\n"):
        assert line.startswith(("-o ", f"{path}:"))
    assert "-o " in str(caught.value)


@pytest.mark.parametrize("number", range(3, len(BY_HAND), 11))
def test_the_command_says_it_with_exit_code_2(kernlearn, tmp_path, number):
    text, message = list(BY_HAND.items())[number]
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    out = kernlearn("validate", "c.yaml")
    assert out.returncode == 2
    assert out.stdout == ""
    assert re.search(rf"^(kernlearn: )?c\.yaml{message}", out.stderr, re.M), out.stderr
    assert "Traceback" not in out.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"c\.yaml:3: datasets\.own\.file: no file 'own\.csv'"),
        (b"", r"own\.csv: the file is empty"),
        (b"a,y\n1,0\n\xff,1\n", r"own\.csv, line 3: found b'\\xff'"),
        (b"a,b,y\n1,2,0\n1,2\n1,2,1\n", r"own\.csv"),
    ],
)
def test_a_valid_config_of_bad_data(kernlearn, tmp_path, content, message):
    text = WHOLE.replace("moons: {generator: two_moons}", "own: {file: own.csv}")
    (tmp_path / "c.yaml").write_text(text)
    if content is not None:
        (tmp_path / "own.csv").write_bytes(content)
    out = kernlearn("run", "c.yaml")
    assert out.returncode == 2, out.stderr
    assert re.match(f"kernlearn: .*{message}", out.stderr), out.stderr
    assert len(out.stderr.splitlines()) == 1
