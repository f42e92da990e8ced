"""Which of many similarities suits a task, with the uncertainty of the answer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kernlearn.checks import check_count, check_share
from kernlearn.kernels import Kernel
from kernlearn.theory.assessment import assess_similarity
from kernlearn.theory.ranked import RankedSimilarity, SimilarityComparison
from kernlearn.theory.resampling import (
    SplitMean,
    corrected_mean,
    corrected_p_value,
    error_floor,
    holm_adjusted,
    stratified_order,
)
from kernlearn.theory.sampled import SampledSimilarity
from kernlearn.theory.suitability import RANKED_BY, Suitability, Task
from kernlearn.theory.supervised import regression_goodness

#: The fewest points that similarities are compared on.
FEWEST_POINTS = 50
#: Splits of the sample.
N_SPLITS = 15

# B of definition 5.2 for similarities divided by the largest and targets of variance 1.
_BOUND = 100.0


def compare_similarities(
    X: Any,
    y: Any,
    similarities: "Mapping[str, Any] | Sequence[str | Kernel]",
    *,
    classification: bool = True,
    ranked_by: str = "landmarks",
    n_landmarks: int = 100,
    n_neighbors: int = 1,
    n_points: int = 500,
    n_splits: int = N_SPLITS,
    level: float = 0.05,
    random_state: int = 0,
) -> SimilarityComparison:
    """Compare similarities on a sample of labelled points, to find which suits the task.

    All are measured on the same splits of the same points. No pair of points is compared twice.

    Parameters
    ----------
    X : array-like, sparse matrix or sequence
        Points of any kind that all of the similarities take.
    y : array-like of shape (n_samples,)
        Classes, or numbers.
    similarities : sequence of str or Kernel, or mapping
        Names and kernel objects; or by labels of your choice also functions (X, Y) -> matrix, and
        matrices (n_samples, n_samples) of similarities, arrays.
    classification : bool, default=True
        Whether `y` are classes.
    ranked_by : {"landmarks", "neighbors"}, default="landmarks"
        The error to rank by: of BBS (RegLand for numbers) or of nearest neighbours.
    n_landmarks : int, default=100
        Number of landmarks; all points trained on, if there are fewer.
    n_neighbors : int, default=1
    n_points : int, default=500
        Points of the sample.
    n_splits : int, default=15
        Random splits of it, of which each tests on a fifth of the points; at least 2.
    level : float, default=0.05
        The probability that an interval misses, and the level of the tests.
    random_state : int, default=0
        Seed of the sample, the splits and the landmarks.

    Returns
    -------
    SimilarityComparison

    Raises
    ------
    ValueError
        If an argument is invalid, or no similarity can be measured.

    See Also
    --------
    kernlearn.theory.goodness.assess_similarity : Margins of a single similarity.

    Notes
    -----
    Intervals and one-sided tests of differences are those of :func:`corrected_mean`; the p-values
    of all differences from the first are adjusted by Holm's procedure.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.theory.goodness import compare_similarities
    >>> X, y = load_wine(return_X_y=True)
    >>> found = compare_similarities(scale(X), y, ["gaussian", "scipy.chebyshev"])
    >>> found.first.name, found.first.landmark_error.value < 0.05
    ('gaussian', True)
    """
    check_count(n_points=n_points)
    task, places = sample_points(
        y,
        n_points,
        classification=classification,
        n_landmarks=n_landmarks,
        n_neighbors=n_neighbors,
        random_state=random_state,
    )
    measured, failed = take_similarities(named_similarities(similarities), X, places, task)
    for name, one in list(measured.items()):
        try:
            one.similarity.grow(len(places))
            one.losses(len(places), 0)
        except Exception as error:  # of any library: the others are compared
            del measured[name]
            failed[name] = shortened(error)
    sizes = dict.fromkeys(measured, len(places))
    return rank(measured, sizes, failed, ranked_by, n_splits, len(y), level)


def named_similarities(
    similarities: "Mapping[str, Any] | Sequence[str | Kernel]",
) -> dict[str, Any]:
    """Return similarities by name; a ValueError if there are none, or a name is there twice."""
    if isinstance(similarities, Mapping):
        found = {str(name): one for name, one in similarities.items()}
    else:
        if isinstance(similarities, str):
            similarities = [similarities]
        found = {}
        for one in similarities:
            if not isinstance(one, (str, Kernel)):
                raise ValueError(
                    "'similarities' must be names and kernels, or a mapping from names of yours "
                    f"to similarities, got {type(one).__name__}"
                )
            name = one if isinstance(one, str) else repr(one)
            if name in found:
                raise ValueError(f"'similarities' has {name} twice")
            found[name] = one
    if not found:
        raise ValueError("'similarities' must hold at least one")
    return found


def sample_points(
    y: Any,
    n_points: int,
    *,
    classification: bool,
    n_landmarks: int = 100,
    n_neighbors: int = 1,
    random_state: int = 0,
) -> tuple[Task, np.ndarray]:
    """Draw points in an order of which every stretch is stratified; return the task and rows."""
    check_count(n_landmarks=n_landmarks, n_neighbors=n_neighbors)
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"'y' must have one target per point, got shape {y.shape}")
    if len(y) < FEWEST_POINTS:
        raise ValueError(
            f"there are {len(y)} points; similarities are compared on at least {FEWEST_POINTS}"
        )
    if classification:
        classes, targets = np.unique(y, return_inverse=True)
    else:
        numbers = np.asarray(y, dtype=np.float64)
        classes, targets = np.unique(numbers), (numbers - numbers.mean()) / (numbers.std() or 1.0)
    if len(classes) < 2:
        raise ValueError("'y' is the same for all points: there is nothing to predict")
    rng = np.random.RandomState(random_state)
    order = stratified_order(targets if classification else None, len(y), rng)
    places = order[: max(n_points, FEWEST_POINTS)]
    return Task(targets[places], classification, n_landmarks, n_neighbors, random_state), places


def take_similarities(
    similarities: Mapping[str, Any], X: Any, places: np.ndarray, task: Task
) -> tuple[dict[str, Suitability], dict[str, str]]:
    """Return similarities of the sample, and why others do not take its points."""
    taken, failed = {}, {}
    for name, similarity in similarities.items():
        try:
            taken[name] = _taken(name, similarity, X, places, task)
        except Exception as error:  # of any library: the others are compared
            failed[name] = shortened(error)
    return taken, failed


def shortened(error: Exception) -> str:
    """Return the first line of an error, with its type unless that says no more."""
    text = str(error).partition("\n")[0]
    plain = isinstance(error, (ValueError, ImportError)) and text
    return text if plain else f"{type(error).__name__}: {text}"


def _taken(name: str, similarity: Any, X: Any, places: np.ndarray, task: Task) -> Suitability:
    """Return a similarity of the sample, of which no pair is compared yet but one to warm up."""
    from sklearn.utils import _safe_indexing

    if isinstance(similarity, np.ndarray):
        n = len(X) if isinstance(X, (list, tuple)) else X.shape[0]
        if similarity.shape != (n, n):
            raise ValueError(f"{name}: expected a matrix {(n, n)}, got shape {similarity.shape}")
        points, similarity = similarity[np.ix_(places, places)], "precomputed"
    else:
        points = _safe_indexing(X, places)
    sampled = SampledSimilarity(similarity, points, "similarity", places)
    sampled.warm_up()
    return Suitability(name, sampled, task)


def rank(
    measured: Mapping[str, Suitability],
    sizes: Mapping[str, int],
    failed: Mapping[str, str],
    ranked_by: str,
    n_splits: int,
    n_rows: int,
    level: float,
    stopped: Mapping[str, str] | None = None,
) -> SimilarityComparison:
    """Rank similarities of which the first `sizes` points have been compared."""
    if ranked_by not in RANKED_BY:
        raise ValueError(f"'ranked_by' must be one of {RANKED_BY}, got {ranked_by!r}")
    check_share(level=level)
    check_count(n_splits=n_splits)
    if n_splits < 2:
        raise ValueError(f"'n_splits' must be at least 2, got {n_splits}")
    if not measured:
        reasons = "; ".join(f"{name}: {why}" for name, why in failed.items())
        raise ValueError(f"no similarity could be measured ({reasons})")
    task = next(iter(measured.values())).task

    def errors(name: str, size: int) -> np.ndarray:
        return measured[name].errors(size, n_splits, ranked_by)

    largest = max(sizes.values())
    reached = [name for name in measured if sizes[name] == largest]
    reference = min(reached, key=lambda name: (float(errors(name, largest).mean()), name))
    ahead, expected = [reference], {}
    for name in measured:
        behind = errors(name, sizes[name]) - errors(reference, sizes[name])
        expected[name] = float(errors(reference, largest).mean() + behind.mean())
        if corrected_mean(behind, level=level).high < 0:
            ahead.append(name)
    # a small sample puts some similarity ahead by chance
    first = min(ahead, key=lambda name: (expected[name], name))
    cost = {name: one.similarity.seconds_per_comparison for name, one in measured.items()}
    order = sorted(measured, key=lambda name: (name != first, round(expected[name], 12), name))
    common = {name: min(sizes[name], sizes[first]) for name in order}
    apart = {name: errors(name, common[name]) - errors(first, common[name]) for name in order}
    raw = {name: corrected_p_value(apart[name]) for name in order if name != first}
    adjusted = holm_adjusted(raw)
    ranked = []
    for name in order:
        one, size = measured[name], sizes[name]
        open_ = name == first or adjusted[name] > level
        loss, criterion = one.goodness(size, _assessed if task.classification else _loss)
        ranked.append(
            RankedSimilarity(
                name,
                size,
                _error(one, size, n_splits, "landmarks", level),
                _error(one, size, n_splits, "neighbors", level),
                expected[name],
                corrected_mean(apart[name], level=level),
                adjusted.get(name, float("nan")),
                common[name],
                loss,
                criterion,
                one.landmarks_needed(size) if open_ else None,
                cost[name],
                one.similarity.n_comparisons,
                (stopped or {}).get(name, ""),
            )
        )
    return SimilarityComparison(
        ranked,
        dict(failed),
        ranked_by,
        task.classification,
        task.n_landmarks,
        task.n_neighbors,
        n_splits,
        n_rows,
        level,
        _baseline(task),
    )


def _baseline(task: Task) -> float:
    if not task.classification:
        return 1.0
    return 1 - float(np.bincount(task.targets).max()) / len(task.targets)


def _error(one: Suitability, size: int, n_splits: int, by: str, level: float) -> SplitMean:
    """Return an error with its interval, which stays within what is possible."""
    values = one.errors(size, n_splits, by)
    shares = one.task.classification
    floor = error_floor(float(values.mean()), size) if shares else 0.0
    mean = corrected_mean(values, level=level, floor=floor)
    high = min(mean.high, 1.0) if shares else mean.high
    return SplitMean(mean.value, max(mean.low, 0.0), high)


def _assessed(matrix: np.ndarray, codes: np.ndarray) -> tuple[float, str]:
    """Return the least error of the criteria of goodness."""
    found = assess_similarity(matrix, codes, similarity="precomputed")
    return found.criteria[found.best].error, found.best


def _loss(matrix: np.ndarray, targets: np.ndarray) -> tuple[float, str]:
    """Return the loss of definition 5.2 of the similarity divided by its largest value."""
    scale = float(np.abs(matrix).max()) or 1.0
    found = regression_goodness(matrix / scale, targets, bound=_BOUND, similarity="precomputed")
    return found.loss, f"B = {_BOUND:g}"
