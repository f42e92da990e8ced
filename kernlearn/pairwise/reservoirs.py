"""The points that a buffer holds."""

import numpy as np

from kernlearn.pairwise.buffers import Array, Buffer, Moves
from kernlearn.pairwise.drift_buffers import N_DRAWS, N_STATE, AwareBuffer

MAX_SEED = 2**31 - 1

# Steps whose moves are drawn at once for points that come singly.
_AHEAD = 256


class Reservoir:
    """The points that a policy keeps, whose randomness is seeded by the next number of `rng`.

    Slots are filled in order; an empty one has the class -1.
    """

    def __init__(self, policy: Buffer, n_features: int, rng: np.random.RandomState) -> None:
        self.policy = policy
        self.rng = np.random.default_rng(rng.randint(MAX_SEED))
        self.rows = np.zeros((policy.size, n_features))
        self.codes = np.full(policy.size, -1, dtype=np.int64)
        #: Of a stream-aware policy, see :meth:`AwareBuffer.choose`.
        self.state = np.zeros(N_STATE)
        self._ahead, self._next = _none(0), 0

    @property
    def n_kept(self) -> int:
        """The number of filled slots."""
        return int(np.count_nonzero(self.codes >= 0))

    @property
    def aware(self) -> bool:
        """Whether the policy looks at the points."""
        return isinstance(self.policy, AwareBuffer)

    def draws(self, n_steps: int) -> Array:
        """Return the uniform numbers of the next steps of a stream-aware policy."""
        return self.rng.random((n_steps, N_DRAWS))

    def moves(self, t: int, n_steps: int) -> Moves:
        """Return the moves of the next steps, the first that of the t-th point of the stream.

        They are those of :meth:`Buffer.updates`. For few steps more are drawn than are returned,
        and kept for the next call: what is drawn does not depend on the points.
        """
        if self.aware:
            return _none(n_steps)
        at = self._next
        left = len(self._ahead.starts) - 1 - at
        if n_steps <= left:
            self._next = at + n_steps
            starts, slots, sources = self._ahead
            return Moves(starts[at : at + n_steps + 1], slots, sources)
        starts, slots, sources = self._ahead
        first = Moves(starts[at:], slots, sources)
        # moves that are returned here have not been made yet
        n_kept = max(self.n_kept, int(slots[starts[at] :].max(initial=-1)) + 1)
        n_new = n_steps - left
        n_drawn = n_new if n_new >= _AHEAD // 8 else _AHEAD
        drawn = self.policy.updates(t + left, n_drawn, n_kept, self.rng)
        # moves that have all been returned are not kept
        self._ahead, self._next = (drawn, n_new) if n_new < n_drawn else (_none(0), 0)
        second = Moves(drawn.starts[: n_new + 1], drawn.slots, drawn.sources)
        return second if left == 0 else _joined(first, second)

    def admit(
        self, policy: AwareBuffer, t: int, x: Array, code: int, loss: float, draws: Array
    ) -> None:
        """Offer a point to a stream-aware policy; see :meth:`AwareBuffer.choose`."""
        self.state += [code == 0, code == 1, loss]
        slot = n_kept = self.n_kept
        if n_kept == policy.size:
            slot = policy.choose(t, code, loss, self.codes.copy(), self.state.copy(), draws)
            if not -1 <= slot < policy.size:
                raise ValueError(
                    f"{policy!r}.choose gave {slot!r}: it must be a slot from 0 to "
                    f"{policy.size - 1}, or -1 for none"
                )
        if slot >= 0:
            self.rows[slot], self.codes[slot] = x, code


def _none(n_steps: int) -> Moves:
    nothing = np.zeros(0, dtype=np.intp)
    return Moves(np.zeros(n_steps + 1, dtype=np.intp), nothing, nothing)


def _joined(first: Moves, second: Moves) -> Moves:
    begin, middle = first.starts[0], first.starts[-1]
    end = second.starts[-1]
    return Moves(
        np.append(first.starts - begin, second.starts[1:] + (middle - begin)),
        np.append(first.slots[begin:middle], second.slots[:end]),
        np.append(first.sources[begin:middle], second.sources[:end]),
    )
