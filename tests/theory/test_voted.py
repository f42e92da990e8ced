"""Theorems 1 and 2 against versions written word by word from the paper."""

from math import ceil, log, sqrt

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons

from kernlearn.kernels import PolynomialKernel
from kernlearn.theory import voted_bound
from kernlearn.voted import L1SVMClassifier, VotedKernelClassifier


@pytest.fixture(scope="module")
def fitted():
    X, y = make_moons(300, noise=0.1, random_state=0)
    X /= np.abs(X).max()
    model = VotedKernelClassifier([PolynomialKernel(k) for k in (1, 2, 3)], lam=1e-3, beta=1e-2)
    return model.fit(X, y), X, y


def slow_bound(model, X, y, r, ranges, rho, delta, K=None):
    """Theorem 1 or 2, word by word, for f / Σ|α|B with base functions h / B."""
    sums = [np.abs(coef.toarray()).sum() for coef in model.coef_]
    weights = [total * largest for total, largest in zip(sums, ranges, strict=True)]
    # Σ α_t r_t of the new coefficients and functions
    complexity = sum(
        w / sum(weights) * r_k / largest
        for w, r_k, largest in zip(weights, r, ranges, strict=True)
    )
    f = model.decision_function(X) / sum(weights)
    m, p = len(y), 3
    margin = np.mean(np.where(y, 1, -1) * f <= rho)
    if K is not None:
        rounds = ceil(8 / rho**2 * log(rho**2 * (1 + K / (K - 1)) * m / (40 * K * log(p))))
        return (
            K / (K - 1) * margin
            + 6 * K / rho * complexity
            + 40 * K / rho**2 * log(p) / m
            + 5 * K * log(2 / delta) / m
            + 5 * K * max(rounds, 0) * log(p) / m
        )
    inside = ceil(4 / rho**2 * log(rho**2 * m / log(p))) * log(p) / m + log(2 / delta) / (2 * m)
    return margin + 4 / rho * complexity + 2 / rho * sqrt(log(p) / m) + sqrt(inside)


R, RANGES = [0.1, 0.2, 0.4], [3.0, 9.0, 27.0]


@pytest.mark.parametrize("K", [None, 1.5, 2, 10])
@pytest.mark.parametrize("rho", [0.2, 1.0])
def test_theorems_1_and_2(fitted, rho, K):
    model, X, y = fitted
    found = voted_bound(model, X, y, complexities=R, ranges=RANGES, rho=rho, delta=0.1, K=K)
    assert found.total == pytest.approx(slow_bound(model, X, y, R, RANGES, rho, 0.1, K))
    assert found.total == found.margin_error + found.complexity + found.deviation
    assert found.rho == rho


def test_margin_of_the_hinge(fitted):
    """Without ρ, points count whose margin is 1 at most, and terms follow from objective (1)."""
    model, X, y = fitted
    found = voted_bound(model, X, y, complexities=R, ranges=RANGES)
    margins = np.where(y, 1, -1) * model.decision_function(X)
    assert found.margin_error == np.mean(margins <= 1 + 1e-9)
    sums = [np.abs(coef.data).sum() for coef in model.coef_]
    assert found.complexity == pytest.approx(4 * np.dot(sums, R))
    assert found.rho == pytest.approx(1 / np.dot(sums, RANGES))


def test_one_kernel_counts_as_two(fitted):
    _, X, y = fitted
    model = L1SVMClassifier(PolynomialKernel(2), beta=1e-2).fit(X, y)
    how = {"complexities": [0.1], "ranges": [9.0], "rho": 0.3}
    expected = ceil(4 / 0.09 * log(0.09 * 300 / log(2))) * log(2) / 300 + log(40) / 600
    found = voted_bound(model, X, y, **how)
    assert found.deviation == pytest.approx(2 / 0.3 * sqrt(log(2) / 300) + sqrt(expected))
    tiny = voted_bound(model, X, y, **{**how, "rho": 1e-3})
    assert 1 < tiny.total < np.inf


def test_an_infinite_complexity_matters_only_where_used(fitted):
    _, X, y = fitted
    kernels = [PolynomialKernel(2), PolynomialKernel(3)]
    model = VotedKernelClassifier(kernels, complexity=[1.0, np.inf]).fit(X, y)
    how = {"ranges": [9.0, 27.0], "rho": 0.5}
    assert np.isfinite(voted_bound(model, X, y, complexities=[1.0, np.inf], **how).total)
    assert voted_bound(model, X, y, complexities=[np.inf, 1.0], **how).total == np.inf


def test_bound_refuses(fitted):
    model, X, y = fitted
    good = {"complexities": [0.1] * 3, "ranges": [1.0] * 3}
    for wrong in (
        {"complexities": [0.1]},
        {"ranges": [1.0, 1.0, -1.0]},
        {"rho": 0},
        {"delta": 1},
        {"K": 1},
    ):
        with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' must"):
            voted_bound(model, X, y, **{**good, **wrong})
    zero = L1SVMClassifier(beta=1e9).fit(X, y)
    with pytest.raises(ValueError, match="no coefficient"):
        voted_bound(zero, X, y, complexities=[1.0], ranges=[1.0])
    X, y = load_iris(return_X_y=True)
    three = L1SVMClassifier("linear").fit(X, y)
    with pytest.raises(ValueError, match="two classes"):
        voted_bound(three, X, y, complexities=[1.0], ranges=[1.0])
