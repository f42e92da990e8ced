"""What was measured of a similarity: margins, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlearn.theory._hoeffding import check_positive

Loss = str | Callable[[NDArray[np.float64]], ArrayLike]


@dataclass(frozen=True, eq=False)
class Goodness:
    r"""How well a similarity tells classes apart on a sample.

    For two classes there is one problem, for k > 2 there are k, each class against the rest;
    shares and means are over all of them unless one is chosen by :meth:`of_class`.

    Attributes
    ----------
    margins : ndarray of shape (n_problems, n_samples)
        For each point the mean of :math:`w f(K(x, x') - K(x, x''))` over all others x' of its
        class and x'' of the other: G(x) of definition 4.6, the left side of equation 4.3; for
        Balcan & Blum's criterion the difference of both sides of equation 4.1 without
        :math:`\gamma`.
    classes : ndarray of shape (n_problems,)
        The class that each problem tells from the rest; of two classes the second.
    sides : ndarray of shape (n_problems, n_samples)
        1 for the points of that class, -1 for others.
    c_f : float
        :math:`C_f`, what :math:`\gamma` is multiplied with in equation 4.3.
    bound : float
        B: the largest absolute weight, of a pair where the criterion is about pairs.

    References
    ----------
    Kar (2013), definitions 4.1 and 4.6.
    """

    margins: NDArray[np.float64]
    classes: NDArray[Any]
    sides: NDArray[np.float64]
    c_f: float = 1.0
    bound: float = 1.0

    def epsilon(self, gamma: ArrayLike) -> Any:
        r"""Return the share of points that miss a margin.

        Parameters
        ----------
        gamma : float or array-like
            Margins :math:`\gamma`.

        Returns
        -------
        float or ndarray
            The share with a margin below :math:`C_f \gamma`, of the shape of `gamma`: the
            similarity is (that, :math:`\gamma`, B)-good on the sample where
            :math:`\gamma > 0`.
        """
        ordered = np.sort(self.margins, axis=None)
        below = np.searchsorted(ordered, self.c_f * np.asarray(gamma, dtype=np.float64))
        share = below / ordered.size
        return float(share) if share.ndim == 0 else share

    def gamma(self, epsilon: ArrayLike) -> Any:
        r"""Return the largest margin that all but some points have.

        Parameters
        ----------
        epsilon : float or array-like
            Shares, at least 0 and less than 1.

        Returns
        -------
        float or ndarray
            The largest :math:`\gamma` with ``epsilon(gamma)`` at most the share, of the shape
            of `epsilon`; definition 4.1 speaks of those above 0 only.

        Raises
        ------
        ValueError
            If `epsilon` is out of range.
        """
        shares = np.asarray(epsilon, dtype=np.float64)
        if not ((shares >= 0) & (shares < 1)).all():
            raise ValueError(f"'epsilon' must be at least 0 and less than 1, got {epsilon!r}")
        ordered = np.sort(self.margins, axis=None)
        # Rounding of the product must not lose the last one.
        allowed = np.floor(shares * ordered.size + 1e-9).astype(np.intp)
        found = ordered[np.minimum(allowed, ordered.size - 1)] / self.c_f
        return float(found) if found.ndim == 0 else found

    def curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        r"""Return where the trade-off between :math:`\gamma` and :math:`\varepsilon` has steps.

        Returns
        -------
        gamma, epsilon : ndarray of shape (n_steps,)
            All margins found, divided by :math:`C_f`, ascending and each once, and the share
            of points below each.
        """
        distinct, counts = np.unique(self.margins, return_counts=True)
        below = np.cumsum(counts) - counts
        return distinct / self.c_f, below / self.margins.size

    def loss(self, loss: Loss = "hinge", *, gamma: float = 1.0) -> float:
        r"""Return the mean loss: the :math:`\varepsilon` of definition 4.6.

        Parameters
        ----------
        loss : {"hinge", "logistic"} or callable, default="hinge"
            :math:`[1 - t / \gamma]_+`, of Lipschitz constant :math:`1 / \gamma`;
            :math:`\ln(1 + e^{-t})`, of constant 1; or a function of an array of margins.
        gamma : float, default=1.0
            The margin of the hinge loss, above 0.

        Returns
        -------
        float
            The mean of L(G(x)) over the points.

        Raises
        ------
        ValueError
            If an argument is not one of those allowed.
        """
        check_positive(gamma=gamma)
        if callable(loss):
            return float(np.asarray(loss(self.margins)).mean())
        if loss == "hinge":
            return float(np.maximum(1 - self.margins / gamma, 0).mean())
        if loss == "logistic":
            return float(np.logaddexp(0, -self.margins).mean())
        raise ValueError(f"'loss' must be 'hinge', 'logistic' or a callable, got {loss!r}")

    @property
    def misplaced(self) -> float:
        r"""The share of points with no margin above 0: the least :math:`\varepsilon` possible."""
        return float((self.margins <= 0).mean())

    @property
    def error(self) -> float:
        """The share of points that the classifier of theorem 4.2 gets wrong.

        It has all pairs of other points as landmarks. Of several classes it takes the one with
        the largest value; a tie is an error.
        """
        if len(self.margins) == 1:
            return self.misplaced
        own = self.sides > 0
        values = self.sides * self.margins
        others = np.where(own, -np.inf, values).max(axis=0)
        return float((np.where(own, values, -np.inf).max(axis=0) <= others).mean())

    @property
    def mean_margin(self) -> float:
        """The mean margin."""
        return float(self.margins.mean())

    def of_class(self, label: Any) -> Goodness:
        """Return what was measured on one class against the rest.

        Parameters
        ----------
        label : object
            One of `classes`.

        Returns
        -------
        Goodness
            With one problem.

        Raises
        ------
        ValueError
            If there is no such problem.
        """
        (found,) = np.nonzero(self.classes == label)
        if not len(found):
            raise ValueError(f"'label' must be one of {self.classes.tolist()}, got {label!r}")
        return replace(
            self,
            margins=self.margins[found],
            classes=self.classes[found],
            sides=self.sides[found],
        )
