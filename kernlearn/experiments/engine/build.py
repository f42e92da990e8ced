"""What a trial's specification stands for: data, kernel, estimator; and what a trial gives."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils import Bunch

from kernlearn.exceptions import DataError
from kernlearn.experiments.engine.protocol import random_state
from kernlearn.experiments.engine.sources import load_source
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.registry import kernel_parameter
from kernlearn.experiments.scope import Scope


@dataclass
class Outcome:
    """What a trial gave.

    Attributes
    ----------
    metrics : dict of str to float
    info : dict
        What else a reader may ask: parameters chosen, classes binarised, sizes.
    """

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def load_data(trial: Trial, scope: Scope, data_dir: Path | None) -> Bunch:
    """Load a trial's data and see that it is what was planned for."""
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
    """Build a kernel, its bandwidth learnt: a parameter chosen before the clock runs."""
    spec = trial.spec.kernel
    if spec is None:
        return None
    kernel = scope.kernels[spec.name].load()(**spec.parameters)
    fitted = clone(kernel).fit(X, y)
    learnt = {name: getattr(fitted, f"{name}_", value) for name, value in spec.parameters.items()}
    return kernel.set_params(**learnt)


def build_estimator(trial: Trial, scope: Scope, kernel: Any, kind: str | None = None) -> Any:
    """Make the estimator, seeded by split; ``kind`` is what a matrix of similarities holds."""
    spec = trial.spec.method
    component = scope.estimators[spec.name]
    estimator = component.load()(**{k: scope.built(k, v) for k, v in spec.parameters.items()})
    seed = trial.spec.protocol.seed
    parameters = estimator.get_params(deep=False)
    takes = kernel_parameter(component)
    extra: dict[str, Any] = {}
    if "random_state" in parameters:
        extra["random_state"] = random_state(seed, "estimator", trial.split)
    if takes is not None and takes not in spec.parameters:
        if kind is not None:
            extra[takes] = "precomputed"
        elif kernel is not None:
            extra[takes] = kernel
    if kind is not None and "kind" in parameters:
        extra["kind"] = kind
    return estimator.set_params(**extra)
