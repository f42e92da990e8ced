"""Moments of the features and targets of rows by fold, gathered in one pass and merged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils import gen_even_slices
from sklearn.utils.parallel import Parallel, delayed
from threadpoolctl import threadpool_limits

from kernlearn import memory
from kernlearn.onepass.exact_sums import ExactGram, Floats, total
from kernlearn.onepass.grid import Grid, block_differences, multiples, transformer
from kernlearn.onepass.quadratic import Quadratic

_MOST_ROWS = 2**16
_CALL_BLOCKS = 4  # for one call of a map, which has blocks of its own: calls take time
_PROBES = 8  # rows of the sample whose features tell maps apart


@dataclass(frozen=True)
class Layout:
    """What moments that can be merged have in common.

    Attributes
    ----------
    n_features_in : int
        Number of columns of the rows.
    feature_map : transformer or None
        The fitted map; None for the rows themselves.
    features : Grid
        What features are rounded to.
    targets : Grid or None
        What numeric targets are rounded to.
    classes : ndarray of shape (n_classes,) or None
        The classes, each of which has an indicator as target.
    by_class : bool
        Whether moments are those of each class in each fold.
    n_folds : int
    seed : int
        Seed of the hashes by which rows get their fold.
    probe : bytes
        The rounded features of some rows of the sample.
    """

    n_features_in: int
    feature_map: Any
    features: Grid
    targets: Grid | None
    classes: NDArray[Any] | None
    by_class: bool
    n_folds: int
    seed: int
    probe: bytes

    @classmethod
    def of_sample(
        cls, X: Any, y: Any, feature_map: Any, classes: NDArray[Any] | None, **options: Any
    ) -> "Layout":
        """Make the layout from a fitted map and the sample that it was fitted on."""
        transform = transformer(feature_map)
        Z = transform(X)
        differences = None if feature_map is None else block_differences(transform, X)
        features = Grid.of_sample(Z, differences)
        targets = Grid.of_sample(y) if classes is None else None
        probe = np.empty((min(_PROBES, X.shape[0]), Z.shape[1]))
        multiples(features, transform, X[:_PROBES], probe, 1)
        return cls(
            X.shape[1], feature_map, features, targets, classes, probe=probe.tobytes(), **options
        )

    @property
    def n_targets(self) -> int:
        """Number of targets, or classes."""
        known = self.classes if self.targets is None else self.targets.units
        return len(known)  # type: ignore[arg-type]

    @property
    def n_groups(self) -> int:
        """Number of groups of rows with moments of their own."""
        return self.n_folds * (self.n_targets if self.by_class else 1)

    def differences(self, other: "Layout") -> list[str]:
        """Return what keeps moments from being merged, in words."""
        pairs: dict[str, tuple[Any, Any]] = {
            "n_features": (self.n_features_in, other.n_features_in),
            "n_targets": (self.n_targets, other.n_targets),
            "classes": (_listed(self.classes), _listed(other.classes)),
            "moments by class": (self.by_class, other.by_class),
            "n_folds": (self.n_folds, other.n_folds),
            "fold_seed": (self.seed, other.seed),
            "number of features of the map": (
                len(self.features.units),
                len(other.features.units),
            ),
        }
        found = [f"{name}: {one} and {two}" for name, (one, two) in pairs.items() if one != two]
        if found:
            return found
        if self.probe != other.probe or not _same(self.features, other.features):
            name = type(self.feature_map).__name__ if self.feature_map is not None else "None"
            return [
                f"the feature map ({name}) or the sample that it was fitted on: fit it once "
                "('fit_map') and send copies of the estimator to where the data are"
            ]
        if not _same(self.targets, other.targets):
            return ["the sample of the targets, which gave them their unit"]
        return []


class Moments:
    """Sums over rows of products of features and targets, by group, exact to the bit.

    Parameters
    ----------
    layout : Layout

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.onepass import Moments
    >>> from kernlearn.onepass.moments import Layout
    >>> X, y = np.array([[1.0], [2.0], [4.0]]), np.array([0, 1, 1])
    >>> options = {"by_class": False, "n_folds": 1, "seed": 0}
    >>> layout = Layout.of_sample(X, y, None, np.array([0, 1]), **options)
    >>> here, there = Moments(layout), Moments(layout)
    >>> here.add(X[:2], np.eye(2)[y[:2]], np.zeros(2, dtype=np.intp))
    >>> there.add(X[2:], np.eye(2)[y[2:]], np.zeros(1, dtype=np.intp))
    >>> here.merge(there)
    >>> sums = here.sums([0])
    >>> here.n_rows, sums.target_first.tolist(), sums.covariance.round(2).tolist()
    (3, [1.0, 2.0], [[1.56]])
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._n_features = len(layout.features.units)
        n_columns = self._n_features + 1 + layout.n_targets
        self._grams = [ExactGram(n_columns) for _ in range(layout.n_groups)]
        self._in_part = False  # whether an error left rows of a chunk in and others out

    @property
    def n_rows(self) -> int:
        """Number of rows so far."""
        return sum(gram.n_rows for gram in self._grams)

    def add(
        self,
        X: Any,
        targets: Floats,
        groups: NDArray[np.intp],
        block_rows: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        """Add rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n_samples, n_features_in)
        targets : ndarray of shape (n_samples, n_targets)
            Whole numbers: multiples of the units of `layout.targets`, or indicators of classes.
        groups : ndarray of shape (n_samples,), int
            The group of each row.
        block_rows : int, default=None
            Rows per block; None chooses by memory.
        n_jobs : int, default=None
            Number of threads. The sums do not depend on it.

        Raises
        ------
        ValueError
            If features are not finite or too large. Unless this is seen in the first block, some
            of the rows have been added, and the moments can no longer be used.
        """
        self._check_whole()
        k = self._n_features
        n_columns = k + 1 + self.layout.n_targets
        size = block_rows or min(
            memory.block_rows(n_columns, block_bytes=memory.PRODUCT_BYTES), _MOST_ROWS
        )
        block = np.empty((min(size, X.shape[0]), n_columns))
        for start in range(0, X.shape[0], size):
            rows = slice(start, min(start + size, X.shape[0]))
            order = np.argsort(groups[rows], kind="stable") + start
            part = block[: len(order)]
            part[:, k] = 1
            part[:, k + 1 :] = targets[order]
            ends = np.bincount(groups[rows], minlength=len(self._grams)).cumsum()
            cuts = [slice(int(a), int(b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
            self._add_block(X[order], part, cuts, min(effective_n_jobs(n_jobs), len(order)))
            self._in_part = True
        self._in_part = False
        if effective_n_jobs(n_jobs) > 1:
            memory.return_freed_memory()

    def _add_block(self, X: Any, block: Floats, cuts: list[slice], n_jobs: int) -> None:
        """Add sorted rows; `cuts` are those of the groups."""
        k = self._n_features
        transform = transformer(self.layout.feature_map)
        depends = getattr(self.layout.feature_map, "depends_on_block", None)
        size = _CALL_BLOCKS * memory.block_rows(k)

        def write(rows: slice) -> None:
            multiples(
                self.layout.features,
                transform,
                X[rows],
                block[rows, :k],
                size,
                depends_on_block=depends is None or depends(X),
            )

        if n_jobs == 1:
            write(slice(0, len(block)))
            for gram, cut in zip(self._grams, cuts, strict=True):
                gram.add(block[cut])
            return
        # BLAS threads in each of these threads would be too many
        with threadpool_limits(limits=1, user_api="blas"):
            parallel = Parallel(n_jobs, require="sharedmem")
            parallel(delayed(write)(rows) for rows in gen_even_slices(len(block), n_jobs))
            parallel(
                delayed(gram.add)(block[cut]) for gram, cut in zip(self._grams, cuts, strict=True)
            )

    def merge(self, other: "Moments") -> None:
        """Add the rows of other moments.

        Raises
        ------
        ValueError
            If they are of other features, folds or classes; the message says of which.
        """
        if found := self.layout.differences(other.layout):
            raise ValueError(f"these moments cannot be merged, they differ in {'; '.join(found)}")
        for moments in (self, other):
            moments._check_whole()
        self.merge_grams(other._grams)

    def grams(self) -> list[ExactGram]:
        """Return the sums of each group, without what they are of: enough to be sent."""
        self._check_whole()
        for gram in self._grams:
            gram.lower_limbs()  # brings them to their final form
        return self._grams

    def merge_grams(self, grams: Sequence[ExactGram]) -> None:
        """Add the sums of rows with the same layout."""
        self._check_whole()
        for mine, theirs in zip(self._grams, grams, strict=True):
            mine.merge(theirs)

    def _check_whole(self) -> None:
        if self._in_part:
            raise ValueError(
                "an error left a chunk added in part: begin again with 'fit_map', and chunks "
                "without the fault"
            )

    def sums(self, groups: Iterable[int]) -> "Sums":
        """Return the sums over some groups, added exactly and then rounded to float64."""
        self._check_whole()
        layout, k = self.layout, self._n_features
        chosen = [(1, self._grams[group]) for group in groups]
        units = np.ones(k + 1 + layout.n_targets)
        units[:k] = layout.features.units
        if layout.targets is not None:
            units[k + 1 :] = layout.targets.units
        gram = total(chosen, len(units)) * units * units[:, np.newaxis]
        return Sums(
            count=float(gram[k, k]),
            first=gram[k, :k],
            second=gram[:k, :k],
            cross=gram[:k, k + 1 :],
            target_first=gram[k, k + 1 :],
            target_second=gram.diagonal()[k + 1 :],
        )

    def rows_of(self, groups: Iterable[int]) -> int:
        """Return the number of rows in some groups."""
        return sum(self._grams[group].n_rows for group in groups)

    def limbs(self) -> list[NDArray[np.int64]]:
        """Return the exact sums of each group, see ``ExactGram.limbs``."""
        return [gram.limbs() for gram in self._grams]


def merged_grams(parts: Sequence[Sequence[ExactGram]]) -> list[ExactGram]:
    """Return the sums of each group over several parts, which stay as they are."""
    return [ExactGram.merged(grams) for grams in zip(*parts, strict=True)]


@dataclass(frozen=True)
class Sums:
    """Sums over rows of the features z, about their centres, and the targets t.

    Attributes
    ----------
    count : float
        Number of rows, or the sum of their weights.
    first, second : ndarray of shape (n_features,), (n_features, n_features)
        Sums of z and z zᵀ.
    cross : ndarray of shape (n_features, n_targets)
        Sum of z tᵀ.
    target_first, target_second : ndarray of shape (n_targets,)
        Sums of t and t².
    """

    count: float
    first: Floats
    second: Floats
    cross: Floats
    target_first: Floats
    target_second: Floats

    @property
    def mean(self) -> Floats:
        """Mean of the features."""
        return self.first / self.count

    @property
    def target_mean(self) -> Floats:
        """Means of the targets."""
        return self.target_first / self.count

    @property
    def covariance(self) -> Floats:
        """Covariance of the features, with divisor n."""
        return self.second / self.count - np.outer(self.mean, self.mean)

    def signed(self) -> "Sums":
        """Return the sums for targets of -1 and 1 in place of indicators; one for two classes."""
        chosen = slice(1, None) if len(self.target_first) == 2 else slice(None)
        return Sums(
            self.count,
            self.first,
            self.second,
            2 * self.cross[:, chosen] - self.first[:, np.newaxis],
            2 * self.target_first[chosen] - self.count,
            np.full(len(self.target_first[chosen]), self.count),
        )

    def residuals(self, mean: Floats, target_mean: Floats) -> Quadratic:
        r"""Return :math:`\sum (t - \bar t - \langle w, z - \bar z \rangle)^2` as a function of w.

        One for each target, with given means.
        """
        first, n = self.first, self.count
        shift = np.outer(first, mean)
        return Quadratic(
            self.second - shift - shift.T + n * np.outer(mean, mean),
            self.cross
            - np.outer(first, target_mean)
            - np.outer(mean, self.target_first)
            + n * np.outer(mean, target_mean),
            self.target_second - 2 * target_mean * self.target_first + n * target_mean**2,
        )


def weighted(parts: Sequence[Sums], weights: Sequence[float]) -> Sums:
    """Return the sums over rows with a weight for each part."""
    names = ("count", "first", "second", "cross", "target_first", "target_second")
    return Sums(
        **{
            name: sum(w * getattr(part, name) for w, part in zip(weights, parts, strict=True))
            for name in names
        }
    )


def _same(one: Grid | None, two: Grid | None) -> bool:
    if one is None or two is None:
        return one is two
    return np.array_equal(one.centers, two.centers) and np.array_equal(one.units, two.units)


def _listed(classes: NDArray[Any] | None) -> Any:
    return None if classes is None else classes.tolist()
