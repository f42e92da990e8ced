"""The registry of built-in estimators, kernels, metrics and tasks."""

import pytest

from kernlearn.config.measured import METRICS, TASKS
from kernlearn.config.registry import BUILT_IN, ESTIMATORS, KERNELS
from kernlearn.kernels import Kernel


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_kernel_parameter_is_the_one_in_the_signature(name):
    estimator = ESTIMATORS[name]
    if not estimator.installed:
        pytest.skip("an optional library is not installed")
    parameters = [p for p in ("kernel", "similarity") if p in estimator.parameters]
    assert estimator.takes == next(iter(parameters), "")


def test_parameters_of_a_kernel_within_an_estimator_are_set():
    parameters = {"kernel": {"kernel": "polynomial"}, "kernel__degree": 6}
    made = BUILT_IN.make(BUILT_IN.estimators["L1SVMClassifier"], parameters)
    assert made.kernel.degree == 6


def test_kernels_have_a_class_and_parameters():
    for name, kernel in KERNELS.items():
        assert BUILT_IN.kernel(name) is kernel
        if not kernel.dotted:
            assert issubclass(kernel.load(), Kernel)
    assert BUILT_IN.kernel("nothing") is None
    assert {"p", "turn", "sigma"} <= BUILT_IN.kernel("scipy.minkowski").parameters.keys()


def test_every_task_has_metrics_and_every_metric_a_task():
    for name, task in TASKS.items():
        assert callable(task.load()) != task.supervised
        assert BUILT_IN.task_metrics(name)
    for metric in METRICS.values():
        assert set(metric.tasks) <= set(TASKS)
        assert metric.target is None or callable(metric.load())
