# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.metrics.grades import average_absolute_error as average_absolute_error
from kernlearn.metrics.grades import letor_mean_ndcg as letor_mean_ndcg
from kernlearn.metrics.grades import letor_ndcg as letor_ndcg
from kernlearn.metrics.grades import macro_average_absolute_error as macro_average_absolute_error
from kernlearn.metrics.grades import thesis_ndcg as thesis_ndcg
from kernlearn.metrics.grades import zero_one_error as zero_one_error

__all__ = [
    "average_absolute_error",
    "letor_mean_ndcg",
    "letor_ndcg",
    "macro_average_absolute_error",
    "thesis_ndcg",
    "zero_one_error",
]
