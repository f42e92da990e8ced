"""The sources of rows of a trial whose data set is a stream."""

from pathlib import Path

from kernlearn.config.spec import Source, Trial
from kernlearn.datasets.drawn_rows import STREAMS
from kernlearn.datasets.sources import RowSource, row_source
from kernlearn.engine.protocol import random_state
from kernlearn.engine.stream_sources import content_hash, files_of
from kernlearn.exceptions import DataError


def training_source(trial: Trial, data_dir: Path | None, numbers: bool) -> RowSource:
    """Return the rows of a trial's stream that are read to train on; a file has them all."""
    what = trial.spec.dataset
    if what.generator is not None:
        return _drawn(trial, numbers, (what.stream or {})["rows"])
    return _read(trial, data_dir)


def whole_source(trial: Trial, data_dir: Path | None, numbers: bool) -> RowSource:
    """Return the rows of a trial's stream beyond those as well; it may have no end."""
    if trial.spec.dataset.generator is not None:
        return _drawn(trial, numbers, None)
    return _read(trial, data_dir)


def _drawn(trial: Trial, numbers: bool, n_rows: int | None) -> RowSource:
    what, seed = trial.spec.dataset, trial.spec.protocol.seed
    assert what.stream is not None
    return STREAMS[what.generator or ""].source(
        n_rows,
        what.stream["chunk_size"],
        random_state(seed, "data", trial.split),
        numbers,
        **(what.parameters or {}),
    )


def _read(trial: Trial, data_dir: Path | None) -> RowSource:
    what, source = trial.spec.dataset, trial.source or Source()
    assert what.stream is not None
    paths, reading = files_of(source, what.stream, data_dir)
    if what.fingerprint != content_hash(paths):
        raise DataError(
            f"{trial.labels['dataset']}: not the file that the trial was planned for: it was "
            "changed since, or a worker reads another copy"
        )
    return row_source(paths, n_rows=what.stream["chunk_size"], **reading)
