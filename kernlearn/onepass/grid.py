"""Features as whole numbers: multiples of a power of two, about a centre."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernlearn.onepass.exact_sums import LARGEST, Floats

#: Bits of a feature's standard deviation, and of its centre.
_SPREAD_BITS, _CENTER_BITS = 18, 28
#: Units are at least this many times the difference that another block makes.
_QUIET = 2.0**12
#: Bits of the greatest feature's standard deviation that are left where units are raised so.
_FEWEST_BITS = 8
#: Distance from a tie, in units, below which a row is computed again on its own.
_MARGIN = 2.0**-20
#: The measured differences are taken so many times.
_SAFETY = 64
#: The same, relative to the feature: 64 rounding errors.
_RELATIVE_MARGIN = 2.0**-46
_COMPARED_ROWS = 64

Transform = Callable[[Any], Floats]


@dataclass(frozen=True)
class Grid:
    """What features are rounded to: whole multiples of units from centres.

    Sums of products of whole numbers do not depend on the order of rows. Rounding alone would not
    suffice: BLAS computes a row in another block with another rounding error, which can move a
    feature across a tie. Rows with a feature close to a tie are therefore computed on their own.

    Attributes
    ----------
    centers, units : ndarray of shape (n_features,)
        Units are powers of two.
    margins : ndarray of shape (n_features,)
        The distances from a tie, in units, that are close. 0 if features are exact.
    """

    centers: Floats
    units: Floats
    margins: Floats

    @classmethod
    def of_sample(cls, values: Floats, differences: Floats | None = None) -> "Grid":
        """Make the grid from a sample.

        Parameters
        ----------
        values : ndarray of shape (n_samples, n_features)
            Features of the sample.
        differences : ndarray of shape (n_features,), default=None
            How much features change in another block, see :func:`block_differences`; None if they
            are exact.

        Raises
        ------
        ValueError
            If features are not finite, or change too much.
        """
        if not np.isfinite(values).all():
            raise ValueError("the feature map returns NaN or infinite values for its sample")
        means = values.mean(axis=0)
        spreads = values.std(axis=0)
        # that of a constant column is the rounding error of its mean
        spreads[np.ptp(values, axis=0) <= 2.0**-45 * np.abs(values[0])] = 0
        typical = float(spreads.max(initial=0)) or 1.0
        wanted = np.where(
            spreads > 0,
            np.maximum(spreads * 2.0**-_SPREAD_BITS, np.abs(means) * 2.0**-_CENTER_BITS),
            np.maximum(np.abs(means), typical) * 2.0**-_SPREAD_BITS,
        )
        if differences is None:
            margins = np.zeros(len(means))
            units = _power_of_two(wanted)
        else:
            units = _power_of_two(np.maximum(wanted, differences * _QUIET))
            margins = np.maximum(_MARGIN, _SAFETY * differences / units)
            noisy = differences * _QUIET > np.maximum(spreads, typical) / 2**_FEWEST_BITS
            if noisy.any():
                at = int(noisy.argmax())
                raise ValueError(
                    f"feature {at} of the feature map changes by up to {differences[at]:.2g}, "
                    f"with a standard deviation of {spreads[at]:.2g}, if its rows are computed "
                    "in another block: it is too ill-conditioned for sums that do not depend on "
                    "blocks. With Nyström features raise 'tol'"
                )
        centers = np.where(spreads > 0, np.rint(means / units) * units, values[0])
        return cls(centers, units, margins)

    def round(self, values: Floats, out: Floats) -> NDArray[np.intp]:
        """Write the multiples of some rows into `out`; return the rows that are close to a tie.

        Parameters
        ----------
        values, out : ndarrays of shape (n_rows, n_features)

        Returns
        -------
        ndarray of int
            Their places; none if features are exact.
        """
        from kernlearn.onepass.rounding import round_rows  # loads numba

        close = np.empty(len(values), dtype=np.bool_)
        largest = round_rows(
            values, self.centers, 1 / self.units, self.margins, _RELATIVE_MARGIN, out, close
        )
        if not largest < LARGEST:
            self._refuse(values, out)
        return np.flatnonzero(close) if self.margins.any() else np.empty(0, dtype=np.intp)

    def _refuse(self, values: Floats, multiples: Floats) -> None:
        row, column = np.argwhere(~(np.abs(multiples) < LARGEST))[0]
        value = values[row, column]
        if not np.isfinite(value):
            raise ValueError(f"feature {column} is {value} for a row")
        raise ValueError(
            f"feature {column} is {value:.6g} for a row, more than 2^62 times the unit "
            f"{self.units[column]:.3g} that its sample gave it: fit the map on a sample of rows "
            "from all of the data ('fit_map'), or scale the data"
        )


def multiples(
    grid: Grid,
    transform: Transform,
    X: Any,
    out: Floats,
    block_rows: int,
    *,
    depends_on_block: bool = True,
) -> None:
    """Write the whole numbers of the features of rows into `out`, block by block.

    Rows close to a tie are computed again on their own, if features depend on the block.
    """
    for start in range(0, X.shape[0], block_rows):
        rows = slice(start, min(start + block_rows, X.shape[0]))
        part = out[rows]
        close = grid.round(transform(X[rows]), part)
        for i in close if depends_on_block else ():
            alone = X[start + i : start + i + 1].copy()
            grid.round(transform(alone), part[i : i + 1])


def block_differences(transform: Transform, X: Any) -> Floats:
    """Return how much each feature changes if its row is computed elsewhere or on its own.

    Up to 64 rows are compared in a block with all, in reversed order, and one by one.
    """
    chosen = np.unique(np.linspace(0, X.shape[0] - 1, _COMPARED_ROWS).astype(int))
    inside = transform(X)[chosen]
    some = X[chosen]
    others = (
        transform(some[::-1])[::-1],
        np.vstack([transform(some[i : i + 1].copy()) for i in range(len(chosen))]),
    )
    return np.max([np.abs(inside - other).max(axis=0) for other in others], axis=0)


def transformer(feature_map: Any) -> Transform:
    """Return the function from rows to features in float64; None maps rows to themselves.

    Features of float32 rows are computed in float64 too: their rounding errors in float32 would
    be too near to the units that they are rounded to.
    """

    def transform(X: Any) -> Floats:
        X = X.astype(np.float64, copy=False)
        if feature_map is not None:
            X = feature_map.transform(X)
        if sparse.issparse(X):
            X = X.toarray()
        return np.asarray(X, dtype=np.float64)

    return transform


def _power_of_two(values: Floats) -> Floats:
    return 2.0 ** np.ceil(np.log2(np.maximum(values, 2.0**-900)))
