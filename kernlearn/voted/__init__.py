"""Voted kernel regularization: sparse sums over many kernels, penalised by complexity."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "L1SVMClassifier": "classifier",
        "VotedBound": "complexity",
        "VotedKernelClassifier": "classifier",
        "VotedPath": "path",
        "dimension_complexity": "complexity",
        "feature_dimension": "complexity",
        "local_complexity": "complexity",
        "monte_carlo_complexity": "complexity",
        "trace_complexity": "complexity",
        "voted_bound": "complexity",
    },
)
