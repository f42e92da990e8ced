"""From an experiment to its trials, the unit of work, of caching and of failure."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config import (
    DatasetEntry,
    ExperimentConfig,
    KernelEntry,
    LoadedExperiment,
    MethodEntry,
)
from kernlearn.experiments.registry import ESTIMATORS, KERNELS, takes_kernel
from kernlearn.experiments.values import unfold, varied

if TYPE_CHECKING:
    from kernlearn.datasets import Card

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
    """

    key: str
    experiment: str
    labels: dict[str, Any]
    spec: dict[str, Any]

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
    axes : list of str
        The varied parameters among the labels.
    """

    experiment: LoadedExperiment
    trials: list[Trial]
    left_out: list[str] = field(default_factory=list)
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
    if missing and not available:
        raise DataError(missing_message(list(missing.values()), data_dir))
    trials = [
        _trial(experiment, labels, spec, split)
        for labels, spec in _cells(
            config, [k for k in config.datasets if k not in missing], data_dir
        )
        for split in range(config.protocol.splits)
    ]
    return Plan(experiment, trials, list(missing), _axes(config))


def missing_datasets(config: ExperimentConfig, data_dir: Path | None = None) -> "dict[str, Card]":
    """Return the cards of an experiment's data sets that are not found, by label."""
    from kernlearn.datasets import catalogue, locate

    named = {k: d.name or k for k, d in config.datasets.items() if d.generator is None}
    cards = {label: catalogue()[name] for label, name in named.items()}
    return {label: card for label, card in cards.items() if locate(card, data_dir) is None}


def _axes(config: ExperimentConfig) -> list[str]:
    entries = [*config.datasets.values(), *config.kernels.values(), *config.methods.values()]
    return list(dict.fromkeys(name for entry in entries for name in varied(entry.parameters)))


def _trial(
    experiment: LoadedExperiment, labels: dict[str, Any], spec: dict[str, Any], split: int
) -> Trial:
    full = {**spec, "split": split}
    key = hashlib.sha256(canonical(full).encode()).hexdigest()[:24]
    return Trial(key, experiment.name, labels, full)


def _cells(
    config: ExperimentConfig, datasets: list[str], data_dir: Path | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the labels and the specification of every cell of the table."""
    protocol = config.protocol.model_dump(exclude={"splits", "scale"})
    axes = _axes(config)
    for name in datasets:
        entry = config.datasets[name]
        scale = config.protocol.scale if entry.scale is None else entry.scale
        for data_labels, data in _dataset_variants(name, entry, data_dir):
            for kernel_label, kernel in _kernel_variants(config):
                for method_label, method in config.methods.items():
                    if not _meets(config, method, kernel_label):
                        continue
                    for fixed, grid in unfold(method.parameters, name):
                        labels = {
                            "dataset": name,
                            "kernel": kernel_label,
                            "method": method_label,
                            **data_labels,
                            **{k: fixed[k] for k in axes if k in fixed},
                        }
                        if not _wanted(config, labels):
                            continue
                        yield (
                            labels,
                            {
                                "version": _TRIAL_VERSION,
                                "task": config.task,
                                "dataset": data,
                                "kernel": kernel,
                                "method": _component(ESTIMATORS, method.estimator, fixed)
                                | {"select": grid},
                                "protocol": {**protocol, "scale": scale},
                            },
                        )


def _component(known: Mapping[str, Any], name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "version": known[name].version, "parameters": parameters}


def _dataset_variants(
    label: str, entry: DatasetEntry, data_dir: Path | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    options = {"nominal": entry.nominal, "binarize": entry.binarize}
    if entry.generator is None:
        from kernlearn.datasets import load

        name = entry.name or label
        found = load(name, data_dir=data_dir, nominal=entry.nominal)
        yield {}, {"name": name, "fingerprint": found.fingerprint, **options}
        return
    for parameters, _ in unfold(entry.parameters):
        labels = {k: parameters[k] for k in varied(entry.parameters)}
        yield labels, {"generator": entry.generator, "parameters": parameters, **options}


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


def _meets(config: ExperimentConfig, method: MethodEntry, kernel_label: str | None) -> bool:
    """Whether a method runs under a kernel: one that takes none, or its own, runs once."""
    if kernel_label is None:
        return True
    own = "kernel" in method.parameters or not takes_kernel(ESTIMATORS[method.estimator])
    return not own or kernel_label == next(iter(config.kernels))


def _wanted(config: ExperimentConfig, labels: Mapping[str, Any]) -> bool:
    return not config.only or any(
        all(labels.get(k) == v for k, v in match.items()) for match in config.only
    )
