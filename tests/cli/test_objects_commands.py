"""A user with a file of names: goodness, a config, a card."""

import pytest


@pytest.fixture
def names(tmp_path, monkeypatch):
    words = {"past": ["kitten", "mitten", "bitten", "written"], "now": ["sitting", "hitting"]}
    lines = ["id,word,form"]
    for i in range(60):
        form = ("past", "now")[i % 2]
        word = words[form][i // 2 % len(words[form])]
        lines.append(f"{i},{'s' * (i % 3)}{word}{'e' * (i % 5)},{form}")
    (tmp_path / "names.csv").write_text("\n".join(lines) + "\n71,,past\n")
    monkeypatch.chdir(tmp_path)
    return "names.csv"


def test_goodness(kernlearn, names):
    out = kernlearn(
        "goodness", names, "--points", "word", "--similarity", "rapidfuzz.jaro_winkler"
    )
    assert out.returncode == 0, out.stderr
    assert "1 of 61 rows with missing entries is left out" in out.stderr
    assert "1 column is left out: id" in out.stderr
    assert "60 points in 2 classes; rapidfuzz.jaro_winkler similarity" in out.stdout
    assert "Suits the task" in out.stdout


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [],
            "--similarity gaussian: the points of names.csv are strings: name a similarity of st",
        ),
        (["--similarity", "scipy.canberra"], "the points of names.csv are strings"),
    ],
)
def test_other_similarities_are_refused(kernlearn, names, given, message):
    out = kernlearn("goodness", names, "--points", "word", *given)
    assert out.returncode == 2
    assert message in out.stderr
    assert len(out.stderr.splitlines()) == 3


def test_a_config_for_the_file_runs(kernlearn, names):
    out = kernlearn("init", names, "--points", "word")
    assert out.returncode == 0, out.stderr
    assert "names: {file: names.csv, points: word}" in out.stdout
    out = kernlearn("run", "names.yaml", "--executor", "in-process", "-o", "splits=1")
    assert out.returncode == 0, out.stdout + out.stderr
    assert "failed" not in out.stdout


def test_a_card_for_the_file(kernlearn, names):
    out = kernlearn("datasets", "add", names, "--name", "words", "--points", "word")
    assert out.returncode == 0, out.stderr
    assert "- the points are the texts of column word" in out.stdout
    out = kernlearn("datasets", "info", "words")
    assert out.returncode == 0, out.stderr
    assert "60 points" in out.stdout
    assert "sizes of strings" in out.stdout


@pytest.mark.parametrize("command", ["rademacher", "regret"])
def test_commands_about_vectors_say_so(kernlearn, names, command, tmp_path):
    kernlearn("datasets", "add", names, "--name", "words", "--points", "word")
    out = kernlearn(command, "words")
    assert out.returncode == 2
    assert "strings" in out.stderr.splitlines()[-1]
