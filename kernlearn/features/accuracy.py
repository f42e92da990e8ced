"""The number of Maclaurin features that a required accuracy asks for."""

from collections.abc import Mapping
from typing import Any

from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory.bounds import UniformAccuracy, maclaurin_n_components

# A row of that many features takes 80 MB; more, as a bound may require, is of no use.
_MOST_COMPONENTS = 10**7


def components_for(
    accuracy: UniformAccuracy | Mapping[str, float],
    kernel: BaseDotProductKernel,
    X: Any,
    p: float,
) -> int:
    """Return the number of features by theorem 3.10, for a ball that holds the rows of X.

    Raises
    ------
    ValueError
        If a dict has other keys than ``epsilon`` and ``delta``, or more than ten million features
        are needed.
    """
    if isinstance(accuracy, Mapping):
        if set(accuracy) != {"epsilon", "delta"}:
            raise ValueError(
                "'n_components' as a dict must have the keys 'epsilon' and 'delta' and no "
                f"others, got {accuracy!r}"
            )
        accuracy = UniformAccuracy(**accuracy)
    radius = float(abs(X).sum(axis=1).max())
    needed = maclaurin_n_components(kernel, accuracy, radius=radius, n_features=X.shape[1], p=p)
    if needed > _MOST_COMPONENTS:
        raise ValueError(
            f"'n_components' = {accuracy!r} asks for {needed} features by theorem 3.10, at most "
            f"{_MOST_COMPONENTS} can be had: raise epsilon, scale the data down or give an int"
        )
    return needed
