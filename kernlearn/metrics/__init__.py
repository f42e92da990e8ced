"""Metrics of predicted grades and of rankings."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ordinal": "average_absolute_error macro_average_absolute_error zero_one_error",
        "ranking": "letor_mean_ndcg letor_ndcg thesis_ndcg",
    },
)
