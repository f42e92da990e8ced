"""The squared pairwise loss from moments against all pairs."""

import numpy as np
import pytest
from scipy.optimize import minimize

from kernlearn.onepass import OnePassRankRLS
from kernlearn.onepass.folds import fold_of, row_hashes

RNG = np.random.default_rng(2)
X = RNG.normal(size=(160, 4)) + 5
y = np.where(X[:, 0] + X[:, 1] ** 2 / 9 + RNG.normal(size=160) > 8.5, "b", "a")


def pairs(X, y):
    """The differences of all pairs, one row each."""
    positive, negative = X[y == "b"], X[y == "a"]
    return (positive[:, np.newaxis] - negative).reshape(-1, X.shape[1])


def slow_loss(w, X, y):
    return np.mean((1 - pairs(X, y) @ w) ** 2)


def slow_weights(X, y, alpha):
    rows = pairs(X, y)
    return np.linalg.solve(rows.T @ rows / len(rows) + alpha * np.eye(4), rows.mean(axis=0))


@pytest.mark.parametrize("alpha", [0.0, 1e-3, 0.7])
def test_weights_are_those_of_all_pairs(alpha):
    model = OnePassRankRLS(alphas=alpha).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], slow_weights(X, y, alpha), rtol=1e-4, atol=1e-6)

    def objective(w):
        return slow_loss(w, X, y) + alpha * w @ w

    found = minimize(objective, np.zeros(4), tol=1e-12).x
    np.testing.assert_allclose(model.coef_[0], found, atol=1e-4)


def test_the_choice_is_by_held_out_pairs():
    alphas = [1e-4, 1e-2, 1.0, 100.0]
    model = OnePassRankRLS(alphas=alphas).fit(X, y)
    folds = fold_of(row_hashes(X), 5)
    losses = []
    for alpha in alphas:
        cut = []
        for fold in range(5):
            inside = folds == fold
            w = slow_weights(X[~inside], y[~inside], alpha)
            cut.append(slow_loss(w, X[inside], y[inside]))
        losses.append(np.mean(cut))
    np.testing.assert_allclose(model.cv_errors_, losses, rtol=1e-4)
    assert model.alpha_ == alphas[int(np.argmin(losses))]


def test_threshold_is_midway_between_the_means():
    model = OnePassRankRLS().fit(X, y)
    middle = (X[y == "a"].mean(axis=0) + X[y == "b"].mean(axis=0)) / 2
    assert model.decision_function(middle[np.newaxis])[0] == pytest.approx(0, abs=1e-5)
    assert set(model.predict(X)) == {"a", "b"}
    assert model.class_counts_.tolist() == [np.sum(y == "a"), np.sum(y == "b")]


def test_errors():
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        OnePassRankRLS().fit(X, np.arange(160) % 3)
    model = OnePassRankRLS().fit_map(X, y).partial_fit(X[y == "a"], y[y == "a"])
    with pytest.raises(ValueError, match="there are no pairs"):
        model.coef_  # noqa: B018
    few = np.where(np.arange(160) == 3, "b", "a")
    with pytest.raises(ValueError, match=r"rows of both classes .*\[159, 1\]"):
        OnePassRankRLS().fit(X, few)
    assert np.isfinite(OnePassRankRLS(alphas=1.0).fit(X, few).coef_).all()
