"""What the first pass over rows is for: a sample, the labels, what rows and targets are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.onepass.folds import HashSample


@dataclass
class FirstLook:
    """What has been seen of rows; it does not depend on their order and partition.

    Attributes
    ----------
    name : str
        The partition that the rows are of.
    sample : HashSample
    labels : ndarray or None
        The distinct labels, ascending; None without rows, or if targets are numbers.
    attributes : dict of str to object
        What the check of the first chunk has found, by the name of the estimator's attribute.
    """

    name: str
    sample: HashSample
    labels: NDArray[Any] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)

    def add(self, X: Any, targets: NDArray[Any]) -> None:
        """Add the rows of a chunk, with labels or rows of numbers as targets."""
        self.sample.add(X, targets)
        if targets.ndim == 1:
            self._add_labels(targets)

    def _add_labels(self, labels: NDArray[Any]) -> None:
        known = () if self.labels is None else (self.labels,)
        self.labels = np.unique(np.concatenate([*known, np.unique(labels)]))


def merged(looks: Sequence[FirstLook]) -> FirstLook:
    """Return what has been seen of several parts, which stay as they are.

    Raises
    ------
    ValueError
        If their columns or targets do not fit together.
    """
    first = next((look for look in looks if look.attributes), looks[0])
    result = FirstLook(first.name, HashSample(first.sample.n_rows, first.sample.seed))
    result.attributes = first.attributes
    for look in looks:
        if look.attributes:
            _refuse_others(first, look)
        result.sample.merge(look.sample)
        if look.labels is not None:
            result._add_labels(look.labels)
    return result


def _refuse_others(one: FirstLook, two: FirstLook) -> None:
    for name in sorted(one.attributes.keys() | two.attributes.keys()):
        known, other = one.attributes.get(name), two.attributes.get(name)
        if not np.array_equal(known, other):  # type: ignore[arg-type]
            raise ValueError(
                f"{two.name} has other rows or targets than {one.name}: {name} is {other!r} "
                f"and {known!r}"
            )
