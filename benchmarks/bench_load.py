"""Processor time and memory: stores and plans of many trials, and data of many rows.

Each step is a process of its own, since memory that one step has used hides what the next needs.
Sizes double twice, so that growth shows: a ratio of 1 is growth in proportion to the size.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks._measure import Row, greatest_memory
from benchmarks.bench_report import MANY, plant

#: Trials of the stores, of the largest plan, and rows of the data with ten columns.
TRIALS = (50_000, 100_000, 200_000)
PLANNED = 1_000_000
ROWS = (1_250_000, 2_500_000, 5_000_000)
_COLUMNS = 10
_CELLS = 1000  # of the table of `MANY`
# Most megabytes of a command on a store of the largest size, and most that seconds may grow
# beyond the size.
_MEGABYTES, _GROWTH = 2000, 1.5
_FIRST_LOOK = 3.0
_LOOK = 0.005

#: Loads the data, maps blocks of rows and learns from pairs, and prints seconds and megabytes.
LEARNING = """\
import json, os, sys, time
from kernlearn.datasets import load
from benchmarks._measure import greatest_memory
from kernlearn.features import RandomMaclaurin
from kernlearn.pairwise import OLP
from sklearn.utils import gen_batches

seconds = dict.fromkeys(("load", "RandomMaclaurin, 50 features", "OLP, 50 points"), 0.0)
clock = time.process_time()

def lap(name):
    global clock
    before, clock = clock, time.process_time()
    seconds[name] += clock - before

data = load(sys.argv[1], target="y")
lap("load")
first = data.data[:100_000]
features = RandomMaclaurin(n_components=50, random_state=0).fit(first)
# compiled once, and kept
warm = features.transform(first[:9])
OLP(50, random_state=0).partial_fit(warm, [0, 1] * 4 + [0], classes=[0, 1])
clock = time.process_time()
model = OLP(50, random_state=0)
lap("RandomMaclaurin, 50 features")
for rows in gen_batches(len(data.data), 100_000):
    mapped = features.transform(data.data[rows])
    lap("RandomMaclaurin, 50 features")
    model.partial_fit(mapped, data.target[rows], classes=[0, 1])
    lap("OLP, 50 points")
print(json.dumps([seconds, greatest_memory(os.getpid()) / 1e6]))
"""


def run() -> list[Row]:
    """Measure stores, a plan and data, with what is found said on the standard error."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_stores(folder), *_largest_plan(folder), *_data(folder), _first_look(folder)]


def _stores(folder: Path) -> list[Row]:
    figures: dict[str, list[tuple[float, float]]] = {}
    smaller = None
    for n in TRIALS:
        place = folder / str(n)
        place.mkdir()
        _config(place, n)
        if smaller is not None:
            shutil.copy(smaller / "store.sqlite", place)
        start = time.process_time()
        assert plant(place / "store.sqlite", place / "many.yaml") == n
        _say(f"planted until there are {n} trials", time.process_time() - start)
        smaller = place
        for what, arguments in {
            "plan": ("plan", "many.yaml", "--store", "store.sqlite"),
            "run, all cached": ("run", "many.yaml", "--store", "store.sqlite", "--no-report"),
            "report": ("report", "many.yaml", "--store", "store.sqlite"),
            "export": ("export", "--store", "store.sqlite", "--output", "all.csv"),
            "merge": ("merge", "store.sqlite", "new.sqlite"),
            "merge again": ("merge", "store.sqlite", "new.sqlite"),
        }.items():
            found = _command(place, arguments)
            _say(f"{n} trials, kernlearn {what}", *found)
            figures.setdefault(f"kernlearn {what}", []).append(found)
    return _rows(figures, TRIALS, "trials", at_most=_MEGABYTES)


def _largest_plan(folder: Path) -> list[Row]:
    _config(folder, PLANNED)
    seconds, megabytes = _command(folder, ("plan", "many.yaml"))
    _say(f"{PLANNED} trials planned", seconds, megabytes)
    return [Row(f"kernlearn plan, {PLANNED} new trials: MB", seconds, megabytes)]


def _data(folder: Path) -> list[Row]:
    figures: dict[str, list[tuple[float, float]]] = {}
    for n in ROWS:
        path = folder / "points.parquet"
        _write_points(path, n)
        said = subprocess.run(
            [sys.executable, "-c", LEARNING, path], check=True, stdout=subprocess.PIPE
        ).stdout
        seconds, megabytes = json.loads(said)
        for what, taken in seconds.items():
            _say(f"{n} rows, {what}", taken, megabytes)
            figures.setdefault(what, []).append((taken, megabytes))
    return _rows(figures, ROWS, "rows")


def _first_look(folder: Path) -> Row:
    """Compare `kernlearn init` on a CSV of 100 megabytes with pandas, imports apart.

    Most of what is above `read_csv` is the matrix, made without and with one-hot columns.
    """
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(600_000, 18)).round(5)).add_prefix("x")
    table["city"] = rng.choice(["Rome", "Paris", "Oslo", "Bern"], len(table))
    table["y"] = np.where(table.x0 > 0, "yes", "no")
    table.to_csv(folder / "large.csv", index=False)
    table[:1000].to_csv(folder / "small.csv", index=False)
    imports, large = (_command(folder, ("init", f"{n}.csv"))[0] for n in ("small", "large"))
    start = time.process_time()
    pd.read_csv(folder / "large.csv")
    plain = time.process_time() - start
    ratio = (large - imports) / plain
    return Row(
        "kernlearn init / pandas.read_csv, 100 MB of CSV", large, ratio, at_most=_FIRST_LOOK
    )


def _config(folder: Path, n_trials: int) -> None:
    splits = n_trials // _CELLS
    (folder / "many.yaml").write_text(MANY.replace("splits: 20", f"splits: {splits}"))


def _write_points(path: Path, n: int) -> None:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    columns = {f"x{i}": rng.standard_normal(n) + 0.2 * y for i in range(_COLUMNS)}
    pd.DataFrame({**columns, "y": y}).to_parquet(path, index=False)


def _command(folder: Path, arguments: Sequence[str]) -> tuple[float, float]:
    """Return a command's seconds of processor time and the greatest megabytes of its process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kernlearn", *arguments], cwd=folder, stdout=subprocess.DEVNULL
    )
    peak = ended = 0
    while not ended:
        # what the system keeps is gone with the process
        peak = max(peak, greatest_memory(process.pid))
        time.sleep(_LOOK)
        ended, status, used = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, arguments
    return used.ru_utime + used.ru_stime, peak / 1e6


def _rows(
    figures: dict[str, list[tuple[float, float]]],
    sizes: Sequence[int],
    unit: str,
    at_most: float | None = None,
) -> list[Row]:
    rows = []
    for what, found in figures.items():
        for n, (seconds, megabytes) in zip(sizes, found, strict=True):
            most = at_most if n == sizes[-1] else None
            rows.append(Row(f"{what}, {n} {unit}: MB", seconds, megabytes, at_most=most))
        (small, _), *_, (large, _) = found
        growth = large / small / (sizes[-1] / sizes[0])
        rows.append(Row(f"{what}: growth of seconds / of {unit}", large, growth, at_most=_GROWTH))
    return rows


def _say(what: str, seconds: float, megabytes: float | None = None) -> None:
    memory = "" if megabytes is None else f", {megabytes:.0f} MB"
    print(f"  {what}: {seconds:.1f} s{memory}", file=sys.stderr, flush=True)
