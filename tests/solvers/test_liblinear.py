"""The bridge itself; what users see of it is tested with the estimators."""

import threading

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers import liblinear
from kernlearn.solvers.liblinear import DEFAULT_TOL, SOLVERS, Settings, solve
from kernlearn.solvers.nodes import feature_rows

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
CODES = (X[:, 0] + 0.3 * rng.standard_normal(60) < 0).astype(int)
WEIGHT = np.ones(2)


def settings(**changes):
    return Settings(**{"solver": 2, "C": 1.0, "tol": 1e-8, "class_weight": WEIGHT, **changes})


def test_the_first_class_is_positive_whatever_the_order_of_the_rows():
    turned = np.argsort(-CODES, kind="stable")
    assert CODES[0] == 0
    assert CODES[turned[0]] == 1
    weights = solve(feature_rows(X), CODES, 4, settings())
    again = solve(feature_rows(X[turned]), CODES[turned], 4, settings())
    assert weights[0, 0] > 0
    np.testing.assert_allclose(again, weights, rtol=1e-6)


def test_default_tolerances_are_the_official_ones():
    from liblinear.liblinear import parameter

    for solver in SOLVERS.values():
        assert parameter(f"-s {solver} -q").eps == DEFAULT_TOL[solver]


def test_what_liblinear_refuses_is_an_error():
    with pytest.raises(ValueError, match="LIBLINEAR refuses its parameters: C <= 0"):
        solve(feature_rows(X), CODES, 4, settings(C=-1.0))


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_part_solved_first_is_scaled_to_the_whole(share, monkeypatch):
    calls = []
    train = liblinear._train

    def spy(binding, rows, y, n_weights, told, start):
        calls.append((len(rows), told.C, start))
        return train(binding, rows, y, n_weights, told, start)

    monkeypatch.setattr(liblinear, "_train", spy)
    solve(feature_rows(X), CODES, 4, settings(), share)
    (n_part, part_C, no_start), (n_all, full_C, start) = calls
    assert n_part == np.ceil(share * 60)
    assert n_all == 60
    assert part_C == pytest.approx(60 / n_part)
    assert full_C == 1
    assert no_start is None
    assert start.shape == (1, 4)


def test_a_part_without_one_of_the_classes_is_not_solved(monkeypatch):
    calls = []
    train = liblinear._train
    monkeypatch.setattr(
        liblinear, "_train", lambda *told: calls.append(len(told[1])) or train(*told)
    )
    codes = np.zeros(60, int)
    codes[7] = 1
    solve(feature_rows(X), codes, 4, settings(), 0.2)
    assert calls == [60]


def test_a_better_start_saves_newton_iterations():
    solution = solve(feature_rows(X), CODES, 4, settings())
    by_class = np.argsort(CODES, kind="stable")
    rows, y = feature_rows(X).take(by_class), CODES[by_class]
    binding = liblinear.official()
    cold = liblinear._train(binding, rows, y, 4, settings(tol=1e-6), None)[1]
    warm = liblinear._train(binding, rows, y, 4, settings(tol=1e-6), solution)[1]
    assert cold.count("CG") > 0
    assert warm.count("CG") == 0


@pytest.mark.parametrize("text", list(liblinear._ADVICE))
def test_every_complaint_becomes_a_warning(text, monkeypatch):
    monkeypatch.setattr(liblinear, "_train", lambda *told: (np.zeros((1, 4)), f"WARNING: {text}"))
    with pytest.warns(ConvergenceWarning, match="solver"):
        solve(feature_rows(X), CODES, 4, settings())


def test_dual_fits_in_threads_repeat_themselves():
    rows = feature_rows(X)
    told = settings(solver=1, tol=0.1, seed=3)
    alone = solve(rows, CODES, 4, told)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(solve(rows, CODES, 4, told)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 8
    for weights in found:
        np.testing.assert_array_equal(weights, alone)
