"""How columns become what a method takes: codes, 0/1 columns, or the table as it is."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from kernlearn.checks import counted, listed
from kernlearn.datasets.readers import content_of, is_number, mask_gaps, numbers_of, replace_texts
from kernlearn.datasets.tables import canonical_label, feature_matrix
from kernlearn.exceptions import DataError
from kernlearn.validation import warn

#: The value of nominal columns that stands for a missing entry, where that is one.
MISSING = "missing"
_TEXTS = "; `read_as: {replace: …}` of the config may say what it stands for"
_UNKNOWN = "; set_params(columns__unknown='missing') takes unknown values for missing entries"


class ColumnEncoder(TransformerMixin, BaseEstimator):
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
    missing : str, default="drop"
        As for :func:`load`. With "impute" and "mean" missing entries stay, with "category" those
        of nominal columns become the value ``missing``; else rows that lack an entry are refused.
    gaps : sequence of str, default=()
        The columns in which entries were missing before; others that lack some are named in a
        warning.
    unknown : {"error", "missing"}, default="error"
        Whether an unknown value of a nominal column is refused, or taken for a missing entry.
    form : object, default=None
        How :meth:`read` reads files: the format of a card.
    """

    def __init__(
        self,
        names: Sequence[str],
        nominal: Mapping[str, Sequence[str]] = {},
        encoding: Literal["ordinal", "onehot", "raw"] = "ordinal",
        texts: Sequence[str] = (),
        missing: str = "drop",
        gaps: Sequence[str] = (),
        unknown: Literal["error", "missing"] = "error",
        form: Any = None,
    ) -> None:
        self.names, self.nominal, self.encoding, self.texts = names, nominal, encoding, texts
        self.missing, self.gaps, self.unknown, self.form = missing, gaps, unknown, form

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing: the columns are known."""
        return self

    def read(self, path: str | os.PathLike[str]) -> Any:
        """Read a file as that of the data was read: a frame, which may lack the target."""
        if self.form is None:
            raise DataError(f"{path}: only files with columns are read")
        if skipped := getattr(self.form, "skip", ()):
            warn(f"{path}: lines {listed(map(str, skipped))} are left out, as of the data's file")
        return content_of(Path(path), self.form)

    def transform(self, X: Any) -> Any:
        """Return the columns of a frame as a matrix, or as a frame.

        Raises
        ------
        DataError
            If a column lacks, has a value that is unknown, or lacks an entry that it must have.
        """
        import pandas as pd

        X = X if hasattr(X, "columns") else pd.DataFrame(X)
        if not any(isinstance(name, str) for name in X.columns):  # columns without names
            named = getattr(self.form, "columns", None) or self.names
            if len(named) != X.shape[1]:
                raise DataError(f"{X.shape[1]} columns without names, expected {len(named)}")
            X = X.set_axis(list(named), axis=1)
        texts = self.texts if self.encoding == "raw" else ()
        if lacking := [name for name in (*self.names, *texts) if name not in X]:
            raise DataError(f"the frame has no column {listed(lacking)}")
        frame = X[[*self.names]].reset_index(drop=True)
        if self.form is not None:  # numbers and texts that stand for others, if not read before
            mask_gaps(frame, self.form)
            replace_texts(frame, self.form)
            self._read_numbers(frame)
        if self.unknown == "missing":
            for name, values in self.nominal.items():
                known = {canonical_label(value) for value in values}
                frame[name] = frame[name].where(frame[name].map(canonical_label).isin(known))
        try:
            matrix = feature_matrix(frame, self.nominal, lambda row: f"row {row + 1}")
        except DataError as error:
            more = _UNKNOWN if "expected one of" in str(error) else ""
            raise DataError(f"{error}{more}") from None
        self._settle_gaps(matrix)
        return self.encoded(matrix, X[[*texts]] if texts else None)

    def _read_numbers(self, frame: Any) -> None:
        """Read texts of features that are no nominal columns as numbers, in place."""
        for i, name in enumerate(self.names):
            column = frame.iloc[:, i]
            if name in self.nominal or column.dtype.kind not in "OUST":
                continue
            held = column.dropna().astype(str)
            if (odd := held[[not is_number(text, self.form) for text in held]]).size:
                where = f"row {odd.index[0] + 1}, column {name}: found {odd.iloc[0]!r:.60}"
                raise DataError(f"{where}, expected a number{_TEXTS}")
            frame.isetitem(i, numbers_of(held, self.form).reindex(frame.index))

    def _settle_gaps(self, matrix: np.ndarray) -> None:
        """Refuse missing entries, make them a value, or warn of those in further columns."""
        gaps = np.isnan(matrix)
        if not gaps.any():
            return
        if self.missing == "category":
            for i, name in enumerate(self.names):
                if MISSING in (values := self.nominal.get(name, ())):
                    matrix[gaps[:, i], i] = list(values).index(MISSING)
            gaps = np.isnan(matrix)
        if gaps.any() and self.missing not in ("impute", "mean") and self.unknown == "error":
            row, column = np.argwhere(gaps)[0]
            raise DataError(
                f"{counted(int(gaps.any(axis=1).sum()), 'row')} with missing entries, the first "
                f"is row {row + 1}, which lacks {self.names[column]}: the config has no "
                "`missing: impute`, which fills them in"
            )
        counts = dict(zip(self.names, gaps.sum(axis=0).tolist(), strict=True))
        if new := [f"{name} ({n})" for name, n in counts.items() if n and name not in self.gaps]:
            warn(f"missing entries in columns that lacked none before: {listed(new)}")

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
