"""The generators of artificial data by name."""

from collections.abc import Mapping
from types import MappingProxyType

# each registers its functions
from kernlearn.datasets import artificial  # noqa: F401
from kernlearn.datasets.registering import REGISTERED, Generator


def generators() -> Mapping[str, Generator]:
    """Return the generators by name.

    Returns
    -------
    mapping of str to Generator

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> generators()["unit_ball"].parameters["n_samples"]
    100
    >>> generators()["unit_ball"](n_samples=20, n_features=5, random_state=0).data.shape
    (20, 5)
    """
    return MappingProxyType(dict(sorted(REGISTERED.items())))
