"""What is told of a run: bars on a terminal, lines elsewhere, JSON where it is asked for."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from kernlearn.cli.terminal import console, show_left_out, show_report
from kernlearn.experiments.engine.environment import duration
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.runner import Listener
from kernlearn.experiments.engine.selection import STATES, Estimates, State
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.store.results import Result, utc_now

# A trial that takes longer than this has a bar of its own.
_LONG = 2.0
# Seconds between two estimates of the time left, which look at every trial that is left.
_RENEWED = 0.5
_SHOWN = ("accuracy", "auc", "mse", "aae", "ndcg", "gram_error", "fit_seconds", "predict_seconds")


def make_progress(log_json: bool) -> "RunListener":
    """Return what tells of a run in the way that suits where it is told."""
    if log_json:
        return JsonLines()
    return Bars() if console.is_terminal else Lines()


class RunListener(Listener):
    """Counts trials and estimates the time left."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        """Take note of the trials that a run takes and of what the store has of all."""
        self.plan = plan
        self.total = len(trials)
        self._left = {t.key: t for t in trials}
        self._renewed = -_RENEWED
        self._seconds: float | None = None

    def run_started(self, trials: list[Trial], estimates: Estimates, slots: int) -> None:
        """Take note of the executor's being ready, and of how long trials may need."""
        self.estimates, self.slots = estimates, slots

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Count a finished trial."""
        self._left.pop(trial.key, None)

    @property
    def number(self) -> int:
        """How many trials are finished."""
        return self.total - len(self._left)

    def time_left(self) -> float | None:
        """Return the seconds until all is done, None if nothing is known yet."""
        now = time.monotonic()
        if self._seconds is None or now - self._renewed > _RENEWED:
            self._seconds = self.estimates.total(self._left.values(), self.slots)
            self._renewed = now
        return self._seconds

    def report_written(self, report: Any, page: Path) -> None:
        """Show an experiment's tables and name the page."""
        show_report(report, page)


class _Spoken(RunListener):
    """Says in words how many trials there are."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        """Say how many trials there are."""
        super().run_planned(plan, trials, states)
        _announce(plan, trials, states)


class Lines(_Spoken):
    """One line a trial."""

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Say what a trial gave."""
        super().trial_done(trial, result)
        print(f"[{self.number}/{self.total}] {_result_line(trial, result)}; {_told(self)}")
        sys.stdout.flush()


class Bars(_Spoken):
    """A bar for the run, and one for each trial under way that takes long."""

    def run_started(self, trials: list[Trial], estimates: Estimates, slots: int) -> None:
        """Show the bar of the run."""
        super().run_started(trials, estimates, slots)
        self._progress = _LongTrials(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[count]}"),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
        )
        name = self.plan.experiment.name
        self._run = self._progress.add_task(
            name, total=self.total, count=f"0/{self.total}", left=_told(self)
        )
        self._bars: dict[str, TaskID] = {}
        self._progress.start()

    def trial_started(self, trial: Trial) -> None:
        """Make a trial's bar, which is shown once it has taken long."""
        expected = self.estimates.seconds(trial)
        self._bars[trial.key] = self._progress.add_task(
            f"  {trial}", total=expected, visible=False, count="", left="", trial=True
        )

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Move the run's bar on."""
        super().trial_done(trial, result)
        if trial.key in self._bars:
            self._progress.remove_task(self._bars.pop(trial.key))
        if not result.done:
            console.print(_result_line(trial, result), style="red", markup=False)
        self._progress.update(
            self._run, completed=self.number, count=f"{self.number}/{self.total}",
            left=_told(self),
        )  # fmt: skip

    def run_ended(self) -> None:
        """Take the bars away."""
        for bar in self._bars.values():
            self._progress.remove_task(bar)
        self._progress.stop()


class _LongTrials(Progress):
    """Bars of which those of trials move with the clock."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            if task.fields.get("trial") and (task.elapsed or 0.0) > _LONG:
                task.visible = True
                if task.total:
                    # an estimate that is passed does not mean that the trial is done
                    task.completed = min(task.elapsed or 0.0, 0.99 * task.total)
                    left = task.total - (task.elapsed or 0.0)
                    task.fields["left"] = (
                        f"about {duration(left)} left" if left > 0 else "longer than expected"
                    )
        yield from super().get_renderables()


class JsonLines(RunListener):
    """One JSON object a line, on standard output."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        """Tell how many trials there are."""
        super().run_planned(plan, trials, states)
        found = Counter(states.values())
        counts = {state: found[state] for state in STATES}
        _write("run_planned", experiment=plan.experiment.name, profile=plan.experiment.profile,
               trials=len(plan.trials), to_run=len(trials), **counts)  # fmt: skip

    def trial_started(self, trial: Trial) -> None:
        """Tell which trial a process has taken up."""
        _write("trial_started", **_identity(trial))

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Tell what a trial gave."""
        super().trial_done(trial, result)
        _write("trial_done", **_identity(trial), status=result.status, seconds=result.seconds,
               metrics=result.metrics, error=result.error, number=self.number, of=self.total,
               seconds_left=self.time_left())  # fmt: skip

    def run_ended(self) -> None:
        """Tell that no more trials are taken up."""
        _write("run_ended", experiment=self.plan.experiment.name, finished=self.number,
               left=self.total - self.number)  # fmt: skip

    def report_written(self, report: Any, page: Path) -> None:
        """Tell where the report is."""
        _write("report_written", experiment=self.plan.experiment.name, page=str(page))


def _write(event: str, **fields: Any) -> None:
    # JSON knows no NaN: what is not finite is null
    text = json.dumps({"event": event, "time": utc_now(), **_plain(fields)}, allow_nan=False)
    print(text, flush=True)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value


def _identity(trial: Trial) -> dict[str, Any]:
    return {"experiment": trial.experiment, "key": trial.key, "labels": trial.labels,
            "split": trial.split}  # fmt: skip


def _announce(plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
    name, taken = plan.experiment.name, {t.key for t in trials}
    show_left_out(plan)
    cached = sum(state == "cached" for key, state in states.items() if key not in taken)
    console.print(f"{name}: {len(trials)} trials to run, {cached} in the store", highlight=False)
    failed = sum(state == "failed" for key, state in states.items() if key not in taken)
    if failed:
        console.print(
            f"{name}: {failed} failed before: `kernlearn status` tells why, --retry-failed tries "
            "them again", highlight=False,
        )  # fmt: skip


def _told(listener: RunListener) -> str:
    seconds = listener.time_left()
    return "" if seconds is None else f"about {duration(seconds)} left"


def _result_line(trial: Trial, result: Result) -> str:
    if not result.done:
        return f"{trial}: FAILED: {result.error}"
    # metrics of a plug-in have names of their own
    names = [k for k in _SHOWN if k in result.metrics] or list(result.metrics)[:3]
    numbers = [f"{k.replace('_', ' ')} {result.metrics[k]:.4g}" for k in names]
    if "grid" in result.info:
        # which of them counts is known when all splits are done
        numbers = [f"{len(result.info['grid'])} settings measured", *numbers]
    return f"{trial}: {', '.join(numbers)}"
