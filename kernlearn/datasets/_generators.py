"""The artificial data sets by name, as a configuration names them."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kernlearn.datasets._points import rings, two_moons, unit_ball, waveform
from kernlearn.datasets._similarities import indefinite_similarity
from kernlearn.datasets._streams import two_gaussians

if TYPE_CHECKING:
    from sklearn.utils import Bunch


@dataclass(frozen=True)
class Generator:
    """An artificial data set by name; calling it makes the data.

    Parameters
    ----------
    name : str
        The name in a configuration.
    make : callable
        The function that makes the data.
    similarity : str or None, default=None
        "similarity" or "distance" where it makes a matrix of these instead of features.

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> list(generators()["rings"].parameters)
    ['n_samples', 'noise', 'factor', 'random_state']
    """

    name: str
    make: Callable[..., "Bunch"]
    similarity: str | None = None

    @property
    def title(self) -> str:
        """One line on what it makes."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters and their defaults."""
        found = inspect.signature(self.make).parameters.values()
        return MappingProxyType({parameter.name: parameter.default for parameter in found})

    def __call__(self, **parameters: Any) -> "Bunch":
        """Make the data.

        Parameters
        ----------
        **parameters : dict
            Some of :attr:`parameters`.

        Returns
        -------
        sklearn.utils.Bunch

        Raises
        ------
        ValueError
            If a parameter is not known or out of range.
        """
        if unknown := sorted(parameters.keys() - self.parameters.keys()):
            raise ValueError(
                f"{self.name} has no parameter {', '.join(unknown)}; "
                f"allowed: {', '.join(self.parameters)}"
            )
        return self.make(**parameters)


def generators() -> Mapping[str, Generator]:
    """Return the generators, by name.

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
    known = [Generator("indefinite_similarity", indefinite_similarity, "similarity")]
    known += [
        Generator(make.__name__, make)
        for make in (rings, two_gaussians, two_moons, unit_ball, waveform)
    ]
    return MappingProxyType({generator.name: generator for generator in known})
