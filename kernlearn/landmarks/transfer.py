"""Transfer functions, which are applied to differences of similarities."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

TransferLike: TypeAlias = "Transfer | str | float | Callable[[Any], ArrayLike]"

# Grid to check user-defined functions on: differences of similarities up to 1 lie in [-2, 2].
_WITHIN = np.concatenate([[0.0, 1e-9, 1e-6, 1e-4], np.linspace(0, 2, 401)[1:]])
# Tolerance relative to the largest value: antisymmetric functions miss by rounding only.
_ANTISYMMETRY = 1e-7


class Transfer(ABC):
    r"""An antisymmetric function :math:`f(-t) = -f(t)` of a difference of similarities.

    Transfer functions (definition 4.1 of [1]_) are immutable, compare equal by their
    parameters, and may be used as parameters of estimators.

    Attributes
    ----------
    name : str
        Name of the function.
    bound : float
        The supremum of :math:`|f|` over [-2, 2], where differences of similarities between -1
        and 1 lie. The :math:`C_f` of [1]_ is at most twice that.

    References
    ----------
    .. [1] Kar (2013), section 4.2.

    Examples
    --------
    >>> from kernlearn.landmarks import Identity, Ramp, Sign, Transfer
    >>> [transfer(0.1).round(2).item() for transfer in (Identity(), Ramp(5), Sign())]
    [0.1, 0.5, 1.0]
    >>> isinstance(Ramp(5), Transfer), Ramp(5) == Ramp(5.0), Ramp(5).bound
    (True, True, 1.0)
    """

    @property
    def name(self) -> str:
        """Name of the function."""
        return type(self).__name__.lower()

    @property
    def bound(self) -> float:
        """The supremum of the absolute value over [-2, 2]."""
        return float(abs(self(2.0)))  # named functions do not decrease

    @abstractmethod
    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        """Write f(t) to ``out``, which may be ``t`` itself."""

    def __call__(
        self, t: ArrayLike, out: NDArray[np.floating] | None = None
    ) -> NDArray[np.floating]:
        """Apply the function to every element.

        Parameters
        ----------
        t : array-like
            Of any shape.
        out : ndarray of the shape of `t`, default=None
            Where to write the result; may be `t` itself.

        Returns
        -------
        ndarray of the shape of `t`
            `out` if given. float32 stays float32; integers become float64.
        """
        t = np.asarray(t)
        if t.dtype.kind != "f":
            t = t.astype(np.float64)
        if out is None:
            out = np.empty_like(t)
        self._write(t, out)
        return out


@dataclass(frozen=True)
class Identity(Transfer):
    """The identity f(t) = t, with which pairs are as expressive as Balcan & Blum's singletons.

    Examples
    --------
    >>> from kernlearn.landmarks import Identity
    >>> Identity()([-0.5, 2.0])
    array([-0.5,  2. ])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.positive(t, out=out)


@dataclass(frozen=True)
class Sign(Transfer):
    """The sign of t, 0 at 0: the transfer function of Wang, Yang & Feng (2007).

    Examples
    --------
    >>> from kernlearn.landmarks import Sign
    >>> Sign()([-0.5, 0.0, 2.0])
    array([-1.,  0.,  1.])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.sign(t, out=out)


@dataclass(frozen=True)
class _Sloped(Transfer):
    """Base of the functions of t times a slope."""

    slope: float = 1.0

    def __post_init__(self) -> None:
        is_number = isinstance(self.slope, Real) and not isinstance(self.slope, bool)
        if not is_number or not 0 < self.slope < np.inf:
            raise ValueError(f"'slope' must be a finite number above 0, got {self.slope!r}")
        # a NumPy scalar would turn float32 into float64
        object.__setattr__(self, "slope", float(self.slope))


@dataclass(frozen=True)
class Ramp(_Sloped):
    """The ramp f(t) = clip(slope · t, -1, 1), between identity and sign.

    Parameters
    ----------
    slope : float, default=1.0
        The slope at 0.

    Raises
    ------
    ValueError
        If the slope is not a finite number above 0.

    References
    ----------
    Kar (2013), section 4.3: slopes 1, 5, 10, 50, 100 and 1000.

    Examples
    --------
    >>> from kernlearn.landmarks import Ramp
    >>> Ramp(5)([-0.1, 0.0, 2.0])
    array([-0.5,  0. ,  1. ])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.multiply(t, self.slope, out=out)
        np.clip(out, -1, 1, out=out)


@dataclass(frozen=True)
class Sigmoid(_Sloped):
    """The sigmoid f(t) = tanh(slope · t), a smooth ramp.

    Parameters
    ----------
    slope : float, default=1.0
        The slope at 0.

    Raises
    ------
    ValueError
        If the slope is not a finite number above 0.

    Examples
    --------
    >>> from kernlearn.landmarks import Sigmoid
    >>> Sigmoid(2)([-0.5, 0.0]).round(3)
    array([-0.762,  0.   ])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.multiply(t, self.slope, out=out)
        np.tanh(out, out=out)


@dataclass(frozen=True, repr=False)
class CallableTransfer(Transfer):
    """A user-defined transfer function.

    Parameters
    ----------
    function : callable
        Takes an array and returns one of the same shape, element by element. It must be
        antisymmetric and finite, which is checked on a grid from -10 to 10, dense in [-2, 2].

    Raises
    ------
    ValueError
        If `function` cannot be called, changes the shape, or is not finite or not
        antisymmetric somewhere on the grid.

    Notes
    -----
    `bound` is the largest absolute value on the grid.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import CallableTransfer
    >>> CallableTransfer(np.arctan)
    CallableTransfer(arctan)
    >>> CallableTransfer(np.cos)
    Traceback (most recent call last):
        ...
    ValueError: 'cos' is not antisymmetric: f(0) = 1, it must be 0
    """

    function: Callable[[Any], ArrayLike]

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"'function' must be callable, got {self.function!r}")
        # two columns, t and -t, to check the shape at the same time
        grid = np.concatenate([_WITHIN, [2.5, 3.0, 5.0, 10.0]])[:, None] * [1, -1]
        both = self(grid)
        if not np.isfinite(both).all():
            t = grid[~np.isfinite(both)][0]
            raise ValueError(f"'{self.name}' must give finite numbers, and does not at {t:g}")
        if both[0].any():
            raise ValueError(
                f"'{self.name}' is not antisymmetric: f(0) = {both[0].max():g}, it must be 0"
            )
        miss = np.abs(both.sum(axis=1))
        worst = miss.argmax()
        if miss[worst] > _ANTISYMMETRY * np.abs(both).max():
            t, (right, left) = grid[worst, 0], both[worst]
            raise ValueError(
                f"'{self.name}' is not antisymmetric: f({t:g}) = {right:g} and f({-t:g}) = "
                f"{left:g}, which differs from -f({t:g}) by {miss[worst]:.3g}"
            )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"

    @property
    def name(self) -> str:
        """Name of the function."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    @property
    def bound(self) -> float:
        """The largest absolute value on a grid of [-2, 2]."""
        return float(np.abs(self(_WITHIN)).max())

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        values = np.asarray(self.function(t))
        if values.shape != t.shape:
            raise ValueError(
                f"'{self.name}' returned an array of shape {values.shape} for one of shape "
                f"{t.shape}; it must keep the shape"
            )
        out[...] = values


NAMED: dict[str, type[Transfer]] = {
    "identity": Identity,
    "sign": Sign,
    "ramp": Ramp,
    "sigmoid": Sigmoid,
}


def as_transfer(spec: TransferLike) -> Transfer:
    """Convert a name, a slope or a function to a transfer function.

    Parameters
    ----------
    spec : Transfer, str, float or callable
        A transfer function, returned unchanged; "identity", "sign", "ramp" or "sigmoid", the
        latter two with slope 1; a number, the slope of a :class:`Ramp`; or a callable, see
        :class:`CallableTransfer`.

    Returns
    -------
    Transfer

    Raises
    ------
    ValueError
        If `spec` is none of these, the slope is not above 0, or the callable is not
        antisymmetric.

    Examples
    --------
    >>> from kernlearn.landmarks import as_transfer
    >>> as_transfer(50)
    Ramp(slope=50.0)
    """
    if isinstance(spec, Transfer):
        return spec
    if isinstance(spec, str) and spec in NAMED:
        return NAMED[spec]()
    if isinstance(spec, Real) and not isinstance(spec, bool):
        return Ramp(float(spec))
    if callable(spec) and not isinstance(spec, type):
        return CallableTransfer(spec)
    names = ", ".join(map(repr, NAMED))
    raise ValueError(
        f"'transfer' must be one of {names}, a slope above 0, a transfer function or an "
        f"antisymmetric callable, got {spec!r}"
    )
