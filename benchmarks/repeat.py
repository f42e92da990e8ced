"""Whether the committed numbers are those of the present code: some splits are measured again.

A change of an estimator leaves the summaries of the full protocol as they were, until someone
measures them again. This runs the first splits of experiments whose splits are committed, and
compares them number by number::

    python -m benchmarks.repeat table6 figure5_3 --splits 1

A number differs if it is further away than its drift between processors, or than the millionth
part. Times are not compared, nor what is chosen by its mean over all splits. The exit code is 1 if
a number differs. Finished trials stay in a store; the same command goes on from there.
"""

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pandas as pd

from kernlearn.config import load_config
from kernlearn.config.values import LABELS
from kernlearn.engine import make_plan
from kernlearn.reports.rows import read_splits, splits_of, splits_path, stored_rows
from kernlearn.reports.verdicts import is_cost
from kernlearn.store import Store

COMMITTED = Path("results/measured")


def differences(name: str, n_splits: int, place: Path) -> tuple[pd.DataFrame, int]:
    """Return the numbers of a store that differ from the committed ones, and how many it has."""
    experiment = load_config(name, settings=[f"splits={n_splits}"])
    plan = make_plan(experiment, available=True)
    with Store(place, read_only=True) as store:
        rows = {
            key: row for key, row in stored_rows(plan, store).items() if "grid" not in row.info
        }
    again = splits_of(plan, rows)
    if again.empty:  # all is chosen by its mean over the splits
        return again, 0
    before = read_splits(experiment, splits_path(name, COMMITTED))
    labels = [*LABELS, *plan.experiment.config.axes, "metric", "split"]
    both = again.merge(before[[*labels, "value", "drift"]], on=labels, suffixes=("", "_committed"))
    both = both[[not is_cost(metric, experiment.config) for metric in both["metric"]]]
    far = (both["value"] - both["value_committed"]).abs()
    size = both[["value", "value_committed"]].abs().max(axis=1)
    return both[far > (1e-6 * size).clip(lower=both["drift_committed"])], len(both)


def main() -> int:
    """Measure the first splits again, and print the numbers that differ."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="by default all experiments with splits")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--store", type=Path, default=Path("results/runs/repeat.sqlite"))
    asked = parser.parse_args()
    names = asked.names or sorted(
        p.name.removesuffix(".csv.gz") for p in COMMITTED.glob("*.csv.gz")
    )
    command = [sys.executable, "-m", "kernlearn", "run", *names, "-o", f"splits={asked.splits}"]
    command += ["--available", "--no-report", "--allow-contention", "--jobs", asked.jobs]
    subprocess.run([*command, "--store", str(asked.store)], check=True)
    differ = 0
    for name in names:
        moved, compared = differences(name, asked.splits, asked.store)
        differ += len(moved)
        print(f"{name}: {len(moved)} of {compared} numbers differ from the committed ones")
        if len(moved):
            print(moved.drop(columns=["experiment", "ratio", "drift"]).to_string(index=False))
    return int(differ > 0)


if __name__ == "__main__":
    sys.exit(main())
