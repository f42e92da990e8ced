"""What a user gives about a data file without a card, and what is guessed about it."""

from collections.abc import Sequence
from typing import Any, NamedTuple

Column = int | str


class FileOptions(NamedTuple):
    """How a file is to be read; see :func:`~kernlearn.datasets.add`."""

    target: Column | None = None
    task: str | None = None
    grades: Sequence[str] | None = None
    drop: Sequence[Column] = ()
    sheet: int | str | None = None
    matrix: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    points: Column | None = None


class Guess(NamedTuple):
    """How a file reads: the format as in a card, and counts of the target's values if few."""

    format: dict[str, Any]
    n_features: int
    labels: dict[str, int] | None
    numeric: bool  # whether the target is a number
    remarks: list[str]  # the guesses in words, for users
    ordered: bool = False  # whether the file gives the order of the labels
    ordinal: bool = False  # whether it says that they have an order
    left_out: dict[str, str] = {}  # why columns are no features
