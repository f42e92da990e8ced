"""What the command prints of a plan before it is run."""

from collections import Counter

import typer

from kernlearn._console import console
from kernlearn._durations import duration
from kernlearn.experiments.estimates import Estimates, rows_first
from kernlearn.experiments.plan import Plan
from kernlearn.experiments.selection import STATES, Choice, State, chosen, trial_states
from kernlearn.experiments.store import Store


def show_planned(plan: Plan, store: Store | None, choice: Choice) -> None:
    """Print every trial with its state, those that would run last and in their order.

    Parameters
    ----------
    plan : Plan
    store : Store or None
        None where there is none yet.
    choice : Choice
        What a run would be asked for.
    """
    states, estimates = trial_states(plan, store), Estimates.of(plan, store)
    todo = rows_first(chosen(plan, states, choice), plan, estimates)
    taken = {t.key for t in todo}
    lines = []
    for trial in [*(t for t in plan.trials if t.key not in taken), *todo]:
        seconds = estimates.seconds(trial) if trial.key in taken else None
        expected = "" if seconds is None else f"  ({duration(seconds)})"
        state, name = states[trial.key], plan.experiment.name
        lines.append(f"{state:7} {trial.key[:10]} {name}: {trial}{expected}")
    if lines:
        typer.echo("\n".join(lines))
    total = estimates.total(todo)
    time = "time unknown" if total is None else f"about {duration(total)} one at a time"
    to_run = f"; {len(todo)} to run, {time}" if todo else "; nothing to run"
    console.print(f"{_counts(plan, states)}{to_run}", highlight=False, soft_wrap=True)


def show_status(plan: Plan, store: Store | None) -> None:
    """Print how many trials are in which state, and each failure's error.

    Parameters
    ----------
    plan : Plan
    store : Store or None
        None where there is none yet.
    """
    states = trial_states(plan, store)
    console.print(_counts(plan, states), highlight=False)
    failed = [t for t in plan.trials if states[t.key] == "failed"]
    if failed and store is not None:
        results = store.get(t.key for t in failed)
        for trial in failed:
            typer.echo(f"  failed: {trial}: {results[trial.key].error}")


def _counts(plan: Plan, states: dict[str, State]) -> str:
    found = Counter(states.values())
    numbers = ", ".join(f"{found[state]} {state}" for state in STATES)
    return f"{plan.experiment.name}: {len(states)} trials: {numbers}"
