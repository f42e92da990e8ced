r"""Numbers of features, landmarks and training points that suffice: Kar (2013), chapters 3 to 5.

`delta` is the allowed probability of failure, between 0 and 1. Numbers are rounded up; a
ValueError names a parameter that is out of range.

For landmarks (chapters 4 and 5) `epsilon` is the additional error or loss
:math:`\varepsilon_1 > 0` that is allowed, and `bound` the largest weight B > 0.

For random Maclaurin features (theorems 3.10 and 3.14) all bounds are for points with `n_features`
coordinates in the 1-norm ball :math:`B_1(0, R)` of a `radius`, and for the normalised measure
:math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes :math:`p^{-(n+1)}`, which is the same at
p = 2; for other p the bounds on the features are divided by p - 1 here, as the features are. A
ValueError is also raised if the kernel's series does not converge where the bound needs it. All
is computed in logarithms: constants may exceed the largest float.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from kernlearn.checks import (
    check_count,
    check_fraction,
    check_nonnegative,
    check_positive,
    check_share,
)
from kernlearn.kernels import BaseDotProductKernel


@dataclass(frozen=True)
class SampleSizes:
    """Sample sizes that suffice for a given accuracy.

    Attributes
    ----------
    n_landmarks : int
        Number d of landmarks.
    n_samples : int
        Number n of labelled training points.
    n_selected : int or None
        Number k of landmarks with a weight; only for the sparse model.

    Examples
    --------
    >>> from kernlearn.theory import regression_sample_sizes
    >>> regression_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=60439, n_samples=532, n_selected=None)
    """

    n_landmarks: int
    n_samples: int
    n_selected: int | None = None


def landmarks_for_margin(gamma: float, *, epsilon: float, delta: float) -> int:
    r"""Return the number of landmark pairs that theorem 4.2 requires.

    With probability 1 - `delta` the classifier of definition 4.1's weights over
    :math:`d = (8 / \gamma^2) \ln(2 / (\delta \varepsilon_1))` random pairs errs, at margin
    :math:`\gamma / 2`, on at most a share :math:`\varepsilon_1` more than the similarity itself.

    The theorem as printed, and its proof (section 4.4.1), hold where :math:`|w f| \le 1` and
    :math:`C_f \ge 1`, as in appendix A: divide similarities by their range first.

    Examples
    --------
    >>> from kernlearn.theory import landmarks_for_margin
    >>> landmarks_for_margin(0.2, epsilon=0.1, delta=0.05)
    1199
    """
    check_positive(gamma=gamma)
    check_share(epsilon=epsilon, delta=delta)
    return _ceil(8 / gamma / gamma * (math.log(2) - math.log(delta) - math.log(epsilon)))


def landmarks_for_loss(
    *, epsilon: float, delta: float, lipschitz: float = 1.0, bound: float = 1.0
) -> int:
    r"""Return the number of landmark pairs that theorem 4.7 requires.

    With probability 1 - `delta` the mean loss over
    :math:`d = (16 B^2 C_L^2 / \varepsilon_1^2) \ln(4B / (\delta \varepsilon_1))` random pairs
    is at most :math:`\varepsilon_1` above the similarity's own (definition 4.6). `lipschitz` is
    the loss' constant :math:`C_L > 0`: :math:`1 / \gamma` for the hinge loss at margin
    :math:`\gamma`, 1 for the logistic loss.

    This is the statement as printed. Its proof (section 4.4.5) shows it for
    :math:`\delta \le 1 / (2 C_L)`: the probability there is divided by
    :math:`2B / \varepsilon_1`, without the :math:`C_L` that "small enough" would need.

    Examples
    --------
    >>> from kernlearn.theory import landmarks_for_loss
    >>> landmarks_for_loss(epsilon=0.1, delta=0.05, lipschitz=2.0)
    42782
    """
    check_positive(epsilon=epsilon, lipschitz=lipschitz, bound=bound)
    check_share(delta=delta)
    scale = 4 * bound * lipschitz / epsilon
    return _ceil(scale * scale * (math.log(4 * bound) - math.log(delta) - math.log(epsilon)))


def landmarks_for_family(
    covering_number: int,
    *,
    epsilon: float,
    delta: float,
    lipschitz: float = 1.0,
    bound: float = 1.0,
) -> int:
    r"""Return the number of landmark pairs that theorem 4.3 requires.

    With probability 1 - `delta` every function of the family has, over
    :math:`d = (64 B^2 C_L^2 / \varepsilon_1^2)
    \ln(16 B\, \mathcal{N}(\mathcal{F}, r) / (\delta \varepsilon_1))` random pairs, its own
    best mean loss up to :math:`\varepsilon_1`, so that the best of them can be chosen.
    `covering_number` is :math:`\mathcal{N}(\mathcal{F}, r)` at
    :math:`r = \varepsilon_1 / (4 C_L B)`: for a finite family its size, for ramps see
    :func:`ramp_covering_number`. `lipschitz` as in :func:`landmarks_for_loss`.

    This is the statement as printed; its proof (section 4.4.4) has :math:`8B` instead of
    :math:`16B`.

    Examples
    --------
    The six slopes of the thesis' experiments:

    >>> from kernlearn.theory import landmarks_for_family
    >>> landmarks_for_family(6, epsilon=0.1, delta=0.05)
    63122
    """
    check_positive(epsilon=epsilon, lipschitz=lipschitz, bound=bound)
    check_share(delta=delta)
    check_count(covering_number=covering_number)
    scale = 8 * bound * lipschitz / epsilon
    logs = math.log(16 * bound) + math.log(covering_number)
    return _ceil(scale * scale * (logs - math.log(delta) - math.log(epsilon)))


def ramp_covering_number(radius: float, *, slope_max: float, slope_min: float = 1.0) -> int:
    r"""Return the number of ramps within `radius` of all ramps with slopes in an interval.

    The distance of two ramps :math:`\min(1, \max(-1, s t))` with slopes s < s' in the infinity
    norm is :math:`1 - s/s'`, reached at t = 1/s'. A ramp with slope s is therefore within r of
    the slopes from (1 - r)s to s/(1 - r), and no fewer than
    :math:`\lceil \ln(s_{max}/s_{min}) / (2 \ln(1/(1 - r))) \rceil` of them cover the interval.
    Theorem 4.3 leaves this number open.

    Examples
    --------
    >>> from kernlearn.theory import ramp_covering_number
    >>> ramp_covering_number(0.025, slope_max=1000)
    137
    """
    check_positive(radius=radius, slope_max=slope_max, slope_min=slope_min)
    if slope_max < slope_min:
        raise ValueError(
            f"'slope_max' must be at least 'slope_min' = {slope_min!r}, got {slope_max!r}"
        )
    if radius >= 1:
        return 1
    return _ceil(math.log(slope_max / slope_min) / (-2 * math.log1p(-radius)))


def landmarks_for_approximation(bound: float, *, epsilon: float, delta: float) -> int:
    r"""Return the number of landmarks that approximate the best predictor (lemma 5.22).

    With probability 1 - `delta`, :math:`E |\tilde f(\Psi(x)) - f(x)| \le \varepsilon`. The lemma
    gives no constants: here Hoeffding's inequality at accuracy :math:`\varepsilon / 2` and
    probability :math:`\delta'^2`, :math:`\delta' = \min(\delta, \varepsilon / 4B)`, gives
    :math:`d = (8 B^2 / \varepsilon^2) \ln(2 / \delta'^2)`; where it fails the error is 2B at most.

    Examples
    --------
    >>> from kernlearn.theory import landmarks_for_approximation
    >>> landmarks_for_approximation(1.0, epsilon=0.1, delta=0.05)
    6457
    """
    check_positive(bound=bound, epsilon=epsilon)
    check_share(delta=delta)
    inner = min(delta, epsilon / (4 * bound))
    return _ceil(8 * (bound / epsilon) ** 2 * (math.log(2) - 2 * math.log(inner)))


def regression_sample_sizes(bound: float, *, epsilon: float, delta: float) -> SampleSizes:
    r"""Return the sample sizes that theorem 5.5 requires.

    With probability 1 - `delta` the learned predictor has an :math:`\varepsilon`-insensitive loss
    of at most :math:`\varepsilon_1` above the similarity's own. Its excess is
    :math:`32 B \sqrt{\ln(1 / \delta') / d} + 3 B \sqrt{\ln(1 / \delta') / n}` with probability
    :math:`1 - 2 \delta'` (section 5.7.1). The factor 3 (lemma 5.23) follows from the lemma's
    proof for :math:`\delta' \le 0.46` only, that is for `delta` up to 0.92.

    Examples
    --------
    >>> from kernlearn.theory import regression_sample_sizes
    >>> regression_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=60439, n_samples=532, n_selected=None)
    """
    check_positive(bound=bound)
    return _two_terms(32.0 * bound, 3.0 * bound, epsilon, delta)


def sparse_regression_sample_sizes(
    bound: float, *, tau: float, epsilon: float, delta: float
) -> SampleSizes:
    r"""Return the sample sizes that theorem 5.9 requires.

    As :func:`regression_sample_sizes`, for a similarity that is good with a share
    :math:`\tau \le 1` of informative landmarks and a predictor of k of them. The excess is
    :math:`32 B \sqrt{\ln(1 / \delta') / (\tau d)} + \sqrt{18 B^2 / k} + 2 B \sqrt{2 \ln(2d) / n}
    + 2 B \sqrt{\ln(1 / \delta') / (2n)}` with probability :math:`1 - 3 \delta'` (section 5.7.5);
    landmarks, selection and points get a third of :math:`\varepsilon_1` each.

    Examples
    --------
    >>> from kernlearn.theory import sparse_regression_sample_sizes
    >>> sparse_regression_sample_sizes(1.0, tau=0.2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=754670, n_samples=6591, n_selected=648)
    """
    check_positive(bound=bound, epsilon=epsilon)
    check_share(delta=delta)
    check_fraction(tau=tau)
    log_term = math.log(3) - math.log(delta)
    scale = (3 * bound / epsilon) ** 2
    n_landmarks = _ceil(32**2 * scale * log_term / tau)
    slopes = 2 * math.sqrt(2 * math.log(2 * n_landmarks)) + 2 * math.sqrt(log_term / 2)
    return SampleSizes(n_landmarks, _ceil(scale * slopes**2), _ceil(18 * scale))


def ordinal_sample_sizes(bound: float, *, epsilon: float, delta: float) -> SampleSizes:
    r"""Return the sample sizes that theorem 5.16 requires.

    As :func:`regression_sample_sizes`, for the margin loss of definition 5.14; the excess is
    :math:`64 B \sqrt{\ln(1 / \delta') / d} + 3 B \sqrt{\ln(1 / \delta') / n}` (section 5.7.7).
    :func:`ordinal_error_bounds` turns the loss into errors.

    Examples
    --------
    >>> from kernlearn.theory import ordinal_sample_sizes
    >>> ordinal_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=241755, n_samples=532, n_selected=None)
    """
    check_positive(bound=bound)
    return _two_terms(64.0 * bound, 3.0 * bound, epsilon, delta)


def ranking_sample_sizes(
    bound: float, *, n_documents: int, epsilon: float, delta: float
) -> SampleSizes:
    r"""Return the sample sizes that theorem 5.20 requires.

    As :func:`regression_sample_sizes`, for the squared loss of a query of m = `n_documents`
    documents; the excess is :math:`64 B^2 m^2 \sqrt{\ln(1 / \delta') / d} + 3 B^2
    \sqrt{\ln(1 / \delta') / n}` as printed in section 5.7.9. :func:`ndcg_regret_bound` turns the
    loss into NDCG.

    The lines before the printed bound have 64 B² m for the first term. And a loss that is
    2B-Lipschitz for each of m documents has 6 B² m instead of the second term's 3 B².

    Examples
    --------
    >>> from kernlearn.theory import ranking_sample_sizes
    >>> ranking_sample_sizes(1.0, n_documents=2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=3868071, n_samples=532, n_selected=None)
    """
    check_count(n_documents=n_documents)
    check_positive(bound=bound)
    squared = bound * bound
    return _two_terms(64.0 * squared * n_documents**2, 3.0 * squared, epsilon, delta)


def ordinal_error_bounds(
    loss: float, *, margin: float, spacing: float, as_printed: bool = False
) -> tuple[float, float]:
    r"""Bound the errors of predicted grades by their margin loss (theorem 5.16).

    Parameters
    ----------
    loss : float
        Mean margin loss (definition 5.14), at least 0.
    margin : float
        :math:`\gamma > 0`.
    spacing : float
        The smallest distance :math:`\Delta > 0` of two thresholds.
    as_printed : bool, default=False
        Whether to return :math:`\varepsilon / \bar\gamma` and
        :math:`\psi_{\Delta / \bar\gamma}(\varepsilon / \bar\gamma)` as the theorem prints them,
        :math:`\bar\gamma = \max(\gamma, 1)` and :math:`\psi_\Delta(x) = (x + \Delta - 1) /
        \Delta`.

    Returns
    -------
    zero_one, absolute : float
        Bounds on the share of wrong grades and on the mean absolute error.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The default is :math:`\varepsilon / \gamma` and :math:`\varepsilon / \min(\gamma, \Delta)`. A
    point whose grade is off by k > 0 has a loss h of at least :math:`\gamma + (k - 1) \Delta`
    (section 5.7.7), so that :math:`k \le h / \min(\gamma, \Delta)`, and this holds for k = 0 too.
    The printed bounds do not hold where :math:`\gamma < 1`, since a wrong point may cost no more
    than :math:`\gamma`; nor where :math:`\Delta < \bar\gamma`, since
    :math:`k \le (h - \gamma) / \Delta + 1` is averaged there over the correct points as well,
    for which it may be far below 0.

    Examples
    --------
    >>> from kernlearn.theory import ordinal_error_bounds
    >>> ordinal_error_bounds(0.25, margin=1.0, spacing=0.5)
    (0.25, 0.5)
    """
    check_nonnegative(loss=loss)
    check_positive(margin=margin, spacing=spacing)
    if not as_printed:
        return loss / margin, loss / min(margin, spacing)
    scale = max(margin, 1.0)
    share, distance = loss / scale, spacing / scale
    return share, (share + distance - 1) / distance


def ndcg_regret_bound(loss: float, *, n_documents: int) -> float:
    r"""Bound 1 - NDCG of a query of m documents by its squared loss (theorem 5.20).

    :math:`\frac{C_F}{\sqrt{C_S}} \sqrt{\varepsilon}` with :math:`C_S = 2`,
    :math:`C_F = 2 \|(1 / F(1), \ldots, 1 / F(m))\|_2` and :math:`F(t) = \ln(1 + t)` (section
    5.7.9; Ravikumar, Tewari & Yang (2011), theorem 10), for a loss
    :math:`\varepsilon = \|f - \eta(r)\|_2^2` or its mean over queries. It grows as
    :math:`\sqrt{m} / \log m`, within the :math:`\sqrt{m / \log m}` that the theorem prints.

    Examples
    --------
    >>> from kernlearn.theory import ndcg_regret_bound
    >>> round(ndcg_regret_bound(0.01, n_documents=10), 3)
    0.322
    """
    check_nonnegative(loss=loss)
    check_count(n_documents=n_documents)
    discounts = 1 / np.log1p(np.arange(1, n_documents + 1))
    return math.sqrt(2 * loss) * float(np.linalg.norm(discounts))


def ranking_weight_bound(gamma: float, *, n_documents: int, epsilon: float) -> float:
    r"""Return the bound B at which a good kernel is a good similarity (theorem 5.21).

    A kernel that is :math:`(\varepsilon_0, \gamma)`-good for ranking m documents is
    :math:`(\varepsilon_0 + \varepsilon_1, B)`-good as a similarity, with
    :math:`B = 2mC (1 + \sqrt{2mC})` and :math:`C = 1 / (2 \varepsilon_1 \gamma^2)`. The proof
    (section 5.7.10) goes on to :math:`5 (mC)^{3/2}`, which is more where mC is 0.85 or above and
    does not hold below.

    Examples
    --------
    >>> from kernlearn.theory import ranking_weight_bound
    >>> ranking_weight_bound(0.5, n_documents=4, epsilon=1.0)
    80.0
    """
    check_positive(gamma=gamma, epsilon=epsilon)
    check_count(n_documents=n_documents)
    twice = n_documents / epsilon / gamma**2
    return twice * (1 + math.sqrt(twice))


def _two_terms(landmarks: float, points: float, epsilon: float, delta: float) -> SampleSizes:
    """Invert landmarks √(ln(1 / δ') / d) + points √(ln(1 / δ') / n) with δ' = δ / 2."""
    check_positive(epsilon=epsilon)
    check_share(delta=delta)
    log_term = math.log(2) - math.log(delta)
    d, n = (_ceil((2 * factor / epsilon) ** 2 * log_term) for factor in (landmarks, points))
    return SampleSizes(d, n)


def _ceil(number: float) -> int:
    if number == math.inf:
        raise ValueError("the number of landmarks exceeds the largest float: allow more error")
    return max(1, math.ceil(number))


# -- random Maclaurin features --------------------------------------------------------------------

_LOG_LARGEST = 63 * math.log(2)


class InnerMapConstants(NamedTuple):
    r"""The assumptions of theorem 3.14 on the inner kernel K and its scalar feature map W.

    Attributes
    ----------
    feature_bound : float
        :math:`C_W`, with :math:`\sup |W(x)| \le \sqrt{C_W}`.
    feature_lipschitz : float
        :math:`L_W \ge \sup E \|\nabla W(x)\|`.
    kernel_bound : float
        :math:`C_K \ge \sup |K(x, y)|`.
    kernel_lipschitz : float
        :math:`L_K \ge \sup \|\nabla_x K(x, y)\|`.

    Examples
    --------
    >>> from kernlearn.theory import InnerMapConstants
    >>> linear = InnerMapConstants(
    ...     feature_bound=1.0, feature_lipschitz=1.0, kernel_bound=1.0, kernel_lipschitz=1.0
    ... )
    >>> linear.kernel_bound
    1.0
    """

    feature_bound: float
    feature_lipschitz: float
    kernel_bound: float
    kernel_lipschitz: float


def maclaurin_n_components(
    kernel: BaseDotProductKernel,
    *,
    epsilon: float,
    delta: float,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    r"""Return the number D of random Maclaurin features that theorem 3.10 requires.

    Parameters
    ----------
    kernel : dot-product kernel
        The kernel, fitted if its parameters depend on data.
    epsilon : float
        Largest absolute error of a kernel value over the domain, above 0.
    delta : float
        Allowed probability of failure, between 0 and 1.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    int
        The smallest D for which the bound of :func:`maclaurin_failure_probability` is at most
        `delta`.

    Raises
    ------
    ValueError
        If :math:`p R^2` is not inside the kernel's radius of convergence, D exceeds
        :math:`2^{63} - 1`, or a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import maclaurin_n_components
    >>> kernel = PolynomialKernel(degree=2)
    >>> maclaurin_n_components(kernel, epsilon=0.5, delta=0.1, radius=0.5, n_features=2)
    16824
    """
    logs = _maclaurin_logs(kernel, epsilon, radius, n_features, p)
    return _smallest_n_components(*logs, epsilon, delta)


def maclaurin_failure_probability(
    kernel: BaseDotProductKernel,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    n_features: int | None = None,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that a kernel value is off by more than `epsilon`.

    That of some value over the whole domain is, by theorem 3.10,

    .. math:: 2 (32 R L / \epsilon)^{2d} \exp(-D \epsilon^2 / (8 C^2)), \quad
              C = p f(p R^2), \quad L = R f'(R^2) + p^2 R \sqrt{d} f'(p R^2),

    at most 1, for `n_components` D features. The size :math:`32 R L / \epsilon` of the cover is
    taken as at least 1. Without `n_features` it is the probability at one fixed pair of points,
    :math:`2 \exp(-D \epsilon^2 / (8 C^2))` (section 3.4, after lemma 3.6).

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import maclaurin_failure_probability
    >>> kernel = PolynomialKernel(degree=2)
    >>> for n in (10_000, 20_000):
    ...     everywhere = maclaurin_failure_probability(kernel, 0.5, n, radius=0.5, n_features=2)
    ...     at_a_pair = maclaurin_failure_probability(kernel, 0.5, n, radius=0.5)
    ...     print(f"{everywhere:.1e} {at_a_pair:.1e}")
    1.0e+00 4.0e-07
    7.4e-04 7.9e-14
    """
    logs = _maclaurin_logs(kernel, epsilon, radius, n_features, p)
    return _probability(*logs, epsilon, n_components)


def compositional_n_components(
    kernel: BaseDotProductKernel,
    constants: InnerMapConstants,
    *,
    epsilon: float,
    delta: float,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    r"""Return the number D of compositional Maclaurin features that theorem 3.14 requires.

    The smallest D for which the bound of :func:`compositional_failure_probability` is at most
    `delta`; a ValueError if it exceeds :math:`2^{63} - 1`.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import InnerMapConstants, compositional_n_components
    >>> kernel, constants = PolynomialKernel(degree=2), InnerMapConstants(1.0, 1.0, 1.0, 1.0)
    >>> wish = {"epsilon": 0.5, "delta": 0.1}
    >>> compositional_n_components(kernel, constants, **wish, radius=1.0, n_features=2)
    203082
    """
    logs = _compositional_logs(kernel, epsilon, constants, radius, n_features, p)
    return _smallest_n_components(*logs, epsilon, delta)


def compositional_failure_probability(
    kernel: BaseDotProductKernel,
    constants: InnerMapConstants,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that some compositional kernel value is off by more than `epsilon`.

    .. math:: (32 R L_1 / \epsilon) \exp(-D \epsilon^2 / (8 C_1^2 d)), \quad C_1 = p f(p C_W),
              \quad L_1 = L_K f'(C_K) + L_W p^2 \sqrt{C_W} f'(p C_W),

    at most 1, for `epsilon` below :math:`8 R L_1` and the outer `kernel` f. This is the bound as
    theorem 3.14 states it. Its derivation counts the centres of the cover rather than their
    pairs, and would give d + 1 where the exponent has d.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import InnerMapConstants, compositional_failure_probability
    >>> constants = InnerMapConstants(1.0, 1.0, 1.0, 1.0)
    >>> kernel, where = PolynomialKernel(degree=2), {"radius": 1.0, "n_features": 2}
    >>> for n in (100_000, 1_000_000):
    ...     print(f"{compositional_failure_probability(kernel, constants, 0.5, n, **where):.1e}")
    1.0e+00
    2.0e-18
    """
    logs = _compositional_logs(kernel, epsilon, constants, radius, n_features, p)
    return _probability(*logs, epsilon, n_components)


def _maclaurin_logs(
    kernel: BaseDotProductKernel, epsilon: float, radius: float, n_features: int | None, p: float
) -> tuple[float, float]:
    """Return (log C, log of 2 times the squared size of the cover)."""
    check_positive(epsilon=epsilon, radius=radius)
    log_bound = _log_range(kernel, radius**2, "radius", p)
    if n_features is None:
        return log_bound, math.log(2)
    check_count(n_features=n_features)
    log_slope = np.logaddexp(
        _log(kernel.derivative, radius**2),
        _log_scale(p) + math.log(n_features) / 2 + _log(kernel.derivative, p * radius**2),
    )
    log_centres = math.log(32 * radius**2) + float(log_slope) - math.log(epsilon)
    return log_bound, math.log(2) + 2 * n_features * max(log_centres, 0.0)


def _compositional_logs(
    kernel: BaseDotProductKernel,
    epsilon: float,
    constants: InnerMapConstants,
    radius: float,
    n_features: int,
    p: float,
) -> tuple[float, float]:
    """Return (log of C_1 sqrt(d), log of 32 R L_1 / epsilon)."""
    check_positive(epsilon=epsilon, radius=radius, **constants._asdict())
    check_count(n_features=n_features)
    bound = constants.feature_bound
    log_bound = _log_range(kernel, bound, "feature_bound", p)
    _check_converges(kernel, constants.kernel_bound, "kernel_bound")
    inner = math.log(constants.kernel_lipschitz)
    outer = math.log(constants.feature_lipschitz) + _log_scale(p) + math.log(bound) / 2
    log_lipschitz = np.logaddexp(
        inner + _log(kernel.derivative, constants.kernel_bound),
        outer + _log(kernel.derivative, p * bound),
    )
    log_scale = math.log(radius) + float(log_lipschitz)
    if math.log(epsilon) >= math.log(8) + log_scale:
        raise ValueError(
            f"'epsilon' must be below 8 * radius * L_1 = {8 * math.exp(log_scale):.6g} for "
            f"theorem 3.14, got {epsilon!r}"
        )
    return log_bound + math.log(n_features) / 2, math.log(32) + log_scale - math.log(epsilon)


def _log_range(kernel: BaseDotProductKernel, square: float, argument: str, p: float) -> float:
    """Return the log of the bound p / (p - 1) f(p R^2) on a product of two features."""
    if not 1 < p < math.inf:
        raise ValueError(f"'p' must be a finite number above 1, got {p!r}")
    _check_converges(kernel, p * square, argument)
    return math.log(p) - math.log(p - 1) + _log(kernel.function, p * square)


def _log(function: Callable[[float], Any], t: float) -> float:
    """Return the log of a value; inf where that exceeds the largest float64."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.log(function(t)))


def _log_scale(p: float) -> float:
    """Return the log of p^2 / (p - 1), the factor of f' in the slope of a feature."""
    return 2 * math.log(p) - math.log(p - 1)


def _check_converges(kernel: BaseDotProductKernel, t: float, argument: str) -> None:
    if t >= kernel.radius:
        raise ValueError(
            f"'{argument}' is too large for {kernel!r}: its series is needed at {t:.6g} and "
            f"converges below {kernel.radius:g} only; scale the data down or take a smaller p"
        )


def _smallest_n_components(
    log_range: float, log_cover: float, epsilon: float, delta: float
) -> int:
    """Return the smallest D for which `_probability` is at most delta."""
    check_share(delta=delta)
    needed = max(log_cover - math.log(delta), 0.0)
    log_d = math.log(8) + 2 * (log_range - math.log(epsilon))
    log_d += math.log(needed) if needed else -math.inf
    # not finite where a constant of the kernel, and with it D, exceeds the largest float64
    if not log_d < _LOG_LARGEST:
        raise ValueError(
            f"'epsilon' = {epsilon!r} asks for more than 2**63 - 1 features: it is too small for "
            "the values that this kernel takes on this domain; raise it or scale the data down"
        )
    return max(math.ceil(math.exp(log_d)), 1)


def _probability(log_range: float, log_cover: float, epsilon: float, n_components: int) -> float:
    """Return cover * exp(-D epsilon^2 / (8 range^2)), at most 1."""
    check_count(n_components=n_components)
    log_gain = math.log(n_components) - math.log(8) + 2 * (math.log(epsilon) - log_range)
    # e^700 is about the largest float64, and the bound is 0 long before
    return math.exp(min(log_cover - math.exp(min(log_gain, 700.0)), 0.0))
