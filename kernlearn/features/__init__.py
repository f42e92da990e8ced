"""Explicit feature maps, whose inner products are kernel values in expectation."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "compositional": "CompositionalMaclaurin",
        "positive": "PositiveFeatures",
        "random_maclaurin": "RandomMaclaurin",
        "spherical": "SphericalFeatures",
        "svm": "MaclaurinSVM",
        "tensor_sketch": "TensorSketch",
    },
)
