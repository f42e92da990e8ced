"""Full steps of several linear models with the squared hinge, in one pass over the features."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]


# sums may be reordered, so that they are computed several terms at a time
@njit(cache=True, fastmath={"reassoc", "contract", "nsz"})  # pragma: no cover
def full_steps(
    X: Floats,
    y: Floats,
    steps: Floats,
    margins: Floats,
    which: NDArray[np.intp],
    moves: Floats,
    slopes: Floats,
) -> None:
    """Write how margins change by each step, and the slope of the loss after it.

    Each row of X is read once, and used for all steps while it is in cache.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Labels -1 and +1.
    steps : ndarray of shape (n_steps, n_features)
        A step of each model.
    margins : ndarray of shape (n_models, n_samples)
    which : ndarray of shape (n_steps,)
        The row of `margins` and `moves` that belongs to each step.
    moves : ndarray of shape (n_models, n_samples)
        Output: yᵢ⟨stepₖ, xᵢ⟩.
    slopes : ndarray of shape (n_steps, n_features)
        Output: Σᵢ yᵢ ℓ′(tᵢ) xᵢ for the margins t after the step.
    """
    n_samples, n_features = X.shape
    n_steps = len(steps)
    by_four = n_steps - n_steps % 4
    slopes[:] = 0.0
    for i in range(n_samples):
        x, label = X[i], y[i]
        for k in range(0, by_four, 4):
            step_0, step_1, step_2, step_3 = steps[k], steps[k + 1], steps[k + 2], steps[k + 3]
            sum_0 = sum_1 = sum_2 = sum_3 = 0.0
            for j in range(n_features):
                value = x[j]
                sum_0 += value * step_0[j]
                sum_1 += value * step_1[j]
                sum_2 += value * step_2[j]
                sum_3 += value * step_3[j]
            moves[which[k], i] = label * sum_0
            moves[which[k + 1], i] = label * sum_1
            moves[which[k + 2], i] = label * sum_2
            moves[which[k + 3], i] = label * sum_3
        for k in range(by_four, n_steps):
            step, total = steps[k], 0.0
            for j in range(n_features):
                total += x[j] * step[j]
            moves[which[k], i] = label * total
        for k in range(n_steps):
            model = which[k]
            excess = 1.0 - margins[model, i] - moves[model, i]
            if excess > 0.0:
                slope, factor = slopes[k], -2.0 * label * excess
                for j in range(n_features):
                    slope[j] += factor * x[j]
