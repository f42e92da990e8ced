"""Checks of names and values in a config, run by pydantic as validators.

The validation context carries :class:`Names`: everything that the parts of the config may refer
to. Without it only the form is checked.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from kernlearn.experiments.config.validated import ValidatedSettings
from kernlearn.experiments.config.values import FORMS, candidates, form_fault, form_of, varied
from kernlearn.experiments.config.yaml import KeyPath, shortened
from kernlearn.experiments.engine.spec import LABELS
from kernlearn.experiments.registry import Scope, suggestion
from kernlearn.registration import Registered

#: Where in a section a fault is, and what it is.
Fault = tuple[KeyPath, str]

# Far more than the rows of any table; longer products of lists would fill the memory.
_MAX_VARIANTS = 10_000

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Section(BaseModel):
    """A section of a config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass
class Names:
    """Everything that the parts of a config may refer to.

    Attributes
    ----------
    scope : Scope
    folder : Path
        Folder of the config.
    cards : list of str
        Names of published data sets and of the user's own cards.
    task : str
    labels : dict of str to list of str
        The labels under ``datasets``, ``kernels`` and ``methods``.
    axes : dict of str to list
        The varied parameters with all their values.
    derived : list of str
        The derived metrics.
    validated : ValidatedSettings
    renamed : dict of str to str
        Old names of kernels that the config uses, with the new ones.
    """

    scope: Scope
    folder: Path
    cards: list[str]
    task: str
    labels: dict[str, list[str]]
    axes: dict[str, list[Any]]
    derived: list[str]
    validated: ValidatedSettings
    renamed: dict[str, str] = field(default_factory=dict)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that the task can measure."""
        return self.scope.task_metrics(self.task)

    @property
    def all_labels(self) -> list[str]:
        """The labels of the results."""
        return [*LABELS, *self.axes]

    def metric_fault(self, metric: str) -> str | None:
        """Say why a name is neither a measured nor a derived metric, or return None."""
        allowed = [*self.metrics, *self.derived]
        if not self.metrics or metric in allowed:
            return None
        return f"no metric {metric!r} of {self.task}{self.scope.hint(metric, allowed)}"


def names_of(info: ValidationInfo) -> Names | None:
    """Return the names in the context of a validation, if there are any."""
    return (info.context or {}).get("names")


def refuse(faults: Iterable[Fault]) -> None:
    """Raise one ValidationError for all faults of a section, if there are any."""
    errors = [InitErrorDetails(type=fault(text), loc=path, input=None) for path, text in faults]
    if errors:
        raise ValidationError.from_exception_data("config", errors)


def fault(text: str, kind: Literal["fault", "name"] = "fault") -> PydanticCustomError:
    """Return the error of one fault; that of a "name" is reported for the list around it."""
    return PydanticCustomError(kind, "{text}", {"text": text})


def _label(value: str, info: ValidationInfo) -> str:
    names = names_of(info)
    if names is not None:
        _check_in(value, "label", names.all_labels)
    return value


def _table_label(value: str, info: ValidationInfo) -> str:
    names = names_of(info)
    if names is not None:
        _check_in(value, "label", [*names.all_labels, "metric"])
    return value


def _check_in(value: str, kind: str, allowed: Iterable[str]) -> None:
    if value not in allowed:
        raise fault(f"no {kind} {value!r}{suggestion(value, allowed)}", "name")


def _measured(value: str, info: ValidationInfo) -> str:
    names = names_of(info)
    if names is not None and names.metrics and value not in names.metrics:
        hint = names.scope.hint(value, names.metrics)
        raise fault(f"no measured metric {value!r} of {names.task}{hint}", "name")
    return value


def _metric(value: str, info: ValidationInfo) -> str:
    names = names_of(info)
    if names is not None and (text := names.metric_fault(value)):
        raise fault(text, "name")
    return value


def _method(value: str, info: ValidationInfo) -> str:
    names = names_of(info)
    if names is not None:
        _check_in(value, "method", names.labels["methods"])
    return value


def _combination(value: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    names = names_of(info)
    if names is not None:
        refuse(_combination_faults(value, names))
    return value


def _combination_faults(match: dict[str, str], names: Names) -> Iterator[Fault]:
    for key, name in match.items():
        if key not in LABELS:
            yield (key,), f"unknown key{suggestion(key, LABELS)}"
        elif name not in (labels := names.labels[f"{key}s"]):
            yield (key,), f"no {key} {name!r}{suggestion(name, labels)}"


#: A label of the results: dataset, kernel, method or a varied parameter.
Label = Annotated[str, AfterValidator(_label)]
#: A label, or "metric".
TableLabel = Annotated[str, AfterValidator(_table_label)]
#: A metric that the task can measure.
MeasuredMetric = Annotated[str, AfterValidator(_measured)]
#: A measured or derived metric.
MetricName = Annotated[str, AfterValidator(_metric)]
#: The label of a method.
MethodLabel = Annotated[str, AfterValidator(_method)]
#: Labels of a combination of data set, kernel and method.
Combination = Annotated[dict[str, str], AfterValidator(_combination)]


def dataset_faults(entry: Any, names: Names) -> Iterator[Fault]:
    """Yield the faults of a :class:`~kernlearn.experiments.config.model.DatasetEntry`."""
    scope, defaults = names.scope, {}
    if sum(getattr(entry, k) is not None for k in ("name", "file", "generator")) > 1:
        yield (), "give one of name, file and generator"
    if entry.target is not None and entry.file is None:
        yield ("target",), "goes with file: a card names its own target"
    if entry.generator is not None:
        if entry.generator not in scope.generators:
            hint = scope.hint(entry.generator, scope.generators)
            if entry.generator in names.cards or entry.generator in scope.datasets:
                hint = f"; it is a data set: give `name: {entry.generator}`"
            yield ("generator",), f"no generator {entry.generator!r}{hint}"
            return
        defaults = dict(scope.generators[entry.generator].parameters)
    elif entry.file is not None:
        if not _is_file(names.folder / entry.file):
            yield ("file",), f"no file {entry.file!r} in the config's folder, {names.folder}"
    elif entry.name in scope.datasets:
        defaults = dict(scope.datasets[entry.name].parameters)
    elif entry.name is not None and entry.name not in names.cards:
        hint = scope.hint(entry.name, [*names.cards, *scope.datasets])
        if entry.name in scope.generators:
            hint = f"; it is a generator: give `generator: {entry.name}`"
        yield (), f"no data set {entry.name!r} in the catalogue{hint}"
    yield from form_faults(entry.parameters)
    settable = [p for p in defaults if p != "random_state"]
    for key, value in entry.parameters.items():
        if key not in settable:
            yield (key,), f"unknown key{suggestion(key, [*type(entry).model_fields, *settable])}"
        elif form_fault(value, ("list",)) is None:
            yield from (((key,), text) for text in _type_faults(value, defaults[key]))


def _is_file(path: Path) -> bool:
    with suppress(OSError, ValueError):  # a name that no file can have
        return path.is_file()
    return False


def _type_faults(value: Any, default: Any) -> Iterator[str]:
    """Say which values of a generator's parameter are not of its default's type."""
    for type_, allowed, text in (
        (bool, bool, "true or false"), (int, int, "a whole number"),
        (float, (int, float), "a number"), (str, str, "text"),
    ):  # fmt: skip
        if type(default) is type_:
            for candidate in candidates(value):
                of_type = isinstance(candidate, allowed)
                if not of_type or (isinstance(candidate, bool) and type_ is not bool):
                    yield f"must be {text}, not {shortened(candidate)}"


def kernel_faults(entry: Any, names: Names) -> Iterator[Fault]:
    """Yield the faults of a :class:`~kernlearn.experiments.config.model.KernelEntry`."""
    yield from form_faults(entry.parameters)
    kernel = names.scope.kernel(entry.kernel)
    if kernel is None:
        hint = names.scope.hint(entry.kernel, names.scope.kernels)
        yield ("kernel",), f"no kernel {entry.kernel!r}{hint}"
    else:
        yield from component_faults(kernel, entry.parameters, names)


def method_faults(entry: Any, names: Names) -> Iterator[Fault]:
    """Yield the faults of a :class:`~kernlearn.experiments.config.model.MethodEntry`."""
    parameters = entry.parameters
    yield from form_faults(parameters, names.labels["datasets"], FORMS)
    estimator = names.scope.estimators.get(entry.estimator)
    if estimator is None:
        hint = names.scope.hint(entry.estimator, names.scope.estimators)
        yield ("estimator",), f"no estimator {entry.estimator!r}{hint}"
    elif not estimator.installed:
        if not entry.optional:
            command = f"pip install 'kernlearn[{estimator.extra}]'"
            text = f"{estimator.name} is not installed: {command}, or make the method `optional`"
            yield ("estimator",), text
    else:
        yield from component_faults(estimator, parameters, names)
        # a similarity has a default, a kernel has none that would suit
        no_kernel = "kernel" not in parameters and not names.labels["kernels"]
        if estimator.takes == "kernel" and no_kernel:
            yield (), f"{estimator.name} needs a kernel: add a section `kernels`"


def form_faults(
    parameters: Mapping[str, Any],
    datasets: Iterable[str] = (),
    forms: tuple[str, ...] = ("list",),
) -> Iterator[Fault]:
    """Yield a fault for every parameter whose value has the wrong form."""
    for key, value in parameters.items():
        wrong = form_fault(value, forms)
        if wrong:
            yield (key,), wrong
        elif form_of(value) == "by_dataset":
            choices = value["by_dataset"]
            for name in choices:
                if name != "default" and name not in datasets:
                    text = f"no data set {name!r} here{suggestion(name, [*datasets, 'default'])}"
                    yield (key, "by_dataset", name), text
            missing = [d for d in datasets if d not in choices]
            if missing and "default" not in choices:
                yield (key,), f"by_dataset gives no value for {', '.join(missing)}"
    variants = prod(len(v) for v in parameters.values() if isinstance(v, list))
    if variants > _MAX_VARIANTS:
        yield (), f"its lists make {variants} combinations; at most {_MAX_VARIANTS} are allowed"


def component_faults(
    component: Registered, parameters: Mapping[str, Any], names: Names
) -> Iterator[Fault]:
    """Yield the faults of the parameters of a component, unless they have been checked before."""
    if component.plugin or any(k.plugin for k in _kernels_in(parameters, names.scope)):
        yield from _parameter_faults(component, parameters, names.scope)
        return
    digest = names.validated.digest(component, parameters)
    if digest not in names.validated:
        faults = [*_parameter_faults(component, parameters, names.scope)]
        yield from faults
        if not faults:
            names.validated.add(digest)


def _kernels_in(value: Any, scope: Scope) -> Iterator[Registered]:
    """Yield the kernels that a value describes."""
    if isinstance(value, Mapping):
        kernel = value.get("kernel")
        if isinstance(kernel, str) and (known := scope.kernel(kernel)):
            yield known
    if isinstance(value, (Mapping, list)):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _kernels_in(part, scope)


def _parameter_faults(
    component: Registered, parameters: Mapping[str, Any], scope: Scope
) -> Iterator[Fault]:
    name = component.stored_name
    allowed = [p for p in component.settable if p != component.kind]
    for key, value in parameters.items():
        owner, _, nested = key.partition("__")
        if owner not in allowed:
            hint = suggestion(key, [*allowed, component.kind])
            yield (key,), f"{name} has no such parameter{hint}"
        elif nested:
            yield from _nested_faults(key, parameters.get(owner), value, scope)
        elif form_fault(value) is None:
            for candidate in candidates(value):
                faults = [*_value_faults(component, key, candidate, scope)]
                yield from faults
                if faults:
                    break


def _value_faults(component: Registered, key: str, value: Any, scope: Scope) -> Iterator[Fault]:
    """Check one value of a parameter, which may describe a kernel."""
    if isinstance(value, dict) and "kernel" in value:
        name, own = value["kernel"], {k: v for k, v in value.items() if k != "kernel"}
        if not isinstance(name, str):
            yield (key, "kernel"), f"must be the name of a kernel{suggestion('', scope.kernels)}"
            return
        kernel = scope.kernel(name)
        if kernel is None:
            yield (key, "kernel"), f"no kernel {name!r}{scope.hint(name, scope.kernels)}"
            return
        faults = [*form_faults(own), *_parameter_faults(kernel, own, scope)]
        yield from (((key, *path), text) for path, text in faults)
        if faults:
            return
    refused = scope.value_error(component, {key: value})
    if refused:
        yield (key,), refused


def _nested_faults(key: str, owner: Any, value: Any, scope: Scope) -> Iterator[Fault]:
    """Check the parameter of a kernel that is itself a parameter, such as ``kernel__degree``."""
    parameter, _, nested = key.partition("__")
    name = owner.get("kernel") if isinstance(owner, dict) else None
    if not isinstance(name, str):
        yield (key,), f"needs the kernel itself too, as `{parameter}: {{kernel: NAME}}`"
    elif (kernel := scope.kernel(name)) is not None:
        faults = _parameter_faults(kernel, {nested: value}, scope)
        yield from (((key,), text) for _, text in faults)


def with_stored_names(value: Any, names: Names) -> Any:
    """Return a parameter's value with the kernels in it under the names in the keys of trials."""
    if isinstance(value, list):
        return [with_stored_names(part, names) for part in value]
    if not isinstance(value, dict):
        return value
    value = {k: with_stored_names(v, names) for k, v in value.items()}
    if isinstance(value.get("kernel"), str):
        value["kernel"] = stored_name(value["kernel"], names)
    return value


def stored_name(name: str, names: Names) -> str:
    """Return the name of a kernel in the keys of trials, and note the use of an old name."""
    kernel = names.scope.kernel(name)
    if kernel is None:
        return name
    if name != kernel.name:
        names.renamed[name] = kernel.name
    return kernel.stored_name


def axes_of(entries: Iterable[Any], own_keys: Iterable[str]) -> dict[str, list[Any]]:
    """Return the varied parameters of entries of a config with all their values."""
    axes: dict[str, list[Any]] = {}
    for entry in entries:
        parameters = {k: v for k, v in entry.items() if k not in own_keys}
        for name in varied(parameters):
            value = parameters[name]
            values = axes.setdefault(name, [])
            values += candidates(value) if form_fault(value) is None else []
    return axes
