"""Kernels and similarities: functions of two points, evaluated on all pairs of rows."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BaseDotProductKernel": "dot_product",
        "BilinearSimilarity": "indefinite",
        "CallableKernel": "base",
        "CosineSimilarity": "indefinite",
        "DotProductKernel": "dot_product",
        "DynamicTimeWarpingSimilarity": "structured",
        "EuclideanSimilarity": "indefinite",
        "ExponentialKernel": "polynomial",
        "GaussianKernel": "radial",
        "HomogeneousPolynomialKernel": "polynomial",
        "JaccardSimilarity": "structured",
        "Kernel": "base",
        "KernelProduct": "dot_product",
        "KernelSum": "dot_product",
        "LaplacianKernel": "radial",
        "LevenshteinSimilarity": "structured",
        "LinearKernel": "indefinite",
        "ManhattanSimilarity": "indefinite",
        "NormalizedKernel": "weighted_sum",
        "PolynomialKernel": "polynomial",
        "SigmoidKernel": "indefinite",
        "ValueDifferenceSimilarity": "value_difference",
        "VovkKernel": "polynomial",
        "WeightedKernelSum": "weighted_sum",
        "as_kernel": "registry",
        "mean_distance": "distances",
    },
)
