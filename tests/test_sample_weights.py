"""Weights of rows and classes: integer weights are as good as repeated rows."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import estimator_checks

from kernlearn.features import MaclaurinSVM
from kernlearn.kernels import PolynomialKernel
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    KernelRegressor,
    ORLand,
    RegLand,
    SimilarityFeatureSVM,
    SimilarityKNNClassifier,
    SparseRegLand,
    SpectrumSVM,
)
from kernlearn.linear import LinearSVM
from kernlearn.pairwise import AllPairsSVM
from kernlearn.svm import KernelSVM
from kernlearn.validation import check_weights
from kernlearn.voted import L1SVMClassifier, VotedKernelClassifier
from tests.checks import estimators, made

RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 4))
NUMBERS = X[:, 0] + 0.5 * RNG.normal(size=60)
TWO = (NUMBERS > 0).astype(int)
THREE = np.digitize(NUMBERS, [-0.5, 0.5])
WEIGHTS = RNG.randint(0, 4, size=60)
REPEATED = np.repeat(np.arange(60), WEIGHTS)
HALF = X[::2]  # landmarks that do not depend on the rows trained on
_LANDMARKS = {"landmarks": HALF}
_L1 = L1SVMClassifier("polynomial", beta=1e-2, tol=1e-9)

_VKR = VotedKernelClassifier(["polynomial", "linear"], lam=1e-3, beta=1e-2, tol=1e-9)
_REG = RegLand(C=10.0, loss="squared_epsilon_insensitive", similarity="linear")
_SPARSE = SparseRegLand(5, fit_intercept=True, similarity="linear", ridge=0.1)
_SPARSE_CHOICE = clone(_SPARSE).set_params(fit_intercept=False, ridge=(0.1, 1.0))

# (estimator, targets, arguments of fit, tolerance)
EXACT = [
    (LinearSVM(tol=1e-9, class_weight="balanced"), THREE, {}, 1e-6),
    (LinearSVM(tol=1e-9, class_weight={0: 3.0, 1: 1.0, 2: 0.5}), THREE, {}, 1e-6),
    (LinearSVM(loss="hinge", C=0.1, tol=1e-8), TWO, {}, 1e-4),
    (KernelSVM("poly", gamma=0.3, tol=1e-9, class_weight="balanced"), THREE, {}, 1e-5),
    (KernelSVM(PolynomialKernel(), tol=1e-9), THREE, {}, 1e-5),
    (KernelSVM(gamma=0.3, tol=1e-9, solver="interior_point"), TWO, {}, 1e-5),
    (MaclaurinSVM(tol=1e-9, random_state=0), THREE, {}, 1e-6),
    (_REG, NUMBERS, _LANDMARKS, 1e-6),
    (_SPARSE, NUMBERS, _LANDMARKS, 1e-6),
    (_SPARSE_CHOICE, NUMBERS, {**_LANDMARKS, "X_val": X, "y_val": NUMBERS}, 1e-6),
    (KernelRegressor("manhattan", weights="exponential", bandwidth="mean"), NUMBERS, {}, 1e-9),
    (KernelRegressor("polynomial", weights="similarity"), NUMBERS, {}, 1e-9),
    (ORLand(C=10.0, similarity="linear", tol=1e-10), THREE, _LANDMARKS, 1e-4),
    (ORLand(C=1.0, similarity="linear", loss="hinge", tol=1e-8), THREE, _LANDMARKS, 1e-4),
    (AllPairsSVM(tol=1e-9), TWO, {}, 1e-5),
    (clone(_L1).set_params(class_weight="balanced"), TWO, {}, 1e-6),
    (_VKR, THREE, {}, 1e-6),
]


def output(model, points):
    names = "real_value", "decision_function", "predict_proba", "predict"
    return getattr(model, next(name for name in names if hasattr(model, name)))(points)


# What depends on the number of rows is left out: drawn landmarks, held-out points, bandwidths; and
# AllPairsSVM, whose line search compares values of the objective: it is good to about 1e-7.
CONVERGED = [
    LinearSVM(tol=1e-13, class_weight="balanced"),
    KernelSVM(gamma=0.1, tol=1e-12, solver="interior_point"),
    KernelRegressor("manhattan"),
    SimilarityKNNClassifier(1, similarity="euclidean"),
    L1SVMClassifier("linear", beta=1e-2, tol=1e-12),
    VotedKernelClassifier(["linear", "polynomial"], beta=1e-2, tol=1e-12),
]


@pytest.mark.parametrize("model", CONVERGED)
def test_check_of_scikit_learn(model):
    for points in ("dense", "sparse"):
        check = getattr(estimator_checks, f"check_sample_weight_equivalence_on_{points}_data")
        check(type(model).__name__, model)


@pytest.mark.parametrize(("model", "y", "given", "tolerance"), EXACT)
def test_integer_weights_are_repeated_rows(model, y, given, tolerance):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        weighted = clone(model).fit(X, y, **given, sample_weight=WEIGHTS)
        repeated = clone(model).fit(X[REPEATED], y[REPEATED], **given)
        plain = clone(model).fit(X, y, **given)
    np.testing.assert_allclose(output(weighted, X), output(repeated, X), atol=tolerance)
    assert abs(output(plain, X) - output(weighted, X)).max() > 10 * tolerance


LANDMARKED = [
    BBSClassifier(20, C=1.0, random_state=0),
    BBSClassifier(20, C=1.0, loss="logistic", class_weight="balanced", random_state=0),
    FTuneClassifier(20, C=1.0, transfers=5, random_state=0),
    DBoostClassifier(20, random_state=0),
    SimilarityFeatureSVM(1.0),
    SpectrumSVM("clip", 1.0),
]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", LANDMARKED)
def test_only_ratios_of_weights_and_the_sum_times_c_count(model, y):
    """The same landmarks: a weight of 2 for all rows is twice the C, 0 is as if absent."""
    twice = clone(model).fit(X, y, sample_weight=np.full(60, 2.0))
    if "C" in model.get_params():
        model = clone(model).set_params(C=2.0)
    plain = clone(model).fit(X, y)
    pairs = [(twice, plain)]
    zeros = np.arange(60) < 50
    absent = clone(model).fit(X[:50], y[:50])
    pairs.append((clone(model).fit(X, y, sample_weight=zeros), absent))
    for one, other in pairs:
        found, expected = (each.decision_function(X) for each in (one, other))
        np.testing.assert_allclose(found, expected, rtol=1e-2, atol=2e-3)


@pytest.mark.parametrize("model", LANDMARKED)
def test_a_heavy_class_is_predicted_more_often(model):
    y = np.where(np.arange(60) % 3 == 0, 1 - TWO, TWO)
    by_class = "class_weight" in model.get_params()
    changed = {"n_landmarks": 3} if isinstance(model, DBoostClassifier) else {}
    model = clone(model).set_params(**changed, **({"class_weight": None} if by_class else {}))
    plain = clone(model).fit(X, y).predict(X)
    heavy = clone(model).fit(X, y, sample_weight=np.where(y == 1, 20.0, 0.05)).predict(X)
    assert heavy.sum() > plain.sum()
    if by_class:
        weighted = clone(model).set_params(class_weight={0: 0.05, 1: 20.0}).fit(X, y)
        np.testing.assert_array_equal(weighted.predict(X), heavy)


def test_weighted_similarities_of_a_matrix():
    """With a matrix, absent rows are absent columns too."""
    gram = X @ X.T
    for model in (
        BBSClassifier(20, C=1.0, similarity="precomputed", random_state=0),
        SpectrumSVM(C=1.0, similarity="precomputed"),
        KernelSVM("precomputed"),
        L1SVMClassifier("precomputed", tol=1e-9),
        KernelRegressor("precomputed", weights="similarity"),
    ):
        kept = np.flatnonzero(WEIGHTS)
        y = NUMBERS if isinstance(model, KernelRegressor) else TWO
        absent = clone(model).fit(gram[np.ix_(kept, kept)], y[kept], sample_weight=WEIGHTS[kept])
        zeroed = clone(model).fit(gram, y, sample_weight=WEIGHTS)
        np.testing.assert_allclose(
            output(zeroed, gram), output(absent, gram[:, kept]), rtol=1e-6, atol=1e-9
        )


def test_weights_choose_parameters():
    """Only the held-out points with a weight count."""
    rows = np.r_[:60, :60]
    y = np.r_[TWO, 1 - TWO]
    model = BBSClassifier(20, C=(1e-4, 100.0), random_state=0, validation_fraction=0.4)
    weights = np.r_[np.ones(60), np.full(60, 1e-9)]
    assert model.fit(X[rows], y, sample_weight=weights).score(X, TWO) > 0.8
    assert model.validation_scores_.max() > 0.7
    assert model.score(X[rows], y, sample_weight=weights) > 0.8


def test_weights_of_classes_count_in_the_choice_of_parameters():
    rows, factors, Cs = slice(40), {0: 1.0, 1: 5.0}, (1e-3, 1e-2, 10.0)
    model = BBSClassifier(20, C=Cs, class_weight=factors, random_state=0)
    model.fit(X[rows], TWO[rows], X_val=X, y_val=THREE)
    of_points = np.where(THREE == 1, 5.0, 1.0)  # also of a class without a factor
    scores = [
        np.average(
            clone(model).set_params(C=C).fit(X[rows], TWO[rows]).predict(X) == THREE,
            weights=of_points,
        )
        for C in Cs
    ]
    np.testing.assert_allclose(model.validation_scores_, scores)
    assert len(set(scores)) > 1


def test_votes_of_neighbours_are_weighted():
    points, y = [[0.0], [0.1], [0.2]], [0, 1, 1]
    knn = SimilarityKNNClassifier(3)
    assert knn.fit(points, y).predict([[0.0]]) == [1]
    assert knn.fit(points, y, sample_weight=[3.0, 1.0, 1.0]).predict([[0.0]]) == [0]
    np.testing.assert_allclose(knn.predict_proba([[0.0]]), [[0.6, 0.4]])


def test_bad_weights():
    with pytest.raises(ValueError, match="Negative values"):
        check_weights([-1.0, 1.0], X[:2])
    with pytest.raises(ValueError, match=r"for at least one|zero"):
        check_weights([0.0, 0.0], X[:2])
    with pytest.raises(ValueError, match="the sum inf"):
        check_weights([1e308, 1e308], X[:2])
    with pytest.raises(ValueError, match="one class"):
        LinearSVM().fit(X, TWO, sample_weight=TWO)
    with pytest.raises(ValueError, match="fully_corrective"):
        SparseRegLand(algorithm="forward_greedy").fit(X, NUMBERS, sample_weight=WEIGHTS)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        VotedKernelClassifier(complexity="local").fit(X, TWO, sample_weight=WEIGHTS)


WEIGHTED = [e for e in estimators() if "sample_weight" in inspect.signature(e.fit).parameters]


@pytest.mark.parametrize("estimator", [e for e in WEIGHTED if is_classifier(e())])
@pytest.mark.filterwarnings("ignore")
def test_a_class_without_weight_is_absent(estimator):
    model, kept = made(estimator), THREE != 1
    settings = [{}]
    if "class_weight" in model.get_params():
        settings.append({"class_weight": "balanced"})
    for setting in settings:
        zeroed = clone(model).set_params(**setting).fit(X, THREE, sample_weight=kept)
        assert zeroed.classes_.tolist() == [0, 2]
        if estimator is not ORLand:  # whose landmarks are drawn from all points
            absent = clone(model).set_params(**setting).fit(X[kept], THREE[kept])
            # solvers stop at their tolerance
            assert (zeroed.predict(X) == absent.predict(X)).mean() > 0.9


# Whose points or pairs are tied, until weights differ in the last digits.
TIED = DBoostClassifier, SimilarityKNNClassifier


@pytest.mark.parametrize(
    "model",
    [
        *map(made, WEIGHTED),
        LinearSVM(100.0),
        LinearSVM(100.0, loss="hinge"),
        BBSClassifier(20, C=1.0, solver="truncated_newton", random_state=0),
        FTuneClassifier(20, transfers=5, C=1.0, solver="truncated_newton", random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_weights_of_one_change_nothing(model):
    y = NUMBERS if is_regressor(model) else TWO if isinstance(model, AllPairsSVM) else THREE
    plain = output(clone(model).fit(X, y), X)
    nearly = 1 + 1e-9 * WEIGHTS
    for weights, tolerance in [(np.ones(60), 1e-9), (nearly, 1e-4)][: 2 - isinstance(model, TIED)]:
        weighted = output(clone(model).fit(X, y, sample_weight=weights), X)
        np.testing.assert_allclose(weighted, plain, atol=tolerance * np.abs(plain).max())
