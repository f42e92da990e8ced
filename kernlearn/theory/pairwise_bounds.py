r"""Guarantees of online learning from pairs: Kar (2013), theorems 6.3, 6.5, 6.6, 6.9 and 6.13.

The theorems hide constants in O(). Here they are as the proofs of section 6.12 have them, with the
probability of failure δ divided among all events that the proofs combine (most often log n/δ
becomes log 2n/δ). Where a proof has a slip, the value returned is one that holds, and the
function's docstring says so. A ValueError names an argument that is out of range.

Arguments of the same name mean the same everywhere:

- `n`: length of the stream, at least 2 (3 for the fast rates);
- `buffer_size`: the number s of points in the buffer;
- `regret`: :math:`\mathfrak{R}_n`, or a bound on it, by the penalties of all pairs, or of the
  finite buffer for functions with a `buffer_size`; finite, may be negative;
- `complexity`: :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` of the losses as a function of m, or
  a number c for :math:`c / \sqrt{m}`, as in tables 6.1 to 6.3; see :func:`contracted_complexity`;
- `loss_bound`: B; losses are in [0, B];
- `delta`: allowed probability of failure, between 0 and 1.
"""

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.optimize import minimize_scalar

from kernlearn.checks import check_count, check_nonnegative, check_positive, check_share
from kernlearn.theory.complexity import Complexity, complexity_at, mean_complexity


@dataclass(frozen=True)
class ExcessRiskBound:
    """Bound on the mean risk of an ensemble less the smallest risk, in three terms.

    Attributes
    ----------
    regret, complexity, confidence : float
        The regret per round, the term of the complexity of the class, and that of chance.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import ExcessRiskBound
    >>> ExcessRiskBound(regret=0.25, complexity=0.5, confidence=0.125).total
    0.875
    """

    regret: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """The sum; vacuous where it exceeds the largest loss."""
        return self.regret + self.complexity + self.confidence


def contracted_complexity(
    complexity: float, *, lipschitz: float = 1.0, largest_label: float = 1.0
) -> float:
    r"""Bound the complexity of the losses by that of the functions (theorem 6.10).

    :math:`\mathcal{R}_n(\ell \circ \mathcal{H}) \le L\,Y\,\mathcal{R}_n(\mathcal{H})` for losses
    :math:`\varphi(Y(y, y')\,h(x, x'))`, with `lipschitz` L of :math:`\varphi` and
    `largest_label` Y, the largest :math:`|Y(y, y')|`: 1 for products of labels -1 and +1 and for
    half their differences, 2 for their differences.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import contracted_complexity
    >>> contracted_complexity(0.25, lipschitz=2.0)
    0.5
    """
    check_positive(lipschitz=lipschitz, largest_label=largest_label)
    check_nonnegative(complexity=complexity)
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

    All constants are as printed, and cover the union of the n + 1 events in the proofs of lemmas
    6.1 and 6.2: by the sums of section 6.12.1, and McDiarmid's inequality for the fixed
    :math:`h^*`, less than :math:`4.5 B \sqrt{\log(2n/\delta)/(n-1)}` is needed (or the bound
    exceeds B).

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import excess_risk_bound
    >>> bound = excess_risk_bound(10001, complexity=2.0, regret=100.0)
    >>> round(bound.regret, 3), round(bound.complexity, 3), round(bound.confidence, 3)
    (0.01, 0.159, 0.21)
    """
    _check(n, delta, regret, loss_bound=loss_bound)
    confidence = 6 * loss_bound * math.sqrt(math.log(n / delta) / (n - 1))
    complexity_term = 4 * mean_complexity(complexity, np.arange(1, n))
    return ExcessRiskBound(regret / (n - 1), complexity_term, confidence)


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

    `as_printed` returns the sum of lemmas 6.7 and 6.8 as printed: twice the complexity above, and
    :math:`(\sqrt{2} + 3) B \sqrt{\log(n/\delta) / s}`. The O() hides the complexity, where c is
    :math:`C_d`, and the constant of the last term.

    Equation 6.9 takes :math:`1/\sqrt{2s}` for all rounds, also for those in which the buffer is
    not full yet, and lemma 6.7 then leaves out equation 6.7's
    :math:`B \sqrt{2 \log(1/\delta) / (n-1)}`: :math:`B \sqrt{2 \log(n/\delta) / s}` does not
    follow unless n is several times s. For :math:`h^*`, which is fixed, Hoeffding's inequality
    holds without a complexity: hence 2 and not 4 (section 6.12.4). The proof assumes s different
    points: FIFO and reservoir sampling. RS-x keeps points more than once; for it, use
    :func:`excess_risk_bound` with the regret of :func:`all_pairs_regret_bound`.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import finite_buffer_excess_risk_bound
    >>> bound = finite_buffer_excess_risk_bound(100001, 1000, complexity=2.0, regret=100.0)
    >>> round(bound.regret, 3), round(bound.complexity, 3), round(bound.confidence, 3)
    (0.001, 0.128, 0.211)
    """
    _check(n, delta, regret, buffer_size, loss_bound=loss_bound)
    kept = np.minimum(np.arange(1, n), buffer_size)
    complexity_term = 2 * mean_complexity(complexity, kept)
    if as_printed:
        complexity_term *= 2
        root = (math.sqrt(2) + 3) * math.sqrt(math.log(n / delta) / buffer_size)
    else:
        # one event per round for h_{t-1}, one for h*, and a martingale for each
        level = math.log(2 * n / delta)
        later = math.sqrt(2 * level / (n - 1))
        root = 2 * (later + math.sqrt(level / 2) * float(np.mean(1 / np.sqrt(kept))))
    return ExcessRiskBound(regret / (n - 1), complexity_term, loss_bound * root)


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
    n, regret, loss_bound, delta
        As in the module's docstring.
    lipschitz : float
        L, the Lipschitz constant of the losses: the larger one of that in the inner product
        with the features (theorem 6.4) and that in h (section 6.12.3).
    strong_convexity : float
        :math:`\sigma`, that of the regulariser.
    feature_norm : float, default=1.0
        R, the largest dual norm of the features of a pair.
    dimension_factor : float, default=1.0
        :math:`C_d`: 1 for norms such as the 2-norm, :math:`\sqrt{\log d}` for sparse ones.
    epsilon : float, default=None
        :math:`\varepsilon`, above 0 and at most 1; None takes the best one.

    Notes
    -----
    In the result `complexity` is the term with C and `confidence` the remainder.
    The O() of the theorem hides all of this; 4, 16 and 32 are the constants of theorem 6.4 and
    6, 16 those of lemma 6.19, so large that the bound is below B only on long streams. δ/2 is for
    the n - 1 events of theorem 6.4 and δ/2 for theorem 6.18, which needs it below 1/e. The thesis
    bounds the sum of 1/(t - 1) by log n; it is larger than that, and is used itself.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import fast_rate_bound, finite_buffer_fast_rate_bound
    >>> bound = fast_rate_bound(10**6, regret=20.0, lipschitz=1.0, strong_convexity=1.0)
    >>> round(bound.total, 3)
    0.056
    """
    # a buffer for the whole stream is no restriction
    return finite_buffer_fast_rate_bound(
        n,
        n,
        regret=regret,
        lipschitz=lipschitz,
        strong_convexity=strong_convexity,
        feature_norm=feature_norm,
        loss_bound=loss_bound,
        dimension_factor=dimension_factor,
        delta=delta,
        epsilon=epsilon,
    )


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

    As :func:`fast_rate_bound`, with the sum of :math:`1 / \min(t - 1, s)` instead of
    :math:`1 / (t - 1)` (section 6.12.5). As for theorem 6.6, the proof assumes that the points of
    the buffer are different: FIFO and reservoir sampling, not RS-x. That s is below n / log n is
    not needed here.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import finite_buffer_fast_rate_bound
    >>> of = {"regret": 20.0, "lipschitz": 1.0, "strong_convexity": 1.0}
    >>> round(finite_buffer_fast_rate_bound(10**6, 10**4, **of).total, 3)
    0.372
    """
    _check(
        n,
        delta,
        regret,
        buffer_size,
        lipschitz=lipschitz,
        strong_convexity=strong_convexity,
        feature_norm=feature_norm,
        loss_bound=loss_bound,
        dimension_factor=dimension_factor,
    )
    if n < 3:
        raise ValueError(f"'n' must be 3 or more, got {n!r}: theorem 6.18 needs it")
    if epsilon is not None and not 0 < epsilon <= 1:
        raise ValueError(f"'epsilon' must be None or a number in (0, 1], got {epsilon!r}")
    harmonic = float(np.sum(1 / np.minimum(np.arange(1, n), buffer_size)))
    # a smaller probability of failure than allowed does no harm
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
        found = minimize_scalar(lambda x: parts(math.exp(x))[1], bounds=(-20, 0), method="bounded")
        # the search does not try the ends
        epsilon = min((math.exp(found.x), 1.0), key=lambda e: parts(e)[1])
    rich, total = parts(epsilon)
    return ExcessRiskBound(*(term / (n - 1) for term in (regret, rich, total - regret - rich)))


def olp_buffer_regret_bound(n: int, *, lipschitz: float, diameter: float, eta: float) -> float:
    r"""Bound the regret of OLP by the finite-buffer penalties (lemma 6.24).

    .. math::

        \mathfrak{R}^{buf}_n \le \frac{D^2 \sqrt{n}}{2 \eta} + \frac{\eta L^2}{2}
        \sum_{t=2}^n \frac{1}{\sqrt{t}}

    for gradients of penalties of norm at most L (`lipschitz`), a set of weights of diameter D
    (twice the radius of a ball) and steps :math:`\eta / \sqrt{t}`.

    The lemma prints :math:`L D \sqrt{n - 1}`, whatever :math:`\eta`: that is for a constant step
    :math:`D / (L \sqrt{n - 1})`. With the steps of algorithm 8, the proof of Zinkevich (2003),
    theorem 1, has the bound above, at best :math:`\sqrt{2} L D \sqrt{n}` for
    :math:`\eta = D / (\sqrt{2} L)`; with small steps the regret is linear in n.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import olp_buffer_regret_bound
    >>> round(olp_buffer_regret_bound(10_001, lipschitz=1.0, diameter=2.0, eta=2.0), 1)
    297.6
    """
    _check(n, 0.5, 0.0, lipschitz=lipschitz, diameter=diameter, eta=eta)
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

    with `buffer_regret` :math:`\mathfrak{R}^{buf}_n`, and with probability 1 - δ over the draws
    of the buffer. The `complexity` must hold for any first point of the pairs and any
    distribution of the second one, as tables 6.1 to 6.3 do (by the conditioning step of section
    6.6.1).

    The O() of lemmas 6.21 to 6.23 hides McDiarmid's inequality and symmetrisation for
    :math:`h_{t-1}`, and Hoeffding's for the best fixed function, each of which holds in each of
    the n - 1 - s rounds after the buffer was drawn anew. Before, both penalties are equal.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import all_pairs_regret_bound
    >>> round(all_pairs_regret_bound(10_001, 100, buffer_regret=400.0, complexity=1.0), 1)
    7408.4
    """
    _check(n, delta, buffer_regret, buffer_size, loss_bound=loss_bound)
    chance = loss_bound * math.sqrt(2 * math.log(2 * n / delta) / buffer_size)
    richness = 2 * complexity_at(complexity, buffer_size)
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
    r"""Bound the all-pairs regret :math:`\mathfrak{R}_n` of OLP with RS-x (theorem 6.13).

    :func:`all_pairs_regret_bound` with the regret of :func:`olp_buffer_regret_bound`, whose
    arguments it takes; the theorem is about :math:`\mathfrak{R}_n / (n - 1)`.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import olp_regret_bound
    >>> round(olp_regret_bound(9999, 99, lipschitz=1.0, diameter=2.0, eta=2.0, complexity=1.0), 1)
    7340.5
    """
    buffer_regret = olp_buffer_regret_bound(n, lipschitz=lipschitz, diameter=diameter, eta=eta)
    return all_pairs_regret_bound(
        n,
        buffer_size,
        buffer_regret=buffer_regret,
        complexity=complexity,
        loss_bound=loss_bound,
        delta=delta,
    )


def _check(n: int, delta: float, regret: float, buffer_size: int = 1, **positive: float) -> None:
    """Check what most of the bounds depend on, and other numbers that must be above 0."""
    check_count(n=n, buffer_size=buffer_size)
    if n < 2:
        raise ValueError(f"'n' must be 2 or more, got {n!r}: one point makes no pair")
    check_share(delta=delta)
    if not (isinstance(regret, Real) and math.isfinite(regret)):
        raise ValueError(f"'regret' must be a finite number, got {regret!r}")
    check_positive(**positive)
