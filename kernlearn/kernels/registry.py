"""Kernels by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from kernlearn.kernels.base import CallableKernel, Kernel
from kernlearn.kernels.indefinite import (
    CosineSimilarity,
    EuclideanSimilarity,
    LinearKernel,
    ManhattanSimilarity,
    SigmoidKernel,
)
from kernlearn.kernels.polynomial import (
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)
from kernlearn.kernels.radial import GaussianKernel, LaplacianKernel
from kernlearn.kernels.structured import (
    DynamicTimeWarpingSimilarity,
    JaccardSimilarity,
    LevenshteinSimilarity,
)
from kernlearn.kernels.value_difference import ValueDifferenceSimilarity

_NAMED: dict[str, type[Kernel]] = {
    "cosine": CosineSimilarity,
    "dynamic_time_warping": DynamicTimeWarpingSimilarity,
    "euclidean": EuclideanSimilarity,
    "exponential": ExponentialKernel,
    "gaussian": GaussianKernel,
    "homogeneous_polynomial": HomogeneousPolynomialKernel,
    "jaccard": JaccardSimilarity,
    "laplacian": LaplacianKernel,
    "levenshtein": LevenshteinSimilarity,
    "linear": LinearKernel,
    "manhattan": ManhattanSimilarity,
    "polynomial": PolynomialKernel,
    "sigmoid": SigmoidKernel,
    "value_difference": ValueDifferenceSimilarity,
    "vovk": VovkKernel,
}


def as_kernel(
    spec: str | Kernel | Callable[[Any, Any], ArrayLike], name: str = "kernel"
) -> Kernel:
    """Turn a name, a kernel or a function of two matrices into a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        A name, for the kernel of that name with its default parameters: the dot-product
        kernels "exponential", "homogeneous_polynomial", "linear", "polynomial" and "vovk",
        the radial ones "gaussian" and "laplacian", the similarities "cosine", "euclidean",
        "manhattan", "sigmoid" and "value_difference", and for strings "levenshtein", for sets
        "jaccard", for sequences "dynamic_time_warping". Those with a width ("exponential",
        "gaussian", "laplacian") take the mean distance of the points that they are fitted
        to. Or a kernel, handed back as it is; or a callable (X, Y) -> matrix.
    name : str, default="kernel"
        The parameter that an error is about.

    Returns
    -------
    Kernel
        The kernel.

    Raises
    ------
    ValueError
        If `spec` is an unknown name or nothing of the three.

    Examples
    --------
    >>> from kernlearn.kernels import as_kernel
    >>> as_kernel("polynomial")
    PolynomialKernel()
    """
    if isinstance(spec, Kernel):
        return spec
    if isinstance(spec, str) and spec in _NAMED:
        return _NAMED[spec]()
    if callable(spec):
        return CallableKernel(spec)
    names = ", ".join(map(repr, _NAMED))
    raise ValueError(
        f"{name!r} must be one of {names}, a kernel object or a callable (X, Y) -> matrix, "
        f"got {spec!r}"
    )
