"""The layout of an experiment's table: that of the config, with every parameter that varies."""

from collections.abc import Iterator, Mapping
from typing import Any

from kernlearn.config.entries import form_of
from kernlearn.config.model import ExperimentConfig, TableSpec


def table_layout(config: ExperimentConfig) -> TableSpec:
    """Return the layout of the table.

    Labels that tell results apart, the kernel and lists of parameters' values, are further labels
    of rows where the config's table does not name them: otherwise one of several results would
    stand for all.
    """
    spec = config.table or TableSpec()
    shown = {*spec.each, *spec.rows, *spec.columns}
    hidden = [label for label in _telling(config) if label not in shown]
    if not hidden:
        return spec
    # the kernel before the method, as in the order of the trials
    before = [label for label in hidden if label == "kernel"]
    at = spec.rows.index("method") if "method" in spec.rows else len(spec.rows)
    after = [label for label in hidden if label != "kernel"]
    return spec.model_copy(update={"rows": [*spec.rows[:at], *before, *spec.rows[at:], *after]})


def _telling(config: ExperimentConfig) -> list[str]:
    """Return the labels of which a data set, kernel or method has several values."""
    kernels = config.kernels.values()
    several = len(config.kernels) > 1 or any(_lists(entry.parameters) for entry in kernels)
    found = ["kernel"] if several else []
    for entry in (*config.datasets.values(), *config.methods.values()):
        found += _lists(entry.shown_parameters)
    return list(dict.fromkeys(found))


def _lists(parameters: Mapping[str, Any]) -> list[str]:
    """Return the parameters with several values for the same data set."""
    return [n for n, value in parameters.items() if any(len(v) > 1 for v in _given(value))]


def _given(value: Any) -> Iterator[list[Any]]:
    """Yield the lists of values among which a parameter varies."""
    if form_of(value) == "by_dataset":
        for choice in value["by_dataset"].values():
            yield from _given(choice)
    elif isinstance(value, list):
        yield value
