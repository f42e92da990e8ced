"""Base of the similarities and distances of other libraries."""

import inspect
import warnings
from abc import abstractmethod
from collections.abc import Callable, Container, Mapping
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kernlearn.constraints import N_JOBS
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.libraries import LIBRARIES, Library
from kernlearn.kernels.pairs import pair_error, raised
from kernlearn.progress import advance
from kernlearn.similarities.turning import TurnedSimilarity

# Pairs compared at a time by a slow distance: Ctrl-C is heard between.
PAIRS_AT_A_TIME = 2**14


class LibrarySimilarity(TurnedSimilarity):
    """A similarity or distance of another library, by its name there.

    Its own parameters are keywords, and parameters for scikit-learn as `turn` and `sigma` are.
    """

    #: The library in `LIBRARIES`.
    library: ClassVar[str]

    name: str

    def __init__(
        self,
        name: str,
        *,
        turn: str = "negative",
        sigma: Any = "mean_distance",
        **parameters: Any,
    ) -> None:
        self.name, self.turn, self.sigma = name, turn, sigma
        defaults = self._defaults()
        if unknown := parameters.keys() - defaults.keys():
            raise ValueError(
                f"{self.library}.{name} has no parameter {', '.join(sorted(unknown))}; it has "
                f"{', '.join([*defaults, 'turn', 'sigma'])}"
            )
        for key, value in {**defaults, **parameters}.items():
            setattr(self, key, value)

    def _defaults(self) -> Mapping[str, Any]:
        """Return the library's parameters with their defaults, if it is installed."""
        self._library().require(self.name)
        return self._own_parameters(self.name)

    def _library(self) -> Library:
        library = LIBRARIES[self.library]
        if self.name not in library.kinds:
            names = ", ".join(sorted(library.kinds))
            raise ValueError(f"'name' must be one of {names}, got {self.name!r}")
        return library

    @staticmethod
    @abstractmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        """Return the library's parameters of a similarity with their defaults."""

    @property
    def is_distance(self) -> bool:
        return self._library().kinds[self.name] == "distance"

    def _options(self) -> dict[str, Any]:
        """Return the values of the library's parameters."""
        return {key: getattr(self, key) for key in self._own_parameters(self.name)}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, also those of the library.

        Parameters
        ----------
        deep : bool, default=True
            Ignored: no parameter is an estimator.

        Returns
        -------
        dict
        """
        return {**super().get_params(deep=False), **self._options()}

    def set_params(self, **params: Any) -> Self:
        """Set parameters; another `name` first.

        Under another name parameters keep their values, if the similarity of that name has them
        too and they differ from the defaults.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : object

        Warns
        -----
        UserWarning
            If a value is dropped that differs from its default.
        """
        if "name" in params:
            self._rename(params.pop("name"), params.keys())
        return super().set_params(**params)

    def _rename(self, name: str, replaced: Container[str]) -> None:
        """Take another name, with the values that it has a parameter for."""
        before, defaults = self.get_params(), type(self)(self.name).get_params()
        after = type(self)(name).get_params()
        changed = {
            key: value
            for key, value in before.items()
            if key != "name" and key not in replaced and not _same(value, defaults[key])
        }
        kept = {key: value for key, value in changed.items() if key in after}
        dropped = ", ".join(f"{k}={v!r}" for k, v in changed.items() if k not in kept)
        for key in before.keys() - after.keys():
            delattr(self, key)
        self.__init__(name, **kept)  # type: ignore[misc]
        if dropped:
            warnings.warn(
                f"{self.library}.{name} has no such parameters as {dropped}: dropped",
                UserWarning,
                stacklevel=3,
            )


def _same(value: Any, default: Any) -> bool:
    """Whether a value is the default; arrays are not."""
    return value is default or (np.ndim(value) == 0 and bool(value == default))


class ThreadedSimilarity(LibrarySimilarity):
    """A similarity of a library that computes in several threads, by a parameter ``n_jobs``."""

    _parameter_constraints = {
        **LibrarySimilarity._parameter_constraints,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        name: str,
        *,
        turn: str = "negative",
        sigma: Any = "mean_distance",
        n_jobs: int | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(name, turn=turn, sigma=sigma, **parameters)
        self.n_jobs = n_jobs


@cache
def keyword_defaults(function: Callable[..., Any], skipped: int = 0) -> Mapping[str, Any]:
    """Return the parameters of a function that have defaults, without the first ones."""
    found = list(inspect.signature(function).parameters.values())[skipped:]
    return {p.name: p.default for p in found if p.default is not p.empty}


def blamed(
    compare: Callable[[Any, Any], NDArray[Any]],
    X: Any,
    Y: Any,
    shown: tuple[Any, Any] | None = None,
) -> NDArray[Any]:
    """Compare all pairs; if that fails, raise an error that names the first pair that does.

    `shown` are the points as the user has passed them, left and right, if these are not.
    """
    try:
        return compare(X, Y)
    except SimilarityError:
        raise
    except Exception as error:
        for i in range(len(X)):
            if _fails(compare, X[i : i + 1], Y):
                for j in range(len(Y)):
                    if single := _fails(compare, X[i : i + 1], Y[j : j + 1]):
                        left, right = shown or (X, Y)
                        raise pair_error(raised(single), left, right, i, j) from single
        raise error


def _fails(compare: Callable[[Any, Any], Any], X: Any, Y: Any) -> Exception | None:
    try:
        compare(X, Y)
    except Exception as error:
        return error
    return None


def by_blocks(compare: Callable[[Any, Any], NDArray[Any]], X: Any, Y: Any) -> NDArray[np.floating]:
    """Compare all pairs, some rows of X at a time, with errors as of :func:`blamed`."""
    n_rows = max(1, PAIRS_AT_A_TIME // max(len(Y), 1))
    blocks = []
    for start in range(0, len(X), n_rows):
        try:
            blocks.append(blamed(compare, X[start : start + n_rows], Y))
            advance(blocks[-1].size)
        except SimilarityError as error:
            places = start + error.left, error.right
            raise SimilarityError(error.problem, *places, error.shown) from error.__cause__
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)
