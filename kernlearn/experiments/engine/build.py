"""Data, kernel and estimator of a trial, built from its specification."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils import Bunch

from kernlearn.exceptions import DataError
from kernlearn.experiments.engine.protocol import random_state
from kernlearn.experiments.engine.sources import load_source
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.registry import Scope


@dataclass
class Outcome:
    """Metrics of a trial, and further information: chosen parameters, sizes, binarised classes."""

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def load_data(trial: Trial, scope: Scope, data_dir: Path | None) -> Bunch:
    """Load a trial's data and check that it is the data the trial was planned for."""
    seed = trial.spec.protocol.seed
    data = load_source(trial.source, data_dir, seed=seed, split=trial.split, scope=scope)
    planned = trial.spec.dataset.fingerprint
    if planned is not None and data.fingerprint != planned:
        raise DataError(
            f"{trial.labels['dataset']}: not the data that the trial was planned for (fingerprint "
            f"{data.fingerprint}, planned {planned}): it was changed since, a worker reads "
            "another copy, or a plug-in draws it at random without `random_state`"
        )
    return data


def build_kernel(trial: Trial, scope: Scope, X: Any, y: Any = None) -> Any:
    """Build the trial's kernel, with the bandwidth learnt before anything is timed."""
    spec = trial.spec.kernel
    if spec is None:
        return None
    component = scope.kernel(spec.name)
    assert component is not None
    kernel = component.load()(**spec.parameters)
    fitted = clone(kernel).fit(X, y)
    learnt = {name: getattr(fitted, f"{name}_", value) for name, value in spec.parameters.items()}
    return kernel.set_params(**learnt)


def build_estimator(trial: Trial, scope: Scope, kernel: Any, kind: str | None = None) -> Any:
    """Build the estimator, seeded by split; ``kind`` tells what a matrix of similarities holds."""
    spec = trial.spec.method
    component = scope.estimators[spec.name]
    estimator = scope.make(component, spec.parameters)
    parameters = estimator.get_params(deep=False)
    extra: dict[str, Any] = {}
    if "random_state" in parameters:
        extra["random_state"] = random_state(trial.spec.protocol.seed, "estimator", trial.split)
    if component.takes and component.takes not in spec.parameters:
        if kind is not None:
            extra[component.takes] = "precomputed"
        elif kernel is not None:
            extra[component.takes] = kernel
    if kind is not None and "kind" in parameters:
        extra["kind"] = kind
    return estimator.set_params(**extra)
