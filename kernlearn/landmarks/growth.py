"""How many landmarks pay: nested sets that grow as long as validation points gain by them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.constraints import COUNT, StrOptions
from kernlearn.landmarks.selection import extend_landmarks
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, Landmarks

#: Constraints of the parameters that grow the number of landmarks.
GROWTH = {"n_landmarks": [COUNT, StrOptions({"auto"})], "max_comparisons": [COUNT, None]}

#: Sets in succession that may be no better before sets stop growing.
PATIENCE = 2

_FIRST = 5  # landmarks of the first set


@dataclass(frozen=True)
class TriedSize:
    """A number of landmarks that was tried, and what validation points gained by it.

    Attributes
    ----------
    n_landmarks : int or tuple of int
        Of each similarity, where there are several.
    score : float
        The best score on the validation points: accuracy, NDCG, or minus the mean error.
    gain : float
        Mean decrease of the validation points' loss since the number kept before; NaN for the
        first.
    standard_error : float
        That of the gain, from the differences of each point's two losses.
    loss_gain, loss_error : float
        The same of a finer loss, that of the separators or of votes; NaN for the first, and where
        there is none.
    kept : bool
        Whether the gain is greater than its standard error, or not negative and that of the finer
        loss greater than its standard error.
    n_comparisons : int
        Comparisons of training and validation points with landmarks so far, also of similarities
        that were not taken, without those of the selection.
    similarity : int or None
        The place of the similarity to which landmarks were added, where there are several.
    """

    n_landmarks: int | tuple[int, ...]
    score: float
    gain: float
    standard_error: float
    loss_gain: float
    loss_error: float
    kept: bool
    n_comparisons: int
    similarity: int | None = None

    @classmethod
    def of(
        cls,
        n_landmarks: int | tuple[int, ...],
        scores: Floats,
        gain: "Gain",
        n_comparisons: int,
        similarity: int | None = None,
    ) -> "TriedSize":
        """Return what is told of the best of some `scores`."""
        return cls(
            n_landmarks,
            float(scores.max()),
            gain.gain,
            gain.standard_error,
            gain.loss_gain,
            gain.loss_error,
            gain.pays,
            n_comparisons,
            similarity,
        )


@dataclass(frozen=True)
class Candidate:
    """A model on some landmarks.

    Attributes
    ----------
    chosen : ndarray of shape (n_landmarks,)
        Places of the landmarks among the training points.
    model : object
        Whatever the estimator keeps.
    scores : ndarray or None
        Score on the validation points of each choice of parameters; None without such points.
    losses : ndarray of shape (n_val,) or None
        Loss of each validation point with the best choice: whether it is an error, or how large.
    finer : ndarray of shape (n_val,) or None
        For classes the loss that the separators minimise, or the share of the wrong votes.
    """

    chosen: Indices
    model: Any
    scores: Floats | None = None
    losses: Floats | None = None
    finer: Floats | None = None


@dataclass(frozen=True)
class Gain:
    """What validation points gain by one model over another, see :class:`TriedSize`."""

    gain: float = np.nan
    standard_error: float = np.nan
    loss_gain: float = np.nan
    loss_error: float = np.nan

    @classmethod
    def of(cls, before: Any, after: Any, weights: NDArray[np.float64] | None) -> "Gain":
        """Compare two models with attributes `losses` and `finer`."""
        found = paired_gain(before.losses, after.losses, weights)
        if after.finer is None:
            return cls(*found)
        return cls(*found, *paired_gain(before.finer, after.finer, weights))

    @property
    def pays(self) -> bool:
        """Whether that is more than chance explains; so it is for the first model."""
        if np.isnan(self.gain) or self.gain > self.standard_error:
            return True
        return self.gain >= 0 and self.loss_gain > self.loss_error


def check_growth(n_landmarks: int | str, max_comparisons: int | None) -> bool:
    """Return whether the number of landmarks is to be found."""
    if n_landmarks != "auto" and max_comparisons is not None:
        raise ValueError(
            f"'max_comparisons' is for n_landmarks='auto', but n_landmarks={n_landmarks!r}: a "
            "prediction then makes as many comparisons"
        )
    return n_landmarks == "auto"


def growing_sizes(n_points: int, max_comparisons: int | None, n_classes: int = 1) -> list[int]:
    """Return numbers of landmarks, each twice the one before, up to the greatest that may be.

    The first is 5, or the number of classes.
    """
    most = n_points if max_comparisons is None else min(n_points, max_comparisons)
    sizes = [min(max(_FIRST, n_classes), most)]
    while sizes[-1] < most:
        sizes.append(min(2 * sizes[-1], most))
    return sizes


def paired_gain(
    before: Floats, after: Floats, weights: NDArray[np.float64] | None
) -> tuple[float, float]:
    """Return the mean decrease of losses of the same points, and its standard error.

    Points of unequal weights count as (Σ w)² / Σ w² points.
    """
    shares = np.ones(len(before)) if weights is None else weights
    shares = shares / shares.sum()
    differences = np.asarray(before, dtype=np.float64) - after
    mean = float(shares @ differences)
    n_effective = 1 / float((shares**2).sum())
    if n_effective <= 1 + 1e-9:
        return mean, np.inf
    variance = float(shares @ (differences - mean) ** 2)
    return mean, float(np.sqrt(variance / (n_effective - 1)))


def grow(
    sizes: list[int],
    fit: Callable[[int, Indices], Candidate],
    weights: NDArray[np.float64] | None,
    n_compared: int,
    n_before: int = 0,
) -> tuple[Candidate, tuple[TriedSize, ...]]:
    """Fit models on growing sets of landmarks, and return the one to keep, and what was tried.

    A set is kept if the validation points gain more by it, over the set kept before, than the
    standard error of this gain, or if they lose nothing and gain as much by a finer loss, which
    fewer points can tell. The sets grow until two in succession are not kept.

    Parameters
    ----------
    sizes : list of int
        Ascending.
    fit : callable
        Takes a size and the landmarks of the size before, none at first.
    weights : ndarray of shape (n_val,) or None
        Weights of the validation points.
    n_compared : int
        Number of points that are compared with the landmarks.
    n_before : int, default=0
        Number of comparisons made before.

    Returns
    -------
    Candidate
    tuple of TriedSize
    """
    chosen: Indices = np.zeros(0, dtype=np.intp)
    kept, tried, failures = None, list[TriedSize](), 0
    for size in sizes:
        found = fit(size, chosen)
        chosen = found.chosen
        assert found.scores is not None
        gain = Gain() if kept is None else Gain.of(kept, found, weights)
        tried.append(TriedSize.of(size, found.scores, gain, n_before + size * n_compared))
        kept, failures = (found, 0) if gain.pays else (kept, failures + 1)
        if failures == PATIENCE:
            break
    assert kept is not None
    return kept, tuple(tried)


def grow_landmarks(
    candidates: Landmarks,
    similarities: KeptSimilarities,
    codes: Indices,
    X_val: Any,
    weights: NDArray[np.float64] | None,
    sizes: list[int],
    selection: str,
    rng: np.random.RandomState,
    fit: Callable[[Indices, Any], Candidate],
) -> tuple[Candidate, tuple[TriedSize, ...]]:
    """Choose landmarks from the points trained on as long as that pays, see :func:`grow`.

    Each set has those of the one before, whose similarities are not computed again.

    Parameters
    ----------
    candidates : Landmarks
        The points trained on.
    similarities : KeptSimilarities
        Their similarities to each other.
    codes : ndarray of shape (n_trained,)
        Their classes, to choose from each.
    X_val : array, sparse matrix, matrix of similarities or None
        The validation points; None where they are among the points trained on.
    weights : ndarray of shape (n_val,) or None
        Their weights.
    sizes : list of int
        Ascending.
    selection : str
        As for :func:`~kernlearn.landmarks.selection.extend_landmarks`.
    rng : RandomState
    fit : callable
        Takes the places of the landmarks, and the validation points' similarities to candidates,
        None without such points.

    Returns
    -------
    Candidate
    tuple of TriedSize
    """
    validation = None if X_val is None else KeptSimilarities(candidates, X_val)

    def fit_at(size: int, before: Indices) -> Candidate:
        chosen = extend_landmarks(before, size, codes, selection, rng, similarities)
        return fit(chosen, validation)

    n_held_out = 0 if X_val is None else X_val.shape[0]
    return grow(sizes, fit_at, weights, len(codes) + n_held_out)
