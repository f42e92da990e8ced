"""What a trial works on, from its specification: data, splits, kernel and estimator."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from kernlearn.config.data import make_data, read_data
from kernlearn.config.names import Scope
from kernlearn.config.trial import MethodSpec, Trial, TrialSpec
from kernlearn.config.values import canonical
from kernlearn.datasets.data import Data
from kernlearn.engine.preparation import Parts, prepare
from kernlearn.engine.splits import generator, random_state
from kernlearn.exceptions import DataError
from kernlearn.kernels import Kernel, as_kernel
from kernlearn.kernels.functions import OnKernel
from kernlearn.plugins import Registered

#: The values to be predicted of data, by a specification; a dict takes further information.
Target = Callable[[Data, TrialSpec, dict[str, Any]], np.ndarray]

# Kernels whose parameters are kept for the next trials, and these parameters.
_KEPT_KERNELS = 16
_learnt: dict[str, dict[str, Any]] = {}


@dataclass
class Outcome:
    """Metrics of a trial, and further information: chosen parameters, sizes, binarised classes."""

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def load_data(trial: Trial, scope: Scope) -> Data:
    """Load a trial's data, or draw it, and check that it is what the trial was planned for."""
    what, source, seed = trial.spec.dataset, trial.source, trial.spec.protocol.seed
    entry, parameters = what.entry, what.parameters or {}
    if entry.generator is not None:
        make = scope.generators[entry.generator]
        drawn = {**parameters, "random_state": random_state(seed, "data", trial.split)}
        data = make_data(make, source.numbers, drawn) if make.plugin else make.load()(**drawn)
    elif what.plugin is not None:
        data = make_data(scope.datasets[str(entry.name)], source.numbers, parameters)
    else:
        data = read_data(source.read)
    if entry.generator is None and what.fingerprint != data.identity:
        raise DataError(
            f"{trial.labels['dataset']}: not the data that the trial was planned for (fingerprint "
            f"{data.identity}, planned {what.fingerprint}): it was changed since, a worker "
            "reads another copy, or a plug-in draws it at random without `random_state`"
        )
    if entry.classes is not None:
        data = data.of_classes(entry.classes)
    if entry.sample is not None and entry.sample < (n_rows := data.data.shape[0]):
        rows = generator(seed, "sample").permutation(n_rows)[: entry.sample]
        data = data.rows(np.sort(rows))
    return data


def positive_classes(
    names: list[str], how: str | list[str] | None, seed: int, dataset: str
) -> list[str] | None:
    """Choose the classes that form the positive class.

    ``how`` is "random" for a random half (rounded down), which seed and data set determine, a
    list of classes, or None. Return None if the classes stay as they are.
    """
    if how is None or (how == "random" and len(names) <= 2):
        return None
    if how == "random":
        rng = generator(seed, f"binarize {dataset}")
        chosen = rng.choice(len(names), size=len(names) // 2, replace=False)
        return [names[i] for i in sorted(chosen)]
    if not {*how} <= {*names} or len(how) >= len(names):
        raise ValueError(f"binarize: {how} must be some, not all, of {', '.join(names)}")
    return list(how)


def naming_classes(scope: Scope, trial: Trial, data: Data) -> Scope:
    """Return a scope in which the labels of the data name their codes."""
    # none for a target that is a number
    labels = [0, 1] if trial.spec.dataset.entry.binarize is not None else data.target_names
    return replace(scope, classes={str(label): code for code, label in enumerate(labels)})


def load_parts(
    trial: Trial, scope: Scope, target: Target, info: dict[str, Any], *, whole: bool = False
) -> tuple[Data, Parts]:
    """Return a trial's data and its parts; `target` gives the values to predict.

    If `whole`, all rows are the training part.
    """
    data = load_data(trial, scope)
    y = target(data, trial.spec, info)
    raw = trial.spec.method.columns == "raw"
    split = None if whole else trial.split
    return data, prepare(data, y, trial.spec.protocol, split, raw=raw)


def _naming_nominal(kernel: Any, coded: Sequence[int]) -> Any:
    """Tell a similarity of mixed types which columns are codes, unless the config does."""
    if not coded or not (isinstance(kernel, Kernel) or kernel == "gower"):
        return kernel
    kernel = as_kernel(kernel)
    automatic = isinstance(getattr(kernel, "nominal", None), str)
    return clone(kernel).set_params(nominal=list(coded)) if automatic else kernel


def build_kernel(trial: Trial, scope: Scope, parts: Parts) -> Any:
    """Build the trial's kernel, with the bandwidth learnt before anything is timed.

    What is learnt serves all trials of a process on the same data, kernel and split.
    """
    spec, own = trial.spec, trial.spec.kernel
    if own is None:
        return None
    kernel = scope.make(scope.kernel(own.name), own.parameters)
    kernel = _naming_nominal(kernel, parts.coded)
    form = spec.method.columns, spec.method.dense, parts.coded
    place = spec.dataset, own, spec.protocol, trial.split, spec.task, form
    points = canonical(place)
    learnt = None if spec.plugins else _learnt.get(points)
    if learnt is None:
        fitted = clone(kernel).fit(parts.train.X, parts.train.y)
        # a function may be slow: its width is learnt once, whether it is named or not
        given = vars(kernel) if getattr(kernel, "compares", "") == "any" else own.parameters
        learnt = {name: getattr(fitted, f"{name}_", value) for name, value in given.items()}
        learnt["n_fit_comparisons"] = getattr(fitted, "n_fit_comparisons_", 0)
        _learnt[points] = learnt
        if len(_learnt) > _KEPT_KERNELS:
            del _learnt[next(iter(_learnt))]
    kernel.n_fit_comparisons_ = learnt["n_fit_comparisons"]
    # one that looks its values up has no others
    known = kernel.get_params(deep=False)
    return kernel.set_params(**{name: value for name, value in learnt.items() if name in known})


def build_estimator(trial: Trial, scope: Scope, kernel: Any, parts: Parts | None = None) -> Any:
    """Build the estimator, seeded by split, for the parts of the data, if it depends on these."""
    spec, steps = trial.spec.method, method_parts(scope, trial.spec.method)
    kind, coded = (None, ()) if parts is None else (parts.pairwise, parts.coded)
    estimator = scope.make_method(steps, spec.parameters, spec.select)
    parameters = estimator.get_params()
    state = random_state(trial.spec.protocol.seed, "estimator", trial.split)
    seeded = [name for name in parameters if name.rpartition("__")[2] == "random_state"]
    extra: dict[str, Any] = dict.fromkeys(seeded, state)
    metric = scope.metrics.get(trial.spec.protocol.select_by or "")
    if metric and metric.scorer and (trial.spec.task == "regression" or is_classifier(estimator)):
        # what an estimator chooses by itself goes by the same score
        own = [name for name in parameters if name.rpartition("__")[2] == "scoring"]
        extra |= {name: metric.scorer for name in own if parameters[name] is None}
    # the first step of a pipeline sees the data as it is; no step takes a kernel of the config
    label, component = steps[0]
    prefix = f"{label}__" if label else ""
    taken = f"{prefix}{component.takes}"
    if component.takes and taken not in {**spec.parameters, **spec.select}:
        value = "precomputed" if kind is not None else None if label else kernel
        if isinstance(value, Kernel) and component.foreign:
            estimator = OnKernel(estimator, value)
        elif value is not None:
            extra[taken] = value
    if taken in spec.parameters:
        extra[taken] = _naming_nominal(parameters[taken], coded)
    other = "kernel" if kind == "distance" else "metric"
    if kind is not None and f"{prefix}kind" in parameters:
        extra[f"{prefix}kind"] = kind
    elif kind is not None and {**parameters, **extra}.get(prefix + other) == "precomputed":
        raise ValueError(
            f"{component.name} needs a {other}, the matrix is a {kind}; SpectrumSVM, "
            "SimilarityKNNClassifier and RegLand take both"
        )
    return estimator.set_params(**extra)


def method_parts(scope: Scope, spec: MethodSpec) -> list[tuple[str, Registered]]:
    """Return the estimator of each step with the step's label, "" for a single estimator."""
    steps = spec.steps or [{"step": "", "name": spec.name}]
    return [(step["step"], scope.estimator(step["name"])) for step in steps]
