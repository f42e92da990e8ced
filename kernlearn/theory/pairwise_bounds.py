r"""What online learning from pairs is promised: Kar (2013), theorems 6.3, 6.5, 6.6, 6.9, 6.13.

The theorems hide constants in O(). Here they are as the proofs of section 6.12 have them, with the
probability of failure δ shared out over all events that the proofs put together (most often log
n/δ becomes log 2n/δ). Where the proofs have slips, what is returned holds, and the notes of the
function say so.

A complexity :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` of the losses is given as a number c for
:math:`c / \sqrt{m}`, as in all of tables 6.1 to 6.3, or as a function of m;
:func:`contracted_complexity` makes it out of one of :math:`\mathcal{H}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from kernlearn.theory.concentration import check_count, check_positive

__all__ = [
    "ExcessRiskBound",
    "all_pairs_regret_bound",
    "contracted_complexity",
    "excess_risk_bound",
    "fast_rate_bound",
    "finite_buffer_excess_risk_bound",
    "finite_buffer_fast_rate_bound",
    "olp_buffer_regret_bound",
    "olp_regret_bound",
]


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


def fast_rate_bound(
    n: int,
    *,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float = 1.0,
    loss_bound: float = 1.0,
    dimension_factor: float = 1.0,
    delta: float = 0.05,
    epsilon: float | None = None,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with all earlier points, strongly convex (theorem 6.5).

    With :math:`r = (1 + \varepsilon) \mathfrak{R}_n + \frac{C}{\varepsilon \sigma}
    \sum_{t=2}^n \frac{1}{t-1}`, :math:`C = C_d^2 (4 (1 + \varepsilon) L R)^2 (32 +
    \log(2n/\delta))`, :math:`d = 4 (1 + \varepsilon)^2 L^2 / \sigma`, :math:`b = (1 +
    \varepsilon) B` and :math:`\Delta^2 = \log(8 \log(n) / \delta)`, section 6.12.3 has the
    excess risk at most

    .. math::

        \frac{1}{n-1} \bigl( r + 4 \sqrt{d r}\, \Delta + \max(16 d, 6 b)\, \Delta^2 \bigr).

    Parameters
    ----------
    n : int
        Length of the stream, at least 3.
    regret : float
        :math:`\mathfrak{R}_n`, a bound of the regret by the all-pairs penalties.
    lipschitz : float
        L, the Lipschitz constant of the losses: the larger one of that in the inner product
        with the features (theorem 6.4) and that in h (section 6.12.3).
    strong_convexity : float
        :math:`\sigma`, that of the regulariser.
    feature_norm : float, default=1.0
        R, the largest dual norm of the features of a pair.
    loss_bound : float, default=1.0
        B: losses are in [0, B].
    dimension_factor : float, default=1.0
        :math:`C_d`: 1 for norms such as the 2-norm, :math:`\sqrt{\log d}` for sparse ones.
    delta : float, default=0.05
        Allowed probability of failure, between 0 and 1.
    epsilon : float, default=None
        :math:`\varepsilon`, above 0 and at most 1; None takes the best one.

    Returns
    -------
    ExcessRiskBound
        `regret` is the regret a round; `complexity` the term with C; `confidence` what is left.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The O() of the theorem hides all of this; 4, 16 and 32 are the constants of theorem 6.4 and
    6, 16 those of lemma 6.19. They are large: the bound is below B only on long streams. δ/2 is
    for the n - 1 events of theorem 6.4 and δ/2 for theorem 6.18, which needs it below 1/e. The
    thesis bounds the sum of 1/(t - 1) by log n; it is larger than that, and is taken as it is.

    References
    ----------
    Kar (2013), theorem 6.5 and section 6.12.3.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import fast_rate_bound
    >>> bound = fast_rate_bound(10**6, regret=20.0, lipschitz=1.0, strong_convexity=1.0)
    >>> round(bound.total, 3)
    0.056
    """
    check_stream(n, delta)
    # n - 1 terms 1, 1/2, ...
    harmonic = float(np.sum(1 / np.arange(1, n)))
    return _bound(
        n, harmonic, check_regret(regret), lipschitz, strong_convexity, feature_norm,
        loss_bound, dimension_factor, delta, epsilon,
    )  # fmt: skip


def finite_buffer_fast_rate_bound(
    n: int,
    buffer_size: int,
    *,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float = 1.0,
    loss_bound: float = 1.0,
    dimension_factor: float = 1.0,
    delta: float = 0.05,
    epsilon: float | None = None,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with a buffer, strongly convex (theorem 6.9).

    As :func:`fast_rate_bound`, with :math:`\sum_t 1 / \min(t - 1, s)` for the sum of
    :math:`1 / (t - 1)`.

    Parameters
    ----------
    n : int
        Length of the stream, at least 3.
    buffer_size : int
        The s points of the buffer.
    regret : float
        :math:`\mathfrak{R}^{buf}_n`, a bound of the regret by the finite-buffer penalties.
    lipschitz, strong_convexity, feature_norm, loss_bound, dimension_factor, delta, epsilon
        As for :func:`fast_rate_bound`.

    Returns
    -------
    ExcessRiskBound
        As for :func:`fast_rate_bound`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    As for theorem 6.6, the proof takes the points of the buffer to be different: FIFO and
    reservoir sampling, not RS-x. That s is below n / log n is not needed here.

    References
    ----------
    Kar (2013), theorem 6.9 and section 6.12.5.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import finite_buffer_fast_rate_bound
    >>> loss = {"regret": 20.0, "lipschitz": 1.0, "strong_convexity": 1.0}
    >>> round(finite_buffer_fast_rate_bound(10**6, 10**5, **loss).total, 3)
    0.08
    """
    check_stream(n, delta)
    check_count(buffer_size=buffer_size)
    harmonic = float(np.sum(1 / np.minimum(np.arange(1, n), buffer_size)))
    return _bound(
        n, harmonic, check_regret(regret), lipschitz, strong_convexity, feature_norm,
        loss_bound, dimension_factor, delta, epsilon,
    )  # fmt: skip


def _bound(
    n: int,
    harmonic: float,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float,
    loss_bound: float,
    dimension_factor: float,
    delta: float,
    epsilon: float | None,
) -> ExcessRiskBound:
    check_positive(
        lipschitz=lipschitz, strong_convexity=strong_convexity, feature_norm=feature_norm,
        loss_bound=loss_bound, dimension_factor=dimension_factor,
    )  # fmt: skip
    if n < 3:
        raise ValueError(f"'n' must be 3 or more, got {n!r}: theorem 6.18 needs it")
    if epsilon is not None and not 0 < epsilon <= 1:
        raise ValueError(f"'epsilon' must be None or a number in (0, 1], got {epsilon!r}")
    # a smaller probability of failure than asked for is no harm
    squared_delta = math.log(4 * math.log(n) / min(delta / 2, 0.36))
    constant = (4 * dimension_factor * lipschitz * feature_norm) ** 2
    constant *= (32 + math.log(2 * n / delta)) * harmonic / strong_convexity

    def parts(e: float) -> tuple[float, float]:
        rich = (1 + e) ** 2 * constant / e
        d, b = 4 * ((1 + e) * lipschitz) ** 2 / strong_convexity, (1 + e) * loss_bound
        # the sum bounds the excess, which is not negative, so neither is what lemma 6.19 takes
        r = max((1 + e) * regret + rich, 0.0)
        total = r + 4 * math.sqrt(d * r * squared_delta) + max(16 * d, 6 * b) * squared_delta
        return rich, total

    if epsilon is None:
        found = minimize_scalar(
            lambda log_e: parts(math.exp(log_e))[1], bounds=(-20.0, 0.0), method="bounded"
        )
        # the ends are not tried by the search
        epsilon = min((math.exp(found.x), 1.0), key=lambda e: parts(e)[1])
    rich, total = parts(epsilon)
    rounds = n - 1
    return ExcessRiskBound(regret / rounds, rich / rounds, (total - regret - rich) / rounds)


def olp_buffer_regret_bound(n: int, *, lipschitz: float, diameter: float, eta: float) -> float:
    r"""Bound the regret of OLP by the finite-buffer penalties (lemma 6.24).

    .. math::

        \mathfrak{R}^{buf}_n \le \frac{D^2 \sqrt{n}}{2 \eta} + \frac{\eta L^2}{2}
        \sum_{t=2}^n \frac{1}{\sqrt{t}}

    Parameters
    ----------
    n : int
        Length of the stream, at least 2.
    lipschitz : float
        L: no gradient of a penalty is longer.
    diameter : float
        D, the diameter of the set of weights; twice the radius of a ball.
    eta : float
        The scale :math:`\eta` of the steps :math:`\eta / \sqrt{t}`.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The lemma prints :math:`L D \sqrt{n - 1}`, whatever :math:`\eta`. That is what a constant step
    :math:`D / (L \sqrt{n - 1})` gives. With the steps of algorithm 8, Zinkevich's proof has what
    is returned here, at best :math:`\sqrt{2} L D \sqrt{n}` for :math:`\eta = D / (\sqrt{2} L)`;
    with small ones the regret is linear in n.

    References
    ----------
    Kar (2013), lemma 6.24; Zinkevich (2003), theorem 1.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import olp_buffer_regret_bound
    >>> round(olp_buffer_regret_bound(10000, lipschitz=1.0, diameter=2.0, eta=2**0.5), 1)
    281.1
    """
    check_stream(n, 0.5)
    check_positive(lipschitz=lipschitz, diameter=diameter, eta=eta)
    steps = float(np.sum(1 / np.sqrt(np.arange(2, n + 1))))
    return diameter**2 * math.sqrt(n) / (2 * eta) + eta * lipschitz**2 / 2 * steps


def all_pairs_regret_bound(
    n: int,
    buffer_size: int,
    *,
    buffer_regret: float,
    complexity: Complexity,
    loss_bound: float = 1.0,
    delta: float = 0.05,
) -> float:
    r"""Bound the regret by all-pairs penalties of learning with an RS-x buffer (lemma 6.23).

    .. math::

        \mathfrak{R}_n \le \mathfrak{R}^{buf}_n + \max(n - 1 - s, 0) \Bigl( 2 \mathcal{R}_s(\ell
        \circ \mathcal{H}) + B \sqrt{\frac{2 \log(2n/\delta)}{s}} \Bigr)

    Parameters
    ----------
    n : int
        Length of the stream, at least 2.
    buffer_size : int
        The s points of the buffer.
    buffer_regret : float
        :math:`\mathfrak{R}^{buf}_n`, the regret by the finite-buffer penalties, or its bound.
    complexity : float or callable
        :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` as a function of m; a number c is
        :math:`c / \sqrt{m}`. It must hold for any first point of the pairs and any distribution
        of the second one, as tables 6.1 to 6.3 do (by the conditioning step of section 6.6.1).
    loss_bound : float, default=1.0
        B: losses are in [0, B].
    delta : float, default=0.05
        Allowed probability of failure, between 0 and 1, over the draws of the buffer.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    What the O() of lemmas 6.21 to 6.23 hides: McDiarmid's inequality and symmetrisation for
    :math:`h_{t-1}`, Hoeffding's for the best fixed function, of which each holds in one of the
    n - 1 - s rounds after the buffer has been drawn anew. Before, both penalties are equal.

    References
    ----------
    Kar (2013), lemmas 6.21, 6.22 and 6.23.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import all_pairs_regret_bound
    >>> all_pairs_regret_bound(100, 99, buffer_regret=5.0, complexity=1.0)
    5.0
    """
    check_stream(n, delta)
    check_count(buffer_size=buffer_size)
    check_positive(loss_bound=loss_bound)
    check_regret(buffer_regret)
    chance = loss_bound * math.sqrt(2 * math.log(2 * n / delta) / buffer_size)
    richness = 2 * at(complexity, buffer_size)
    return buffer_regret + max(n - 1 - buffer_size, 0) * (richness + chance)


def olp_regret_bound(
    n: int,
    buffer_size: int,
    *,
    lipschitz: float,
    diameter: float,
    eta: float,
    complexity: Complexity,
    loss_bound: float = 1.0,
    delta: float = 0.05,
) -> float:
    r"""Bound the all-pairs regret of OLP with RS-x (theorem 6.13).

    The bound of :func:`olp_buffer_regret_bound`, put into :func:`all_pairs_regret_bound`.

    Parameters
    ----------
    n : int
        Length of the stream, at least 2.
    buffer_size : int
        The s points of the buffer.
    lipschitz, diameter, eta
        As for :func:`olp_buffer_regret_bound`.
    complexity, loss_bound, delta
        As for :func:`all_pairs_regret_bound`.

    Returns
    -------
    float
        A bound of :math:`\mathfrak{R}_n`; the theorem is about :math:`\mathfrak{R}_n / (n - 1)`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Kar (2013), theorem 6.13.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import olp_regret_bound
    >>> ball = {"lipschitz": 1.0, "diameter": 2.0, "eta": 1.4, "complexity": 1.0}
    >>> round(olp_regret_bound(10001, 1000, **ball) / 10000, 3)
    0.23
    """
    buffer_regret = olp_buffer_regret_bound(n, lipschitz=lipschitz, diameter=diameter, eta=eta)
    return all_pairs_regret_bound(
        n, buffer_size, buffer_regret=buffer_regret, complexity=complexity,
        loss_bound=loss_bound, delta=delta,
    )  # fmt: skip
