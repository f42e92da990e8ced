"""From an experiment to its trials, the unit of work, of caching and of failure."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config import (
    ExperimentConfig,
    KernelEntry,
    LoadedExperiment,
    MethodEntry,
)
from kernlearn.experiments.registry import ESTIMATORS, KERNELS, kernel_parameter
from kernlearn.experiments.sources import dataset_variants
from kernlearn.experiments.values import unfold, varied

if TYPE_CHECKING:
    from kernlearn.datasets import Card

# Settings that are part of a key only where they are given: keys made before they came still hold.
_LATER = ("folds", "holdout", "scale_target", "select_by_mean")

# Raised when the way a trial is carried out changes its numbers.
_TRIAL_VERSION = 1


@dataclass(frozen=True)
class Trial:
    """One data set, kernel, method, set of parameters and split.

    Attributes
    ----------
    key : str
        Hash of ``spec``: the same key means the same numbers.
    experiment : str
        Name of the experiment that asked for it.
    labels : dict
        What tables and figures call it: ``dataset``, ``kernel``, ``method`` and the
        varied parameters.
    spec : dict
        All that determines the numbers, JSON-ready.
    source : dict
        Where the data comes from on this machine; ``spec`` holds what it is.
    """

    key: str
    experiment: str
    labels: dict[str, Any]
    spec: dict[str, Any]
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def split(self) -> int:
        """Number of the split, from 0."""
        return int(self.spec["split"])

    def __str__(self) -> str:
        parts = [f"{v}" if k in ("dataset", "kernel", "method") else f"{k}={v}"
                 for k, v in self.labels.items() if v is not None]  # fmt: skip
        return " · ".join([*parts, f"split {self.split + 1}"])


@dataclass(frozen=True)
class Plan:
    """The trials of an experiment, in the order of its table.

    Attributes
    ----------
    experiment : LoadedExperiment
    trials : list of Trial
    left_out : list of str
        Labels of data sets that were not found and are left out.
    not_installed : list of str
        Labels of methods that are left out since their library is not installed.
    axes : list of str
        The varied parameters among the labels.
    """

    experiment: LoadedExperiment
    trials: list[Trial]
    left_out: list[str] = field(default_factory=list)
    not_installed: list[str] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)


def canonical(value: Any) -> str:
    """Write a value as JSON that does not depend on order or on ``1`` against ``1.0``."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value


def make_plan(
    experiment: LoadedExperiment,
    *,
    data_dir: Path | None = None,
    available: bool = False,
) -> Plan:
    """Unfold an experiment into trials.

    Parameters
    ----------
    experiment : LoadedExperiment
    data_dir : Path, optional
        Where data is looked for first.
    available : bool, default=False
        Leave out data sets that are not found instead of refusing to plan.

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        If data sets are missing; the message lists every one and where it is published.
    """
    from kernlearn.datasets import missing_message

    config = experiment.config
    missing = missing_datasets(config, data_dir)
    needed = missing_datasets(config, data_dir, needed=True)
    if needed and not available:
        raise DataError(missing_message(list(needed.values()), data_dir))
    trials = [
        _trial(experiment, labels, spec, source, split)
        for labels, spec, source in _cells(experiment, list(missing), data_dir)
        for split in range(config.protocol.splits)
    ]
    absent = [k for k, m in config.methods.items() if not ESTIMATORS[m.estimator].installed]
    return Plan(experiment, trials, list(missing), absent, _axes(config))


def missing_datasets(
    config: ExperimentConfig, data_dir: Path | None = None, *, needed: bool = False
) -> "dict[str, Card]":
    """Return the cards of an experiment's data sets that are not found, by label.

    With ``needed`` without those that are optional.
    """
    from kernlearn.datasets import find_card, locate

    asked = {k: d for k, d in config.datasets.items() if not (needed and d.optional)}
    named = {k: d.name or k for k, d in asked.items() if d.is_published}
    cards = {label: find_card(name, data_dir) for label, name in named.items()}
    return {label: card for label, card in cards.items() if locate(card, data_dir) is None}


def _axes(config: ExperimentConfig) -> list[str]:
    entries = [*config.datasets.values(), *config.kernels.values(), *config.methods.values()]
    return list(dict.fromkeys(name for entry in entries for name in varied(entry.parameters)))


def _trial(
    experiment: LoadedExperiment,
    labels: dict[str, Any],
    spec: dict[str, Any],
    source: dict[str, Any],
    split: int,
) -> Trial:
    full = {**spec, "split": split}
    return Trial(trial_key(full), experiment.name, labels, full, source)


def trial_key(spec: Mapping[str, Any]) -> str:
    """Return the key of a trial's specification, split included."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()[:24]


def _cells(
    experiment: LoadedExperiment, left_out: list[str], data_dir: Path | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield the labels, the specification and the data's source of every cell of the table."""
    config = experiment.config
    protocol = config.protocol.model_dump(exclude={"splits", "scale"})
    protocol = {k: v for k, v in protocol.items() if v is not None or k not in _LATER}
    for name, entry in config.datasets.items():
        if name in left_out:
            continue
        scale = config.protocol.scale if entry.scale is None else entry.scale
        for data_labels, data, source in dataset_variants(
            name, entry, experiment.path.parent, data_dir
        ):
            shared = {
                "version": _TRIAL_VERSION,
                "task": config.task,
                "dataset": data,
                "protocol": {**protocol, "scale": scale},
            }
            for method_labels, method in _kernels_and_methods(config, name, "pairwise" in data):
                labels = {"dataset": name, **method_labels, **data_labels}
                if wanted(config, labels):
                    yield labels, {**shared, **method}, source


def _kernels_and_methods(
    config: ExperimentConfig, dataset: str, pairwise: bool
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    axes = _axes(config)
    # a matrix of similarities needs no kernel
    kernels = [(None, None)] if pairwise else _kernel_variants(config)
    # a feature map is compared with a kernel even if it has one of its own
    compares = config.task == "kernel_approximation"
    for i, (kernel_label, kernel) in enumerate(kernels):
        for label, entry in config.methods.items():
            if not ESTIMATORS[entry.estimator].installed or (i > 0 and not _needs_kernel(entry)):
                continue
            met = (kernel_label, kernel) if compares or _needs_kernel(entry) else (None, None)
            for fixed, grid in unfold(entry.parameters, dataset):
                labels = {"kernel": met[0], "method": label}
                labels |= {k: fixed[k] for k in axes if k in fixed}
                method = _component(ESTIMATORS, entry.estimator, fixed)
                yield labels, {"kernel": met[1], "method": {**method, "select": grid}}


def _needs_kernel(entry: MethodEntry) -> bool:
    """Whether a method runs under every kernel; one that takes none, or its own, runs once."""
    name = kernel_parameter(ESTIMATORS[entry.estimator])
    return name is not None and name not in entry.parameters


def _component(known: Mapping[str, Any], name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "version": known[name].version, "parameters": parameters}


def _kernel_variants(
    config: ExperimentConfig,
) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    if not config.kernels:
        yield None, None
    for label, entry in config.kernels.items():
        yield from _unfold_kernel(label, entry)


def _unfold_kernel(label: str, entry: KernelEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    variants = unfold(entry.parameters)
    names = varied(entry.parameters)
    for parameters, _ in variants:
        values = ", ".join(f"{k}={parameters[k]}" for k in names)
        yield (f"{label} ({values})" if values else label,
               _component(KERNELS, entry.kernel, parameters))  # fmt: skip


def wanted(config: ExperimentConfig, labels: Mapping[str, Any]) -> bool:
    """Whether ``only``, if it is given, lets a combination of labels pass."""
    return not config.only or any(
        all(labels.get(k) == v for k, v in match.items()) for match in config.only
    )
