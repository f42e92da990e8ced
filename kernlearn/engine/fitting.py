"""A method of a config fitted to all rows of a data set: what a user takes for new rows."""

import os
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from kernlearn.checks import listed
from kernlearn.config.names import BUILT_IN, TASKS, load_plugins
from kernlearn.config.plan import Choice, make_plan
from kernlearn.config.read import load_config
from kernlearn.config.trial import Trial
from kernlearn.engine import build
from kernlearn.engine.preparation import prepare
from kernlearn.engine.search import fit_given, hold_out_inside, select
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import ConfigError, SelectionError


def fit_method(config: str | os.PathLike[str], method: str, **labels: Any) -> Pipeline:
    """Choose the parameters of a method of a config, and fit it to all rows of a data set.

    Parameters
    ----------
    config : str or path-like
        The path of a config, or the name of a shipped one.
    method : str
        A method of the config.
    **labels
        The `dataset`, `kernel` or varied parameters, if the config has several.

    Returns
    -------
    Pipeline
        Fitted. Of a table of a file its first step takes a frame with the features, whatever other
        columns there are, and encodes them as the experiment did; then gaps are filled and columns
        scaled. Other data are taken as the method takes them: vectors, or points; of a matrix the
        entries with all points of the data set. A classifier predicts labels, as whole numbers if
        all are. Of grades it predicts the positions, from 0.

    Raises
    ------
    SelectionError
        If labels leave no choice, or several.
    ConfigError
        If the task predicts nothing, or the target is scaled.

    Examples
    --------
    >>> from kernlearn.datasets import load
    >>> from kernlearn.engine import fit_method
    >>> model = fit_method("demo_landmarks", "BBS", dataset="rings", n_landmarks=10)
    """
    experiment = load_config(config)
    asked = {name: (str(value),) for name, value in {"method": method, **labels}.items()}
    choice = Choice((asked,))
    plan = make_plan(experiment, labels=choice.datasets(experiment.config))
    trials = [trial for trial in choice.of(plan) if trial.split == 0]
    if len(trials) > 1:
        several = {
            name: list(dict.fromkeys(str(trial.labels[name]) for trial in trials))
            for name in trials[0].labels
        }
        name, values = next((k, v) for k, v in several.items() if len(v) > 1)
        raise SelectionError(f"{config}: {method} has {name} {listed(values)}: give one")
    return _fitted(trials[0])


def _fitted(trial: Trial) -> Pipeline:
    # its random streams, and what is learnt on its rows, are those of no split
    trial = replace(trial, split=trial.spec.protocol.splits)
    spec, info = trial.spec, dict[str, Any]()
    scope = load_plugins(trial.source.plugins) if spec.plugins else BUILT_IN
    task = TASKS[spec.task].load()
    if not isinstance(task, Task) or spec.protocol.scale_target:
        what = "scale_target" if isinstance(task, Task) else f"task: {spec.task}"
        raise ConfigError(f"{what}: no pipeline predicts the targets of the data")
    data = build.load_data(trial, scope)
    y, is_raw = task.target(data, spec, info), spec.method.columns == "raw"
    if spec.dataset.entry.binarize is not None:
        scope = replace(scope, classes={"0": 0, "1": 1})
    elif task.has_labels:
        labels = _as_given(data.target_names)
        scope = replace(scope, classes=dict(zip(data.target_names, labels, strict=True)))
        y = labels[y]
    parts = prepare(data, y, spec.protocol, None, raw=is_raw)
    with threadpool_limits(spec.protocol.threads):
        kernel = build.build_kernel(trial, scope, parts)
        estimator = build.build_estimator(trial, scope, kernel, parts)
        chosen = select(estimator, parts, trial, task, scope).parameters
        estimator.set_params(**scope.made_values(chosen))
        hold_out_inside(estimator, parts, trial)
        fit_given(estimator, parts.train, None)
    columns = [] if data.columns is None else [("columns", clone(data.columns))]
    if is_raw and columns:
        columns[0][1].set_params(encoding="raw")
    return Pipeline([*columns, *parts.steps, ("method", estimator)])


def _as_given(labels: np.ndarray) -> np.ndarray:
    """Return labels as whole numbers if all are: as a reader of tables has them."""
    try:
        numbers = labels.astype(np.int64)
    except (ValueError, OverflowError):
        return labels
    return numbers if (numbers.astype(str) == labels).all() else labels
