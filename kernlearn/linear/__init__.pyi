# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.linear.models import LinearSVM as LinearSVM

__all__ = [
    "LinearSVM",
]
