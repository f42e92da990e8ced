"""How a trial's data is prepared: two classes, a split, a scale learnt on the training part."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler
from sklearn.utils import Bunch
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.experiments.seeds import generator


class MaxNormScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Divide every vector by the largest Euclidean norm of the training vectors.

    "The lengths of all vectors were normalized using normalization constants learnt on
    the training sets" (Kar 2013, section 3.6.3). Test vectors may come out longer than 1.
    """

    def fit(self, X: Any, y: Any = None) -> "MaxNormScaler":
        """Learn the largest norm; 1 if all vectors are zero."""
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.scale_ = float(row_norms(X).max()) or 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Divide by the learnt norm."""
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return X / X.dtype.type(self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


_SCALERS = {
    "zscore": StandardScaler,
    "minmax": MinMaxScaler,
    "max_norm": MaxNormScaler,
    "unit_norm": Normalizer,
}


@dataclass(frozen=True)
class Parts:
    """The training and the test part of one split, scaled.

    Attributes
    ----------
    X_train, X_test : {ndarray, sparse matrix}
        Features; or, if ``pairwise``, similarities to the training points.
    y_train, y_test : ndarray
    X_val, y_val : as above, or None
        The rows held out for choosing parameters, where the protocol has such.
    pairwise : bool
    """

    X_train: Any
    y_train: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]
    X_val: Any = None
    y_val: NDArray[Any] | None = None
    pairwise: bool = False

    def training(self, rows: NDArray[np.intp], known: NDArray[np.intp]) -> Any:
        """Return some training points, as they look to a model that was fitted on ``known``."""
        return self.X_train[np.ix_(rows, known)] if self.pairwise else self.X_train[rows]


def positive_classes(
    names: list[str], how: str | list[str] | None, seed: int, dataset: str
) -> list[str] | None:
    """Choose the classes that make up the positive one.

    Parameters
    ----------
    names : list of str
        All classes.
    how : {"random"}, list of str or None
        A random half (rounded down) of the classes, fixed for a data set by the seed; the
        classes named; or no binarisation.
    seed : int
        The experiment's seed.
    dataset : str
        Name of the data set.

    Returns
    -------
    list of str or None
        None if the classes stay as they are: asked so, or already two.
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


def binarized(data: Bunch, positive: list[str] | None) -> NDArray[Any]:
    """Return the labels, as 0 and 1 where positive classes are given."""
    y = np.asarray(data.target)
    if positive is None:
        return y
    wanted = [i for i, name in enumerate(data.target_names) if str(name) in positive]
    return np.isin(y, wanted).astype(np.int64)


def split_indices(
    n_samples: int,
    *,
    train: float,
    max_train: int | None,
    max_test: int | None,
    seed: int,
    split: int,
    holdout: float | None = None,
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Cut row numbers at random into a training, a held-out and a test part.

    The training part has ``min(round(train * n_samples), max_train)`` rows, the held-out one
    ``round(holdout * n_samples)``, none by default; all others are the test part, of which
    at most ``max_test`` are kept.
    """
    order = generator(seed, "split", split).permutation(n_samples)
    n_train = max(1, round(train * n_samples))
    if max_train is not None:
        n_train = min(n_train, max_train)
    n_held_out = 0 if holdout is None else max(1, round(holdout * n_samples))
    if n_train + n_held_out >= n_samples:
        raise ValueError(
            f"{n_train} training and {n_held_out} held-out rows of {n_samples} leave no test part"
        )
    held_out, test = np.split(order[n_train:], [n_held_out])
    return order[:n_train], held_out, test if max_test is None else test[:max_test]


def prepare(
    X: Any, y: NDArray[Any], protocol: dict[str, Any], split: int, *, pairwise: bool = False
) -> Parts:
    """Split, then scale by what the training part teaches.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Or (n_samples, n_samples), if ``pairwise``.
    y : ndarray of shape (n_samples,)
    protocol : dict
        The protocol of a trial's specification.
    split : int
        Number of the split.
    pairwise : bool, default=False
        Whether X holds similarities between the points.

    Returns
    -------
    Parts

    Raises
    ------
    ValueError
        If no test part is left, or the data cannot be scaled as asked.
    """
    train, held_out, test = split_indices(
        X.shape[0],
        train=protocol["train"],
        max_train=protocol["max_train"],
        max_test=protocol["max_test"],
        seed=protocol["seed"],
        split=split,
        holdout=protocol.get("holdout"),
    )
    if pairwise:
        if protocol["scale"]:
            raise ValueError("scale: a similarity matrix has no features to scale; give []")
        X_train, *others = [X[np.ix_(rows, train)] for rows in (train, held_out, test)]
    else:
        X_train, *others = X[train], X[held_out], X[test]
    for name in protocol["scale"]:
        scaler = _SCALERS[name]()
        if name == "zscore" and sp.issparse(X):
            raise ValueError(
                "scale: zscore would fill a sparse matrix; use max_norm for this data"
            )
        X_train = scaler.fit_transform(X_train)
        others = [scaler.transform(part) if part.shape[0] else part for part in others]
    X_val, X_test = others
    y = _scaled_target(y, train, protocol.get("scale_target"))
    if not len(held_out):
        return Parts(X_train, y[train], X_test, y[test], pairwise=pairwise)
    return Parts(X_train, y[train], X_test, y[test], X_val, y[held_out], pairwise)


def _scaled_target(y: NDArray[Any], train: NDArray[np.intp], how: str | None) -> NDArray[Any]:
    if how is None:
        return y
    known = y[train]
    if how == "max_abs":
        return y / (np.abs(known).max() or 1.0)
    return (y - known.mean()) / (known.std() or 1.0)
