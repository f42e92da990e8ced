"""The estimator of a method: a single one, or a pipeline of several steps."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kernlearn.config.registry import Scope
from kernlearn.plugins import RegisteredEstimator

#: The labels of the steps of a method with their estimators; that of a single one is empty.
Parts = Sequence[tuple[str, RegisteredEstimator]]


def make_method(
    scope: Scope,
    parts: Parts,
    parameters: Mapping[str, Any],
    grid: Mapping[str, Sequence[Any]] = MappingProxyType({}),
    *,
    former: bool = False,
) -> Any:
    """Make the estimator of a method: that of its only part, or a pipeline of all.

    Parameters
    ----------
    scope : Scope
    parts : sequence of (str, RegisteredEstimator)
    parameters : mapping
        Parameters, those of a step after its label and ``__``.
    grid : mapping of str to sequence
        Candidates for further parameters, of which the estimator must be able to take any.
    former : bool, default=False
        Whether parameters that are not given have the defaults of the papers' experiments.
    """
    # an estimator that is to try kernels is made with the first of them
    kernels = {
        name: next((v for v in values if isinstance(v, Mapping) and "kernel" in v), None)
        for name, values in grid.items()
    }
    given = {**parameters, **{name: value for name, value in kernels.items() if value}}
    steps: list[tuple[str, Any]] = []
    for label, component in parts:
        prefix = f"{label}__" if label else ""
        own = {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
        own = {**component.pinned, **own} if former else own
        steps.append((label, scope.make(component, own)))
    if not steps[0][0]:
        return steps[0][1]
    from sklearn.pipeline import Pipeline

    return Pipeline(steps)


def made_values(scope: Scope, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters with the kernels that mappings among them describe."""
    return {key: scope.made(key.rpartition("__")[2], value) for key, value in parameters.items()}
