"""Random streams named by what they are for, never by the order of work."""

import zlib

import numpy as np


def seed_sequence(seed: int, purpose: str, *indices: int) -> np.random.SeedSequence:
    """Return the random stream of one purpose.

    Parameters
    ----------
    seed : int
        The experiment's seed.
    purpose : str
        What the numbers are for, such as ``"split"``; another purpose is another stream.
    *indices : int
        Further coordinates, such as the number of the split.

    Returns
    -------
    numpy.random.SeedSequence
    """
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *indices))


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return a generator on the stream that :func:`seed_sequence` names."""
    return np.random.default_rng(seed_sequence(seed, purpose, *indices))


def random_state(seed: int, purpose: str, *indices: int) -> int:
    """Return an integer for scikit-learn's ``random_state`` from the same stream."""
    return int(seed_sequence(seed, purpose, *indices).generate_state(1, np.uint32)[0])
