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
            "polynomial:HomogeneousPolynomialKernel",
            "⟨x, y⟩^degree",
        ),
        ("polynomial", "polynomial:PolynomialKernel", "(⟨x, y⟩ + coef0)^degree"),
        ("exponential", "polynomial:ExponentialKernel", "exp(⟨x, y⟩ / σ²)"),
        ("vovk", "polynomial:VovkKernel", "(1 - ⟨x, y⟩^p) / (1 - ⟨x, y⟩)"),
        ("dot_product", "dot_product:DotProductKernel", "Σ aₙ ⟨x, y⟩ⁿ from its coefficients"),
        ("linear", "indefinite:LinearKernel", "⟨x, y⟩"),
        ("gaussian", "radial:GaussianKernel", "exp(-‖x - y‖² / 2σ²)"),
        ("laplacian", "radial:LaplacianKernel", "exp(-‖x - y‖₁ / σ)"),
        ("sigmoid", "indefinite:SigmoidKernel", "tanh(a ⟨x, y⟩ + r)"),
        ("manhattan", "indefinite:ManhattanSimilarity", "-‖x - y‖₁"),
        ("euclidean", "indefinite:EuclideanSimilarity", "-‖x - y‖²"),
        ("cosine", "indefinite:CosineSimilarity", "cosine of the angle"),
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
# Kernels with parameters that have no default cannot be made from a name alone.
_NEED_PARAMETERS = ("dot_product",)


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
