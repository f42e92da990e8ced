"""Metrics of predicted grades and of rankings."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "grades": (
            "average_absolute_error letor_mean_ndcg letor_ndcg macro_average_absolute_error "
            "thesis_ndcg zero_one_error"
        )
    },
)
