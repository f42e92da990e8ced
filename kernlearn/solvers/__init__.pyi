# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.solvers.kernel_svm import KernelSVM as KernelSVM
from kernlearn.solvers.linear_svm import LinearSVM as LinearSVM
from kernlearn.solvers.linear_svm import LinearSVMRegressor as LinearSVMRegressor

__all__ = [
    "KernelSVM",
    "LinearSVM",
    "LinearSVMRegressor",
]
