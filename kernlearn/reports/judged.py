"""Claims and differences between methods, judged once for the numbers that there are."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import pandas as pd

import kernlearn
from kernlearn.datasets.cache import Stamp, recall, remember, stamp
from kernlearn.engine.plan import Plan
from kernlearn.reports.claims import Decision, decide_claims
from kernlearn.reports.conclusions import Chance, Conclusion, judge_differences
from kernlearn.reports.summary import reported_runs


class Judged(NamedTuple):
    """What is concluded from the numbers of an experiment."""

    claims: list[Decision]
    conclusions: list[Conclusion]
    chances: list[Chance]


def judge(plan: Plan, runs: pd.DataFrame, summary: pd.DataFrame) -> Judged:
    """Decide the claims of an experiment and judge the differences that its paper shows.

    The tests take seconds. What they gave is remembered, and taken again for the same numbers,
    config and code.
    """
    config = plan.experiment.config
    mark = _mark(plan, runs, summary)
    known = recall(mark)
    if known is not None:
        claims, conclusions, chances = known
        return Judged(
            [Decision(**each) for each in claims],
            [Conclusion(**each) for each in conclusions],
            [Chance(**each) for each in chances],
        )
    claims = decide_claims(runs, config, reported_runs(summary, plan.axes))
    found = Judged(claims, *judge_differences(runs, summary, config))
    remember(mark, [[asdict(one) for one in part] for part in found])
    return found


def _mark(plan: Plan, runs: pd.DataFrame, summary: pd.DataFrame) -> Stamp:
    """Identify all that the judgement depends on; one note is kept for each config and profile."""
    experiment = plan.experiment
    scope = experiment.config.scope
    metrics = [[name, scope.metrics[name].better, scope.label(name)] for name in scope.metrics]
    way = {"profile": experiment.profile, "settings": list(experiment.settings)}
    place = stamp("judged", [experiment.path], way)
    content = [digest([runs, summary]), json.dumps([metrics, plan.left_out, code()])]
    return Stamp(place.stem, f"{place.key} {sha256(' '.join(content).encode()).hexdigest()}")


def digest(frames: Iterable[pd.DataFrame]) -> str:
    """Hash the heads and values of frames."""
    hashed = sha256()
    for frame in frames:
        hashed.update(json.dumps([*map(str, frame.columns)]).encode())
        # a column of several types is hashed as text
        hashed.update(pd.util.hash_pandas_object(frame, index=False).to_numpy().tobytes())
    return hashed.hexdigest()


def code() -> list[tuple[str, int, int]]:
    """Return the state of kernlearn's source files."""
    # what is compiled while it runs is none
    found = Path(kernlearn.__file__).parent.rglob("*")
    files = (p for p in found if "__pycache__" not in p.parts)
    states = ((p.name, p.stat()) for p in sorted(files) if p.is_file())
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]
