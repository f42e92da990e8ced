"""Each parameter is used or refused, and after `fit` a change of it changes nothing."""

from copy import deepcopy
from numbers import Integral

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.kernel_approximation import RBFSampler
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn import features, landmarks, pairwise, voted
from kernlearn.kernels import GaussianKernel
from kernlearn.linear import LinearSVM
from kernlearn.svm import KernelSVM
from tests.checks import estimators, made

RNG = np.random.RandomState(0)
X, NEW = RNG.normal(size=(60, 4)), RNG.normal(size=(30, 4))
NUMBERS = X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * RNG.normal(size=60)
GRADES = np.digitize(NUMBERS, [-0.2, 0.8])


def small(estimator):
    model = made(estimator)
    return model.set_params(buffer_size=6) if hasattr(model, "buffer_size") else model


# Settings under which more of the parameters matter than with the defaults.
MODELS = [
    *map(small, estimators()),
    *map(KernelSVM, ("linear", "poly", "polynomial", GaussianKernel())),
    KernelSVM(solver="interior_point"),
    LinearSVM(loss="hinge"),
    features.MaclaurinSVM(h01=True, n_components=10, random_state=0),
    features.RandomMaclaurin(h01=True, n_components=10, random_state=0),
    features.RandomMaclaurin(center=True, measure="variance", n_components=10, random_state=0),
    landmarks.BBSClassifier(8, C=1.0, solver="truncated_newton", random_state=0),
    landmarks.KernelRegressor("manhattan", weights="similarity"),
    landmarks.LandmarkKNNClassifier(8, n_refined=5, random_state=0),
    landmarks.PairEmbedding(8, similarity="manhattan", random_state=0),
    landmarks.SimilarityFeatureSVM(1.0),
    landmarks.SimilarityKNNClassifier([1, 3, 5], random_state=0),
    landmarks.SparseRegLand(3, 20, algorithm="forward_greedy", tol=0.05, random_state=0),
    landmarks.SpectrumSVM("flip", C=1.0, similarity="manhattan"),
    pairwise.OLP(5, radius=0.5, random_state=0),
    pairwise.OLP(5, radius=0.5, regularization=0.1, average=False, random_state=0),
    pairwise.OAM(6, C=0.01, random_state=0),
    pairwise.OAM(6, C=0.01, variant="sequential", random_state=0),
    voted.VotedKernelClassifier(complexity="local", beta=[0.1, 0.01, 1e-3, 1e-4], random_state=0),
]
of_each = pytest.mark.parametrize("model", MODELS)
OTHERS = {
    "categories": [[2, 1, 0]],
    "feature_map": [features.RandomMaclaurin(n_components=7)],
    "inner": [RBFSampler(gamma=0.1)],
    "kernels": [["linear", "gaussian"]],
    "thresholds": [[0.3, 0.4]],
    "transfer": ["sign"],
    "truncation": [0],
}
TWO_CLASSES = {"AllPairsMoments", "AllPairsSVM", "OAM", "OLP"}


def targets(model):
    if type(model).__name__ in TWO_CLASSES or getattr(model, "solver", "") == "interior_point":
        return GRADES // 2
    return NUMBERS if is_regressor(model) else GRADES


def outputs(model):
    """All that a fitted model returns for new points."""
    methods = "transform", "predict", "decision_function", "real_value", "predict_proba"
    found = [getattr(model, name)(NEW) for name in methods if hasattr(model, name)]
    learned = "kernel_" if hasattr(model, "kernel_") else "similarity_"
    return found or [getattr(model, learned)(NEW, X)]


def legal(model, name):
    """Yield other legal values of a parameter."""
    value = getattr(model, name)
    yield from OTHERS.get(name, ())
    for allowed in model._parameter_constraints.get(name, ()):
        if isinstance(allowed, StrOptions):
            yield from sorted(option for option in allowed.options if option is not value)
        elif isinstance(allowed, Interval):
            numbers = (1, 2, 7) if allowed.type is Integral else (0.03, 0.3, 0.9, 3.0, 30.0)
            yield from (n for n in numbers if n in allowed and n != value)
        elif allowed == "boolean":
            yield from (flag for flag in (True, False) if flag is not value)
        elif allowed == "random_state":
            yield from (7, 8, 9)
        elif allowed is dict:
            yield {0: 1.0, 1: 9.0, 2: 1.0}
        elif allowed is None and value is not None:
            yield None
        elif allowed is str:
            yield from {"exponential", "laplacian", "precomputed"} - {value}


# What says nothing where there is one value to choose from.
OF_A_CHOICE = {"random_state", "refit", "scoring", "validation_fraction"}
# What says nothing with the other settings.
IDLE = {
    ("CompositionalMaclaurin", "columns"): "those of the default map are known",
    ("KernelRegressor", "bandwidth"): "similarities that are weights have none",
    ("KernelSVM", "cache_size"): "how much memory LIBSVM takes",
    ("PairEmbedding", "normalize"): "the largest value of a Gaussian is 1",
    ("RandomMaclaurin", "include_bias"): "without h01 no column is exact",
    ("RandomMaclaurin", "include_exact"): "without h01 no column is exact",
    ("SpectrumSVM", "distances"): "of distances, which a config may have beside similarities",
    ("SpectrumSVM", "spectrum"): "a Gaussian is positive semi-definite",
    ("VotedKernelClassifier", "local_radius"): "the default complexity has no radius",
}


@of_each
@pytest.mark.filterwarnings("ignore")
def test_each_parameter_changes_something_or_is_refused(model):
    fitted, y = clone(model).fit(X, targets(model)), targets(model)
    plain, name = outputs(fitted), type(model).__name__
    may_choose = hasattr(model, "validation_fraction")
    chooses = not may_choose or getattr(fitted, "validation_scores_", None) is not None

    def matters(name, value):
        try:
            found = outputs(clone(model).set_params(**{name: value}).fit(X, y))
        except (ValueError, ImportError):
            return True
        return any(not np.array_equal(*pair) for pair in zip(plain, found, strict=True))

    for parameter in model.get_params(deep=False):
        idle = (name, parameter) in IDLE or (parameter in OF_A_CHOICE and not chooses)
        assert idle or any(matters(parameter, value) for value in legal(model, parameter))


@of_each
@pytest.mark.filterwarnings("ignore")
def test_what_is_changed_after_fit_changes_no_prediction(model):
    points, y = X.copy(), targets(model).copy()
    fitted = clone(model).fit(points, y)
    plain = outputs(fitted)
    for name in model.get_params(deep=False):
        for value in legal(model, name):
            changed = deepcopy(fitted).set_params(**{name: value})
            for pair in zip(plain, outputs(changed), strict=True):
                np.testing.assert_array_equal(*pair, err_msg=f"{name}={value!r}")
    points[:] = 3 * points[::-1] + 1
    y[:] = y[::-1].copy()
    for pair in zip(plain, outputs(fitted), strict=True):
        np.testing.assert_array_equal(*pair)
