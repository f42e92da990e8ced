import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from kernlearn.kernels import GaussianKernel, LinearKernel, PolynomialKernel, SigmoidKernel
from kernlearn.theory import (
    BilinearForm,
    KernelAUC,
    KernelCombination,
    LinearAUC,
    MahalanobisMetric,
    all_pairs_regret_bound,
    contracted_complexity,
    excess_risk_bound,
    fast_rate_bound,
    olp_buffer_regret_bound,
    olp_regret_bound,
    rademacher_complexity,
)

NORMS = ["2,2", "2,1", "1,1", "S(1)"]
KERNELS = [GaussianKernel(sigma=1.0), PolynomialKernel(2), SigmoidKernel(a=0.5, r=-0.2)]


def all_classes(radius=1.0):
    return [
        *(LinearAUC(q, radius) for q in (1, 1.2, 2, 3.5, math.inf)),
        KernelAUC(GaussianKernel(sigma=1.0), radius),
        *(BilinearForm(norm, radius) for norm in NORMS),
        *(MahalanobisMetric(norm, radius) for norm in NORMS),
        *(KernelCombination(KERNELS, constraint) for constraint in ("simplex", "sphere")),
    ]


def ids(h):
    return f"{type(h).__name__} {h.name}"


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


def drawn(seed):
    """A generator, a dimension, and a point, others and signs."""
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 5), rng.integers(1, 5)
    return rng, d, (rng.normal(size=d), rng.normal(size=(n, d)), rng.choice([-1, 1], n))


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
    rng, d, (x, points, signs) = drawn(seed)
    hypothesis_class = (MahalanobisMetric if metric else BilinearForm)(norm, 1.7)
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
    rng, d, (x, points, signs) = drawn(seed)
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


# -- the complexity by enumeration of all draws and signs -----------------------------------------


def exact(hypothesis_class, X, n):
    # the order of the pairs does not matter: multisets of (point, sign), by their number of orders
    total = 0
    for draw in itertools.combinations_with_replacement(
        itertools.product(range(len(X)), [-1, 1]), n
    ):
        rows, signs = np.transpose(draw)
        orders = math.factorial(n)
        for repeats in Counter(draw).values():
            orders //= math.factorial(repeats)
        total += orders * sum(hypothesis_class.supremum(x, X[rows], signs) for x in X)
    return total / (len(X) * (2 * len(X)) ** n)


def corners(d):
    """All corners of a cube: independent features, as large as they may be."""
    return np.array(list(itertools.product([-1.0, 1.0], repeat=d)))


@pytest.mark.parametrize("hypothesis_class", all_classes(), ids=ids)
@given(X=st.one_of([data(2, d) for d in (1, 2, 3, 5)]), n=st.integers(1, 2))
@example(X=corners(1), n=3)
@example(X=corners(2), n=3)
@example(X=corners(3), n=1)
@settings(max_examples=12)
def test_the_complexity_is_within_the_bound(hypothesis_class, X, n):
    bound = hypothesis_class.fit(X).bound(n)
    assert exact(hypothesis_class, X, n) <= bound * (1 + 1e-12) + 1e-12


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
        (BilinearForm("2,2", 2.0), 25 * 2 / math.sqrt(50)),
        (BilinearForm("2,1", 2.0), 5 * 4.5 * 2 * math.sqrt(math.e * log / 50)),
        (BilinearForm("1,1"), 4.5**2 * math.sqrt(2 * math.e * log / 50)),
        (BilinearForm("S(1)"), 25 * math.sqrt(math.e * log / 50)),
        (MahalanobisMetric("2,1", 2.0), 4 * 5 * 4.5 * 2 * math.sqrt(math.e * log / 50)),
        (KernelCombination([GaussianKernel()] * 5), math.sqrt(math.e * math.log(5) / 50)),
        (KernelCombination([GaussianKernel()] * 5, "sphere"), math.sqrt(5 / 50)),
        (KernelCombination([LinearKernel()] * 2, "sphere"), 25 * math.sqrt(2 / 50)),
        # the largest value is not on the diagonal
        (KernelCombination([lambda A, B: A[:, :1] @ B[:, 1:2].T], "sphere"), 18 / math.sqrt(50)),
    ]:
        assert hypothesis_class.fit(X).bound(50) == pytest.approx(expected), ids(hypothesis_class)
        assert hypothesis_class.bound(50, as_printed=True) == hypothesis_class.bound(50)


@pytest.mark.parametrize(
    "hypothesis_class",
    [
        LinearAUC(1),
        *(kind(norm) for kind in (BilinearForm, MahalanobisMetric) for norm in NORMS[1:]),
    ],
    ids=ids,
)
def test_printed_logarithms_are_0_in_one_dimension(hypothesis_class):
    X = np.array([[-1.0], [1.0]])
    complexity = exact(hypothesis_class.fit(X), X, 3)
    assert hypothesis_class.bound(3, as_printed=True) == 0
    assert 0.2 < complexity <= hypothesis_class.bound(3)


def test_sparse_points():
    X = sparse.random(30, 6, density=0.4, random_state=0, format="csr")
    # each entry in two parts
    parts = np.repeat(X.data, 2) / 2, np.repeat(X.indices, 2), 2 * X.indptr
    X = sparse.csr_matrix(parts, X.shape)
    for h in all_classes():
        thin = rademacher_complexity(h, X, n=10, n_trials=10, random_state=1), h.bound(10)
        dense = rademacher_complexity(h, X.toarray(), n=10, n_trials=10, random_state=1)
        assert thin[0].mean == pytest.approx(dense.mean)
        assert thin[1] == pytest.approx(h.bound(10))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KernelCombination([]), "'kernels' must be"),
        (lambda: LinearAUC().bound(3), "not fitted"),
        (lambda: LinearAUC().fit(np.eye(2)).bound(0), "'n' must be"),
        (
            lambda: KernelAUC(lambda A, B: -np.asarray(A @ B.T)).fit(np.eye(2)),
            "not positive semi-definite",
        ),
        (
            lambda: rademacher_complexity(KernelAUC(lambda A, B: 1.0 - (A == B.T)), [[0], [1]]),
            "not positive semi-definite",
        ),
    ],
)
def test_bad_arguments_of_classes(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.data
@pytest.mark.parametrize("name", ["german", "fourclass"])
def test_estimates_are_under_their_bounds_on_real_data(name, data_dir):
    from kernlearn.datasets import load

    bunch = load(name, data_dir=data_dir)
    X, y = bunch.data[:1000], bunch.target[:1000]
    for h in all_classes():
        estimate = rademacher_complexity(h, X, y, n_trials=30, random_state=0)
        assert estimate.mean + 3 * estimate.standard_error <= h.bound(100), h.name


# -- guarantees ----------------------------------------------------------------------------------

LENGTHS = st.integers(3, 3000)
SIZES = st.integers(1, 3000)
DELTAS = st.floats(1e-6, 0.99)
COMPLEXITIES = st.floats(0, 10)
STRONG = {"regret": 30.0, "lipschitz": 1.5, "strong_convexity": 0.7}


def test_theorem_6_3_by_hand():
    found = excess_risk_bound(4, complexity=0.3, regret=2.0, loss_bound=1.5, delta=0.1)
    mean = 0.3 * (1 + 2**-0.5 + 3**-0.5) / 3
    assert found.regret == pytest.approx(2 / 3)
    assert found.complexity == pytest.approx(4 * mean)
    assert found.confidence == pytest.approx(6 * 1.5 * math.sqrt(math.log(40) / 3))
    assert found.total == found.regret + found.complexity + found.confidence


def test_theorem_6_6_by_hand():
    arguments = {"complexity": 0.3, "regret": 2.0, "loss_bound": 1.5, "delta": 0.1}
    found = excess_risk_bound(5, 2, **arguments)
    # buffers of 1, 2, 2 and 2 points; 10 events
    mean = (1 + 3 * 2**-0.5) / 4
    level = math.log(100)
    assert found.regret == 0.5
    assert found.complexity == pytest.approx(2 * 0.3 * mean)
    chance = math.sqrt(2 * level / 4) + math.sqrt(level / 2) * mean
    assert found.confidence == pytest.approx(2 * 1.5 * chance)
    printed = excess_risk_bound(5, 2, **arguments, as_printed=True)
    assert printed.complexity == pytest.approx(2 * found.complexity)
    lemmas = 1.5 * math.sqrt(2 * math.log(50) / 2) + 3 * 1.5 * math.sqrt(math.log(50) / 2)
    assert printed.confidence == pytest.approx(lemmas)


def fast(n, terms, epsilon, *, regret, lipschitz, strong_convexity, R, B, C, delta):
    """Theorem 6.5 step by step."""
    union = delta / 2 / n
    C_delta = C**2 * (4 * (1 + epsilon) * lipschitz * R) ** 2 * (32 + math.log(1 / union))
    rich = C_delta * sum(terms) / (epsilon * strong_convexity)
    r = (1 + epsilon) * regret + rich
    root = math.sqrt(math.log(4 * math.log(n) / (delta / 2)))
    d = ((1 + epsilon) * 8 * lipschitz / math.sqrt(strong_convexity) / 4) ** 2
    b = (1 + epsilon) * B
    return (r + 4 * math.sqrt(d * r) * root + max(16 * d, 6 * b) * root**2) / (n - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_theorems_6_5_and_6_9_by_hand(epsilon):
    hand = {"R": 0.4, "B": 50.0, "C": 1.2, "delta": 0.1}
    options = {"feature_norm": 0.4, "loss_bound": 50.0, "dimension_factor": 1.2, "delta": 0.1}
    n = 40
    found = fast_rate_bound(n, **STRONG, **options, epsilon=epsilon)
    expected = fast(n, [1 / t for t in range(1, n)], epsilon, **STRONG, **hand)
    assert found.total == pytest.approx(expected)
    assert found.regret == pytest.approx(30 / 39)
    found = fast_rate_bound(n, 6, **STRONG, **options, epsilon=epsilon)
    expected = fast(n, [1 / min(t, 6) for t in range(1, n)], epsilon, **STRONG, **hand)
    assert found.total == pytest.approx(expected)
    assert min(found.complexity, found.confidence) > 0


@given(LENGTHS, st.floats(0, 1e6), st.floats(0.01, 1), DELTAS)
def test_epsilon_is_the_best_one(n, regret, epsilon, delta):
    options = {**STRONG, "regret": regret, "delta": delta}
    best = fast_rate_bound(n, **options).total
    assert best <= fast_rate_bound(n, **options, epsilon=epsilon).total * (1 + 1e-6)
    # a buffer that holds all is no buffer
    assert fast_rate_bound(n, n, **options).total == pytest.approx(best)


def test_lemma_6_23_by_hand():
    found = all_pairs_regret_bound(
        10, 4, buffer_regret=3.0, complexity=lambda m: 0.5 / m, loss_bound=2.0, delta=0.2
    )
    expected = 3 + 5 * (2 * 0.5 / 4 + 2 * math.sqrt(2 * math.log(100) / 4))
    assert found == pytest.approx(expected)


def test_lemma_6_24_by_hand():
    found = olp_buffer_regret_bound(4, lipschitz=3.0, diameter=2.0, eta=0.5)
    steps = 2**-0.5 + 3**-0.5 + 4**-0.5
    assert found == pytest.approx(2**2 * 2 / (2 * 0.5) + 0.5 * 9 / 2 * steps)


@given(LENGTHS, SIZES, st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.01, 10), COMPLEXITIES)
def test_theorem_6_13_is_its_lemmas(n, s, lipschitz, diameter, eta, c):
    ball = {"lipschitz": lipschitz, "diameter": diameter, "eta": eta}
    lemma = olp_buffer_regret_bound(n, **ball)
    found = olp_regret_bound(n, s, **ball, complexity=c, delta=0.1)
    assert found == all_pairs_regret_bound(n, s, buffer_regret=lemma, complexity=c, delta=0.1)
    assert s < n - 1 or found == lemma


def test_theorem_6_10_by_hand():
    assert contracted_complexity(0.3, lipschitz=2.0, largest_label=1.5) == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: excess_risk_bound(1, complexity=1.0), "n"),
        (lambda: excess_risk_bound(9, complexity=lambda m: math.nan), "complexity"),
        (lambda: fast_rate_bound(9, **STRONG, epsilon=1.5), "epsilon"),
        (lambda: fast_rate_bound(9, **{**STRONG, "lipschitz": 0}), "lipschitz"),
    ],
)
def test_bad_arguments_of_guarantees(call, name):
    with pytest.raises(ValueError, match=f"'{name}' must be"):
        call()
