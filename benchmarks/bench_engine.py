"""What the run engine adds to trials that do nothing: planning, running and finding them done.

The targets are those of the engine. A whole command also has its imports, of which
scikit-learn's take over a second, and a run its report.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._measure import Row, once
from kernlearn.config import load_config
from kernlearn.engine import make_plan, run_plan
from kernlearn.store import Store

N_TRIALS = 10_000
NOTHING = f"""\
title: Trials that do nothing
task: dataset_statistics
datasets: {{points: {{file: points.csv}}}}
methods: {{nothing: {{estimator: DummyClassifier}}}}
protocol: {{splits: {N_TRIALS}}}
metrics: [n_samples]
"""


def run() -> list[Row]:
    """Measure plan, run and resume, in this process and as commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nothing.yaml").write_text(NOTHING)
        (folder / "points.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(9)))
        return [*_engine(folder), *_commands(folder)]


def _engine(folder: Path) -> list[Row]:
    experiment = load_config(folder / "nothing.yaml")
    plan = make_plan(experiment)

    def planned() -> None:
        make_plan(experiment)

    def carried_out() -> None:
        outcome = run_plan(plan, store)
        assert outcome.done + outcome.cached == N_TRIALS, outcome

    with Store(folder / "engine.sqlite") as store:
        times = [once(planned), once(carried_out), once(carried_out)]
    rows = zip(("plan", "run", "resume"), times, (2, 60, 3), strict=True)
    return [
        Row(f"{what} {N_TRIALS} trials: seconds", s, s, at_most=most) for what, s, most in rows
    ]


def _commands(folder: Path) -> list[Row]:
    def command(*arguments: str) -> float:
        line = [sys.executable, "-m", "kernlearn", *arguments]
        return once(
            lambda: subprocess.run(line, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        )

    command("list")  # what is read from disk is read
    times = {"plan": command("plan", "nothing.yaml")}
    times["run"] = command("run", "nothing.yaml")
    times["run again"] = command("run", "nothing.yaml")
    return [Row(f"kernlearn {what}, whole: seconds", s, s) for what, s in times.items()]
