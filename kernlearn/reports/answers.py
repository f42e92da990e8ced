"""What came out of experiments: sentences of their configs, and counts over several in words.

Each sentence is held against the outcomes that it rests on.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import pandas as pd
from pydantic import Field

from kernlearn.checks import counted, listed
from kernlearn.config.claims import Evidence
from kernlearn.config.read import shipped_configs
from kernlearn.config.values import Section
from kernlearn.reports import claims as claimed
from kernlearn.reports import differences as compared
from kernlearn.reports import verdicts
from kernlearn.reports.labels import cell_names, data_labels
from kernlearn.reports.report import Report
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
    def experiments(self) -> set[str]:
        """The names of its experiments."""
        return {name for chapter in self.chapters for name in chapter.experiments}

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
        "scores": counts.get(verdicts.SCORES, {}),
        "times": counts.get(verdicts.COSTS, {}),
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


# ---- counts ----


@dataclass(frozen=True)
class Totals:
    """Counts over several experiments.

    Attributes
    ----------
    scores, differences, claims : mapping of str to int
        Reported scores by verdict, and their number, ``reported``; differences and claims by
        outcome. A sentence that several experiments test counts once, with its worst outcome.
    contradicted : int
        How many of these claims the paper's own numbers contradict.
    chances : pandas.DataFrame
        Matches, and differences shown, of each table beside those of exchanged methods and data
        sets.
    """

    scores: Counter[Any]
    differences: Mapping[str, int]
    claims: Mapping[str, int]
    contradicted: int
    chances: pd.DataFrame

    def comparable(self) -> tuple[int, int]:
        """Return how many scores and differences were measured and are comparable."""
        absent = (*verdicts.UNMEASURED, verdicts.NOT_COMPARABLE)
        n_scores = self.scores["reported"] - sum(self.scores[one] for one in absent)
        n_absent = self.differences.get(verdicts.NO_DATA, 0)
        return n_scores, sum(self.differences.values()) - n_absent

    def in_short(self) -> str:
        """Return one sentence on how many scores, differences and claims come back."""
        parts, (n_scores, n_differences) = [], self.comparable()
        if n := n_scores:
            parts.append(f"{self.scores['match']} of {n} reported scores match")
        if n := n_differences:
            k, *others = (self.differences[one] for one in ("shown", "smaller", "reversed"))
            smaller, reversed_ = (one or "none" for one in others)
            parts.append(
                f"{k} of {n} differences are shown, {smaller} smaller, {reversed_} reversed"
            )
        if n := sum(self.claims.values()):
            parts.append(f"{counted(n, 'claim')}{_listed(self.claims)}")
        return f"{'; '.join(parts)}." if parts else ""

    def in_words(self) -> list[str]:
        """Return sentences on reported scores, differences and claims."""
        texts = []
        if n := self.scores["reported"]:
            measured = n - sum(self.scores[one] for one in verdicts.UNMEASURED)
            counts = {name: k for name, k in self.scores.items() if name != "reported"}
            texts.append(f"Of {n} reported scores {measured} were measured{_listed(counts)}.")
        texts += self._beyond_chance("match")
        if n := sum(self.differences.values()):
            texts.append(f"Of {n} differences between methods{_listed(self.differences)}.")
        texts += self._beyond_chance("shown")
        if n := sum(self.claims.values()):
            open_ = {name: k for name, k in self.claims.items() if name in claimed.OPEN}
            decided = {name: k for name, k in self.claims.items() if name not in open_}
            decided["undecided"] = sum(open_.values())
            means = ", ".join(f"{name} {k}" for name, k in open_.items() if k)
            text = f"Of {counted(n, 'claim')}{_listed(decided)}"
            text += f" ({means})" if means else ""
            if self.contradicted:
                text += f"; the papers' own numbers contradict {self.contradicted}"
            texts.append(f"{text}.")
        return texts

    def _beyond_chance(self, count: str) -> list[str]:
        """Say how many counts, one for each table and metric, are clearly less in other orders."""
        rows = self.chances[(self.chances["count"] == count) & compared.can_tell(self.chances)]
        parts = [
            f"{compared.beats_chance(of).sum()} of {len(of)} if {exchanged} are swapped"
            for exchanged, of in rows.groupby("exchanged", sort=False)
        ]
        what = "matches" if count == "match" else "shown differences"
        text = f"More than chance? Counts of {what} that clearly fall: {', '.join(parts)}."
        return [text] if parts else []


def _listed(counts: Mapping[Any, int]) -> str:
    """Return counts in words, those on data that are not public in brackets."""
    absent = counts[verdicts.NO_DATA]
    named = [f"{name} {n}" for name, n in counts.items() if n and name != verdicts.NO_DATA]
    listed = ", ".join(named)
    return f"{f' ({absent} on data that are not public)' if absent else ''}: {listed or 'none'}"


def outcome(report: Report) -> str:
    """Return one sentence on what came out of an experiment; none if it is only indicative."""
    short, config = totals([report]).in_short(), report.experiment.config
    metric = verdicts.main_metric(config)
    if (
        short
        or config.answer
        or metric is None
        or report.experiment.indicative
        or "n_samples" in config.axes
    ):
        return short
    cells = report.cells[(report.cells["metric"] == metric) & report.cells["mean"].notna()]
    data = cell_names(cells, data_labels(config))
    cells = cells.assign(name=compared.method_names(cells, config, " "), data=data)
    every = cells.pivot_table(index="name", columns="data", values="mean")
    means = every.dropna()
    better = verdicts.direction(metric, config)
    ranks = means.rank(ascending=better < 0).mean(axis=1)
    many = f", by average rank over {n} data sets" if (n := len(means.columns)) > 1 else ""
    many += " of methods that have all" if len(means) < len(every) else ""
    best = ", then ".join(listed(alike.index) for _, alike in [*ranks.groupby(ranks)][:2])
    # the means of one data set are ordered without a test
    which = "Best" if many else {1: "Highest", -1: "Lowest"}[better]
    return f"{which} {config.scope.label(metric)}{many}: {best}." if len(ranks) > 1 else ""


def totals(reports: Iterable[Report]) -> Totals:
    """Count verdicts, differences and claims of several experiments.

    Variants, which measure the numbers of another experiment again, and what is indicative do not
    count.
    """
    reports = [report for report in reports if report.experiment.is_counted]
    scores, differences = Counter[Any](), Counter[str]()
    sentences = defaultdict[Any, list[Any]](list)
    for report in reports:
        scores.update(report.counts.to_dict("index").get(verdicts.SCORES, {}))
        differences.update(report.differences["outcome"])
        # a source is a paper with its year in brackets, and what of it
        paper = report.experiment.config.source.split(")")[0]
        for claim in report.claims[report.claims["of_paper"]].itertuples():
            sentences[paper, claim.section, claim.says].append(claim)
    tested = [pd.DataFrame(claims) for claims in sentences.values()]
    outcomes = Counter(claimed.worst_outcome([*claims["outcome"]]) for claims in tested)
    texts = (claims["on_reported"].str for claims in tested)
    contradicted = [of.startswith(claimed.CONTRADICTED).any() for of in texts]
    chances = [pd.DataFrame(columns=compared.CHANCES), *(r.chances for r in reports)]
    return Totals(
        scores,
        {name: differences[name] for name in compared.OUTCOMES},
        {name: outcomes[name] for name in claimed.OUTCOMES},
        sum(map(bool, contradicted)),
        pd.concat(chances, ignore_index=True),
    )
