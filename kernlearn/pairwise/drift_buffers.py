"""Stream buffers for streams that change: biased to the recent past, or aware of the points."""

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kernlearn.checks import check_positive
from kernlearn.pairwise.buffers import Array, Buffer, Indices, Moves

#: Uniform numbers that a step of a stream-aware buffer may use.
N_DRAWS = 2
#: Length of the state of a stream-aware buffer: points of either class, and a sum of losses.
N_STATE = 3


def _decay(half_life: float) -> float:
    return 1.0 - 0.5 ** (1.0 / half_life)


class TimeBiased(Buffer):
    r"""Biased reservoir sampling: the chance to be held halves with each half-life.

    When the buffer is full a point enters with probability s·λ, in the place of a random one, so
    that point i is in the buffer at t with a probability in proportion to
    :math:`(1 - \lambda)^{t - i}`. It looks at the number of a point only: it is stream-oblivious.

    Parameters
    ----------
    size : int
        Largest number s of points kept, at least 1.
    half_life : float or None, default=None
        Number of points after which a point is half as likely to be held, so that
        :math:`\lambda = 1 - 2^{-1/h}`; at least about 0.7 s. None lets each point enter, λ = 1/s,
        which is the shortest that a buffer of this size can have.

    Raises
    ------
    ValueError
        If `size` is not an int of 1 or more, or `half_life` is not positive, or too short for
        the size.

    References
    ----------
    C. C. Aggarwal. On biased reservoir sampling in the presence of stream evolution. VLDB 2006.
    There a buffer fills up at random, too; here the first points fill it.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import TimeBiased
    >>> TimeBiased(3).update(4, 3, np.random.default_rng(0))
    (array([1]), array([-1]))
    """

    def __init__(self, size: int, half_life: float | None = None) -> None:
        super().__init__(size)
        if half_life is not None:
            check_positive(half_life=half_life)
            if size * _decay(half_life) > 1.0:
                shortest = math.log(0.5) / math.log(1.0 - 1.0 / size) if size > 1 else 0.0
                raise ValueError(
                    f"half_life={half_life:g} is too short for a buffer of {size} points, which "
                    f"keep at most one of each step: take {math.ceil(10 * shortest) / 10:g} or "
                    "more, or fewer points"
                )
        self.half_life = half_life

    def __repr__(self) -> str:
        return f"TimeBiased({self.size}, half_life={self.half_life})"

    @property
    def chance(self) -> float:
        """The probability with which a point enters a full buffer."""
        return 1.0 if self.half_life is None else self.size * _decay(self.half_life)

    def update(self, t: int, n_kept: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
        """See :meth:`Buffer.update`."""
        return self.updates(t, 1, n_kept, rng).of_step(0)

    def updates(self, t: int, n_steps: int, n_kept: int, rng: np.random.Generator) -> Moves:
        """See :meth:`Buffer.updates`."""
        n_filled = min(n_steps, self.size - n_kept)
        drawn = rng.random(n_steps - n_filled) / self.chance
        entered = drawn < 1.0
        slots = np.append(
            np.arange(n_kept, n_kept + n_filled),
            np.minimum((drawn[entered] * self.size).astype(np.intp), self.size - 1),
        ).astype(np.intp)
        moved = np.append(np.ones(n_filled, dtype=bool), entered)
        starts = np.append(0, np.cumsum(moved)).astype(np.intp)
        return Moves(starts, slots, np.full(len(slots), -1, dtype=np.intp))


class AwareBuffer(Buffer):
    """A policy that looks at the incoming point before it lets it in.

    A user-defined policy is a subclass with :meth:`choose`. It is for :class:`OLP`; the others
    take policies that know nothing but the number of a point.

    Parameters
    ----------
    size : int
        Largest number s of points kept, at least 1.

    Notes
    -----
    The guarantees of [1]_ do not hold for such a buffer: their proofs condition on which points
    are in it, and need that this is independent of what the points are ("stream-oblivious",
    section 6.5). Section 6.9 names stream-aware policies as an open question. What they gain was
    measured: ``configs/drift_buffers.yaml``.

    References
    ----------
    .. [1] Kar (2013), sections 6.5 and 6.9.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import OLP, AwareBuffer
    >>> class Surprising(AwareBuffer):
    ...     '''Let in what the model gets wrong, in the place of a random point.'''
    ...
    ...     def choose(self, t, code, loss, codes, state, draws):
    ...         return int(draws[0] * self.size) if loss > 1.0 else -1
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = OLP(buffer_size=10, buffer=Surprising(10), random_state=0).fit(X, X[:, 0] > 0)
    >>> model.score(X, X[:, 0] > 0) > 0.9
    True
    """

    def update(self, t: int, n_kept: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
        """Raise a ValueError: which points are kept cannot be said without the points."""
        raise ValueError(
            f"{self!r} looks at the points of a stream, so its moves do not follow from their "
            "numbers: it is for OLP, and has no regret bound; take 'rsx2' or another policy here"
        )

    @abstractmethod
    def choose(
        self, t: int, code: int, loss: float, codes: NDArray[np.int64], state: Array, draws: Array
    ) -> int:
        """Return the slot that the incoming point takes, or -1 for none.

        Called once the buffer is full; until then each point takes the next empty slot.

        Parameters
        ----------
        t : int
            The number of the incoming point; the first has 1.
        code : int
            Its class, 0 or 1.
        loss : float
            Mean loss of its pairs with the buffered points of the other class, at the weights
            before the step; that of a margin of 0 if there are none.
        codes : ndarray of shape (size,), int
            The classes of the points in the slots.
        state : ndarray of shape (3,)
            The numbers of points of class 0 and 1 up to this one, and the sum of their losses.
        draws : ndarray of shape (2,)
            Independent uniform numbers in [0, 1), the only source of randomness.
        """


def choose_slot(
    policy: int, chance: float, code: int, loss: float, codes: Any, state: Any, draws: Any
) -> int:
    """Return the slot for a point, or -1: :meth:`AwareBuffer.choose` of the policies here.

    Runs in Python for single steps and compiled in the steps of OLP.

    Parameters
    ----------
    policy : int
        0 class-balanced, 1 by loss.
    chance : float
        Of a class-balanced buffer, λ; 0 for a uniform sample of each class.
    code, loss, codes, state, draws
        As in :meth:`AwareBuffer.choose`.
    """
    size = len(codes)
    if policy == 1:
        # Chao's procedure with the losses as weights
        if state[2] <= 0.0:
            return -1
        place = draws[0] * state[2] / (size * loss) if loss > 0.0 else 1.0
        return min(int(draws[1] * size), size - 1) if place < 1.0 else -1
    n_own = 0
    for slot in range(size):
        if codes[slot] == code:
            n_own += 1
    # the larger class gives way to the other; in a class, a reservoir
    if size - 2 * n_own >= 2 or n_own == 0:
        given, n_given = 1 - code, size - n_own
        rank = draws[0] * n_given
    else:
        given, n_given = code, n_own
        share = min(1.0, n_own * chance) if chance > 0.0 else n_own / state[code]
        if draws[0] >= share:
            return -1
        rank = draws[0] / share * n_given
    left = min(int(rank), n_given - 1)
    for slot in range(size):
        if codes[slot] == given:
            if left == 0:
                return slot
            left -= 1
    return -1


@lru_cache(maxsize=1)
def compiled_choose_slot() -> Any:
    """Return `choose_slot`, compiled."""
    from numba import njit

    return njit(cache=True)(choose_slot)


class KnownAwareBuffer(AwareBuffer):
    """A policy of :func:`choose_slot`, which the compiled steps know."""

    policy: ClassVar[int]
    #: The λ of :func:`choose_slot`.
    chance: float = 0.0

    def choose(
        self, t: int, code: int, loss: float, codes: NDArray[np.int64], state: Array, draws: Array
    ) -> int:
        """See :meth:`AwareBuffer.choose`."""
        return choose_slot(self.policy, self.chance, code, loss, codes, state, draws)


class ClassBalanced(KnownAwareBuffer):
    """As many points of one class as of the other, once the stream has brought them.

    In a full buffer, a point of a class that has fewer points there than the other, by two or
    more, takes the place of a random one of the other class. Any other point takes that of a
    random one of its own class, with the probability that makes these a uniform sample of the
    class, or a biased one with a half-life.

    Parameters
    ----------
    size : int
        Largest number s of points kept, at least 1.
    half_life : float or None, default=None
        Number of points of a class after which one of them is half as likely to be held; None
        for uniform samples. One that is too short for the places of a class lets each point
        enter.

    Raises
    ------
    ValueError
        If `size` is not an int of 1 or more, or `half_life` is not positive.

    References
    ----------
    A. Chrysakis, M.-F. Moens. Online continual learning from imbalanced data. ICML 2020.

    Examples
    --------
    >>> from kernlearn.pairwise import OLP, ClassBalanced
    >>> model = OLP(4, buffer=ClassBalanced, random_state=0)
    >>> X = [[float(i)] for i in range(12)]
    >>> model = model.fit(X, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1])
    >>> model.buffer_classes_
    array([0, 1, 0, 1])
    """

    policy = 0

    def __init__(self, size: int, half_life: float | None = None) -> None:
        super().__init__(size)
        if half_life is not None:
            check_positive(half_life=half_life)
            self.chance = _decay(half_life)
        self.half_life = half_life

    def __repr__(self) -> str:
        return f"ClassBalanced({self.size}, half_life={self.half_life})"


class LossWeighted(KnownAwareBuffer):
    """A sample of the past in which a point is the more likely, the greater its loss when it came.

    Point t enters a full buffer with the probability s times its loss over the sum of all losses
    up to it, at most 1, in the place of a random one. So points that the weights of their time
    ranked well are hardly kept; the mean loss over the buffer is not an estimate of that over the
    past.

    References
    ----------
    M. T. Chao. A general purpose unequal probability sampling plan. Biometrika 69(3), 1982.
    Probabilities above 1 are cut, without the correction of [1] for these.

    Examples
    --------
    >>> from kernlearn.pairwise import OLP
    >>> OLP(10, buffer="loss_weighted", random_state=0).fit([[0.0], [1.0]], [0, 1]).coef_
    array([[0.35355339]])
    """

    policy = 1
