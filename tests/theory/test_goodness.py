import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog, minimize
from scipy.sparse import csr_matrix
from sklearn.model_selection import StratifiedKFold

from kernlearn.kernels import GaussianKernel, as_kernel
from kernlearn.landmarks import BBSClassifier, Identity, Ramp, Sign, as_transfer
from kernlearn.theory import (
    classification_goodness,
    compare_similarities,
    ordinal_goodness,
    ranking_goodness,
    regression_goodness,
)
from kernlearn.theory.goodness import scaled_goodness

TRANSFERS = [Identity(), Sign(), Ramp(0.7), Ramp(5), Ramp(1000)]


def slow_pairs(K, own, f, w):
    """Equation 4.3 by three loops, or 4.1 without f; own says which points are of the class."""
    n, margins = len(K), []
    for x in range(n):
        same = [i for i in range(n) if i != x and own[i] == own[x]]
        other = [i for i in range(n) if own[i] != own[x]]
        if f is None:
            means = [np.mean([w[i] * K[x, i] for i in group]) for group in (same, other)]
            margins.append(means[0] - means[1])
        else:
            terms = [w[i] * w[j] * f(K[x, i] - K[x, j]) for i in same for j in other]
            margins.append(float(np.mean(terms)))
    return margins


@st.composite
def samples(draw, max_classes=4):
    """An asymmetric matrix with many ties or none, labels with two of each class, weights."""
    k = draw(st.integers(2, max_classes))
    rest = draw(st.lists(st.integers(0, k - 1), max_size=5))
    y = np.array(draw(st.permutations([*range(k), *range(k), *rest])))
    n = len(y)
    steps = st.integers(-4, 4).map(lambda i: i / 4)
    entries = draw(st.sampled_from([steps, st.floats(-1, 1, width=32)]))
    K = draw(hnp.arrays(np.float64, (n, n), elements=entries))
    return K, y, draw(hnp.arrays(np.float64, n, elements=st.floats(-1, 1, width=32)))


@pytest.mark.parametrize("transfer", [None, *TRANSFERS], ids=repr)
@settings(max_examples=40)
@given(sample=samples(), weighted=st.booleans())
def test_margins_against_loops(transfer, sample, weighted):
    K, y, w = sample
    found = classification_goodness(
        K, y, similarity="precomputed", transfer=transfer, weights=w if weighted else None
    )
    classes = np.unique(y)
    kept = classes[1:] if len(classes) == 2 else classes
    assert_array_equal(found.classes, kept)
    f = None if transfer is None else as_transfer(transfer)
    slow = [slow_pairs(K, y == c, f, w if weighted else np.ones(len(y))) for c in kept]
    assert_allclose(found.margins, slow, rtol=1e-9, atol=1e-10)
    assert_array_equal(found.sides, [np.where(y == c, 1, -1) for c in kept])


def test_sign_of_differences_that_are_small_beside_the_values():
    K = np.tile([1.0, 1e-20, 0.0, 2e-20, -1e-300, 1 + 2**-52], (6, 1))
    y = np.array([0, 1, 0, 1, 0, 1])
    found = classification_goodness(K, y, similarity="precomputed", transfer="sign")
    assert_array_equal(found.margins[0], slow_pairs(K, y == 1, np.sign, np.ones(6)))


def test_constant_similarity_is_good_for_nothing():
    y = np.arange(31) % 3
    for f in (None, "sign", "identity", 1, 1000):
        good = classification_goodness(
            np.full((31, 31), 0.3), y, similarity="precomputed", transfer=f
        )
        assert_array_equal(good.margins, 0)
        assert good.misplaced == good.error == 1
        assert good.gamma(0.5) == 0
        assert good.epsilon(1e-12) == 1


def test_similarities_of_any_kind():
    rng = np.random.RandomState(1)
    X, y = rng.randn(40, 3), rng.permutation(np.arange(40) % 4)
    kernel = GaussianKernel(2.0)
    margins = classification_goodness(X, y, similarity=kernel, transfer=5).margins
    for points, similarity in (
        (csr_matrix(X), kernel),
        (X.tolist(), lambda A, B: kernel(A, B)),
        (kernel(X), "precomputed"),
    ):
        found = classification_goodness(points, y, similarity=similarity, transfer=5)
        assert_allclose(found.margins, margins, atol=1e-9)
    words = ["ab", "aab", "ba", "xyz", "yz", "zzy"]
    common = lambda A, B: np.array([[len({*a} & {*b}) for b in B] for a in A])  # noqa: E731
    assert classification_goodness(words, [0, 0, 0, 1, 1, 1], similarity=common).error == 0


def test_error_is_that_of_the_largest_value():
    rng = np.random.RandomState(3)
    y = np.arange(40) % 4
    K = rng.rand(40, 40) + 0.2 * (y[:, None] == y)
    good = classification_goodness(K, y, similarity="precomputed", transfer=5)
    wrong = 0
    for x in range(40):
        values = [good.margins[c, x] * (1 if y[x] == c else -1) for c in range(4)]
        wrong += int(np.argmax(values)) != y[x]
    assert 0 < wrong < 40
    assert good.error == wrong / 40
    pooled = (good.margins < 0.1).mean(axis=1)
    assert good.epsilon(0.1) == pytest.approx(np.mean(pooled))


@settings(max_examples=40)
@given(sample=samples(), share=st.floats(0, 0.99), c_f=st.sampled_from([0.5, 1.0, 2.0]))
def test_epsilon_and_gamma_are_inverse(sample, share, c_f):
    K, y, _ = sample
    good = classification_goodness(K, y, similarity="precomputed", c_f=c_f)
    gamma = good.gamma(share)
    assert good.epsilon(gamma) <= share + 1e-9
    assert good.epsilon(np.nextafter(gamma, np.inf) + 1e-300) > share - 1e-9
    below = [(good.margins < c_f * g).mean() for g in (-0.5, 0.0, 0.1)]
    assert_allclose(good.epsilon([-0.5, 0.0, 0.1]), below)


def test_losses():
    K = np.random.RandomState(4).rand(20, 20)
    good = classification_goodness(K, np.arange(20) % 2, similarity="precomputed", transfer=3)
    hinge = [max(0.0, 1 - m / 0.2) for m in good.margins[0]]
    assert good.loss(gamma=0.2) == pytest.approx(np.mean(hinge))
    logistic = [math.log1p(math.exp(-m)) for m in good.margins[0]]
    assert good.loss("logistic") == pytest.approx(np.mean(logistic))
    # the loss that makes definition 4.1 of definition 4.6
    assert good.loss(lambda t: t < 0.05) == good.epsilon(0.05)


def test_c_f_and_the_bound_of_weights():
    sample = {"X": np.random.RandomState(5).rand(12, 12), "y": np.arange(12) % 2}
    sample["similarity"] = "precomputed"
    one, two = (classification_goodness(**sample, transfer="sign", c_f=c_f) for c_f in (1, 2))
    assert two.gamma(0.2) == one.gamma(0.2) / 2
    weights = np.linspace(-0.5, 0.25, 12)
    for transfer, bound in ((None, 0.5), (1, 0.25)):
        good = classification_goodness(**sample, weights=weights, transfer=transfer)
        assert good.bound == bound


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.ones((6, 5))}, "square matrix"),
        ({"X": np.full((6, 6), np.nan)}, "is NaN"),
        ({"y": [0, 0, 0, 0, 0, 0]}, "'y'"),
        ({"y": [0, 0, 0, 0, 0, "a"]}, "two points of each"),
        ({"y": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]}, "continuous"),
        ({"weights": [1.0, 2.0]}, "'weights'"),
    ],
)
def test_bad_arguments(changes, message):
    rng = np.random.RandomState(7)
    options = {"X": rng.rand(6, 6), "y": [0, 1, 0, 1, 0, 1], "similarity": "precomputed"} | changes
    with pytest.raises(ValueError, match=message):
        classification_goodness(**options)


# -- regression, grades and ranking ----------------------------------------------------------

RNG = np.random.RandomState(0)
N = 14
K = RNG.uniform(-1, 1, size=(N, N))  # neither symmetric nor definite
Y = RNG.normal(size=N)
GRADES = pd.Categorical.from_codes(RNG.randint(0, 3, N), ["z", "b", "c"], ordered=True)
QUERIES = np.array([0] * 6 + [1] * 3 + [2] * 5)
RELEVANCE = np.array([0, 1, 2, 0, 1, 0, 0, 0, 0, 2, 2, 1, 0, 0])


def predictions(w):
    return [sum(w[j] * K[i, j] for j in range(N)) / N for i in range(N)]


def least_loss(columns, epsilon, bound):
    """The textbook's program: w, then one loss a point, loss_i >= ±(f_i - y_i) - ε."""
    n = columns.shape[1]
    return linprog(
        [0] * n + [1 / N] * N,
        A_ub=np.block([[columns, -np.eye(N)], [-columns, -np.eye(N)]]),
        b_ub=np.concatenate([Y + epsilon, epsilon - Y]),
        bounds=[(-bound, bound)] * n + [(0, None)] * N,
    ).fun


@pytest.mark.parametrize("bound", [0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_by_the_textbook_program(bound, epsilon):
    good = regression_goodness(K, Y, bound=bound, epsilon=epsilon, similarity="precomputed")
    assert good.loss == pytest.approx(least_loss(K / N, epsilon, bound), rel=1e-7)
    np.testing.assert_allclose(good.predictions, predictions(good.weights), rtol=1e-9, atol=1e-9)
    errors = np.abs(good.predictions - Y)
    assert good.loss == pytest.approx(np.maximum(errors - epsilon, 0).mean(), rel=1e-12)
    assert np.abs(good.weights).max() <= bound
    assert (good.choice == 1).all()


@pytest.mark.parametrize("bound", [0.5, 8.0, 1000.0])
def test_squared_loss_meets_its_optimality_conditions(bound):
    good = regression_goodness(K, Y, bound=bound, loss="squared", similarity="precomputed")
    w = good.weights
    gradient = K.T @ (predictions(w) - Y) / N
    inside = np.abs(w) < bound * (1 - 1e-9)
    np.testing.assert_allclose(gradient[inside], 0, atol=1e-9)
    assert (gradient[~inside] * np.sign(w[~inside]) < 1e-9).all()
    assert good.loss == pytest.approx(np.mean((np.array(predictions(w)) - Y) ** 2), rel=1e-9)


@pytest.mark.parametrize("n_chosen", [1, 2])
def test_no_choice_of_landmarks_is_better_than_one_by_chance(n_chosen):
    """Of definition 5.7, with a choice function of values 0 and 1."""
    tau = n_chosen / N
    good = regression_goodness(K, Y, bound=2, epsilon=0.1, tau=tau, similarity="precomputed")
    choices = itertools.combinations(range(N), n_chosen)
    assert good.loss <= min(least_loss(K[:, c] / n_chosen, 0.1, 2) for c in choices) + 1e-9
    assert good.choice.mean() == pytest.approx(tau, rel=1e-9)
    assert ((good.choice >= 0) & (good.choice <= 1)).all()
    assert np.abs(good.weights).max() <= 2
    expected = K @ (good.choice * good.weights) / (N * tau)
    np.testing.assert_allclose(good.predictions, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("spacing", [0.0, 0.5])
@pytest.mark.parametrize("bound", [1.0, 10.0])
def test_ordinal_by_the_textbook_program(bound, spacing):
    margin = 0.4
    good = ordinal_goodness(
        K, GRADES, bound=bound, margin=margin, spacing=spacing, similarity="precomputed"
    )
    A, rows = K / N, []
    # w, b_2, b_3, then one loss a point and threshold, of which the outer grades have one
    for i, grade in enumerate(GRADES.codes):
        for number in (0, 1):
            side = -1 if number < grade else 1
            if number not in (grade, grade - 1):
                continue
            bars, slack = np.zeros(2), np.zeros(2 * N)
            bars[number], slack[2 * i + number] = -side, -1
            rows.append(np.concatenate([side * A[i], bars, slack]))
    rows.append(np.concatenate([np.zeros(N), [1, -1], np.zeros(2 * N)]))
    slow = linprog(
        [0] * (N + 2) + [1 / N] * (2 * N),
        A_ub=rows,
        b_ub=[*np.full(len(rows) - 1, -margin), -spacing],
        bounds=[(-bound, bound)] * N + [(None, None)] * 2 + [(0, None)] * (2 * N),
    )
    assert good.loss == pytest.approx(slow.fun, rel=1e-7)
    assert np.diff(good.thresholds)[0] >= spacing - 1e-9
    f, ends = good.predictions, [-np.inf, *good.thresholds, np.inf]
    np.testing.assert_allclose(f, predictions(good.weights), rtol=1e-9, atol=1e-9)
    losses = [
        max(margin - t + ends[g], 0) + max(margin - ends[g + 1] + t, 0)
        for t, g in zip(f, GRADES.codes, strict=True)
    ]
    assert good.loss == pytest.approx(np.mean(losses), rel=1e-9)


@pytest.mark.parametrize("bound", [0.5, 4.0])
def test_ranking_is_the_slow_version(bound):
    good = ranking_goodness(K, RELEVANCE, qid=QUERIES, bound=bound, similarity="precomputed")
    eta, share = {}, {}
    for q in (0, 2):  # query 1 has no relevant document
        own = np.flatnonzero(np.equal(QUERIES, q))
        gains = 2.0 ** RELEVANCE[own] - 1
        norm = sum(g / math.log(2 + i) for i, g in enumerate(sorted(gains)[::-1]))
        eta.update(zip(own, gains / norm, strict=True))
        share.update(dict.fromkeys(own, 1 / 2 / len(own)))

    def loss(w):
        f = {i: sum(share[j] * w[j] * K[i, j] for j in share) for i in eta}
        return sum((f[i] - eta[i]) ** 2 for i in eta) / 2

    assert good.loss == pytest.approx(loss(good.weights), rel=1e-9)
    assert np.isnan(good.predictions[np.equal(QUERIES, 1)]).all()
    slow = minimize(
        loss,
        np.zeros(N),
        bounds=[(-bound, bound)] * N,
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 5000, "maxfun": 10**6},
    )
    assert good.loss == pytest.approx(slow.fun, rel=1e-5)
    assert good.loss <= slow.fun * (1 + 1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: regression_goodness(K, Y, bound=1, tau=1.5), "'tau'"),
        (lambda: regression_goodness(K, Y, bound=1, loss="squared", tau=0.5), "'tau'"),
        (lambda: regression_goodness(K, Y, bound=1, similarity="gauss"), "no similarity 'gauss'"),
        (lambda: ordinal_goodness(K, np.ones(N), bound=1), "two classes"),
        (lambda: ordinal_goodness(K, GRADES, bound=1, spacing=-1), "'spacing'"),
        (lambda: ranking_goodness(K, np.zeros(N), bound=1), "'y'"),
    ],
)
def test_bad_arguments_of_the_best_predictors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_similarities_are_compared_on_the_same_held_out_points():
    words, y = np.array([f"{'ab' * (i % 2)}{i:05b}" for i in range(40)]), np.arange(40) % 2
    edit, scores = as_kernel("levenshtein"), []
    model = BBSClassifier(10, similarity=lambda X, Y: -edit(X, Y), kind="distance", random_state=0)
    table = compare_similarities(words, y, {"one": model.similarity}, model=model, cv=3)
    for train, test in StratifiedKFold(3).split(words, y):
        K = edit(words[test], words[test])
        good = classification_goodness(K / abs(K).max(), y[test], similarity="precomputed")
        accuracy = model.fit(words[train], y[train]).score(words[test], y[test])
        scores.append([accuracy, good.error, good.gamma(0.1)])
    assert_allclose(table[["accuracy", "error", "gamma"]], [np.mean(scores, axis=0)])


def test_distances_may_be_counts_in_bytes():
    D, y = np.abs(np.subtract.outer(range(6), range(6))), [0, 0, 0, 1, 1, 1]
    found = [scaled_goodness(D.astype(t), y, "precomputed", "distance") for t in (float, np.uint8)]
    assert found[0].margins.tolist() == found[1].margins.tolist()
