"""What the methods and the protocol of a config need for data sets that are streams."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kernlearn.config.checks import Fault
from kernlearn.config.combinations import wanted
from kernlearn.config.entries import DatasetEntry, unfold
from kernlearn.config.methods import MethodEntry, components
from kernlearn.config.registry import Scope
from kernlearn.plugins import RegisteredEstimator

if TYPE_CHECKING:
    from kernlearn.config.model import ExperimentConfig

# Keys of the protocol that streams have others for.
_IN_MEMORY = ("train", "max_train", "max_test", "holdout", "validation")


def stream_config_faults(config: "ExperimentConfig") -> Iterator[Fault]:
    """Yield what does not go with streams, or with their lack."""
    streams = {label: e for label, e in config.datasets.items() if e.stream is not None}
    if not streams:
        for label, method in config.methods.items():
            if method.in_memory is not None:
                yield ("methods", label, "in_memory"), "is for streams; no data set is one"
        return
    protocol = config.protocol
    if protocol.compare_once:
        yield ("protocol", "compare_once"), "compares rows in memory, and data sets are streams"
    if protocol.scale_target is not None:
        yield ("protocol", "scale_target"), "is learnt from rows in memory"
    if len(streams) == len(config.datasets):
        for key in _IN_MEMORY:
            if key in protocol.model_fields_set:
                yield ("protocol", key), "is for data in memory; `stream` says what is held out"
    for name in sorted(config.named_metrics):
        metric = config.scope.metrics.get(name)
        if metric is not None and metric.scorer and name in config.metrics:
            where = ("metrics", config.metrics.index(name))
            yield where, f"{name} is a scorer of rows in memory, and data sets are streams"
    for label, method in config.methods.items():
        used = {
            name: entry
            for name, entry in streams.items()
            if wanted(config, {"dataset": name, "method": label})
        }
        if used:
            found = _method_faults(method, used, config.scope)
            yield from ((("methods", label, *path), text) for path, text in found)


def _method_faults(
    method: MethodEntry, streams: dict[str, DatasetEntry], scope: Scope
) -> Iterator[Fault]:
    if any(grid for name in streams for _, grid in unfold(method.parameters, name)):
        yield (
            (),
            (
                "`select` chooses by rows in memory; for a stream give values, several of them to "
                "an estimator that chooses by itself, such as alphas of OnePassRidge"
            ),
        )
    parts = [part for _, part in components(method, scope)]
    if method.in_memory or not parts or not all(part.installed for part in parts):
        divided = False
    else:
        last = parts[-1]
        divided = last.reads_rows
        if not last.reads_rows and not hasattr(last.load(), "partial_fit"):
            yield (), f"{last.name} needs its rows in memory, and {_listed(streams)}: {_ADVICE}"
            return
        yield from _step_faults(parts, method)
    if not divided:
        for name, entry in streams.items():
            if entry.stream is not None and entry.stream.workers is not None:
                what = "holds its rows" if method.in_memory else "reads its rows"
                yield (
                    (),
                    (
                        f"{what} in one process, and {name} has workers: leave the combination "
                        "out by `exclude`"
                    ),
                )


def _step_faults(parts: list[RegisteredEstimator], method: MethodEntry) -> Iterator[Fault]:
    if len(parts) > 1 and "feature_map" in parts[-1].parameters:
        label = method.labelled_steps[-1][0]
        if f"{label}__feature_map" in method.parameters:
            yield ("steps",), "the steps before the last are its feature_map: leave that out"


def _listed(streams: dict[str, DatasetEntry]) -> str:
    return f"{', '.join(streams)} {'is a stream' if len(streams) == 1 else 'are streams'}"


_ADVICE = (
    "take an estimator with partial_fit (OnePassRidgeClassifier, OnePassRidge, OLP), or say "
    "`in_memory: true`"
)
