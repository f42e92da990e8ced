"""Entries of kernels and methods, and the checks of their parameters."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kernlearn.config.checks import Fault, Names
from kernlearn.config.components import component_faults, fit_faults, kernel_hint
from kernlearn.config.entries import FORMS, DatasetEntry, Entry, form_faults
from kernlearn.config.libraries import install_hint, name_fault
from kernlearn.config.registry import Scope
from kernlearn.config.spec import LABELS
from kernlearn.config.suggestions import suggestion
from kernlearn.datasets.yaml import KeyPath
from kernlearn.plugins import Kind, RegisteredEstimator


class KernelEntry(Entry):
    """A kernel with its parameters."""

    kernel: str = Field(description="its name, as `kernlearn list` has it")

    def _faults(self, names: Names) -> Iterator[Fault]:
        yield from form_faults(self.parameters)
        kernel = names.scope.kernel(self.kernel)
        if kernel is None:
            yield ("kernel",), f"no kernel {self.kernel!r}{kernel_hint(self.kernel, names.scope)}"
        elif not kernel.installed:
            yield ("kernel",), f"{self.kernel} is not installed: {install_hint(kernel)}"
        else:
            yield from component_faults(kernel, self.parameters, names)


class StepEntry(BaseModel):
    """A step of a pipeline: an estimator with its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    estimator: str = Field(description="its name, or the dotted name of its class")
    name: str | None = Field(
        default=None, description="label of the step; by default the name of the class, lower case"
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, step: Any) -> Any:
        return {"estimator": step} if isinstance(step, str) else step


class MethodEntry(Entry):
    """An estimator with its parameters, or a pipeline of several.

    A parameter is a value; a list, which gives one method per value; ``{select: [...]}``, of
    which the best value on validation data is taken; or ``{by_dataset: {name: value, default:
    value}}``.
    """

    estimator: str | None = Field(
        default=None, description="name of an estimator, or package.module.Class"
    )
    steps: list[StepEntry] | None = Field(
        default=None,
        description="the steps of a pipeline, instead of an estimator: names of estimators, or "
        "entries with parameters",
        min_length=1,
    )
    dense: bool | None = Field(
        default=None, description="make sparse data dense, for an estimator that refuses it"
    )
    in_memory: Literal[True] | None = Field(
        default=None,
        description="gather the rows of a stream in memory, for an estimator that needs them; its "
        "seconds and memory contain that",
    )
    baseline: bool = Field(
        default=False, description="not in the paper: shown under a separate heading"
    )
    optional: bool = Field(
        default=False, description="leave it out if its library is not installed"
    )
    shown_as: dict[str, str] = Field(
        default={},
        description="labels of parameters in results, by parameter: methods whose parameters mean "
        "the same, such as a number of columns, then share a label",
    )

    @property
    def labelled_steps(self) -> list[tuple[str, str]]:
        """The label and the name of the estimator of each step; "" for a single estimator."""
        if self.steps is None:
            return [("", self.estimator or "")]
        steps = [step.model_dump() for step in self.steps]
        names = [step.estimator for step in self.steps]
        return list(zip(_step_labels(steps), names, strict=True))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters; those of a step after its label and two underscores."""
        if self.steps is None:
            return super().parameters
        return flat({"steps": [step.model_dump() for step in self.steps]})

    @property
    def shown_parameters(self) -> dict[str, Any]:
        """The parameters under their labels in results."""
        return relabelled(self.parameters, self.shown_as)

    def _faults(self, names: Names) -> Iterator[Fault]:
        if self.steps is None and self.estimator is None:
            yield ("estimator",), "is missing"
            return
        parts: list[tuple[KeyPath, str, dict[str, Any]]]
        single = self.steps is None
        if self.steps is None:
            parts = [((), self.estimator or "", super().parameters)]
        else:
            if self.estimator is not None:
                yield (), "give estimator or steps"
            for key in self.model_extra or ():
                yield (key,), "is no key beside steps: give it to the step that it belongs to"
            labels = [label for label, _ in self.labelled_steps]
            for i, label in enumerate(labels):
                if label in labels[:i] or not label.replace("-", "_").isidentifier():
                    yield ("steps", i, "name"), f"{label!r}: a label of its own, without dots"
                elif "__" in label:
                    yield ("steps", i, "name"), f"{label!r}: a label without `__`"
            parts = [
                (("steps", i), step.estimator, dict(step.model_extra or {}))
                for i, step in enumerate(self.steps)
            ]
        for parameter, label in self.shown_as.items():
            if parameter not in self.parameters:
                text = f"is no parameter here{suggestion(parameter, self.parameters)}"
                yield ("shown_as", parameter), text
            elif label in LABELS or not label.isidentifier():
                yield ("shown_as", parameter), f"{label!r} cannot be a label: take another name"
            elif label != parameter and label in self.parameters:
                yield ("shown_as", parameter), f"{label!r} is a parameter of the method itself"
        found = []
        for place, name, parameters in parts:
            faults = self._part(name, parameters, names, single)
            found += [((*place, *path), text) for path, text in faults]
        yield from found
        if not found:
            yield from fit_faults(self.labelled_steps, self.parameters, names)

    def _part(
        self, name: str, parameters: dict[str, Any], names: Names, single: bool
    ) -> Iterator[Fault]:
        """Yield the faults of one estimator."""
        yield from form_faults(parameters, names.labels["datasets"], FORMS)
        estimator, dotted = names.scope.estimator(name), "." in name
        if dotted and not isinstance(estimator, RegisteredEstimator):
            yield ("estimator",), name_fault(name, names.scope.allowed_packages) or ""
        elif estimator is None:
            yield ("estimator",), f"no estimator {name!r}{names.scope.estimator_hint(name)}"
        elif not estimator.installed:
            if not self.optional:
                how = f"{install_hint(estimator)}, or make the method `optional`"
                yield ("estimator",), f"{estimator.name} is not installed: {how}"
        elif dotted and (text := name_fault(name, names.scope.allowed_packages)):
            yield ("estimator",), text
        else:
            yield from component_faults(estimator, parameters, names)
            # a similarity has a default, a kernel has none that would suit
            given = "kernel" in parameters or dotted
            no_kernel = not given and not (single and names.labels["kernels"])
            if estimator.takes == "kernel" and no_kernel:
                how = "add a section `kernels`" if single else "give the step one"
                yield (), f"{estimator.name} needs a kernel: {how}"


def components(entry: MethodEntry, scope: Scope) -> list[tuple[str, RegisteredEstimator]]:
    """Return the estimator of each step with the step's label, "" for a single estimator."""
    found = [(label, scope.estimator(name)) for label, name in entry.labelled_steps]
    return [(label, estimator) for label, estimator in found if estimator is not None]


def takes_kernel(entry: MethodEntry, scope: Scope) -> bool:
    """Whether a method takes a kernel of the config's section, rather than none or its own.

    It may be that of a plug-in that is broken.
    """
    estimator = scope.estimator(entry.estimator or "") if entry.steps is None else None
    if estimator is None:
        return entry.steps is None
    return bool(estimator.takes) and estimator.takes not in entry.parameters


def is_installed(entry: MethodEntry, scope: Scope) -> bool:
    """Whether the libraries that a method needs are installed."""
    return all(estimator.installed for _, estimator in components(entry, scope))


def flat(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's keys, with those of its steps after the step's label."""
    steps = entry.get("steps")
    if not isinstance(steps, list):
        return dict(entry)
    found = {key: value for key, value in entry.items() if key != "steps"}
    known = [step if isinstance(step, dict) else {"estimator": step} for step in steps]
    for label, step in zip(_step_labels(known), known, strict=True):
        own = {k: v for k, v in step.items() if k not in StepEntry.model_fields}
        found |= {f"{label}__{key}": value for key, value in own.items()}
    return found


def labelled(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's keys as :func:`flat`, its parameters under their labels in results."""
    found, shown = flat(entry), entry.get("shown_as")
    if not isinstance(shown, dict):
        return found
    return relabelled(found, shown)


def relabelled(parameters: Mapping[str, Any], labels: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters under other names, where there are some."""
    return {str(labels.get(name, name)): value for name, value in parameters.items()}


def _step_labels(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Label steps as scikit-learn's `make_pipeline` does, unless they have names."""
    labels = [
        str(step.get("name") or str(step.get("estimator")).rpartition(".")[2].lower())
        for step in steps
    ]
    return [
        label if labels.count(label) == 1 else f"{label}-{labels[: i + 1].count(label)}"
        for i, label in enumerate(labels)
    ]


#: Keys beside the name of a component, which none of its parameters can have.
RESERVED_KEYS: dict[Kind, set[str]] = {
    "estimator": set(MethodEntry.model_fields) - {"estimator"},
    "kernel": set(KernelEntry.model_fields) - {"kernel"},
    "dataset": set(DatasetEntry.model_fields),
    "metric": set(),
}
