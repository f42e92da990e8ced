"""Several similarities on one sample, against slow versions, and the coverage of the intervals."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import BBSClassifier
from kernlearn.theory.comparison import rank, sample_points, take_similarities
from kernlearn.theory.goodness import compare_similarities, corrected_mean
from kernlearn.theory.resampling import (
    corrected_p_value,
    error_floor,
    holm_adjusted,
    random_split,
    stratified_order,
)
from kernlearn.theory.sampled import SampledSimilarity
from kernlearn.theory.suitability import Task


def blobs(n, seed, shift=1.0):
    rng = np.random.RandomState(seed)
    y = rng.randint(2, size=n)
    return rng.randn(n, 3) + shift * y[:, None], y


def test_corrected_mean_is_that_of_nadeau_and_bengio():
    values = [0.2, 0.25, 0.1, 0.3, 0.22]
    n_train, n_test = 80, 20
    variance = (1 / 5 + n_test / n_train) * np.var(values, ddof=1)
    half = stats.t.ppf(0.95, 4) * np.sqrt(variance)
    found = corrected_mean(values, level=0.1)
    assert_allclose(found, (np.mean(values), np.mean(values) - half, np.mean(values) + half))
    assert corrected_p_value(values) == pytest.approx(
        stats.t.sf(np.mean(values) / np.sqrt(variance), 4)
    )
    assert corrected_p_value([0.0, 0.0]) == 1
    assert corrected_p_value([0.1, 0.1]) == 0


def test_holm():
    """Against the definition: the closed test with Bonferroni's test of each intersection."""
    p = {"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.5}
    adjusted = holm_adjusted(p)
    for name in p:
        families = [
            family
            for k in range(1, 5)
            for family in itertools.combinations(p, k)
            if name in family
        ]
        closed = max(min(1, len(f) * min(p[one] for one in f)) for f in families)
        assert adjusted[name] == pytest.approx(closed)
    assert list(adjusted) == ["a", "c", "b", "d"]


def test_every_stretch_is_stratified():
    codes = np.repeat([0, 1, 2], [60, 30, 10])
    order = stratified_order(codes, 100, np.random.RandomState(0))
    assert_array_equal(np.sort(order), np.arange(100))
    for start in range(0, 100, 20):
        counts = np.bincount(codes[order[start : start + 20]], minlength=3)
        assert (abs(counts - [12, 6, 2]) <= 1).all()


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_is_compared_twice(symmetric):
    X = np.random.RandomState(1).randn(90, 2)
    calls = []

    def compare(A, B):
        calls.append((len(A), len(B)))
        return A @ B.T if symmetric else A @ B.T + A[:, :1]

    from kernlearn.kernels import CallableKernel

    one = SampledSimilarity(CallableKernel(compare, takes="matrices"), X, "similarity", range(90))
    assert one.grow(40)
    before = one.n_comparisons
    assert one.grow(40)
    assert one.n_comparisons == before
    assert one.grow(90)
    assert one.symmetric is symmetric
    assert_allclose(one.matrix(90), compare(X, X))
    assert one.n_comparisons == sum(a * b for a, b in calls[:-1])
    assert one.n_comparisons <= 90**2
    if symmetric:  # later pairs one way only, but for squares on the diagonal
        assert one.n_comparisons < 0.9 * 90**2
    assert not one.grow(90, until=0) if one.size < 90 else one.grow(90, until=0)


def test_a_stopped_comparison_goes_on_later():
    X = np.random.RandomState(2).randn(60, 2)
    one = SampledSimilarity("linear", X, "similarity", range(60))
    assert not one.grow(60, until=0.0)
    assert one.grow(60)
    assert_allclose(one.matrix(60), X @ X.T)


def test_errors_are_those_of_the_estimators():
    """The same splits and seeds, with the estimators fitted to the points themselves."""
    X, y = blobs(120, 3)
    task, places = sample_points(y, 100, classification=True, n_landmarks=10, random_state=5)
    kernel = GaussianKernel(sigma=2.0)
    measured, failed = take_similarities({"g": kernel}, X, places, task)
    assert not failed
    one = measured["g"]
    one.similarity.grow(100)
    found = one.errors(100, 3, "landmarks"), one.errors(100, 3, "neighbors")
    points, codes = X[places], y[places]
    for number in range(3):
        train, test = random_split(codes, 100, 5, number)
        assert len(test) == 20
        assert not set(train) & set(test)
        model = task.landmark_model(10, number).set_params(similarity=kernel)
        assert isinstance(model, BBSClassifier)
        model.fit(points[train], codes[train])
        assert found[0][number] == pytest.approx(1 - model.score(points[test], codes[test]))
        apart = ((points[test][:, None] - points[train]) ** 2).sum(axis=2)
        wrong = codes[train][apart.argmin(axis=1)] != codes[test]
        assert found[1][number] == wrong.mean()


def test_numbers_are_predicted_too():
    rng = np.random.RandomState(4)
    X = rng.randn(150, 2)
    y = np.sin(X[:, 0]) * 5 + 100
    found = compare_similarities(X, y, ["gaussian", "linear"], classification=False, n_points=150)
    table = found.table()
    assert found.baseline == 1
    assert found.first.name == "gaussian"
    assert table.loc["gaussian", "landmark_error"] < 0.2
    assert table.loc["linear", "p_holm"] < 0.05
    assert found.suits
    assert 0 <= found.first.goodness < 1
    assert found.first.criterion == "B = 100"


def test_which_is_first_and_what_is_said_of_the_others():
    X, y = blobs(300, 5, shift=1.5)
    X[:, 2] = np.random.RandomState(0).randn(300)
    noise = np.random.RandomState(1).rand(300, 300)
    similarities = {
        "good": "gaussian",
        "same": GaussianKernel(),
        "noise": noise + noise.T,
        "broken": lambda a, b: np.nan,
        "scaled": lambda A, B: 3 * A @ B.T,
    }
    found = compare_similarities(X, y, similarities, n_points=200, n_splits=8)
    assert set(found.failed) == {"broken"}
    assert "NaN" in found.failed["broken"]
    by_name = {one.name: one for one in found.ranked}
    assert {one.name for one in found.not_told_apart} >= {"same"} or found.first.name == "same"
    assert found.ranked[-1].name == "noise"
    assert by_name["noise"].p_value < 0.001
    assert by_name["noise"].landmarks is None
    assert by_name["noise"].n_comparisons == 0
    assert np.isnan(by_name["noise"].seconds_per_comparison)
    # equal similarities have equal errors on the same splits
    assert by_name["same"].landmark_error == by_name["good"].landmark_error
    assert by_name["good"].seconds_per_comparison > 0
    again = compare_similarities(
        X, y, dict(reversed(similarities.items())), n_points=200, n_splits=8
    )
    assert again.first.landmark_error == found.first.landmark_error
    by_neighbors = compare_similarities(
        X, y, similarities, n_points=200, n_splits=8, ranked_by="neighbors"
    )
    assert by_neighbors.error_of(by_neighbors.first) == by_neighbors.first.neighbor_error


def test_points_of_any_kind():
    rng = np.random.RandomState(6)
    words = ["".join(rng.choice(list("abc"), 5)) + end for end in ["ing", "ed"] for _ in range(40)]
    classes = np.repeat(["now", "past"], 40)
    found = compare_similarities(
        words, classes, ["levenshtein", "rapidfuzz.jaro_winkler", "gaussian"], n_points=80
    )
    assert set(found.failed) == {"gaussian"}
    assert found.suits


def test_labels_are_not_learnt_from():
    X = np.random.RandomState(7).randint(3, size=(80, 4))
    y = np.arange(80) % 2
    found = compare_similarities(X, y, ["value_difference", "gower"], n_points=80)
    assert "learns from labels" in found.failed["value_difference"]


def test_fewer_points_count_by_their_difference():
    """A similarity that stopped early is compared with the first on its own points."""
    X, y = blobs(400, 8)
    task, places = sample_points(y, 400, classification=True, random_state=0)
    measured, _ = take_similarities({"a": "gaussian", "b": "gaussian"}, X, places, task)
    measured["a"].similarity.grow(400)
    measured["b"].similarity.grow(60)
    found = rank(measured, {"a": 400, "b": 60}, {}, "landmarks", 5, 400, 0.05, {"b": "slow"})
    first, other = found.ranked
    assert (first.name, other.name, other.stopped) == ("a", "b", "slow")
    assert other.common_points == 60
    assert other.behind.value == 0
    assert other.expected == pytest.approx(first.landmark_error.value)
    assert other.landmark_error.high - other.landmark_error.low > (
        first.landmark_error.high - first.landmark_error.low
    )


def nearest_errors(X, y, weights, size, n_splits, seed):
    """The errors of nearest neighbours by weighted distances on random splits, plainly."""
    errors = []
    for number in range(n_splits):
        train, test = random_split(y, size, seed, number)
        apart = (abs(X[test][:, None] - X[train]) * weights).sum(axis=2)
        errors.append((y[train][apart.argmin(axis=1)] != y[test]).mean())
    return np.array(errors)


def test_intervals_cover_what_a_large_sample_says():
    """Of the error of nearest neighbours, and of the difference of two similarities."""
    size, n_splits, n_samples = 80, 15, 300
    weights = [np.array([1.0, 1.0, 1.0]), np.array([1.0, 0.3, 0.1])]
    X, y = blobs(4000, 0)
    truth = []
    for w in weights:
        errors = []
        for seed in range(150):
            A, b = blobs(size - 16, 10_000 + seed)
            apart = (abs(X[:600, None] - A) * w).sum(axis=2)
            errors.append((b[apart.argmin(axis=1)] != y[:600]).mean())
        truth.append(np.mean(errors))
    covered, covered_difference, too_early = 0, 0, 0
    for seed in range(n_samples):
        A, b = blobs(size, seed + 1)
        errors = [nearest_errors(A, b, w, size, n_splits, seed) for w in weights]
        mean = corrected_mean(errors[0], floor=error_floor(errors[0].mean(), size))
        covered += mean.low <= truth[0] <= mean.high
        behind = corrected_mean(errors[1] - errors[0])
        covered_difference += behind.low <= truth[1] - truth[0] <= behind.high
        too_early += corrected_p_value(errors[0] - errors[1]) < 0.05 and truth[0] <= truth[1]
    # four standard errors of a share of 0.95 are 0.05; the truth has an error itself
    assert 0.90 <= covered / n_samples <= 1
    assert 0.90 <= covered_difference / n_samples <= 1
    assert too_early / n_samples <= 0.1
    # the plain t-interval is much too short here
    plain = sum(
        abs(errors.mean() - truth[0]) <= 2.14 * errors.std(ddof=1) / np.sqrt(n_splits)
        for errors in (
            nearest_errors(*blobs(size, seed + 1), weights[0], size, n_splits, seed)
            for seed in range(n_samples)
        )
    )
    assert plain / n_samples < 0.85


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"y": np.zeros(60)}, "'y' is the same for all points"),
        ({"X": np.zeros((49, 2)), "y": np.arange(49) % 2}, "there are 49 points; .* at least 50"),
        ({"y": np.zeros((60, 2))}, "'y' must have one target per point"),
        ({"similarities": []}, "'similarities' must hold at least one"),
        ({"similarities": ["linear", "linear"]}, "'similarities' has linear twice"),
        ({"similarities": [np.eye(3)]}, "must be names and kernels, or a mapping"),
        ({"similarities": {"m": np.eye(3)}}, r"m: expected a matrix \(60, 60\), got shape"),
        ({"similarities": ["gauss"]}, "no similarity could be measured"),
        ({"ranked_by": "trees"}, "'ranked_by' must be one of"),
        ({"n_splits": 1}, "'n_splits' must be at least 2, got 1"),
        ({"level": 1}, "'level' must be"),
        ({"n_landmarks": 0}, "'n_landmarks' must be an int >= 1"),
        ({"n_points": 0}, "'n_points' must be an int >= 1"),
    ],
)
def test_bad_arguments(changes, message):
    X, y = blobs(60, 9)
    options = {"X": X, "y": y, "similarities": ["linear"]} | changes
    with pytest.raises(ValueError, match=message):
        compare_similarities(**options)


def test_a_task_of_numbers_is_not_stratified():
    task = Task(np.linspace(-1, 1, 50), classification=False)
    train, test = task.split(50, 0)
    assert sorted([*train, *test]) == list(range(50))
