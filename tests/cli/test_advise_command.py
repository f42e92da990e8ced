"""``kernlearn advise``: from a file to a choice and a config that runs."""

import re

import numpy as np
import pytest


@pytest.fixture
def mine(tmp_path):
    """A file with numbers, a nominal column, missing entries and two classes."""
    rng = np.random.default_rng(0)
    lines = ["size,colour,weight,label"]
    for size, weight in rng.normal(size=(240, 2)):
        colour = rng.choice(["red", "green", "blue"])
        inside = size**2 + weight**2 < 1.2
        cells = [f"{size:.3f}", colour, "" if rng.random() < 0.05 else f"{weight:.3f}"]
        lines.append(",".join([*cells, "in" if inside != (rng.random() < 0.02) else "out"]))
    (tmp_path / "my data.csv").write_text("\n".join(lines) + "\n")
    return "my data.csv"


def test_advice_on_a_file_is_a_table_a_choice_and_a_config_that_runs(kernlearn, mine, tmp_path):
    made = kernlearn("advise", mine, "--time", "2", "--jobs", "1", "--missing", "most_frequent")
    assert made.returncode == 0, made.stderr
    assert re.search(r"my data.csv: \d+ missing entries .* filled in", made.stderr)
    assert "1 nominal column is one-hot: colour (3 values)" in made.stderr
    assert "my data.csv: 240 rows, 5 features, 2 classes" in made.stdout
    assert "Use " in made.stdout
    assert re.search(r"the largest class alone gives \d\d\.\d %", made.stdout)
    text = (tmp_path / "advised.yaml").read_text()
    assert "my_data: {file: my data.csv, missing: most_frequent}" in text
    assert "linear SVM: " in text
    assert "  # the method to use; what is under select is chosen again" in text
    assert "majority: {estimator: DummyClassifier, baseline: true}" in text
    assert kernlearn("validate", "advised.yaml").returncode == 0
    ran = kernlearn(
        "run",
        "advised.yaml",
        "--profile",
        "quick",
        "--no-report",
        "--allow-contention",
        "--executor",
        "in-process",
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

    again = kernlearn("advise", mine)
    assert again.returncode == 2
    assert "advised.yaml: exists; --force replaces it, --output names another" in again.stderr
    assert (tmp_path / "advised.yaml").read_text() == text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["none.csv"], "none.csv: no such file"),
        (["iris", "--task", "poetry"], "--task poetry: expected one of classification, regress"),
        (["iris", "--task", "regression"], "--task regression: iris suits classification"),
        (["iris", "--missing", "guess"], "--missing guess: expected one of drop, mean"),
        (["my data.csv", "--target", "hue"], "hue"),
        (["few.csv"], "few.csv: has 12 rows; advice takes at least 50"),
        (["aural_sonar"], "aural_sonar is a matrix of similarities; advice is about points"),
        (["mq2008"], "mq2008 is queries with documents; advice is about points"),
    ],
)
def test_what_cannot_be_is_one_message_and_no_config(kernlearn, mine, tmp_path, words, message):
    (tmp_path / "few.csv").write_text("x,y\n" + "0.5,a\n1.5,b\n" * 6)
    out = kernlearn("advise", *words, "--time", "1")
    assert out.returncode == 2
    assert message in out.stderr
    assert "Traceback" not in out.stderr
    assert not [*tmp_path.glob("*.yaml")]
