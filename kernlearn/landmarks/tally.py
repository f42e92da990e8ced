"""Counts of comparisons."""

from typing import Any

import numpy as np

from kernlearn.kernels.base import Kernel


class Tally:
    """Number of comparisons that an estimator has made, of points by its similarity.

    A kernel that evaluates a function of two points itself counts its calls; of others each value
    counts.
    """

    def __init__(self) -> None:
        self.comparisons = 0
        self._kernels: list[Kernel] = []

    def watch(self, kernel: Kernel) -> None:
        """Count what a kernel has evaluated while it was fitted, and forget its values at last."""
        self.comparisons += kernel.evaluations or kernel.fit_evaluations
        self._kernels.append(kernel)

    def evaluate(self, kernel: Kernel, X: Any, Y: Any) -> Any:
        """Return the values of a kernel, and count them."""
        before = kernel.evaluations
        values = np.asarray(kernel(X, Y))
        after = kernel.evaluations
        self.comparisons += values.size if before is None or after is None else after - before
        return values

    def close(self) -> None:
        """Let the kernels forget the values that they have kept."""
        for kernel in self._kernels:
            kernel.forget()
        self._kernels.clear()

    def __reduce__(self) -> Any:
        # equal for whatever remembers a fit by a hash of its data
        return Tally, ()
