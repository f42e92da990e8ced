"""Excess risk of online learning from pairs, by bounded losses: Kar (2013), sections 6.3, 6.5."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.theory._hoeffding import check_count, check_positive

Complexity: TypeAlias = "float | Callable[[int], float]"


@dataclass(frozen=True)
class ExcessRiskBound:
    """By how much the mean risk of an ensemble may exceed the least risk.

    Attributes
    ----------
    regret : float
        The regret, a round.
    complexity : float
        What comes from the richness of the class.
    confidence : float
        What comes from chance.
    """

    regret: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """The sum; may well exceed the largest loss, and then says nothing."""
        return self.regret + self.complexity + self.confidence


def contracted_complexity(
    complexity: float, *, lipschitz: float = 1.0, largest_label: float = 1.0
) -> float:
    r"""Bound the complexity of the losses by that of the functions (theorem 6.10).

    :math:`\mathcal{R}_n(\ell \circ \mathcal{H}) \le L\,Y\,\mathcal{R}_n(\mathcal{H})` for losses
    :math:`\varphi(Y(y, y')\,h(x, x'))`.

    Parameters
    ----------
    complexity : float
        :math:`\mathcal{R}_n(\mathcal{H})`, or a bound, at least 0.
    lipschitz : float, default=1.0
        The Lipschitz constant L of :math:`\varphi`.
    largest_label : float, default=1.0
        Y, the largest :math:`|Y(y, y')|`: 1 for products of labels -1 and +1 and for half their
        differences, 2 for their differences.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import contracted_complexity
    >>> contracted_complexity(0.1, largest_label=2.0)
    0.2
    """
    check_positive(lipschitz=lipschitz, largest_label=largest_label)
    _check_nonnegative(complexity=complexity)
    return lipschitz * largest_label * complexity


def excess_risk_bound(
    n: int,
    *,
    complexity: Complexity,
    regret: float = 0.0,
    loss_bound: float = 1.0,
    delta: float = 0.05,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with all earlier points (theorem 6.3).

    .. math::

        \frac{1}{n-1} \sum_{t=2}^n \mathcal{L}(h_{t-1}) - \mathcal{L}(h^*) \le
        \frac{\mathfrak{R}_n}{n-1} + \frac{4}{n-1} \sum_{t=2}^n
        \mathcal{R}_{t-1}(\ell \circ \mathcal{H}) + 6B \sqrt{\frac{\log(n/\delta)}{n-1}}

    Parameters
    ----------
    n : int
        Length of the stream, at least 2.
    complexity : float or callable
        :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` as a function of m; a number c is
        :math:`c / \sqrt{m}`.
    regret : float, default=0.0
        :math:`\mathfrak{R}_n`, the regret by the all-pairs penalties, or its bound.
    loss_bound : float, default=1.0
        B: losses are in [0, B].
    delta : float, default=0.05
        Allowed probability of failure, between 0 and 1.

    Returns
    -------
    ExcessRiskBound
        Of the bound, which has no hidden constants: all are as printed.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The printed constants cover the union of the events too, of which the proofs of lemmas 6.1 and
    6.2 have n + 1 in all: by the sums of section 6.12.1, and McDiarmid's inequality for the fixed
    :math:`h^*`, less than :math:`4.5 B \sqrt{\log(2n/\delta)/(n-1)}` is needed; the rest is
    slack (where it is not, the bound exceeds B).

    References
    ----------
    Kar (2013), theorem 6.3.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import excess_risk_bound
    >>> bound = excess_risk_bound(10001, complexity=2.0, regret=100.0)
    >>> round(bound.regret, 3), round(bound.complexity, 3), round(bound.confidence, 3)
    (0.01, 0.159, 0.21)
    """
    check_stream(n, delta)
    check_positive(loss_bound=loss_bound)
    confidence = 6 * loss_bound * math.sqrt(math.log(n / delta) / (n - 1))
    rounds = np.arange(1, n)
    return ExcessRiskBound(
        check_regret(regret) / (n - 1), 4 * _mean_complexity(complexity, rounds), confidence
    )


def finite_buffer_excess_risk_bound(
    n: int,
    buffer_size: int,
    *,
    complexity: Complexity,
    regret: float = 0.0,
    loss_bound: float = 1.0,
    delta: float = 0.05,
    as_printed: bool = False,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with a buffer of s points (theorem 6.6).

    With :math:`m_t = \min(t - 1, s)`, B-bounded losses and probability :math:`1 - \delta`,

    .. math::

        \frac{\mathfrak{R}^{buf}_n}{n-1} + \frac{2}{n-1} \sum_{t=2}^n
        \mathcal{R}_{m_t}(\ell \circ \mathcal{H}) + 2B \Bigl(
        \sqrt{\frac{2 \log(2n/\delta)}{n-1}} + \frac{1}{n-1} \sum_{t=2}^n
        \sqrt{\frac{\log(2n/\delta)}{2 m_t}} \Bigr)

    Parameters
    ----------
    n : int
        Length of the stream, at least 2.
    buffer_size : int
        The s points of the buffer.
    complexity : float or callable
        :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` as a function of m; a number c is
        :math:`c / \sqrt{m}`.
    regret : float, default=0.0
        :math:`\mathfrak{R}^{buf}_n`, the regret by the finite-buffer penalties, or its bound.
    loss_bound : float, default=1.0
        B: losses are in [0, B].
    delta : float, default=0.05
        Allowed probability of failure, between 0 and 1.
    as_printed : bool, default=False
        Whether to return the sum of lemmas 6.7 and 6.8 as printed: twice the complexity above,
        and :math:`(\sqrt{2} + 3) B \sqrt{\log(n/\delta) / s}`.

    Returns
    -------
    ExcessRiskBound

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The O() of the theorem hides: the complexity as above, where c stands for :math:`C_d`, and the
    constant of the last term.

    Equation 6.9 takes :math:`1/\sqrt{2s}` for all rounds, also for those in which the buffer is
    not full yet, and lemma 6.7 then leaves out equation 6.7's
    :math:`B \sqrt{2 \log(1/\delta) / (n-1)}`: :math:`B \sqrt{2 \log(n/\delta) / s}` does not
    follow unless n is several times s. For :math:`h^*`, which is fixed, Hoeffding's inequality
    does, without a complexity: hence 2 and not 4.

    The proof takes s different points as given, so the bound is for FIFO and reservoir sampling.
    RS-x keeps points more than once; for it, take :func:`excess_risk_bound` with the regret of
    :func:`all_pairs_regret_bound`.

    References
    ----------
    Kar (2013), theorem 6.6, lemmas 6.7 and 6.8, section 6.12.4.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import finite_buffer_excess_risk_bound
    >>> bound = finite_buffer_excess_risk_bound(100001, 1000, complexity=2.0, regret=100.0)
    >>> round(bound.regret, 3), round(bound.complexity, 3), round(bound.confidence, 3)
    (0.001, 0.128, 0.211)
    """
    check_stream(n, delta)
    check_count(buffer_size=buffer_size)
    check_positive(loss_bound=loss_bound)
    kept = np.minimum(np.arange(1, n), buffer_size)
    complexity_term = 2 * _mean_complexity(complexity, kept)
    if as_printed:
        complexity_term *= 2
        root = (math.sqrt(2) + 3) * math.sqrt(math.log(n / delta) / buffer_size)
    else:
        # one event a round for h_{t-1}, one for h*, and a martingale for each
        level = math.log(2 * n / delta)
        later = math.sqrt(2 * level / (n - 1))
        root = 2 * (later + math.sqrt(level / 2) * float(np.mean(1 / np.sqrt(kept))))
    return ExcessRiskBound(check_regret(regret) / (n - 1), complexity_term, loss_bound * root)


def at(complexity: Complexity, m: int) -> float:
    """Return the complexity of m pairs."""
    if callable(complexity):
        value = float(complexity(m))
        _check_nonnegative(**{f"complexity({m})": value})
        return value
    _check_nonnegative(complexity=complexity)
    return complexity / math.sqrt(m)


def _mean_complexity(complexity: Complexity, sizes: NDArray[np.intp]) -> float:
    if not callable(complexity):
        return at(complexity, 1) * float(np.mean(1 / np.sqrt(sizes)))
    distinct, counts = np.unique(sizes, return_counts=True)
    values = [at(complexity, int(m)) for m in distinct]
    return float(np.average(values, weights=counts))


def check_stream(n: int, delta: float) -> None:
    """Refuse a stream without pairs, and what is no probability."""
    check_count(n=n)
    if n < 2:
        raise ValueError(f"'n' must be 2 or more, got {n!r}: one point makes no pair")
    if not (isinstance(delta, Real) and 0 < delta < 1):
        raise ValueError(f"'delta' must be a number between 0 and 1, got {delta!r}")


def check_regret(regret: float) -> float:
    """Return a regret, which may be negative; refuse what is not finite."""
    if not (isinstance(regret, Real) and math.isfinite(regret)):
        raise ValueError(f"'regret' must be a finite number, got {regret!r}")
    return float(regret)


def _check_nonnegative(**values: float) -> None:
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 <= value < math.inf):
            raise ValueError(f"'{name}' must be a finite number of 0 or more, got {value!r}")
