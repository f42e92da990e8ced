r"""How many landmarks and points are enough: Kar (2013), theorems 5.5, 5.9, 5.16 and 5.20.

The theorems hide constants in O(·); those here are what their proofs (sections 5.6 and 5.7) print.
Similarities are taken to be at most 1. An allowed excess is shared evenly among the terms of the
bound, and so is an allowed probability of failure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kernlearn.theory._hoeffding import check_count, check_positive
from kernlearn.theory._landmark_numbers import _ceil, _check_share


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
