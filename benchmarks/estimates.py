"""Replay the estimates of the remaining time over the durations that a store has.

``python -m benchmarks.estimates STORE`` prints, for each experiment of a store, the estimated
remaining seconds divided by the true ones at the start and after each tenth of the trials, in the
order of a run: with the committed results, as on a fresh clone, and without, as for a config of
one's own. Then, for each data set, the estimate from all other data sets of the experiment alone.
Nothing is fitted to the experiment that is replayed. The form of the model and two of its
constants, in :mod:`kernlearn.experiments.engine.estimates`, were chosen on such a store, though:
another machine's says more.
"""

import sys
from contextlib import suppress
from pathlib import Path

from kernlearn.exceptions import KernlearnError
from kernlearn.experiments import Plan, Store, Trial, load_config, make_plan
from kernlearn.experiments.engine.estimates import Estimates, sample_first, works
from kernlearn.experiments.engine.selection import rows_first
from kernlearn.experiments.engine.spec import CellKey, cell_key
from kernlearn.experiments.store.results import Result

TENTHS = range(10)


def replay(
    name: str, store: Store, *, committed: bool, longest: float = 200
) -> list[float | None]:
    """Return the ratios of estimated to true remaining seconds at the start and each tenth.

    Trials that took more than `longest` times the shortest of their cell, such as one during
    which the machine slept, are left out.
    """
    plan, results, trials = _measured(name, store)
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


def left_out(name: str, store: Store) -> list[float]:
    """Return the ratios for the trials of each data set, estimated from those of the others."""
    plan, results, trials = _measured(name, store)
    ratios = []
    for dataset in dict.fromkeys(t.labels["dataset"] for t in trials):
        others = [t for t in trials if t.labels["dataset"] != dataset]
        of_it = [t for t in trials if t.labels["dataset"] == dataset]
        known = ((t.labels, results[t.key].seconds) for t in others)
        expected = Estimates(known, works(plan)).total(of_it)
        if expected is not None:
            ratios.append(expected / sum(results[t.key].seconds for t in of_it))
    return ratios


def _measured(name: str, store: Store) -> tuple[Plan, dict[str, Result], list[Trial]]:
    """Return a plan, the results that a store has of it, and the trials that have one."""
    plan = make_plan(load_config(name), available=True)
    results = store.get(trial.key for trial in plan.trials)
    return plan, results, [t for t in plan.trials if t.key in results and results[t.key].done]


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
        print("each data set from the others")
        beyond = total = 0
        for name in store.experiments():
            with suppress(KernlearnError):
                if ratios := left_out(name, store):
                    print(f"{name:20}", *(f"{r:4.2f}" for r in ratios))
                    total += len(ratios)
                    beyond += sum(not 0.5 <= r <= 2 for r in ratios)
        print(f"beyond a factor of 2: {beyond} of {total}")


if __name__ == "__main__":
    main(sys.argv[1])
