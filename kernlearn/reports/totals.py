"""Counts of verdicts, differences and claims over several experiments, in words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from kernlearn.checks import counted, listed
from kernlearn.reports import claims as claimed
from kernlearn.reports import differences as compared
from kernlearn.reports import verdicts
from kernlearn.reports.labels import cell_names, data_labels
from kernlearn.reports.report import Report


@dataclass(frozen=True)
class Totals:
    """Counts over several experiments.

    Attributes
    ----------
    numbers : pandas.DataFrame
        A row for each kind of number, with the columns of :func:`count_verdicts`.
    differences, claims : dict of str to int
        By outcome. A sentence that several experiments test counts once, with its worst outcome.
    contradicted : int
        How many of these claims the paper's own numbers contradict.
    chances : pandas.DataFrame
        Matches, and differences shown, of each table beside those of exchanged methods and data
        sets.
    """

    numbers: pd.DataFrame
    differences: dict[str, int]
    claims: dict[str, int]
    contradicted: int
    chances: pd.DataFrame

    def in_short(self) -> str:
        """Return one sentence on how many scores, differences and claims come back."""
        parts, absent = [], [*verdicts.UNMEASURED, verdicts.NOT_COMPARABLE]
        if verdicts.SCORES in self.numbers.index:
            row = self.numbers.loc[verdicts.SCORES].astype(int)
            if n := row["reported"] - row[absent].sum():
                parts.append(f"{row['match']} of {n} reported scores match")
        if n := sum(self.differences.values()) - self.differences.get(verdicts.NO_DATA, 0):
            k, reversed_ = self.differences["shown"], self.differences["reversed"]
            parts.append(f"{k} of {n} differences are shown, {reversed_ or 'none'} reversed")
        if n := sum(self.claims.values()):
            parts.append(f"{counted(n, 'claim')}{_listed(self.claims)}")
        return f"{'; '.join(parts)}." if parts else ""

    def in_words(self) -> list[str]:
        """Return sentences on reported scores, differences and claims."""
        texts = []
        if verdicts.SCORES in self.numbers.index:
            row = self.numbers.loc[verdicts.SCORES].astype(int)
            n, measured = row["reported"], row["reported"] - row[[*verdicts.UNMEASURED]].sum()
            counts = _listed(row.drop("reported").to_dict())
            texts.append(f"Of {n} reported scores {measured} were measured{counts}.")
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
    if short or metric is None or report.experiment.indicative or "n_samples" in config.axes:
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
    counts = [report.counts for report in reports]
    numbers = pd.concat(counts).groupby(level=0).sum() if counts else pd.DataFrame()
    # a source is a paper with its year in brackets, and what of it
    tested = [r.claims.assign(paper=r.experiment.config.source.split(")")[0]) for r in reports]
    claims = pd.concat([pd.DataFrame(columns=["paper", *claimed.COLUMNS]), *tested])
    texts = claims["on_reported"].astype(str)
    claims = claims.assign(contradicted=texts.str.startswith(claimed.CONTRADICTED))
    sentences = claims.groupby(["paper", "section", "says"]).agg(
        outcome=("outcome", lambda outcomes: claimed.worst_outcome([*outcomes])),
        contradicted=("contradicted", "any"),
    )
    outcomes = Counter(o for r in reports for o in r.differences["outcome"])
    chances = [pd.DataFrame(columns=compared.CHANCES), *(r.chances for r in reports)]
    return Totals(
        numbers.reindex([kind for kind in verdicts.KINDS if kind in numbers.index]),
        {name: outcomes[name] for name in compared.OUTCOMES},
        {name: int((sentences["outcome"] == name).sum()) for name in claimed.OUTCOMES},
        int(sentences["contradicted"].sum()),
        pd.concat(chances, ignore_index=True),
    )
