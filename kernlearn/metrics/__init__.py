"""Measures of error for grades, and of the quality of rankings."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "average_absolute_error": "_ordinal",
        "letor_mean_ndcg": "_ranking",
        "letor_ndcg": "_ranking",
        "macro_average_absolute_error": "_ordinal",
        "thesis_ndcg": "_ranking",
        "zero_one_error": "_ordinal",
    },
)
