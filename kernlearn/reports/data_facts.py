"""What the data of an experiment are, and what was done to them, in sentences."""

from collections.abc import Mapping
from typing import Any

from kernlearn.config.entries import DatasetEntry
from kernlearn.datasets import catalogue
from kernlearn.engine.plan import Plan
from kernlearn.reports.stream_facts import stream_facts
from kernlearn.store import Row


def data_facts(plan: Plan, results: Mapping[str, Row]) -> dict[str, list[str]]:
    """Return the facts on each data set of a plan: from its card, its config and its trials."""
    found: dict[str, list[str]] = {}
    infos: dict[str, dict[str, Any]] = {}
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done:
            infos.setdefault(str(trial.labels["dataset"]), result.info)
    # what loading dropped, coded and filled in, where the plan knows
    prepared = getattr(plan, "preparations", {})
    for label, entry in plan.experiment.config.datasets.items():
        done = prepared[label].sentences if label in prepared else []
        read = [*_described(label, entry), *stream_facts(entry)]
        facts = [*read, *_asked(entry), *done, *_noted(infos.get(label, {}))]
        if facts:
            found[label] = facts
    return found


def _described(label: str, entry: DatasetEntry) -> list[str]:
    """Say where the data come from."""
    if entry.file is not None:
        return [f"file {entry.file}"]
    if entry.generator is not None:
        given = ", ".join(f"{k} {v}" for k, v in entry.parameters.items())
        return [f"drawn by the generator {entry.generator}{f': {given}' if given else ''}"]
    card = catalogue().get(entry.name or label)
    if card is None:
        return []
    rows = f"{card.rows} rows, " if card.rows else ""
    classes = f", {len(card.classes)} classes" if card.classes else ""
    return [f"{card.title}: {rows}{card.n_features} features{classes}", *card.notes]


def _asked(entry: DatasetEntry) -> list[str]:
    """Say what the config asks for."""
    facts = []
    if entry.classes is not None:
        facts.append(f"classes {', '.join(entry.classes)}; rows of other classes are left out")
    if entry.sample is not None:
        facts.append(f"a random subsample of {entry.sample} rows, the same in all splits")
    if entry.bins is not None:
        facts.append(f"the target is cut into {entry.bins} grades of equal frequency")
    return facts


def _noted(info: Mapping[str, Any]) -> list[str]:
    """Say what the trials note."""
    facts = []
    if "positive" in info:
        facts.append(f"positive classes: {', '.join(map(str, info['positive']))}")
    if "sample" in info:
        facts.append(str(info["sample"]))
    return facts
