"""Points that come one at a time as dictionaries of features, as in river."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from math import isfinite
from struct import Struct
from struct import error as StructError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Item = Mapping[Hashable, Any]

# Sets of features whose places are kept; more are looked up each time.
_MAX_LAYOUTS = 64


class _Layout(NamedTuple):
    """Where the values of an item with certain features go."""

    pack: Callable[..., None]
    #: The columns of the values; None if they are all columns, in order.
    columns: NDArray[np.intp] | None
    #: Whether some features have no column.
    unknown: bool


class ItemFeatures:
    """The columns of features, by name, and a row that takes the values of an item.

    Looking up, converting and placing the values of an item takes a fixed number of calls,
    whatever the number of its features, once an item with the same features in the same order has
    come.

    Parameters
    ----------
    names : iterable of hashable, default=()
        The names of the first columns.
    fixed : bool, default=False
        Whether there are no features but these. Otherwise an item may bring new ones.
    """

    def __init__(self, names: Iterable[Hashable] = (), *, fixed: bool = False) -> None:
        self.columns: dict[Hashable, int] = {name: i for i, name in enumerate(names)}
        self.fixed = fixed
        self._layouts: dict[tuple[Hashable, ...], _Layout] = {}
        self.set_capacity(len(self.columns))

    def set_capacity(self, n_columns: int) -> None:
        """Give the row `n_columns`, of which those without a name are 0."""
        self.capacity = n_columns
        # one more place, for the values of unknown features
        self._places = np.zeros(n_columns + 1)
        self._row = self._places[:n_columns]
        self._point = self._row.reshape(1, n_columns).view()
        self._point.flags.writeable = False
        self._layouts.clear()

    def __getstate__(self) -> dict[str, Any]:
        return {"columns": self.columns, "fixed": self.fixed, "capacity": self.capacity}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.columns, self.fixed = state["columns"], state["fixed"]
        self._layouts = {}
        self.set_capacity(state["capacity"])

    def read(self, item: Item, *, grow: bool = False) -> NDArray[np.float64]:
        """Return the values of an item, in an array that the next call writes to.

        Parameters
        ----------
        item : mapping
            Numbers by the names of features. Those that it lacks are 0.
        grow : bool, default=False
            Whether features without a column get one, unless columns are fixed; otherwise they
            are left out.

        Returns
        -------
        ndarray of shape (1, capacity)
            Read-only float64. Not checked for NaN and infinity.

        Raises
        ------
        ValueError
            If a value is not a number, or columns are fixed and a feature has none. Nothing is
            changed then.
        """
        try:
            names = tuple(item)
            layout = self._layouts.get(names)
            if layout is None or (layout.unknown and grow):
                layout = self._arrange(item, names, grow)
            if layout.columns is None:
                layout.pack(self._places, 0, *item.values())
            else:
                values = np.empty(len(names))
                layout.pack(values, 0, *item.values())
                self._row.fill(0.0)
                self._places[layout.columns] = values
        except (StructError, TypeError, AttributeError, OverflowError):
            self.check(item)
            raise
        return self._point

    def check(self, item: Any) -> None:
        """Raise a ValueError if an item is no mapping to finite numbers."""
        if not isinstance(item, Mapping):
            raise ValueError(
                f"an item must be a dictionary of features, got {type(item).__name__}; rows of an "
                "array are for partial_fit"
            )
        for name, value in item.items():
            try:
                number = float("text") if isinstance(value, (str, bytes)) else float(value)
            except (TypeError, ValueError, OverflowError):
                raise ValueError(
                    f"feature {name!r} is {value!r}, and must be a number: make indicators of "
                    "the values first, for instance by river.preprocessing.OneHotEncoder"
                ) from None
            if not isfinite(number):
                raise ValueError(
                    f"feature {name!r} is {number}, and must be finite: leave the feature out of "
                    "the item, which makes it 0, or fill it in first"
                )

    def _arrange(self, item: Item, names: tuple[Hashable, ...], grow: bool) -> _Layout:
        columns = self.columns
        missing = [name for name in names if name not in columns]
        if missing and self.fixed:
            known = list(columns)
            shown = ", ".join(map(repr, known[:5])) + (", …" if len(known) > 5 else "")
            raise ValueError(
                f"feature {missing[0]!r} is not one of the {len(known)} features fitted: {shown}. "
                "Columns are fixed by a fit on arrays"
            )
        if missing and grow:
            self.check(item)
            first = not columns
            columns.update({name: i for i, name in enumerate(missing, start=len(columns))})
            self._layouts.clear()
            if len(columns) > self.capacity:
                self.set_capacity(len(columns) if first else max(len(columns), 2 * self.capacity))
            missing = []
        pack = Struct(f"{len(names)}d").pack_into
        places = np.fromiter(
            (columns.get(name, self.capacity) for name in names), np.intp, len(names)
        )
        whole = not missing and np.array_equal(places, np.arange(len(columns)))
        layout = _Layout(pack, None if whole else places, bool(missing))
        if len(self._layouts) >= _MAX_LAYOUTS:
            self._layouts.clear()
        self._layouts[names] = layout
        return layout


class ItemClassifier:
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

    def _start_items(self, names: list[Hashable], classes: NDArray[Any]) -> None:
        """Begin without points."""
        raise NotImplementedError

    def _fixed_names(self) -> list[Hashable]:
        """Return the names of the columns of a fit on arrays."""
        raise NotImplementedError

    def _learn_item(self, point: NDArray[np.float64], code: int) -> None:
        """Learn from a row of the items' capacity."""
        raise NotImplementedError

    def _score_item(self, point: NDArray[np.float64]) -> float:
        """Return the decision value of a row of the items' capacity."""
        raise NotImplementedError

    def _probability_of(self, score: float) -> float:
        """Return the probability of the second class at a decision value."""
        raise NotImplementedError

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


class ItemTransformer:
    """A transformer that maps one item at a time, as those of river do.

    A subclass has `partial_fit`, `get_feature_names_out` and the method `_transform_point`.
    """

    _supervised = False

    _items: ItemFeatures
    _item_names: list[str]

    def _transform_point(self, point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the features of a row, shape (n_features_out,)."""
        raise NotImplementedError

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
        if "_item_names" not in self.__dict__:
            self._item_names = self.get_feature_names_out().tolist()  # type: ignore[attr-defined]
        return dict(zip(self._item_names, values.tolist(), strict=True))


def column_names(fitted: Any) -> list[Hashable]:
    """Return the names of the columns of a fit on arrays: those of a frame, or their numbers."""
    names = getattr(fitted, "feature_names_in_", None)
    return list(range(fitted.n_features_in_)) if names is None else names.tolist()


def name_columns(fitted: Any, items: ItemFeatures) -> None:
    """Set the number of columns, and their names where scikit-learn would have any: texts."""
    fitted.n_features_in_ = len(items.columns)
    if items.columns and all(isinstance(name, str) for name in items.columns):
        fitted.feature_names_in_ = np.array(list(items.columns), dtype=object)
    else:
        fitted.__dict__.pop("feature_names_in_", None)


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
    >>> from kernlearn.items import register_with_river
    >>> from kernlearn.pairwise import OLP
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> register_with_river()
    >>> model = preprocessing.StandardScaler() | OLP(random_state=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 88.47%
    """
    from river import base

    base.Classifier.register(ItemClassifier)
    base.Transformer.register(ItemTransformer)
