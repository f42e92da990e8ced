"""Kernels: functions of two points, called on two data matrices, and the scale of data."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BaseDotProductKernel": "_dot_product",
        "BilinearSimilarity": "_bilinear",
        "CallableKernel": "_base",
        "CosineSimilarity": "_indefinite",
        "DotProductKernel": "_series",
        "DynamicTimeWarpingSimilarity": "_structured",
        "EuclideanSimilarity": "_indefinite",
        "ExponentialKernel": "_named",
        "GaussianKernel": "_radial",
        "HomogeneousPolynomialKernel": "_named",
        "JaccardSimilarity": "_structured",
        "Kernel": "_base",
        "KernelProduct": "_algebra",
        "KernelSum": "_algebra",
        "LaplacianKernel": "_radial",
        "LevenshteinSimilarity": "_structured",
        "LinearKernel": "_indefinite",
        "ManhattanSimilarity": "_indefinite",
        "NormalizedKernel": "_weighted_sum",
        "PolynomialKernel": "_named",
        "SigmoidKernel": "_indefinite",
        "ValueDifferenceSimilarity": "_value_difference",
        "VovkKernel": "_named",
        "WeightedKernelSum": "_weighted_sum",
        "as_kernel": "_registry",
        "mean_distance": "_bandwidth",
    },
)
