# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.linear.models import LinearSVM as LinearSVM
from kernlearn.linear.models import LinearSVMRegressor as LinearSVMRegressor

__all__ = [
    "LinearSVM",
    "LinearSVMRegressor",
]
