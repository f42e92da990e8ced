"""Voted kernel regularization: sparse sums over many kernels, each penalised by its complexity."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "L1SVMClassifier": "_l1svm",
        "VotedBound": "_bound",
        "VotedKernelClassifier": "_classifier",
        "VotedPath": "_path",
        "dimension_complexity": "_complexity",
        "feature_dimension": "_complexity",
        "local_complexity": "_complexity",
        "monte_carlo_complexity": "_complexity",
        "trace_complexity": "_complexity",
        "voted_bound": "_bound",
    },
)
