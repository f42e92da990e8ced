"""Counts of verdicts and of claims: per experiment and in total."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.reports.claims import Decision
from kernlearn.reports.significance import FAILS, HOLDS, UNDECIDED
from kernlearn.reports.summary import is_time, judged
from kernlearn.reports.verdicts import NOT_RUN, VERDICTS

#: Kinds of numbers: accuracies, errors and support vectors; seconds and speed-ups; numbers of
#: rows and columns of data sets.
KINDS = SCORES, TIMES, SIZES = ("scores", "times", "sizes")

#: Measured, but no rule applies: times of another machine.
NOT_JUDGED = "not judged"

OUTCOMES = (HOLDS, FAILS, UNDECIDED)

_VERDICTS = [*VERDICTS, NOT_JUDGED]


@dataclass(frozen=True)
class Measured:
    """The summary of an experiment, as measured or as read from a file, and its decided claims."""

    experiment: LoadedExperiment
    summary: pd.DataFrame
    claims: Sequence[Decision] = ()


@dataclass(frozen=True)
class Totals:
    """Counts of verdicts and of claims.

    ``numbers`` has one row per experiment and kind of number that have reported numbers:
    ``experiment``, ``kind``, ``variant_of`` (empty for none), ``reported``, then the verdicts and
    ``not judged``, which add up to ``reported``. ``claims`` has one row per experiment that has
    claims: ``experiment``, ``variant_of``, ``claims``, then ``holds``, ``fails`` and
    ``undecided``, which add up to ``claims``.
    """

    numbers: pd.DataFrame
    claims: pd.DataFrame

    def overall(self) -> pd.DataFrame:
        """Return the sums over all experiments, one row per kind of number.

        Variants measure numbers a second time that are counted already, and are left out.
        """
        counted = self.numbers[self.numbers["variant_of"] == ""]
        sums = counted.groupby("kind")[["reported", *_VERDICTS]].sum()
        return sums.reindex([kind for kind in KINDS if kind in sums.index]).reset_index()

    def overall_claims(self) -> dict[str, int]:
        """Return how many claims hold, fail and are undecided, without variants."""
        counted = self.claims[self.claims["variant_of"] == ""]
        return {name: int(counted[name].sum()) for name in OUTCOMES}

    def in_words(self) -> list[str]:
        """Return a sentence on the reported scores and one on the claims, if there are any."""
        sentences = []
        for row in self.overall().to_dict("records"):
            if row["kind"] == SCORES:
                given = [f"{row[v]} {v}" for v in _VERDICTS if v != NOT_RUN and row[v]]
                sentences.append(
                    f"Of {row['reported']} reported scores {row['reported'] - row[NOT_RUN]} were "
                    f"measured: {', '.join(given) or 'none'}."
                )
        claims = self.overall_claims()
        if sum(claims.values()):
            sentences.append(
                f"Of {sum(claims.values())} claims {claims[HOLDS]} hold, {claims[FAILS]} fail and "
                f"{claims[UNDECIDED]} are undecided."
            )
        return sentences


def kind_of(metric: str, config: ExperimentConfig) -> str:
    """Return under which of :data:`KINDS` a metric is counted."""
    if config.task == "dataset_statistics":
        return SIZES
    return TIMES if is_time(metric, config) else SCORES


def total(measured: Iterable[Measured]) -> Totals:
    """Count verdicts and claims of experiments, each given once.

    Verdicts are computed again by the rules of the configs.
    """
    numbers, claims = [], []
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
    heads = ["experiment", "kind", "variant_of", "reported", *_VERDICTS]
    return Totals(
        pd.DataFrame(numbers, columns=heads),
        pd.DataFrame(claims, columns=["experiment", "variant_of", "claims", *OUTCOMES]),
    )
