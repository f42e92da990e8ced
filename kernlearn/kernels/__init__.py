"""Kernels: functions of two points, called on two data matrices, and the scale of data."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "BaseDotProductKernel": "_dot_product",
        "CallableKernel": "_base",
        "DotProductKernel": "_series",
        "ExponentialKernel": "_named",
        "HomogeneousPolynomialKernel": "_named",
        "Kernel": "_base",
        "KernelProduct": "_algebra",
        "KernelSum": "_algebra",
        "PolynomialKernel": "_named",
        "VovkKernel": "_named",
        "as_kernel": "_registry",
        "mean_distance": "_bandwidth",
    },
)
