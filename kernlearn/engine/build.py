"""What a trial works on, from its specification: the data, the kernel and the estimator."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch

from kernlearn.config.names import Scope
from kernlearn.config.spec import DatasetSpec, MethodSpec, Source, Trial, canonical
from kernlearn.datasets import load
from kernlearn.datasets.unpacking import container
from kernlearn.engine.plugin_data import loaded_once, make_data
from kernlearn.engine.protocol import generator, random_state
from kernlearn.exceptions import DataError
from kernlearn.kernels import Kernel, as_kernel
from kernlearn.kernels.on_kernel import OnKernel
from kernlearn.plugins import RegisteredDataset, RegisteredEstimator

# Data sets kept in memory for the next trials; a run takes one after the other.
_KEPT = 4
# Kernels whose parameters are kept for the next trials, and these parameters.
_KEPT_KERNELS = 16
_learnt: dict[str, dict[str, Any]] = {}
# Estimators of scikit-learn that call a kernel once for all points.
_CALL_ONCE = ("SVC", "SVR")


@dataclass
class Outcome:
    """Metrics of a trial, and further information: chosen parameters, sizes, binarised classes."""

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def load_data(trial: Trial, scope: Scope, data_dir: Path | None) -> Bunch:
    """Load a trial's data, or draw it, and check that it is what the trial was planned for."""
    what, source, seed = trial.spec.dataset, trial.source or Source(), trial.spec.protocol.seed
    parameters = what.parameters or {}
    if what.generator is not None:
        make = scope.generators[what.generator]
        drawn = {**parameters, "random_state": random_state(seed, "data", trial.split)}
        if isinstance(make, RegisteredDataset):
            data = make_data(make, numbers=source.numbers, parameters=drawn)
        else:
            data = make(**drawn)
    elif what.name is not None and what.plugin is not None:
        data = plugin_data(scope.datasets[what.name], source, parameters)
    else:
        data = read_data(source.read, data_dir)
    if what.fingerprint not in (None, data.fingerprint):
        raise DataError(
            f"{trial.labels['dataset']}: not the data that the trial was planned for (fingerprint "
            f"{data.fingerprint}, planned {what.fingerprint}): it was changed since, a worker "
            "reads another copy, or a plug-in draws it at random without `random_state`"
        )
    return _part(data, what, seed)


def read_data(arguments: dict[str, Any], data_dir: Path | None) -> Bunch:
    """Load a data set of the catalogue or a file, or take it from the last trials."""
    stamp = None
    if isinstance(file := arguments["name"], Path):  # a user may edit it
        status = container(file).stat()
        stamp = (status.st_mtime_ns, status.st_size)
    return _load_once(stamp, data_dir=data_dir, **arguments)


@lru_cache(maxsize=_KEPT)
def _load_once(stamp: tuple[int, int] | None, **arguments: Any) -> Bunch:
    return load(**arguments)


def plugin_data(dataset: RegisteredDataset, source: Source, parameters: dict[str, Any]) -> Bunch:
    """Make the data set of a plug-in, or take it from the last trials."""
    return loaded_once(dataset, source.numbers, json.dumps(parameters))


def _part(data: Bunch, what: DatasetSpec, seed: int) -> Bunch:
    """Return the rows of the classes and of the sample that a trial takes."""
    n = data.data.shape[0]
    rows = np.arange(n)
    changed: dict[str, Any] = {}
    if what.classes is not None:
        names = [str(name) for name in data.target_names]
        unknown = [name for name in what.classes if name not in names]
        if unknown:
            have = f"has {', '.join(names)}" if names else "has no classes"
            raise DataError(f"classes: no class {', '.join(unknown)}; the data {have}")
        kept = sorted(names.index(name) for name in what.classes)
        rows = np.flatnonzero(np.isin(data.target, kept))
        changed["target_names"] = np.asarray(data.target_names)[kept]
    if what.sample is not None and what.sample < len(rows):
        rows = np.sort(generator(seed, "sample").permutation(rows)[: what.sample])
        changed |= {"sample": True, "note": f"a random part of {what.sample} of {n} rows"}
    if what.classes is None and what.sample is None:
        return data
    for name in ("data", "target", "fold", "query"):
        if data.get(name) is not None:
            changed[name] = data[name][rows]
    if what.classes is not None:
        changed["target"] = np.searchsorted(kept, changed["target"])
    return Bunch(**{**data, **changed})


def coded_columns(data: Bunch) -> list[int]:
    """Return the positions of the nominal columns that are codes."""
    coded = data.preparation.coded if data.get("preparation") is not None else {}
    return [i for i, name in enumerate(data.get("feature_names", ())) if name in coded]


def _naming_nominal(kernel: Any, coded: Sequence[int]) -> Any:
    """Tell a similarity of mixed types which columns are codes, unless the config does."""
    if not coded or not (isinstance(kernel, Kernel) or kernel == "gower"):
        return kernel
    kernel = as_kernel(kernel)
    automatic = isinstance(getattr(kernel, "nominal", None), str)
    return clone(kernel).set_params(nominal=list(coded)) if automatic else kernel


def build_kernel(
    trial: Trial, scope: Scope, X: Any, y: Any = None, coded: Sequence[int] = ()
) -> Any:
    """Build the trial's kernel, with the bandwidth learnt before anything is timed.

    Columns that are `coded` are nominal for a similarity that can tell. What is learnt serves all
    trials of a process on the same data, kernel and split.
    """
    spec = trial.spec.kernel
    if spec is None:
        return None
    component = scope.kernel(spec.name)
    kernel = _naming_nominal(scope.make(component, spec.parameters), coded)
    points = canonical([trial.group, trial.spec.task, list(coded)])
    learnt = None if trial.spec.plugins else _learnt.get(points)
    if learnt is None:
        fitted = clone(kernel).fit(X, y)
        learnt = {name: getattr(fitted, f"{name}_", v) for name, v in spec.parameters.items()}
        _learnt[points] = learnt
        if len(_learnt) > _KEPT_KERNELS:
            del _learnt[next(iter(_learnt))]
    # one that looks its values up has no others
    known = kernel.get_params(deep=False)
    return kernel.set_params(**{name: value for name, value in learnt.items() if name in known})


def build_estimator(
    trial: Trial,
    scope: Scope,
    kernel: Any,
    kind: str | None = None,
    coded: Sequence[int] = (),
) -> Any:
    """Build the estimator, seeded by split.

    ``kind`` is what a matrix of similarities holds, ``coded`` are nominal columns.
    """
    spec = trial.spec.method
    parts = method_parts(scope, spec)
    estimator = scope.make_method(parts, spec.parameters, spec.select)
    parameters = estimator.get_params()
    state = random_state(trial.spec.protocol.seed, "estimator", trial.split)
    seeded = [name for name in parameters if name.rpartition("__")[2] == "random_state"]
    extra: dict[str, Any] = dict.fromkeys(seeded, state)
    # the first step of a pipeline sees the data as it is; no step takes a kernel of the config
    label, component = parts[0]
    prefix = f"{label}__" if label else ""
    taken = f"{prefix}{component.takes}"
    if component.takes and taken not in {**spec.parameters, **spec.select}:
        given = "precomputed" if kind is not None else None if label else kernel
        if isinstance(given, Kernel) and component.foreign and component.name not in _CALL_ONCE:
            estimator = OnKernel(estimator, given)
        elif given is not None:
            extra[taken] = given
    if taken in spec.parameters:
        extra[taken] = _naming_nominal(parameters[taken], coded)
    if kind is not None and f"{prefix}kind" in parameters:
        extra[f"{prefix}kind"] = kind
    return estimator.set_params(**extra)


def method_parts(scope: Scope, spec: MethodSpec) -> list[tuple[str, RegisteredEstimator]]:
    """Return the estimator of each step with the step's label, "" for a single estimator."""
    steps = spec.steps or [{"step": "", "name": spec.name}]
    return [(step["step"], scope.estimator(step["name"])) for step in steps]
