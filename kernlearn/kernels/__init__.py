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
        "EuclideanSimilarity": "radial",
        "ExponentialKernel": "inner_product",
        "GaussianKernel": "radial",
        "HomogeneousPolynomialKernel": "inner_product",
        "JaccardSimilarity": "structured",
        "Kernel": "base",
        "KernelProduct": "dot_product",
        "KernelSum": "dot_product",
        "LaplacianKernel": "radial",
        "LevenshteinSimilarity": "structured",
        "LinearKernel": "inner_product",
        "ManhattanSimilarity": "radial",
        "NormalizedKernel": "weighted_sum",
        "PolynomialKernel": "inner_product",
        "SigmoidKernel": "inner_product",
        "ValueDifferenceSimilarity": "value_difference",
        "VovkKernel": "inner_product",
        "WeightedKernelSum": "weighted_sum",
        "as_kernel": "registry",
        "mean_distance": "distances",
    },
)
