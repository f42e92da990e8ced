"""Penalties and regret along a stream of pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length, check_random_state, column_or_1d

from kernlearn.checks import check_count, check_nonnegative, check_positive
from kernlearn.extras import needed_by
from kernlearn.pairwise.buffer_names import as_buffer
from kernlearn.pairwise.buffers import Buffer
from kernlearn.pairwise.hindsight import StreamPairs, best_in_ball
from kernlearn.pairwise.losses import PairwiseLossLike, as_pairwise_loss
from kernlearn.pairwise.online_auc import OLP
from kernlearn.pairwise.ranking import two_classes
from kernlearn.pairwise.reservoirs import MAX_SEED, Reservoir


@dataclass(frozen=True)
class RegretCurve:
    r"""Penalties of one kind along a stream, and the regret at some lengths of it.

    Attributes
    ----------
    penalty : ndarray of shape (n - 1,)
        The penalty of :math:`h_{t-1}` in round t = 2, …, n.
    horizons : ndarray of shape (n_horizons,), int
        The lengths m of the stream at which the regret is computed.
    regret : ndarray of shape (n_horizons,)
        :math:`\sum_{t=2}^m` of the penalties less that of `best`.
    gap : ndarray of shape (n_horizons,)
        The accuracy of the smallest sum: the true regret is between `regret` and
        ``regret + gap``.
    best : ndarray of shape (n_horizons, n_features)
        The best weights for the first m points.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, regret
    >>> X, y = (stream := two_gaussians(100, 3, random_state=0)).data, stream.target
    >>> seen = regret.follow(OLP(buffer_size=10, radius=2.0, random_state=0), X, y)
    >>> found = regret.stream_regret(X, y, seen.hypotheses, radius=2.0, horizons=[25, 100])
    >>> curve = found.all_pairs
    >>> curve.horizons.tolist(), curve.best.shape
    ([25, 100], (2, 3))
    >>> bool(curve.per_round[1] < curve.per_round[0])
    True
    """

    penalty: NDArray[np.float64]
    horizons: NDArray[np.intp]
    regret: NDArray[np.float64]
    gap: NDArray[np.float64]
    best: NDArray[np.float64]

    @property
    def per_round(self) -> NDArray[np.float64]:
        """The regret divided by the number of rounds, the subject of theorem 6.13."""
        return self.regret / (self.horizons - 1)


@dataclass(frozen=True)
class StreamRegret:
    """The regret of an online learner of pairs.

    Attributes
    ----------
    all_pairs : RegretCurve
        By penalties (6.1), on all pairs with earlier points.
    buffer : RegretCurve or None
        By penalties (6.3), on pairs with the points in the buffer.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, regret
    >>> X, y = (stream := two_gaussians(100, 3, random_state=0)).data, stream.target
    >>> seen = regret.follow(OLP(buffer_size=10, radius=2.0, random_state=0), X, y)
    >>> found = regret.stream_regret(X, y, seen.hypotheses, seen.contents, radius=2.0)
    >>> found.all_pairs.regret.shape, found.buffer.regret.shape
    ((1,), (1,))
    """

    all_pairs: RegretCurve
    buffer: RegretCurve | None


@dataclass(frozen=True)
class Followed:
    """The weights and the buffer of a learner along a stream.

    Attributes
    ----------
    hypotheses : ndarray of shape (n - 1, n_features)
        The weights before points 2, …, n.
    contents : ndarray of shape (n, buffer_size), int
        As from :func:`buffer_contents`.
    """

    hypotheses: NDArray[np.float64]
    contents: NDArray[np.intp]


def buffer_contents(buffer: Buffer, n: int, random_state: Any = None) -> NDArray[np.intp]:
    """Return the points in a buffer as each point of a stream comes.

    Parameters
    ----------
    buffer : Buffer
        The policy.
    n : int
        Length of the stream.
    random_state : numpy.random.Generator, or a seed of one, default=None
        Randomness of the buffer, which does not depend on the data: the generator of a learner
        gives the points that the learner kept.

    Returns
    -------
    ndarray of shape (n, size), int
        Row i: the indices of the points in the slots when point i comes; -1 for an empty slot.

    Raises
    ------
    ValueError
        If `n` is not an int of 1 or more.

    References
    ----------
    Kar (2013), section 6.5.

    Examples
    --------
    >>> from kernlearn.pairwise import FIFO
    >>> from kernlearn.pairwise.regret import buffer_contents
    >>> buffer_contents(FIFO(2), 4).tolist()
    [[-1, -1], [0, -1], [0, 1], [2, 1]]
    """
    check_count(n=n)
    moves = buffer.updates(1, int(n), 0, np.random.default_rng(random_state))
    contents = np.full((n, buffer.size), -1, dtype=np.intp)
    for i in range(int(n) - 1):
        slots, sources = moves.of_step(i)
        contents[i + 1] = contents[i]
        contents[i + 1, slots] = np.where(sources < 0, i, contents[i, sources])
    return contents


def follow(learner: OLP, X: ArrayLike, y: ArrayLike) -> Followed:
    """Run a copy of a learner on a stream, and record its weights and buffer.

    Parameters
    ----------
    learner : OLP
        The learner, left unchanged. The copy has ``average=False``, as regret is about the
        iterates, and makes one pass.
    X : {array-like, sparse matrix} of shape (n, n_features)
        The points, in their order.
    y : array-like of shape (n,)
        Their labels, of two classes.

    Returns
    -------
    Followed
        For :func:`stream_regret`.

    Raises
    ------
    ValueError
        If X and y are not valid for the learner, or its buffer looks at the points.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP
    >>> from kernlearn.pairwise.regret import follow
    >>> stream = two_gaussians(50, 3, random_state=0)
    >>> followed = follow(OLP(buffer_size=5, random_state=0), stream.data, stream.target)
    >>> followed.hypotheses.shape, followed.contents.shape
    ((49, 3), (50, 5))
    """
    points, labels = _check_stream(X, y)
    classes = two_classes(labels)
    policy = as_buffer(learner.buffer, learner.buffer_size)
    seed = learner.random_state
    if not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(MAX_SEED)
    copy = clone(learner).set_params(average=False, random_state=seed)
    n, d = points.shape
    hypotheses = np.empty((n - 1, d))
    for i in range(n - 1):
        hypotheses[i] = copy.partial_fit(points[[i]], labels[[i]], classes=classes).coef_[0]
    rng = Reservoir(policy, 0, check_random_state(seed)).rng
    return Followed(hypotheses, buffer_contents(policy, n, rng))


def stream_regret(
    X: ArrayLike,
    y: ArrayLike,
    hypotheses: ArrayLike,
    contents: ArrayLike | None = None,
    *,
    radius: float,
    loss: PairwiseLossLike = "hinge",
    regularization: float = 0.0,
    horizons: Sequence[int] | None = None,
    tol: float = 1e-4,
) -> StreamRegret:
    r"""Return the penalties of linear hypotheses along a stream, and their regret.

    The penalty of :math:`h_{t-1}` in round t = 2, …, n is the mean of
    :math:`\varphi\bigl(\tfrac{y_t - y}{2} \langle w_{t-1}, x_t - x \rangle\bigr)` over all
    earlier points (x, y), equation 6.1, or those in the buffer, equation 6.3; pairs of one class
    have :math:`\varphi(0)`. The regret is the sum less the smallest sum of a single w of norm at
    most `radius`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, n_features)
        The points, in their order.
    y : array-like of shape (n,)
        Their labels, of two classes.
    hypotheses : array-like of shape (n - 1, n_features)
        The weights :math:`w_1, \ldots, w_{n-1}` before points 2, …, n; see ``follow``.
    contents : array-like of shape (n, buffer_size), int, default=None
        The buffer as each point comes; see ``buffer_contents``. None leaves out the penalties
        (6.3).
    radius : float
        Radius of the ball of the 2-norm that contains the best w, that of the learner.
    loss : str, PairwiseLoss or pair of callables, default="hinge"
        The φ; see :func:`~kernlearn.pairwise.as_pairwise_loss`.
    regularization : float, default=0.0
        λ of a term λ/2 ‖w‖² in each penalty.
    horizons : sequence of int, default=None
        Lengths of the stream, from 2 to n, at which to compute the regret; each is a separate
        convex problem. None takes n only.
    tol : float, default=1e-4
        Accuracy of the smallest mean penalty, as a share of the penalty and its slope across the
        ball at w = 0.

    Returns
    -------
    StreamRegret

    Raises
    ------
    ValueError
        If shapes do not match, there are not two classes, the buffer contains a later point or
        nothing, or a parameter is out of range.

    Warns
    -----
    ConvergenceWarning
        If this accuracy is not reached. Losses other than the hinge are assumed to be smooth.

    Notes
    -----
    Time is :math:`O(n^2)` for each evaluation on all pairs, of which a horizon takes about a
    hundred; memory is a block of pairs.

    References
    ----------
    Kar (2013), equations 6.1 and 6.3, lemma 6.23, theorem 6.13.

    Examples
    --------
    >>> from kernlearn.datasets import two_gaussians
    >>> from kernlearn.pairwise import OLP, stream_regret
    >>> from kernlearn.pairwise.regret import follow
    >>> stream = two_gaussians(200, 3, random_state=0)
    >>> X, y = stream.data, stream.target
    >>> seen = follow(OLP(buffer_size=20, radius=2.0, random_state=0), X, y)
    >>> found = stream_regret(
    ...     X, y, seen.hypotheses, seen.contents, radius=2.0, horizons=[50, 200]
    ... )
    >>> found.all_pairs.penalty.shape, found.all_pairs.regret.shape
    ((199,), (2,))
    >>> bool(found.all_pairs.per_round[1] < found.all_pairs.per_round[0])
    True
    """
    points, labels = _check_stream(X, y)
    signs = np.where(labels == two_classes(labels)[1], 1.0, -1.0)
    n, d = points.shape
    weights = check_array(hypotheses, dtype=np.float64, input_name="hypotheses")
    if weights.shape != (n - 1, d):
        raise ValueError(
            f"'hypotheses' must have shape {(n - 1, d)}, one row per point but the first, got "
            f"{weights.shape}"
        )
    check_positive(radius=radius, tol=tol)
    check_nonnegative(regularization=regularization)
    lengths = np.atleast_1d(np.array([n] if horizons is None else horizons))
    if lengths.dtype.kind not in "iu" or not ((lengths >= 2) & (lengths <= n)).all():
        raise ValueError(f"'horizons' must be ints from 2 to n = {n}, got {horizons!r}")
    phi = as_pairwise_loss(loss)

    def curve(kept: NDArray[np.intp] | None) -> RegretCurve:
        pairs = StreamPairs(points, signs, kept)
        penalty = pairs.penalties(weights, phi)
        penalty += regularization / 2 * np.einsum("ij,ij->i", weights, weights)
        best = np.zeros((len(lengths), d))
        regret, gap = np.empty(len(lengths)), np.empty(len(lengths))
        for i, m in enumerate(lengths):
            start = best[max(i - 1, 0)]
            best[i], least, gap_per_round = best_in_ball(
                pairs, int(m), phi, radius, regularization, start, tol
            )
            regret[i] = penalty[: m - 1].sum() - (m - 1) * least
            gap[i] = (m - 1) * gap_per_round
        return RegretCurve(penalty, lengths, regret, gap, best)

    return StreamRegret(
        curve(None), None if contents is None else curve(_check_contents(contents, n))
    )


def regret_curves(
    X: ArrayLike,
    y: ArrayLike,
    buffer_sizes: Sequence[int],
    *,
    buffer: str,
    radius: float,
    eta: float,
    delta: float,
    seed: int,
) -> Any:
    """Return the regret of OLP per round along a stream, with its bound (theorem 6.13).

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The points, of norm at most 1, in their order.
    y : array-like of shape (n,)
        Their labels, of two classes.
    buffer_sizes : sequence of int
    buffer, radius, eta, seed
        As `buffer`, `radius`, `eta` and `random_state` of :class:`OLP`.
    delta : float
        Allowed probability that the bound fails.

    Returns
    -------
    pandas.DataFrame
        With columns `buffer_size`, `pairs` ("all pairs" or "buffer"), `length` (eight of them,
        from 10 on), `regret` and `bound`, the latter two per round.
    """
    with needed_by("a table of regrets"):
        import pandas as pd

    from kernlearn.theory import LinearAUC, olp_regret_bound

    horizons = np.unique(np.geomspace(10, len(np.asarray(y)), 8).astype(int)).tolist()
    ball = LinearAUC(q=2, radius=radius).fit(X)
    rows = []
    for size in dict.fromkeys(buffer_sizes):
        learner = OLP(size, buffer=buffer, eta=eta, radius=radius, random_state=seed)
        followed = follow(learner, X, y)
        regret = stream_regret(
            X, y, followed.hypotheses, followed.contents, radius=radius, horizons=horizons
        )
        for kind, curve in (("all pairs", regret.all_pairs), ("buffer", regret.buffer)):
            assert curve is not None
            for length, per_round in zip(horizons, curve.per_round, strict=True):
                # points of norm 1 have differences of norm 2
                bound = olp_regret_bound(
                    length,
                    size,
                    lipschitz=2.0,
                    diameter=2 * radius,
                    eta=eta,
                    complexity=ball.bound,
                    loss_bound=1 + 2 * radius,
                    delta=delta,
                )
                rows.append((size, kind, length, per_round, bound / (length - 1)))
    return pd.DataFrame(rows, columns=["buffer_size", "pairs", "length", "regret", "bound"])


def _check_stream(X: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
    points = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_min_samples=2)
    labels = column_or_1d(y)
    check_consistent_length(points, labels)
    return points, labels


def _check_contents(contents: ArrayLike, n: int) -> NDArray[np.intp]:
    kept = np.asarray(contents)
    if kept.ndim != 2 or len(kept) != n or kept.dtype.kind not in "iu":
        raise ValueError(
            f"'contents' must be whole numbers of shape (n, buffer_size) with n = {n}, got "
            f"{kept.dtype} of shape {kept.shape}"
        )
    ahead = np.any(kept >= np.arange(n)[:, np.newaxis], axis=1)
    empty = np.all(kept < 0, axis=1) & (np.arange(n) > 0)
    for what, wrong in (("a point that has not come yet", ahead), ("nothing", empty)):
        if wrong.any():
            raise ValueError(f"'contents' has {what} in row {int(wrong.argmax())}")
    return kept.astype(np.intp)
