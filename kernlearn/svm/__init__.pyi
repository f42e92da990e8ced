# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.svm.kernel_svm import KernelSVM as KernelSVM

__all__ = [
    "KernelSVM",
]
