"""``kernlearn goodness``."""

import re
from functools import partial

import numpy as np
import pytest


@pytest.fixture
def run(kernlearn):
    """A function that runs the command."""
    return partial(kernlearn, "goodness")


def rows(out):
    """The table's rows by criterion, their cells apart."""
    cells = (re.split(r"\s{2,}", line.strip()) for line in out.splitlines())
    return {row[0]: row[1:] for row in cells if len(row) > 3}


@pytest.fixture
def matrix(tmp_path):
    """A file with a matrix of distances between 12 points in two groups, and their group."""
    x = np.array([0, 1, 2, 3, 4, 5, 20, 21, 22, 23, 24, 25])
    lines = [",".join(map(str, abs(x - a))) + f",{'far' if a > 10 else 'near'}" for a in x]
    file = tmp_path / "groups.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_two_classes(run):
    out = run("breast_cancer_wdbc")
    assert out.returncode == 0, out.stderr
    first, *_, last = out.stdout.strip().splitlines()
    assert first.startswith("breast_cancer_wdbc: 569 points in 2 classes; gaussian similarity")
    found = rows(out.stdout)
    assert list(found) == [
        "criterion",
        "Balcan & Blum",
        "Wang et al.",
        *(f"ramp {s}" for s in (1, 5, 10, 50, 100, 1000)),
    ]
    assert found["criterion"][-1] == "landmark pairs"
    assert found["ramp 1"] == found["Balcan & Blum"]
    assert last.startswith("Suits the task: with ")
    assert "37.3 % with the largest class for all" in last


def test_numbers_are_the_librarys(run):
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import scale

    from kernlearn.theory import classification_goodness, landmarks_for_margin

    out = run("breast_cancer_wdbc", "--epsilon", "0.2", "--delta", "0.01")
    X, y = load_breast_cancer(return_X_y=True)
    good = classification_goodness(scale(X), y, transfer=5)
    pairs = landmarks_for_margin(good.gamma(0.2), epsilon=0.2, delta=0.01)
    assert rows(out.stdout)["ramp 5"] == [
        f"{good.gamma(0.2):.4f}",
        f"{100 * good.misplaced:.1f} %",
        f"{good.margins.mean():.4f}",
        str(pairs),
    ]
    assert "an error of 0.4 with probability 0.99 (theorem 4.2)" in out.stdout
    unscaled = run("breast_cancer_wdbc", "--epsilon", "0.2", "--no-scale")
    assert rows(unscaled.stdout)["ramp 5"] != rows(out.stdout)["ramp 5"]


def test_several_classes_and_a_part_of_the_points(run):
    options = ("--max-points", "60", "--transfer", "identity", "--transfer", "3")
    out = run("wine", *options)
    assert " of 178 points in 3 classes" in out.stdout
    assert int(re.search(r"(\d+) of 178", out.stdout)[1]) in range(58, 61)
    found = rows(out.stdout)
    assert list(found)[3:] == ["identity", "ramp 3"]
    assert found["criterion"][-1] == "wrong class"
    assert run("wine", *options).stdout == out.stdout
    assert run("wine", *options, "--seed", "1").stdout != out.stdout


def test_a_matrix_of_distances(run, matrix):
    options = ("--similarity", "precomputed", "--target", "12")
    out = run(matrix, *options, "--kind", "distance").stdout
    assert "precomputed distance, divided by 25, the greatest" in out
    assert rows(out)["Wang et al."][1] == "0.0 %"
    assert "Suits the task: " in out
    wrong = run(matrix, *options).stdout
    assert rows(wrong)["Wang et al."][1] == "100.0 %"
    assert "Not shown to suit the task: " in wrong


@pytest.mark.parametrize(
    ("name", "start"),
    [("a.svg", b"<svg"), ("b/c.png", b"\x89PNG"), ("d.html", b"<!DOCTYPE html>")],
)
def test_plot(run, tmp_path, name, start):
    out = run("iris", "--plot", name)
    assert out.returncode == 0, out.stderr
    assert f"Picture: {name}" in out.stdout
    picture = (tmp_path / name).read_bytes().lstrip()
    assert picture.startswith(start)
    if name == "a.svg":
        text = picture.decode()
        assert all(words in text for words in ("Wang et al.", "ramp 1000", "margin γ"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["iris", "--epsilon", "1"], "--epsilon 1: expected a number between 0 and 1"),
        (["iris", "--delta", "0"], "--delta 0: expected a number between 0 and 1"),
        (["iris", "--plot", "a.pdf"], "--plot a.pdf: expected a file name with .html, .svg, .png"),
        (
            ["iris", "--transfer", "up"],
            "--transfer up: expected a slope above 0, identity or sign",
        ),
        (["iris", "--transfer", "-1"], "--transfer -1: expected a slope above 0"),
        (["iris", "--kind", "dissimilarity"], "--kind dissimilarity: expected similarity or dis"),
        (["iris", "--similarity", "gauss"], "--similarity gauss: "),
        (["iris", "--similarity", "precomputed"], "iris: 'precomputed' needs a square matrix"),
        (["iris", "--target", "class"], "iris: target is for the path of a file"),
        (["diabetes_sklearn"], "diabetes_sklearn: its target is a number"),
        (["nothing"], "nothing"),
    ],
)
def test_errors_are_one_line(run, words, message):
    out = run(*words)
    assert out.returncode == 2
    assert out.stderr.startswith("kernlearn: ")
    assert message in out.stderr
    assert len(out.stderr.splitlines()) == 1
    assert not out.stdout


def test_picture_that_cannot_be_written(run, tmp_path):
    (tmp_path / "taken").write_text("")
    out = run("iris", "--plot", "taken/a.svg")
    assert out.returncode == 2
    assert re.match(r"kernlearn: --plot taken/a.svg: (File exists|Not a directory)\n", out.stderr)


def test_class_with_one_point(run, tmp_path):
    (tmp_path / "mine.csv").write_text("1,a\n2,a\n3,a\n4,b\n")
    out = run("mine.csv", "--target", "1")
    assert out.returncode == 2
    assert out.stderr.startswith("kernlearn: mine.csv: 'y' must have")


@pytest.mark.data
def test_published_matrices(run, data_dir):
    out = run("aural_sonar", "--data-dir", data_dir)
    assert out.stdout.startswith("aural_sonar: 100 points in 2 classes; precomputed similarity")
    assert "Suits the task: " in out.stdout
    refused = run("aural_sonar", "--data-dir", data_dir, "--similarity", "gaussian")
    assert refused.returncode == 2
    assert "aural_sonar is a matrix of similarities: leave out --similarity" in refused.stderr
