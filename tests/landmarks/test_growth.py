"""The number of landmarks that validation points ask for, step by step."""

import numpy as np
import pytest
from scipy.stats import sem
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_blobs, make_classification
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler

from kernlearn.kernels import CallableKernel
from kernlearn.landmarks import BBSClassifier, FTuneClassifier, ORLand, RegLand
from kernlearn.landmarks.growth import Candidate, Gain, grow, growing_sizes, paired_gain
from kernlearn.landmarks.selection import BY_SIMILARITY, SELECTIONS, dselect, extend_landmarks
from kernlearn.solvers.linear_path import linear_path
from tests.checks import parametrize_with_checks
from tests.landmarks.matrices import Matrix

X, Y = make_classification(
    600, 8, n_informative=6, n_redundant=0, n_clusters_per_class=4, class_sep=0.8, random_state=0
)
POINTS, TARGETS = load_diabetes(return_X_y=True)
POINTS = StandardScaler().fit_transform(POINTS)[:, :8]


def generator(seed=0):
    return np.random.RandomState(seed)


@parametrize_with_checks(
    [
        BBSClassifier("auto", max_comparisons=20, C=(1.0, 10.0)),
        RegLand("auto", max_comparisons=20, similarity="laplacian"),
        BBSClassifier("auto", similarity="precomputed", C=1.0),
        FTuneClassifier("auto", max_comparisons=20, transfers=(1, 10), C=10.0, fit_intercept=True),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("n_points", "most", "n_classes", "expected"),
    [
        (1000, 100, 2, [5, 10, 20, 40, 80, 100]),
        (1000, 80, 2, [5, 10, 20, 40, 80]),
        (33, None, 2, [5, 10, 20, 33]),
        (1000, 60, 26, [26, 52, 60]),
        (1000, 3, 2, [3]),
        (4, None, 2, [4]),
    ],
)
def test_sizes(n_points, most, n_classes, expected):
    assert growing_sizes(n_points, most, n_classes) == expected


def test_gain_is_a_paired_mean_with_its_standard_error():
    before, after = generator().normal(size=(2, 50))
    gain, error = paired_gain(before, after, None)
    assert gain == pytest.approx(before.mean() - after.mean())
    assert error == pytest.approx(sem(before - after))
    weighted = paired_gain(before, after, np.full(50, 3.0))
    assert weighted == pytest.approx((gain, error))
    without = np.r_[np.ones(30), np.zeros(20)]
    expected = paired_gain(before[:30], after[:30], None)
    assert paired_gain(before, after, without) == pytest.approx(expected)
    assert paired_gain(before[:1], after[:1], None) == (before[0] - after[0], np.inf)


#: Losses of four validation points, by size.
LOSSES = {
    1: [1, 1, 1, 1],
    2: [1, 1, 1, 0],  # gains 0.25, with a standard error of 0.25
    4: [1, 1, 0, 0],  # gains 0.5 over the first, with one of 0.29
    8: [1, 1, 0, 0],
    16: [0, 1, 0, 0],
    32: [0, 0, 0, 0],
}


@pytest.mark.parametrize(
    ("sizes", "kept", "tried"),
    [
        ([1, 2, 4, 8, 16, 32], 4, [1, 2, 4, 8, 16]),
        ([1, 2, 8, 16, 32], 32, [1, 2, 8, 16, 32]),
        ([1, 2], 1, [1, 2]),
        ([2], 2, [2]),
        ([4, 2, 1, 32], 4, [4, 2, 1]),
    ],
)
def test_sets_grow_until_two_are_not_kept(sizes, kept, tried):
    def fit(size, before):
        assert len(before) < size or size < 4
        losses = np.array(LOSSES[size], dtype=float)
        return Candidate(np.arange(size), size, 1 - losses.mean(keepdims=True), losses)

    found, steps = grow(sizes, fit, None, 10)
    assert found.model == kept
    assert [step.n_landmarks for step in steps] == tried
    assert [step.n_landmarks for step in steps if step.kept][-1] == kept
    assert [step.n_comparisons for step in steps] == [10 * size for size in tried]
    assert [step.score for step in steps] == [1 - np.mean(LOSSES[size]) for size in tried]


@pytest.mark.parametrize(
    ("losses", "finer", "pays"),
    [
        ([0, 0, 1, 1], [1, 1, 1, 1], True),  # the accuracy gains more than its error
        ([1, 1, 1, 0], [1, 1, 1, 1], False),  # as much as its error
        ([1, 1, 1, 1], [0.5, 0.6, 0.7, 0.8], True),  # the finer loss gains, the accuracy is equal
        ([1, 1, 1, 1], [0.0, 1.0, 1.0, 1.0], False),
    ],
)
def test_a_finer_loss_tells_where_the_accuracy_does_not(losses, finer, pays):
    before = Candidate(np.arange(1), 0, None, np.ones(4), np.ones(4))
    after = Candidate(np.arange(2), 0, None, np.array(losses), np.array(finer))
    gain = Gain.of(before, after, None)
    assert gain.pays == pays
    assert gain.loss_gain == pytest.approx(1 - np.mean(finer))
    worse = Gain.of(Candidate(np.arange(1), 0, None, np.zeros(4), np.ones(4)), after, None)
    assert not worse.pays


@pytest.mark.parametrize("selection", SELECTIONS)
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_landmarks_are_added(selection, n_classes):
    points = generator().normal(size=(60, 3))
    codes = np.minimum(np.arange(60) // 15, n_classes - 1)
    matrix = Matrix(laplacian_kernel(points, gamma=0.3))
    rng, chosen = generator(1), np.zeros(0, dtype=int)
    for n in (5, 10, 20, 60):
        before = chosen
        chosen = extend_landmarks(before, n, codes, selection, rng, matrix)
        assert chosen[: len(before)].tolist() == before.tolist()
        assert len(set(chosen.tolist())) == n
        if n_classes == 3 and n < 45 and selection in BY_SIMILARITY:  # even
            assert np.ptp(np.bincount(codes[chosen], minlength=3)) <= 1
        if n_classes == 3 and n < 60 and selection == "stratified":  # half are of the last class
            shares = np.bincount(codes[chosen], minlength=3) / n
            assert abs(shares - [0.25, 0.25, 0.5]).max() <= 0.11


def test_dselect_in_parts_is_dselect():
    matrix = Matrix(laplacian_kernel(generator().normal(size=(40, 3))))
    chosen = np.zeros(0, dtype=int)
    for n in (5, 10, 25):
        chosen = extend_landmarks(chosen, n, np.zeros(40, int), "dselect", generator(2), matrix)
    whole = dselect(matrix.column, np.arange(40), 25, generator(2))
    assert chosen.tolist() == whole.tolist()


class Counted:
    """A similarity of vectors that remembers which pairs it has compared."""

    def __init__(self):
        self.pairs = []

    def __call__(self, A, B):
        self.pairs += [(a.tobytes(), b.tobytes()) for a in A for b in B]
        return laplacian_kernel(A, B, gamma=0.2)


@pytest.mark.parametrize(
    ("make", "selection"),
    [(BBSClassifier, "stratified")]
    + [
        (make, selection)
        for make in (BBSClassifier, RegLand, ORLand)
        for selection in ("random", "dselect", "kmeans++")
    ],
)
def test_comparisons_are_reused(make, selection):
    points, targets = (POINTS, TARGETS) if make is RegLand else (X, Y)
    similarity = Counted()
    model = make("auto", max_comparisons=50, similarity=similarity, C=(1, 10), random_state=0)
    model.set_params(selection=selection).fit(points, targets)
    last = model.growth_[-1]
    assert last.n_landmarks <= 50
    assert last.n_comparisons == len(points) * last.n_landmarks
    own = sum(a == b for a, b in similarity.pairs)  # the diagonal, of kmeans++
    diagonal = own - last.n_landmarks if selection == "kmeans++" else 0
    assert len(similarity.pairs) == last.n_comparisons + diagonal
    assert len(similarity.pairs) - diagonal <= len(set(similarity.pairs)) + last.n_landmarks
    similarity.pairs.clear()
    model.predict(points[:7])
    assert len(similarity.pairs) == 7 * len(model.landmark_indices_)


def fitted_slowly(points, y, new, y_new, Cs, seed):
    """Each set of landmarks anew, without what was computed for the sets before."""
    rng = np.random.RandomState(seed)
    rng.randint(np.iinfo(np.int32).max)  # the solver's seed
    chosen, best, failures, sizes = [], None, 0, []
    for size in (5, 10, 20, 40, 80, 160, 320, 400):
        left = [i for i in range(len(points)) if i not in chosen]
        chosen = [*chosen, *rng.permutation(left)[: size - len(chosen)]]
        features = laplacian_kernel(points, points[chosen], gamma=0.2)
        scale = features.max()
        held_out = laplacian_kernel(new, points[chosen], gamma=0.2) / scale
        found = []
        for C in Cs:
            coef, _ = linear_path(features / scale, np.where(y == 1, 1.0, -1.0), [C])
            scores = held_out @ coef[0]
            losses = np.maximum(0, 1 - np.where(y_new == 1, 1, -1) * scores) ** 2
            right = (scores > 0) == (y_new == 1)
            found.append((-right.mean(), losses.mean(), C, right, coef[0], chosen, losses))
        ours = min(found, key=lambda one: one[:3])
        sizes.append(size)
        gains = np.zeros(2) if best is None else ours[3].astype(float) - best[3]
        finer = np.zeros(2) if best is None else best[6] - ours[6]
        pays = gains.mean() > sem(gains) or (gains.mean() >= 0 and finer.mean() > sem(finer))
        if best is None or pays:
            best, failures = ours, 0
        else:
            failures += 1
        if failures == 2:
            break
    return sizes, best


@pytest.mark.parametrize("seed", range(4))
def test_the_same_as_each_size_anew(seed):
    similarity, Cs = Counted(), (0.1, 10.0)
    model = BBSClassifier("auto", similarity=similarity, C=Cs, random_state=seed)
    model.fit(X[:400], Y[:400], X[400:], Y[400:])
    sizes, best = fitted_slowly(X[:400], Y[:400], X[400:], Y[400:], Cs, seed)
    assert [step.n_landmarks for step in model.growth_] == sizes
    assert model.landmark_indices_.tolist() == best[5]
    assert best[2] == model.C_
    assert model.validation_scores_.max() == -best[0]
    np.testing.assert_allclose(model.coef_[0], best[4], rtol=1e-6)


def test_more_landmarks_where_they_pay():
    """Two blobs need a few landmarks; a checkerboard needs many."""
    blobs, of_blobs = make_blobs(600, centers=2, cluster_std=0.5, random_state=0)
    board = generator().uniform(0, 4, size=(600, 2))
    of_board = np.floor(board).sum(axis=1).astype(int) % 2
    model = BBSClassifier("auto", random_state=0)
    few = len(clone(model).fit(blobs, of_blobs).landmark_indices_)
    many = len(clone(model).fit(board, of_board).landmark_indices_)
    assert few <= 10
    assert many >= 40


def test_regression_keeps_what_pays():
    model = RegLand("auto", similarity="laplacian", random_state=0).fit(POINTS, TARGETS)
    kept = [step for step in model.growth_ if step.kept][-1]
    assert len(model.landmark_indices_) == kept.n_landmarks == len(model.coef_)
    assert model.validation_scores_.max() == kept.score
    assert model.scale_ == np.sqrt(kept.n_landmarks)
    features = model._embed(POINTS)
    np.testing.assert_allclose(
        model.predict(POINTS), features @ model.coef_ + model.intercept_, rtol=1e-12
    )
    assert model.score(POINTS, TARGETS) > 0.35


def test_landmarks_are_not_trained_on_without_double_dipping():
    model = RegLand("auto", double_dipping=False, random_state=0)
    model.fit(POINTS[:12], TARGETS[:12], POINTS[12:40], TARGETS[12:40])
    assert model.growth_[-1].n_landmarks <= 11


def test_several_targets():
    both = np.column_stack([TARGETS, TARGETS**2])
    model = RegLand("auto", random_state=0).fit(POINTS, both)
    assert model.predict(POINTS).shape == both.shape


def test_given_landmarks_do_not_grow():
    model = RegLand("auto", random_state=0).fit(POINTS, TARGETS, landmarks=POINTS[:7])
    assert not hasattr(model, "growth_")
    assert model.coef_.shape == (7,)


@pytest.mark.parametrize("make", [BBSClassifier, FTuneClassifier, RegLand, ORLand])
def test_a_limit_is_for_auto(make):
    with pytest.raises(ValueError, match="'max_comparisons' is for n_landmarks='auto'"):
        make(10, max_comparisons=5).fit(X, Y)


def test_a_number_after_auto():
    model = BBSClassifier("auto", random_state=0).fit(X, Y)
    assert model.growth_
    model.set_params(n_landmarks=10).fit(X, Y)
    assert not hasattr(model, "growth_")


PAIRS = FTuneClassifier("auto", transfers=(1, 10), C=(1.0, 10.0), random_state=0)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("selection", ["random", "stratified", "dselect", "kmedoids", "shared"])
def test_pairs_of_a_pool_that_grows(selection, n_classes):
    codes = Y if n_classes == 2 else np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
    similarity = Counted()
    kernel = CallableKernel(similarity, takes="matrices")
    model = clone(PAIRS).set_params(similarity=kernel, selection=selection, max_comparisons=60)
    model.fit(X, codes)
    kept = [step for step in model.growth_ if step.kept][-1]
    n_problems = 1 if n_classes == 2 else n_classes
    assert model.landmark_indices_.shape == (n_problems, kept.n_landmarks, 2)
    assert len(np.unique(model.landmark_indices_)) <= kept.n_landmarks
    assert model.n_similarities_ <= kept.n_landmarks <= 60
    assert model.validation_scores_.max() == kept.score
    for problem, label in zip(model.landmark_indices_, model.classes_[-n_problems:], strict=True):
        assert (codes[problem[:, 0]] == label).all()
        assert (codes[problem[:, 1]] != label).all()
    if selection != "kmedoids":  # no pair is compared again
        assert len(similarity.pairs) == len(set(similarity.pairs))
        assert len(similarity.pairs) <= model.growth_[-1].n_comparisons
    similarity.pairs.clear()
    model.predict(X[:5])
    assert len(similarity.pairs) == 5 * model.n_similarities_


def test_pairs_with_transfer_functions_of_each_class():
    codes = np.digitize(X[:, 0] + X[:, 1], [-1.0, 1.0])
    one = clone(PAIRS).fit(X, codes)
    each = clone(PAIRS).set_params(per_class=True).fit(X, codes)
    np.testing.assert_array_equal(one.landmark_indices_, each.landmark_indices_)
    assert each.validation_scores_.shape == (3, 2, 2)
    with pytest.raises(ValueError, match="at least the number of classes, 3"):
        clone(PAIRS).set_params(max_comparisons=2).fit(X, codes)


def test_words():
    words = ["anna", "hanna", "hannah", "otto", "ottos", "lotto"] * 5
    model = BBSClassifier("auto", similarity="levenshtein", random_state=0)
    model.fit(words, [w[-1] in "ah" for w in words])
    assert model.predict(["annah", "motto"]).tolist() == [True, False]


def test_searches_take_it():
    search = GridSearchCV(
        BBSClassifier("auto", max_comparisons=20, random_state=0),
        {"selection": ["random", "kmedoids"]},
        cv=2,
        error_score="raise",
    )
    assert search.fit(X, Y).best_score_ > 0.6
