"""Stream buffers: FIFO, reservoir sampling (RS), RS-x and RS-x²."""

from abc import ABC, abstractmethod
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn.checks import check_count

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]


class Moves(NamedTuple):
    """The moves of a buffer over some steps.

    Those of step i are from ``starts[i]`` to ``starts[i + 1]``; `slots` and `sources` are as in
    :meth:`Buffer.update`.
    """

    starts: Indices
    slots: Indices
    sources: Indices

    def of_step(self, i: int) -> tuple[Indices, Indices]:
        """Return the slots and the sources of one step."""
        moved = slice(self.starts[i], self.starts[i + 1])
        return self.slots[moved], self.sources[moved]


class Buffer(ABC):
    """A policy for keeping points of a stream in a buffer of fixed size.

    It does not store the points and has no state: it only decides which go where. A user-defined
    policy is a subclass with :meth:`update`.

    Parameters
    ----------
    size : int
        Largest number s of points kept, at least 1.

    Raises
    ------
    ValueError
        If `size` is not an int of 1 or more.

    References
    ----------
    Kar (2013), section 6.5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import Buffer
    >>> class FirstOnly(Buffer):
    ...     '''Keep the first points for ever.'''
    ...
    ...     def update(self, t, n_kept, rng):
    ...         slots = np.arange(n_kept, min(n_kept + 1, self.size))
    ...         return slots, np.full(len(slots), -1)
    >>> rng = np.random.default_rng(0)
    >>> [FirstOnly(2).update(t, min(t - 1, 2), rng)[0].tolist() for t in (1, 2, 3)]
    [[0], [1], []]
    """

    size: int

    def __init__(self, size: int) -> None:
        check_count(size=size)
        self.size = int(size)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.size})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.size))

    @abstractmethod
    def update(self, t: int, n_kept: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
        """Return the moves after the t-th point of the stream.

        Parameters
        ----------
        t : int
            The number of the incoming point; the first has 1.
        n_kept : int
            Number of filled slots, min(t - 1, size) in a stream from its start.
        rng : numpy.random.Generator
            Source of randomness.

        Returns
        -------
        slots : ndarray of shape (n_moves,), int
            The slots that get another point, each once; empty slots are filled in order.
        sources : ndarray of shape (n_moves,), int
            ``slots[i]`` gets the point that was in slot ``sources[i]`` before all moves, or the
            incoming point where that is -1.
        """

    def updates(self, t: int, n_steps: int, n_kept: int, rng: np.random.Generator) -> Moves:
        """Return the moves of some steps from the t-th point on.

        Parameters
        ----------
        t, n_kept, rng
            As in :meth:`update`.
        n_steps : int
            Number of steps.

        Returns
        -------
        Moves
            Those of `n_steps` calls of :meth:`update`, with the same draws.
        """
        steps = []
        for i in range(t, t + n_steps):
            slots, sources = (np.asarray(a, dtype=np.intp) for a in self.update(i, n_kept, rng))
            n_kept = self._checked(slots, sources, n_kept)
            steps.append(Moves(np.array([0, len(slots)]), slots, sources))
        return _joined(steps)

    def _checked(self, slots: Indices, sources: Indices, n_kept: int) -> int:
        """Return the number of filled slots after the moves; refuse invalid ones."""
        new = np.sort(slots[slots >= n_kept])
        if (
            slots.shape != sources.shape
            or len(np.unique(slots)) < len(slots)
            or not np.array_equal(new, np.arange(n_kept, n_kept + len(new)))
            or np.min(slots, initial=0) < 0
            or n_kept + len(new) > self.size
            or not np.isin(sources, np.arange(-1, n_kept)).all()
        ):
            raise ValueError(
                f"{self!r}.update gave slots {slots.tolist()} and sources {sources.tolist()}, "
                f"with {n_kept} of {self.size} slots filled: each slot may be named once, empty "
                "slots are filled in order, and a source is a filled slot or -1"
            )
        return n_kept + len(new)


def _joined(parts: list[Moves]) -> Moves:
    none = np.zeros(0, dtype=np.intp)
    counts = [none, *(np.diff(part.starts) for part in parts)]
    slots = np.concatenate([none, *(part.slots for part in parts)])
    sources = np.concatenate([none, *(part.sources for part in parts)])
    return Moves(np.append(0, np.cumsum(np.concatenate(counts))), slots, sources)


def draw(
    policy: int,
    size: int,
    t: int,
    n_kept: int,
    rng: np.random.Generator,
    starts: Indices,
    slots: Indices,
    sources: Indices,
) -> int:
    """Draw the moves of some steps; return the number of steps that fit into the arrays.

    Runs in Python for single steps and compiled for many, and draws only uniform doubles, so that
    the draws are the same.

    Parameters
    ----------
    policy : int
        0 FIFO, 1 RS, 2 RS-x, 3 RS-x².
    size, t, n_kept, rng
        As of :class:`Buffer` and :meth:`Buffer.update`, for the first step.
    starts : ndarray of shape (n_steps + 1,), int
        Zeros; ``starts[i + 1]`` is set to the number of moves of the steps up to i.
    slots, sources : ndarray of the same length, at least `size`, int
        Set to the moves, see :meth:`Buffer.update`.
    """
    end = 0
    sources[:] = -1
    for i in range(len(starts) - 1):
        if end + size > len(slots):
            return i
        if n_kept < size:
            slots[end] = n_kept
            n_kept += 1
            end += 1
        elif policy == 0:  # FIFO
            slots[end] = (t - 1) % size
            end += 1
        elif policy == 1:  # RS
            slot = int(rng.random() * t)
            if slot < size:
                slots[end] = slot
                end += 1
        elif t == size + 1:  # repopulation
            for slot in range(size):
                source = int(rng.random() * t)
                if source != slot:
                    slots[end] = slot
                    sources[end] = source if source < size else -1
                    end += 1
        elif policy == 2:  # RS-x
            for slot in range(size):
                if rng.random() * t < 1.0:
                    slots[end] = slot
                    end += 1
        else:  # RS-x², the binomial by inversion: its mean is under 1
            p = 1.0 / t
            left = rng.random()
            # the chance of none is no less than 1 - size/t, which mostly settles it
            # (a float exponent, as Numba would round a whole one otherwise)
            chance = 1.0 if left < 1.0 - size * p else (1.0 - p) ** float(size)
            n_taken = 0
            while left >= chance and n_taken < size:
                left -= chance
                chance *= (size - n_taken) / (n_taken + 1) * p / (1.0 - p)
                n_taken += 1
            # Floyd's way to a random subset: one draw an element
            for last in range(size - n_taken, size):
                slot = int(rng.random() * (last + 1))
                for taken in slots[end - (last - size + n_taken) : end]:
                    if taken == slot:
                        slot = last
                        break
                slots[end] = slot
                end += 1
        t += 1
        starts[i + 1] = end
    return len(starts) - 1


@lru_cache(maxsize=1)
def compiled_draw() -> Any:
    """Return `draw`, compiled."""
    from numba import njit

    return njit(cache=True)(draw)


class _DrawnBuffer(Buffer):
    """A policy with moves from :func:`draw`."""

    _policy: ClassVar[int]

    def update(self, t: int, n_kept: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
        starts, slots, sources = np.zeros((3, self.size + 1), dtype=np.intp)
        draw(self._policy, self.size, t, n_kept, rng, starts[:2], slots, sources)
        return slots[: starts[1]], sources[: starts[1]]

    def updates(self, t: int, n_steps: int, n_kept: int, rng: np.random.Generator) -> Moves:
        parts = []
        while n_steps > 0:
            starts = np.zeros(n_steps + 1, dtype=np.intp)
            # a step mostly moves one slot, but may move all
            slots, sources = np.empty((2, n_steps + 2 * self.size), dtype=np.intp)
            draws = self._policy, self.size, t, n_kept, rng, starts, slots, sources
            n_drawn = compiled_draw()(*draws)
            end = starts[n_drawn]
            parts.append(Moves(starts[: n_drawn + 1], slots[:end], sources[:end]))
            t += n_drawn
            n_steps -= n_drawn
            n_kept = min(n_kept + n_drawn, self.size)
        return _joined(parts)


class FIFO(_DrawnBuffer):
    """First in, first out: the last `size` points of the stream, without randomness.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import FIFO
    >>> FIFO(3).update(4, 3, np.random.default_rng(0))
    (array([0]), array([-1]))
    """

    _policy = 0


class RS(_DrawnBuffer):
    """Reservoir sampling [1]_: a uniform sample of the past, without replacement.

    Point t enters with probability size/t, in the place of a random one. Both are decided by
    one number drawn from 0, …, t − 1: it names the slot, or none.

    References
    ----------
    .. [1] J. S. Vitter. Random sampling with a reservoir. ACM Transactions on Mathematical
       Software 11(1), 1985, algorithm R.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import RS
    >>> RS(3).update(4, 3, np.random.default_rng(0))
    (array([2]), array([-1]))
    """

    _policy = 1


class RSx(_DrawnBuffer):
    """RS-x: each slot a uniform sample of the past, independent of the others.

    When the buffer overflows for the first time, at t = size + 1, every slot is drawn anew with
    replacement from the buffer and the incoming point. From then on point t takes each slot
    with probability 1/t. This takes `size` draws a step; :class:`RSx2` has the same law and
    takes about one.

    References
    ----------
    Kar (2013), algorithm 7 and theorem 6.12.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import RSx
    >>> RSx(3).update(4, 3, np.random.default_rng(0))
    (array([0, 2]), array([2, 0]))
    """

    _policy = 2


class RSx2(_DrawnBuffer):
    """RS-x²: :class:`RSx` with the number of slots that the incoming point takes drawn first.

    The number is binomial with `size` trials of probability 1/t, and which slots is then drawn
    without replacement. The repopulation at t = size + 1 is the same.

    References
    ----------
    Kar (2013), algorithm 9 and section 6.11.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import RSx2
    >>> RSx2(3).update(5, 3, np.random.default_rng(0))
    (array([0]), array([-1]))
    """

    _policy = 3
