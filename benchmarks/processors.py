"""How far the means of experiments move between processors: ``configs/processors.csv``.

OpenBLAS adds in another order on another processor. Most results are the same to six digits; a
solver that stops early goes another way, and the choice of a parameter may turn on the last digit.
Its kernels for other processors stand for these::

    python -m benchmarks.processors table3_1 table4_2 --splits 5
    python -m benchmarks.processors table3_1 --profile smoke

The rows of a kernel are in a store of their own, so that a second run goes on where the first
stopped. Rows of the named experiments and profile are written anew, all others stay as they are.
"""

import os
import subprocess
import sys
from argparse import ArgumentParser
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.reports.labels import KEY, parameters_of
from kernlearn.reports.rows import splits_of, stored_rows
from kernlearn.reports.verdicts import is_cost
from kernlearn.store import Store

CORES = ("Haswell", "SkylakeX", "Sandybridge")
PAIRS = [*combinations(CORES, 2)]
FILE = Path("configs/processors.csv")


def measure(names: list[str], how: list[str], only: list[str], folder: Path) -> None:
    """Run the experiments with each kernel of OpenBLAS."""
    options = [*how, "--available", "--no-report", "--allow-contention", "--jobs", "2"]
    options += [part for one in only for part in ("--only", one)]
    for core in CORES:
        command = [sys.executable, "-m", "kernlearn", "run", *names, *options]
        environment = {**os.environ, "OPENBLAS_CORETYPE": core, "OMP_NUM_THREADS": "1"}
        store = str(folder / f"{core}.sqlite")
        subprocess.run([*command, "--store", store], env=environment, check=True)


def drifts_of(name: str, profile: str, settings: list[str], folder: Path) -> pd.DataFrame:
    """Return the drift of each cell that moves.

    This is the largest mean, over the splits, of the absolute difference between two kernels: a
    bound of how far the mean moves, which also counts what changes the spread.
    """
    plan = make_plan(load_config(name, profile=profile, settings=settings), available=True)
    splits = plan.experiment.config.protocol.splits
    values = {}
    for core in CORES:
        with Store(folder / f"{core}.sqlite", read_only=True) as store:
            rows = splits_of(plan, stored_rows(plan, store))
        costs = {metric for metric in rows["metric"] if is_cost(metric, plan.experiment.config)}
        rows = rows[~rows["metric"].isin(costs)]
        names, records = plan.experiment.config.axes, rows.to_dict("records")
        axes = [{axis: row[axis] for axis in names} for row in records]
        rows = rows.assign(params=[parameters_of(one) for one in axes])
        values[core] = rows.set_index([*KEY, "split"])["value"]
    table = pd.DataFrame(values)
    differences = pd.DataFrame({(a, b): (table[a] - table[b]).abs() for a, b in PAIRS})
    # a kernel that measured nothing of a cell says nothing of it
    drift = differences.groupby(KEY, dropna=False).mean().max(axis=1).dropna()
    size = table.abs().max(axis=1).groupby(KEY, dropna=False).max()
    moved = drift[drift > 1e-6 * size[drift.index]]
    print(
        f"{name}: {len(moved)} of {len(drift)} means move; drift at most {drift.max():.3g} "
        f"(median of those {np.median(moved) if len(moved) else 0:.3g})"
    )
    return moved.rename("drift").reset_index().assign(profile=profile, n_splits=splits)


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    parser.add_argument("--splits", type=int, help="by default five, or those of the profile")
    parser.add_argument("--profile", default="full")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--folder", type=Path, default=Path("results/runs/processors"))
    parser.add_argument("--measured", action="store_true", help="read the stores, run nothing")
    asked = parser.parse_args()
    profile, splits = asked.profile, asked.splits or (5 if asked.profile == "full" else None)
    settings = [f"splits={splits}"] if splits else []
    if not asked.measured:
        how = ["--profile", profile, *(part for one in settings for part in ("-o", one))]
        measure(asked.names, how, asked.only, asked.folder)
    frames = [drifts_of(name, profile, settings, asked.folder) for name in asked.names]
    if FILE.exists():
        others = pd.read_csv(FILE, dtype=dict.fromkeys(KEY, str))
        is_named = others["experiment"].isin(asked.names) & (others["profile"] == profile)
        frames.insert(0, others[~is_named])
    order = ["profile", *KEY]
    table = pd.concat(frames).sort_values(order)[[*order, "n_splits", "drift"]]
    table.to_csv(FILE, index=False, float_format="%.6g")
