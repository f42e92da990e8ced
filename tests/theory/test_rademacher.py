import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.datasets import load_iris

from kernlearn.kernels import GaussianKernel, LinearKernel, PolynomialKernel, SigmoidKernel
from kernlearn.theory.rademacher import (
    BilinearSimilarity,
    KernelAUC,
    KernelCombination,
    LinearAUC,
    MahalanobisMetric,
    default_classes,
    rademacher_complexity,
    rademacher_table,
)

NORMS = ["2,2", "2,1", "1,1", "S(1)"]
KERNELS = [GaussianKernel(sigma=1.0), PolynomialKernel(2), SigmoidKernel(a=0.5, r=-0.2)]


def all_classes(radius=1.0):
    return [
        *(LinearAUC(q, radius) for q in (1, 1.2, 2, 3.5, math.inf)),
        KernelAUC(GaussianKernel(sigma=1.0), radius),
        *(BilinearSimilarity(norm, radius) for norm in NORMS),
        *(MahalanobisMetric(norm, radius) for norm in NORMS),
        *(KernelCombination(KERNELS, constraint) for constraint in ("simplex", "sphere")),
    ]


def ids(h):
    return f"{h.problem} {h.name}"


def data(n, d, elements=None):
    return arrays(np.float64, (n, d), elements=elements or st.integers(-8, 8).map(lambda i: i / 4))


# -- the supremum against members of the classes, one by one --------------------------------------


def norm_of(W, norm):
    if norm == "S(1)":
        return np.linalg.svd(W, compute_uv=False).sum()
    p, q = map(float, norm.split(","))
    return np.linalg.norm([np.linalg.norm(column, p) for column in W.T], q)


def mean_value(h, x, points, signs):
    """The mean of signs times h, pair by pair."""
    return sum(e * h(x, point) for e, point in zip(signs, points, strict=True)) / len(signs)


def best_matrix(M, norm):
    """A matrix of norm 1 with the greatest inner product with M."""
    W = np.zeros_like(M)
    if norm == "2,2":
        return M / (np.linalg.norm(M) or 1.0)
    if norm == "1,1":
        at = np.unravel_index(np.abs(M).argmax(), M.shape)
        W[at] = np.sign(M[at])
    elif norm == "2,1":
        j = np.linalg.norm(M, axis=0).argmax()
        W[:, j] = M[:, j] / (np.linalg.norm(M[:, j]) or 1.0)
    else:
        left, _, right = np.linalg.svd(M)
        W = np.outer(left[:, 0], right[0])
    return W


@pytest.mark.parametrize("metric", [False, True])
@pytest.mark.parametrize("norm", NORMS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_supremum_over_matrices(norm, metric, seed):
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 5), rng.integers(1, 5)
    x, points, signs = rng.normal(size=d), rng.normal(size=(n, d)), rng.choice([-1, 1], n)
    hypothesis_class = (MahalanobisMetric if metric else BilinearSimilarity)(norm, 1.7)
    found = hypothesis_class.supremum(x, points, signs)

    def value(W):
        def h(a, b):
            return (a - b) @ W @ (a - b) if metric else a @ W @ b

        return mean_value(h, x, points, signs)

    units = np.eye(d * d).reshape(-1, d, d)
    M = np.array([value(unit) for unit in units]).reshape(d, d)
    best = best_matrix(M, norm)
    assert norm_of(best, norm) <= 1 + 1e-12
    assert value(1.7 * best) == pytest.approx(found, abs=1e-12)
    for _ in range(20):
        W = rng.normal(size=(d, d))
        assert value(1.7 * W / norm_of(W, norm)) <= found + 1e-12


@pytest.mark.parametrize("q", [1, 1.3, 2, 4, math.inf])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_supremum_over_weights(q, seed):
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 5), rng.integers(1, 5)
    x, points, signs = rng.normal(size=d), rng.normal(size=(n, d)), rng.choice([-1, 1], n)
    found = LinearAUC(q, 0.6).supremum(x, points, signs)

    def value(w):
        return mean_value(lambda a, b: w @ a - w @ b, x, points, signs)

    v = np.array([value(unit) for unit in np.eye(d)])
    if q == 1:
        best = np.sign(v) * (np.abs(v) == np.abs(v).max())
    else:
        p = 1 if q == math.inf else q / (q - 1)
        best = np.sign(v) * np.abs(v) ** (p - 1)
    if np.any(best):
        assert value(0.6 * best / np.linalg.norm(best, q)) == pytest.approx(found, rel=1e-9)
    for _ in range(20):
        w = rng.normal(size=d)
        assert value(0.6 * w / np.linalg.norm(w, q)) <= found + 1e-12


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_supremum_over_combinations_of_kernels(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 4)
    X, signs = rng.normal(size=(n + 1, 2)), rng.choice([-1, 1], n)
    means = [mean_value(lambda a, b, k=k: k([a], [b])[0, 0], X[0], X[1:], signs) for k in KERNELS]
    simplex, sphere = (
        KernelCombination(KERNELS, c).fit(X).supremum(X[0], X[1:], signs)
        for c in ("simplex", "sphere")
    )
    assert simplex == pytest.approx(max(means), abs=1e-12)
    upper = np.maximum(means, 0)
    best = upper / np.linalg.norm(upper) if upper.any() else np.eye(3)[np.argmax(means)]
    assert best @ means == pytest.approx(sphere, abs=1e-12)
    for _ in range(50):
        mu = np.abs(rng.normal(size=3))
        assert mu @ means / mu.sum() <= simplex + 1e-12
        assert mu @ means / np.linalg.norm(mu) <= sphere + 1e-12


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15)
def test_kernel_auc_with_the_linear_kernel_is_linear_auc(seed):
    rng = np.random.default_rng(seed)
    X, signs = rng.normal(size=(6, 3)), rng.choice([-1, 1], 5)
    kernel, linear = KernelAUC(LinearKernel(), 2.5).fit(X), LinearAUC(2, 2.5).fit(X)
    draw = X[0], X[1:], signs
    assert kernel.supremum(*draw) == pytest.approx(linear.supremum(*draw), abs=1e-7)
    assert kernel.bound(7) == pytest.approx(linear.bound(7))


# -- the complexity by enumeration of all draws and signs -----------------------------------------


def exact(hypothesis_class, X, n):
    # the order of the pairs does not matter: multisets of (point, sign), by their number of orders
    total = 0
    for draw in itertools.combinations_with_replacement(
        itertools.product(range(len(X)), [-1, 1]), n
    ):
        rows, signs = zip(*draw, strict=True)
        orders = math.factorial(n)
        for repeats in Counter(draw).values():
            orders //= math.factorial(repeats)
        total += orders * sum(hypothesis_class.supremum(x, X[list(rows)], signs) for x in X)
    return total / (len(X) * (2 * len(X)) ** n)


@pytest.mark.parametrize("hypothesis_class", all_classes(), ids=ids)
@given(X=st.one_of([data(2, d) for d in (1, 2, 3, 5)]), n=st.integers(1, 2))
@settings(max_examples=12)
def test_the_complexity_is_within_the_bound(hypothesis_class, X, n):
    bound = hypothesis_class.fit(X).bound(n)
    assert exact(hypothesis_class, X, n) <= bound * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("hypothesis_class", all_classes(), ids=ids)
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_complexity_is_within_the_bound_for_signs(hypothesis_class, d):
    # all corners of a cube: independent features, as large as they may be
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=d)))
    n = 3 if d < 3 else 1
    assert exact(hypothesis_class.fit(X), X, n) <= hypothesis_class.bound(n)


@pytest.mark.parametrize("hypothesis_class", all_classes(radius=1.3), ids=ids)
def test_the_estimate_is_that_of_the_enumeration(hypothesis_class):
    X = np.array([[1.0, -0.5], [0.25, 2.0], [-1.5, 0.75]])
    found = rademacher_complexity(hypothesis_class, X, n=3, n_trials=600, random_state=7)
    assert found.suprema.shape == (600,)
    assert found.mean == pytest.approx(found.suprema.mean())
    assert found.standard_error == pytest.approx(found.suprema.std(ddof=1) / 600**0.5)
    assert abs(found.mean - exact(hypothesis_class, X, 3)) < 4.5 * found.standard_error


# -- bounds by hand, and where the printed ones fail ----------------------------------------------


def test_bounds_by_hand():
    X = np.array([[3.0, -4.0, 0.0], [1.0, 1.0, 1.0], [-4.5, 0.0, 0.0]])
    log = math.log(3)
    for hypothesis_class, expected in [
        (LinearAUC(2, 2.0), 2 * 5 * 2 * math.sqrt(1 / 50)),
        (LinearAUC(1.5, 1.0), 2 * 4.5 * math.sqrt(2 / 50)),
        (LinearAUC(1, 3.0), 2 * 4.5 * 3 * math.sqrt(math.e * log / 50)),
        (KernelAUC(GaussianKernel(sigma=1.0), 3.0), 2 * 3 / math.sqrt(50)),
        (BilinearSimilarity("2,2", 2.0), 25 * 2 / math.sqrt(50)),
        (BilinearSimilarity("2,1", 2.0), 5 * 4.5 * 2 * math.sqrt(math.e * log / 50)),
        (BilinearSimilarity("1,1"), 4.5**2 * math.sqrt(2 * math.e * log / 50)),
        (BilinearSimilarity("S(1)"), 25 * math.sqrt(math.e * log / 50)),
        (MahalanobisMetric("2,1", 2.0), 4 * 5 * 4.5 * 2 * math.sqrt(math.e * log / 50)),
        (KernelCombination([GaussianKernel()] * 5), math.sqrt(math.e * math.log(5) / 50)),
        (KernelCombination([GaussianKernel()] * 5, "sphere"), math.sqrt(5 / 50)),
        (KernelCombination([LinearKernel()] * 2, "sphere"), 25 * math.sqrt(2 / 50)),
        # the largest value is not on the diagonal
        (KernelCombination([lambda A, B: A[:, :1] @ B[:, 1:2].T], "sphere"), 18 / math.sqrt(50)),
    ]:
        assert hypothesis_class.fit(X).bound(50) == pytest.approx(expected), ids(hypothesis_class)
        assert hypothesis_class.bound(50, as_printed=True) == hypothesis_class.bound(50)


@pytest.mark.parametrize("q", [3.0, 11.0, math.inf])
def test_table_6_1_does_not_hold_for_q_above_2(q):
    # p - 1 falls to 0, but in one dimension all norms are one
    X = np.array([[-1.0], [1.0]])
    auc = LinearAUC(q).fit(X)
    printed = 2 * math.sqrt((auc.p - 1) / 4)
    assert auc.bound(4, as_printed=True) == pytest.approx(printed)
    complexity = exact(auc, X, 4)
    assert complexity == pytest.approx(exact(LinearAUC(2), X, 4))
    assert complexity <= auc.bound(4)
    if q > 10:
        assert complexity > 1.25 * printed


def test_the_bound_for_q_above_2_cannot_do_without_the_dimension():
    # unit vectors: the complexity falls more slowly than any multiple of n^(-1/2)
    X, n = np.eye(400), 20
    auc = LinearAUC(q=math.inf).fit(X)
    found = rademacher_complexity(auc, X, n=n, n_trials=20, random_state=0)
    assert auc.bound(n, as_printed=True) == 0
    assert 0.9 < found.mean <= auc.bound(n) == 2.0


@pytest.mark.parametrize(
    "hypothesis_class",
    [
        LinearAUC(1),
        *(kind(norm) for kind in (BilinearSimilarity, MahalanobisMetric) for norm in NORMS[1:]),
    ],
    ids=ids,
)
def test_printed_logarithms_are_0_in_one_dimension(hypothesis_class):
    X = np.array([[-1.0], [1.0]])
    complexity = exact(hypothesis_class.fit(X), X, 3)
    assert hypothesis_class.bound(3, as_printed=True) == 0
    assert 0.2 < complexity <= hypothesis_class.bound(3)


def test_the_printed_factor_does_not_hold_for_fixed_points_in_two_dimensions():
    # The tables are about drawn points. For these two, as for the conditional complexities of
    # section 6.6.1, the root of 1 / n times e log d is too little for d = 2.
    x, points = np.array([1.0, 0.0]), np.array([[1.0, 1.0], [1.0, -1.0]])
    similarity = BilinearSimilarity("2,1").fit([*points, [1.0, 0.0]])
    suprema = [similarity.supremum(x, points, s) for s in itertools.product([-1, 1], repeat=2)]
    fixed = np.mean(suprema)
    assert fixed == 1.0
    assert math.sqrt(math.e * math.log(2) / 2) < fixed
    drawn = exact(similarity, np.array(list(itertools.product([-1.0, 1.0], repeat=2))), 2)
    assert drawn < similarity.bound(2)


def test_one_kernel_has_no_complexity():
    X = np.array([[0.0], [1.0], [3.0]])
    one = KernelCombination([GaussianKernel(sigma=1.0)]).fit(X)
    assert one.bound(2) == 0
    assert exact(one, X, 2) == pytest.approx(0, abs=1e-15)


@given(X=data(4, 3), factor=st.sampled_from([0.5, 3.0]))
@settings(max_examples=10)
def test_bounds_scale_as_the_complexities_do(X, factor):
    for kind, power in ((LinearAUC, 1), (BilinearSimilarity, 2), (MahalanobisMetric, 2)):
        for options in ({}, {"radius": 2.0}):
            h, scaled = kind(**options).fit(X), kind(**options).fit(factor * X)
            assert scaled.bound(9) == pytest.approx(factor**power * h.bound(9))
            assert h.bound(36) == pytest.approx(h.bound(9) / 2)


# -- tables --------------------------------------------------------------------------------------


def test_the_table_shares_its_draws():
    X, y = load_iris(return_X_y=True)
    rows = rademacher_table(X, y, n=20, n_trials=30, random_state=5)
    assert [row.table for row in rows] == ["6.1"] * 4 + ["6.2"] * 8 + ["6.3"] * 2
    for row, hypothesis_class in zip(rows, default_classes(X), strict=True):
        alone = rademacher_complexity(hypothesis_class, X, n=20, n_trials=30, random_state=5)
        assert (row.problem, row.hypothesis_class) == (
            hypothesis_class.problem,
            hypothesis_class.name,
        )
        assert (row.estimate, row.standard_error) == (alone.mean, alone.standard_error)
        assert row.bound == row.printed == hypothesis_class.bound(20)
        assert row.holds


def test_sparse_points():
    X = sparse.random(30, 6, density=0.4, random_state=0, format="csr")
    for dense, thin in zip(
        rademacher_table(X.toarray(), n=10, n_trials=10, random_state=1),
        rademacher_table(X, n=10, n_trials=10, random_state=1),
        strict=True,
    ):
        assert thin.estimate == pytest.approx(dense.estimate)
        assert thin.bound == pytest.approx(dense.bound)


def test_points_that_are_all_the_same():
    rows = rademacher_table(np.ones((3, 2)), n=5, n_trials=5, random_state=0)
    assert all(row.holds for row in rows)
    assert [row.estimate for row in rows if row.problem in ("AUC", "metric")] == [0] * 7


def test_one_trial_has_no_standard_error():
    found = rademacher_complexity(LinearAUC(), np.eye(3), n=4, n_trials=1, random_state=0)
    assert math.isnan(found.standard_error)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinearAUC(0.5), "'q' must be a number from 1 to infinity, got 0.5"),
        (lambda: LinearAUC(radius=0), "'radius' must be a finite number above 0, got 0"),
        (lambda: BilinearSimilarity("2"), "'norm' must be one of '2,2', '2,1'.* got '2'"),
        (lambda: MahalanobisMetric(radius=-1), "'radius' must be a finite number above 0"),
        (lambda: KernelAUC("nope"), "'kernel' must be one of"),
        (lambda: KernelCombination([]), "'kernels' must be a list of at least one kernel"),
        (lambda: KernelCombination("gaussian"), "'kernels' must be a list of at least"),
        (lambda: KernelCombination(["nope"]), "'kernels' must be one of"),
        (lambda: KernelCombination(["linear"], "ball"), "'constraint' must be 'simplex' or"),
        (lambda: LinearAUC().bound(3), r"is not fitted to data: call fit\(X\) first"),
        (lambda: LinearAUC().fit(np.eye(2)).bound(0), "'n' must be an int >= 1, got 0"),
        (lambda: LinearAUC().fit([[np.nan]]), "contains NaN"),
        (lambda: LinearAUC().supremum([1], [[1, 2]], [1]), "'x', 'points' and 'signs' must have"),
        (lambda: rademacher_table(np.eye(2), n_trials=0), "'n_trials' must be an int >= 1"),
        (
            lambda: rademacher_table(np.eye(2), kernels=["linear"], classes=[LinearAUC()]),
            "give 'kernels' or 'classes', not both",
        ),
        (
            lambda: KernelAUC(lambda A, B: -np.asarray(A @ B.T)).fit(np.eye(2)),
            "is not positive semi-definite on these points",
        ),
        (
            lambda: (
                KernelAUC(lambda A, B: 1.0 - (A == B.T))
                .fit([[0.0], [1.0]])
                .supremum([0.0], [[1.0]], [1])
            ),
            "is not positive semi-definite on these points",
        ),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.data
@pytest.mark.parametrize("name", ["german", "diabetes", "ionosphere", "fourclass", "svmguide1"])
def test_estimates_are_under_their_bounds_on_real_data(name, data_dir):
    from kernlearn.datasets import load

    bunch = load(name, data_dir=data_dir)
    rows = rademacher_table(bunch.data[:1000], bunch.target[:1000], n_trials=30, random_state=0)
    for row in rows:
        assert row.estimate + 3 * row.standard_error <= row.bound, row
