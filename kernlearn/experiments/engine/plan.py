"""Plans: the trials of an experiment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config.entries import MethodEntry, unfold, varied
from kernlearn.experiments.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.experiments.engine.sources import StoredDataset, Variant, dataset_variants
from kernlearn.experiments.engine.spec import (
    TRIAL_VERSION,
    KernelSpec,
    MethodSpec,
    MetricSpec,
    ProtocolSpec,
    Trial,
    TrialSpec,
    split_keys,
)
from kernlearn.experiments.registry import Scope
from kernlearn.registration import RegisteredEstimator

if TYPE_CHECKING:
    from kernlearn.datasets import Card, Found


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
        Labels of data sets that were not found but are known from a store. Their trials can be
        reported, but not run.
    not_installed : list of str
        Labels of methods that are left out because their library is not installed.
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
    located: "Mapping[str, Found | Card] | None" = None,
) -> Plan:
    """Expand an experiment into trials.

    Parameters
    ----------
    experiment : LoadedExperiment
    data_dir : Path, optional
        Folder to search for data first.
    available : bool, default=False
        Leave out data sets that are not found instead of refusing to plan.
    stored : mapping of str to sequence of StoredDataset, optional
        What a store records of data sets, by name, for those that are not found; from
        :meth:`~kernlearn.experiments.Store.datasets`.
    located : mapping of str to Found or Card, optional
        The result of :func:`locate_datasets`, if it is known.

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
    located = locate_datasets(config, data_dir) if located is None else located
    missing = missing_cards(located)
    variants = {
        label: list(dataset_variants(label, experiment, data_dir, stored.get(card.name, ())))
        for label, card in missing.items()
    }
    left_out = [label for label in missing if not variants[label]]
    needed = [missing[label] for label in left_out if not config.datasets[label].optional]
    if needed and not available:
        raise DataError(missing_message(needed, data_dir))
    variants |= {
        label: list(dataset_variants(label, experiment, data_dir, found=located.get(label)))
        for label in config.datasets
        if label not in missing
    }
    trials = [
        trial
        for labels, spec, source in _cells(config, variants)
        for trial in _splits(experiment, labels, spec, source)
    ]
    estimators = config.scope.estimators
    absent = [k for k, m in config.methods.items() if not estimators[m.estimator].installed]
    from_store = [label for label in missing if label not in left_out]
    return Plan(experiment, trials, left_out, from_store, absent, _axes(config))


def locate_datasets(
    config: ExperimentConfig, data_dir: Path | None = None
) -> "dict[str, Found | Card]":
    """Locate the published data sets of an experiment, by label.

    The value is the card alone for a data set that is not found.
    """
    from kernlearn.datasets import find_card, locate

    cards = {label: find_card(name, data_dir) for label, name in config.published.items()}
    return {label: locate(card, data_dir) or card for label, card in cards.items()}


def missing_cards(located: "Mapping[str, Found | Card]") -> "dict[str, Card]":
    """Return the cards of the data sets that are not found."""
    from kernlearn.datasets import Card

    return {label: card for label, card in located.items() if isinstance(card, Card)}


def missing_datasets(
    config: ExperimentConfig, data_dir: Path | None = None, *, needed: bool = False
) -> "dict[str, Card]":
    """Return the cards of an experiment's data sets that are not found, by label.

    With ``needed`` without those that are optional.
    """
    missing = missing_cards(locate_datasets(config, data_dir))
    return {k: card for k, card in missing.items() if not (needed and config.datasets[k].optional)}


def _axes(config: ExperimentConfig) -> list[str]:
    entries = [*config.datasets.values(), *config.kernels.values(), *config.methods.values()]
    return list(dict.fromkeys(name for entry in entries for name in varied(entry.parameters)))


def _splits(
    experiment: LoadedExperiment, labels: dict[str, Any], spec: TrialSpec, source: dict[str, Any]
) -> Iterator[Trial]:
    """Yield the trials of a cell, one per split."""
    if spec.plugins:
        files = [[str(p.path), p.state] for p in experiment.config.scope.files]
        source = {**source, "plugins": files}
    splits, shared = range(experiment.config.protocol.splits), dict(vars(spec))
    for split, key in zip(splits, split_keys(spec, splits), strict=True):
        own = TrialSpec(**{**shared, "split": split})  # in half the time of dataclasses.replace
        yield Trial(key, experiment.name, labels, own, source)


def _cells(
    config: ExperimentConfig, variants: Mapping[str, Iterable[Variant]]
) -> Iterator[tuple[dict[str, Any], TrialSpec, dict[str, Any]]]:
    """Yield the labels, the specification and the data's source of every cell of the table."""
    settings = config.protocol.model_dump(exclude={"splits", "scale"})
    # kernlearn's own metrics are measured in any case
    own = config.scope.own_metrics(config.named_metrics)
    metrics = tuple(MetricSpec(metric.name, **metric.identity) for metric in own)
    for name, entry in config.datasets.items():
        scale = config.protocol.scale if entry.scale is None else entry.scale
        protocol = ProtocolSpec(**settings, scale=scale)
        methods = cache(partial(_kernels_and_methods, config, name))
        for data_labels, data, source in variants[name]:
            for method_labels, kernel, method in methods(data.pairwise is not None):
                labels = {"dataset": name, **method_labels, **data_labels}
                if wanted(config, labels):
                    spec = TrialSpec(
                        version=TRIAL_VERSION, task=config.task, dataset=data, kernel=kernel,
                        method=method, protocol=protocol, split=0, metrics=metrics,
                    )  # fmt: skip
                    yield labels, spec, source


def _kernels_and_methods(
    config: ExperimentConfig, dataset: str, pairwise: bool
) -> list[tuple[dict[str, Any], KernelSpec | None, MethodSpec]]:
    axes, scope, found = _axes(config), config.scope, []
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
            used = (kernel_label, kernel) if compares or needs else (None, None)
            for fixed, grid in unfold(entry.parameters, dataset):
                labels = {"kernel": used[0], "method": label}
                labels |= {k: fixed[k] for k in axes if k in fixed}
                method = MethodSpec(
                    entry.estimator, **component.identity, parameters=fixed, select=grid,
                    kernels=_own_kernels(fixed, scope),
                )  # fmt: skip
                found.append((labels, used[1], method))
    return found


def _needs_kernel(component: RegisteredEstimator, entry: MethodEntry) -> bool:
    """Whether a method runs with every kernel; one that takes none, or has its own, runs once."""
    return bool(component.takes) and component.takes not in entry.parameters


def _own_kernels(parameters: Mapping[str, Any], scope: Scope) -> dict[str, Any] | None:
    """Return the versions of plug-in kernels among a method's parameters, if there are any."""
    names = [v["kernel"] for v in parameters.values() if isinstance(v, Mapping) and "kernel" in v]
    kernels = [kernel for name in names if (kernel := scope.kernel(name))]
    return {kernel.name: kernel.identity for kernel in kernels if kernel.plugin} or None


def _kernel_variants(
    config: ExperimentConfig,
) -> Iterator[tuple[str | None, KernelSpec | None]]:
    if not config.kernels:
        yield None, None
    for label, entry in config.kernels.items():
        kernel = config.scope.kernel(entry.kernel)
        assert kernel is not None
        for parameters, _ in unfold(entry.parameters):
            values = ", ".join(f"{k}={parameters[k]}" for k in varied(entry.parameters))
            spec = KernelSpec(kernel.stored_name, **kernel.identity, parameters=parameters)
            yield f"{label} ({values})" if values else label, spec


def wanted(config: ExperimentConfig, labels: Mapping[str, Any]) -> bool:
    """Whether a combination of labels is run, as ``only`` says."""
    return not config.only or any(
        all(labels.get(k) == v for k, v in match.items()) for match in config.only
    )
