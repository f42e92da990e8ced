"""Several similarities, each of which may look at another part of a point."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from kernlearn.kernels import CallableKernel, Kernel, as_kernel

#: Columns of a matrix, or a function of a point.
Part: TypeAlias = Callable[[Any], Any] | Sequence[int] | Sequence[str] | slice | None


@dataclass(frozen=True)
class Measure:
    """A similarity, or a distance with the sign -1, of some part of the points.

    Attributes
    ----------
    kernel : Kernel
    part : callable, slice, sequence of int or str, or None
        A function of a point, or columns of a matrix; None for the whole.
    sign : int
    """

    kernel: Kernel
    part: Part
    sign: int

    def of(self, X: Any, names: NDArray[Any] | None = None) -> Any:
        """Return the part of validated points; `names` are those of the columns."""
        if self.part is None:
            return X
        if not callable(self.part):
            return X[:, self._columns(X, names)]
        parts = [self.part(point) for point in X]
        if self.kernel.structured or isinstance(self.kernel, CallableKernel):
            return np.fromiter(parts, dtype=object, count=len(parts))
        try:
            mixed = self.kernel.mixed
            values = np.array(parts, dtype=object if mixed else None)
            values = values[:, np.newaxis] if values.ndim == 1 else values
            finite = "allow-nan" if mixed else True
            return check_array(
                values, dtype=object if mixed else np.float64, ensure_all_finite=finite
            )
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"the parts of points for {self.kernel!r} must be vectors of one length: {error}"
            ) from error

    def _columns(self, X: Any, names: NDArray[Any] | None) -> Any:
        if isinstance(self.part, slice):
            return self.part
        columns: NDArray[Any] = np.atleast_1d(np.asarray(self.part))
        if columns.dtype.kind == "U":
            known = {} if names is None else {name: i for i, name in enumerate(names)}
            missing = [name for name in columns.tolist() if name not in known]
            if missing:
                raise ValueError(f"'similarities': X has no column named {missing[0]!r}")
            return np.array([known[name] for name in columns.tolist()])
        if columns.dtype.kind not in "iu" or columns.min() < 0 or columns.max() >= X.shape[1]:
            raise ValueError(
                "'similarities': a part must be a function of a point, or numbers or names of "
                f"columns, from 0 to {X.shape[1] - 1}, got {self.part!r}"
            )
        return columns


def as_measures(similarities: Any, kind: Any) -> list[Measure]:
    """Return the measures that are given as similarities, or pairs of one and a part."""
    if not len(similarities):
        raise ValueError("'similarities' must hold at least one similarity")
    kinds = [kind] * len(similarities) if isinstance(kind, str) else list(kind)
    if len(kinds) != len(similarities) or not set(kinds) <= {"similarity", "distance"}:
        raise ValueError(
            "'kind' must be 'similarity', 'distance', or one of these for each of the "
            f"{len(similarities)} similarities, got {kind!r}"
        )
    measures = []
    for given, of_given in zip(similarities, kinds, strict=True):
        pair = isinstance(given, (tuple, list)) and len(given) == 2
        similarity, part = given if pair else (given, None)
        if isinstance(similarity, str) and similarity == "precomputed":
            raise ValueError("'similarities' must be measures, and not 'precomputed'")
        if isinstance(similarity, str) and of_given == "distance":
            raise ValueError(
                "kind='distance' is for user-defined functions: "
                f"{similarity!r}, like all named similarities, grows as points are more alike"
            )
        kernel = as_kernel(similarity, "similarities")
        measures.append(Measure(kernel, part, -1 if of_given == "distance" else 1))
    return measures
