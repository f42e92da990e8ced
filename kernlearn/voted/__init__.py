"""Voted kernel regularization: sparse sums over many kernels, penalised by complexity."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "bounds": "VotedBound voted_bound",
        "classifier": "L1SVMClassifier VotedKernelClassifier",
        "path": "VotedPath",
        "complexity": (
            "dimension_complexity feature_dimension local_complexity monte_carlo_complexity "
            "trace_complexity"
        ),
    },
)
