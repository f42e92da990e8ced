import numpy as np
import pytest

from kernlearn.kernels import (
    CosineSimilarity,
    DynamicTimeWarpingSimilarity,
    EuclideanSimilarity,
    ExponentialKernel,
    GaussianKernel,
    HomogeneousPolynomialKernel,
    JaccardSimilarity,
    LaplacianKernel,
    LevenshteinSimilarity,
    LinearKernel,
    ManhattanSimilarity,
    PolynomialKernel,
    SigmoidKernel,
    ValueDifferenceSimilarity,
    VovkKernel,
    as_kernel,
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("polynomial", PolynomialKernel),
        ("homogeneous_polynomial", HomogeneousPolynomialKernel),
        ("exponential", ExponentialKernel),
        ("vovk", VovkKernel),
        ("gaussian", GaussianKernel),
        ("laplacian", LaplacianKernel),
        ("sigmoid", SigmoidKernel),
        ("manhattan", ManhattanSimilarity),
        ("euclidean", EuclideanSimilarity),
        ("cosine", CosineSimilarity),
        ("linear", LinearKernel),
        ("levenshtein", LevenshteinSimilarity),
        ("jaccard", JaccardSimilarity),
        ("dynamic_time_warping", DynamicTimeWarpingSimilarity),
        ("value_difference", ValueDifferenceSimilarity),
    ],
)
def test_names(name, expected):
    assert type(as_kernel(name)) is expected


@pytest.mark.parametrize("name", ["exponential", "gaussian", "laplacian"])
def test_a_width_that_is_not_given_is_found_in_the_data(name):
    assert as_kernel(name).sigma == "mean_distance"


def test_kernels_are_handed_back():
    kernel = PolynomialKernel(7)
    assert as_kernel(kernel) is kernel


def test_callables_are_wrapped():
    X = np.arange(4.0).reshape(2, 2)
    np.testing.assert_array_equal(as_kernel(lambda A, B: A @ B.T)(X), X @ X.T)


@pytest.mark.parametrize("spec", ["gauss", 3, None])
def test_everything_else_is_refused_with_the_names(spec):
    with pytest.raises(ValueError, match="'cosine', 'dynamic_time_warping', 'euclidean'"):
        as_kernel(spec)
