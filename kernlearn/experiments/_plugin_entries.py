"""What a plug-in registered, made into what experiments use."""

from collections.abc import Iterator, Sequence
from typing import Any

from kernlearn._registration import Kind, Registration
from kernlearn.exceptions import PluginError
from kernlearn.experiments.components import parameter_names
from kernlearn.experiments.config import DatasetEntry, KernelEntry, MethodEntry
from kernlearn.experiments.own import Entry, Own, OwnComponent, OwnDataset, OwnMetric

#: What messages call each kind.
CALLED: dict[Kind, str] = {
    "estimator": "estimator", "kernel": "kernel", "dataset": "data set", "metric": "metric",
}  # fmt: skip

# The keys beside a component's name in a config, which no parameter can have.
_KEYS: dict[Kind, set[str]] = {
    "estimator": set(MethodEntry.model_fields) - {"estimator"},
    "kernel": set(KernelEntry.model_fields) - {"kernel"},
    "dataset": set(DatasetEntry.model_fields),
    "metric": set(),
}


def entries_of(
    made: Sequence[Registration], plugin: str, file: str, shown: str
) -> Iterator[Entry]:
    """Yield what was registered, checked.

    Parameters
    ----------
    made : sequence of Registration
    plugin : str
        Name of the plug-in.
    file : str
        Of a file its path; empty for a package.
    shown : str
        What to call it in errors.

    Yields
    ------
    Entry

    Raises
    ------
    PluginError
        If a name comes twice, a parameter has the name of a config's own key, or a metric is
        for an unknown task.
    """
    seen: dict[tuple[Kind, str], int] = {}
    for one in made:
        where = f"{shown}:{one.line}: the {CALLED[one.kind]} {one.name!r}"
        if (one.kind, one.name) in seen:
            raise PluginError(f"{where} was registered on line {seen[one.kind, one.name]} already")
        seen[one.kind, one.name] = one.line
        what = _made(one, plugin, file)
        taken = _KEYS[one.kind] & _parameters(what)
        if taken:
            keys = ", ".join(sorted(taken))
            raise PluginError(
                f"{where} has a parameter {keys}, which is a config's own key; rename it"
            )
        if isinstance(what, OwnMetric):
            _check_tasks(what, where)
        yield Entry(one.kind, one.name, what, one.line)


def _made(one: Registration, plugin: str, file: str) -> Own:
    options = one.options
    if one.kind == "dataset":
        return OwnDataset(
            one.name, plugin, one.version, one.summary, one.target, options["similarity"], file
        )
    if one.kind == "metric":
        label = options["label"] or one.name.replace("_", " ")
        return OwnMetric(
            label, options["better"], one.name, plugin, one.version, options["tasks"], one.target
        )
    target: Any = one.target
    if not isinstance(target, type):
        from kernlearn.experiments._function_kernels import kernel_class

        target = kernel_class(target, one.name)
    path = f"{target.__module__}:{target.__qualname__}"
    return OwnComponent(path, one.version, one.summary, plugin=plugin, target=target)


def _parameters(what: Own) -> set[str]:
    if isinstance(what, OwnComponent):
        return set(parameter_names(what))
    return set(what.parameters) if isinstance(what, OwnDataset) else set()


def _check_tasks(metric: OwnMetric, where: str) -> None:
    from kernlearn.experiments.tasks import TASKS

    for task in metric.tasks:
        if task not in TASKS:
            known = ", ".join(TASKS)
            raise PluginError(f"{where} is for the task {task!r}; there are {known}")
