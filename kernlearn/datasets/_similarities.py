"""An artificial similarity whose negative spectrum is chosen."""

from typing import TYPE_CHECKING

import numpy as np

from kernlearn.datasets._generated import Seed, between, bunch, count, random

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def indefinite_similarity(
    n_samples: int = 200,
    negative: float = 0.2,
    n_negative: int | None = None,
    noise: float = 0.5,
    random_state: Seed = None,
) -> "Bunch":
    """Draw a symmetric similarity of two classes with a negative spectrum of chosen weight.

    The matrix is Q·diag(λ)·Qᵀ with a random orthogonal Q whose first column follows the
    labels. Both the positive and the negative eigenvalues decay as 1, 1/2, 1/3, …; they are
    scaled so that the negative ones hold the share `negative` of Σ abs(λ) (the "negative
    eigenfraction"), and the whole so that the largest absolute entry is 1.

    Parameters
    ----------
    n_samples : int, default=200
        The number of points, at least 2; the classes have as many points each, up to one.
    negative : float, default=0.2
        The share of the negative eigenvalues, from 0 up to but not including 1. 0 gives a
        positive definite matrix.
    n_negative : int, optional
        How many eigenvalues are negative, if any; half of them by default.
    noise : float, default=0.5
        Standard deviation of the normal noise on the direction that separates the classes,
        in units of its own entries.
    random_state : int, RandomState instance or None, default=None
        Where the randomness comes from.

    Returns
    -------
    sklearn.utils.Bunch
        As from :func:`load` for a similarity: ``data`` is the matrix, of shape (n_samples,
        n_samples), and ``similarity`` is ``"similarity"``; ``card`` is None.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.datasets import indefinite_similarity
    >>> K = indefinite_similarity(50, negative=0.3, random_state=0).data
    >>> spectrum = np.linalg.eigvalsh(K)
    >>> round(float(-spectrum[spectrum < 0].sum() / np.abs(spectrum).sum()), 6)
    0.3
    """
    rng = random(random_state)
    n = count("n_samples", n_samples)
    if n < 2:
        raise ValueError(f"n_samples must be at least 2 for two classes, got {n}")
    share = between("negative", negative, 0, 1)
    k = n // 2 if n_negative is None else count("n_negative", n_negative)
    if k >= n:
        raise ValueError(f"n_negative must be below n_samples = {n}, got {k}")
    k = k if share > 0 else 0
    y = rng.permutation(np.arange(n) % 2)
    directions = rng.standard_normal((n, n))
    directions[:, 0] = 2 * y - 1 + between("noise", noise, 0, np.inf) * directions[:, 0]
    basis, _ = np.linalg.qr(directions)
    spectrum = np.empty(n)
    spectrum[: n - k] = (1 - share) * _decay(n - k)
    spectrum[n - k :] = -share * _decay(k)
    K = (basis * spectrum) @ basis.T
    K = (K + K.T) / (2 * np.abs(K).max())
    found = bunch(K, y, ("0", "1"))
    found.similarity = "similarity"
    return found


def _decay(k: int) -> np.ndarray:
    """Return 1, 1/2, …, 1/k, scaled to sum to 1."""
    values = 1 / np.arange(1, k + 1)
    return values / values.sum() if k else values
