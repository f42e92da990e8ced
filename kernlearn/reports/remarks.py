"""What the trials of an experiment give cause to say: remarks, data, and chosen parameters."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.plan import Plan
from kernlearn.config.spec import LABELS, canonical
from kernlearn.config.trial import Trial
from kernlearn.datasets import catalogue
from kernlearn.reports.cells import reported_numbers
from kernlearn.reports.labels import cell_names
from kernlearn.store import Row

_NUMBER = re.compile(r"\d[\d.]*(e[+-]?\d+)?")


def remarks(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> list[str]:
    """Collect the remarks on the trials of a plan that have a row.

    These are how lists are searched, omitted data sets, missing or failed trials, warnings,
    changed plug-ins and times measured under contention.
    """
    infos = [r.info for _, r in known if r.done]
    of_done = f"of {len(infos)} trials"
    notes = []
    selects = any(trial.spec.method.select for trial in plan.trials)
    if selects and (chosen_by := plan.experiment.config.select_by):
        notes.append(f"select goes by {plan.experiment.config.scope.label(chosen_by)}")
    if plan.experiment.config.protocol.search == "halving":
        notes.append("parameters are chosen by successive halving (search: halving)")
    if omitted := reported_numbers(plan.experiment.config)[1]:
        notes.append(omitted)
    if plan.left_out:
        notes.append(f"left out, not found: {', '.join(plan.left_out)}")
    first = {str(row.error): trial for trial, row in reversed(known) if not row.done}
    for error, n in Counter(str(row.error) for _, row in known if not row.done).items():
        more = f" and {n - 1} more" if n > 1 else ""
        notes.append(f"failed: {first[error]}{more}: {error}")
    if missing := len(plan.trials) - len(known):
        notes.append(f"{missing} of {len(plan.trials)} trials not run yet")
    sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for trial, row in known:
        if "n_test" in row.info:
            sizes[trial.labels["dataset"]].append((row.info["n_train"], row.info["n_test"]))
    measured = {*plan.experiment.config.derived, *chain(*(row.metrics for _, row in known))}
    if infos and (others := [k for k in plan.experiment.config.metrics if k not in measured]):
        notes.append(f"no trial has measured {', '.join(others)}")
    if sizes:
        spans = {label: map(_span, zip(*of, strict=True)) for label, of in sizes.items()}
        texts = [f"{label} {' + '.join(parts)}" for label, parts in spans.items()]
        notes.append(f"rows of a split, training + test: {', '.join(texts)}")
    alike: dict[str, list[str]] = defaultdict(list)  # but for their numbers
    for info in infos:
        kinds = {_NUMBER.sub("0", text): text for text in info.get("warnings", {})}
        for kind, text in kinds.items():
            alike[kind].append(text)
    for texts in alike.values():
        such = ", such as" if len({*texts}) > 1 else ""
        notes.append(f"{len(texts)} {of_done} issued a warning{such}: {texts[0]}")
    lacking: dict[tuple[str, str], int] = Counter(
        one for info in infos for one in info.get("not_measured", {}).items()
    )
    for (metric, why), n in lacking.items():
        if metric in plan.experiment.config.named_metrics:
            notes.append(f"{n} {of_done} have no {metric}: {why}")
    if early := sum(not info.get("converged", True) for info in infos):
        notes.append(f"!: a solver of {early} {of_done} stopped early; the means are marked !")
    notes += plugin_changes(plan, (row for _, row in known))
    contended = sum(bool(info.get("contended")) for info in infos)
    if contended and plan.experiment.config.shows_times:
        notes.append(
            f"times of {contended} {of_done} were measured while other processes used the "
            "same cores; accuracies are not affected"
        )
    return notes


def _span(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low}–{high}"


def plugin_changes(plan: Plan, rows: Iterable[Row]) -> list[str]:
    """Say which plug-ins have changed since the trials of rows were measured."""
    state = plan.experiment.config.scope.state
    done = [row for row in rows if row.done]
    plugins = [plugin for row in done for plugin in row.info.get("plugins", {}).items()]
    changed = Counter(name for name, measured in plugins if measured != state(name))
    return [
        f"{name} has changed since {count} of {len(done)} trials were measured: if this changes "
        "their numbers, raise `version` in it, or run again with --force"
        for name, count in changed.items()
    ]


def open_ends(known: Sequence[tuple[Trial, Row]]) -> list[dict[str, Any]]:
    """Return how often scores still rise at an end of a list of numbers, for each method."""
    chosen = Counter((t.labels["method"], p) for t, r in known for p in r.info.get("selected", {}))
    of_method = Counter(t.labels["method"] for t, r in known if r.done)
    ends = Counter(
        (trial.labels["method"], name, end)
        for trial, row in known
        for name, end in row.info.get("open_ends", {}).items()
    )
    return [
        # of a method that chooses for each class its trials
        {
            **dict(zip(("method", "parameter", "end"), place, strict=True)),
            "rising": rising,
            "choices": chosen[place[:2]] or of_method[place[0]],
        }
        for place, rising in ends.items()
    ]


def prepared_data(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> dict[str, list[str]]:
    """Return what reading each data set of a plan has done to it, and its positive classes."""
    lines = {label: [*of_data] for label, of_data in plan.preparations.items()}
    # the same in all trials of a data set
    positive = {t.labels["dataset"]: r.info["positive"] for t, r in known if "positive" in r.info}
    for label, classes in positive.items():
        lines.setdefault(label, []).append(f"positive classes: {', '.join(map(str, classes))}")
    return lines


def data_facts(
    config: ExperimentConfig, prepared: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the facts on each data set of a config: from its card, and how it was prepared."""
    facts = {}
    for label, entry in config.datasets.items():
        lines: list[str] = []
        if entry.file is not None:
            lines.append(f"file {entry.file}")
        elif entry.generator is not None:
            values = {k: ", ".join(map(str, v.candidates)) for k, v in entry.parameters.items()}
            parameters = "".join(f", {k} {text}" for k, text in values.items())
            lines.append(f"drawn by the generator {entry.generator}{parameters}")
        elif (card := catalogue().get(entry.name or label)) is not None:
            rows = f"{card.rows} rows, " if card.rows else ""
            lines += [f"{card.title}: {rows}{card.n_features} features", *card.notes]
        if lines := [*lines, *prepared.get(label, ())]:
            facts[label] = lines
    return facts


def selections(splits: pd.DataFrame, axes: Iterable[str]) -> dict[str, Counter[str]]:
    """Return by the name of each cell how often validation selected which parameters."""
    labels = [*LABELS, *axes]
    trials = splits[splits["selected"].notna()].drop_duplicates([*labels, "split"])
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, selected in zip(cell_names(trials, labels, " · "), trials["selected"], strict=True):
        values = json.loads(selected).items()
        texts = [f"{k}={v if isinstance(v, str) else canonical(v)}" for k, v in values]
        counts[name][", ".join(texts)] += 1
    return counts
