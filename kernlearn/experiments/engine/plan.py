"""Keys of trials: the same specification, the same key."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config.model import (
    ExperimentConfig,
    KernelEntry,
    LoadedExperiment,
    MethodEntry,
)
from kernlearn.experiments.config.values import unfold, varied
from kernlearn.experiments.engine.sources import StoredDataset, Variant, dataset_variants
from kernlearn.experiments.registry import Component, kernel_parameter
from kernlearn.experiments.scope import Scope

if TYPE_CHECKING:
    from kernlearn.datasets import Card


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


def trial_key(spec: Mapping[str, Any]) -> str:
    """Return the key of a trial's specification, split included."""
    return _digest(canonical(spec))


def split_keys(spec: Mapping[str, Any], splits: Iterable[int]) -> Iterator[str]:
    """Yield the keys of the splits of a cell; what they share is written once."""
    # the text that canonical gives, cut at the number of the split
    before = {k: v for k, v in spec.items() if k < "split"}
    after = {k: v for k, v in spec.items() if k > "split"}
    start = f'{canonical(before)[:-1]}{"," if before else ""}"split":'
    end = f"{',' if after else ''}{canonical(after)[1:]}"
    for split in splits:
        yield _digest(f"{start}{split}{end}")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


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
        Where the data and the plug-ins come from on this machine; ``spec`` holds what they are.
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
    stored : list of str
        Labels of data sets that were not found, and are here what they were when a store's
        trials were measured. Their trials can be reported, not run.
    not_installed : list of str
        Labels of methods that are left out since their library is not installed.
    axes : list of str
        The varied parameters among the labels.
    """

    experiment: LoadedExperiment
    trials: list[Trial]
    left_out: list[str] = field(default_factory=list)
    stored: list[str] = field(default_factory=list)
    not_installed: list[str] = field(default_factory=list)
    axes: list[str] = field(default_factory=list)


def make_plan(
    experiment: LoadedExperiment,
    *,
    data_dir: Path | None = None,
    available: bool = False,
    stored: Mapping[str, Sequence[StoredDataset]] = MappingProxyType({}),
) -> Plan:
    """Unfold an experiment into trials.

    Parameters
    ----------
    experiment : LoadedExperiment
    data_dir : Path, optional
        Where data is looked for first.
    available : bool, default=False
        Leave out data sets that are not found instead of refusing to plan.
    stored : mapping of str to sequence of StoredDataset, optional
        What data sets were when they were measured, by name, from
        :meth:`~kernlearn.experiments.Store.datasets`, for those that are not found.

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
    variants = {
        label: list(dataset_variants(label, experiment, data_dir, stored.get(card.name, ())))
        for label, card in missing.items()
    }
    left_out = [label for label in missing if not variants[label]]
    needed = [missing[label] for label in left_out if not config.datasets[label].optional]
    if needed and not available:
        raise DataError(missing_message(needed, data_dir))
    variants |= {
        label: list(dataset_variants(label, experiment, data_dir))
        for label in config.datasets
        if label not in missing
    }
    trials = [
        trial
        for labels, spec, source in _cells(config, variants)
        for trial in _splits(experiment, labels, spec, source)
    ]
    known = config.scope.estimators
    absent = [k for k, m in config.methods.items() if not known[m.estimator].installed]
    from_store = [label for label in missing if label not in left_out]
    return Plan(experiment, trials, left_out, from_store, absent, _axes(config))


def missing_datasets(
    config: ExperimentConfig, data_dir: Path | None = None, *, needed: bool = False
) -> "dict[str, Card]":
    """Return the cards of an experiment's data sets that are not found, by label.

    With ``needed`` without those that are optional.
    """
    from kernlearn.datasets import find_card, locate

    cards = {
        label: find_card(name, data_dir)
        for label, name in config.published.items()
        if not (needed and config.datasets[label].optional)
    }
    return {label: card for label, card in cards.items() if locate(card, data_dir) is None}


def _axes(config: ExperimentConfig) -> list[str]:
    entries = [*config.datasets.values(), *config.kernels.values(), *config.methods.values()]
    return list(dict.fromkeys(name for entry in entries for name in varied(entry.parameters)))


def _splits(
    experiment: LoadedExperiment,
    labels: dict[str, Any],
    spec: dict[str, Any],
    source: dict[str, Any],
) -> Iterator[Trial]:
    """Yield the trials of a cell, one a split."""
    if plugins_of(spec):
        files = [[str(p.path), p.state] for p in experiment.config.scope.files]
        source = {**source, "plugins": files}
    splits = range(experiment.config.protocol.splits)
    for split, key in zip(splits, split_keys(spec, splits), strict=True):
        yield Trial(key, experiment.name, labels, {**spec, "split": split}, source)


def plugins_of(spec: Mapping[str, Any]) -> set[str]:
    """Return the names of the plug-ins that a trial's specification draws on."""
    method = spec["method"]
    parts = [method, spec["kernel"] or {}, spec["dataset"], *spec.get("metrics", ())]
    parts += method.get("kernels", {}).values()
    return {part["plugin"] for part in parts if "plugin" in part}


def _cells(
    config: ExperimentConfig, variants: Mapping[str, Iterable[Variant]]
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yield the labels, the specification and the data's source of every cell of the table."""
    protocol = config.protocol.model_dump(exclude={"splits", "scale"})
    protocol = {k: v for k, v in protocol.items() if v is not None or k not in _LATER}
    # kernlearn's own are measured in any case
    own = config.scope.own_metrics(config.named_metrics)
    metrics = {"metrics": [metric.identity for metric in own]} if own else {}
    for name, entry in config.datasets.items():
        scale = config.protocol.scale if entry.scale is None else entry.scale
        for data_labels, data, source in variants[name]:
            shared = {
                "version": _TRIAL_VERSION,
                "task": config.task,
                "dataset": data,
                "protocol": {**protocol, "scale": scale},
                **metrics,
            }
            for method_labels, method in _kernels_and_methods(config, name, "pairwise" in data):
                labels = {"dataset": name, **method_labels, **data_labels}
                if wanted(config, labels):
                    yield labels, {**shared, **method}, source


def _kernels_and_methods(
    config: ExperimentConfig, dataset: str, pairwise: bool
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    axes, scope = _axes(config), config.scope
    # a matrix of similarities needs no kernel
    kernels = [(None, None)] if pairwise else _kernel_variants(config)
    # a feature map is compared with a kernel even if it has one of its own
    compares = config.task == "kernel_approximation"
    for i, (kernel_label, kernel) in enumerate(kernels):
        for label, entry in config.methods.items():
            component = scope.estimators[entry.estimator]
            needs = component.installed and _needs_kernel(component, entry)
            if not component.installed or (i > 0 and not needs):
                continue
            met = (kernel_label, kernel) if compares or needs else (None, None)
            for fixed, grid in unfold(entry.parameters, dataset):
                labels = {"kernel": met[0], "method": label}
                labels |= {k: fixed[k] for k in axes if k in fixed}
                method = _component(entry.estimator, component, fixed)
                method |= {"select": grid, **_own_kernels(fixed, scope)}
                yield labels, {"kernel": met[1], "method": method}


def _needs_kernel(component: Component, entry: MethodEntry) -> bool:
    """Whether a method runs under every kernel; one that takes none, or its own, runs once."""
    name = kernel_parameter(component)
    return name is not None and name not in entry.parameters


def _component(name: str, component: Component, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, **component.identity, "parameters": parameters}


def _own_kernels(parameters: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """Return what kernels of plug-ins among a method's parameters are; nothing without such."""
    given = [v["kernel"] for v in parameters.values() if isinstance(v, Mapping) and "kernel" in v]
    own = {name: scope.kernels[name].identity for name in given if scope.kernels[name].plugin}
    return {"kernels": own} if own else {}


def _kernel_variants(
    config: ExperimentConfig,
) -> Iterator[tuple[str | None, dict[str, Any] | None]]:
    if not config.kernels:
        yield None, None
    for label, entry in config.kernels.items():
        yield from _unfold_kernel(label, entry, config.scope)


def _unfold_kernel(
    label: str, entry: KernelEntry, scope: Scope
) -> Iterator[tuple[str, dict[str, Any]]]:
    variants = unfold(entry.parameters)
    names = varied(entry.parameters)
    for parameters, _ in variants:
        values = ", ".join(f"{k}={parameters[k]}" for k in names)
        yield (f"{label} ({values})" if values else label,
               _component(entry.kernel, scope.kernels[entry.kernel], parameters))  # fmt: skip


def wanted(config: ExperimentConfig, labels: Mapping[str, Any]) -> bool:
    """Whether ``only``, if it is given, lets a combination of labels pass."""
    return not config.only or any(
        all(labels.get(k) == v for k, v in match.items()) for match in config.only
    )
