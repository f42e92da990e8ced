"""What the command prints: progress of a run, tables, lists."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kernlearn._terminal import UNBOUNDED, make_console
from kernlearn.experiments.plan import Plan, Trial
from kernlearn.experiments.runner import pending
from kernlearn.experiments.store import Result, Store

if TYPE_CHECKING:
    from kernlearn.reports import Report

console = make_console()


def _duration(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


def _result_line(trial: Trial, result: Result) -> str:
    if not result.done:
        return f"{trial}: FAILED: {result.error}"
    shown = ("accuracy", "gram_error", "fit_seconds", "predict_seconds")
    numbers = [
        f"{k.replace('_', ' ')} {result.metrics[k]:.4g}" for k in shown if k in result.metrics
    ]
    return f"{trial}: {', '.join(numbers)}"


class TrialReporter:
    """Progress of a run: a bar with the time left on a terminal, a line a trial elsewhere.

    The time left is estimated from finished trials of the same kind (data set, kernel and
    method), of this run or earlier ones, and from their mean where there are none yet.

    Parameters
    ----------
    plan : Plan
    store : Store
        Its finished trials are what the first estimates rest on.
    force : bool
        Whether trials that the store has are run again.
    """

    def __init__(self, plan: Plan, store: Store, *, force: bool = False) -> None:
        self.plan = plan
        self._left = {t.key: t for t in pending(plan, store, force=force)}
        self._total = len(self._left)
        self._seconds: dict[tuple[str, ...], list[float]] = {}
        by_key = {t.key: t for t in plan.trials}
        for key, result in store.get(by_key).items():
            if result.done:
                self._seconds.setdefault(_kind(by_key[key]), []).append(result.seconds)
        self._progress: Progress | None = None

    def __enter__(self) -> "TrialReporter":
        cached = len(self.plan.trials) - self._total
        name = self.plan.experiment.name
        show_left_out(self.plan)
        console.print(f"{name}: {self._total} trials to run, {cached} in the store")
        if self._total and console.is_terminal:
            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=console,
            )
            self._task = self._progress.add_task(name, total=self._total, left="")
            self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Count a finished trial and say what it gave."""
        self._left.pop(trial.key, None)
        self._seconds.setdefault(_kind(trial), []).append(result.seconds)
        number = self._total - len(self._left)
        left = self._time_left()
        if self._progress is not None:
            if not result.done:
                console.print(_result_line(trial, result), style="red")
            self._progress.update(self._task, completed=number, left=left)
        else:
            line = f"[{number}/{self._total}] {_result_line(trial, result)}; {left}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        known = [s for seconds in self._seconds.values() for s in seconds]
        default = sum(known) / len(known)
        seconds = 0.0
        for trial in self._left.values():
            own = self._seconds.get(_kind(trial))
            seconds += sum(own) / len(own) if own else default
        return f"about {_duration(seconds)} left"


def _kind(trial: Trial) -> tuple[str, ...]:
    return tuple(str(trial.labels.get(k)) for k in ("dataset", "kernel", "method"))


def show_left_out(plan: Plan) -> None:
    """Print which data sets and methods a plan goes without, if any."""
    name = plan.experiment.name
    if plan.left_out:
        console.print(f"{name}: left out, not found: {', '.join(plan.left_out)}")
    if plan.not_installed:
        labels = ", ".join(plan.not_installed)
        console.print(f"{name}: left out, not installed: {labels}", markup=False)


def show_tables(report: "Report") -> None:
    """Print an experiment's tables, in parts where the terminal is narrow, claims and remarks."""
    from kernlearn.reports.tables import columns, to_rich

    wide = console.options.update(max_width=UNBOUNDED)
    for table in report.tables:
        first = 0
        while first < len(table.heads):
            last = len(table.heads)
            while last > first + 1 and (
                console.measure(to_rich(columns(table, first, last)), options=wide).maximum
                > console.width
            ):
                last -= 1
            console.print(to_rich(columns(table, first, last)))
            first = last
    for claim in report.claims:
        source = f" ({claim.section})" if claim.section else ""
        text = f"[{claim.outcome}] {claim.says}{source}: {claim.numbers}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    for remark in report.remarks:
        console.print(f"- {remark}", markup=False, highlight=False, soft_wrap=True)


def trial_states(plan: Plan, store: Path) -> Iterator[tuple[Trial, str]]:
    """Yield every trial with ``done``, ``failed`` or ``new``."""
    results: dict[str, Result] = {}
    if store.exists():
        with Store.existing(store) as opened:
            results = opened.get(t.key for t in plan.trials)
    for trial in plan.trials:
        yield trial, results[trial.key].status if trial.key in results else "new"


def show_status(plan: Plan, store: Path) -> None:
    """Print how many trials are done, failed and new, and each failure's error."""
    states = list(trial_states(plan, store))
    show_left_out(plan)
    counts = {s: sum(state == s for _, state in states) for s in ("done", "failed", "new")}
    numbers = ", ".join(f"{count} {state}" for state, count in counts.items())
    console.print(f"{plan.experiment.name}: {len(states)} trials, {numbers}", highlight=False)
    if counts["failed"]:
        with Store.existing(store) as opened:
            results = opened.get(t.key for t, state in states if state == "failed")
        for trial, state in states:
            if state == "failed":
                text = f"  failed: {trial}: {results[trial.key].error}"
                console.print(text, markup=False, highlight=False, soft_wrap=True)


def show_components() -> None:
    """Print the shipped configs and the names that a config can use."""
    from kernlearn.datasets import catalogue, generators
    from kernlearn.experiments._yaml import read_yaml
    from kernlearn.experiments.registry import ESTIMATORS, KERNELS, TASK_METRICS
    from kernlearn.resources import shipped

    configs = {p.stem: read_yaml(p)[0]["title"] for p in sorted(shipped("configs").glob("*.yaml"))}
    _section("Configs", configs)
    _section("Data sets", {name: card.title for name, card in sorted(catalogue().items())})
    _section("Generators", {n: g.title for n, g in sorted(generators().items())})
    _section("Kernels", {name: c.summary for name, c in KERNELS.items()})
    _section("Estimators", {name: c.summary for name, c in ESTIMATORS.items()})
    _section("Metrics", {task: ", ".join(names) for task, names in TASK_METRICS.items()})


def _section(title: str, entries: dict[str, str]) -> None:
    console.print(f"[bold]{title}[/bold]")
    width = max(map(len, entries), default=0)
    for name, text in entries.items():
        console.print(f"  {name:{width}}  {text}", markup=False, highlight=False)
