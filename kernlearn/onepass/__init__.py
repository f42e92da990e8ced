"""Models from one pass over data of any length: sums that are the same wherever data are cut."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "moments": "Moments",
        "ranking": "OnePassRankRLS",
        "ridge": "OnePassRidge OnePassRidgeClassifier",
    },
)
