"""Gathering moments of rows: from chunks in this process, or from partitions on a cluster."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from kernlearn import memory
from kernlearn.datasets.sources import Partition, RowChunk, RowSource
from kernlearn.onepass import first_look
from kernlearn.onepass.exact_sums import ExactGram, Floats
from kernlearn.onepass.first_look import FirstLook
from kernlearn.onepass.folds import HashSample, fold_of, label_hashes, row_hashes
from kernlearn.onepass.mapped import MappedModel
from kernlearn.onepass.moments import Layout, Moments, merged_grams
from kernlearn.onepass.partitions import reduce_partitions, runs_on_cluster
from kernlearn.onepass.repeated import check_lengths

#: Attributes that are computed from the moments when they are asked for.
SOLVED = frozenset(
    {"alpha_", "alphas_", "cv_errors_", "coef_", "intercept_", "coef_path_", "intercept_path_"}
)
#: Attributes that the check of the first chunk sets.
_SEEN = ("n_features_in_", "feature_names_in_", "_flat")


class RowGatherer(MappedModel):
    """What gathers the moments of rows for an estimator."""

    n_folds: int
    sample_rows: int
    fold_seed: int
    block_rows: int | None
    n_jobs: int | None
    n_features_in_: int
    _moments: Moments

    @abstractmethod
    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        """Return the classes and whether moments are by class; numeric targets have no classes."""

    @abstractmethod
    def _check_targets(self, y: Any, *, reset: bool) -> NDArray[Any]:
        """Return the targets of a chunk as rows of numbers, or its labels."""

    @abstractmethod
    def _multiples(self, y: NDArray[Any]) -> tuple[Floats, NDArray[np.intp] | None]:
        """Return the targets as whole numbers, and the codes of classes."""

    def _look(self, part: Partition) -> FirstLook:
        """Return what `fit` must know of a partition before it gathers moments."""
        model = copy(self)
        look = FirstLook(part.name, HashSample(self.sample_rows, self.fold_seed))
        for chunk in part:
            rows, targets, _ = model._checked(chunk, reset=not look.attributes)
            look.attributes = model._seen(_SEEN)
            look.add(rows, targets)
        if look.attributes:
            look.sample.rows()  # leaves nothing else to be sent
        return look

    def _take_look(self, source: RowSource) -> FirstLook:
        """Read the rows of a source for a sample, and keep what rows and targets are."""
        look = reduce_partitions(source, type(self)._look, first_look.merged, self._bare())
        for name in _SEEN:
            self.__dict__.pop(name, None)
        self.__dict__.update(look.attributes)
        return look

    def _gather_all(self, source: RowSource, classes: Any = None) -> None:
        """Add the rows of a source to the moments; without any the first chunk is the sample."""
        if not runs_on_cluster(source):
            for part in source.partitions:
                with part.naming_errors():
                    self._gather_part(part, classes)
            return
        with self._kept_on_error():
            if not self.__sklearn_is_fitted__():
                self._check_first(classes)
                self._start_on_cluster(source, classes)
            elif classes is not None:
                self._check_classes(classes)
            grams = reduce_partitions(source, type(self)._grams_of, merged_grams, self._bare())
            self._moments.merge_grams(grams)
            self._forget()

    def _gather_part(self, part: Partition, classes: Any = None) -> None:
        for chunk in part:
            first = not self.__sklearn_is_fitted__()
            checked = self._checked(chunk, reset=first)
            if first:
                self._check_first(classes)
                self._start(checked[0], checked[1], classes)
            elif classes is not None:
                self._check_classes(classes)
            self._gather(*checked)

    def _grams_of(self, part: Partition) -> list[ExactGram]:
        """Return the sums over a partition, without the layout, which the sender has."""
        model = self._bare()
        model._gather_part(part)
        return model._moments.grams()

    def _start_on_cluster(self, source: RowSource, classes: Any) -> None:
        """Fit the map on the first chunk where it is."""
        gather = partial(type(self)._started, classes=classes)
        for part in source.partitions:
            alone = RowSource.of_partitions(partial(list, [part]))
            found = reduce_partitions(alone, gather, _the_only, self._bare())
            if found:
                self.__dict__.update(found)
                return
        raise ValueError("the data have no rows")

    def _started(self, part: Partition, classes: Any) -> dict[str, Any]:
        """Return the attributes that a first chunk sets; none if there is no chunk."""
        model = copy(self)
        for chunk in part:
            rows, targets, _ = model._checked(chunk, reset=True)
            model._start(rows, targets, classes)
            return model._seen((*_SEEN, "_moments"))
        return {}

    def _seen(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: self.__dict__[name] for name in names if name in self.__dict__}

    @contextmanager
    def _kept_on_error(self) -> Iterator[None]:
        """Let the estimator be as it was if there is an error; moments must be new or complete."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _bare(self) -> Self:
        """Return a copy without rows, to be sent; workers have one thread for a task."""
        other = copy(self)
        other.n_jobs = None
        other._forget()
        if self.__sklearn_is_fitted__():
            other._moments = Moments(self._moments.layout)
        return other

    def _checked(self, chunk: RowChunk, *, reset: bool) -> tuple[Any, NDArray[Any], Any]:
        """Validate a chunk; without groups they are None."""
        X, y, *rest = chunk
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        X = self._check_rows(X, reset=reset)
        targets = self._check_targets(y, reset=reset)
        groups = None
        if rest:
            groups = np.asarray(rest[0])
        check_lengths(X, y=targets, groups=groups)
        return X, targets, groups

    def _check_first(self, classes: Any) -> None:
        """Refuse a first chunk without what the others cannot tell."""

    def _check_classes(self, classes: Any) -> None:
        """Refuse classes other than those of before."""

    def _start(self, X: Any, y: NDArray[Any], classes: Any) -> None:
        """Fit the map on a sample, and make empty moments."""
        options = self._layout_options(y, classes)
        feature_map = self._fitted_map(X, y)
        layout = Layout.of_sample(
            X, y, feature_map, n_folds=self.n_folds, seed=self.fold_seed, **options
        )
        n_columns = len(layout.features.units) + 1 + layout.n_targets
        memory.require_memory(
            24 * layout.n_groups * n_columns**2,
            None,
            f"moments of {n_columns} columns in {layout.n_groups} groups of rows",
            "take fewer features or folds",
        )
        self._moments = Moments(layout)
        self._forget()

    def _gather(self, X: Any, y: NDArray[Any], groups: Any) -> None:
        hashes = row_hashes(X, self.fold_seed) if groups is None else label_hashes(groups)
        places = fold_of(hashes, self.n_folds)
        targets, codes = self._multiples(y)
        if self._moments.layout.by_class and codes is not None:
            places = places * self._moments.layout.n_targets + codes
        self._moments.add(X, targets, places, self.block_rows, self.n_jobs)
        self._forget()

    def _forget(self) -> None:
        for name in SOLVED & self.__dict__.keys():
            del self.__dict__[name]

    def __sklearn_is_fitted__(self) -> bool:
        return "_moments" in self.__dict__


def _the_only(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    (value,) = values
    return value
