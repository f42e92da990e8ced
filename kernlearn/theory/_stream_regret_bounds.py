"""Regret of online learning from pairs with a buffer: Kar (2013), theorem 6.13."""

from __future__ import annotations

import math

import numpy as np

from kernlearn.theory._hoeffding import check_count, check_positive
from kernlearn.theory._slow_rates import Complexity, at, check_regret, check_stream


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
