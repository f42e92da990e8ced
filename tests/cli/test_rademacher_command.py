"""``kernlearn rademacher``."""

import re
from functools import partial

import numpy as np
import pytest


@pytest.fixture
def rademacher(kernlearn):
    """A function that runs the command."""
    return partial(kernlearn, "rademacher")


def rows(out):
    """The table's rows by problem and class, their cells apart."""
    cells = [re.split(r"\s{2,}", line.strip()) for line in out.splitlines()]
    return {tuple(row[1:3]): row for row in cells if len(row) == 8}


@pytest.fixture
def points(tmp_path):
    """A file with 40 points and their class."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    lines = [",".join(f"{v:.3f}" for v in x) + f",{'ab'[i % 2]}" for i, x in enumerate(X)]
    file = tmp_path / "points.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def test_a_data_set(rademacher):
    out = rademacher("iris", "--trials", 20)
    assert out.returncode == 0, out.stderr
    first, *_, last = out.stdout.strip().splitlines()
    assert first == "iris: 150 points with 4 features; 100 pairs, 20 trials"
    assert last == "Each estimate is under its bound."
    found = rows(out.stdout)
    assert found["problem", "class"][-1] == "share of bound"
    assert len(found) == 15
    assert {row[0] for row in found.values()} == {"table", "6.1", "6.2", "6.3"}


def test_numbers_are_the_librarys(rademacher):
    from sklearn.datasets import load_iris
    from sklearn.preprocessing import scale

    from kernlearn.theory import KernelCombination, LinearAUC, rademacher_complexity

    out = rademacher(
        "iris",
        "--trials",
        20,
        "--pairs",
        30,
        "--seed",
        3,
        "--kernel",
        "gaussian",
        "--kernel",
        "linear",
    )
    X, y = load_iris(return_X_y=True)
    found = rows(out.stdout)
    for h in (LinearAUC(q=1), KernelCombination(["gaussian", "linear"])):
        estimate = rademacher_complexity(h, scale(X), y, n=30, n_trials=20, random_state=3)
        numbers = (h.bound(30), h.bound(30), estimate.mean, estimate.standard_error)
        assert found[h.problem, h.name][3:7] == [f"{x:.4g}" for x in numbers]
    raw = rademacher("iris", "--trials", 20, "--pairs", 30, "--no-scale")
    assert rows(raw.stdout)["AUC", "B_2(1)"] != found["AUC", "B_2(1)"]


def test_a_file_and_a_part_of_it(rademacher, points):
    out = rademacher(points, "--max-points", 30, "--trials", 5)
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith(f"{points}: 30 of 40 points with 3 features; ")
    again = rademacher(points, "--max-points", 30, "--trials", 5)
    assert again.stdout == out.stdout


def test_one_feature_has_other_bounds_than_printed(rademacher, tmp_path):
    file = tmp_path / "line.csv"
    file.write_text("".join(f"{i},{'ab'[i % 2]}\n" for i in range(20)))
    out = rademacher(file, "--trials", 20)
    last = out.stdout.strip().splitlines()[-1]
    assert last.startswith("Each estimate is under its bound. Printed bounds that do not")
    assert "AUC B_1(1), similarity B_2,1(1)" in last


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["no_such_data"], "no_such_data"),
        (["iris", "--kernel", "nope"], "iris: 'kernels' must be one of 'cosine'"),
    ],
)
def test_mistakes_are_one_line(rademacher, arguments, message):
    out = rademacher(*arguments)
    assert out.returncode == 2
    assert message in out.stderr
    assert len(out.stderr.strip().splitlines()) == 1


@pytest.mark.data
def test_a_matrix_of_similarities_is_refused(rademacher, data_dir):
    out = rademacher("aural_sonar", "--data-dir", data_dir)
    assert out.returncode == 2
    assert "aural_sonar is a matrix of similarities; this is about points" in out.stderr
