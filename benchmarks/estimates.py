"""Replay the estimates of the remaining time over the durations that a store has.

``python -m benchmarks.estimates STORE`` prints, for each experiment of a store, the estimated
remaining seconds divided by the true ones at the start and after each tenth of the trials, in the
order of a run: with the committed results, as on a fresh clone, and without, as for a config of
one's own.
"""

import sys
from pathlib import Path

from kernlearn.exceptions import KernlearnError
from kernlearn.experiments import Store, load_config, make_plan
from kernlearn.experiments.engine.estimates import Estimates, sample_first, works
from kernlearn.experiments.engine.selection import rows_first
from kernlearn.experiments.engine.spec import CellKey, cell_key

TENTHS = range(10)


def replay(
    name: str, store: Store, *, committed: bool, longest: float = 200
) -> list[float | None]:
    """Return the ratios of estimated to true remaining seconds at the start and each tenth.

    Trials that took more than `longest` times the shortest of their cell, such as one during
    which the machine slept, are left out.
    """
    plan = make_plan(load_config(name), available=True)
    results = store.get(trial.key for trial in plan.trials)
    trials = [t for t in plan.trials if t.key in results and results[t.key].done]
    least: dict[CellKey, float] = {}
    for trial in trials:
        key, seconds = cell_key(trial.labels), results[trial.key].seconds
        least[key] = min(seconds, least.get(key, seconds))
    trials = [t for t in trials if results[t.key].seconds < longest * least[cell_key(t.labels)]]
    estimates = Estimates.of(plan, None) if committed else Estimates(work=works(plan))
    todo = sample_first(rows_first(trials, plan, estimates), estimates)
    ratios: list[float | None] = []
    done = 0
    for tenth in TENTHS:
        while done < tenth * len(todo) // 10:
            estimates.add(todo[done].labels, results[todo[done].key].seconds)
            done += 1
        left = todo[done:]
        expected = estimates.total(left)
        true = sum(results[t.key].seconds for t in left)
        ratios.append(None if expected is None else expected / true)
    return ratios


def main(path: str) -> None:
    """Print the ratios of all experiments of a store."""
    with Store.existing(Path(path)) as store:
        for committed in (True, False):
            print(
                f"{'with' if committed else 'without'} the committed results, after 0 … 9 tenths"
            )
            beyond = total = 0
            for name in store.experiments():
                try:
                    ratios = replay(name, store, committed=committed)
                except KernlearnError as error:
                    print(f"{name:20} {error}".splitlines()[0])
                    continue
                print(f"{name:20}", *("   –" if r is None else f"{r:4.2f}" for r in ratios))
                known = [r for r in ratios[1:] if r is not None]
                total += len(known)
                beyond += sum(not 0.5 <= r <= 2 for r in known)
            print(f"beyond a factor of 2 after the first tenth: {beyond} of {total}")


if __name__ == "__main__":
    main(sys.argv[1])
