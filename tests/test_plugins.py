"""What the functions of ``kernlearn.plugins`` take and refuse, outside of any config."""

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Lasso
from sklearn.metrics import f1_score

from kernlearn.kernels import GaussianKernel
from kernlearn.plugins import (
    register_dataset,
    register_estimator,
    register_kernel,
    register_metric,
    registrations,
)


def test_what_is_registered_is_handed_back_and_noted_with_its_place():
    @register_estimator("Mine", version=3)
    class Model(BaseEstimator):
        """A model.

        Of no use.
        """

        def __init__(self, alpha=1.0):
            self.alpha = alpha

        def fit(self, X, y):
            return self

    assert Model().alpha == 1.0
    noted = registrations()[-1]
    assert (noted.kind, noted.name, noted.target) == ("estimator", "Mine", Model)
    assert (noted.version, noted.summary) == (3, "A model.")
    assert noted.module == __name__
    first = test_what_is_registered_is_handed_back_and_noted_with_its_place.__code__
    assert noted.line == first.co_firstlineno + 1


def test_what_others_have_written_can_be_registered_under_a_name():
    assert register_estimator("L1", summary="lasso")(Lasso) is Lasso
    assert register_kernel("Bell")(GaussianKernel) is GaussianKernel
    assert register_metric(task=["classification"], better="higher")(f1_score) is f1_score
    names = [r.name for r in registrations()[-3:]]
    assert names == ["L1", "Bell", "f1_score"]
    metric = registrations()[-1]
    assert (metric.tasks, metric.better, metric.label) == (("classification",), 1, "")


class NoFit:
    def get_params(self):
        return {}

    def set_params(self):
        return self


class Needy(BaseEstimator):
    def __init__(self, alpha):
        self.alpha = alpha

    def fit(self, X, y):
        return self


class Open(BaseEstimator):
    def __init__(self, *alphas):
        self.alphas = alphas

    def fit(self, X, y):
        return self


class NoCall(Needy):
    def __init__(self, alpha=1):
        self.alpha = alpha


def two(y_true, y_pred):
    return 0.0


METRIC = {"task": "regression", "better": "lower"}


@pytest.mark.parametrize(
    ("decorate", "target", "message"),
    [
        (register_estimator(), two, "an estimator must be a class, not <function two"),
        (register_estimator(), NoFit, r"NoFit has no fit: derive it from sklearn\.base"),
        (register_estimator(), Needy, "parameter 'alpha' of Needy needs a default"),
        (register_estimator(), Open, r"Open takes \*alphas: name every parameter"),
        (register_kernel(), NoCall, r"NoCall has no __call__: derive it from kernlearn\.kernels"),
        (
            register_kernel(),
            3,
            "a kernel must be a class or a function .* not 3",
        ),
        (register_kernel(), lambda X: X, "takes 1 arguments by position"),
        (register_kernel("k"), lambda X, Y, width: X, "'width' of <lambda> needs a default"),
        (register_kernel("k"), lambda X, Y, **more: X, r"takes \*\*more: name every parameter"),
        (register_kernel(), lambda X, Y: X, "<lambda> is no name for a config: give one"),
        (register_dataset(), Needy, "a data set must be a function"),
        (register_dataset("d"), lambda n: n, "'n' of <lambda> needs a default"),
        (register_metric("m", **METRIC), lambda y: 0.0, "takes 1 arguments by position"),
        (register_metric("m", **METRIC), lambda a, b, c: 0.0, "'c' of <lambda> needs a default"),
    ],
)
def test_what_is_no_such_thing_is_refused(decorate, target, message):
    before = registrations()
    with pytest.raises((TypeError, ValueError), match=message):
        decorate(target)
    assert registrations() == before


def test_a_query_and_a_random_state_need_no_default():
    register_metric("of_queries", **METRIC)(lambda a, b, query: 0.0)
    register_dataset("drawn")(lambda random_state, n=3: (n, random_state))
    assert [r.name for r in registrations()[-2:]] == ["of_queries", "drawn"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: register_estimator(NoFit), r"with brackets, as @register_estimator\(\)"),
        (lambda: register_kernel(two), r"with brackets, as @register_kernel\(\)"),
        (lambda: register_kernel("a b"), "letters, digits and underscores, not 'a b'"),
        (lambda: register_kernel(""), "letters, digits and underscores, not ''"),
        (lambda: register_dataset(version=0), "version must be an integer of at least 1, not 0"),
        (lambda: register_dataset(version="2"), "version must be an integer"),
        (lambda: register_dataset(similarity="matrix"), "similarity must be"),
        (lambda: register_metric(task="regression", better="more"), "better must be"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call()
