"""What `kernlearn advise` chooses, beside the best of all candidates run in full.

The six data sets are named by no config: one of scikit-learn's, three of the UCR archive as CSV
files, and two tables of the Adult data with nominal and missing values, as a user has them: one
predicts the income, as configs do on a binary version of the data, one the age. Advice gets a
minute for each. Then all candidates, with their whole grids, and the entry that the advice writes
are run on the same splits of the whole file.
The rows that the advice has seen are among those of the splits, as they are when a user runs the
config. ``python -m benchmarks.bench_advise NAME ...`` measures some data sets only, with
``--splits N`` on N splits, and ``--summary FILE`` writes a line of CSV for each.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from benchmarks._measure import Row
from kernlearn import advice, datasets
from kernlearn.cli import new_config
from kernlearn.exceptions import DataError
from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.experiments.engine.environment import usable_cores
from kernlearn.reports.summary import tidy_runs

_SECONDS = 60
_SPLITS = 5
# Of fewer rows than these as many splits: a test part of 36 rows says little.
_FEW_ROWS, _MANY_SPLITS = 500, 20
_ADULT_ROWS = 6000
_POINT = 0.01
_ADULT = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education_num",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital_gain",
    "capital_loss",
    "hours_per_week",
    "native_country",
    "income",
)


@dataclass(frozen=True)
class Subject:
    """A data set: how its file is made, the column to predict, and the task."""

    make: Callable[[], pd.DataFrame]
    target: str
    classification: bool = True
    missing: str | None = None


def _wine() -> pd.DataFrame:
    frame = load_wine(as_frame=True).frame
    return frame.assign(target=[f"class {code}" for code in frame["target"]])


def _series(name: str) -> Callable[[], pd.DataFrame]:
    """Return a function that reads a data set of the UCR archive."""

    def read() -> pd.DataFrame:
        frame = pd.read_csv(_file(f"ucr/{name}.tsv.gz"), sep="\t", header=None)
        frame.columns = ["label", *(f"t{i}" for i in range(1, frame.shape[1]))]
        return frame.assign(label=[f"class {code}" for code in frame["label"]])

    return read


def _adult() -> pd.DataFrame:
    """Return a part of the Adult data as it is published, its missing entries empty."""
    frame = pd.read_csv(
        _file("adult/adult.data"), names=_ADULT, skipinitialspace=True, na_values="?"
    )
    return frame.sample(_ADULT_ROWS, random_state=0).drop(columns="fnlwgt")


SUBJECTS = {
    "wine": Subject(_wine, "target"),
    "MedicalImages": Subject(_series("MedicalImages"), "label"),
    "PhalangesOutlinesCorrect": Subject(_series("PhalangesOutlinesCorrect"), "label"),
    "SyntheticControl": Subject(_series("SyntheticControl"), "label"),
    "adult, income": Subject(_adult, "income", missing="most_frequent"),
    "adult, age": Subject(_adult, "age", classification=False, missing="most_frequent"),
}


def run() -> list[Row]:
    """Measure all data sets, and return how far the choice is from the best."""
    return measure(list(SUBJECTS))[0]


def measure(names: list[str], splits: int | None = None) -> tuple[list[Row], pd.DataFrame]:
    """Measure data sets; return rows of the table of benchmarks and what was found."""
    rows, found = [], []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            one = _measure(name, SUBJECTS[name], Path(folder), splits)
        print(one, file=sys.stderr, flush=True)
        found.append(one)
        what = f"{name}: {one['advised']} behind {one['best']}, points"
        rows.append(Row(what, one["seconds"], 100 * one["behind"], at_most=100 * _POINT))
    return rows, pd.DataFrame(found)


def _measure(name: str, subject: Subject, folder: Path, splits: int | None) -> dict[str, object]:
    file = folder / "mine.csv"
    subject.make().to_csv(file, index=False)
    keys = {"target": subject.target}
    if subject.missing is not None:
        keys["missing"] = subject.missing
    task = "classification" if subject.classification else "regression"
    bunch = datasets.load(file, task=task, nominal="onehot", **keys)
    start = perf_counter()
    advised = advice.advise(
        bunch.data,
        bunch.target,
        classification=subject.classification,
        seconds=_SECONDS,
        n_jobs=usable_cores(),
    )
    seconds = perf_counter() - start
    chosen = advised.chosen
    entries = {
        c.name: dict(c.entry) for c in advice.shortlist(advised.problem.facts) if not c.left_out
    }
    entries["advised"] = advised.methods[chosen.name]
    n_splits = splits or (_MANY_SPLITS if bunch.data.shape[0] < _FEW_ROWS else _SPLITS)
    scores = _run(file, folder, task, entries, keys, advised.problem.scaling, n_splits)
    best = scores.drop("advised").idxmax()
    return {
        "data": name,
        "rows": bunch.data.shape[0],
        "features": bunch.data.shape[1],
        "advised": chosen.name,
        "best": best,
        "splits": n_splits,
        "score_advised": scores["advised"],
        "score_best": scores[best],
        "score_linear": scores["linear SVM" if subject.classification else "ridge"],
        "behind": scores[best] - scores["advised"],
        "expected": chosen.full.value,
        "low": chosen.full.low,
        "high": chosen.full.high,
        "seconds": seconds,
        "ranking": ", ".join(f"{m} {s:.4f}" for m, s in scores.sort_values()[::-1].items()),
    }


def _run(
    file: Path,
    folder: Path,
    task: str,
    entries: dict[str, dict[str, object]],
    keys: dict[str, str],
    scaling: str,
    n_splits: int,
) -> pd.Series:
    """Run methods on the same splits and return the mean score of each: accuracy, or R²."""
    config = folder / "all.yaml"
    quoted = new_config.quoted
    target = "" if task == "classification" else ", scale_target: zscore"
    metric = "accuracy" if task == "classification" else "mse"
    lines = [
        "title: All candidates",
        f"task: {task}",
        f"datasets: {{mine: {{{new_config.dataset_entry(str(file), config, keys)}}}}}",
        "methods:",
        *(f"  {quoted(name)}: {quoted(entry)}" for name, entry in entries.items()),
        f"protocol: {{splits: {n_splits}, train: 0.8, scale: [{scaling}]{target}, seed: 1}}",
        f"metrics: [{metric}]",
        f"execution: {{jobs: {usable_cores()}}}",
    ]
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    plan = make_plan(load_config(config))
    with Store(folder / "store.sqlite") as store:
        summary = run_plan(plan, store)
        if summary.failed:
            raise DataError(f"{summary.failed} trials failed")
        runs = tidy_runs(plan, store.get(trial.key for trial in plan.trials))
    means = runs[runs["metric"] == metric].groupby("method")["value"].mean()
    return means if task == "classification" else 1 - means


def _file(path: str) -> Path:
    """Find a file in the folders with data."""
    folders = datasets.search_path()
    found = next((folder / path for folder in folders if (folder / path).is_file()), None)
    if found is None:
        raise DataError(f"{path}: not in {', '.join(map(str, folders))}")
    return found


def main() -> None:
    """Measure the data sets named, or all, and print what was found."""
    parser = argparse.ArgumentParser(description="Advice beside all candidates run in full.")
    parser.add_argument("names", nargs="*", default=list(SUBJECTS))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--summary", type=Path)
    given = parser.parse_args()
    _, found = measure(given.names, given.splits)
    print(found.drop(columns="ranking").to_string(float_format=lambda x: f"{x:.4g}"))
    within = int(np.count_nonzero(found["behind"] <= _POINT))
    print(f"{within} of {len(found)} within one point of the best")
    if given.summary is not None:
        found.to_csv(given.summary, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
