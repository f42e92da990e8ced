"""How columns become what a method takes: codes, 0/1 columns, or the table as it is."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from kernlearn.checks import listed
from kernlearn.datasets.tables import feature_matrix
from kernlearn.exceptions import DataError


class Columns(TransformerMixin, BaseEstimator):
    """Encode the columns of a frame as :func:`load` has encoded those of a file.

    Parameters
    ----------
    names : sequence of str
        The features.
    nominal : mapping of str to sequence of str, default={}
        The values of nominal features, in their order.
    encoding : {"ordinal", "onehot", "raw"}, default="ordinal"
        A nominal column becomes the positions of its values, or one 0/1 column per value, which
        are 0 where the value is missing. "raw" makes a frame with nominal columns as categories.
    texts : sequence of str, default=()
        Columns of text that a frame has, too.
    gaps : str, optional
        The value of nominal columns that stands for a missing entry.
    """

    def __init__(
        self,
        names: Sequence[str],
        nominal: Mapping[str, Sequence[str]] = {},
        encoding: Literal["ordinal", "onehot", "raw"] = "ordinal",
        texts: Sequence[str] = (),
        gaps: str | None = None,
    ) -> None:
        self.names, self.nominal, self.encoding = names, nominal, encoding
        self.texts, self.gaps = texts, gaps

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the columns are known."""
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of a frame as a matrix, or as a frame.

        Raises
        ------
        DataError
            If a column lacks, or has a value that is unknown.
        """
        texts = self.texts if self.encoding == "raw" else ()
        if lacking := [name for name in (*self.names, *texts) if name not in X]:
            raise DataError(f"the frame has no column {listed(lacking)}")
        matrix = feature_matrix(X[[*self.names]], self.nominal, lambda row: f"row {row + 1}")
        for i, name in enumerate(self.names):
            if self.gaps in (values := self.nominal.get(name, ())):
                matrix[np.isnan(matrix[:, i]), i] = list(values).index(self.gaps)
        return self.encoded(matrix, X[[*texts]] if texts else None)

    def encoded(self, X: np.ndarray, texts: Any = None) -> Any:
        """Return a matrix with positions of nominal values as `encoding` says."""
        if self.encoding == "raw":
            return self._frame(X, texts)
        if self.encoding == "ordinal" or not self.nominal:
            return X
        columns: list[np.ndarray] = []
        for column, name in zip(X.T, self.names, strict=True):
            values = self.nominal.get(name)
            columns += [column] if values is None else [column == i for i in range(len(values))]
        return np.column_stack(columns).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns that are made."""
        if self.encoding == "ordinal":
            return np.array(self.names, dtype=object)
        if self.encoding == "raw":
            return np.array([*self.names, *self.texts], dtype=object)
        made: list[str] = []
        for name in self.names:
            values = self.nominal.get(name)
            made += [name] if values is None else [f"{name}={value}" for value in values]
        return np.array(made, dtype=object)

    def _frame(self, X: np.ndarray, texts: Any) -> Any:
        import pandas as pd

        frame = pd.DataFrame(X, columns=list(self.names), copy=True)
        for name in frame.columns.intersection([*self.nominal]):
            codes, values = np.nan_to_num(frame[name], nan=-1).astype(int), self.nominal[name]
            frame[name] = pd.Categorical.from_codes(codes, pd.Index(values))
        if texts is None:
            return frame
        texts = texts.astype(object).where(texts.notna(), "").reset_index(drop=True)
        return pd.concat([frame, texts], axis=1)
