import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.transfer import Identity, Ramp, Sigmoid, Sign, as_transfer
from kernlearn.theory import criteria
from kernlearn.theory.criteria import stratified_sample
from kernlearn.theory.goodness import (
    CRITERIA,
    best_weights,
    compare_criteria,
    goodness,
    goodness_table,
)

TRANSFERS = [Identity(), Sign(), Ramp(0.7), Ramp(5), Ramp(1000), Sigmoid(2), np.arctan]


def slow_pairs(K, own, f, w):
    """Equation 4.3 by three loops; own says which points are of the class."""
    n = len(K)
    margins = []
    for x in range(n):
        same = [i for i in range(n) if i != x and own[i] == own[x]]
        other = [i for i in range(n) if own[i] != own[x]]
        terms = [w[i] * w[j] * f(K[x, i] - K[x, j]) for i in same for j in other]
        margins.append(float(sum(terms)) / len(terms))
    return margins


def slow_means(K, own, w):
    """Equation 4.1 by loops."""
    n = len(K)
    margins = []
    for x in range(n):
        same = [w[i] * K[x, i] for i in range(n) if i != x and own[i] == own[x]]
        other = [w[i] * K[x, i] for i in range(n) if own[i] != own[x]]
        margins.append(sum(same) / len(same) - sum(other) / len(other))
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


@pytest.mark.parametrize("transfer", TRANSFERS, ids=lambda f: getattr(f, "__name__", None))
@settings(max_examples=40)
@given(sample=samples(), weighted=st.booleans())
def test_pairs_against_three_loops(transfer, sample, weighted):
    K, y, w = sample
    found = goodness(
        K, y, similarity="precomputed", transfer=transfer, weights=w if weighted else None
    )
    classes = np.unique(y)
    kept = classes[1:] if len(classes) == 2 else classes
    assert_array_equal(found.classes, kept)
    f = as_transfer(transfer)
    slow = [slow_pairs(K, y == c, f, w if weighted else np.ones(len(y))) for c in kept]
    assert_allclose(found.margins, slow, rtol=1e-9, atol=1e-10)
    assert_array_equal(found.sides, [np.where(y == c, 1, -1) for c in kept])


@settings(max_examples=40)
@given(sample=samples())
def test_balcan_and_blum_against_loops(sample):
    K, y, w = sample
    problems = np.unique(y)[1:] if y.max() == 1 else np.unique(y)
    for weights in (None, w):
        found = goodness(K, y, similarity="precomputed", weights=weights)
        slow = [slow_means(K, y == c, np.ones(len(y)) if weights is None else w) for c in problems]
        assert_allclose(found.margins, slow, rtol=1e-9, atol=1e-12)


def test_sign_of_differences_that_are_small_beside_the_values():
    K = np.tile([1.0, 1e-20, 0.0, 2e-20, -1e-300, 1 + 2**-52], (6, 1))
    y = np.array([0, 1, 0, 1, 0, 1])
    found = goodness(K, y, similarity="precomputed", transfer="sign")
    assert_array_equal(found.margins[0], slow_pairs(K, y == 1, np.sign, np.ones(6)))


@settings(max_examples=30)
@given(sample=samples())
def test_what_does_not_change_margins(sample):
    K, y, w = sample
    K = np.round(4 * K) / 4
    options = {"similarity": "precomputed", "weights": w}
    shifted = K + np.arange(len(y))[:, None]  # each row by its own whole number
    for transfer in (f for f in CRITERIA.values() if f is not None):
        plain = goodness(K, y, transfer=transfer, **options).margins
        moved = goodness(shifted, y, transfer=transfer, **options).margins
        assert_allclose(moved, plain, rtol=0, atol=1e-10)
        distance = goodness(-K, y, kind="distance", transfer=transfer, **options)
        assert_array_equal(distance.margins, plain)


def test_ramps_lie_between_identity_and_sign():
    rng = np.random.RandomState(0)
    K, y = rng.rand(30, 30), np.arange(30) % 3
    margins = {
        f: goodness(K, y, similarity="precomputed", transfer=f).margins
        for f in ("identity", 1, 1e9, "sign")
    }
    assert_allclose(margins[1], margins["identity"], atol=1e-14)  # differences are at most 1
    assert_allclose(margins[1e9], margins["sign"], atol=1e-5)
    assert_allclose(goodness(K, y, similarity="precomputed").margins, margins["identity"])


def test_constant_similarity_is_good_for_nothing():
    y = np.arange(31) % 3
    for good in compare_criteria(np.full((31, 31), 0.3), y, similarity="precomputed").values():
        assert_array_equal(good.margins, 0)
        assert good.misplaced == good.error == 1
        assert good.gamma(0.5) == 0
        assert good.epsilon(1e-12) == 1


def test_blocks_and_ways_to_give_a_similarity(monkeypatch):
    rng = np.random.RandomState(1)
    X, y = rng.randn(40, 3), rng.permutation(np.arange(40) % 4)
    kernel = GaussianKernel(2.0)
    whole = compare_criteria(X, y, similarity=kernel)
    monkeypatch.setattr(
        criteria,
        "row_blocks",
        lambda n, *_, **__: (slice(i, min(i + 7, n)) for i in range(0, n, 7)),
    )
    K = kernel(X)
    for options in (
        {"X": X, "similarity": kernel},
        {"X": csr_matrix(X), "similarity": kernel},
        {"X": X.tolist(), "similarity": lambda A, B: kernel(A, B)},
        {"X": K, "similarity": "precomputed"},
    ):
        found = compare_criteria(y=y, **options)
        assert list(found) == list(CRITERIA)
        for name in set(CRITERIA) - {"Wang et al."}:
            assert_allclose(found[name].margins, whole[name].margins, atol=1e-9)
    words = ["ab", "aab", "ba", "xyz", "yz", "zzy"]
    common = lambda A, B: np.array([[len({*a} & {*b}) for b in B] for a in A])  # noqa: E731
    assert goodness(words, [0, 0, 0, 1, 1, 1], similarity=common).error == 0


def test_float32_and_names_of_classes():
    rng = np.random.RandomState(2)
    X = rng.randn(30, 4)
    y = np.array(["no", "yes", "perhaps"])[np.arange(30) % 3]
    kernel = GaussianKernel(1.5)
    low = goodness(X.astype(np.float32), y, similarity=kernel)
    assert_allclose(low.margins, goodness(X, y, similarity=kernel).margins, atol=1e-5)
    assert low.classes.tolist() == ["no", "perhaps", "yes"]


def test_error_is_that_of_the_largest_value():
    rng = np.random.RandomState(3)
    y = np.arange(40) % 4
    K = rng.rand(40, 40) + 0.2 * (y[:, None] == y)
    good = goodness(K, y, similarity="precomputed", transfer=5)
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
    good = goodness(K, y, similarity="precomputed", c_f=c_f)
    gamma = good.gamma(share)
    assert good.epsilon(gamma) <= share + 1e-9
    assert good.epsilon(np.nextafter(gamma, np.inf) + 1e-300) > share - 1e-9
    below = [(good.margins < c_f * g).mean() for g in (-0.5, 0.0, 0.1)]
    assert_allclose(good.epsilon([-0.5, 0.0, 0.1]), below)


def test_gamma_allows_the_whole_share():
    K = np.zeros((10, 10))
    K[:, :5] = np.arange(10)[:, None]
    good = goodness(K, np.arange(10) // 5, similarity="precomputed")
    ordered = np.sort(good.margins[0])
    for i in range(10):
        assert good.gamma(i / 10) == ordered[i]  # 0.3 * 10 and the like are rounded
    assert good.gamma([0, 0.05]).tolist() == [ordered[0], ordered[0]]


def test_losses():
    rng = np.random.RandomState(4)
    good = goodness(rng.rand(20, 20), np.arange(20) % 2, similarity="precomputed", transfer=3)
    margins = good.margins[0].tolist()
    assert good.loss(gamma=0.2) == pytest.approx(np.mean([max(0.0, 1 - m / 0.2) for m in margins]))
    assert good.loss("logistic") == pytest.approx(
        np.mean([math.log1p(math.exp(-m)) for m in margins])
    )
    # the loss that makes definition 4.1 of definition 4.6
    assert good.loss(lambda t: t < 0.05) == good.epsilon(0.05)
    table = goodness_table({"a": good}, gamma=0.05, epsilon=0.3)
    assert table.loc["a"].to_dict() == {
        "epsilon": good.epsilon(0.05),
        "hinge_loss": good.loss(gamma=0.05),
        "gamma": good.gamma(0.3),
        "misplaced": good.misplaced,
        "error": good.error,
        "mean_margin": pytest.approx(np.mean(margins)),
    }


def test_range_of_a_transfer_function():
    rng = np.random.RandomState(5)
    K, y = 0.2 + 0.5 * rng.rand(12, 12), np.arange(12) % 2
    f = Sigmoid(3)
    good = goodness(K, y, similarity="precomputed", transfer=f, c_f="range")
    assert good.c_f == pytest.approx(f(K).max() - f(K).min())
    plain = goodness(K, y, similarity="precomputed", transfer=f)
    assert_array_equal(plain.margins, good.margins)
    assert good.gamma(0.2) == pytest.approx(plain.gamma(0.2) / good.c_f)
    assert good.bound == 1
    weights = np.linspace(-0.5, 0.25, 12)
    single = goodness(K, y, similarity="precomputed", weights=weights)
    pairs = goodness(K, y, similarity="precomputed", weights=weights, transfer=1)
    assert (single.bound, pairs.bound) == (0.5, 0.25)
    with pytest.raises(ValueError, match=r"c_f='range' .* Sign\(\) is 1 on all of them"):
        goodness(K, y, similarity="precomputed", transfer="sign", c_f="range")


def test_sample_of_references():
    rng = np.random.RandomState(6)
    y = rng.permutation(np.repeat([0, 1, 2], [150, 40, 10]))
    K = rng.rand(200, 200) + 0.2 * (y[:, None] == y)
    options = {"similarity": "precomputed", "transfer": np.tanh}
    exact = goodness(K, y, max_references=200, **options)
    drawn = goodness(K, y, max_references=100, random_state=0, **options)
    again = goodness(K, y, max_references=100, random_state=0, **options)
    assert_array_equal(drawn.margins, again.margins)
    assert not np.array_equal(drawn.margins, exact.margins)
    # unbiased: the mean of many draws, within five standard errors
    draws = np.array(
        [
            goodness(K, y, max_references=100, random_state=i, **options).mean_margin
            for i in range(20)
        ]
    )
    assert abs(draws.mean() - exact.mean_margin) < 5 * draws.std(ddof=1) / math.sqrt(20)


@given(
    counts=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    size=st.integers(4, 100),
    seed=st.integers(0, 9),
)
def test_stratified_sample(counts, size, seed):
    codes = np.random.RandomState(seed).permutation(np.repeat(np.arange(len(counts)), counts))
    drawn = stratified_sample(codes, size, np.random.RandomState(seed))
    assert (np.diff(drawn) > 0).all()
    found = np.bincount(codes[drawn], minlength=len(counts))
    if sum(counts) <= size:
        assert found.tolist() == counts
    for count, got in zip(counts, found, strict=True):
        assert min(count, 2) <= got <= max(2, size * count / sum(counts)) or got == count
        assert got > size * count / sum(counts) - 1 or got == count


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X": np.ones((6, 5))}, r"needs a square matrix .* got shape \(6, 5\)"),
        ({"X": np.full((6, 6), np.nan)}, "is NaN"),
        ({"y": [0, 0, 0, 0, 0, 0]}, "'y' must have at least two classes, got 1"),
        ({"y": [0, 0, 0, 0, 0, "a"]}, "'y' has one point of class a; each class needs at"),
        ({"y": [0, 0, 0, 1, 1]}, "inconsistent numbers of samples"),
        ({"y": [0.1, 0.2, 0.3, 0.1, 0.2, 0.3]}, "Unknown label type: continuous"),
        ({"weights": [1.0, 2.0]}, r"'weights' must have one number per point, \(6,\), got"),
        ({"weights": [1, 1, 1, 1, 1, np.inf]}, "weights contains infinity"),
        ({"kind": "dissimilarity"}, "The 'kind' parameter .* must be a str among"),
        ({"transfer": "signum"}, "'transfer' must be one of"),
        ({"transfer": np.cos}, "'cos' is not antisymmetric"),
        ({"c_f": 0}, "'c_f' must be a finite number above 0 or 'range', got 0"),
        ({"c_f": "max"}, "'c_f' must be a finite number above 0 or 'range', got 'max'"),
        ({"max_references": 0}, "'max_references' must be an int >= 1, got 0"),
    ],
)
def test_bad_arguments(changes, message):
    rng = np.random.RandomState(7)
    options = {"X": rng.rand(6, 6), "y": [0, 1, 0, 1, 0, 1], "similarity": "precomputed"} | changes
    with pytest.raises(ValueError, match=message):
        goodness(**options)


def test_bad_arguments_of_the_result():
    good = goodness(np.eye(4), [0, 0, 1, 1], similarity="precomputed")
    with pytest.raises(ValueError, match="'epsilon' must be at least 0 and less than 1, got 1"):
        good.gamma(1)
    with pytest.raises(ValueError, match="'gamma' must be a finite number above 0, got 0"):
        good.loss(gamma=0)
    with pytest.raises(ValueError, match="'loss' must be 'hinge', 'logistic' or a callable"):
        good.loss("squared")


def test_best_weights_are_the_best():
    rng = np.random.RandomState(8)
    y = np.arange(7) % 2
    K = rng.rand(7, 7) * 2 - 1

    def loss(w, gamma):
        margins = slow_means(K, y == 1, w)
        return np.mean([max(0.0, 1 - m / gamma) for m in margins])

    for gamma in (0.1, 0.8):
        w = best_weights(K, y, gamma=gamma, similarity="precomputed")
        assert (abs(w) <= 1).all()
        best = loss(w, gamma)
        good = goodness(K, y, similarity="precomputed", weights=w)
        assert good.loss(gamma=gamma) == pytest.approx(best)
        grid = itertools.product([-1, -0.5, 0, 0.5, 1], repeat=7)
        some = [c for i, c in enumerate(grid) if i % 40 == 0]
        assert best <= min(loss(c, gamma) for c in some) + 1e-9
        # convex: no step around the optimum leads down
        for step in rng.randn(200, 7) * 0.05:
            assert best <= loss(np.clip(w + step, -1, 1), gamma) + 1e-9
    assert loss(w, 0.8) < loss(np.ones(7), 0.8) - 0.05


def test_best_weights_refuse():
    with pytest.raises(ValueError, match="'y' must have two classes, got 3: take one against"):
        best_weights(np.eye(6), [0, 1, 2] * 2, gamma=0.1, similarity="precomputed")
    with pytest.raises(ValueError, match="'gamma' must be a finite number above 0"):
        best_weights(np.eye(4), [0, 1] * 2, gamma=-1, similarity="precomputed")


@pytest.mark.data
def test_similarities_of_sounds(data_dir):
    from kernlearn.datasets import load

    sounds = load("aural_sonar", data_dir=data_dir)
    found = compare_criteria(sounds.data, sounds.target, similarity="precomputed")
    for good in found.values():
        assert good.error < 0.25
