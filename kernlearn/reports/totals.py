"""Counts of verdicts and of claims: per experiment and in total."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.reports import conclusions
from kernlearn.reports.claims import Decision, worst_outcome
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.significance import OUTCOMES
from kernlearn.reports.summary import is_cost, judged
from kernlearn.reports.verdicts import NOT_RUN, VERDICTS

#: Kinds of numbers: accuracies, errors and support vectors; seconds, memory and speed-ups; numbers
#: of rows and columns of data sets.
KINDS = SCORES, TIMES, SIZES = ("scores", "times", "sizes")

#: Measured, but no rule applies: times of another machine.
NOT_JUDGED = "not judged"

_VERDICTS = [*VERDICTS, NOT_JUDGED]


@dataclass(frozen=True)
class Measured:
    """The summary of an experiment, as measured or as read from a file, and what was judged."""

    experiment: LoadedExperiment
    summary: pd.DataFrame
    claims: Sequence[Decision] = ()
    conclusions: Sequence[Conclusion] = ()
    chances: Sequence[Chance] = ()


@dataclass(frozen=True)
class Totals:
    """Counts of verdicts and of claims.

    ``numbers`` has one row per experiment and kind of number that have reported numbers:
    ``experiment``, ``kind``, ``variant_of`` (empty for none), ``reported``, then the verdicts and
    ``not judged``, which add up to ``reported``. ``claims`` has one row per experiment that has
    claims: ``experiment``, ``variant_of``, ``claims``, then the number of each outcome.
    ``conclusions`` has one row per experiment and metric with differences that the paper shows:
    ``experiment``, ``metric``, ``variant_of``, ``differences``, then the number of each outcome.
    ``chances`` has the fields of :class:`~kernlearn.reports.conclusions.Chance`, and ``beaten``.
    ``sentences`` has the outcome of each claim by its section and text: a sentence that several
    experiments test counts once, with its worst outcome; ``contradicted`` are those of them
    that the paper's own numbers contradict.
    """

    numbers: pd.DataFrame
    claims: pd.DataFrame
    conclusions: pd.DataFrame
    chances: pd.DataFrame
    sentences: dict[tuple[str, str], str]
    contradicted: frozenset[tuple[str, str]] = frozenset()

    def overall(self) -> pd.DataFrame:
        """Return the sums over all experiments, one row per kind of number.

        Variants measure numbers a second time that are counted already, and are left out.
        """
        counted = self.numbers[self.numbers["variant_of"] == ""]
        sums = counted.groupby("kind")[["reported", *_VERDICTS]].sum()
        return sums.reindex([kind for kind in KINDS if kind in sums.index]).reset_index()

    def overall_claims(self) -> dict[str, int]:
        """Return how many claims have each outcome, without variants."""
        counts = Counter(self.sentences.values())
        return {name: counts[name] for name in OUTCOMES}

    def overall_conclusions(self) -> dict[str, int]:
        """Return how many reported differences have each outcome, without variants."""
        counted = self.conclusions[self.conclusions["variant_of"] == ""]
        return {name: int(counted[name].sum()) for name in conclusions.OUTCOMES}

    def in_words(self) -> list[str]:
        """Return up to five sentences on the reported scores, their differences and the claims."""
        sentences = []
        for row in self.overall().to_dict("records"):
            if row["kind"] == SCORES:
                given = [f"{row[v]} {v}" for v in _VERDICTS if v != NOT_RUN and row[v]]
                sentences.append(
                    f"Of {row['reported']} reported scores {row['reported'] - row[NOT_RUN]} were "
                    f"measured: {', '.join(given) or 'none'}."
                )
        sentences += self._beyond_chance("match", "The matches")
        if n := sum((counts := self.overall_conclusions()).values()):
            what = "differences between methods that the papers' tables show"
            sentences.append(f"Of {n} {what}: {_listed(counts)}.")
        sentences += self._beyond_chance("shown", "The differences shown")
        if n := sum((counts := self.overall_claims()).values()):
            k = len(self.contradicted)
            more = f"; the papers' own numbers contradict {k}" if k else ""
            outcomes = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
            sentences.append(f"Outcomes of {n} claims: {outcomes}{more}.")
        return sentences

    def beyond_chance(self) -> list[str]:
        """Return up to two sentences that tell which counts chance does not explain."""
        shown = self._beyond_chance("shown", "The differences shown")
        return [*self._beyond_chance("match", "The matches"), *shown]

    def _beyond_chance(self, count: str, what: str) -> list[str]:
        """Say in how many tables a count is clearly greater than with the methods exchanged."""
        if self.chances.empty:
            return []
        of = self.chances[(self.chances["count"] == count) & (self.chances["variant_of"] == "")]
        if of.empty:
            return []
        named = of["experiment"] + " (" + of["metric"].str.replace("_", " ") + ")"
        beaten = ", ".join(named[of["beaten"]])
        return [
            f"{what} are clearly more than with the methods exchanged at random in "
            f"{of['beaten'].sum()} of {len(of)} tables{f': {beaten}' if beaten else ''}."
        ]


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def kind_of(metric: str, config: ExperimentConfig) -> str:
    """Return under which of :data:`KINDS` a metric is counted."""
    if config.task == "dataset_statistics":
        return SIZES
    return TIMES if is_cost(metric, config) else SCORES


def total(measured: Iterable[Measured]) -> Totals:
    """Count verdicts and claims of experiments, each given once.

    Verdicts are computed again by the rules of the configs.
    """
    numbers, claims, differences, chances = [], [], [], []
    sentences: dict[tuple[str, str], str] = {}
    contradicted: set[tuple[str, str]] = set()
    for one in measured:
        config = one.experiment.config
        labels = {"experiment": one.experiment.name, "variant_of": config.variant_of or ""}
        reported = one.summary[one.summary["reported_mean"].notna()]
        kinds = [kind_of(metric, config) for metric in reported["metric"]]
        # without a rule a number is only measured or not
        verdicts = [verdict or NOT_JUDGED for verdict in judged(reported, config)]
        verdicts = np.where(reported["mean"].isna(), NOT_RUN, verdicts).tolist()
        counts = Counter(zip(kinds, verdicts, strict=True))
        for kind in KINDS:
            if kind in kinds:
                of_kind = {verdict: counts[kind, verdict] for verdict in _VERDICTS}
                numbers.append({**labels, "kind": kind, "reported": kinds.count(kind), **of_kind})
        if one.claims:
            outcomes = [decision.outcome for decision in one.claims]
            by_outcome = {name: outcomes.count(name) for name in OUTCOMES}
            claims.append({**labels, "claims": len(outcomes), **by_outcome})
        for decision in one.claims if config.variant_of is None else ():
            sentence = decision.section, decision.says
            outcomes = [decision.outcome, sentences.get(sentence, decision.outcome)]
            sentences[sentence] = worst_outcome(outcomes)
            contradicted |= {sentence} if decision.contradicted else set()
        for metric in dict.fromkeys(c.metric for c in one.conclusions):
            outcomes = [c.outcome for c in one.conclusions if c.metric == metric]
            by_outcome = {name: outcomes.count(name) for name in conclusions.OUTCOMES}
            row = {**labels, "metric": metric, "differences": len(outcomes)}
            differences.append({**row, **by_outcome})
        chances += [{**labels, **asdict(c), "beaten": c.beaten} for c in one.chances]
    heads = ["experiment", "kind", "variant_of", "reported", *_VERDICTS]
    return Totals(
        pd.DataFrame(numbers, columns=heads),
        pd.DataFrame(claims, columns=["experiment", "variant_of", "claims", *OUTCOMES]),
        pd.DataFrame(
            differences,
            columns=["experiment", "metric", "variant_of", "differences", *conclusions.OUTCOMES],
        ),
        pd.DataFrame(chances),
        sentences,
        frozenset(contradicted),
    )
