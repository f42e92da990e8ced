"""Progress of a run: a bar on a terminal, lines elsewhere, or JSON."""

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kernlearn.cli.options import make_console, show_left_out
from kernlearn.cli.tables import show_report
from kernlearn.config import Trial
from kernlearn.engine import Plan
from kernlearn.engine.run import Listener, State, duration
from kernlearn.store import Row, utc_now

_METRICS = (
    "accuracy",
    "auc",
    "mse",
    "aae",
    "ndcg",
    "gram_error",
    "fit_seconds",
    "predict_seconds",
)


def make_progress(log_json: bool) -> "RunListener":
    """Choose how to show the progress of a run."""
    if log_json:
        return JsonLines()
    return Bar() if make_console().is_terminal else Lines()


class RunListener(Listener):
    """Count trials and estimate the remaining time."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        self.name = plan.experiment.name
        self.total = len(trials)
        self.number = 0
        self.seconds_left: float | None = None

    def trial_done(self, trial: Trial, result: Row, seconds_left: float | None) -> None:
        self.number += 1
        self.seconds_left = seconds_left

    def time_left(self) -> str:
        """Return the estimated time until the end as text, empty while nothing is known."""
        seconds = self.seconds_left if self.number < self.total else None
        return "" if seconds is None else f"about {duration(seconds)} left"

    def report_written(self, report: Any, page: Path) -> None:
        """Show the tables of an experiment and the path of its page."""
        show_report(report, page)


class Lines(RunListener):
    """One line per trial."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        super().run_planned(plan, trials, states)
        skipped = Counter(states[key] for key in states.keys() - {t.key for t in trials})
        show_left_out(plan)
        typer.echo(f"{self.name}: {self.total} trials to run, {skipped['cached']} in the store")
        if skipped["failed"]:
            typer.echo(
                f"{self.name}: {skipped['failed']} failed before: `kernlearn plan` shows why, "
                "--retry-failed runs them again"
            )

    def trial_done(self, trial: Trial, result: Row, seconds_left: float | None) -> None:
        super().trial_done(trial, result, seconds_left)
        self.show(f"{trial}: {_outcome(result)}", result)

    def show(self, text: str, result: Row) -> None:
        """Show the outcome of a trial."""
        left = self.time_left()
        typer.echo(f"[{self.number}/{self.total}] {text}{f'; {left}' if left else ''}")


class Bar(Lines):
    """A bar for the run, and a line for each trial that fails."""

    def run_started(self, slots: int) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=make_console(),
        )
        self._progress.add_task(self.name, total=self.total, left=self.time_left())
        self._progress.start()

    def show(self, text: str, result: Row) -> None:
        if not result.done:
            self._progress.console.print(text, style="red", markup=False)
        (task,) = self._progress.task_ids
        self._progress.update(task, completed=self.number, left=self.time_left())

    def run_ended(self) -> None:
        self._progress.stop()


class JsonLines(RunListener):
    """One JSON object per line, on standard output."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        super().run_planned(plan, trials, states)
        counts = Counter(states.values())
        _write(
            "run_planned",
            experiment=self.name,
            profile=plan.experiment.profile,
            trials=len(plan.trials),
            to_run=self.total,
            **{state: counts[state] for state in ("new", "cached", "failed")},
        )

    def trial_done(self, trial: Trial, result: Row, seconds_left: float | None) -> None:
        super().trial_done(trial, result, seconds_left)
        _write(
            "trial_done",
            **_identity(trial),
            status="done" if result.done else "failed",
            seconds=result.seconds,
            metrics=result.metrics,
            error=result.error,
            number=self.number,
            of=self.total,
            seconds_left=self.seconds_left,
        )

    def run_ended(self) -> None:
        left = self.total - self.number
        _write("run_ended", experiment=self.name, finished=self.number, left=left)

    def report_written(self, report: Any, page: Path) -> None:
        _write("report_written", experiment=self.name, page=str(page))


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
    return {
        "experiment": trial.experiment,
        "key": trial.key,
        "labels": trial.labels,
        "split": trial.split,
    }


def _outcome(result: Row) -> str:
    if not result.done:
        return f"FAILED: {result.error}"
    # metrics of a plug-in have other names
    names = [k for k in _METRICS if k in result.metrics] or list(result.metrics)[:3]
    numbers = [f"{k.replace('_', ' ')} {result.metrics[k]:.4g}" for k in names]
    if "grid" in result.info:
        # which setting is reported is decided after all splits
        numbers = [f"{len(result.info['grid'])} settings measured", *numbers]
    return ", ".join(numbers)
