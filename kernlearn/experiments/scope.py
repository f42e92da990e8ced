"""The names that one config sees: kernlearn's, those of installed packages, its own files'."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kernlearn.experiments.config.values import unfold
from kernlearn.experiments.plugin_objects import OwnDataset, OwnMetric, Plugin
from kernlearn.experiments.registry import (
    ESTIMATORS,
    KERNELS,
    METRICS,
    TASK_METRICS,
    Component,
    Metric,
    suggestion,
)

if TYPE_CHECKING:
    from kernlearn.datasets import Generator


@dataclass(frozen=True, eq=False)
class Scope:
    """What the names in a config stand for.

    Attributes
    ----------
    estimators, kernels : mapping of str to Component
    metrics : mapping of str to Metric
    own_datasets : mapping of str to OwnDataset
        Those of plug-ins, generators too.
    plugins : tuple of Plugin
        Those of installed packages, then those that the config names.
    broken : tuple of str
        What is wrong with installed plug-ins that could not be loaded.
    """

    estimators: Mapping[str, Component] = field(default_factory=lambda: ESTIMATORS)
    kernels: Mapping[str, Component] = field(default_factory=lambda: KERNELS)
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    own_datasets: Mapping[str, OwnDataset] = field(default_factory=dict)
    plugins: tuple[Plugin, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[Plugin, ...]:
        """The plug-ins that the config names."""
        return tuple(plugin for plugin in self.plugins if plugin.path is not None)

    @property
    def generators(self) -> "Mapping[str, Generator | OwnDataset]":
        """What draws data anew for every split, by name."""
        from kernlearn.datasets import generators

        own = {name: data for name, data in self.own_datasets.items() if data.is_generator}
        return {**generators(), **own}

    @property
    def datasets(self) -> Mapping[str, OwnDataset]:
        """The data sets of plug-ins that are loaded once, by name."""
        return {name: d for name, d in self.own_datasets.items() if not d.is_generator}

    def task_metrics(self, task: str) -> tuple[str, ...]:
        """Return the metrics that a task can measure; none for an unknown task."""
        own = (m for m in self.metrics.values() if isinstance(m, OwnMetric))
        names = (m.name for m in own if task in m.tasks)
        return (*TASK_METRICS[task], *names) if task in TASK_METRICS else ()

    def label(self, metric: str) -> str:
        """Return the head of a metric's column; a derived metric has its name."""
        known = self.metrics.get(metric)
        return metric.replace("_", " ") if known is None else known.label

    def better(self, metric: str) -> int:
        """Return 1 where more of a metric is better, -1 where less is, 0 where nobody knows."""
        known = self.metrics.get(metric)
        return 0 if known is None else known.better

    def own_metrics(self, names: Iterable[str]) -> list[OwnMetric]:
        """Return those of some metrics that are a plug-in's, by name."""
        found = (self.metrics.get(name) for name in sorted(set(names)))
        return [metric for metric in found if isinstance(metric, OwnMetric)]

    def state(self, plugin: str) -> str | None:
        """Return the state of a plug-in: the nearest of that name."""
        return next((p.state for p in reversed(self.plugins) if p.name == plugin), None)

    def hint(self, word: str, known: Iterable[str]) -> str:
        """Say what was probably meant by an unknown name, and where else it may be from."""
        return "".join([suggestion(word, known), *(f"; {text}" for text in self.broken)])

    def built(self, name: str, value: Any) -> Any:
        """Make the kernel that a parameter's value describes; return any other value as it is.

        Parameters
        ----------
        name : str
            Name of the parameter; ``kernels`` gets a list.
        value : object
            ``{kernel: NAME, ...}`` describes a kernel, of which a list under one of its
            parameters makes several.

        Returns
        -------
        object
        """
        if not (isinstance(value, Mapping) and "kernel" in value):
            return value
        parameters = {k: v for k, v in value.items() if k != "kernel"}
        make = self.kernels[value["kernel"]].load()
        made = [make(**fixed) for fixed, _ in unfold(parameters)]
        if name == "kernels":
            return made
        if len(made) > 1:
            raise ValueError(f"'{name}' takes one kernel, got the parameters of {len(made)}")
        return made[0]

    def value_error(self, component: Component, parameters: Mapping[str, Any]) -> str | None:
        """Return why an estimator or kernel refuses parameter values, or None if it takes them."""
        # what a plug-in raises is its own affair
        expected = Exception if component.plugin else (ValueError, TypeError)
        try:
            instance = component.load()(**{k: self.built(k, v) for k, v in parameters.items()})
            # an estimator of one's own may say nothing of its parameters
            if hasattr(instance, "_parameter_constraints"):
                instance._validate_params()
        except expected as error:
            return str(error) or type(error).__name__
        return None


#: The names that kernlearn itself gives.
BUILT_IN = Scope()
