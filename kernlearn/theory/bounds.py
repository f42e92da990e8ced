"""The number of features for a required accuracy, as the feature maps take it."""

from dataclasses import dataclass

from kernlearn.checks import check_positive, check_share
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory import maclaurin


@dataclass(frozen=True)
class UniformAccuracy:
    """Required accuracy: all kernel values within `epsilon` with probability ``1 - delta``."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        check_share(delta=self.delta)


def maclaurin_n_components(
    kernel: BaseDotProductKernel,
    accuracy: UniformAccuracy,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    """Return the number of features that theorem 3.10 requires."""
    wish = {"epsilon": accuracy.epsilon, "delta": accuracy.delta}
    return maclaurin.maclaurin_n_components(
        kernel, **wish, radius=radius, n_features=n_features, p=p
    )
