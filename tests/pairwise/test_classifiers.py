import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from kernlearn.kernels import GaussianKernel, LinearKernel
from kernlearn.pairwise import (
    MetricKNNClassifier,
    MultipleKernelSVM,
    OnlineMetricLearner,
    OnlineMKL,
    OnlineSimilarityLearner,
    SimilaritySVM,
)
from tests.checks import parametrize_with_checks

RNG = np.random.RandomState(0)
X = RNG.normal(size=(150, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 1)]


@parametrize_with_checks([MetricKNNClassifier(), SimilaritySVM(), MultipleKernelSVM()])
def test_conformance(estimator, check):
    check(estimator)


def test_neighbours_are_those_of_the_learned_metric():
    stream = {"eta": 0.5, "radius": 4.0, "norm": "trace_norm", "buffer_size": 7, "random_state": 3}
    model = MetricKNNClassifier(3, **stream).fit(X[:100], Y[:100])
    metric = OnlineMetricLearner(**stream).fit(X[:100], Y[:100]).metric_
    plain = KNeighborsClassifier(
        3, metric="mahalanobis", metric_params={"VI": metric}, algorithm="brute"
    )
    plain.fit(X[:100], Y[:100])
    np.testing.assert_array_equal(model.predict(X[100:]), plain.predict(X[100:]))


@pytest.mark.parametrize("objective", ["alignment", "goodness"])
def test_the_similarity_is_the_kernel_of_an_svm(objective):
    stream = {"objective": objective, "eta": 0.3, "buffer_size": 9, "random_state": 1}
    model = SimilaritySVM(2.0, **stream).fit(X[:100], Y[:100])
    W = OnlineSimilarityLearner(**stream).fit(X[:100], Y[:100]).matrix_
    plain = SVC(C=2.0, kernel="precomputed").fit(X[:100] @ W @ X[:100].T, Y[:100])
    np.testing.assert_array_equal(model.predict(X[100:]), plain.predict(X[100:] @ W @ X[:100].T))
    assert model.n_support_ == plain.n_support_.sum()


def test_the_sum_is_the_kernel_of_an_svm():
    kernels = [LinearKernel(), GaussianKernel(sigma=0.7)]
    stream = {"eta": 0.2, "radius": 3.0, "norm": "l2", "random_state": 2}
    model = MultipleKernelSVM(kernels, C=5.0, **stream).fit(X[:100], Y[:100])
    mu = OnlineMKL(kernels, **stream).fit(X[:100], Y[:100]).weights_

    def gram(rows):
        return sum(m * kernel(rows, X[:100]) for m, kernel in zip(mu, kernels, strict=True))

    plain = SVC(C=5.0, kernel="precomputed").fit(gram(X[:100]), Y[:100])
    np.testing.assert_array_equal(model.predict(X[100:]), plain.predict(gram(X[100:])))
    assert model.n_support_ == plain.n_support_.sum()


def test_all_points_are_neighbours_where_there_are_fewer_than_asked_for():
    model = MetricKNNClassifier(50, random_state=0).fit(X[:10], Y[:10])
    assert model.classifier_.n_neighbors == 10
