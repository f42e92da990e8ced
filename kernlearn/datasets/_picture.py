"""Data sets as small pictures of characters."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_BARS = " ▁▂▃▄▅▆▇█"
_ROWS = 5000
_CLASSES = 12
_HEIGHT = 5
_NARROWEST = 24


def picture(bunch: "Bunch", *, width: int = 72) -> str:
    """Draw a data set with block characters.

    Labelled data is drawn as a histogram of the first principal component (found on
    at most 5000 rows, each feature scaled to unit variance) for each class, every one in units of
    its highest bar; data with a number as its target as the target's histogram; a matrix
    of similarities as its eigenvalues, the largest first, what is negative below the line;
    data without a target as the histogram of the first principal component.

    Parameters
    ----------
    bunch : sklearn.utils.Bunch
        As from :func:`load` or a generator.
    width : int, default=72
        The longest line, at least 24.

    Returns
    -------
    str
        Several lines.

    Raises
    ------
    ValueError
        If the width is too small.

    Examples
    --------
    >>> from kernlearn.datasets import load, picture
    >>> print(picture(load("iris"), width=44))
    first principal component (73.0 % of variance)
    ...
    """
    if width < _NARROWEST:
        raise ValueError(f"width must be at least {_NARROWEST}, got {width}")
    if "similarity" in bunch:
        return _spectrum(bunch, width)
    target = bunch.target
    if target is not None and not len(bunch.target_names):
        return "\n".join(["target", *_histogram(np.asarray(target, dtype=np.float64), width)])
    scores, share = _first_component(bunch.data)
    title = f"first principal component ({100 * share:.1f} % of variance)"
    if target is None:
        return "\n".join([title, *_histogram(scores, width)])
    return "\n".join([title, *_by_class(scores, target, bunch.target_names, width)])


def _first_component(X: Any) -> tuple[NDArray[np.float64], float]:
    """Find the component on some rows; return all rows' scores and its share of variance."""
    some = X
    if X.shape[0] > _ROWS:
        # the same rows each time, whatever order the classes come in
        some = X[np.sort(np.random.RandomState(0).choice(X.shape[0], _ROWS, replace=False))]
    Z = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
    mean, spread = Z.mean(axis=0), Z.std(axis=0)
    spread[spread == 0] = 1.0
    Z = (Z - mean) / spread
    # the smaller of the two products has the same eigenvalues
    if Z.shape[1] <= Z.shape[0]:
        values, vectors = np.linalg.eigh(Z.T @ Z)
        axis = vectors[:, -1]
    else:
        values, vectors = np.linalg.eigh(Z @ Z.T)
        axis = Z.T @ vectors[:, -1]
        axis /= np.linalg.norm(axis) or 1.0
    if axis[np.abs(axis).argmax()] < 0:  # an eigenvector's sign is arbitrary
        axis = -axis
    total = float(values.sum())
    scores = np.asarray(X @ (axis / spread)).ravel() - mean @ (axis / spread)
    return scores, float(values[-1]) / total if total > 0 else 0.0


def _by_class(
    scores: NDArray[np.float64], target: NDArray[Any], names: NDArray[np.str_], width: int
) -> list[str]:
    shown = names[:_CLASSES].tolist()
    margin = min(max(map(len, shown)), width // 3)
    bins = _edges(scores, width - margin - 2)
    lines = []
    for code, name in enumerate(shown):
        counts = np.histogram(scores[target == code], bins)[0]
        lines.append(f"{_cut(name, margin):>{margin}} ▏{_bars(counts, 1)[0]}")
    lines.append(" " * (margin + 2) + _axis(bins))
    if len(names) > _CLASSES:
        lines.append(f"and {len(names) - _CLASSES} more classes")
    return [line.rstrip() for line in lines]


def _histogram(values: NDArray[np.float64], width: int) -> list[str]:
    bins = _edges(values, width)
    counts = np.histogram(values, bins)[0]
    return [line.rstrip() for line in (*_bars(counts, _HEIGHT), _axis(bins))]


def _spectrum(bunch: "Bunch", width: int) -> str:
    S = np.asarray(bunch.data, dtype=np.float64)
    values = np.linalg.eigvalsh((S + S.T) / 2)[::-1]
    negative = int((values < 0).sum())
    title = (
        f"eigenvalues, {values[0]:.4g} to {values[-1]:.4g}, {negative} of {len(values)} negative"
    )
    # a column for a run of eigenvalues: its largest absolute value
    runs = np.array_split(values, min(width, len(values)))
    heights = np.array([run[np.abs(run).argmax()] for run in runs])
    scale = np.sqrt(np.abs(heights) / np.abs(values).max()) if values.any() else heights * 0
    above = _bars(np.where(heights > 0, scale, 0), _HEIGHT, 1.0)
    below = _bars(np.where(heights < 0, scale, 0), _HEIGHT, 1.0)
    # there are no blocks that hang from above, so that what is negative is drawn in full ones
    below = ["".join("▀" if c != " " else " " for c in line) for line in reversed(below)]
    lines = [_cut(title, width), *above, "─" * len(heights), *below, "(heights: square roots)"]
    return "\n".join(line.rstrip() for line in lines if line.strip())


def _edges(values: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    low, high = float(values.min()), float(values.max())
    if not low < high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, n_bins + 1)


def _axis(bins: NDArray[np.float64]) -> str:
    left, right = f"{bins[0]:.4g}", f"{bins[-1]:.4g}"
    return left + right.rjust(max(len(bins) - 1 - len(left), len(right) + 1))


def _bars(counts: NDArray[Any], height: int, highest: float | None = None) -> list[str]:
    """Draw columns, the upper line first; whatever is not zero is seen."""
    highest = float(counts.max()) if highest is None else highest
    steps = np.ceil(counts / (highest or 1.0) * 8 * height).astype(int)
    levels = range(height - 1, -1, -1)
    return ["".join(_BARS[min(8, max(0, s - 8 * level))] for s in steps) for level in levels]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
