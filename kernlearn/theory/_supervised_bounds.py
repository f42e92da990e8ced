"""What a loss says of errors, and a kernel of a similarity: Kar (2013), theorems 5.16 to 5.21."""

from __future__ import annotations

import math

import numpy as np

from kernlearn.theory._hoeffding import check_count, check_positive


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
