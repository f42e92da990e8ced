"""What a trial works on, from its specification: data, splits, kernel and estimator."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.utils.extmath import row_norms

from kernlearn import choice
from kernlearn.config.data import make_data, read_data
from kernlearn.config.model import Protocol
from kernlearn.config.names import Scope
from kernlearn.config.spec import canonical
from kernlearn.config.trial import MethodSpec, Trial, TrialSpec
from kernlearn.datasets.data import Data
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.exceptions import DataError
from kernlearn.kernels import Kernel, as_kernel
from kernlearn.kernels.functions import OnKernel
from kernlearn.memory import require_memory
from kernlearn.plugins import Registered
from kernlearn.validation import pair_means, warn, with_pair_means

#: The values to be predicted of data, by a specification; a dict takes further information.
Target = Callable[[Data, TrialSpec, dict[str, Any]], np.ndarray]
#: Row numbers of the training, the held-out and the test part.
Indices = tuple[np.ndarray, np.ndarray, np.ndarray]

# Kernels whose parameters are kept for the next trials, and these parameters.
_KEPT_KERNELS = 16
_learnt: dict[str, dict[str, Any]] = {}


@dataclass
class Outcome:
    """Metrics of a trial, and further information: chosen parameters, sizes, binarised classes."""

    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)


def seed_sequence(seed: int, purpose: str, *indices: int) -> np.random.SeedSequence:
    """Return the random stream of a purpose, such as ``"split"``, whatever the order of work."""
    return np.random.SeedSequence(seed, spawn_key=(zlib.crc32(purpose.encode()), *indices))


def generator(seed: int, purpose: str, *indices: int) -> np.random.Generator:
    """Return a generator on the stream of a purpose."""
    return np.random.default_rng(seed_sequence(seed, purpose, *indices))


def random_state(seed: int, purpose: str, *indices: int) -> int:
    """Return an integer for scikit-learn's ``random_state`` from the stream of a purpose."""
    return int(seed_sequence(seed, purpose, *indices).generate_state(1, np.uint32)[0])


def load_data(trial: Trial, scope: Scope) -> Data:
    """Load a trial's data, or draw it, and check that it is what the trial was planned for."""
    what, source, seed = trial.spec.dataset, trial.source, trial.spec.protocol.seed
    entry, parameters = what.entry, what.parameters or {}
    if entry.generator is not None:
        make = scope.generators[entry.generator]
        drawn = {**parameters, "random_state": random_state(seed, "data", trial.split)}
        data = make_data(make, source.numbers, drawn) if make.plugin else make.load()(**drawn)
    elif what.plugin is not None:
        data = make_data(scope.datasets[str(entry.name)], source.numbers, parameters)
    else:
        data = read_data(source.read)
    if entry.generator is None and what.fingerprint != data.identity:
        raise DataError(
            f"{trial.labels['dataset']}: not the data that the trial was planned for (fingerprint "
            f"{data.identity}, planned {what.fingerprint}): it was changed since, a worker "
            "reads another copy, or a plug-in draws it at random without `random_state`"
        )
    if entry.classes is not None:
        data = data.of_classes(entry.classes)
    if entry.sample is not None and entry.sample < (n_rows := data.data.shape[0]):
        rows = generator(seed, "sample").permutation(n_rows)[: entry.sample]
        data = data.rows(np.sort(rows))
    return data


class MaxNormScaler:
    """Divide every vector by the largest Euclidean norm of the training vectors.

    "The lengths of all vectors were normalized using normalization constants learnt on
    the training sets" (Kar 2013, section 3.6.3). Test vectors may be longer than 1.
    """

    def fit(self, X: Any) -> Self:
        """Learn the largest norm; 1 if all vectors are zero."""
        self.scale_ = float(row_norms(X).max()) or 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Divide by the learnt norm."""
        return X / self.scale_


class NumberScaler(StandardScaler):
    """Standardise columns of numbers; columns of 0 and 1 alone stay as they are.

    A rare category would weigh more than all numbers.
    """

    def fit(self, X: Any) -> Self:
        """Learn means and standard deviations."""
        super().fit(X)
        is_flag = ((X == 0) | (X == 1)).all(axis=0)
        self.mean_[is_flag], self.scale_[is_flag] = 0, 1
        return self


#: What learns how to scale, by name.
SCALERS = {
    "zscore": StandardScaler,
    "zscore_numbers": NumberScaler,
    "minmax": MinMaxScaler,
    "max_norm": MaxNormScaler,
    "unit_norm": Normalizer,
}


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


@dataclass(frozen=True)
class Part:
    """Rows of a split: points, targets, the queries of ranking, and what they are divided by."""

    X: Any
    y: np.ndarray
    query: np.ndarray | None = None
    units: Units = Units()


@dataclass(frozen=True)
class Parts:
    """The training, test and held-out (if any) part of a split, scaled.

    If X contains similarities or distances to the training points, ``pairwise`` says which.
    ``coded`` are the nominal columns that are codes.
    """

    train: Part
    test: Part
    val: Part | None = None
    pairwise: str | None = None
    coded: Sequence[int] = ()

    def training(self, rows: np.ndarray, fitted: np.ndarray) -> Part:
        """Return some training rows, as the input of a model that is fitted on ``fitted``."""
        X, y, query, units = self.train.X, self.train.y, self.train.query, self.train.units
        X = X[np.ix_(rows, fitted)] if self.pairwise else getattr(X, "iloc", X)[rows]
        return Part(X, y[rows], None if query is None else query[rows], units.of(rows))

    def only(self, rows: np.ndarray) -> "Parts":
        """Return the same with some of the training rows."""
        val = self.val
        if self.pairwise and val is not None:
            val = replace(val, X=val.X[:, rows])
        return replace(self, train=self.training(rows, rows), val=val)

    def dense(self) -> "Parts":
        """Return the same with dense matrices."""
        made = {}
        for name in ("train", "test", "val"):
            part = getattr(self, name)
            if part is not None and sp.issparse(part.X):
                needed = 8 * part.X.shape[0] * part.X.shape[1]
                require_memory(needed, "`dense: true`", "give the method fewer rows")
                made[name] = replace(part, X=part.X.toarray())
        return replace(self, **made)


def positive_classes(
    names: list[str], how: str | list[str] | None, seed: int, dataset: str
) -> list[str] | None:
    """Choose the classes that form the positive class.

    ``how`` is "random" for a random half (rounded down), which seed and data set determine, a
    list of classes, or None. Return None if the classes stay as they are.
    """
    if how is None or (how == "random" and len(names) <= 2):
        return None
    if how == "random":
        rng = generator(seed, f"binarize {dataset}")
        chosen = rng.choice(len(names), size=len(names) // 2, replace=False)
        return [names[i] for i in sorted(chosen)]
    if not {*how} <= {*names} or len(how) >= len(names):
        raise ValueError(f"binarize: {how} must be some, not all, of {', '.join(names)}")
    return list(how)


def held_out(
    n_samples: int, fraction: float, units: Units, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Divide row numbers in two, the second part with about a fraction of the rows or groups."""
    from sklearn import model_selection

    if units.time is not None:
        return _latest(units.time, fraction, units.gap)
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
    if sorted_[0] == sorted_[-1]:
        raise ValueError("time: all rows to train on have one time, so that none is held out")
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
    n_samples: int, protocol: Protocol, split: int, units: Units = Units()
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
    if len(values) <= protocol.splits:
        raise ValueError(f"time: {protocol.splits} splits need more than {len(values)} times")
    parts = [*TimeSeriesSplit(protocol.splits, gap=protocol.gap).split(values)][split]
    train, test = (order[np.isin(time[order], values[part])] for part in parts)
    train, kept = train[-(protocol.max_train or len(train)) :], train[:0]
    if protocol.holdout is not None:
        train, kept = (
            train[part] for part in _latest(time[train], protocol.holdout, protocol.gap)
        )
    return train, kept, test[: protocol.max_test]


def fold_indices(
    n_samples: int, protocol: Protocol, split: int, units: Units = Units()
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


def prepare(
    data: Data, y: np.ndarray, protocol: Protocol, split: int, *, raw: bool = False
) -> Parts:
    """Split data with the targets `y`, fill gaps and scale by what the training part says.

    If ``raw`` the parts are those of the table as it is.

    Raises
    ------
    ValueError
        If no test part is left, or the data cannot be scaled in this way.
    """
    X, query = data.data, data.query
    codes, classes = data.groups if query is None else query, y if protocol.stratify else None
    units = Units(codes, classes, data.time, data.fold, query is not None, protocol.gap)
    train, kept, test = split_indices(X.shape[0], protocol, split, units)
    kind = "a similarity matrix has" if data.similarity else f"{kind_of(X)} have"
    if protocol.scale and (data.similarity or are_objects(X)):
        raise ValueError(f"scale: {kind} no features to scale; give []")
    indices = train, kept, test
    if raw and data.frame is None:
        raise ValueError("columns: raw is for tables of a file or of the catalogue")
    if raw:
        X_train, *others = (data.frame.iloc[rows] for rows in indices)
    elif data.similarity:
        X_train, *others = _with_pairs(*(X[np.ix_(rows, train)] for rows in indices))
    else:
        X_train, *others = _filled(data, *(X[rows] for rows in indices))
    for name in () if raw else protocol.scale:
        if name.startswith("zscore") and sp.issparse(X_train):
            raise ValueError(f"scale: {name} would fill a sparse matrix: use max_norm")
        scaler = SCALERS[name]().fit(X_train)
        X_train = scaler.transform(X_train)
        others = [scaler.transform(part) if part.shape[0] else part for part in others]
    learnt_on = y[train]
    if protocol.scale_target == "max_abs":
        y = y / (np.abs(learnt_on).max() or 1.0)
    elif protocol.scale_target == "zscore":
        y = (y - learnt_on.mean()) / (learnt_on.std() or 1.0)
    of_train, of_val, of_test = (
        Part(points, y[rows], None if query is None else query[rows], units.of(rows))
        for points, rows in zip([X_train, *others], indices, strict=True)
    )
    val = of_val if len(kept) else None
    return Parts(of_train, of_test, val, data.similarity, () if raw else data.coded)


def _filled(data: Data, X_train: Any, *others: Any) -> list[Any]:
    """Fill gaps by what training rows have in the column: the mean, or the most frequent value.

    The latter is for codes of nominal columns, and for columns of 0 and 1. A column that training
    rows lack is 0 in all parts.
    """
    parts = [X_train, *others]
    dense = isinstance(X_train, np.ndarray) and X_train.ndim == 2 and X_train.dtype.kind == "f"
    if not dense or not any(np.isnan(part).any() for part in parts):
        return parts
    gaps = np.isnan(X_train)
    fills = np.ma.masked_invalid(X_train).mean(axis=0).filled(0)
    flags = ((X_train == 0) | (X_train == 1) | gaps).all(axis=0)
    for i in {*np.flatnonzero(flags), *data.coded}:
        values, counts = np.unique(X_train[~gaps[:, i], i], return_counts=True)
        fills[i] = values[counts.argmax()] if len(values) else 0
    parts = [np.where(np.isnan(part), fills, part) for part in parts]
    if (empty := gaps.all(axis=0)).any():
        warn(f"{empty.sum()} of {len(empty)} columns have no entries in a training part: left out")
        parts = [np.where(empty, 0.0, part) for part in parts]
    return parts


def _with_pairs(X_train: Any, *others: Any) -> list[Any]:
    """Fill pairs that a matrix lacks by the means of training points."""
    if sp.issparse(X_train):
        return [X_train, *others]
    means = pair_means(X_train)
    filled = with_pair_means(X_train, means, of_training=True)
    return [filled, *(with_pair_means(part, means) for part in others)]


def load_parts(
    trial: Trial, scope: Scope, target: Target, info: dict[str, Any]
) -> tuple[Data, Parts]:
    """Return a trial's data and its parts; `target` gives the values to predict."""
    data = load_data(trial, scope)
    y = target(data, trial.spec, info)
    raw = trial.spec.method.columns == "raw"
    return data, prepare(data, y, trial.spec.protocol, trial.split, raw=raw)


def _naming_nominal(kernel: Any, coded: Sequence[int]) -> Any:
    """Tell a similarity of mixed types which columns are codes, unless the config does."""
    if not coded or not (isinstance(kernel, Kernel) or kernel == "gower"):
        return kernel
    kernel = as_kernel(kernel)
    automatic = isinstance(getattr(kernel, "nominal", None), str)
    return clone(kernel).set_params(nominal=list(coded)) if automatic else kernel


def build_kernel(trial: Trial, scope: Scope, parts: Parts) -> Any:
    """Build the trial's kernel, with the bandwidth learnt before anything is timed.

    What is learnt serves all trials of a process on the same data, kernel and split.
    """
    spec, own = trial.spec, trial.spec.kernel
    if own is None:
        return None
    kernel = scope.make(scope.kernel(own.name), own.parameters)
    kernel = _naming_nominal(kernel, parts.coded)
    form = spec.method.columns, spec.method.dense, parts.coded
    place = spec.dataset, own, spec.protocol, trial.split, spec.task, form
    points = canonical(place)
    learnt = None if spec.plugins else _learnt.get(points)
    if learnt is None:
        fitted = clone(kernel).fit(parts.train.X, parts.train.y)
        # a function may be slow: its width is learnt once, whether it is named or not
        given = vars(kernel) if getattr(kernel, "compares", "") == "any" else own.parameters
        learnt = {name: getattr(fitted, f"{name}_", value) for name, value in given.items()}
        learnt["n_fit_comparisons"] = getattr(fitted, "n_fit_comparisons_", 0)
        _learnt[points] = learnt
        if len(_learnt) > _KEPT_KERNELS:
            del _learnt[next(iter(_learnt))]
    kernel.n_fit_comparisons_ = learnt["n_fit_comparisons"]
    # one that looks its values up has no others
    known = kernel.get_params(deep=False)
    return kernel.set_params(**{name: value for name, value in learnt.items() if name in known})


def build_estimator(trial: Trial, scope: Scope, kernel: Any, parts: Parts | None = None) -> Any:
    """Build the estimator, seeded by split, for the parts of the data, if it depends on these."""
    spec, steps = trial.spec.method, method_parts(scope, trial.spec.method)
    kind, coded = (None, ()) if parts is None else (parts.pairwise, parts.coded)
    estimator = scope.make_method(steps, spec.parameters, spec.select)
    parameters = estimator.get_params()
    state = random_state(trial.spec.protocol.seed, "estimator", trial.split)
    seeded = [name for name in parameters if name.rpartition("__")[2] == "random_state"]
    extra: dict[str, Any] = dict.fromkeys(seeded, state)
    metric = scope.metrics.get(trial.spec.protocol.select_by or "")
    if metric and metric.scorer and (trial.spec.task == "regression" or is_classifier(estimator)):
        # what an estimator chooses by itself goes by the same score
        own = [name for name in parameters if name.rpartition("__")[2] == "scoring"]
        extra |= {name: metric.scorer for name in own if parameters[name] is None}
    # the first step of a pipeline sees the data as it is; no step takes a kernel of the config
    label, component = steps[0]
    prefix = f"{label}__" if label else ""
    taken = f"{prefix}{component.takes}"
    if component.takes and taken not in {**spec.parameters, **spec.select}:
        value = "precomputed" if kind is not None else None if label else kernel
        if isinstance(value, Kernel) and component.foreign:
            estimator = OnKernel(estimator, value)
        elif value is not None:
            extra[taken] = value
    if taken in spec.parameters:
        extra[taken] = _naming_nominal(parameters[taken], coded)
    other = "kernel" if kind == "distance" else "metric"
    if kind is not None and f"{prefix}kind" in parameters:
        extra[f"{prefix}kind"] = kind
    elif kind is not None and {**parameters, **extra}.get(prefix + other) == "precomputed":
        raise ValueError(
            f"{component.name} needs a {other}, the matrix is a {kind}; SpectrumSVM, "
            "SimilarityKNNClassifier and RegLand take both"
        )
    return estimator.set_params(**extra)


def method_parts(scope: Scope, spec: MethodSpec) -> list[tuple[str, Registered]]:
    """Return the estimator of each step with the step's label, "" for a single estimator."""
    steps = spec.steps or [{"step": "", "name": spec.name}]
    return [(step["step"], scope.estimator(step["name"])) for step in steps]
