"""How many landmarks are enough: Kar (2013), theorems 4.2, 4.3 and 4.7."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from kernlearn.theory.concentration import check_count, check_positive


def landmarks_for_margin(gamma: float, *, epsilon: float, delta: float) -> int:
    r"""Return the number of landmark pairs that theorem 4.2 asks for.

    With probability 1 - `delta` the classifier of definition 4.1's weights over
    :math:`d = (8 / \gamma^2) \ln(2 / (\delta \varepsilon_1))` random pairs errs, at margin
    :math:`\gamma / 2`, on at most :math:`\varepsilon_1` more than the similarity's own
    :math:`\varepsilon`.

    The theorem as printed, and its proof, hold where :math:`|w f| \le 1` and
    :math:`C_f \ge 1`, as in appendix A: divide similarities by their range first.

    Parameters
    ----------
    gamma : float
        The margin :math:`\gamma > 0` of the similarity.
    epsilon : float
        The additional error :math:`\varepsilon_1`, between 0 and 1.
    delta : float
        Allowed probability of failure, between 0 and 1.

    Returns
    -------
    int
        d, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 4.2 and section 4.4.1.

    Examples
    --------
    >>> from kernlearn.theory.goodness import landmarks_for_margin
    >>> landmarks_for_margin(0.2, epsilon=0.1, delta=0.05)
    1199
    """
    check_positive(gamma=gamma)
    _check_share(epsilon=epsilon)
    _check_share(delta=delta)
    return _ceil(8 / gamma / gamma * (math.log(2) - math.log(delta) - math.log(epsilon)))


def landmarks_for_loss(
    *, epsilon: float, delta: float, lipschitz: float = 1.0, bound: float = 1.0
) -> int:
    r"""Return the number of landmark pairs that theorem 4.7 asks for.

    With probability 1 - `delta` the mean loss over
    :math:`d = (16 B^2 C_L^2 / \varepsilon_1^2) \ln(4B / (\delta \varepsilon_1))` random pairs
    is at most :math:`\varepsilon_1` above the similarity's own (definition 4.6).

    This is the statement as printed. Its proof arrives at it where
    :math:`\delta \le 1 / (2 C_L)`: the probability there is divided by
    :math:`2B / \varepsilon_1`, without the :math:`C_L` that "small enough" would need.

    Parameters
    ----------
    epsilon : float
        The additional loss :math:`\varepsilon_1 > 0`.
    delta : float
        Allowed probability of failure, between 0 and 1.
    lipschitz : float, default=1.0
        The loss' Lipschitz constant :math:`C_L > 0`: :math:`1 / \gamma` for the hinge loss at
        margin :math:`\gamma`, 1 for the logistic loss.
    bound : float, default=1.0
        The largest weight B > 0.

    Returns
    -------
    int
        d, rounded up, at least 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 4.7 and section 4.4.5.

    Examples
    --------
    >>> from kernlearn.theory.goodness import landmarks_for_loss
    >>> landmarks_for_loss(epsilon=0.1, delta=0.05, lipschitz=2.0)
    42782
    """
    _check_loss(epsilon, delta, lipschitz, bound)
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
    r"""Return the number of landmark pairs that theorem 4.3 asks for.

    With probability 1 - `delta` every function of the family has, over
    :math:`d = (64 B^2 C_L^2 / \varepsilon_1^2)
    \ln(16 B\, \mathcal{N}(\mathcal{F}, r) / (\delta \varepsilon_1))` random pairs, its own
    best mean loss up to :math:`\varepsilon_1`, so that the best of them can be chosen.

    This is the statement as printed; its proof has :math:`8B` in place of :math:`16B`.

    Parameters
    ----------
    covering_number : int
        :math:`\mathcal{N}(\mathcal{F}, r)` at :math:`r = \varepsilon_1 / (4 C_L B)`: for a
        finite family its size, for ramps see :func:`ramp_covering_number`.
    epsilon : float
        The additional loss :math:`\varepsilon_1 > 0`.
    delta : float
        Allowed probability of failure, between 0 and 1.
    lipschitz : float, default=1.0
        The loss' Lipschitz constant :math:`C_L > 0`.
    bound : float, default=1.0
        The largest weight B > 0.

    Returns
    -------
    int
        d, rounded up, at least 1.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 4.3 and section 4.4.4.

    Examples
    --------
    The six slopes of the thesis' experiments:

    >>> from kernlearn.theory.goodness import landmarks_for_family
    >>> landmarks_for_family(6, epsilon=0.1, delta=0.05)
    63122
    """
    _check_loss(epsilon, delta, lipschitz, bound)
    if not (isinstance(covering_number, Integral) and covering_number >= 1):
        raise ValueError(f"'covering_number' must be a whole number >= 1, got {covering_number!r}")
    scale = 8 * bound * lipschitz / epsilon
    logs = math.log(16 * bound) + math.log(covering_number)
    return _ceil(scale * scale * (logs - math.log(delta) - math.log(epsilon)))


def ramp_covering_number(radius: float, *, slope_max: float, slope_min: float = 1.0) -> int:
    r"""Return how many ramps are within `radius` of all ramps with slopes in an interval.

    Of two ramps :math:`\min(1, \max(-1, s t))` with slopes s < s' the distance in the infinity
    norm is :math:`1 - s/s'`, reached at t = 1/s'. A ramp with slope s is therefore within r of
    the slopes from (1 - r)s to s/(1 - r), and no fewer than
    :math:`\lceil \ln(s_{max}/s_{min}) / (2 \ln(1/(1 - r))) \rceil` of them cover the interval.

    Parameters
    ----------
    radius : float
        r > 0: :math:`\varepsilon_1 / (4 C_L B)` in theorem 4.3. Distances up to r are covered.
    slope_max : float
        The steepest slope.
    slope_min : float, default=1.0
        The flattest slope, above 0.

    Returns
    -------
    int
        The size of the smallest net.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 4.3, leaves the covering number open; derived here.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ramp_covering_number
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


def _check_loss(epsilon: float, delta: float, lipschitz: float, bound: float) -> None:
    check_positive(epsilon=epsilon, lipschitz=lipschitz, bound=bound)
    _check_share(delta=delta)


def _check_share(**named: float) -> None:
    for name, value in named.items():
        if not (isinstance(value, Real) and 0 < value < 1):
            raise ValueError(f"'{name}' must be a number between 0 and 1, got {value!r}")


def _ceil(number: float) -> int:
    if number == math.inf:
        raise ValueError("the number of landmarks exceeds the largest float: allow more error")
    return max(1, math.ceil(number))


@dataclass(frozen=True)
class SampleSizes:
    """What is enough for a wish.

    Attributes
    ----------
    n_landmarks : int
        Number d of landmarks.
    n_samples : int
        Number n of labelled points trained on.
    n_selected : int or None
        Number k of landmarks with a weight; only for the sparse model.
    """

    n_landmarks: int
    n_samples: int
    n_selected: int | None = None


def landmarks_for_approximation(bound: float, *, epsilon: float, delta: float) -> int:
    r"""Return how many landmarks approximate the best predictor (lemma 5.22).

    With probability 1 - `delta`, :math:`E |\tilde f(\Psi(x)) - f(x)| \le \varepsilon`. The lemma
    gives no constants: here Hoeffding's inequality at accuracy :math:`\varepsilon / 2` and
    probability :math:`\delta'^2`, :math:`\delta' = \min(\delta, \varepsilon / 4B)`, gives
    :math:`d = (8 B^2 / \varepsilon^2) \ln(2 / \delta'^2)`; where it fails the error is 2B at most.

    Parameters
    ----------
    bound : float
        The largest weight B > 0.
    epsilon : float
        The mean error allowed, above 0.
    delta : float
        Allowed probability of failure, between 0 and 1.

    Returns
    -------
    int
        d, rounded up.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), lemma 5.22.

    Examples
    --------
    >>> from kernlearn.theory.goodness import landmarks_for_approximation
    >>> landmarks_for_approximation(1.0, epsilon=0.1, delta=0.05)
    6457
    """
    _check(bound, epsilon, delta)
    inner = min(delta, epsilon / (4 * bound))
    return _ceil(8 * (bound / epsilon) ** 2 * (math.log(2) - 2 * math.log(inner)))


def regression_sample_sizes(bound: float, *, epsilon: float, delta: float) -> SampleSizes:
    r"""Return what theorem 5.5 asks for.

    With probability 1 - `delta` the learned predictor has an :math:`\varepsilon`-insensitive loss
    of at most :math:`\varepsilon_1` above the similarity's own. Its excess is
    :math:`32 B \sqrt{\ln(1 / \delta') / d} + 3 B \sqrt{\ln(1 / \delta') / n}` with probability
    :math:`1 - 2 \delta'` (section 5.7.1).

    Parameters
    ----------
    bound : float
        The largest weight B > 0.
    epsilon : float
        The additional loss :math:`\varepsilon_1 > 0`.
    delta : float
        Allowed probability of failure, between 0 and 1.

    Returns
    -------
    SampleSizes

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The factor 3 (lemma 5.23) follows from the lemma's proof for :math:`\delta' \le 0.46` only,
    which is so for every `delta` that is allowed here up to 0.92.

    References
    ----------
    Kar (2013), theorem 5.5 and section 5.7.1.

    Examples
    --------
    >>> from kernlearn.theory.goodness import regression_sample_sizes
    >>> regression_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=60439, n_samples=532, n_selected=None)
    """
    return _two_terms(32.0 * bound, 3.0 * bound, bound, epsilon, delta)


def sparse_regression_sample_sizes(
    bound: float, *, tau: float, epsilon: float, delta: float
) -> SampleSizes:
    r"""Return what theorem 5.9 asks for.

    As :func:`regression_sample_sizes`, for a similarity that is good with a share
    :math:`\tau` of informative landmarks and a predictor of k of them. The excess is
    :math:`32 B \sqrt{\ln(1 / \delta') / (\tau d)} + \sqrt{18 B^2 / k} + 2 B \sqrt{2 \ln(2d) / n}
    + 2 B \sqrt{\ln(1 / \delta') / (2n)}` with probability :math:`1 - 3 \delta'` (section 5.7.5);
    landmarks, selection and points have a third each.

    Parameters
    ----------
    bound : float
        The largest weight B > 0.
    tau : float
        The share :math:`\tau` of informative landmarks, above 0 and at most 1.
    epsilon : float
        The additional loss :math:`\varepsilon_1 > 0`.
    delta : float
        Allowed probability of failure, between 0 and 1.

    Returns
    -------
    SampleSizes

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 5.9 and section 5.7.5.

    Examples
    --------
    >>> from kernlearn.theory.goodness import sparse_regression_sample_sizes
    >>> sparse_regression_sample_sizes(1.0, tau=0.2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=754670, n_samples=6591, n_selected=648)
    """
    _check(bound, epsilon, delta)
    check_positive(tau=tau)
    if tau > 1:
        raise ValueError(f"'tau' must be above 0 and at most 1, got {tau!r}")
    log_term = math.log(3) - math.log(delta)
    scale = (3 * bound / epsilon) ** 2
    n_landmarks = _ceil(32**2 * scale * log_term / tau)
    slopes = 2 * math.sqrt(2 * math.log(2 * n_landmarks)) + 2 * math.sqrt(log_term / 2)
    return SampleSizes(n_landmarks, _ceil(scale * slopes**2), _ceil(18 * scale))


def ordinal_sample_sizes(bound: float, *, epsilon: float, delta: float) -> SampleSizes:
    r"""Return what theorem 5.16 asks for.

    As :func:`regression_sample_sizes`, for the margin loss of definition 5.14; the excess is
    :math:`64 B \sqrt{\ln(1 / \delta') / d} + 3 B \sqrt{\ln(1 / \delta') / n}` (section 5.7.7).
    What the loss says of errors is :func:`ordinal_error_bounds`.

    Parameters
    ----------
    bound, epsilon, delta
        As for :func:`regression_sample_sizes`.

    Returns
    -------
    SampleSizes

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 5.16 and section 5.7.7.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ordinal_sample_sizes
    >>> ordinal_sample_sizes(1.0, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=241755, n_samples=532, n_selected=None)
    """
    return _two_terms(64.0 * bound, 3.0 * bound, bound, epsilon, delta)


def ranking_sample_sizes(
    bound: float, *, n_documents: int, epsilon: float, delta: float
) -> SampleSizes:
    r"""Return what theorem 5.20 asks for.

    As :func:`regression_sample_sizes`, for the squared loss of a query of m documents; the excess
    is :math:`64 B^2 m^2 \sqrt{\ln(1 / \delta') / d} + 3 B^2 \sqrt{\ln(1 / \delta') / n}` as
    printed in section 5.7.9. What the loss says of NDCG is :func:`ndcg_regret_bound`.

    Parameters
    ----------
    bound, epsilon, delta
        As for :func:`regression_sample_sizes`.
    n_documents : int
        The number m of documents of a query, at least 1.

    Returns
    -------
    SampleSizes

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    The lines before the printed bound are 64 B² m for the first term; and a loss that is
    2B-Lipschitz for each of m documents has 6 B² m in place of the second term's 3 B².

    References
    ----------
    Kar (2013), theorem 5.20 and section 5.7.9.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ranking_sample_sizes
    >>> ranking_sample_sizes(1.0, n_documents=2, epsilon=0.5, delta=0.05)
    SampleSizes(n_landmarks=3868071, n_samples=532, n_selected=None)
    """
    check_count(n_documents=n_documents)
    squared = bound * bound
    return _two_terms(64.0 * squared * n_documents**2, 3.0 * squared, bound, epsilon, delta)


def _two_terms(
    landmarks: float, points: float, bound: float, epsilon: float, delta: float
) -> SampleSizes:
    """Invert landmarks √(ln(1 / δ') / d) + points √(ln(1 / δ') / n) with δ' = δ / 2."""
    _check(bound, epsilon, delta)
    log_term = math.log(2) - math.log(delta)
    landmarks_needed, points_needed = (
        (2 * factor / epsilon) ** 2 * log_term for factor in (landmarks, points)
    )
    return SampleSizes(_ceil(landmarks_needed), _ceil(points_needed))


def _check(bound: float, epsilon: float, delta: float) -> None:
    check_positive(bound=bound, epsilon=epsilon)
    _check_share(delta=delta)


def ordinal_error_bounds(
    loss: float, *, margin: float, spacing: float, as_printed: bool = False
) -> tuple[float, float]:
    r"""Return what a margin loss says of the errors of grades (theorem 5.16).

    Parameters
    ----------
    loss : float
        Mean margin loss (definition 5.14), at least 0.
    margin : float
        :math:`\gamma > 0`.
    spacing : float
        The least distance :math:`\Delta > 0` of two thresholds.
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
    What is returned by default is :math:`\varepsilon / \gamma` and
    :math:`\varepsilon / \min(\gamma, \Delta)`. A point whose grade is off by k > 0 has a loss h
    of at least :math:`\gamma + (k - 1) \Delta` (section 5.7.7), so that
    :math:`k \le h / \min(\gamma, \Delta)`, and this holds for k = 0 too. The printed bounds do
    not hold where :math:`\gamma < 1`, since a point that is wrong may cost no more than
    :math:`\gamma`; nor where :math:`\Delta < \bar\gamma`, since
    :math:`k \le (h - \gamma) / \Delta + 1` is averaged there over the points that are right as
    well, for which it may be far below 0.

    References
    ----------
    Kar (2013), theorem 5.16 and section 5.7.7.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ordinal_error_bounds
    >>> ordinal_error_bounds(0.25, margin=1.0, spacing=0.5)
    (0.25, 0.5)
    """
    if not 0 <= loss < math.inf:
        raise ValueError(f"'loss' must be a finite number of 0 or more, got {loss!r}")
    check_positive(margin=margin, spacing=spacing)
    if not as_printed:
        return loss / margin, loss / min(margin, spacing)
    scale = max(margin, 1.0)
    share, distance = loss / scale, spacing / scale
    return share, (share + distance - 1) / distance


def ndcg_regret_bound(loss: float, *, n_documents: int) -> float:
    r"""Return how far NDCG can be from 1 at a squared loss (theorem 5.20).

    :math:`\frac{C_F}{\sqrt{C_S}} \sqrt{\varepsilon}` with :math:`C_S = 2` and
    :math:`C_F = 2 \|(1 / F(1), \ldots, 1 / F(m))\|_2`, :math:`F(t) = \ln(1 + t)` (section
    5.7.9). It grows as :math:`\sqrt{m} / \log m`, within the :math:`\sqrt{m / \log m}` that the
    theorem prints.

    Parameters
    ----------
    loss : float
        :math:`\|f - \eta(r)\|_2^2`, or its mean over queries, at least 0.
    n_documents : int
        The number m of documents of a query, at least 1.

    Returns
    -------
    float
        Bound on 1 - NDCG.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 5.20 and section 5.7.9; Ravikumar, Tewari & Yang (2011), theorem 10.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ndcg_regret_bound
    >>> round(ndcg_regret_bound(0.01, n_documents=10), 3)
    0.322
    """
    if not 0 <= loss < math.inf:
        raise ValueError(f"'loss' must be a finite number of 0 or more, got {loss!r}")
    check_count(n_documents=n_documents)
    discounts = 1 / np.log1p(np.arange(1, n_documents + 1))
    return math.sqrt(2 * loss) * float(np.linalg.norm(discounts))


def ranking_weight_bound(gamma: float, *, n_documents: int, epsilon: float) -> float:
    r"""Return the bound B at which a good kernel is a good similarity (theorem 5.21).

    A kernel that is :math:`(\varepsilon_0, \gamma)`-good for ranking m documents is
    :math:`(\varepsilon_0 + \varepsilon_1, B)`-good as a similarity, with
    :math:`B = 2mC (1 + \sqrt{2mC})` and :math:`C = 1 / (2 \varepsilon_1 \gamma^2)`. The proof
    goes on to :math:`5 (mC)^{3/2}`, which is more where mC is 0.85 or above and does not hold
    below.

    Parameters
    ----------
    gamma : float
        The margin :math:`\gamma > 0` of the kernel.
    n_documents : int
        The number m of documents of a query, at least 1.
    epsilon : float
        The additional loss :math:`\varepsilon_1 > 0`.

    Returns
    -------
    float
        B.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 5.21 and section 5.7.10.

    Examples
    --------
    >>> from kernlearn.theory.goodness import ranking_weight_bound
    >>> ranking_weight_bound(0.5, n_documents=4, epsilon=1.0)
    80.0
    """
    check_positive(gamma=gamma, epsilon=epsilon)
    check_count(n_documents=n_documents)
    twice = n_documents / epsilon / gamma**2
    return twice * (1 + math.sqrt(twice))
