"""How many landmarks are enough: Kar (2013), theorems 4.2, 4.3 and 4.7."""

from __future__ import annotations

import math
from numbers import Integral, Real

from kernlearn.theory._hoeffding import check_positive


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
