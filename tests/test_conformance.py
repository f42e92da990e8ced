"""scikit-learn's checks of all estimators: first with the defaults, then with other settings."""

import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernlearn import features, landmarks, linear, onepass, pairwise, svm, voted
from kernlearn.kernels import CallableKernel, PolynomialKernel
from tests.checks import estimators
from tests.svm.conftest import _one_thread  # noqa: F401

_WEIGHTS = (
    "repeated rows are drawn as landmarks or held out apart from each other, and solvers stop at "
    "a tolerance: tests/test_sample_weights.py has the landmarks fixed and solvers converge"
)
#: Checks that set n_components to 1.
_ONE_COMPONENT = (
    "check_dont_overwrite_parameters",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
)
_NO_INTERCEPT = "without an intercept not every matrix lets one class be predicted everywhere"


class Gaussian:
    """A user's callable; its name, unlike a function's, is the same in every process."""

    def __call__(self, X, Y=None):
        return rbf_kernel(X, Y)

    def __repr__(self):
        return "Gaussian()"


# few neighbours cannot all be of a class that has hardly a weight
NEIGHBOURS = landmarks.LandmarkKNNClassifier(10, n_neighbors=(1, 20))
SETTINGS = [
    landmarks.BBSClassifier(n_landmarks=10, selection="dselect", C=1.0, fit_intercept=True),
    landmarks.BBSClassifier(similarity="precomputed", loss="logistic"),
    landmarks.FTuneClassifier(per_class=True, selection="shared", transfers="sign"),
    landmarks.FTuneClassifier(
        similarity="precomputed", kind="distance", transfers=(1, 10), C=(1, 10)
    ),
    landmarks.DBoostClassifier(n_landmarks=10, pool_size=30, selection="dselect"),
    landmarks.DBoostClassifier(n_landmarks=20, n_thresholds=0),
    landmarks.DBoostClassifier(n_landmarks=10, similarity="precomputed"),
    landmarks.LandmarkKNNClassifier(5, n_neighbors=(5, 20), n_refined=20),
    landmarks.LandmarkKNNClassifier(5, n_neighbors=(5, 20), similarity="precomputed"),
    landmarks.SimilarityKNNClassifier([1, 3], similarity="manhattan", random_state=0),
    landmarks.SimilarityKNNClassifier(1, similarity="precomputed"),
    landmarks.SimilarityFeatureSVM(1.0, similarity="precomputed"),
    landmarks.SpectrumSVM("shift", C=1.0, similarity="precomputed"),
    landmarks.ORLand(10, constraints="implicit", thresholds="learned", loss="hinge", C=100),
    landmarks.ORLand(5, similarity="precomputed", kind="distance", C=1),
    landmarks.RegLand(
        5, C=1, loss="epsilon_insensitive", similarity="manhattan", selection="dselect"
    ),
    landmarks.RegLand(5, similarity="precomputed", kind="distance", selection="dselect"),
    landmarks.SparseRegLand(7, 8, similarity="linear", ridge=0.0),
    landmarks.SparseRegLand(similarity="precomputed", fit_intercept=False),
    landmarks.KernelRegressor("manhattan", weights="similarity"),
    landmarks.KernelRegressor("precomputed", kind="distance", bandwidth="mean"),
    landmarks.RankLand(5, similarity="precomputed", selection="dselect"),
    landmarks.LandmarkEmbedding(3, selection="dselect", normalize=False),
    landmarks.LandmarkEmbedding(5, similarity="precomputed", selection="rpcholesky"),
    landmarks.PairEmbedding(4, similarity="precomputed", kind="distance", selection="dselect"),
    landmarks.NystroemEmbedding("sigmoid", 7, selection="leverage"),
    landmarks.NystroemEmbedding("precomputed", 5, selection="kmeans++"),
    voted.VotedKernelClassifier(lam=[1e-2, 1e-3], beta=[1e-3, 1e-4], random_state=0),
    voted.VotedKernelClassifier(
        ["gaussian", "sigmoid"], lam=1e-4, beta=1e-4, complexity="monte_carlo", random_state=0
    ),
    linear.LinearSVM(loss="hinge"),
    linear.LinearSVM(presolve=0.5),
    svm.KernelSVM(solver="interior_point"),
    svm.KernelSVM("precomputed"),
    svm.KernelSVM(Gaussian()),
    svm.KernelSVM(CallableKernel(Gaussian())),
    features.CompositionalMaclaurin("exponential", n_components=5),
    features.CompositionalMaclaurin(columns="dependent", n_components=4, measure="support"),
    features.RandomMaclaurin("exponential", n_components=7, h01=True, measure="support"),
    features.RandomMaclaurin(PolynomialKernel(4), truncation=2),
    features.RandomMaclaurin(h01=True, measure="variance", center=True),
    features.RandomMaclaurin(measure="variance", complex_to_real=True),
    features.TensorSketch("exponential", n_components=7, truncation=3),
    features.MaclaurinSVM(h01=True, presolve=0.5),
    pairwise.AllPairsMoments(half_life=50.0),
    pairwise.OnlineMetricLearner(radius=1.0, buffer_size=1),
    pairwise.OnlineSimilarityLearner("goodness", radius=1.0),
    pairwise.OnlineMKL(["linear", "polynomial"], norm="l2", buffer_size=1),
    pairwise.OLP(buffer_size=1, buffer="fifo", average=False),
    pairwise.OLP(loss="logistic", regularization=0.1, radius=None),
    pairwise.OAM(variant="sequential", average=True),
    pairwise.OAM(buffer_size=2, buffer="rsx2"),
    onepass.OnePassRidge(alphas=0.1, n_folds=2),
    onepass.OnePassRidgeClassifier(alphas=[0.1, 1.0]),
]


def defaults():
    for estimator in estimators():
        yield NEIGHBOURS if estimator is landmarks.LandmarkKNNClassifier else estimator()


def expected_failures(estimator):
    """Return the reason for each check that may fail, as for many estimators of scikit-learn."""
    kinds = ("dense", "sparse")
    failing = {f"check_sample_weight_equivalence_on_{kind}_data": _WEIGHTS for kind in kinds}
    if getattr(estimator, "similarity", None) == "precomputed":
        failing["check_class_weight_classifiers"] = _NO_INTERCEPT
    settings = estimator.get_params(deep=False)
    if "precomputed" in (settings.get("similarity"), settings.get("kernel")):
        failing["check_estimators_nan_inf"] = "its matrix is not square, which is said first"
    if settings.get("presolve") or settings.get("complexity") == "monte_carlo":
        failing["check_sample_weights_not_overwritten"] = "this setting takes no weights"
    if settings.get("complex_to_real"):
        failing |= dict.fromkeys(_ONE_COMPONENT, "a complex feature is two columns")
    return failing


@parametrize_with_checks([*defaults(), *SETTINGS], expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore:(n_landmarks=|\\d+ landmarks are more):UserWarning")
@pytest.mark.filterwarnings("ignore:(all features are 0|X looks like a distance):UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)
