"""Distances of time series by aeon."""

from collections.abc import Mapping
from threading import Lock
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from kernlearn.kernels.pairs import shown
from kernlearn.similarities.library import (
    ThreadedSimilarity,
    by_blocks,
    keyword_defaults,
)

# Arguments of aeon's functions that say how to compute, or are series themselves.
_NO_PARAMETERS = ("transformation_precomputed", "transformed_x", "transformed_y", "init_p")
# Numba's simplest threading layer must not be entered by two threads.
_one_at_a_time = Lock()


class AeonDistance(ThreadedSimilarity):
    r"""A distance of time series of aeon, as a similarity.

    Parameters
    ----------
    name : str
        "adtw", "ddtw", "dtw", "dtw_gi", "edr", "erp", "lcss", "msm", "shape_dtw", "soft_dtw",
        "twe", "wddtw", "wdtw", which are elastic; "sbd", of cross-correlation; "euclidean",
        "manhattan", "minkowski" and "squared", which compare point by point.
    turn, sigma
        As for :class:`ScipyDistance`.
    n_jobs : int, default=None
        Number of threads; None is 1, -1 all cores.
    **parameters
        The distance's own parameters as in aeon, such as ``window``, ``nu`` and ``lmbda`` of
        "twe", ``c`` of "msm", ``epsilon`` of "lcss" and "edr", ``g`` of "erp" and "wdtw".

    Notes
    -----
    Points are series, arrays of shape (length,) or (n_channels, length), of any lengths; or a
    matrix with a series of one channel in each row; or an array of shape (n_series, n_channels,
    length). It needs the extra ``series``.

    References
    ----------
    M. Middlehurst et al. aeon: a Python toolkit for learning from time series. Journal of Machine
    Learning Research 25, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.similarities import AeonDistance
    >>> series = [np.array([0.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 2.0]), np.array([2.0, 0.0])]
    >>> AeonDistance("dtw")(series).round(2).tolist()
    [[0.0, 0.0, -9.0], [0.0, 0.0, -9.0], [-9.0, -9.0, 0.0]]
    """

    library = "aeon"
    structured = True
    columnwise = True

    @staticmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        from aeon import distances

        function = getattr(distances, f"{name}_distance", None)
        if function is None:
            raise ImportError(f"aeon.{name} needs a newer aeon than the one that is installed")
        found = keyword_defaults(function, 2)
        return {k: v for k, v in found.items() if k not in _NO_PARAMETERS}

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        from aeon import distances
        from numba import get_num_threads

        left, right = _series(X, "X"), _series(Y, "Y")
        one, other = _channels(left, "X"), _channels(right, "Y")
        if one != other:
            raise ValueError(
                f"series of 'X' have {one} channels and those of 'Y' {other}; they must have the "
                "same number"
            )
        pairwise = getattr(distances, f"{self.name}_pairwise_distance")
        n_jobs = min(effective_n_jobs(self.n_jobs or 1), get_num_threads())
        options = {**self._options(), "n_jobs": n_jobs}

        def compare(some: Any, others: Any) -> NDArray[Any]:
            with _one_at_a_time:
                return pairwise(some, others, **options)

        def of_all_lengths(some: Any, others: Any) -> NDArray[Any]:
            # aeon takes the left series to have one length if the right ones have, and applies a
            # window to padded series where these have several
            of_some, of_others = _by_length(some), _by_length(others)
            if len(of_some) == 1 or (len(of_others) > 1 and not limited):
                of_some = {0: np.arange(len(some))}
            if not limited or len(of_others) == 1:
                of_others = {0: np.arange(len(others))}
            if len(of_some) == len(of_others) == 1:
                return compare(some, others)
            values = np.empty((len(some), len(others)))
            for rows in of_some.values():
                left = [some[i] for i in rows]
                for columns in of_others.values():
                    right = [others[j] for j in columns]
                    values[np.ix_(rows, columns)] = compare(left, right)
            return values

        limited = any(options.get(key) is not None for key in ("window", "itakura_max_slope"))
        return by_blocks(of_all_lengths, left, right)


def _by_length(series: Any) -> dict[int, NDArray[np.intp]]:
    """Return the places of the series of each length."""
    lengths = np.array([one.shape[-1] for one in series])
    return {int(n): np.flatnonzero(lengths == n) for n in np.unique(lengths)}


def _series(points: Any, name: str) -> Any:
    """Return series as a matrix, or as a list of arrays (n_channels, length)."""
    if getattr(points, "ndim", 1) == 2:
        return np.asarray(points, dtype=np.float64)
    found = []
    for place, point in enumerate(points):
        try:
            series = np.asarray(point, dtype=np.float64)
        except (TypeError, ValueError):
            series = np.empty(0)
        if series.ndim not in (1, 2) or not series.size:
            raise ValueError(
                f"'{name}' must hold series of numbers, arrays of shape (length,) or (n_channels, "
                f"length), got {shown(point)} at {place}"
            )
        if not np.isfinite(series).all():
            raise ValueError(
                f"'{name}' must hold series without NaN and infinity, got one at {place}: "
                f"{shown(point)}"
            )
        found.append(series.reshape(-1, series.shape[-1]))
    return found


def _channels(series: Any, name: str) -> int:
    """Return the number of channels, which is the same for all series."""
    if isinstance(series, np.ndarray):
        return 1
    numbers = {len(one) for one in series}
    if len(numbers) > 1:
        raise ValueError(
            f"'{name}' must hold series of the same number of channels, got {sorted(numbers)}"
        )
    return numbers.pop()
