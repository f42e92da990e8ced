"""``kernlearn regret``."""

import re

import numpy as np
import pytest


@pytest.fixture
def points(tmp_path):
    """A file with 120 points of three classes on a line."""
    rng = np.random.default_rng(0)
    lines = [f"{i % 3 + rng.normal():.3f},{rng.normal():.3f},{'abc'[i % 3]}\n" for i in range(120)]
    file = tmp_path / "points.csv"
    file.write_text("".join(lines))
    return file


def rows(out):
    """The table's rows as numbers."""
    found = (re.split(r"\s+", line.strip()) for line in out.splitlines())
    return [list(map(float, row)) for row in found if len(row) == 4 and row[0].isdigit()]


def test_regret_beside_its_bound(kernlearn, points, tmp_path):
    options = ["--positive", "c", "--buffer-size", 2, "--buffer-size", 60]
    out = kernlearn("regret", points, *options, "--plot", "curves/regret.svg")
    assert out.returncode == 0, out.stderr
    assert "a stream of 120 points, c against the rest" in out.stdout
    small, large = rows(out.stdout)
    assert (small[0], large[0]) == (2, 60)
    for _, all_pairs, buffer, bound in (small, large):
        assert 0 < all_pairs < bound
        assert buffer < bound
    # with few points in the buffer the pairs that were not met are what is lost
    assert small[1] > large[1]
    assert "regret per round" in (tmp_path / "curves" / "regret.svg").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "has 3 classes: say --positive, one of a, b, c"),
        (["--positive", "d"], "no class 'd' for --positive; there are a, b, c"),
        (["--positive", "a", "--buffer", "lifo"], "'lifo'"),
        (["--positive", "a", "--delta", "2"], "--delta 2: expected a number between 0 and 1"),
        (["--positive", "a", "--plot", "x.gif"], "expected a file name with .html, .svg, .png"),
        (["--positive", "a", "--eta", "-1"], "eta"),
    ],
)
def test_a_fault_is_one_line(kernlearn, points, options, said):
    out = kernlearn("regret", points, *options)
    assert out.returncode == 2
    assert said in out.stderr
    assert "Traceback" not in out.stderr


def test_a_matrix_is_no_stream(kernlearn, tmp_path):
    np.savez(tmp_path / "m.npz", X=np.eye(30), y=np.arange(30) * 0.5)
    out = kernlearn("regret", tmp_path / "m.npz")
    assert out.returncode == 2
    assert "Traceback" not in out.stderr
