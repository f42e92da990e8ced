"""Buffers of a stream as moves: FIFO, reservoir sampling (RS), RS-x and RS-x².

The policies of Kar (2013), section 6.5.1. The first s points fill the s slots in order. Then:

- FIFO ("fifo") keeps the last s points.
- RS ("rs", Vitter 1985, algorithm R) keeps a uniform sample of the past without replacement: point
  t enters with probability s/t, in the place of a random one. One number drawn from 0, …, t − 1
  names the slot, or none.
- RS-x ("rsx", algorithm 7) keeps in each slot a uniform sample of the past, independent of the
  other slots (theorem 6.12): at t = s + 1 every slot is drawn anew with replacement from the
  buffer and the incoming point, and from then on point t takes each slot with probability 1/t.
- RS-x² ("rsx2", algorithm 9) has the same law, and draws first how many slots point t takes: about
  one draw a step, where RS-x takes s.

Which points are kept depends on their numbers alone, never on the points: the theory needs this.
"""

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Indices: TypeAlias = NDArray[np.int64]

#: The policies, in the order of the numbers that `steps.draw_moves` has for them.
POLICIES = ("fifo", "rs", "rsx", "rsx2")

# Steps whose moves are drawn at once for points that come singly.
_AHEAD = 256


class Moves(NamedTuple):
    """The moves of a buffer over some steps.

    Those of step i are from ``starts[i]`` to ``starts[i + 1]``: ``slots[j]`` gets the point that
    was in slot ``sources[j]`` before the step, or the incoming point where that is -1. No step
    names a slot twice.
    """

    starts: Indices
    slots: Indices
    sources: Indices

    def of_step(self, i: int) -> tuple[Indices, Indices]:
        """Return the slots and the sources of one step."""
        moved = slice(self.starts[i], self.starts[i + 1])
        return self.slots[moved], self.sources[moved]


class Buffer:
    """The moves of a buffer along a stream; the points are stored by the learner.

    Parameters
    ----------
    policy : {"fifo", "rs", "rsx", "rsx2"}
        Which points are kept.
    size : int
        Number of slots.
    random_state : numpy.random.RandomState
        Its next number is the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise.buffers import Buffer
    >>> moves = Buffer("rsx2", 3, np.random.RandomState(0)).moves(5)
    >>> [slots.tolist() for slots, _ in map(moves.of_step, range(5))]
    [[0], [1], [2], [0, 2], [2]]
    """

    def __init__(self, policy: str, size: int, random_state: np.random.RandomState) -> None:
        self.policy, self.size = POLICIES.index(policy), size
        self.rng = np.random.default_rng(random_state.randint(2**31 - 1))
        self._n_drawn = 0
        # moves that were drawn, and the first of their steps that was not returned
        self._drawn, self._next = _NONE, 0

    def moves(self, n_steps: int) -> Moves:
        """Return the moves of the next steps; they do not depend on how a stream is divided."""
        from kernlearn.pairwise.steps import draw_moves  # numba only where it is needed

        starts, slots, sources = self._drawn
        first = self._next
        n_missing = first + n_steps - (len(starts) - 1)
        if n_missing > 0:
            n_new = max(n_missing, _AHEAD)
            new = draw_moves(self.policy, self.size, self._n_drawn + 1, n_new, self.rng)
            self._n_drawn += n_new
            begin, end = starts[first], starts[-1]
            starts = np.append(starts[first:-1] - begin, new[0] + (end - begin))
            slots = np.append(slots[begin:end], new[1])
            sources = np.append(sources[begin:end], new[2])
            first = 0
        self._next = first + n_steps
        self._drawn = Moves(starts, slots, sources)
        if self._next == len(starts) - 1:  # all returned
            self._drawn, self._next = _NONE, 0
        return Moves(starts[first : first + n_steps + 1], slots, sources)


_NONE = Moves(*(np.zeros(n, dtype=np.int64) for n in (1, 0, 0)))
