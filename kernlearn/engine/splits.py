"""Splits of rows into training, held-out and test parts, and the random streams they draw from."""

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlearn import choice
from kernlearn.config.model import Protocol
from kernlearn.validation import warn

#: Row numbers of the training, the held-out and the test part.
Indices = tuple[np.ndarray, np.ndarray, np.ndarray]


def seed_sequence(seed: int, purpose: str, *indices: int) -> np.random.SeedSequence:
    """Return the random stream of a purpose, such as ``"split"``, whatever the order of work."""
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *indices))


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return a generator on the stream of a purpose."""
    return np.random.default_rng(seed_sequence(seed, purpose, *indices))


def random_state(seed: int, purpose: str, *indices: int) -> int:
    """Return an integer for scikit-learn's ``random_state`` from the stream of a purpose."""
    return int(seed_sequence(seed, purpose, *indices).generate_state(1, np.uint32)[0])


@dataclass(frozen=True)
class Units:
    """What a split divides: rows, or groups and queries as wholes.

    Attributes
    ----------
    codes : ndarray of shape (n_samples,), optional
        The group or query of each row.
    classes : ndarray of shape (n_samples,), optional
        The class of each row, if parts are stratified.
    time : ndarray of shape (n_samples,), optional
        The time of each row, if the test part comes after the others.
    folds : ndarray of shape (n_samples,), optional
        The published fold of each row.
    are_queries : bool
        Whether they are queries, whose folds are drawn as those of rows are.
    gap : int
        The number of times before the rows held out that are not trained on.
    """

    codes: np.ndarray | None = None
    classes: np.ndarray | None = None
    time: np.ndarray | None = None
    folds: np.ndarray | None = None
    are_queries: bool = False
    gap: int = 0

    def are_divided(self) -> bool:
        """Tell whether rows stay in groups, or in their order in time."""
        return self.codes is not None or self.time is not None

    def of(self, rows: np.ndarray) -> "Units":
        """Return those of some rows."""
        known = {"codes": self.codes, "classes": self.classes, "time": self.time}
        parts = {name: of[rows] for name, of in known.items() if of is not None}
        return Units(gap=self.gap, **parts)


#: Rows that are divided one by one.
NO_UNITS = Units()


def held_out(
    n_samples: int, fraction: float, units: Units, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Divide row numbers in two, the second part with about a fraction of the rows or groups."""
    from sklearn import model_selection

    if units.time is not None and (len(units.time) == 1 or np.ptp(units.time)):
        return _latest(units.time, fraction, units.gap)
    if units.time is not None:
        warn("time: rows are held out at random where all to train on have one time")
        units = NO_UNITS
    if units.codes is None and units.classes is None:
        return choice.hold_out_at_random(n_samples, fraction, rng)
    rows, classes, seed = np.zeros(n_samples), units.classes, int(rng.integers(2**32))
    if units.codes is not None and classes is not None:
        rarest = np.unique(classes, return_counts=True)[1].min()
        n_folds = max(min(round(1 / fraction), rarest), 2)
        folds = model_selection.StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        return next(folds.split(rows, classes, units.codes))
    n_units = n_samples if units.codes is None else len(np.unique(units.codes))
    n_second = max(round(fraction * n_units), 1)
    if units.codes is None:
        classes = _strata(classes, min(n_second, n_samples - n_second))
    kind = f"{'Stratified' if units.codes is None else 'Group'}ShuffleSplit"
    splitter = getattr(model_selection, kind)(1, test_size=n_second, random_state=seed)
    return next(splitter.split(rows, classes, units.codes))


def _latest(time: np.ndarray, fraction: float, gap: int) -> tuple[np.ndarray, np.ndarray]:
    """Divide rows in two by their times, the second part with about a fraction of them.

    The rows of the `gap` times before are in neither.
    """
    order = np.argsort(time, kind="stable")
    sorted_ = time[order]
    last = sorted_[len(order) - min(max(round(fraction * len(order)), 1), len(order) - 1)]
    # rows of one time stay together
    first = np.searchsorted(sorted_, last) or np.searchsorted(sorted_, last, side="right")
    before = np.unique(sorted_[:first])
    if gap >= len(before):
        raise ValueError(f"time: a gap of {gap} leaves nothing of {len(before)} times to train on")
    end = np.searchsorted(sorted_, before[-gap]) if gap else first
    return order[:end], order[first:]


def _strata(classes: Any, most: int) -> np.ndarray:
    """Return at most so many strata of two rows or more: the smallest classes share one."""
    _, codes, counts = np.unique(classes, return_inverse=True, return_counts=True)
    n_alone = int((counts >= 2).sum())
    if n_alone == len(counts) <= most:
        return np.asarray(classes)
    n_alone = min(n_alone, most - 1)
    shared = np.sort(counts)[: len(counts) - n_alone]
    n_alone -= int(n_alone > 0 and shared.sum() < 2)
    places = np.empty(len(counts), dtype=int)
    places[np.argsort(-counts, kind="stable")] = np.arange(len(counts))
    return np.minimum(places, n_alone)[codes]


def split_indices(
    n_samples: int, protocol: Protocol, split: int, units: Units = NO_UNITS
) -> Indices:
    """Split row numbers into a training, a held-out and a test part, by folds or at random.

    At random, the training part has ``min(round(train * n_samples), max_train)`` rows, the
    held-out part ``round(holdout * n_samples)``, by default none; the others form the test part,
    of which at most ``max_test`` are kept. Groups are divided instead of rows, and the two limits
    are those of queries if these are the groups.
    """
    if units.time is not None:
        return _in_time(units.time, protocol, split)
    is_random = protocol.folds is None or (units.are_queries and protocol.folds != "published")
    if units.codes is not None and units.classes is None and is_random:
        # groups and queries are divided as rows are
        distinct, codes = np.unique(units.codes, return_inverse=True)
        most = {} if units.are_queries else {"max_train": None, "max_test": None}
        parts = split_indices(len(distinct), protocol.model_copy(update=most), split)
        train, kept, test = (np.flatnonzero(np.isin(codes, part)) for part in parts)
        if units.are_queries:
            return train, kept, test
        return _limited(
            (train, kept, test), protocol, units, generator(protocol.seed, "most", split)
        )
    if protocol.folds is not None:
        return fold_indices(n_samples, protocol, split, units)
    rng = generator(protocol.seed, "split", split)
    if units.classes is not None:
        tested = 1 - protocol.train - (protocol.holdout or 0)
        rest, test = held_out(n_samples, tested, units, rng)
        train, kept = rest, rest[:0]
        if protocol.holdout is not None:
            share = protocol.holdout / (protocol.train + protocol.holdout)
            own, others = held_out(len(rest), share, units.of(rest), rng)
            train, kept = rest[own], rest[others]
        return _limited((train, kept, test), protocol, units, rng)
    order = rng.permutation(n_samples)
    n_train = min(max(1, round(protocol.train * n_samples)), protocol.max_train or n_samples)
    n_held_out = 0 if protocol.holdout is None else max(1, round(protocol.holdout * n_samples))
    if n_train + n_held_out >= n_samples:
        text = f"{n_train} training and {n_held_out} held-out rows of {n_samples}"
        raise ValueError(f"{text} leave no test part")
    kept, test = np.split(order[n_train:], [n_held_out])
    return order[:n_train], kept, test[: protocol.max_test]


def _in_time(time: np.ndarray, protocol: Protocol, split: int) -> Indices:
    """Split rows so that the test part comes after the others."""
    from sklearn.model_selection import TimeSeriesSplit

    values, order = np.unique(time), np.argsort(time, kind="stable")
    n, n_parts, gap = len(values), protocol.splits + 1, protocol.gap
    if n < n_parts or n - gap <= n // n_parts * protocol.splits:
        after = f" with a gap of {gap}" if gap else ""
        raise ValueError(f"time: {n} different times are too few for {n_parts - 1} splits{after}")
    parts = [*TimeSeriesSplit(protocol.splits, gap=gap).split(values)][split]
    train, test = (order[np.isin(time[order], values[part])] for part in parts)
    train, kept = train[-(protocol.max_train or len(train)) :], train[:0]
    if protocol.holdout is not None:
        train, kept = (
            train[part] for part in _latest(time[train], protocol.holdout, protocol.gap)
        )
    return train, kept, test[: protocol.max_test]


def fold_indices(
    n_samples: int, protocol: Protocol, split: int, units: Units = NO_UNITS
) -> Indices:
    """Split row numbers by folds: one is the test part, the one before it is held out.

    With ``refit`` none is held out. The first split tests on the last fold, as in LETOR. Random
    folds are drawn anew after as many splits as there are folds. Of more rows than ``max_train``
    or ``max_test`` as many are drawn.
    """
    if protocol.folds == "published":
        if units.folds is None:
            raise ValueError("folds: the data set has no published folds; give a number")
        fold, n_folds = units.folds, int(units.folds.max()) + 1
    else:
        n_folds = int(protocol.folds or 0)
        if n_folds > n_samples:
            raise ValueError(f"folds: {n_folds} folds of {n_samples} rows")
        again = [split // n_folds] if split >= n_folds else []
        fold = _random_folds(n_samples, n_folds, units, generator(protocol.seed, "folds", *again))
    test, kept = (split - 1) % n_folds, (split - 2) % n_folds
    held = np.flatnonzero(fold == kept)[: 0 if protocol.refit else None]
    train = np.flatnonzero(fold != test if protocol.refit else ~np.isin(fold, [test, kept]))
    parts = train, held, np.flatnonzero(fold == test)
    return _limited(parts, protocol, units, generator(protocol.seed, "most", split))


def _random_folds(
    n_samples: int, n_folds: int, units: Units, rng: np.random.Generator
) -> np.ndarray:
    """Return the fold of each row; of groups and strata by scikit-learn's splitters."""
    from sklearn import model_selection

    if units.codes is None and units.classes is None:
        return rng.permutation(n_samples) * n_folds // n_samples
    kind = "" if units.classes is None else "Stratified"
    kind += "" if units.codes is None else "Group"
    splitter = getattr(model_selection, f"{kind}KFold")
    folds = splitter(n_folds, shuffle=True, random_state=int(rng.integers(2**32)))
    fold = np.empty(n_samples, dtype=int)
    for i, (_, rows) in enumerate(folds.split(np.zeros(n_samples), units.classes, units.codes)):
        fold[rows] = i
    return fold


def _limited(
    parts: Indices, protocol: Protocol, units: Units, rng: np.random.Generator
) -> Indices:
    """Return a split with at most as many training and test rows as the protocol allows."""
    train, kept, test = parts
    train = _at_most(protocol.max_train, train, units, rng)
    return train, kept, _at_most(protocol.max_test, test, units, rng)


def _at_most(
    most: int | None, rows: np.ndarray, units: Units, rng: np.random.Generator
) -> np.ndarray:
    """Return rows, or as many of them as are allowed, with the same shares of classes if given."""
    if most is None or len(rows) <= most:
        return rows
    if units.classes is None:
        return np.sort(rng.permutation(rows)[:most])
    strata = Units(classes=units.classes[rows])
    kept, _ = held_out(len(rows), 1 - most / len(rows), strata, rng)
    return np.sort(rows[kept])
