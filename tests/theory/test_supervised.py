import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from kernlearn.theory.landmarks import ranking_weight_bound
from kernlearn.theory.supervised import ordinal_goodness, ranking_goodness, regression_goodness

RNG = np.random.RandomState(0)
N = 14
K = RNG.uniform(-1, 1, size=(N, N))  # neither symmetric nor definite
Y = RNG.normal(size=N)
GRADES = np.array(["a", "b", "c"])[RNG.randint(0, 3, N)]
QUERIES = np.array([0] * 6 + [1] * 3 + [2] * 5)
RELEVANCE = np.array([0, 1, 2, 0, 1, 0, 0, 0, 0, 2, 2, 1, 0, 0])


def predictions(w):
    return [sum(w[j] * K[i, j] for j in range(N)) / N for i in range(N)]


def mean_loss(f, y, epsilon):
    return np.maximum(np.abs(np.asarray(f) - y) - epsilon, 0).mean()


@pytest.mark.parametrize("bound", [0.5, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.2])
def test_regression_by_the_textbook_program(bound, epsilon):
    good = regression_goodness(K, Y, bound=bound, epsilon=epsilon, similarity="precomputed")
    # w, then one loss a point: loss_i >= ±(f_i - y_i) - ε
    A = np.array([[K[i, j] / N for j in range(N)] for i in range(N)])
    slow = linprog(
        [0] * N + [1 / N] * N,
        A_ub=np.block([[A, -np.eye(N)], [-A, -np.eye(N)]]),
        b_ub=np.concatenate([Y + epsilon, epsilon - Y]),
        bounds=[(-bound, bound)] * N + [(0, None)] * N,
    )
    assert good.loss == pytest.approx(slow.fun, rel=1e-7)
    np.testing.assert_allclose(good.predictions, predictions(good.weights), rtol=1e-9, atol=1e-9)
    assert good.loss == pytest.approx(mean_loss(good.predictions, Y, epsilon), rel=1e-12)
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


def choices(tau):
    """All landmarks of definition 5.7 with a choice function of values 0 and 1."""
    return itertools.combinations(range(N), round(tau * N))


@pytest.mark.parametrize("tau", [1 / 14, 2 / 14])
def test_no_choice_of_landmarks_is_better_than_one_by_chance(tau):
    good = regression_goodness(K, Y, bound=2, epsilon=0.1, tau=tau, similarity="precomputed")
    n_chosen = round(tau * N)
    losses = []
    for chosen in choices(tau):
        A = K[:, chosen] / n_chosen
        n = len(chosen)
        slow = linprog(
            [0] * n + [1 / N] * N,
            A_ub=np.block([[A, -np.eye(N)], [-A, -np.eye(N)]]),
            b_ub=np.concatenate([Y + 0.1, 0.1 - Y]),
            bounds=[(-2, 2)] * n + [(0, None)] * N,
        )
        losses.append(slow.fun)
    assert good.loss <= min(losses) + 1e-9
    assert good.choice.mean() == pytest.approx(tau, rel=1e-9)
    assert ((good.choice >= 0) & (good.choice <= 1)).all()
    assert np.abs(good.weights).max() <= 2
    expected = K @ (good.choice * good.weights) / (N * tau)
    np.testing.assert_allclose(good.predictions, expected, rtol=1e-9, atol=1e-9)


def test_theorem_5_10():
    dense = regression_goodness(K, Y, bound=2, similarity="precomputed")
    # (ε₀, B) is (ε₀, B, mean |w| / B): here with a smaller mean
    tau = np.abs(dense.weights).mean() / 2
    sparse = regression_goodness(K, Y, bound=2, tau=tau, similarity="precomputed")
    assert sparse.loss <= dense.loss + 1e-9
    # (ε₀, B, τ) is (ε₀, B / τ)
    wider = regression_goodness(K, Y, bound=2 / tau, similarity="precomputed")
    assert wider.loss <= sparse.loss + 1e-9


@pytest.mark.parametrize("spacing", [0.0, 0.5])
@pytest.mark.parametrize("bound", [1.0, 10.0])
def test_ordinal_by_the_textbook_program(bound, spacing):
    margin = 0.4
    good = ordinal_goodness(
        K, GRADES, bound=bound, margin=margin, spacing=spacing, similarity="precomputed"
    )
    A = K / N
    rows, limits = [], []
    # w, b_2, b_3, then one loss a point and threshold
    for i, grade in enumerate(GRADES):
        for number, sides in enumerate(({"a": 1, "b": -1, "c": -1}, {"a": 1, "b": 1, "c": -1})):
            side = sides[grade]
            bars, slack = np.zeros(2), np.zeros(2 * N)
            if (grade, number) in (("a", 1), ("c", 0)):
                continue  # thresholds of other grades
            bars[number] = -side
            slack[2 * i + number] = -1
            rows.append(np.concatenate([side * A[i], bars, slack]))
            limits.append(-margin)
    rows.append(np.concatenate([np.zeros(N), [1, -1], np.zeros(2 * N)]))
    limits.append(-spacing)
    slow = linprog(
        [0] * (N + 2) + [1 / N] * (2 * N),
        A_ub=rows,
        b_ub=limits,
        bounds=[(-bound, bound)] * N + [(None, None)] * 2 + [(0, None)] * (2 * N),
    )
    assert good.loss == pytest.approx(slow.fun, rel=1e-7)
    assert np.diff(good.thresholds)[0] >= spacing - 1e-9
    f, (b2, b3) = good.predictions, good.thresholds
    np.testing.assert_allclose(f, predictions(good.weights), rtol=1e-9, atol=1e-9)
    ends = {"a": (-np.inf, b2), "b": (b2, b3), "c": (b3, np.inf)}
    losses = [
        max(margin - t + ends[g][0], 0) + max(margin - ends[g][1] + t, 0)
        for t, g in zip(f, GRADES, strict=True)
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
    assert good.losses.shape == (2,)
    slow = minimize(
        loss,
        np.zeros(N),
        bounds=[(-bound, bound)] * N,
        method="L-BFGS-B",
        options={"ftol": 1e-14, "gtol": 1e-10, "maxiter": 5000, "maxfun": 10**6},
    )
    assert good.loss == pytest.approx(slow.fun, rel=1e-5)
    assert good.loss <= slow.fun * (1 + 1e-9)


def test_a_larger_bound_is_no_worse():
    x = np.linspace(0, 1, 30)
    X, y = x[:, None], np.sin(9 * x)
    losses = [regression_goodness(X, y, bound=bound).loss for bound in (0.1, 1, 10, 100)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] > 0.3
    assert losses[-1] < 0.15


def test_points_of_any_kind_and_distances():
    words, lengths = ["a", "ab", "abc", "abcd"], [1.0, 2.0, 3.0, 4.0]
    one = regression_goodness(words, lengths, bound=9, similarity="levenshtein")
    assert one.loss < regression_goodness(words, lengths, bound=1, similarity="levenshtein").loss
    by_distance = regression_goodness(-K, Y, bound=1, similarity="precomputed", kind="distance")
    by_similarity = regression_goodness(K, Y, bound=1, similarity="precomputed")
    assert by_distance.loss == pytest.approx(by_similarity.loss, rel=1e-9)


class TestBadInput:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"bound": 0}, "'bound' must be a finite number above 0, got 0"),
            ({"tau": 1.5}, "'tau' must be above 0 and at most 1"),
            ({"epsilon": -1}, "'epsilon' must be a finite number of 0 or more"),
            ({"loss": "hinge"}, "'loss' must be 'epsilon_insensitive' or 'squared', got 'hinge'"),
            ({"loss": "squared", "tau": 0.5}, "'tau' must be 1 for loss='squared'"),
            ({"y": Y[1:]}, "inconsistent numbers of samples"),
            ({"similarity": "gauss"}, "must be one of"),
        ],
        ids=["bound", "tau", "epsilon", "loss", "squared", "lengths", "similarity"],
    )
    def test_regression(self, arguments, message):
        arguments = {"X": K, "y": Y, "bound": 1, "similarity": "precomputed"} | arguments
        with pytest.raises(ValueError, match=message):
            regression_goodness(**arguments)

    def test_others(self):
        with pytest.raises(ValueError, match="'y' must have at least two grades, got 1"):
            ordinal_goodness(K, np.ones(N), bound=1)
        with pytest.raises(ValueError, match="'spacing' must be a finite number of 0 or more"):
            ordinal_goodness(K, GRADES, bound=1, spacing=-1)
        with pytest.raises(ValueError, match="'y' must contain a relevance above 0"):
            ranking_goodness(K, np.zeros(N), bound=1)


@pytest.mark.parametrize("n_documents", [1, 4])
def test_kernels_that_rank_well_are_good_similarities(n_documents):
    # theorem 5.21 with the kernel's own best vector on a sample
    n_queries, epsilon = 6, 0.3
    rng = np.random.RandomState(n_documents)
    Z = rng.normal(size=(n_queries * n_documents, 3))
    Z /= np.linalg.norm(Z, axis=1, keepdims=True)
    relevance = rng.randint(1, 3, len(Z))
    query = np.repeat(np.arange(n_queries), n_documents)
    w = rng.normal(size=3)
    w /= np.linalg.norm(w)
    gamma = 0.8
    eta = np.concatenate(
        [
            g / (np.sort(g)[::-1] / np.log(np.arange(2, len(g) + 2))).sum()
            for g in np.split(2.0**relevance - 1, n_queries)
        ]
    )
    kernel_loss = ((Z @ w / gamma - eta) ** 2).sum() / n_queries
    bound = ranking_weight_bound(gamma, n_documents=n_documents, epsilon=epsilon)
    good = ranking_goodness(Z, relevance, qid=query, bound=bound, similarity="linear")
    assert good.loss <= kernel_loss + epsilon
