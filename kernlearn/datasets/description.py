"""Descriptions of data sets, and their comparison with the cards."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from kernlearn.datasets.card import Card
from kernlearn.datasets.files import locate
from kernlearn.datasets.formats import Expected
from kernlearn.datasets.known_cards import catalogue, find_card
from kernlearn.datasets.loading import load
from kernlearn.datasets.objects import are_objects
from kernlearn.datasets.picturing import picture
from kernlearn.datasets.preparation import nominal_columns
from kernlearn.exceptions import DataError

State = Literal["ok", "differs", "damaged", "missing", "unknown"]

# messages of load about files that read well and have other content than the card says
_OTHER_CONTENT = re.compile(r": found \d+ (rows|features)\b.*, expected -?\d+")


@dataclass(frozen=True)
class FeatureRange:
    """The values of one column.

    Parameters
    ----------
    name : str
        The column.
    min, max, mean : float
        Over the entries that are not missing; NaN if there are none.
    zeros : float
        The share of zeros among all entries.
    missing : int
        The number of missing entries.

    Examples
    --------
    >>> from kernlearn.datasets import describe
    >>> petals = describe("iris").features[2]
    >>> petals.min, petals.max, round(petals.mean, 2), petals.missing
    (1.0, 6.9, 3.76, 0)
    """

    name: str
    min: float
    max: float
    mean: float
    zeros: float
    missing: int


@dataclass(frozen=True)
class Description:
    """The facts about a data set.

    Parameters
    ----------
    facts : dict of str to str
        The facts on the card, as text.
    notes : tuple of str
        Known faults, and remarks on the form that was found.
    paths : tuple of pathlib.Path
        The files, if any.
    found : bool
        Whether the data is available; else the following are empty.
    shape : tuple of int
        The rows and columns loaded.
    prepared : tuple of str
        What loading dropped, coded or filled in, and whether a matrix is not symmetric.
    classes : dict of str to int
        The labels and their numbers of rows; empty if the target is a number.
    target : FeatureRange or None
        The target's values, if it is a number.
    features : tuple of FeatureRange
        One per column; none for a similarity matrix.
    picture : str
        A small picture for a terminal, see :func:`picture`.

    Examples
    --------
    >>> from kernlearn.datasets import describe
    >>> iris = describe("iris")
    >>> iris.found, iris.shape
    (True, (150, 4))
    >>> iris.classes
    {'setosa': 50, 'versicolor': 50, 'virginica': 50}
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
    prepared: tuple[str, ...] = ()


def describe(
    name: str | Card, *, data_dir: str | os.PathLike[str] | None = None, width: int = 72
) -> Description:
    """Describe a data set by its card and, if it is available, its content.

    Parameters
    ----------
    name : str or Card
        A name in the :func:`catalogue`, or a card.
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
        If the name is unknown, or the files are damaged.

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
    bunch = load(found)
    notes = (*card.notes, bunch.note) if bunch.note else card.notes
    classes = target = None
    if len(bunch.target_names):
        counts = np.bincount(bunch.target, minlength=len(bunch.target_names)).tolist()
        classes = dict(zip(bunch.target_names.tolist(), counts, strict=True))
    else:
        (target,) = _ranges(bunch.target.reshape(-1, 1), ["target"])
    X, names = bunch.data, bunch.feature_names
    if bunch.note and found.paths:
        # rows with missing entries may have been left out: count over all rows
        table = found.form.format.read(found.paths, Expected(card.n_features, card.classes))
        X, names = table.X, table.feature_names
    features = () if card.task == "similarity" or are_objects(X) else _ranges(X, names)
    drawn = picture(bunch, width=width)
    # the note has the counts of missing entries; how nominal columns enter, a config says
    done = replace(bunch.preparation, rows_dropped=0, entries_filled=0, coded={})
    nominal = bunch.preparation.coded
    prepared = (*([nominal_columns(nominal)] if nominal else []), *done.sentences)
    return Description(
        facts,
        notes,
        found.paths,
        True,
        bunch.data.shape,
        classes,
        target,
        features,
        drawn,
        prepared,
    )


def _facts(card: Card) -> dict[str, str]:
    rows = "number of rows unknown" if card.rows is None else f"{card.rows} rows"
    size = f"{rows}, {card.n_features} features"
    if card.similarity is not None:
        size = f"{card.similarity} matrix of {card.n_features} points"
    facts = {
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
    return {fact: text for fact, text in facts.items() if text}


def _ranges(X: Any, names: Any) -> tuple[FeatureRange, ...]:
    """Summarise every column of a dense or sparse matrix."""
    X = X.tocsc() if hasattr(X, "tocsc") else X
    result = []
    for i, name in enumerate(names):
        column = X[:, [i]].toarray().ravel() if hasattr(X, "tocsc") else X[:, i]
        values = column[~np.isnan(column)]
        low = high = mean = np.nan
        if len(values):
            low, high, mean = float(values.min()), float(values.max()), float(values.mean())
        zeros = int((values == 0).sum()) / max(1, len(column))
        missing = len(column) - len(values)
        result.append(FeatureRange(str(name), low, high, mean, zeros, missing))
    return tuple(result)


@dataclass(frozen=True)
class Verified:
    """The result of comparing one data set with its card.

    Parameters
    ----------
    name : str
        The data set.
    state : {"ok", "differs", "damaged", "missing", "unknown"}
        The content is that of the card; it reads well but differs; it does not read; there are
        no files; or it reads well and the card has no fingerprint.
    paths : tuple of pathlib.Path
        Its files.
    remark : str
        The difference, or the damage and its place.
    fingerprint : str
        The content's fingerprint; empty if there is none.

    Examples
    --------
    >>> from kernlearn.datasets import verify
    >>> result = verify("iris")[0]
    >>> result.name, result.state, result.remark, len(result.fingerprint)
    ('iris', 'ok', '', 64)
    """

    name: str
    state: State
    paths: tuple[Path, ...] = ()
    remark: str = ""
    fingerprint: str = ""


def verify(
    names: str | Card | Iterable[str | Card] | None = None,
    *,
    data_dir: str | os.PathLike[str] | None = None,
) -> list[Verified]:
    """Read data sets again and compare rows, classes and content with their cards.

    Parameters
    ----------
    names : str, Card or iterable of these, optional
        The data sets; by default all of the :func:`catalogue`.
    data_dir : path-like, optional
        A folder to look for the files in before all others, see :func:`search_path`.

    Returns
    -------
    list of Verified
        One per name.

    Raises
    ------
    DataError
        If a name is unknown.

    Examples
    --------
    >>> from kernlearn.datasets import verify
    >>> [(result.name, result.state) for result in verify(["iris", "diabetes_sklearn"])]
    [('iris', 'ok'), ('diabetes_sklearn', 'unknown')]
    """
    if names is None:
        names = catalogue().values()
    wanted = [names] if isinstance(names, str | Card) else names
    cards = [find_card(name) if isinstance(name, str) else name for name in wanted]
    return [_verify_card(card, data_dir) for card in cards]


def _verify_card(card: Card, data_dir: str | os.PathLike[str] | None) -> Verified:
    found = locate(card, data_dir)
    if found is None:
        return Verified(card.name, "missing", remark=" + ".join(card.forms[0].files))
    expected = found.form.fingerprint
    try:
        # a parsed copy says nothing about the files
        content: str = load(found, cache=False).fingerprint
    except DataError as error:
        state: State = "differs" if _OTHER_CONTENT.search(str(error)) else "damaged"
        return Verified(card.name, state, found.paths, str(error))
    state, remark = "ok", found.form.note
    if expected is None:
        state, remark = "unknown", "the card has no fingerprint"
    elif content != expected:
        state = "differs"
        remark = f"the content's fingerprint is {content[:12]}, the card's {expected[:12]}"
    return Verified(card.name, state, found.paths, remark, content)
