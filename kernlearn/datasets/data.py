"""A data set in memory: what loaders, generators and functions of plug-ins return."""

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from kernlearn.datasets.tables import Preparation, default_names
from kernlearn.exceptions import DataError


class Data(Bunch):
    """A data set in memory, with the fields of :func:`load`; one that does not apply is None.

    Parameters
    ----------
    data : {ndarray, CSR matrix} of shape (n_samples, n_features)
        Or an array of objects of shape (n_samples,).
    target : ndarray of shape (n_samples,), optional
        Codes of classes, or numbers.
    target_names, feature_names : sequence of str
        The labels in the order of their codes, and the names of columns.
    **more
        Further fields: card, found, fold, query, groups, time, frame, columns, similarity,
        fingerprint, sample, note and preparation.
    """

    def __init__(
        self,
        data: Any,
        target: Any = None,
        target_names: Any = (),
        feature_names: Any = None,
        **more: Any,
    ) -> None:
        if feature_names is None:
            feature_names = default_names(data.shape[1] if data.ndim == 2 else 0)
        absent = ("card", "found", "fold", "query", "groups", "time", "frame", "columns")
        fields = {**dict.fromkeys(absent), "fingerprint": "", "sample": False, "note": ""}
        fields["similarity"] = None
        fields["preparation"] = Preparation(data.shape[0])
        super().__init__(
            data=data,
            target=target,
            target_names=np.asarray(target_names, dtype=np.str_),
            feature_names=np.asarray(feature_names, dtype=np.str_),
            **{**fields, **more},
        )

    @property
    def identity(self) -> str:
        """What tells whether it is the same data: a hash of its files, or of its content."""
        found = self["found"]
        return str(self["fingerprint"] if found is None else found.identity)

    @property
    def coded(self) -> list[int]:
        """The positions of the nominal columns that are codes."""
        codes = self["preparation"].coded
        return [i for i, name in enumerate(self["feature_names"]) if name in codes]

    def rows(self, chosen: Any) -> "Data":
        """Return some rows; of a matrix that compares points the same columns."""
        of_rows = ("data", "target", "fold", "query", "groups", "time")
        known = [k for k in of_rows if self[k] is not None]
        parts = {name: self[name][chosen] for name in known}
        if self["frame"] is not None:
            parts["frame"] = self["frame"].iloc[np.arange(self["data"].shape[0])[chosen]]
        if self["similarity"] is not None:
            parts["data"] = parts["data"][:, chosen]
        return Data(**{**self, **parts})

    def of_classes(self, names: list[str]) -> "Data":
        """Return the rows of some classes, whose codes count from 0 then.

        Raises
        ------
        DataError
            If there is no such class.
        """
        known = self["target_names"].tolist()
        if unknown := [name for name in names if name not in known]:
            have = f"has {', '.join(known)}" if known else "has no classes"
            raise DataError(f"classes: no class {', '.join(unknown)}; the data {have}")
        codes = sorted(known.index(name) for name in names)
        part = self.rows(np.flatnonzero(np.isin(self["target"], codes)))
        part.target = np.searchsorted(codes, part.target)
        part.target_names = part.target_names[codes]
        return part
