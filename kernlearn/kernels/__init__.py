"""Kernels and similarities: functions of two points, evaluated on all pairs of rows."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BaseDotProductKernel": "dot_product",
        "BilinearSimilarity": "inner_product",
        "CallableKernel": "base",
        "CosineSimilarity": "inner_product",
        "DotProductKernel": "dot_product",
        "DynamicTimeWarpingSimilarity": "structured",
        "EuclideanSimilarity": "distances",
        "ExponentialKernel": "inner_product",
        "GaussianKernel": "distances",
        "HomogeneousPolynomialKernel": "inner_product",
        "JaccardSimilarity": "structured",
        "Kernel": "base",
        "KernelProduct": "dot_product",
        "KernelSum": "dot_product",
        "LaplacianKernel": "distances",
        "LevenshteinSimilarity": "structured",
        "LinearKernel": "inner_product",
        "ManhattanSimilarity": "distances",
        "NormalizedKernel": "weighted_sum",
        "PolynomialKernel": "inner_product",
        "SigmoidKernel": "inner_product",
        "ValueDifferenceSimilarity": "value_difference",
        "VovkKernel": "inner_product",
        "WeightedKernelSum": "weighted_sum",
        "as_kernel": "base",
        "mean_distance": "distances",
    },
)
