"""What all estimators on landmarks have in common."""

import inspect
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from kernlearn.choice import hold_out
from kernlearn.datasets.tables import as_objects
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, GaussianKernel, Kernel, named
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    KernelRegressor,
    LandmarkEmbedding,
    LandmarkKNNClassifier,
    NystroemEmbedding,
    ORLand,
    PairEmbedding,
    RankLand,
    RegLand,
    SimilarityFeatureSVM,
    SimilarityKNNClassifier,
    SparseRegLand,
    SpectrumSVM,
)
from kernlearn.linear.models import linear_paths

X, CODES = load_iris(return_X_y=True)
X = ((X - X.mean(axis=0)) / X.std(axis=0))[::2]
ORDER = np.random.RandomState(0).permutation(75)
X, CODES = X[ORDER], CODES[::2][ORDER]
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
NUMBERS = X[:, 0] - X[:, 1] ** 2
QUERIES = np.arange(75) // 5
TRAIN, TEST = slice(50), slice(50, None)

# Each holds out points to choose on, if it can.
MODELS = [
    BBSClassifier(8, random_state=0),
    FTuneClassifier(8, random_state=0),
    DBoostClassifier(8, pool_size=15, random_state=0),
    LandmarkKNNClassifier(8, n_neighbors=(1, 3), random_state=0),
    LandmarkKNNClassifier(8, n_neighbors=(1, 3), n_refined=5, random_state=0),
    SimilarityKNNClassifier((1, 3), random_state=0),
    SimilarityFeatureSVM(random_state=0),
    SpectrumSVM(random_state=0),
    ORLand(8, thresholds="learned", C=(1, 100), random_state=0),
    RegLand(8, random_state=0),
    SparseRegLand(6, 20, random_state=0),
    KernelRegressor(),
    RankLand(8, C=(0.1, 10), random_state=0),
    LandmarkEmbedding(8, random_state=0),
    PairEmbedding(8, random_state=0),
    NystroemEmbedding(n_components=8, random_state=0),
]
EACH = pytest.mark.parametrize("model", MODELS)
CHOOSING = pytest.mark.parametrize("model", [*MODELS[:2], *MODELS[3:10]])


def similarity(A, B):
    """Neither symmetric nor positive semi-definite."""
    return np.tanh(np.asarray(A @ B[:, ::-1].T) - 0.3 * np.asarray(B)[:, 0])


def common_letters(words, others):
    return np.array([[len(set(a) & set(b)) for b in others] for a in words])


def by(model, compared, kind="similarity", **options):
    """Return a copy that compares points by something else."""
    if isinstance(model, NystroemEmbedding):
        return clone(model).set_params(kernel=compared, **options)
    return clone(model).set_params(similarity=compared, kind=kind, **options)


def targets(model):
    if isinstance(model, (ORLand, RankLand)):
        return CODES
    return NUMBERS if isinstance(model, (RegLand, SparseRegLand, KernelRegressor)) else NAMES


def fitted(model, points, rows=TRAIN, **arguments):
    if isinstance(model, RankLand):
        arguments["qid"] = QUERIES[rows]
    return clone(model).fit(points, targets(model)[rows], **arguments)


def answers(model, points):
    names = ("transform", "real_value", "decision_function", "predict_proba", "predict")
    return getattr(model, next(name for name in names if hasattr(model, name)))(points)


def assert_same(one, other, rtol=1e-6):
    np.testing.assert_array_equal(one.compared_indices_, other.compared_indices_)
    assert one.n_comparisons_ == other.n_comparisons_
    for name in ("C_", "n_neighbors_", "validation_scores_", "thresholds_"):
        if getattr(one, name, None) is not None:
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=rtol)


@pytest.mark.parametrize("kind", ["similarity", "distance"])
@EACH
def test_a_matrix_gives_what_its_function_gives(model, kind):
    if isinstance(model, NystroemEmbedding):
        kind = "similarity"
    sign = 1 if kind == "similarity" else -1

    def function(A, B):
        return sign * similarity(A, B)

    direct = fitted(by(model, function, kind), X[TRAIN])
    train, test = function(X[TRAIN], X[TRAIN]), function(X[TEST], X[TRAIN])
    matrix = fitted(by(model, "precomputed", kind), train)
    assert_same(direct, matrix)
    assert matrix.n_fit_comparisons_ == 0 < direct.n_fit_comparisons_
    assert [get_tags(one).input_tags.pairwise for one in (direct, matrix)] == [False, True]
    expected = answers(direct, X[TEST])
    np.testing.assert_allclose(answers(matrix, test), expected, rtol=1e-6, atol=1e-7)
    same = answers(fitted(by(model, similarity), X[TRAIN]), X[TEST])
    np.testing.assert_allclose(same, expected, rtol=1e-6, atol=1e-7)
    names = np.array([f"point {i}" for i in range(50)])
    framed = fitted(by(model, "precomputed", kind), pd.DataFrame(train, columns=names))
    wide = pd.DataFrame(test, columns=names)
    np.testing.assert_allclose(answers(framed, wide), answers(matrix, test))
    with pytest.raises(ValueError, match="feature names should match"):
        answers(framed, wide[names[::-1]])
    with pytest.raises(ValueError, match="49 features"):
        answers(matrix, test[:, 1:])
    columns = matrix.compared_indices_
    if len(columns) in (50, 49) or getattr(model, "n_refined", 0):
        return
    # similarities to the landmarks alone, which names match in any order
    np.testing.assert_array_equal(answers(matrix, test[:, columns]), answers(matrix, test))
    narrow = wide[names[columns]]
    for frame in (narrow, narrow[narrow.columns[::-1]]):
        np.testing.assert_allclose(answers(framed, frame), answers(matrix, test))
    others = np.setdiff1d(np.arange(50), columns)[: len(columns)]
    with pytest.raises(ValueError, match="columns of X"):
        answers(framed, wide[names[np.r_[columns[1:], others[:1]]]])
    for broken, at in ((test.copy(), columns[1]), (test[:, columns].copy(), 1)):
        broken[2, at] = np.inf
        with pytest.raises(
            SimilarityError, match=rf"X\[2\] and training X\[{columns[1]}\] is inf"
        ):
            answers(matrix, broken)


@pytest.mark.filterwarnings("ignore:n_landmarks")
@EACH
def test_an_error_names_the_places_of_the_pair(model):
    for bad in (3, 20, 41):

        def broken(a, b, bad=bad):
            return np.nan if f"s{bad}" in (a, b) else float(a[-1] == b[-1])

        points = [f"s{i}" for i in range(50)]
        try:
            fitted(by(model, CallableKernel(broken, takes="points")), points)
        except SimilarityError as error:
            for place, text in zip((error.left, error.right), error.shown, strict=True):
                assert text == f"'s{place}'"


@pytest.mark.filterwarnings("ignore:n_landmarks")
@EACH
def test_missing_pairs_of_a_matrix(model):
    model, (train, new) = by(model, "precomputed"), np.tanh([X[TRAIN] @ X[TRAIN].T] * 2)
    new = new[::-1] + 0.1
    whole, gaps = fitted(model, train), train.copy()
    gaps[3, 7] = gaps[9, 2] = np.nan
    with pytest.warns(UserWarning, match=r"2 of 2500 similarities in X are missing: .* X\.T"):
        mirrored = fitted(model, gaps)
    np.testing.assert_array_equal(answers(mirrored, new), answers(whole, new))
    fills = has_fit_parameter(model, "sample_weight")
    if not getattr(model, "n_refined", 0):
        read = whole.compared_indices_
        known = np.full_like(new, np.nan)
        known[:, read] = new[:, read]
        np.testing.assert_array_equal(answers(whole, known), answers(whole, new))
        known[2, read[1]] = np.nan
        if fills:
            replaced = new.copy()
            replaced[2, read[1]] = np.delete(train[:, read[1]], read[1]).mean()
            with pytest.warns(UserWarning, match="^1 of .* similarities in X are missing"):
                filled = answers(whole, known)
            np.testing.assert_allclose(filled, answers(whole, replaced))
    gaps[7, [3, 20]] = gaps[20, 7] = np.nan
    if not fills:
        with pytest.raises(SimilarityError, match=r"X\[3\] and training X\[7\] is NaN"):
            fitted(model, gaps)
        return
    gaps[3, 7] = np.nan
    others = np.where(np.eye(50, dtype=bool), np.nan, gaps)
    others[9, 2] = others[2, 9]
    means = np.nanmean(others, axis=0)
    by_hand = train.copy()
    for i, j in ((3, 7), (7, 20)):
        by_hand[i, j] = by_hand[j, i] = (means[i] + means[j]) / 2
    with pytest.warns(UserWarning, match="4 of 2500 similarities .* means of training points"):
        partly = fitted(model, gaps)
    np.testing.assert_allclose(answers(partly, new), answers(fitted(model, by_hand), new))
    gaps = train.copy()
    gaps[7, :] = gaps[:, 7] = np.nan
    gaps[7, 7] = train[7, 7]
    with pytest.warns(UserWarning, match="98 of 2500 similarities .* 1 of 50 points"):
        without = fitted(model, gaps)
    weights = (np.arange(50) != 7).astype(float)
    expected = fitted(model, train, sample_weight=weights)
    np.testing.assert_allclose(answers(without, new), answers(expected, new))
    assert 7 not in without.compared_indices_
    # a point of weight 0 fills nothing
    gaps = train.copy()
    gaps[3, 20] = gaps[20, 3] = np.nan
    known, other = new.copy(), gaps.copy()
    known[:, 3] = np.nan
    other[7, :], other[:, 7] = 9 * other[7, :], 9 * other[:, 7]
    with pytest.warns(UserWarning, match="are missing"):
        one, two = [answers(fitted(model, K, sample_weight=weights), known) for K in (gaps, other)]
    np.testing.assert_allclose(one, two)


def test_half_of_the_points_may_be_left_out():
    model, known = SimilarityKNNClassifier(1, similarity="precomputed"), np.eye(6)
    gaps = np.where(known + np.outer([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]), known, np.nan)
    with pytest.warns(UserWarning, match="3 of 6 points"):
        assert model.fit(gaps, [0, 1] * 3).predict(known)[3:].tolist() == [1, 0, 1]
    gaps[3, 4:] = gaps[4:, 3] = np.nan
    with pytest.raises(SimilarityError, match="is NaN"):
        model.fit(gaps, [0, 1] * 3)


@pytest.mark.filterwarnings("ignore:.*missing")
def test_paths_and_neighbours_fill_the_pairs_that_predictions_fill():
    train, new = (similarity(X[rows], X[TRAIN]) for rows in (TRAIN, TEST))
    train[1, 2] = train[2, 1] = new[0, 1:] = np.nan  # all pairs with landmarks
    model = by(RegLand(n_landmarks=10, C=[1, 10], random_state=0), "precomputed")
    alone = fitted(clone(model).set_params(C=10), train)
    (fits,) = model.path(train, targets(model)[TRAIN], {"C": [1, 10]})
    np.testing.assert_allclose(fits.outputs("predict", new)[1], alone.predict(new))
    nearest = fitted(by(SimilarityKNNClassifier(), "precomputed"), train)
    assert np.isfinite(nearest.contributions(new).similarities).all()
    new[0, 0] = np.nan
    with pytest.raises(ValueError, match="row 0 of X lacks all"):
        nearest.predict(new)
    train[7, 7] = np.nan
    with pytest.raises(SimilarityError, match=r"X\[7\] and training X\[7\] is NaN"):
        fitted(model, train)


@pytest.mark.filterwarnings("ignore")
def test_a_matrix_with_missing_pairs_is_cross_validated():
    """Distances to oneself may lack, too: they are 0."""
    X, y = load_iris(return_X_y=True)
    D = np.abs(X[:, np.newaxis] - X).sum(axis=2)
    lacks = np.triu(np.random.default_rng(0).random(D.shape) < 0.02)
    gaps = np.where(lacks | lacks.T, np.nan, D)
    np.fill_diagonal(gaps, np.nan)
    model = BBSClassifier(20, similarity="precomputed", kind="distance", random_state=0)
    expected = []
    for train, test in StratifiedKFold(5).split(D, y):
        known = np.where(np.eye(150, dtype=bool), np.nan, gaps)[np.ix_(train, train)]
        means = np.nanmean(known, axis=0)
        filled = np.where(np.isnan(known), (means[:, np.newaxis] + means) / 2, known)
        np.fill_diagonal(filled, 0.0)
        new = gaps[np.ix_(test, train)]
        new = np.where(np.isnan(new), means, new)
        expected.append(clone(model).fit(filled, y[train]).score(new, y[test]))
    np.testing.assert_allclose(cross_val_score(model, gaps, y), expected)
    assert np.mean(expected) > 0.9


@CHOOSING
def test_validation_points_as_rows_of_a_matrix(model):
    train, test = (similarity(X[rows], X[TRAIN]) for rows in (TRAIN, TEST))
    y_val = targets(model)[TEST]
    direct = fitted(by(model, similarity), X[TRAIN], X_val=X[TEST], y_val=y_val)
    matrix = fitted(by(model, "precomputed"), train, X_val=test, y_val=y_val)
    assert_same(direct, matrix)
    # those to the landmarks of an earlier fit are none
    columns = matrix.compared_indices_
    if len(columns) < 50:
        with pytest.raises(ValueError, match="X_val: X has"):
            matrix.fit(train, targets(model)[TRAIN], X_val=test[:, columns], y_val=y_val)
    if "n_landmarks" in model.get_params() and not getattr(model, "n_refined", 0):
        matrix.set_params(n_landmarks=50).fit(
            train, targets(model)[TRAIN], X_val=test, y_val=y_val
        )
        columns = matrix.compared_indices_
        np.testing.assert_allclose(answers(matrix, test[:, columns]), answers(matrix, test))


@pytest.mark.parametrize("model", [m for m in MODELS if "selection" in m.get_params()])
def test_each_selection_is_the_same_on_a_matrix(model):
    train, test = similarity(X[TRAIN], X[TRAIN]), similarity(X[TEST], X[TRAIN])
    for selection in sorted(model._parameter_constraints["selection"][0].options):
        direct = fitted(by(model, similarity, selection=selection), X[TRAIN])
        matrix = fitted(by(model, "precomputed", selection=selection), train)
        assert_same(direct, matrix)
        expected = answers(direct, X[TEST])
        np.testing.assert_allclose(answers(matrix, test), expected, rtol=1e-6, atol=1e-6)


@EACH
def test_sparse_points_and_single_precision(model):
    points = np.where(np.abs(X) < 0.7, 0, X)
    dense = fitted(model, points[TRAIN])
    thin = fitted(model, sparse.csr_array(points[TRAIN]))
    assert_same(dense, thin, rtol=1e-4)
    expected = answers(dense, points[TEST])
    found = answers(thin, sparse.csr_array(points[TEST]))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    single = answers(fitted(model, points[TRAIN].astype(np.float32)), points.astype(np.float32))
    # shares of votes, and LIBSVM's values, are float64
    wide = hasattr(model, "predict_proba") or isinstance(model, SpectrumSVM)
    assert (expected.dtype, single.dtype) == (np.float64, np.float64 if wide else np.float32)
    close = np.isclose(single[TEST], expected, rtol=0.02, atol=0.02)
    assert close.mean() > (0.5 if isinstance(model, (FTuneClassifier, DBoostClassifier)) else 0.9)


@EACH
def test_blocks_and_memory_do_not_show(model, monkeypatch, small_blocks):
    expected = answers(fitted(by(model, similarity), X[TRAIN]), X[TEST])
    monkeypatch.setattr("kernlearn.landmarks.similarities.KEPT_ELEMENTS", 0)
    small_blocks()
    again = answers(fitted(by(model, similarity), X[TRAIN]), X[TEST])
    np.testing.assert_allclose(again, expected, rtol=1e-6, atol=1e-9)


@EACH
def test_comparisons_are_counted(model):
    sizes, others = [], []

    def counted(A, B):
        sizes.append(len(A) * len(B))
        others.extend(map(tuple, B))
        return 2 - similarity(A, B)

    kernel = CallableKernel(counted, takes="matrices", kind="distance", turn="exponential")
    found = fitted(by(model, kernel), X[TRAIN])
    assert found.n_fit_comparisons_ == sum(sizes)
    sizes.clear()
    others.clear()
    answers(found, X[TEST])
    assert sum(sizes) == 25 * found.n_comparisons_ <= 25 * 50
    if not getattr(model, "n_refined", 0):
        assert {*others} == {*map(tuple, X[found.compared_indices_])}


@EACH
def test_errors_name_the_pair_whatever_its_block(model, small_blocks):
    small_blocks()
    arguments = {}
    if "sample_weight" in inspect.signature(model.fit).parameters:  # rows that are left out
        arguments["sample_weight"] = (np.arange(50) % 5 > 0).astype(float)
    columns = fitted(by(model, similarity), X[TRAIN], **arguments).compared_indices_
    place = columns[-1]

    def broken(A, B):
        wrong = (A[:, None] == X[57]).all(axis=2) & (B[None] == X[place]).all(axis=2)
        return np.where(wrong, np.inf, similarity(A, B))

    found = fitted(by(model, broken), X[TRAIN], **arguments)
    np.testing.assert_array_equal(found.compared_indices_, columns)
    with pytest.raises(SimilarityError, match=rf"X\[7\].* and training X\[{place}\].*infinite"):
        answers(found, X[TEST])

    def broken_in_fit(A, B):
        wrong = (B[None] == X[place]).all(axis=2) & (A[:, None] == X[place]).all(axis=2)
        return np.where(wrong, np.nan, similarity(A, B))

    if not isinstance(model, SimilarityKNNClassifier):  # compares in predictions alone
        with pytest.raises(SimilarityError, match=rf"X\[{place}\].* training X\[{place}\].*NaN"):
            fitted(by(model, broken_in_fit), X[TRAIN], **arguments)


@EACH
def test_objects_copies_and_pickles(model):
    rng, letters = np.random.RandomState(0), ["abc", "bcd", "cde"]
    words = np.array(["".join(rng.choice(list(letters[code]), 4)) for code in CODES[TRAIN]])
    model = by(model, common_letters)
    expected = fitted(model, list(words))
    found = answers(expected, words[:9])
    assert (len(found), found.dtype) == (9, np.float64)
    assert not hasattr(clone(expected), "n_comparisons_")
    with pytest.raises(NotFittedError):
        answers(model, words)
    for form in (tuple(words), words.astype(object), [set(word) for word in words]):
        np.testing.assert_array_equal(answers(fitted(model, form), form[:9]), found)
    copy = pickle.loads(pickle.dumps(expected))
    np.testing.assert_array_equal(answers(copy, words[:9]), found)
    expected = fitted(by(model, GaussianKernel(0.5)), X[TRAIN])
    found = answers(expected, X[TEST])
    getattr(expected, expected._compared_by).set_params(sigma=9.0)
    np.testing.assert_array_equal(answers(expected, X[TEST]), found)


@CHOOSING
def test_points_are_held_out_by_hold_out(model):
    """The width of a kernel too is that of the points that are trained on."""
    kernel = GaussianKernel()
    model = by(model, kernel)
    share = {"validation_fraction": 0.3} if "validation_fraction" in model.get_params() else {}
    refit = {"refit": False} if hasattr(model, "refit") else {}
    whole = fitted(clone(model).set_params(**share, **refit, random_state=5), X[TRAIN])
    rng = np.random.RandomState(5)
    codes = CODES[TRAIN] * (targets(model) is not NUMBERS)
    kept, rest = hold_out(codes, *share.values() or [0.2], rng)
    assert len(rest) == (15 if share else 10)
    parts, y = clone(model).set_params(random_state=rng), targets(model)
    parts.fit(X[kept], y[kept], X_val=X[rest], y_val=y[rest])  # X_val is not trained on
    np.testing.assert_allclose(whole.validation_scores_, parts.validation_scores_)
    np.testing.assert_array_equal(whole.compared_indices_, kept[parts.compared_indices_])
    np.testing.assert_allclose(answers(whole, X), answers(parts, X), rtol=1e-6, atol=1e-6)
    assert not hasattr(kernel, "sigma_")


@CHOOSING
def test_the_choice_goes_by_a_scorer(model):
    y = targets(model)
    scoring = "neg_median_absolute_error" if y is NUMBERS else "f1_macro"
    one = clone(model).set_params(scoring=scoring)
    one = fitted(one, X[TRAIN], X_val=X[TEST], y_val=y[TEST])
    expected = []
    for values in product(*one.grid_.values()):
        single = clone(model).set_params(**dict(zip(one.grid_, values, strict=True)))
        expected.append(get_scorer(scoring)(fitted(single, X[TRAIN]), X[TEST], y[TEST]))
    np.testing.assert_allclose(np.ravel(one.validation_scores_), expected)
    best = list(product(*one.grid_.values()))[int(np.argmax(expected))]
    values = dict(zip(one.grid_, best, strict=True))
    assert values.get("C", 0) == getattr(one, "C_", 0)
    assert values.get("n_neighbors", 0) == getattr(one, "n_neighbors_", 0)
    for value in (np.nan, [1.0, 2.0]):
        nothing = clone(one).set_params(scoring=lambda *_, value=value: value)
        with pytest.raises(ValueError, match="must give a number"):
            fitted(nothing, X[TRAIN], X_val=X[TEST], y_val=y[TEST])


@pytest.mark.parametrize("model", [*MODELS[:2], *MODELS[3:11]])
@pytest.mark.parametrize("form", ["points", "weights", "precomputed"])
def test_a_model_is_trained_again_on_all_points(model, form):
    """It is that of the values chosen, with the landmarks of the points trained on before."""
    kernel = GaussianKernel(0.5)
    data, rows, weights = X[TRAIN], np.arange(50), {}
    if form == "weights":  # a point without a weight is absent
        rows, weights = np.arange(1, 50), {"sample_weight": np.r_[0.0, np.ones(49)]}
    by_kernel = clone(model).set_params(similarity=kernel, random_state=3)
    if form == "precomputed":
        data, by_kernel = kernel(data, data), by_kernel.set_params(similarity="precomputed")
    first = fitted(clone(by_kernel).set_params(refit=False), data, **weights)
    again = fitted(by_kernel, data, **weights)
    assert again.n_fit_comparisons_ <= 2 * 50**2
    assert again.grid_.keys() == first.grid_.keys()
    np.testing.assert_array_equal(again.validation_scores_, first.validation_scores_)
    assert not np.array_equal(answers(again, data), answers(first, data))
    expected = slow_refit(first, rows, sample_weight=np.ones(49) if weights else None)
    np.testing.assert_allclose(answers(again, data), expected, rtol=1e-4, atol=1e-5)


def slow_refit(first, rows, **weights):
    """Return the answers of the model chosen, trained on features that are computed here."""
    points, y = X[:50][rows], targets(first)[:50][rows]
    K, K_all = (GaussianKernel(0.5)(A, points) for A in (points, X[:50]))
    name = type(first).__name__
    if hasattr(first, "n_neighbors_"):
        return votes(first, K, K_all, y)
    if hasattr(first, "spectrum") or name == "SimilarityFeatureSVM":
        model = clone(first).set_params(similarity="precomputed", C=first.C_)
        return answers(model.fit(K, y, **weights), K_all)
    if name == "SparseRegLand":
        pool = np.searchsorted(rows, first.pool_indices_)
        head = clone(first).set_params(similarity="linear", ridge=first.ridge_)
        return answers(head.fit(K[:, pool], y, landmarks=np.eye(len(pool))), K_all[:, pool])
    places = np.searchsorted(rows, first.landmark_indices_)
    if name == "FTuneClassifier":
        columns = [
            first.transfer_((features[:, pairs[:, 0]] - features[:, pairs[:, 1]]) / first.scale_)
            for features in (K, K_all)
            for pairs in places
        ]
        signs = np.where(y == first.classes_[:, np.newaxis], 1.0, -1.0)
        heads = [
            linear_paths(Z, s[None], [first.C_]) for Z, s in zip(columns[:3], signs, strict=True)
        ]
        return np.column_stack([Z @ h[0][0, 0] for Z, h in zip(columns[3:], heads, strict=True)])
    features, of_all = K[:, places], K_all[:, places]
    if name == "BBSClassifier":
        signs = np.where(y == first.classes_[:, np.newaxis], 1.0, -1.0)
        coef, _ = linear_paths(features / first.scale_, signs, [first.C_])
        return of_all / first.scale_ @ coef[:, 0].T
    head = clone(first).set_params(similarity="linear", C=first.C_)
    return answers(head.fit(features, y, landmarks=np.eye(len(places))), of_all)


def votes(first, K, K_all, y):
    """Return the shares of votes of the nearest by similarity, or by landmarks."""
    if hasattr(first, "landmark_indices_"):
        places = first.landmark_indices_ if len(y) == 50 else first.landmark_indices_ - 1
        squares = ((K_all[:, None, places] - K[None, :, places]) ** 2).sum(axis=2)
        near = np.argsort(squares, axis=1, kind="stable")
        if first.n_refined:
            near = near[:, : first.n_refined]
            order = np.argsort(-np.take_along_axis(K_all, near, axis=1), axis=1, kind="stable")
            near = np.take_along_axis(near, order, axis=1)
    else:
        near = np.argsort(-K_all, axis=1, kind="stable")
    labels = y[near[:, : first.n_neighbors_]]
    return np.mean(labels[:, :, np.newaxis] == first.classes_, axis=1)


@pytest.mark.parametrize("model", MODELS[:2])
def test_labels_that_only_one_side_has(model):
    plain = fitted(model, X[TRAIN], X_val=X[TEST], y_val=NAMES[TEST])
    more = np.r_[X[TEST], X[TEST]], np.r_[NAMES[TEST], np.full(25, "unknown")]
    unknown = fitted(model, X[TRAIN], X_val=more[0], y_val=more[1])
    np.testing.assert_allclose(unknown.validation_scores_, plain.validation_scores_ / 2)
    np.testing.assert_array_equal(unknown.coef_, plain.coef_)
    rows = np.flatnonzero(CODES[TRAIN] != 2)
    less = fitted(model, X[rows], rows, X_val=X[TEST], y_val=NAMES[TEST])
    assert set(less.predict(X)) == {"setosa", "versicolor"}
    assert less.validation_scores_.max() <= np.mean(CODES[TEST] != 2)


@pytest.mark.parametrize("model", MODELS[3:9])
def test_bad_data(model):
    good = {"X": X[TRAIN], "y": CODES[TRAIN]}
    for changed, message in (
        ({"y": np.arange(50)}, "two points"),
        ({"y": CODES[:49]}, "inconsistent"),
        ({"X": np.full((50, 4), np.nan)}, "NaN"),
        ({"y_val": CODES[TEST]}, "X_val and y_val"),
        ({"X_val": X[TEST]}, "X_val and y_val"),
        ({"X_val": X[TEST, :3], "y_val": CODES[TEST]}, "X_val: X has 3 features"),
        ({"X_val": X[TEST], "y_val": CODES[TEST][1:]}, "y_val"),
        ({"X_val": X[:2] + np.inf, "y_val": [0, 1]}, "X_val"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).fit(**(good | changed))


@EACH
def test_bad_parameters(model):
    bad = {"pool_size": 0, "n_thresholds": 256, "n_landmarks": 0, "n_components": 0, "epsilon": -1}
    bad |= {"selection": "best", "kind": "kernel", "loss": "0-1", "spectrum": "cut", "tol": 0.0}
    bad |= {"validation_fraction": 1.0, "random_state": "no"}
    several = [("C", value) for value in ([], [1, -1], [[1, 2]], [np.nan], [np.inf], "one")]
    several += [("n_neighbors", [1.0]), ("epsilon", [0.1, -1])]
    for name, value in (*bad.items(), *several):
        if name in model.get_params():
            with pytest.raises(ValueError, match=name):
                fitted(clone(model).set_params(**{name: value}), X[TRAIN])


class Narrow(Kernel):
    def __call__(self, X, Y=None):
        return np.zeros((len(X), len(X if Y is None else Y) - 1))


@EACH
def test_bad_similarities(model):
    for compared, points, message in (
        ("gausian", X[TRAIN], "gausian"),
        ("precomputed", X[TRAIN], "square"),
        ("precomputed", np.full((50, 50), np.nan), "NaN"),
        (lambda A, B: np.ones(len(A)), X[TRAIN], "number"),
        (Narrow(), X[TRAIN], r"shape \(\d+, \d+\)"),
        ("gaussian", ["a", "b"] * 25, None),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            answers(fitted(by(model, compared), points), points)
    with pytest.warns(UserWarning, match="looks like a distance"):
        fitted(by(model, "precomputed"), np.abs(X[TRAIN, :1] - X[TRAIN, 0]))
    with pytest.raises(TypeError, match="Sparse"):
        fitted(by(model, "precomputed"), sparse.csr_array(np.eye(50)))
    if not isinstance(model, NystroemEmbedding):
        with pytest.raises(ValueError, match="kind='distance'"):
            fitted(by(model, "gaussian", "distance"), X[TRAIN])


@pytest.mark.parametrize("form", ["vectors", "matrix", "series"])
@pytest.mark.parametrize("model", [m for m in MODELS if hasattr(m, "contributions")])
def test_contributions_add_up_to_decisions(model, form):
    points, compared = X, named("gaussian", sigma=1.0)
    if form == "matrix":
        points, compared = similarity(X, X)[:, TRAIN], "precomputed"
    elif form == "series":
        points = as_objects(np.resize(x, 4 + i % 3) for i, x in enumerate(X))
        compared = pytest.importorskip("aeon") and named("aeon.dtw", turn="reciprocal")
    model = fitted(by(model, compared), points[TRAIN])
    names = "real_value", "decision_function", "predict_proba", "predict"
    decisions = next(getattr(model, name) for name in names if hasattr(model, name))(points)
    parts = model.contributions(points)
    np.testing.assert_allclose(parts.shares.sum(axis=-1) + parts.intercept, decisions, rtol=1e-9)
    gram = points if form == "matrix" else compared(points, points[TRAIN])
    rows = np.arange(len(gram))[(...,) + (None,) * (parts.similarities.ndim - 1)]
    np.testing.assert_allclose(parts.similarities, gram[rows, parts.landmarks], atol=1e-12)
    if isinstance(model, (BBSClassifier, RegLand)):
        values = parts.similarities * parts.weights / model.scale_
        np.testing.assert_allclose(parts.shares, values, rtol=1e-12)
    assert_same_terms(parts.to_frame(), parts, getattr(model, "classes_", None), gram)


def assert_same_terms(frame, parts, classes, gram):
    assert len(frame) == parts.shares.size
    axes = ["sample", "class"] if parts.shares.ndim == 3 else ["sample"]
    labels = [np.arange(len(gram)), classes][: len(axes)]
    for key, rows in frame.groupby(axes):
        place = tuple(list(names).index(one) for names, one in zip(labels, key, strict=True))
        np.testing.assert_array_equal(rows["share"], parts.shares[place])
        np.testing.assert_allclose(rows["similarity"], gram[key[0], rows["landmark"]], atol=1e-12)
        of_neighbours = parts.landmarks.shape == parts.similarities.shape
        weights = parts.weights[place[0] if of_neighbours else place[1:]]
        np.testing.assert_array_equal(rows["weight"], weights)
    if "other_landmark" in frame:
        values = gram[frame["sample"], frame["other_landmark"]]
        np.testing.assert_allclose(frame["other_similarity"], values, atol=1e-12)
