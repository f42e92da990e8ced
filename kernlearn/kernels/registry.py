"""Kernels by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from kernlearn.registration import RegisteredKernel

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from kernlearn.kernels.base import Kernel

#: Kernels by name; each is imported when it is used.
KERNELS: dict[str, RegisteredKernel] = {
    name: RegisteredKernel(name, f"kernlearn.kernels.{target}", summary=summary)
    for name, target, summary in (
        (
            "homogeneous_polynomial",
            "inner_product:HomogeneousPolynomialKernel",
            "⟨x, y⟩^degree",
        ),
        ("polynomial", "inner_product:PolynomialKernel", "(⟨x, y⟩ + coef0)^degree"),
        ("exponential", "inner_product:ExponentialKernel", "exp(⟨x, y⟩ / σ²)"),
        ("vovk", "inner_product:VovkKernel", "(1 - ⟨x, y⟩^p) / (1 - ⟨x, y⟩)"),
        ("dot_product", "dot_product:DotProductKernel", "Σ aₙ ⟨x, y⟩ⁿ from its coefficients"),
        ("linear", "inner_product:LinearKernel", "⟨x, y⟩"),
        ("gaussian", "radial:GaussianKernel", "exp(-‖x - y‖² / 2σ²)"),
        ("laplacian", "radial:LaplacianKernel", "exp(-‖x - y‖₁ / σ)"),
        ("sigmoid", "inner_product:SigmoidKernel", "tanh(a ⟨x, y⟩ + r)"),
        ("manhattan", "radial:ManhattanSimilarity", "-‖x - y‖₁"),
        ("euclidean", "radial:EuclideanSimilarity", "-‖x - y‖²"),
        ("cosine", "inner_product:CosineSimilarity", "cosine of the angle"),
        (
            "levenshtein",
            "structured:LevenshteinSimilarity",
            "similarity of strings from their edit distance",
        ),
        ("jaccard", "structured:JaccardSimilarity", "similarity of sets"),
        (
            "dynamic_time_warping",
            "structured:DynamicTimeWarpingSimilarity",
            "similarity of sequences of any lengths",
        ),
        (
            "value_difference",
            "value_difference:ValueDifferenceSimilarity",
            "similarity of nominal columns, learnt from labels",
        ),
    )
}
# Kernels whose parameters have no defaults need more than a name.
_NEED_PARAMETERS = ("dot_product",)


def as_kernel(
    spec: str | Kernel | Callable[[Any, Any], ArrayLike], name: str = "kernel"
) -> Kernel:
    """Convert a name, a kernel or a function of two matrices to a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        A name in `KERNELS`, for that kernel with its default parameters; a kernel, which is
        returned unchanged; or a callable (X, Y) -> matrix. Kernels with a width
        ("exponential", "gaussian", "laplacian") estimate it by the mean distance of the points
        that they are fitted to.
    name : str, default="kernel"
        Name of the parameter, for error messages.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If `spec` is an unknown name or none of the three.

    Examples
    --------
    >>> from kernlearn.kernels import as_kernel
    >>> as_kernel("polynomial")
    PolynomialKernel()
    """
    from kernlearn.kernels.base import CallableKernel, Kernel

    if isinstance(spec, Kernel):
        return spec
    names = [name for name in sorted(KERNELS) if name not in _NEED_PARAMETERS]
    if isinstance(spec, str) and spec in names:
        return KERNELS[spec].load()()
    if callable(spec):
        return CallableKernel(spec)
    raise ValueError(
        f"{name!r} must be one of {', '.join(map(repr, names))}, a kernel object or a callable "
        f"(X, Y) -> matrix, got {spec!r}"
    )
