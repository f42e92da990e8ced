"""Progress of a run: bars on a terminal, lines elsewhere, or JSON."""

import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import typer
from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from kernlearn.cli.options import make_console, show_left_out
from kernlearn.cli.report import show_report
from kernlearn.experiments.engine.environment import duration
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.runner import Listener
from kernlearn.experiments.engine.selection import STATES, Estimates, State
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.store.results import Result, utc_now

# A trial that takes longer than this many seconds gets a bar of its own.
_LONG = 2.0
# Seconds between two estimates of the remaining time, which look at all remaining trials.
_REFRESH = 0.5
_METRICS = (
    "accuracy", "auc", "mse", "aae", "ndcg", "gram_error", "fit_seconds", "predict_seconds",
)  # fmt: skip


def make_progress(log_json: bool) -> "RunListener":
    """Choose how to show the progress of a run."""
    if log_json:
        return JsonLines()
    return Bars() if make_console().is_terminal else Lines()


class RunListener(Listener):
    """Count trials and estimate the remaining time."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        self.plan = plan
        self.total = len(trials)
        self._left = {t.key: t for t in trials}
        self._refreshed = -_REFRESH
        self._seconds: float | None = None

    def run_started(self, trials: list[Trial], estimates: Estimates, slots: int) -> None:
        self.estimates, self.slots = estimates, slots

    def trial_done(self, trial: Trial, result: Result) -> None:
        self._left.pop(trial.key, None)

    @property
    def number(self) -> int:
        """Number of finished trials."""
        return self.total - len(self._left)

    def seconds_left(self) -> float | None:
        """Return the estimated seconds until the end; None while nothing is known."""
        now = time.monotonic()
        if self._seconds is None or now - self._refreshed > _REFRESH:
            self._seconds = self.estimates.total(self._left.values(), self.slots)
            self._refreshed = now
        return self._seconds

    def time_left(self) -> str:
        """Return the estimated time until the end as text, empty while nothing is known."""
        seconds = self.seconds_left()
        return "" if seconds is None else f"about {duration(seconds)} left"

    def report_written(self, report: Any, page: Path) -> None:
        """Show the tables of an experiment and the path of its page."""
        show_report(report, page)


class Lines(RunListener):
    """One line per trial."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        super().run_planned(plan, trials, states)
        skipped = Counter(states[key] for key in states.keys() - self._left.keys())
        name = plan.experiment.name
        show_left_out(plan)
        typer.echo(f"{name}: {self.total} trials to run, {skipped['cached']} in the store")
        if skipped["failed"]:
            typer.echo(
                f"{name}: {skipped['failed']} failed before: `kernlearn status` shows why, "
                "--retry-failed runs them again"
            )

    def trial_done(self, trial: Trial, result: Result) -> None:
        super().trial_done(trial, result)
        self.show(f"{trial}: {_outcome(result)}", result)

    def show(self, text: str, result: Result) -> None:
        """Show the outcome of a trial."""
        typer.echo(f"[{self.number}/{self.total}] {text}; {self.time_left()}")


class Bars(Lines):
    """A bar for the run, and one for each running trial that takes long."""

    def run_started(self, trials: list[Trial], estimates: Estimates, slots: int) -> None:
        super().run_started(trials, estimates, slots)
        self._progress = _TimedBars(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=make_console(),
        )
        self._bars: dict[str, TaskID] = {}
        self._run = self._progress.add_task(
            self.plan.experiment.name, total=self.total, count=f"0/{self.total}",
            left=self.time_left(),
        )  # fmt: skip
        self._progress.start()

    def trial_started(self, trial: Trial) -> None:
        self._bars[trial.key] = self._progress.add_task(
            f"  {trial}", total=self.estimates.seconds(trial), visible=False, count="", left="",
            trial=True,
        )  # fmt: skip

    def show(self, text: str, result: Result) -> None:
        for bar in (self._bars.pop(key) for key in [result.key] if key in self._bars):
            self._progress.remove_task(bar)
        if not result.done:
            self._progress.console.print(text, style="red", markup=False)
        self._progress.update(
            self._run, completed=self.number, count=f"{self.number}/{self.total}",
            left=self.time_left(),
        )  # fmt: skip

    def run_ended(self) -> None:
        for bar in self._bars.values():
            self._progress.remove_task(bar)
        self._progress.stop()


class _TimedBars(Progress):
    """Bars of trials that move with the clock towards the expected time."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            elapsed = task.elapsed or 0.0
            if task.fields.get("trial") and elapsed > _LONG:
                task.visible = True
                if task.total:
                    left = task.total - elapsed
                    # past its estimate a trial is still running
                    task.completed = min(elapsed, 0.99 * task.total)
                    task.fields["left"] = (
                        f"about {duration(left)} left" if left > 0 else "longer than expected"
                    )
        yield from super().get_renderables()


class JsonLines(RunListener):
    """One JSON object per line, on standard output."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        super().run_planned(plan, trials, states)
        counts = Counter(states.values())
        _write("run_planned", experiment=plan.experiment.name, profile=plan.experiment.profile,
               trials=len(plan.trials), to_run=self.total,
               **{state: counts[state] for state in STATES})  # fmt: skip

    def trial_started(self, trial: Trial) -> None:
        _write("trial_started", **_identity(trial))

    def trial_done(self, trial: Trial, result: Result) -> None:
        super().trial_done(trial, result)
        _write("trial_done", **_identity(trial), status=result.status, seconds=result.seconds,
               metrics=result.metrics, error=result.error, number=self.number, of=self.total,
               seconds_left=self.seconds_left())  # fmt: skip

    def run_ended(self) -> None:
        _write("run_ended", experiment=self.plan.experiment.name, finished=self.number,
               left=self.total - self.number)  # fmt: skip

    def report_written(self, report: Any, page: Path) -> None:
        _write("report_written", experiment=self.plan.experiment.name, page=str(page))


def _write(event: str, **fields: Any) -> None:
    text = json.dumps({"event": event, "time": utc_now(), **_plain(fields)}, allow_nan=False)
    print(text, flush=True)


def _plain(value: Any) -> Any:
    """Replace NaN and infinities, which JSON does not have, by null."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def _identity(trial: Trial) -> dict[str, Any]:
    return {"experiment": trial.experiment, "key": trial.key, "labels": trial.labels,
            "split": trial.split}  # fmt: skip


def _outcome(result: Result) -> str:
    if not result.done:
        return f"FAILED: {result.error}"
    # metrics of a plug-in have other names
    names = [k for k in _METRICS if k in result.metrics] or list(result.metrics)[:3]
    numbers = [f"{k.replace('_', ' ')} {result.metrics[k]:.4g}" for k in names]
    if "grid" in result.info:
        # which setting is reported is decided after all splits
        numbers = [f"{len(result.info['grid'])} settings measured", *numbers]
    return ", ".join(numbers)
