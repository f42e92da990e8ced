"""What the run engine adds to trials that do nothing, and what 100 kills cost: nothing."""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks._measure import Row

N_TRIALS = 10_000
NOTHING = f"""\
title: Trials that do nothing
task: dataset_statistics
datasets: {{points: {{file: points.csv}}}}
methods: {{nothing: {{estimator: DummyClassifier}}}}
protocol: {{splits: {N_TRIALS}}}
metrics: [n_samples]
"""


def _command(folder: Path, *arguments: str) -> float:
    """Return the seconds of a whole command, from its start to its end."""
    start = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "kernlearn", *arguments],
        cwd=folder, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    return perf_counter() - start


def _overhead() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nothing.yaml").write_text(NOTHING)
        (folder / "points.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(9)))
        _command(folder, "list")  # what is read from disk is read
        plan = _command(folder, "plan", "nothing.yaml")
        run = _command(folder, "run", "nothing.yaml")
        again = _command(folder, "run", "nothing.yaml")
    return [
        Row(f"kernlearn plan, {N_TRIALS} new trials: seconds", plan, plan, at_most=2),
        Row(f"kernlearn run, {N_TRIALS} trials that do nothing: seconds", run, run, at_most=60),
        Row(f"kernlearn run again, {N_TRIALS} finished: seconds", again, again, at_most=3),
    ]


def run() -> list[Row]:
    """Measure plan, run and resume of many trials that do nothing."""
    return _overhead()
