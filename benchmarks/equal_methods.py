"""How often two equal methods are called different, and how often an interval is right.

    python -m benchmarks.equal_methods [RUNS]

Each run draws a data set of 400 rows with 20 features; the methods see ten features each, so that
they are equally good by symmetry. On ten random 70/30 splits both are fitted by least squares, and
the accuracies go through the function that decides claims.
"""

import sys
from collections import Counter

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.reports.claims import decide_claims
from kernlearn.reports.statistics import resampled

N_ROWS, N_TRAIN, N_SPLITS = 400, 280, 10
RATIO = (N_ROWS - N_TRAIN) / N_TRAIN


def config() -> ExperimentConfig:
    """Return a config with the claims that each method is better than the other."""
    check = {"metric": "accuracy", "over": "all"}
    return ExperimentConfig.model_validate(
        {
            "title": "two equal methods",
            "datasets": {"drawn": {"name": "iris"}},
            "methods": {name: {"estimator": "LogisticRegression"} for name in "AB"},
            "metrics": ["accuracy"],
            "claims": [
                {"says": one, "check": {**check, "better": [one], "than": [other]}}
                for one, other in ("AB", "BA")
            ],
        }
    )


def splits(seed: int, advantage: float = 0.0, ratio: float = RATIO) -> pd.DataFrame:
    """Return the accuracies of both methods; the features of A weigh more by the advantage."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 20))
    weights = np.repeat([1 + advantage, 1.0], 10)
    y = np.sign(X @ weights + rng.normal(0, 6, N_ROWS))
    rows = []
    for split in range(N_SPLITS):
        order = rng.permutation(N_ROWS)
        train, test = order[:N_TRAIN], order[N_TRAIN:]
        for method, Z in (("A", X[:, :10]), ("B", X[:, 10:])):
            coef = np.linalg.lstsq(Z[train], y[train], rcond=None)[0]
            accuracy = float(np.mean(np.sign(Z[test] @ coef) == y[test]))
            rows.append(("drawn", None, method, "accuracy", split, accuracy, True, ratio, 0.0))
    names = [
        "dataset",
        "kernel",
        "method",
        "metric",
        "split",
        "value",
        "converged",
        "ratio",
        "drift",
    ]
    return pd.DataFrame(rows, columns=names)


def measure(runs: int, ratio: float = RATIO) -> tuple[float, float]:
    """Return the shares of runs in which a method is called better, and 0 is in the interval."""
    asked, called, covered = config(), 0, 0
    for seed in range(runs):
        rows = splits(seed, ratio=ratio)
        called += Counter(decide_claims(rows, asked)["outcome"])["holds"]
        wide = rows.pivot(index="split", columns="method", values="value")
        low, high = resampled(wide["A"] - wide["B"], ratio).interval(0.05)
        covered += low <= 0 <= high
    return called / runs, covered / runs


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for name, ratio in (("corrected", RATIO), ("plain", 0.0)):
        called, covered = measure(runs, ratio)
        print(f"{name}: called better {100 * called:.1f} %, interval right {100 * covered:.1f} %")
