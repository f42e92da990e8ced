"""One addition of each kind, made in the places that docs/architecture.md names, works.

The additions are made in a copy of the package, as a developer would make them.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

#: New files: a method, a kernel, a metric, a command, a card with its data, and a config.
FILES = {
    "kernlearn/linear/nearest_mean.py": """
from sklearn.neighbors import NearestCentroid


class NearestMean(NearestCentroid):
    pass
""",
    "kernlearn/kernels/triangle.py": """
import numpy as np

from kernlearn.kernels.base import Kernel


class TriangleKernel(Kernel):
    def __init__(self, width=1.0):
        self.width = width

    def __call__(self, X, Y=None):
        Y = X if Y is None else Y
        distances = np.abs(np.asarray(X)[:, None] - np.asarray(Y)[None]).sum(axis=2)
        return np.maximum(0, 1 - distances / self.width)
""",
    "kernlearn/cli/greet.py": """
from kernlearn.config import load_config


def greet(name: str) -> None:
    \"\"\"Print the motto of a config.\"\"\"
    print(load_config(name).config.motto)
""",
    "datasets/corners.yaml": """
name: corners
title: Two corners of a square
task: classification
n_features: 2
source: {publisher: nobody, page: https://example.org/corners}
forms:
- files: [corners.csv]
  format: {kind: delimited, target: 2}
  rows: 40
  classes: {a: 20, b: 20}
licence: none
citation: none
""",
    "data/corners/corners.csv": "".join(
        f"{i % 5 / 10 + c},{i % 3 / 10 + c},{'ab'[c]}\n" for i in range(20) for c in (0, 1)
    ),
    "configs/added.yaml": """
title: One addition of each kind
motto: Hello, world
datasets: {corners: {}, stripes: {generator: stripes, n_samples: 60}}
kernels: {triangle: {kernel: triangle, width: 2}}
methods: {nearest mean: {estimator: NearestMean}, SVM: {estimator: KernelSVM}}
protocol: {splits: 3}
metrics: [accuracy, missed]
table: {rows: [dataset, kernel, method]}
claims:
  - says: The SVM is no worse than half
    check: {metric: accuracy, barely_worse: [SVM], than: [nearest mean], by: 0.5}
""",
    "configs/added_task.yaml": """
title: A task of its own
task: rounding
datasets: {stripes: {generator: stripes, n_samples: 60}}
methods: {ridge: {estimator: Ridge}}
protocol: {splits: 2}
metrics: [rounded_error]
""",
}

#: Lines put after what is there; those of the generator, which are none, before it.
LINES = [
    (
        "kernlearn/config/names.yaml",
        "\nestimators:\n",
        "  kernlearn.linear.nearest_mean:\n    NearestMean: nearest mean\n",
    ),
    (
        "kernlearn/kernels/registry.py",
        "    for kernel in (\n",
        '        _own("triangle", "triangle:TriangleKernel", "1 - ‖x - y‖₁ / width"),\n',
    ),
    (
        "kernlearn/config/names.yaml",
        "\nmetrics:\n",
        "  missed: {tasks: classification, better: -1, target: sklearn.metrics:zero_one_loss}\n"
        "  rounded_error:\n"
        "    {tasks: rounding, better: -1, target: sklearn.metrics:max_error}\n",
    ),
    (
        "kernlearn/config/names.yaml",
        "\ntasks:\n",
        "  rounding: {target: kernlearn.engine.tasks:ROUNDING, title: numbers are rounded}\n",
    ),
    ("kernlearn/datasets/artificial.py", "@register()\ndef unit_ball(", None),
    (
        "kernlearn/engine/tasks.py",
        'REGRESSION = Task("regression", _values, "mse")\n',
        "ROUNDING = Task(\n"
        '    "rounding", lambda data, spec, info: data.target, "rounded_error",\n'
        "    lambda predicted, y_train: np.rint(predicted),\n"
        ")\n",
    ),
    ("kernlearn/config/claims.py", 'COMPARISONS = ("better", ', '"barely_worse", '),
    (
        "kernlearn/config/claims.py",
        '    """Methods that must be shown to be better than ``than``."""\n',
        '    barely_worse: list[LabelValue] = []\n    """Methods that must be worse."""\n',
    ),
    (
        "kernlearn/reports/claims.py",
        "_QUESTIONS = {\n",
        '    "barely_worse": _Question("near", "far", -1, inf, True),\n',
    ),
    (
        "kernlearn/config/model.py",
        '    """The paper, table or figure that it repeats."""\n',
        '    motto: str = ""\n    """What `greet` prints."""\n',
    ),
    ("kernlearn/cli/app.py", "app.command()(init.init)\n", "app.command()(greet.greet)\n"),
    (
        "kernlearn/cli/app.py",
        "from kernlearn.cli import data, init, output\n",
        "from kernlearn.cli import greet\n",
    ),
]
STRIPES = '''@register()
def stripes(n_samples: int = 100, random_state: Seed = None) -> "Data":
    """Draw two stripes."""
    from sklearn.utils import check_random_state

    X = check_random_state(random_state).uniform(size=(n_samples, 2))
    return to_data(X, (X[:, 0] > 0.5).astype(int), "0", "1")


'''


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    for folder in ("kernlearn", "datasets", "configs", "results/reported", "docs"):
        shutil.copytree(ROOT / folder, root / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.lstrip("\n"), encoding="utf-8")
    for name, anchor, addition in LINES:
        path = root / name
        text = path.read_text(encoding="utf-8")
        assert text.count(anchor) == 1, f"{name}: {anchor!r}"
        new = STRIPES + anchor if addition is None else anchor + addition
        path.write_text(text.replace(anchor, new), encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def kernlearn(copy):
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy),
        "KERNLEARN_DATA": str(copy / "data"),
        "KERNLEARN_CACHE": str(copy / "cache"),
    }

    def call(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "kernlearn", *arguments],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return call


def test_everything_added_takes_part_in_a_run(kernlearn, copy):
    kernlearn("run", "added", "added_task")
    kernlearn("export", "--output", "rows.csv")
    rows = [*csv.DictReader((copy / "rows.csv").read_text().splitlines())]
    places = {(row["dataset"], row["kernel"] or None, row["method"]) for row in rows}
    assert places == {
        ("corners", "triangle", "SVM"),
        ("corners", None, "nearest mean"),
        ("stripes", "triangle", "SVM"),
        ("stripes", None, "nearest mean"),
        ("stripes", None, "ridge"),
    }
    metrics = {(row["method"], row["metric"]) for row in rows}
    assert {("ridge", "rounded_error"), ("SVM", "missed")} <= metrics
    page = copy / "results" / "runs" / "added" / "report.html"
    text = page.read_text(encoding="utf-8")
    assert re.search(r"barely_worse: \[SVM\].*?holds.*?SVM against nearest mean", text, re.DOTALL)
    assert "missed" in text


def test_an_added_command_reads_an_added_key(kernlearn):
    assert kernlearn("greet", "added") == "Hello, world\n"
