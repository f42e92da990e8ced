"""Old names and parameters: they work, warn, and go in time."""

import inspect
import warnings

import pytest
from packaging.version import Version
from sklearn.base import BaseEstimator, clone

import kernlearn.pairwise  # which has some
from kernlearn import deprecation
from kernlearn.deprecation import (
    DEPRECATIONS,
    NOT_GIVEN,
    Deprecation,
    deprecated,
    renamed_parameters,
    renamed_value,
)
from kernlearn.version import __version__

THEIRS = tuple(DEPRECATIONS)


@pytest.fixture(autouse=True)
def own(monkeypatch):
    """What the tests deprecate is not kept."""
    monkeypatch.setattr(deprecation, "DEPRECATIONS", [])
    return deprecation.DEPRECATIONS


@pytest.mark.parametrize("noted", THEIRS, ids=lambda noted: noted.what)
def test_nothing_is_past_its_time(noted):
    assert Version(noted.since) <= Version(__version__) < Version(noted.removed_in), str(noted)


def test_there_are_some():
    assert any(noted.what.startswith("kernlearn.pairwise.") for noted in THEIRS)


def test_a_function_warns_at_its_caller(own):
    @deprecated("0.2", "0.4", "call g")
    def f(x):
        """Return x."""
        return x

    with pytest.warns(FutureWarning, match=r"\.f is deprecated since version 0\.2") as caught:
        assert f(3) == 3
    assert caught[0].filename == __file__
    assert f.__doc__ == "Return x."
    assert own == [Deprecation(f"{__name__}.{f.__qualname__}", "0.2", "0.4", "call g")]


def test_a_class_warns_and_what_inherits_from_it_does_not():
    @deprecated("0.2", "0.4", "use B")
    class A(BaseEstimator):
        def __init__(self, x=1, *, y=2):
            self.x = x
            self.y = y

    class B(A):
        pass

    with pytest.warns(FutureWarning, match="removed in 0.4: use B"):
        a = A(3)
    assert a.get_params() == {"x": 3, "y": 2}
    assert list(inspect.signature(A).parameters) == ["x", "y"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert B(4, y=5).get_params() == {"x": 4, "y": 5}
    with pytest.warns(FutureWarning):
        assert clone(a).x == 3


def test_parameters_by_their_old_names():
    @renamed_parameters("0.2", "0.4", m="n_landmarks", seed="random_state")
    def f(X, n_landmarks=1, *, random_state=None):
        return X, n_landmarks, random_state

    with pytest.warns(FutureWarning) as caught:
        assert f(0, m=2, seed=3) == (0, 2, 3)
    assert {str(one.message).split("'")[1] for one in caught} == {"m", "seed"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(0, 2, random_state=3) == (0, 2, 3)
    for wrong in (lambda: f(0, 2, m=3), lambda: f(0, n_landmarks=2, m=3)):
        with pytest.raises(TypeError, match="both 'm' and 'n_landmarks'"):
            wrong()


class Renamed(BaseEstimator):
    def __init__(self, n_landmarks=10, m=NOT_GIVEN):
        self.n_landmarks = n_landmarks
        self.m = m

    def fit(self):
        self.n_ = renamed_value(self, "m", "n_landmarks", since="0.2", removed_in="0.4")
        return self


def test_an_estimators_parameter_by_its_old_name():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Renamed(3).fit().n_ == 3
    with pytest.warns(FutureWarning, match=r"'m' of Renamed .*: use 'n_landmarks'") as caught:
        assert clone(Renamed(m=5)).fit().n_ == 5
    assert caught[0].filename == __file__
    with pytest.raises(ValueError, match="got both 'm' and 'n_landmarks'"):
        Renamed(3, m=5).fit()


def test_old_names_of_a_package_are_noted_and_found():
    with pytest.warns(FutureWarning, match=r"kernlearn\.pairwise\.follow is deprecated") as caught:
        assert kernlearn.pairwise.follow
    assert caught[0].filename == __file__
