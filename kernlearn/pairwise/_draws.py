"""The draws of all buffer policies, in one function.

It runs in Python for single steps and compiled for many, and draws nothing but uniform doubles, so
that the draws are the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def draw(
    policy: int,
    size: int,
    t: int,
    n_kept: int,
    rng: np.random.Generator,
    starts: NDArray[np.intp],
    slots: NDArray[np.intp],
    sources: NDArray[np.intp],
) -> int:
    """Draw the moves of some steps.

    Parameters
    ----------
    policy : int
        0 FIFO, 1 RS, 2 RS-x, 3 RS-x².
    size : int
        Size of the buffer.
    t : int
        The number of the first incoming point, from 1 on.
    n_kept : int
        How many slots are taken.
    rng : numpy.random.Generator
    starts : ndarray of shape (n_steps + 1,), int
        Zeros; ``starts[i + 1]`` becomes the number of moves of the steps up to i.
    slots, sources : ndarray of the same length, at least `size`, int
        Written to; :meth:`kernlearn.pairwise.Buffer.update` says what they mean.

    Returns
    -------
    int
        For how many steps the moves fit.
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
