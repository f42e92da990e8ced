"""Losses of a pair of points: a convex function of a margin."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

Function: TypeAlias = Callable[[Any], ArrayLike]
PairwiseLossLike: TypeAlias = "PairwiseLoss | str | tuple[Function, Function]"

# Where a user-defined loss is checked, and the tolerance for rounding.
_GRID = np.linspace(-4, 4, 161)
_STEP = 1e-4
_SLACK = 1e-6


class PairwiseLoss(ABC):
    r"""A convex function :math:`\varphi` of the margin :math:`Y(y, y')\,h(x, x')` of a pair.

    Losses are immutable, equal if their parameters are, and may be parameters of estimators.

    References
    ----------
    Kar (2013), section 6.6.

    Examples
    --------
    >>> from kernlearn.pairwise import Hinge, Logistic, PairwiseLoss
    >>> losses = [Hinge(), Logistic()]
    >>> all(isinstance(loss, PairwiseLoss) for loss in losses)
    True
    >>> [loss.value([0.5]).round(3).tolist() for loss in losses]
    [[0.5], [0.474]]
    """

    @abstractmethod
    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        """Return the loss of each margin, in the shape of `margin`."""

    @abstractmethod
    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        """Return the derivative at each margin, a subgradient where there is none."""


def _floating(margin: ArrayLike) -> NDArray[np.floating]:
    margin = np.asarray(margin)
    return margin if margin.dtype.kind == "f" else margin.astype(np.float64)


@dataclass(frozen=True)
class Hinge(PairwiseLoss):
    """The hinge loss φ(m) = max(0, 1 − m); its slope at 1 is taken as 0.

    Examples
    --------
    >>> from kernlearn.pairwise import Hinge
    >>> Hinge().value([-1.0, 0.5, 1.0]), Hinge().derivative([-1.0, 0.5, 1.0])
    (array([2. , 0.5, 0. ]), array([-1., -1.,  0.]))
    """

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        return np.maximum(1 - _floating(margin), 0)

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        margin = _floating(margin)
        return -(margin < 1).astype(margin.dtype) + 0


@dataclass(frozen=True)
class SquaredHinge(PairwiseLoss):
    """The squared hinge loss φ(m) = max(0, 1 − m)².

    Examples
    --------
    >>> from kernlearn.pairwise import SquaredHinge
    >>> loss = SquaredHinge()
    >>> loss.value([-1.0, 0.5, 2.0]).tolist(), loss.derivative([-1.0, 0.5, 2.0]).tolist()
    ([4.0, 0.25, 0.0], [-4.0, -1.0, 0.0])
    """

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        return np.maximum(1 - _floating(margin), 0) ** 2

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        return 2 * np.minimum(_floating(margin) - 1, 0)


@dataclass(frozen=True)
class Logistic(PairwiseLoss):
    """The logistic loss φ(m) = log(1 + exp(−m)).

    Examples
    --------
    >>> from kernlearn.pairwise import Logistic
    >>> Logistic().value([-1.0, 0.0, 1.0]).round(3).tolist()
    [1.313, 0.693, 0.313]
    >>> Logistic().derivative([-1.0, 0.0, 1.0]).round(3).tolist()
    [-0.731, -0.5, -0.269]
    """

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        margin = _floating(margin)
        return np.logaddexp(margin.dtype.type(0), -margin)

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        return -expit(-_floating(margin))


@dataclass(frozen=True)
class Exponential(PairwiseLoss):
    """The exponential loss φ(m) = exp(−m).

    Examples
    --------
    >>> from kernlearn.pairwise import Exponential
    >>> Exponential().value([-1.0, 0.0, 1.0]).round(3).tolist()
    [2.718, 1.0, 0.368]
    >>> Exponential().derivative([-1.0, 0.0, 1.0]).round(3).tolist()
    [-2.718, -1.0, -0.368]
    """

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        return np.exp(-_floating(margin))

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        return -np.exp(-_floating(margin))


@dataclass(frozen=True)
class Squared(PairwiseLoss):
    """The squared loss φ(m) = (1 − m)².

    Examples
    --------
    >>> from kernlearn.pairwise import Squared
    >>> Squared().value([-1.0, 0.5, 2.0]).tolist(), Squared().derivative([-1.0, 0.5, 2.0]).tolist()
    ([4.0, 0.25, 1.0], [-4.0, -1.0, 2.0])
    """

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        return (1 - _floating(margin)) ** 2

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        return 2 * (_floating(margin) - 1)


@dataclass(frozen=True, repr=False)
class CallableLoss(PairwiseLoss):
    """A user-defined loss.

    Parameters
    ----------
    function : callable
        From an array of margins to their losses, element by element.
    slope : callable
        From an array of margins to the derivatives, or subgradients.

    Raises
    ------
    ValueError
        If one of them cannot be called, changes the shape, is not finite, or `slope` is not the
        subgradient of a convex `function`, all of which is checked on a grid from -4 to 4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import CallableLoss
    >>> CallableLoss(lambda m: np.abs(1 - m), lambda m: np.sign(m - 1)).value([0.0, 3.0])
    array([1., 2.])
    >>> CallableLoss(np.square, np.square)
    Traceback (most recent call last):
        ...
    ValueError: 'square' is not the derivative of a convex 'square': at a margin of -4 it gives
    16, while the loss has a slope between -8.0001 and -7.9999
    """

    function: Callable[[Any], ArrayLike]
    slope: Callable[[Any], ArrayLike]

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not callable(value):
                raise ValueError(f"'{name}' must be callable, got {value!r}")
        below, at, above = self.value(_GRID + np.array([[-_STEP], [0], [_STEP]]))
        slope = self.derivative(_GRID)
        left, right = (at - below) / _STEP, (above - at) / _STEP
        slack = _SLACK * np.maximum(np.abs(slope), np.abs(at) / _STEP * 1e-3 + 1)
        wrong = np.flatnonzero((slope < left - slack) | (slope > right + slack))
        if len(wrong):
            i = wrong[0]
            raise ValueError(
                f"'{_called(self.slope)}' is not the derivative of a convex "
                f"'{_called(self.function)}': at a margin of {_GRID[i]:g} it gives {slope[i]:g}, "
                f"while the loss has a slope between {left[i]:g} and {right[i]:g}"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({_called(self.function)}, {_called(self.slope)})"

    def value(self, margin: ArrayLike) -> NDArray[np.floating]:
        return self._apply(self.function, margin)

    def derivative(self, margin: ArrayLike) -> NDArray[np.floating]:
        return self._apply(self.slope, margin)

    def _apply(self, function: Function, margin: ArrayLike) -> NDArray[np.floating]:
        margin = _floating(margin)
        result = np.asarray(function(margin))
        if result.shape != margin.shape:
            raise ValueError(
                f"'{_called(function)}' returned an array of shape {result.shape} for margins of "
                f"shape {margin.shape}; it must keep the shape"
            )
        if not np.isfinite(result).all():
            raise ValueError(
                f"'{_called(function)}' must return finite numbers, and does not at a margin of "
                f"{margin[~np.isfinite(result)].flat[0]:g}"
            )
        return result.astype(margin.dtype, copy=False)


def _called(function: Function) -> str:
    return getattr(function, "__name__", type(function).__name__)


_NAMED: dict[str, type[PairwiseLoss]] = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "exponential": Exponential,
    "squared": Squared,
}


def as_pairwise_loss(spec: PairwiseLossLike) -> PairwiseLoss:
    """Return the loss of a name or of two functions.

    Parameters
    ----------
    spec : PairwiseLoss, str, or pair of callables
        A loss, returned unchanged; "hinge", "squared_hinge", "logistic", "exponential" or
        "squared"; or a function and its derivative, see :class:`CallableLoss`.

    Returns
    -------
    PairwiseLoss

    Raises
    ------
    ValueError
        If `spec` is none of these.

    Examples
    --------
    >>> from kernlearn.pairwise import as_pairwise_loss
    >>> as_pairwise_loss("squared_hinge")
    SquaredHinge()
    """
    if isinstance(spec, PairwiseLoss):
        return spec
    if isinstance(spec, str) and spec in _NAMED:
        return _NAMED[spec]()
    if isinstance(spec, (tuple, list)) and len(spec) == 2 and all(map(callable, spec)):
        return CallableLoss(*spec)
    names = ", ".join(map(repr, _NAMED))
    raise ValueError(
        f"'loss' must be one of {names}, a PairwiseLoss, or a function and its derivative, "
        f"got {spec!r}"
    )


def pair_labels(y: ArrayLike, others: ArrayLike, kind: str = "difference") -> NDArray[Any]:
    """Return the label Y of a pair in its margin Y · h(x, x').

    Parameters
    ----------
    y, others : array-like
        Labels of the first and the second points, of shapes that broadcast.
    kind : {"difference", "product"}, default="difference"
        "difference": (y − y') / 2 with labels in {-1, +1}, as in AUC maximisation: 0 for a pair
        of one class. Thesis section 6.6.2 has y − y'; with the half the hinge has a margin of 1.
        "product": y·y' in {-1, +1}; for more than two classes +1 where the labels are equal and
        -1 elsewhere.

    Returns
    -------
    ndarray of float64
        In {-1, 0, +1}.

    Raises
    ------
    ValueError
        If `kind` is neither, or labels are to be subtracted that are not -1 and +1.

    References
    ----------
    Kar (2013), sections 6.6.2 and 6.6.3.

    Examples
    --------
    >>> from kernlearn.pairwise.losses import pair_labels
    >>> pair_labels(1, [1, -1]), pair_labels("a", ["a", "b"], kind="product")
    (array([0., 1.]), array([ 1., -1.]))
    """
    first, second = np.asarray(y), np.asarray(others)
    if kind == "product":
        return np.where(first == second, 1.0, -1.0)
    if kind != "difference":
        raise ValueError(f"'kind' must be 'difference' or 'product', got {kind!r}")
    for labels in (first, second):
        if not np.isin(labels, (-1, 1)).all():
            raise ValueError("labels must be -1 and +1 for their difference to be taken")
    return (first.astype(np.float64) - second) / 2
