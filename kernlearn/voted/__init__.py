"""Voted kernel regularization: sparse sums over many kernels, penalised by complexity."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "classifier": (
            "L1SVMClassifier VotedKernelClassifier VotedPath dimension_complexity "
            "feature_dimension local_complexity monte_carlo_complexity trace_complexity"
        ),
    },
)
