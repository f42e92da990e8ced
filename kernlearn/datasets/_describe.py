"""What there is to know of a data set, as plain values."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets._card import Card
from kernlearn.datasets._catalogue import find_card
from kernlearn.datasets._load import load
from kernlearn.datasets._locate import Found, locate
from kernlearn.datasets._readers import Expected, reader


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
    from kernlearn.datasets._picture import picture

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
