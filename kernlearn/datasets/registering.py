"""The registry of generators, and the form in which they return data."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kernlearn.datasets.cache import fingerprint
from kernlearn.datasets.formats import default_names
from kernlearn.datasets.preparation import Preparation

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Make = TypeVar("Make", bound=Callable[..., "Bunch"])


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
        "similarity" or "distance" if it makes such a matrix instead of features.
    points : str, default="vectors"
        What the points are: "vectors", or objects, "strings" or "graphs".

    Examples
    --------
    >>> from kernlearn.datasets import generators
    >>> list(generators()["rings"].parameters)
    ['n_samples', 'noise', 'factor', 'random_state']
    """

    name: str
    make: Callable[..., "Bunch"]
    similarity: str | None = None
    points: str = "vectors"

    @property
    def title(self) -> str:
        """The first line of the function's documentation."""
        return (inspect.getdoc(self.make) or self.name).splitlines()[0]

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters and their defaults."""
        parameters = inspect.signature(self.make).parameters.values()
        return MappingProxyType({parameter.name: parameter.default for parameter in parameters})

    def __call__(self, **parameters: Any) -> "Bunch":
        """Make the data; a ValueError is raised for a parameter unknown or out of range."""
        if unknown := sorted(parameters.keys() - self.parameters.keys()):
            raise ValueError(
                f"{self.name} has no parameter {', '.join(unknown)}; "
                f"allowed: {', '.join(self.parameters)}"
            )
        return self.make(**parameters)


#: All generators by name.
REGISTERED: dict[str, Generator] = {}


def register(similarity: str | None = None, points: str = "vectors") -> Callable[[Make], Make]:
    """Make a function a generator of its name; the rest is as for :class:`Generator`."""

    def registered(make: Make) -> Make:
        REGISTERED[make.__name__] = Generator(make.__name__, make, similarity, points)
        return make

    return registered


def to_bunch(X: np.ndarray, y: np.ndarray | None, *labels: str) -> "Bunch":
    """Return vectors, or an array of objects, in the form of :func:`load`."""
    from sklearn.utils import Bunch

    return Bunch(
        data=X,
        target=None if y is None else y.astype(np.int64),
        target_names=np.array(labels, dtype=np.str_),
        feature_names=np.array(default_names(X.shape[1] if X.ndim == 2 else 0), dtype=np.str_),
        fingerprint=fingerprint(X, y),
        card=None,
        path=None,
        sample=False,
        note="",
        preparation=Preparation(len(X)),
    )
