"""Counts of comparisons, and their progress."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from kernlearn.kernels.base import Kernel
from kernlearn.progress import Bar, listening


class Tally:
    """Number of comparisons that an estimator has made, of points by its similarity.

    A kernel that evaluates a function of two points itself counts its calls; of others each value
    counts.

    Parameters
    ----------
    name : str, default=""
        That of the estimator, for the display.
    verbose : bool, default=False
        Whether progress is shown, within `shown`.
    """

    def __init__(self, name: str = "", verbose: bool = False) -> None:
        self.name, self.verbose = name, verbose
        self.comparisons = 0
        self._kernels: list[Kernel] = []
        self._bar: Bar | None = None

    def watch(self, kernel: Kernel) -> None:
        """Count what a kernel has evaluated while it was fitted, and forget its values at last."""
        self._count(kernel.evaluations or kernel.fit_evaluations)
        self._kernels.append(kernel)

    def evaluate(self, kernel: Kernel, X: Any, Y: Any) -> Any:
        """Return the values of a kernel, and count them."""
        before, told = kernel.evaluations, 0
        if self._bar is None:
            values = np.asarray(kernel(X, Y))
        else:
            bar = self._bar

            def listen(n: int) -> None:
                nonlocal told
                told += n
                bar.advance(n)

            with listening(listen):
                values = np.asarray(kernel(X, Y))
        after = kernel.evaluations
        self._count(values.size if before is None or after is None else after - before, told)
        return values

    def _count(self, n: int, told: int = 0) -> None:
        self.comparisons += n
        if self._bar is not None:
            self._bar.advance(n - told)

    @contextmanager
    def shown(self, what: str = "", total: int | None = None) -> Iterator[None]:
        """Show the progress of the comparisons made within, if `verbose`, unless it is shown."""
        if not self.verbose or self._bar is not None:
            yield
            return
        self._bar = Bar(f"{self.name}{what}:", total)
        try:
            yield
        finally:
            self._bar.close()
            self._bar = None

    def close(self) -> None:
        """Let the kernels forget the values that they have kept."""
        for kernel in self._kernels:
            kernel.forget()
        self._kernels.clear()

    def __reduce__(self) -> Any:
        # equal for whatever remembers a fit by a hash of its data
        return Tally, (self.name, self.verbose)
