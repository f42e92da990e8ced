"""Kernels and similarities: functions of two points, evaluated on all pairs of rows."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "base": "Kernel",
        "distances": (
            "EuclideanSimilarity GaussianKernel LaplacianKernel ManhattanSimilarity mean_distance"
        ),
        "dot_product": (
            "BaseDotProductKernel BilinearSimilarity CosineSimilarity DotProductKernel "
            "ExponentialKernel HomogeneousPolynomialKernel LinearKernel PolynomialKernel "
            "SigmoidKernel VovkKernel"
        ),
        "functions": "CallableKernel NormalizedKernel WeightedKernelSum as_kernel",
        "libraries": "LibrarySimilarity",
        "registry": "named names",
        "records": (
            "ColumnSimilarity GowerSimilarity JaccardSimilarity ValueDifferenceSimilarity"
        ),
    },
)
