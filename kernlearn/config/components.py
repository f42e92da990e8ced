"""Checks of the parameters of estimators and kernels: each that is called valid has been made."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from inspect import Parameter
from typing import Any

from kernlearn.config.checks import Fault, Names
from kernlearn.config.entries import candidates, form_fault, form_faults
from kernlearn.config.libraries import install_hint
from kernlearn.config.measured import TASKS
from kernlearn.config.registry import Scope
from kernlearn.config.scorers import method_fault
from kernlearn.config.suggestions import suggestion
from kernlearn.kernels.registry import library_names, refusal
from kernlearn.plugins import Registered, RegisteredEstimator

# Packages whose versions the cache of what is valid knows.
_KNOWN_VERSIONS = ("kernlearn", "sklearn")


def kernel_hint(name: str, scope: Scope) -> str:
    """Suggest a kernel, or a dotted name of a similarity, for a name that is unknown."""
    if reason := refusal(name):
        return f"; {name} {reason}"
    return scope.hint(name, library_names() if "." in name else scope.kernels)


def component_faults(
    component: Registered, parameters: Mapping[str, Any], names: Names
) -> Iterator[Fault]:
    """Yield the faults of the parameters of a component, unless they are known to be valid."""
    settings = [component.kind, component.name, parameters]
    yield from _unless_known(
        _parameter_faults(component, parameters, names.scope), settings, [component], names
    )


def _unless_known(
    faults: Iterator[Fault], settings: Any, components: Sequence[Registered], names: Names
) -> Iterator[Fault]:
    """Yield faults, unless the settings are known to have none, and note if they have none."""
    may_change = any(c.plugin or not _has_known_version(c) for c in components)
    if may_change or _names_plugin_kernel(settings, names.scope):
        yield from faults
        return
    digest = sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    if digest not in names.checked:
        found = [*faults]
        yield from found
        if not found:
            names.checked.add(digest)


def _has_known_version(component: Registered) -> bool:
    return str(component.target).partition(":")[0].partition(".")[0] in _KNOWN_VERSIONS


def _names_plugin_kernel(value: Any, scope: Scope) -> bool:
    """Whether a value describes a kernel of a plug-in, which may change."""
    if isinstance(value, list):
        return any(_names_plugin_kernel(part, scope) for part in value)
    if not isinstance(value, Mapping):
        return False
    name = value.get("kernel")
    kernel = scope.kernel(name) if isinstance(name, str) else None
    return bool(kernel and kernel.plugin) or _names_plugin_kernel([*value.values()], scope)


def _parameter_faults(
    component: Registered, parameters: Mapping[str, Any], scope: Scope
) -> Iterator[Fault]:
    allowed = [p for p in component.settable if p != component.kind]
    required = {
        key: candidates(value)[0]
        for key, value in parameters.items()
        if component.parameters.get(key) is Parameter.empty and form_fault(value) is None
    }
    for key, value in parameters.items():
        owner, _, nested = key.partition("__")
        if owner not in allowed:
            hint = suggestion(key, [*allowed, component.kind])
            yield (key,), f"{component.name} has no such parameter{hint}"
        elif nested:
            yield from _nested_faults(key, parameters.get(owner), value, scope)
        elif form_fault(value) is None:
            found = (
                [*_value_faults(component, key, v, scope, required)] for v in candidates(value)
            )
            yield from next(filter(None, found), [])


def _value_faults(
    component: Registered, key: str, value: Any, scope: Scope, required: Mapping[str, Any]
) -> Iterator[Fault]:
    """Check one value of a parameter, which may describe a kernel.

    The parameters without default that are ``required`` are needed to check another one.
    """
    if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
        found = [fault for one in value for fault in _value_faults(component, key, one, scope, {})]
        described = [fault for fault in found if len(fault[0]) > 1]  # of a kernel itself
        yield from described
        if described:
            return
    if isinstance(value, dict) and "kernel" in value:
        name, own = value["kernel"], {k: v for k, v in value.items() if k != "kernel"}
        if not isinstance(name, str):
            yield (key, "kernel"), f"must be the name of a kernel{suggestion('', scope.kernels)}"
            return
        kernel = scope.kernel(name)
        if kernel is None:
            yield (key, "kernel"), f"no kernel {name!r}{kernel_hint(name, scope)}"
            return
        if not kernel.installed:
            yield (key, "kernel"), f"{name} is not installed: {install_hint(kernel)}"
            return
        faults = [*form_faults(own), *_parameter_faults(kernel, own, scope)]
        yield from (((key, *path), text) for path, text in faults)
        if faults:
            return
    if refused := scope.value_error(component, {**required, key: value}):
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


def fit_faults(
    steps: Sequence[tuple[str, str]], parameters: Mapping[str, Any], names: Names
) -> Iterator[Fault]:
    """Yield what is wrong with a method that is made, for the task and the metrics.

    It is made with every value of its parameters, the others at their first values.
    """
    found = [(label, names.scope.estimator(name)) for label, name in steps]
    parts = [(label, one) for label, one in found if one is not None and one.installed]
    if len(parts) == len(steps):
        settings = ["method", list(steps), parameters, names.task, sorted(names.metrics)]
        faults = _made_faults(parts, parameters, names)
        yield from _unless_known(faults, settings, [one for _, one in parts], names)


def _made_faults(
    parts: Sequence[tuple[str, RegisteredEstimator]], parameters: Mapping[str, Any], names: Names
) -> Iterator[Fault]:
    from kernlearn.config.compose import make_method
    from kernlearn.config.on_kernel import validate_params

    values = {key: candidates(value) for key, value in parameters.items()}
    first = {key: given[0] for key, given in values.items()}
    others = [{**first, key: v} for key, given in values.items() for v in given[1:]]
    for i, variant in enumerate([first, *others]):
        try:
            made = make_method(names.scope, parts, variant)
            validate_params(made)
        except Exception as error:  # of any library
            yield (), f"cannot be made: {str(error) or type(error).__name__}"
            return
        if i == 0:
            yield from (((), text) for text in _misfits(made, names))


def _class_name(estimator: Any) -> str:
    """Return the name of the class, of an estimator on a kernel of kernlearn its own."""
    from kernlearn.config.on_kernel import OnKernel

    own = estimator.estimator if isinstance(estimator, OnKernel) else estimator
    return type(own).__name__


def _misfits(estimator: Any, names: Names) -> Iterator[str]:
    """Say what an estimator lacks for the task and the metrics."""
    from sklearn.base import is_classifier, is_regressor

    task = TASKS.get(names.task)
    steps = [_class_name(step) for _, step in getattr(estimator, "steps", [("", estimator)])]
    name = steps[-1]
    for title, (_, step) in zip(steps[:-1], getattr(estimator, "steps", ()), strict=False):
        if not hasattr(step, "transform"):
            yield f"{title} has no method transform, which all steps but the last need"
    if task is None or not task.supervised:
        return
    with suppress(AttributeError, TypeError):  # a user-defined class may have no tags
        if names.task in ("classification", "bipartite_ranking") and is_regressor(estimator):
            yield f"{name} predicts numbers, and `task: {names.task}` needs classes"
        if names.task == "regression" and is_classifier(estimator):
            yield f"{name} predicts classes, and `task: regression` needs numbers"
    output = task.load().output
    if not hasattr(estimator, output):
        yield f"{name} has no method {output}, which `task: {names.task}` needs"
    metrics = (names.scope.metrics.get(metric) for metric in names.metrics)
    for metric in metrics:
        if metric is not None and (text := method_fault(metric, estimator, name)):
            yield text
