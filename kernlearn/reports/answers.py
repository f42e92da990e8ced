"""Answers: sentences on what came out, each held against the outcomes that it rests on."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

from pydantic import Field

from kernlearn.config.claims import Evidence
from kernlearn.config.read import shipped_configs
from kernlearn.config.spec import Section
from kernlearn.reports.report import Report
from kernlearn.reports.verdicts import COSTS, SCORES
from kernlearn.yaml import read_yaml


class Conclusion(Section):
    """A sentence on several experiments."""

    says: str = Field(min_length=1)
    """The sentence."""
    rests_on: dict[str, Evidence]
    """By experiment, the outcomes that it states."""


class Chapter(Section):
    """Experiments that belong together, and what they come to."""

    title: str
    """Its number and subject."""
    experiments: list[str]
    """Their names, in the order of the paper."""
    answer: list[Conclusion]
    """What they come to."""


class Paper(Section):
    """A paper that kernlearn measures again."""

    source: str
    """Its authors and year."""
    title: str
    """Its title."""
    answer: list[Conclusion]
    """What all experiments come to."""
    chapters: list[Chapter]
    """Its parts."""
    terms: dict[str, str]
    """Abbreviations, and what they mean."""

    @property
    def conclusions(self) -> list[Conclusion]:
        """Its sentences, and those of its parts."""
        return [*self.answer, *(one for part in self.chapters for one in part.answer)]


class Sentence(NamedTuple):
    """A sentence, and the outcomes that are others than those it rests on."""

    says: str
    changes: list[str]


@cache
def papers() -> tuple[Paper, ...]:
    """Return the papers whose experiments come with kernlearn."""
    paths = shipped_configs("papers").values()
    return tuple(Paper.model_validate(read_yaml(path)[0]) for path in paths)


def answer(report: Report) -> list[Sentence]:
    """Return what came out of an experiment; nothing if it is only indicative."""
    if report.experiment.indicative:
        return []
    sentences = report.experiment.config.answer
    return [Sentence(one.says, changes(one.rests_on, report)) for one in sentences]


def concluded(conclusions: Iterable[Conclusion], reports: Mapping[str, Report]) -> list[Sentence]:
    """Return the sentences of whose experiments all are there."""
    sentences = []
    for one in conclusions:
        if one.rests_on.keys() <= reports.keys():
            found = [(k, changes(evidence, reports[k])) for k, evidence in one.rests_on.items()]
            texts = [f"{name}: {text}" for name, several in found for text in several]
            sentences.append(Sentence(one.says, texts))
    return sentences


def changes(evidence: Evidence, report: Report) -> list[str]:
    """Return the outcomes of a report that are others than those that a sentence rests on."""
    counts, cells = report.counts.to_dict("index"), report.cells
    best = cells.loc[cells["best"], "method"] if "best" in cells else cells["method"][:0]
    outcomes = dict(enumerate(report.claims["outcome"], 1))
    found: dict[str, Mapping[Any, Any]] = {
        "scores": counts.get(SCORES, {}),
        "times": counts.get(COSTS, {}),
        "differences": report.differences["outcome"].value_counts().to_dict(),
        "bold": best.value_counts().to_dict(),
    }
    texts = []
    for number, expected in evidence.claims.items():
        if (now := outcomes.get(number, "is not there")) != expected:
            texts.append(f"claim {number} {now}, not {expected}")
    for kind, of_kind in found.items():
        for name, expected in getattr(evidence, kind).items():
            if (now := of_kind.get(name, 0)) != expected:
                texts.append(f"{kind}: {now} {name}, not {expected}")
    return texts
