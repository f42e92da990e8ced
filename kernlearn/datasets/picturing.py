"""Small pictures of data sets, of block characters."""

import re
from typing import Any

import numpy as np

from kernlearn.datasets.objects import are_objects, kind_of, size_of

_BARS = " ▁▂▃▄▅▆▇█"
_ROWS = 5000
_CLASSES = 12
_HEIGHT = 5
_NARROWEST = 24


def picture(bunch: Any, *, width: int = 72) -> str:
    """Draw a data set with block characters.

    Labelled data is drawn as one histogram per class of the first principal component (found
    on at most 5000 rows, with features scaled to unit variance), each relative to its highest
    bar; data with a number as target as a histogram of the target; a similarity matrix by its
    eigenvalues in decreasing order, the negative ones below the line; data without a target as a
    histogram of the component. Of objects the sizes take the place of the component.

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
    target = bunch.target
    if "similarity" in bunch:
        lines = _spectrum(bunch.data, width)
    elif target is not None and not len(bunch.target_names):
        lines = ["target", *_histogram(np.asarray(target, dtype=np.float64), width)]
    else:
        if are_objects(bunch.data):
            scores = np.array([*map(size_of, bunch.data)], dtype=np.float64)
            title = f"sizes of {kind_of(bunch.data)}"
        else:
            scores, share = _first_component(bunch.data)
            title = f"first principal component ({100 * share:.1f} % of variance)"
        lines = [title]
        if target is None:
            lines += _histogram(scores, width)
        else:
            lines += _by_class(scores, target, bunch.target_names, width)
    return "\n".join(line.rstrip() for line in lines)


def _first_component(X: Any) -> tuple[np.ndarray, float]:
    """Compute it on some rows; return the scores of all rows and its share of the variance."""
    from sklearn.decomposition import PCA

    some = X
    if X.shape[0] > _ROWS:
        # the same rows each time, in whatever order the classes are
        some = X[np.sort(np.random.RandomState(0).choice(X.shape[0], _ROWS, replace=False))]
    Z = np.asarray(some.toarray() if hasattr(some, "toarray") else some, dtype=np.float64)
    mean, spread = Z.mean(axis=0), Z.std(axis=0)
    spread[spread == 0] = 1.0
    pca = PCA(1, random_state=0)
    with np.errstate(invalid="ignore"):  # the share of constant data
        pca.fit((Z - mean) / spread)
    axis = pca.components_[0] / spread
    share = float(np.nan_to_num(pca.explained_variance_ratio_[0]))
    return np.ravel(X @ axis) - mean @ axis, share


def _by_class(scores: np.ndarray, target: np.ndarray, names: np.ndarray, width: int) -> list[str]:
    labels = names[:_CLASSES].tolist()
    margin = min(max(map(len, labels)), width // 3)
    bins = np.histogram_bin_edges(scores, width - margin - 2)
    lines = []
    for code, name in enumerate(labels):
        counts = np.histogram(scores[target == code], bins)[0]
        lines.append(f"{_cut(name, margin):>{margin}} ▏{_bars(counts, 1)[0]}")
    lines.append(" " * (margin + 2) + _axis(bins))
    if len(names) > _CLASSES:
        lines.append(f"and {len(names) - _CLASSES} more classes")
    return lines


def _histogram(values: np.ndarray, width: int) -> list[str]:
    bins = np.histogram_bin_edges(values, width)
    return [*_bars(np.histogram(values, bins)[0], _HEIGHT), _axis(bins)]


def _spectrum(matrix: Any, width: int) -> list[str]:
    S = np.asarray(matrix, dtype=np.float64)
    values = np.linalg.eigvalsh((S + S.T) / 2)[::-1]
    negative = int((values < 0).sum())
    title = f"eigenvalues, {values[0]:.4g} to {values[-1]:.4g}"
    title += f", {negative} of {len(values)} negative"
    # one column per run of eigenvalues: its largest absolute value
    runs = np.array_split(values, min(width, len(values)))
    heights = np.array([run[np.abs(run).argmax()] for run in runs])
    heights = np.sign(heights) * np.sqrt(np.abs(heights) / (np.abs(values).max() or 1.0))
    above = _bars(np.maximum(heights, 0), _HEIGHT, 1.0)
    # there are no blocks that hang from above, so that negative values are drawn in full ones
    below = [re.sub(r"\S", "▀", line) for line in _bars(np.maximum(-heights, 0), _HEIGHT, 1.0)]
    lines = [*above, "─" * len(heights), *below[::-1]]
    return [_cut(title, width), *filter(str.strip, lines), "(heights: square roots)"]


def _axis(bins: np.ndarray) -> str:
    left, right = f"{bins[0]:.4g}", f"{bins[-1]:.4g}"
    return left + right.rjust(max(len(bins) - 1 - len(left), len(right) + 1))


def _bars(counts: np.ndarray, height: int, highest: float | None = None) -> list[str]:
    """Draw columns, the upper line first; values above zero are always visible."""
    highest = float(counts.max()) if highest is None else highest
    steps = np.ceil(counts / (highest or 1.0) * 8 * height).astype(int)
    levels = range(height - 1, -1, -1)
    return ["".join(_BARS[min(8, max(0, s - 8 * level))] for s in steps) for level in levels]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
