"""Kernels and similarities: functions of two points, evaluated on all pairs of rows."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": "Kernel",
        "composite": "NormalizedKernel WeightedKernelSum as_kernel",
        "distances": (
            "EuclideanSimilarity GaussianKernel LaplacianKernel ManhattanSimilarity mean_distance"
        ),
        "dot_product": "BaseDotProductKernel DotProductKernel KernelProduct KernelSum",
        "functions": "CallableKernel",
        "gaussian_process": "GaussianProcessKernel",
        "gower": "GowerSimilarity",
        "inner_product": (
            "BilinearSimilarity CosineSimilarity ExponentialKernel "
            "HomogeneousPolynomialKernel LinearKernel PolynomialKernel SigmoidKernel "
            "VovkKernel"
        ),
        "structured": "DynamicTimeWarpingSimilarity JaccardSimilarity LevenshteinSimilarity",
        "value_difference": "ValueDifferenceSimilarity",
    },
)
