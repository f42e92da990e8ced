"""Models that take one point at a time, as those of river do."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.extras import needed_by
from kernlearn.items import Item, ItemFeatures, column_names, name_columns


class ItemClassifier(ABC):
    """A classifier of two classes that learns from one item at a time, as those of river do.

    A subclass has `partial_fit` and the methods `_start_items`, `_fixed_names`, `_learn_item`,
    `_score_item` and `_probability_of`.
    """

    # what river asks of a model
    _supervised = True
    _multiclass = False

    classes_: NDArray[Any]
    _items: ItemFeatures
    _item_codes: dict[Any, int]

    @abstractmethod
    def _start_items(self, names: list[Hashable], classes: NDArray[Any]) -> None:
        """Begin without points."""

    @abstractmethod
    def _fixed_names(self) -> list[Hashable]:
        """Return the names of the columns of a fit on arrays."""

    @abstractmethod
    def _learn_item(self, point: NDArray[np.float64], code: int) -> None:
        """Learn from a row of the items' capacity."""

    @abstractmethod
    def _score_item(self, point: NDArray[np.float64]) -> float:
        """Return the decision value of a row of the items' capacity."""

    @abstractmethod
    def _probability_of(self, score: float) -> float:
        """Return the probability of the second class at a decision value."""

    def declare(
        self, features: Iterable[Hashable] | None = None, classes: Iterable[Any] = (False, True)
    ) -> Any:
        """Begin a stream of items, and say what will come.

        Needed only for labels other than True and False, or 1 and 0. The features are the first
        columns; without them, and after them, features get columns as they come.

        Parameters
        ----------
        features : iterable of hashable, default=None
            Names of features.
        classes : iterable of two labels, default=(False, True)
            The labels; the second one in sorted order is the positive class.

        Returns
        -------
        self
            The estimator, which has seen no point.
        """
        self._start_items(list(features or ()), np.asarray(list(classes)))
        return self

    def learn_one(self, x: Item, y: Any) -> None:
        """Continue with the next point of the stream, given as a dictionary.

        The same points in rows of an array, in the order in which their features first came, give
        the same model by `partial_fit`, bit for bit if the first item has all features or
        `declare` names them.

        Parameters
        ----------
        x : mapping
            Numbers by the names of features, in any order. A feature that x lacks is 0, as is one
            in the points before it first came. After `fit` or `partial_fit` the features are those
            of the arrays: their names, or the numbers of columns.
        y : bool, or a label
            Its label: True and False, or 1 and 0, unless `declare` or `partial_fit` has named
            others.

        Raises
        ------
        ValueError
            If a value is not a finite number, y is no label, or x has a feature that is not one
            of those fitted on arrays, all of which leave the estimator unchanged; or if the
            weights grow beyond all bounds.
        """
        if "_items" not in self.__dict__:
            self._enter(x, y)
        code = self._item_codes.get(y)
        if code is None:
            raise ValueError(
                f"the label {y!r} is not one of the classes {self.classes_.tolist()}: name others "
                "before the first item, declare(classes=[…])"
            )
        items = self._items
        self._learn_item(items.read(x, grow=True), code)

    def _enter(self, x: Any, y: Any) -> None:
        if hasattr(self, "classes_"):
            self._items = ItemFeatures(self._fixed_names(), fixed=True)
        else:
            ItemFeatures().read(x, grow=True)
            if y not in (False, True):
                raise ValueError(
                    f"the first label is {y!r}; labels other than True and False, or 1 and 0, are "
                    "named before the first item: declare(classes=[…])"
                )
            self.declare()
        self._set_codes()

    def _set_codes(self) -> None:
        self._item_codes = {label: i for i, label in enumerate(self.classes_.tolist())}

    def score_one(self, x: Item) -> float:
        """Return the decision value of an item, as `decision_function` does of rows.

        Parameters
        ----------
        x : mapping
            As for `learn_one`; a feature that is not known has no weight.

        Returns
        -------
        float
            The higher, the more likely the second class; 0 before the first point.

        Raises
        ------
        ValueError
            If a value is not a finite number, or features are fixed and x has another.
        """
        if "_items" not in self.__dict__:
            if not hasattr(self, "classes_"):
                return 0.0
            self._items = ItemFeatures(self._fixed_names(), fixed=True)
            self._set_codes()
        score = self._score_item(self._items.read(x))
        if not isfinite(score):
            self._items.check(x)
        return score

    def predict_one(self, x: Item) -> Any:
        """Return the label of an item, None before the first point; see :meth:`score_one`."""
        score = self.score_one(x)
        if not hasattr(self, "classes_"):
            return None
        return self.classes_[int(score > 0)].item()

    def _predict_proba_one(self, x: Item) -> dict[Any, float]:
        score = self.score_one(x)
        if not hasattr(self, "classes_"):
            return {}
        second = self._probability_of(score)
        negative, positive = self.classes_.tolist()
        return {negative: 1.0 - second, positive: second}


class ItemTransformer(ABC):
    """A transformer that maps one item at a time, as those of river do.

    A subclass has `partial_fit` and the methods `_transform_point` and `_item_names`.
    """

    _supervised = False

    _items: ItemFeatures

    @abstractmethod
    def _transform_point(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features of a row, shape (n_features_out,)."""

    @abstractmethod
    def _item_names(self) -> list[str]:
        """Return the names of the features."""

    def learn_one(self, x: Item) -> None:
        """Fit to the first item, if not fitted, as `partial_fit` to a frame of one row.

        Nothing is learned from further items. Where a parameter depends on the points, fit on
        some of them instead, as an array or a frame, whose columns are the features of items.

        Parameters
        ----------
        x : mapping
            Numbers by the names of features; those of the first item are all that there will be.

        Raises
        ------
        ValueError
            If a value is not a finite number, or x is the first item and has no features.
        """
        if hasattr(self, "n_features_in_"):
            return
        items = ItemFeatures()
        point = items.read(x, grow=True)
        items.check(x)
        self.partial_fit(point)  # type: ignore[attr-defined]
        items.fixed = True
        self._items = items
        name_columns(self, items)

    def transform_one(self, x: Item) -> dict[str, float]:
        """Map an item to its features.

        Parameters
        ----------
        x : mapping
            Numbers by the names of features, in any order: the columns of a fit on a frame, the
            numbers of columns of one on an array, or the features of the first item of
            `learn_one`. A feature that x lacks is 0.

        Returns
        -------
        dict
            The features by the names of `get_feature_names_out`.

        Raises
        ------
        ValueError
            If a value is not a finite number, or x has a feature that is not known.
        """
        from sklearn.utils.validation import check_is_fitted

        if "_items" not in self.__dict__:
            check_is_fitted(self)
            self._items = ItemFeatures(column_names(self), fixed=True)
        point = self._items.read(x)
        values = self._transform_point(point)
        if not isfinite(values.sum()):
            self._items.check(x)
        return dict(zip(self._item_names(), values.tolist(), strict=True))


def register_with_river() -> None:
    """Make river take the classifiers and feature maps of this package for its own.

    River's pipelines and metrics ask for the classes of models. Call this once before they meet
    one, for ``river.evaluate.progressive_val_score`` and ``river.compose.Pipeline``.

    Raises
    ------
    ImportError
        If river is not installed.

    Examples
    --------
    >>> from kernlearn.item_models import register_with_river
    >>> from kernlearn.pairwise import OLP
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> register_with_river()
    >>> model = preprocessing.StandardScaler() | OLP(random_state=0)
    >>> found = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    >>> bool(found.get() > 0.85)
    True
    """
    with needed_by("register_with_river"):
        from river import base

    base.Classifier.register(ItemClassifier)  # type: ignore[type-abstract]
    base.Transformer.register(ItemTransformer)  # type: ignore[type-abstract]
