"""What a solver of a grid of problems says of its progress."""

from time import perf_counter
from typing import Any

from kernlearn.voted.problem import Solution


class Progress:
    """Prints a line for each setting, and with a verbosity of 2 and more for each round too."""

    def __init__(self, verbosity: int, name: str) -> None:
        self._verbosity = int(verbosity)
        self._name = name

    def begin(self, number: int, total: int, params: dict[str, Any]) -> None:
        """Note that a setting begins."""
        chosen = ", ".join(f"{name}={value:g}" for name, value in params.items())
        self._where = f"{self._name}, setting {number} of {total} ({chosen})"
        self._start = perf_counter()

    def round(self, number: int, n_columns: int, objective: float, bound: float) -> None:
        """Say how far a round has come."""
        if self._verbosity > 1:
            gap = (objective - bound) / objective if objective else 0.0
            print(
                f"{self._where}: round {number}, {n_columns} columns, objective {objective:.6g}, "
                f"gap {gap:.2g}, {self._seconds:.1f} s"
            )

    def end(self, solution: Solution) -> None:
        """Say how a setting ended."""
        if self._verbosity > 0:
            state = "solved" if solution.converged else "stopped early"
            print(
                f"{self._where}: {state} after {solution.n_iter} iterations, objective "
                f"{solution.objective:.6g}, {len(solution.coef)} coefficients, "
                f"{self._seconds:.1f} s"
            )

    @property
    def _seconds(self) -> float:
        return perf_counter() - self._start
