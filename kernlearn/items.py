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
        #: What an estimator keeps from one item to the next; not pickled.
        self.scratch: Any = None
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
        self.scratch, self._layouts = None, {}
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
                if layout.unknown:
                    self.check(item)
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
