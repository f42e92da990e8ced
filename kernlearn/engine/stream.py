"""Supervised trials on streams: rows are read in chunks, and never all in memory.

A method is fitted in one of three ways. Estimators of one pass get a source of rows; the steps of
a pipeline before them become their feature map. Others get one chunk after the other by
`partial_fit`, and earlier steps are fitted on the first chunk. With ``in_memory`` all rows are
gathered, and the method is fitted as on any data; that is then part of what is measured.
"""

import inspect
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import file_digest
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from kernlearn import datasets
from kernlearn.config.model import DatasetEntry
from kernlearn.config.names import Scope
from kernlearn.config.spec import DatasetSpec, Source, Trial, unfold, varied
from kernlearn.datasets.artificial import STREAMS
from kernlearn.datasets.stream import Partition, RowSource
from kernlearn.engine import build, machine
from kernlearn.engine.build import SCALERS, random_state, refuse_filling
from kernlearn.engine.tasks import Task, refuse_many
from kernlearn.exceptions import DataError
from kernlearn.lazy import needed_by
from kernlearn.onepass import fold_of, row_hashes

Rows = tuple[Any, np.ndarray]

# What a trial's specification says of a stream besides how its file is read.
_DIVISION = ("rows", "workers", "chunk_size", "hold_out", "test_rows")
# Rows are held out in whole numbers of so many parts.
_PARTS = 2**20
# Rows on which methods are tried before anything is timed, and of which kernels learn.
_FIRST = 64
_NO_ROWS = "the stream has no rows to train on"


def stream_variants(
    label: str, entry: DatasetEntry, folder: Path
) -> Iterator[tuple[dict[str, Any], DatasetSpec, Source]]:
    """Expand a data set that is a stream, by its varied parameters and numbers of rows."""
    stream, source = entry.stream, Source()
    assert stream is not None
    how = {key: getattr(stream, key) for key in ("chunk_size", "hold_out", "test_rows")}
    named: dict[str, Any] = {"generator": entry.generator}
    if entry.generator is None:
        if entry.file is None:
            raise DataError(f"{label}: `stream` needs a `file` or a `generator`")
        path = (folder / entry.file).resolve()
        reading = {"target": entry.target, "drop": entry.drop or None, **stream.reading}
        how |= {key: value for key, value in reading.items() if value is not None}
        source = Source(stream=str(path))
        named = {"name": label, "fingerprint": _content_hash(path)}
    for parameters, _ in unfold(entry.parameters):
        for numbers, _ in unfold(stream.numbers):
            named |= {"parameters": parameters or None, "stream": {**how, **numbers}}
            what = DatasetSpec(nominal="ordinal", binarize=entry.binarize, **named)
            labels = {k: parameters[k] for k in varied(entry.parameters)}
            yield {**labels, **{k: numbers[k] for k in varied(stream.numbers)}}, what, source


def _content_hash(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _sources(trial: Trial, numbers: bool) -> tuple[RowSource, RowSource]:
    """Return the rows that are read to train on, and these with all that comes after."""
    what = trial.spec.dataset
    how = what.stream or {}
    if what.generator is not None:
        seed = random_state(trial.spec.protocol.seed, "data", trial.split)
        draw, more = STREAMS[what.generator].source, what.parameters or {}
        size = how["chunk_size"]
        return draw(how["rows"], size, seed, numbers, **more), draw(
            None, size, seed, numbers, **more
        )
    path = Path((trial.source or Source()).stream or "")
    if what.fingerprint != _content_hash(path):
        raise DataError(
            f"{trial.labels['dataset']}: not the file that the trial was planned for: it was "
            "changed since, or a worker reads another copy"
        )
    reading = {key: value for key, value in how.items() if key not in _DIVISION}
    source = datasets.row_source(path, n_rows=how["chunk_size"], **reading)
    return source, source


@dataclass(frozen=True)
class Division:
    """Which rows are held out, and what all rows become.

    A hash of their entries tells which ones: it does not depend on the order or the chunks, and
    equal rows are on the same side.
    """

    share: float
    seed: int
    positive: Sequence[str] | None
    numbers: bool
    dense: bool
    scalers: tuple[Any, ...] = ()

    def part(self, chunk: tuple[Any, Any], held: bool = False) -> Rows:
        """Return the rows of a chunk that are held out, or the others."""
        X, y = chunk
        out = fold_of(row_hashes(X, self.seed), _PARTS) < round(self.share * _PARTS)
        rows = np.flatnonzero(out if held else ~out)
        X, y = X[rows], self._targets(np.asarray(y)[rows])
        if self.dense and sparse.issparse(X):
            X = X.toarray()
        for scaler in self.scalers if len(rows) else ():
            X = scaler.transform(X)
        return X, y

    def _targets(self, y: np.ndarray) -> np.ndarray:
        if self.numbers:
            if y.dtype.kind not in "fiu":
                raise DataError(f"the target is text, such as {y[0]!r}, and numbers are needed")
            return y.astype(np.float64)
        if self.positive is None:
            return y
        # configs have 1 for 1.0
        names = [str(int(v)) if isinstance(v, float) and v == int(v) else str(v) for v in y]
        return np.isin(np.array(names, dtype=object), self.positive).astype(np.int64)

    def chunks(self, source: Iterable[Any], limit: int | None = None) -> Iterator[Rows]:
        """Yield the rows to train on among the first ones."""
        for chunk in _first(source, limit):
            X, y = self.part(chunk)
            if len(y):
                yield X, y

    def held_out(self, source: Iterable[Any], most: int) -> Iterator[Rows]:
        """Yield the first rows that are held out."""
        for chunk in source:
            X, y = self.part(chunk, held=True)
            if len(y):
                yield X[:most], y[:most]
            most -= len(y)
            if most <= 0:
                return


def _first(chunks: Iterable[Any], n_rows: int | None) -> Iterator[Any]:
    left = np.inf if n_rows is None else n_rows
    for chunk in chunks:
        yield chunk if len(chunk[1]) <= left else tuple(values[: int(left)] for values in chunk)
        left -= len(chunk[1])
        if left <= 0:
            return


def _division(trial: Trial, training: Iterable[Any], numbers: bool) -> Division:
    """Return how the rows of a trial are divided, with scaling that is learnt from them."""
    what, protocol = trial.spec.dataset, trial.spec.protocol
    how, positive = what.stream or {}, what.binarize if isinstance(what.binarize, list) else None
    seed = random_state(protocol.seed, "held out", trial.split)
    division = Division(how["hold_out"], seed, positive, numbers, bool(trial.spec.method.dense))
    for name in protocol.scale:
        scaler = SCALERS[name]()
        for X, _ in division.chunks(training, how.get("rows")) if name != "unit_norm" else ():
            refuse_filling(name, X)
            scaler.partial_fit(X)
        division = replace(division, scalers=(*division.scalers, scaler))
    return division


def _first_rows(chunks: Iterable[Rows], numbers: bool) -> Rows:
    """Return some of the first rows, among them some of each class.

    Chunks are read until there are two classes, or no more rows.
    """
    X_parts, y_parts, seen = [], [], 0
    for X, y in chunks:
        rows = np.arange(len(y)) < _FIRST
        for label in () if numbers else np.unique(y)[:_FIRST]:
            rows[np.flatnonzero(y == label)[: _FIRST // 2]] = True
        X_parts.append(X[rows])
        y_parts.append(y[rows])
        seen += len(y)
        if seen >= _FIRST and len(np.unique(np.concatenate(y_parts))) > 1:
            break
    return _stacked(X_parts), _stacked(y_parts)


def _stacked(parts: list[Any]) -> Any:
    """Put rows below each other, while what has been copied is let go of."""
    if not parts:
        raise DataError(_NO_ROWS)
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    shape = sum(len(part) for part in parts), *parts[0].shape[1:]
    result, start = np.empty(shape, dtype=np.result_type(*parts)), 0
    for i, part in enumerate(parts):
        result[start : start + len(part)] = part
        start += len(part)
        parts[i] = None
    return result


def _fit(estimator: Any, way: str, source: RowSource, classes: np.ndarray | None = None) -> None:
    """Fit an estimator on rows in chunks, in one of the three ways."""
    if way == "rows":
        estimator.fit(source)
        return
    if way == "memory":
        X_parts, y_parts = [], []
        for X, y in source:
            X_parts.append(X)
            y_parts.append(y)
        estimator.fit(_stacked(X_parts), _stacked(y_parts))
        return
    *maps, (_, last) = getattr(estimator, "steps", [("", estimator)])
    begun, options = False, {} if classes is None else {"classes": classes}
    for X, y in source:
        for _, step in maps:
            X = (step if begun else step.fit(X, y)).transform(X)
        last.partial_fit(X, y, **({} if begun else options))
        begun = True
    if not begun:
        raise DataError(_NO_ROWS)


def follow(task: Task, trial: Trial, scope: Scope, data_dir: Path | None) -> build.Outcome:
    """Fit a method on the rows of a stream, and evaluate it on those held out."""
    spec, outcome, numbers = trial.spec, build.Outcome(), task.name == "regression"
    how, metrics = spec.dataset.stream or {}, outcome.metrics
    training, whole = _sources(trial, numbers)
    division, limit = _division(trial, training, numbers), how.get("rows")
    first = _first_rows(division.chunks(whole, limit), numbers)
    estimator = build.build_estimator(trial, scope, build.build_kernel(trial, scope, *first))
    way = "chunks"
    if spec.method.in_memory:
        way = "memory"
    elif build.method_parts(scope, spec.method)[-1][1].reads_rows:
        way = "rows"
        if isinstance(estimator, Pipeline):
            maps = estimator[:-1]
            feature_map = maps if len(maps) > 1 else maps[0]
            estimator = estimator[-1].set_params(feature_map=feature_map)
    with _workers(how.get("workers")) as client:
        _warm_up(estimator, way, first, task.output, client)
        source = RowSource(lambda: division.chunks(training, limit))
        classes = None
        if way == "chunks" and not numbers and _asks_classes(estimator):
            classes = np.unique(np.concatenate([np.unique(y) for _, y in source]))
        if client is not None:
            parts = [Partition(p.name, division.chunks, (p,)) for p in training.partitions]
            source = RowSource.of_partitions(lambda: parts)
        with task.fitting(outcome.info, metrics) as fitting:
            _fit(estimator, way, source, classes)
    sizes = [(len(chunk[1]), len(division.part(chunk)[1])) for chunk in _first(training, limit)]
    read, n_train = np.sum(sizes, axis=0)
    predicting, true, predicted = machine.Stopwatch(), [], []
    for X, y in division.held_out(whole, how["test_rows"]):
        with predicting:
            values = getattr(estimator, task.output)(X)
        predicted.append(task.checked(values, len(y)))
        true.append(y)
    if not true:
        raise DataError("no row is held out to test on: give more rows, or a larger `hold_out`")
    y_test = np.concatenate(true)
    if task.output == "decision_function":
        refuse_many(task.name, len(np.unique(y_test)))
    metrics |= task.measure(y_test, np.concatenate(predicted))
    metrics |= {"fit_seconds": fitting.wall, "predict_seconds": predicting.wall}
    metrics["predict_cpu_seconds"] = predicting.cpu
    if client is None:  # the processor seconds of other processes are not known
        metrics["fit_cpu_seconds"] = fitting.cpu
    outcome.info |= {"n_train": int(n_train), "rows_read": int(read), "n_test": len(y_test)}
    outcome.info["disturbed"] = predicting.disturbed or (fitting.disturbed and client is None)
    return outcome


@contextmanager
def _workers(count: int | None) -> Iterator[Any]:
    """Start so many processes that read partitions within a block, and yield their client."""
    if count is None:
        yield None
        return
    with needed_by("a stream with workers"):
        import dask
        from distributed import Client, LocalCluster
    # by default Dask lets them give freed memory back at once, and each thread has its own
    name = "distributed.nanny.pre-spawn-environ"
    keeping = {"MALLOC_TRIM_THRESHOLD_": str(2**40), "MALLOC_MMAP_MAX_": "0"}
    settings = {name: {**dask.config.get(name), **keeping, "MALLOC_ARENA_MAX": "1"}}
    how = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": ":0"}
    with (
        dask.config.set(settings),
        LocalCluster(n_workers=count, **how) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(count)
        yield client


def _asks_classes(estimator: Any) -> bool:
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    return "classes" in inspect.signature(last.partial_fit).parameters


def _warm_up(estimator: Any, way: str, first: Rows, output: str, client: Any) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    _try_out(estimator, way, first, output)
    if client is not None:
        # in each process, then through the scheduler
        client.run(_try_out, estimator, way, first, output)
        parts = [Partition("the first rows", list, ([first],))]
        _try_out(estimator, way, first, output, RowSource.of_partitions(lambda: parts))
        client.run(machine.return_freed_memory)


def _try_out(
    estimator: Any, way: str, first: Rows, output: str, source: RowSource | None = None
) -> None:
    model = clone(estimator)
    classes = np.unique(first[1]) if way == "chunks" and _asks_classes(model) else None
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        _fit(model, way, source or RowSource(lambda: [first]), classes)
        getattr(model, output)(first[0])


class RiverClassifier(ClassifierMixin, BaseEstimator):
    """A model of river for two classes, such as ``"linear_model.LogisticRegression"``.

    In `settings`, a mapping with the key ``class`` is another object of river, such as
    ``{"class": "optim.SGD", "lr": 0.1}``. A zero of a sparse point is a feature that the point
    does not have.
    """

    def __init__(self, model: str = "linear_model.LogisticRegression", settings: Any = None):
        self.model, self.settings = model, settings

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from each training point once, in their order."""
        X, y = validate_data(self, X, y, accept_sparse="csr")
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.model_ = _made({"class": self.model, **(self.settings or {})})
        for point, code in zip(_points(X), codes, strict=True):
            self.model_.learn_one(point, bool(code))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the probability of ``classes_[1]`` less a half, shape (n_samples,)."""
        X = validate_data(self, X, reset=False, accept_sparse="csr")
        probabilities = (self.model_.predict_proba_one(point) for point in _points(X))
        return np.array([each.get(True, 0.5) - 0.5 for each in probabilities])

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each point, shape (n_samples,)."""
        labels: np.ndarray = self.classes_[(self.decision_function(X) > 0).astype(int)]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse, tags.classifier_tags.multi_class = True, False
        return tags


def _points(X: Any) -> Any:
    if sparse.issparse(X):
        parts = ((row.indices.tolist(), row.data.tolist()) for row in X)
        return (dict(zip(*part, strict=True)) for part in parts)
    return (dict(enumerate(row)) for row in X.tolist())


def _made(value: Any) -> Any:
    """Make the object of river that a mapping describes, and those in its parameters."""
    if not (isinstance(value, Mapping) and "class" in value):
        return value
    module, _, name = f"river.{value['class']}".rpartition(".")
    settings = {key: _made(value) for key, value in value.items() if key != "class"}
    return getattr(import_module(module), name)(**settings)
