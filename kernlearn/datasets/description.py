"""Data sets as small pictures of characters."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.card import Card
from kernlearn.datasets.loading import load
from kernlearn.datasets.lookup import Found, find_card, locate
from kernlearn.datasets.readers import Expected, reader

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


@dataclass(frozen=True)
class FeatureRange:
    """The values of one column.

    Parameters
    ----------
    name : str
        The column.
    min, max, mean : float
        Over the entries that are there; NaN if there is none.
    zeros : float
        The share of zeros among all entries.
    missing : int
        The number of missing entries.
    """

    name: str
    min: float
    max: float
    mean: float
    zeros: float
    missing: int


@dataclass(frozen=True)
class Description:
    """What there is to know of a data set.

    Parameters
    ----------
    facts : dict of str to str
        What the card says, ready to be shown.
    notes : tuple of str
        Known faults, and what applies to the form that was found.
    paths : tuple of pathlib.Path
        The files; empty if there are none.
    found : bool
        Whether the data is here; what follows is empty without.
    shape : tuple of int
        The rows and columns loaded.
    classes : dict of str to int
        The labels and how many rows each has; empty where the target is a number.
    target : FeatureRange or None
        The target's values, where it is a number.
    features : tuple of FeatureRange
        One a column; none for a similarity matrix.
    picture : str
        A small picture for a terminal, see :func:`picture`.
    """

    facts: dict[str, str]
    notes: tuple[str, ...]
    paths: tuple[Path, ...]
    found: bool
    shape: tuple[int, ...] = ()
    classes: dict[str, int] | None = None
    target: FeatureRange | None = None
    features: tuple[FeatureRange, ...] = ()
    picture: str = ""


def describe(
    name: str | Card, *, data_dir: str | os.PathLike[str] | None = None, width: int = 72
) -> Description:
    """Gather what the card says of a data set and, if it is here, what it holds.

    Parameters
    ----------
    name : str or Card
        A name in the :func:`catalogue`, or a card of one's own.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.
    width : int, default=72
        The width of the picture, in characters.

    Returns
    -------
    Description

    Raises
    ------
    DataError
        If the name is not known, or the files are damaged.

    Examples
    --------
    >>> from kernlearn.datasets import describe
    >>> wine = describe("wine")
    >>> wine.shape, wine.classes
    ((178, 13), {'class_0': 59, 'class_1': 71, 'class_2': 48})
    >>> wine.features[0].min, wine.features[0].max
    (11.03, 14.83)
    """
    card = find_card(name) if isinstance(name, str) else name
    found = locate(card, data_dir)
    facts = _facts(card)
    if found is None:
        return Description(facts, card.notes, (), False)
    bunch = load(card, data_dir=data_dir)
    notes = (*card.notes, bunch.note) if bunch.note else card.notes
    classes = None
    target = None
    if len(bunch.target_names):
        counts = np.bincount(bunch.target, minlength=len(bunch.target_names))
        classes = dict(zip(bunch.target_names.tolist(), counts.tolist(), strict=True))
    else:
        target = _ranges(bunch.target.reshape(-1, 1), ["target"])[0]
    # a matrix of similarities has no features
    features = () if card.task == "similarity" else _features(card, found, bunch)
    return Description(
        facts,
        notes,
        found.paths,
        True,
        bunch.data.shape,
        classes,
        target,
        features,
        picture(bunch, width=width),
    )


def _features(card: Card, found: Found, bunch: Any) -> tuple[FeatureRange, ...]:
    if not (bunch.note and found.paths):
        return _ranges(bunch.data, bunch.feature_names)
    # rows with missing entries may have been left out: count over all rows
    expected = Expected(card.n_features, card.classes)
    table = reader(found.form.format.kind)(found.paths, found.form.format, expected)
    return _ranges(table.X, table.feature_names)


def _facts(card: Card) -> dict[str, str]:
    rows = "rows not known" if card.rows is None else f"{card.rows} rows"
    if card.task == "similarity":
        size = f"{card.similarity} matrix of {card.n_features} points"
    else:
        size = f"{rows}, {card.n_features} features"
    known = {
        "name": card.name,
        "title": card.title,
        "task": card.task,
        "size": size,
        "classes": ", ".join(card.classes or ()),
        "files": " or ".join(" + ".join(form.files) for form in card.forms if form.files),
        "publisher": card.source.publisher,
        "page": card.source.page,
        "licence": card.licence,
        "citation": " ".join(card.citation.split()),
    }
    return {fact: text for fact, text in known.items() if text}


def _ranges(X: Any, names: Any) -> tuple[FeatureRange, ...]:
    """Summarise every column of a dense or sparse matrix."""
    n_samples = X.shape[0]
    X = X.tocsc() if hasattr(X, "tocsc") else X
    result = []
    for i, name in enumerate(names):
        values, implicit = _column(X, i)
        there = values[~np.isnan(values)]
        n_there = len(there) + implicit
        zeros = (implicit + int((there == 0).sum())) / max(1, n_samples)
        low, high, total = (np.nan,) * 3
        if n_there:
            lowest = [0.0] if implicit else []
            low = min([*lowest, *([float(there.min())] if len(there) else [])])
            high = max([*lowest, *([float(there.max())] if len(there) else [])])
            total = float(there.sum())
        mean = total / n_there if n_there else np.nan
        result.append(FeatureRange(str(name), low, high, mean, zeros, len(values) - len(there)))
    return tuple(result)


def _column(X: Any, i: int) -> tuple[NDArray[np.float64], int]:
    """Return the stored entries of a column and the number of zeros that are not stored."""
    if isinstance(X, np.ndarray):
        return X[:, i], 0
    values = X.data[X.indptr[i] : X.indptr[i + 1]]
    return values, X.shape[0] - len(values)
