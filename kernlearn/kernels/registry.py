"""Kernels by the names that configs give them."""

from kernlearn.kernels.libraries import library_similarity
from kernlearn.registration import RegisteredKernel

#: Kernels by name; each is imported when it is used.
KERNELS: dict[str, RegisteredKernel] = {
    name: RegisteredKernel(name, f"kernlearn.kernels.{target}", summary=summary)
    for name, (target, summary) in {
        "homogeneous_polynomial": ("inner_product:HomogeneousPolynomialKernel", "⟨x, y⟩^degree"),
        "polynomial": ("inner_product:PolynomialKernel", "(⟨x, y⟩ + coef0)^degree"),
        "exponential": ("inner_product:ExponentialKernel", "exp(⟨x, y⟩ / σ²)"),
        "vovk": ("inner_product:VovkKernel", "(1 - ⟨x, y⟩^p) / (1 - ⟨x, y⟩)"),
        "dot_product": ("dot_product:DotProductKernel", "Σ aₙ ⟨x, y⟩ⁿ from its coefficients"),
        "linear": ("inner_product:LinearKernel", "⟨x, y⟩"),
        "gaussian": ("distances:GaussianKernel", "exp(-‖x - y‖² / 2σ²)"),
        "laplacian": ("distances:LaplacianKernel", "exp(-‖x - y‖₁ / σ)"),
        "sigmoid": ("inner_product:SigmoidKernel", "tanh(a ⟨x, y⟩ + r)"),
        "manhattan": ("distances:ManhattanSimilarity", "-‖x - y‖₁"),
        "euclidean": ("distances:EuclideanSimilarity", "-‖x - y‖²"),
        "cosine": ("inner_product:CosineSimilarity", "cosine of the angle"),
        "levenshtein": (
            "structured:LevenshteinSimilarity",
            "similarity of strings from their edit distance",
        ),
        "gower": (
            "gower:GowerSimilarity",
            "similarity of records that mix numbers and nominal values",
        ),
        "jaccard": ("structured:JaccardSimilarity", "similarity of sets"),
        "dynamic_time_warping": (
            "structured:DynamicTimeWarpingSimilarity",
            "similarity of sequences of any lengths",
        ),
        "value_difference": (
            "value_difference:ValueDifferenceSimilarity",
            "similarity of nominal columns, learnt from labels",
        ),
    }.items()
}

# What they compare, unless vectors.
_POINTS = {
    "levenshtein": "strings",
    "jaccard": "sets",
    "dynamic_time_warping": "series",
    "gower": "records",
    "value_difference": "records",
}


def compared_points(name: str) -> str:
    """Return what a kernel or similarity compares, by its name.

    This is one of "vectors", "strings", "series", "graphs", "sets" and "records".
    """
    of_library = library_similarity(name)
    return _POINTS.get(name, "vectors") if of_library is None else of_library.points
