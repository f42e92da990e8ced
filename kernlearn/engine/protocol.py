"""The protocol of a trial: named random streams, splits, folds and scaling."""

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.config.spec import ProtocolSpec
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.memory import require_memory

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


class MaxNormScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide every vector by the largest Euclidean norm of the training vectors.

    "The lengths of all vectors were normalized using normalization constants learnt on
    the training sets" (Kar 2013, section 3.6.3). Test vectors may be longer than 1.
    """

    def fit(self, X: Any, y: Any = None) -> "MaxNormScaler":
        """Learn the largest norm; 1 if all vectors are zero."""
        return self._learn(X, 0.0, reset=True)

    def partial_fit(self, X: Any, y: Any = None) -> "MaxNormScaler":
        """Learn the largest norm from further vectors too."""
        begun = hasattr(self, "scale_")
        return self._learn(X, self._largest if begun else 0.0, reset=not begun)

    def _learn(self, X: Any, largest: float, *, reset: bool) -> "MaxNormScaler":
        dtype = [np.float64, np.float32]
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=reset)
        self._largest = max(largest, float(row_norms(X).max()))
        self.scale_ = self._largest or 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Divide by the learnt norm."""
        check_is_fitted(self)
        dtype = [np.float64, np.float32]
        X = validate_data(self, X, accept_sparse="csr", dtype=dtype, reset=False)
        return X / X.dtype.type(self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


#: What learns how to scale, by name.
SCALERS = {
    "zscore": StandardScaler,
    "minmax": MinMaxScaler,
    "max_norm": MaxNormScaler,
    "unit_norm": Normalizer,
}


@dataclass(frozen=True)
class Parts:
    """The training, held-out (if any) and test parts of a split, scaled.

    If ``pairwise``, X contains similarities to the training points. ``queries`` are those of the
    training, held-out and test rows, for ranking.
    """

    X_train: Any
    y_train: np.ndarray
    X_test: Any
    y_test: np.ndarray
    X_val: Any = None
    y_val: Any = None
    pairwise: bool = False
    queries: tuple[Any, ...] = (None, None, None)

    def training(self, rows: np.ndarray, fitted: np.ndarray) -> Any:
        """Return some training points, as the input of a model that is fitted on ``fitted``."""
        return self.X_train[np.ix_(rows, fitted)] if self.pairwise else self.X_train[rows]

    def dense(self) -> "Parts":
        """Return the same with dense matrices."""
        made = {}
        for name in ("X_train", "X_test", "X_val"):
            X = getattr(self, name)
            if sp.issparse(X):
                needed = 8 * X.shape[0] * X.shape[1]
                require_memory(needed, "`dense: true`", "give the method fewer rows")
                made[name] = X.toarray()
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
    unknown = [n for n in how if n not in names]
    if unknown or len(how) >= len(names):
        raise ValueError(
            f"binarize: {how} must be some, not all, of the classes {', '.join(names)}"
        )
    return list(how)


def binarized(data: Bunch, positive: list[str] | None) -> np.ndarray:
    """Return the labels, as 0 and 1 if positive classes are given."""
    y = np.asarray(data.target)
    if positive is None:
        return y
    codes = [i for i, name in enumerate(data.target_names) if str(name) in positive]
    return np.isin(y, codes).astype(np.int64)


def split_indices(n_samples: int, protocol: ProtocolSpec, split: int) -> Indices:
    """Split row numbers at random into a training, a held-out and a test part.

    The training part has ``min(round(train * n_samples), max_train)`` rows, the held-out part
    ``round(holdout * n_samples)``, by default none; the others form the test part, of which at
    most ``max_test`` are kept.
    """
    order = generator(protocol.seed, "split", split).permutation(n_samples)
    n_train = max(1, round(protocol.train * n_samples))
    if protocol.max_train is not None:
        n_train = min(n_train, protocol.max_train)
    n_held_out = 0 if protocol.holdout is None else max(1, round(protocol.holdout * n_samples))
    if n_train + n_held_out >= n_samples:
        raise ValueError(
            f"{n_train} training and {n_held_out} held-out rows of {n_samples} leave no test part"
        )
    held_out, test = np.split(order[n_train:], [n_held_out])
    return order[:n_train], held_out, test[: protocol.max_test]


def fold_indices(
    n_samples: int, protocol: ProtocolSpec, split: int, published: np.ndarray | None = None
) -> Indices:
    """Split row numbers by folds: one is the test part, the one before it is held out.

    The first split tests on the last fold, as in LETOR. ``published`` gives the data set's own
    fold of each row. Random folds are drawn anew after as many splits as there are folds. Of more
    rows than ``max_train`` or ``max_test`` as many are drawn.
    """
    if protocol.folds == "published":
        if published is None:
            raise ValueError("folds: the data set has no published folds; give a number")
        fold, n_folds = published, int(published.max()) + 1
    else:
        n_folds = int(protocol.folds or 0)
        if n_folds > n_samples:
            raise ValueError(f"folds: {n_folds} folds of {n_samples} rows")
        again = [split // n_folds] if split >= n_folds else []
        rng = generator(protocol.seed, "folds", *again)
        fold = rng.permutation(n_samples) * n_folds // n_samples
    test, held_out = (split - 1) % n_folds, (split - 2) % n_folds
    train = np.flatnonzero(~np.isin(fold, [test, held_out]))
    rng = generator(protocol.seed, "most", split)
    return (
        _at_most(protocol.max_train, train, rng),
        np.flatnonzero(fold == held_out),
        _at_most(protocol.max_test, np.flatnonzero(fold == test), rng),
    )


def _at_most(most: int | None, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return rows if most is None or len(rows) <= most else np.sort(rng.permutation(rows)[:most])


def prepare(
    X: Any,
    y: np.ndarray,
    protocol: ProtocolSpec,
    split: int,
    *,
    pairwise: bool = False,
    fold: np.ndarray | None = None,
    query: np.ndarray | None = None,
) -> Parts:
    """Split the data, then scale it by parameters learnt on the training part.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Or similarities of shape (n_samples, n_samples), if ``pairwise``; or an array of objects.
    y : ndarray of shape (n_samples,)
    protocol : ProtocolSpec
    split : int
        Number of the split.
    pairwise : bool, default=False
    fold, query : ndarray of shape (n_samples,), optional
        The data set's own fold of each row, and its query, for ranking.

    Raises
    ------
    ValueError
        If no test part is left, or the data cannot be scaled in this way.
    """
    if query is not None and protocol.folds != "published":
        # the documents of a query stay together
        distinct, codes = np.unique(query, return_inverse=True)
        parts = _cut(len(distinct), protocol, split)
        train, held_out, test = (np.flatnonzero(np.isin(codes, part)) for part in parts)
    else:
        train, held_out, test = _cut(X.shape[0], protocol, split, fold)
    if pairwise:
        if protocol.scale:
            raise ValueError("scale: a similarity matrix has no features to scale; give []")
        X_train, *others = [X[np.ix_(rows, train)] for rows in (train, held_out, test)]
    else:
        X_train, *others = X[train], X[held_out], X[test]
    if protocol.scale and are_objects(X):
        raise ValueError(f"scale: {kind_of(X)} have no features to scale; give []")
    X_train, *others = scaled(protocol, X_train, *others)
    learnt_on = y[train]
    if protocol.scale_target == "max_abs":
        y = y / (np.abs(learnt_on).max() or 1.0)
    elif protocol.scale_target == "zscore":
        y = (y - learnt_on.mean()) / (learnt_on.std() or 1.0)
    has_val = len(held_out) > 0
    return Parts(
        X_train,
        y[train],
        others[1],
        y[test],
        X_val=others[0] if has_val else None,
        y_val=y[held_out] if has_val else None,
        pairwise=pairwise,
        queries=tuple(query if query is None else query[part] for part in (train, held_out, test)),
    )


def scaled(protocol: ProtocolSpec, X: Any, *others: Any) -> list[Any]:
    """Scale points, and others, by parameters learnt on the former."""
    parts = [X, *others]
    for name in protocol.scale:
        if name == "zscore" and sp.issparse(X):
            raise ValueError(
                "scale: zscore would fill a sparse matrix; use max_norm for this data"
            )
        scaler = SCALERS[name]().fit(parts[0])
        parts = [scaler.transform(part) if part.shape[0] else part for part in parts]
    return parts


def _cut(
    n_samples: int, protocol: ProtocolSpec, split: int, fold: np.ndarray | None = None
) -> Indices:
    if protocol.folds is None:
        return split_indices(n_samples, protocol, split)
    return fold_indices(n_samples, protocol, split, fold)
