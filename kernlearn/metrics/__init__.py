"""Metrics of predicted grades and of rankings."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "average_absolute_error": "ordinal",
        "letor_mean_ndcg": "ranking",
        "letor_ndcg": "ranking",
        "macro_average_absolute_error": "ordinal",
        "thesis_ndcg": "ranking",
        "zero_one_error": "ordinal",
    },
)
