"""``python -m benchmarks.stream_buffers STORE``: what buffers that forget or look at points gain.

Reads the trials of ``configs/drift_buffers.yaml`` from a store, and prints the mean prequential
AUC of each method on each stream, and the differences to RS-x² and to FIFO in points, with a star
where a paired t-test over the seeds shows one, with Holm's correction over a table. There is no
test of two methods that are the same on all seeds, as those without randomness on real data.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import ttest_rel

from kernlearn.experiments import Store, load_config, make_plan

CONFIG = Path(__file__).parents[1] / "configs" / "drift_buffers.yaml"
REFERENCES = ("RS-x²", "FIFO")
_LEVEL, _SAME = 0.05, 1e-12


def main() -> int:
    """Print both tables; return 1 if trials are missing."""
    if len(sys.argv) != 2:
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    values = measured(Path(sys.argv[1]))
    if values is None:
        print("the store lacks trials: kernlearn run drift_buffers --store STORE", file=sys.stderr)
        return 1
    cells = values.groupby(["dataset", "method"], sort=False)["auc"].mean()
    print(_table(cells.unstack("dataset", sort=False).map("{:.3f}".format)))
    for reference in REFERENCES:
        print(f"Differences to {reference}:\n")
        print(_table(differences(values, reference)))
    return 0


def measured(store: Path) -> pd.DataFrame | None:
    """Return the AUC of each data set, method and split; None if some are not there."""
    plan = make_plan(load_config(CONFIG))
    with Store(store) as kept:
        found = kept.get(trial.key for trial in plan.trials)
    rows = [
        (t.labels["dataset"], t.labels["method"], t.split, found[t.key].metrics["prequential_auc"])
        for t in plan.trials
        if t.key in found and not found[t.key].error
    ]
    values = pd.DataFrame(rows, columns=["dataset", "method", "split", "auc"])
    return values if len(rows) == len(plan.trials) else None


def differences(values: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the mean differences to a method in AUC points, with a star where they are shown."""
    tests = {}
    for (dataset, method), own in values.groupby(["dataset", "method"], sort=False):
        if method == reference:
            continue
        others = values[(values["dataset"] == dataset) & (values["method"] == reference)]
        gained = own.set_index("split")["auc"] - others.set_index("split")["auc"]
        # neither depends on the seed: nothing to test
        fixed = np.ptp(gained) < _SAME
        p = 1.0 if fixed else float(ttest_rel(gained, np.zeros(len(gained))).pvalue)
        tests[dataset, method] = (float(gained.mean()), p)
    corrected = holm([p for _, p in tests.values()])
    cells = {
        key: f"{100 * gain:+.1f}{'*' if p < _LEVEL else ''}"
        for (key, (gain, _)), p in zip(tests.items(), corrected, strict=True)
    }
    return pd.Series(cells).unstack(level=0, sort=False)


def holm(p_values: list[float]) -> list[float]:
    """Return p-values corrected by Holm's procedure."""
    order, corrected, largest = np.argsort(p_values), [0.0] * len(p_values), 0.0
    for i, place in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - i) * p_values[place]))
        corrected[place] = largest
    return corrected


def _table(frame: pd.DataFrame) -> str:
    """Return a frame as a Markdown table, a row per method."""
    lines = ["| method | " + " | ".join(map(str, frame.columns)) + " |"]
    lines.append("| --- |" + " --- |" * len(frame.columns))
    for name, row in frame.iterrows():
        lines.append(f"| {name} | " + " | ".join(map(str, row)) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
