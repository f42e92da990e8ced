r"""Numbers of landmarks and training points that suffice: Kar (2013), chapters 4 and 5.

In all functions `epsilon` is the additional error or loss :math:`\varepsilon_1 > 0` that is
allowed, `delta` the allowed probability of failure, between 0 and 1, and `bound` the largest
weight B > 0. Numbers are rounded up; a ValueError names a parameter that is out of range.
"""

import math
from dataclasses import dataclass

import numpy as np

from kernlearn import checks


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
    >>> landmarks_for_margin(0.2, epsilon=0.1, delta=0.05)
    1199
    """
    checks.check_positive(gamma=gamma)
    checks.check_share(epsilon=epsilon, delta=delta)
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
    >>> landmarks_for_loss(epsilon=0.1, delta=0.05, lipschitz=2.0)
    42782
    """
    checks.check_positive(epsilon=epsilon, lipschitz=lipschitz, bound=bound)
    checks.check_share(delta=delta)
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

    >>> landmarks_for_family(6, epsilon=0.1, delta=0.05)
    63122
    """
    checks.check_positive(epsilon=epsilon, lipschitz=lipschitz, bound=bound)
    checks.check_share(delta=delta)
    checks.check_count(covering_number=covering_number)
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
    >>> ramp_covering_number(0.025, slope_max=1000)
    137
    """
    checks.check_positive(radius=radius, slope_max=slope_max, slope_min=slope_min)
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
    >>> landmarks_for_approximation(1.0, epsilon=0.1, delta=0.05)
    6457
    """
    checks.check_positive(bound=bound, epsilon=epsilon)
    checks.check_share(delta=delta)
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
    >>> regression_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=60439, n_samples=532, n_selected=None)
    """
    checks.check_positive(bound=bound)
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
    >>> sparse_regression_sample_sizes(1.0, tau=0.2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=754670, n_samples=6591, n_selected=648)
    """
    checks.check_positive(bound=bound, epsilon=epsilon)
    checks.check_share(delta=delta)
    checks.check_fraction(tau=tau)
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
    >>> ordinal_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=241755, n_samples=532, n_selected=None)
    """
    checks.check_positive(bound=bound)
    return _two_terms(64.0 * bound, 3.0 * bound, epsilon, delta)


def ranking_sample_sizes(
    bound: float, *, n_documents: int, epsilon: float, delta: float
) -> SampleSizes:
    r"""Return the sample sizes that theorem 5.20 requires.

    As :func:`regression_sample_sizes`, for the squared loss of a query of m = `n_documents`
    documents; the excess is :math:`64 B^2 m^2 \sqrt{\ln(1 / \delta') / d} + 3 B^2
    \sqrt{\ln(1 / \delta') / n}` as printed in section 5.7.9. :func:`ndcg_regret_bound` turns the
    loss into NDCG.

    The lines before the printed bound have 64 B² m for the first term; and a loss that is
    2B-Lipschitz for each of m documents has 6 B² m instead of the second term's 3 B².

    Examples
    --------
    >>> ranking_sample_sizes(1.0, n_documents=2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=3868071, n_samples=532, n_selected=None)
    """
    checks.check_count(n_documents=n_documents)
    checks.check_positive(bound=bound)
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
    checks.check_nonnegative(loss=loss)
    checks.check_positive(margin=margin, spacing=spacing)
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
    >>> round(ndcg_regret_bound(0.01, n_documents=10), 3)
    0.322
    """
    checks.check_nonnegative(loss=loss)
    checks.check_count(n_documents=n_documents)
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
    >>> ranking_weight_bound(0.5, n_documents=4, epsilon=1.0)
    80.0
    """
    checks.check_positive(gamma=gamma, epsilon=epsilon)
    checks.check_count(n_documents=n_documents)
    twice = n_documents / epsilon / gamma**2
    return twice * (1 + math.sqrt(twice))


def _two_terms(landmarks: float, points: float, epsilon: float, delta: float) -> SampleSizes:
    """Invert landmarks √(ln(1 / δ') / d) + points √(ln(1 / δ') / n) with δ' = δ / 2."""
    checks.check_positive(epsilon=epsilon)
    checks.check_share(delta=delta)
    log_term = math.log(2) - math.log(delta)
    d, n = (_ceil((2 * factor / epsilon) ** 2 * log_term) for factor in (landmarks, points))
    return SampleSizes(d, n)


def _ceil(number: float) -> int:
    if number == math.inf:
        raise ValueError("the number of landmarks exceeds the largest float: allow more error")
    return max(1, math.ceil(number))
