r"""Covariances of means over test rows, for tests that take rows and splits apart.

A difference of two methods on a data set varies with the rows that are tested, and with the splits
into training and test rows. Its variance is :math:`s^2 / J + \sigma^2 / N` for the variance
:math:`s^2` over J splits and the variance :math:`\sigma^2` of what each of N rows adds to it. So a
report needs, of all methods that share test rows, the covariances of what rows add, divided by N.
They are means over the splits, from what trials keep (:mod:`kernlearn.engine.losses`).

Tests compute with sums and differences of splits. So that the same sums and differences apply to
the covariances, these are given as further *splits*, whose numbers are below 0: of a cell one for
each column of a root of the matrix. Products of two cells over these are their covariance; those
of other data are 0.

References
----------
Obuchowski & Rockette (1995), Hypothesis testing of diagnostic accuracy for multiple readers and
multiple tests. Gallas (2006), One-shot estimate of MRMC variance: AUC. Chen, Gallas & Yousef
(2012), Classifier variability: accounting for training and testing, Pattern Recognition 45.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.config.plan import Plan
from kernlearn.config.values import LABELS
from kernlearn.exceptions import ReportError, SummaryError
from kernlearn.reports.labels import data_labels, plain_labels
from kernlearn.reports.rows import COMPRESSED, read_table
from kernlearn.store import Row, values_from_text
from kernlearn.yaml import shortened

#: The column that has the covariances with the cells before, and the variance.
COVARIANCES = "covariances"
#: By how much the variance over rows is greater than what rows add. Those of an AUC leave the
#: training sets of other data fixed: in simulations (``benchmarks.comparisons``) equal methods
#: are called different in up to 9 % of tables without this factor, in 4 to 7 % with it.
EXCESS = {"auc": 1.25, "roc_auc": 1.25}
# Eigenvalues of correlations that are below this are rounding.
_ROUNDING = 1e-9


def covariances_of(plan: Plan, results: Mapping[str, Row]) -> pd.DataFrame:
    """Return the covariances of a plan's cells: a row for each cell and metric.

    Columns are the labels, ``metric``, and in ``covariances`` those with each cell of the same
    data and metric before, and with itself, as numbers in a text.
    """
    losses = (
        Losses(trial.labels, metric, trial.split, values_from_text(text), row.info["n_units"])
        for trial in plan.trials
        if (row := results.get(trial.key)) is not None and row.done
        for metric, text in row.info.get("losses", {}).items()
    )
    return covariances_of_losses(losses, plan.experiment.config)


class Losses(NamedTuple):
    """What rows add to a metric on a split, of a cell, and how many rows the data have."""

    labels: Mapping[str, Any]
    metric: str
    split: int
    values: NDArray[np.float64]
    n_units: int


def losses_of(
    frame: pd.DataFrame, splits: pd.DataFrame, experiment: LoadedExperiment
) -> Iterator[Losses]:
    """Yield the losses in rows of any program; ``splits`` are those that were read from them."""
    if "losses" not in frame:
        return
    known = {"n_train", "n_test"} <= {*frame}
    for i, row in enumerate(splits.to_dict("records")):
        given = frame["losses"].iloc[i]
        if pd.isna(given):
            continue
        texts = pd.Series(str(given).split())
        values = pd.to_numeric(texts, errors="coerce").to_numpy(dtype=float)
        if not (len(values) and np.isfinite(values).all()):
            raise ReportError(
                f"{experiment.name}: row {i + 1}: losses is {shortened(given)}, expected finite "
                "numbers with spaces between them"
            )
        if "unit" in frame and frame["unit"].iloc[i] == "%" and row["metric"] != "error_percent":
            values = values / 100
        n_rows = int(frame[["n_train", "n_test"]].iloc[i].sum()) if known else len(values)
        labels = {str(k): v for k, v in row.items()}
        yield Losses(labels, row["metric"], row["split"], values, n_rows)


def covariances_of_losses(losses: Iterable[Losses], config: ExperimentConfig) -> pd.DataFrame:
    """Return the covariances of cells as in :func:`covariances_of`."""
    labels, data = [*LABELS, *config.axes], data_labels(config)
    kept: dict[tuple[Any, ...], dict[int, dict[tuple[Any, ...], NDArray[np.float64]]]] = {}
    units: dict[tuple[Any, ...], int] = {}
    for one in losses:
        block = one.metric, *map(one.labels.get, data)
        cell = tuple(map(one.labels.get, labels))
        kept.setdefault(block, {}).setdefault(one.split, {})[cell] = one.values
        units[block] = one.n_units
    rows = []
    for block, splits in kept.items():
        cells = list(dict.fromkeys(chain(*splits.values())))
        matrix = EXCESS.get(block[0], 1.0) * _mean_covariance(cells, splits) / units[block]
        for place, cell in enumerate(cells):
            numbers = " ".join(f"{number:.6g}" for number in matrix[place, : place + 1])
            rows.append([*cell, block[0], numbers])
    return plain_labels(pd.DataFrame(rows, columns=[*labels, "metric", COVARIANCES]), labels)


def _mean_covariance(
    cells: list[tuple[Any, ...]],
    splits: Mapping[int, Mapping[tuple[Any, ...], NDArray[np.float64]]],
) -> np.ndarray:
    """Return the mean over the splits of the covariances between cells; 0 where none is known."""
    total, counts = np.zeros((2, len(cells), len(cells)))
    places = {cell: place for place, cell in enumerate(cells)}
    for of_split in splits.values():
        values = {places[cell]: of_cell for cell, of_cell in of_split.items()}
        # methods with other test rows than the rest are not compared with it
        ((length, _),) = Counter(map(len, values.values())).most_common(1)
        same = {place: of_cell for place, of_cell in values.items() if len(of_cell) == length > 1}
        if same:
            both = np.ix_([*same], [*same])
            total[both] += np.cov([*same.values()]).reshape(len(same), -1)
            counts[both] += 1
    return np.divide(total, counts, out=np.zeros_like(total), where=counts > 0)


def as_splits(covariances: pd.DataFrame, config: ExperimentConfig, name: str) -> pd.DataFrame:
    """Return covariances as further splits, numbered from -1 downwards."""
    if covariances.empty:
        return pd.DataFrame()
    labels, data = [*LABELS, *config.axes], data_labels(config)
    parts, used = [], 0
    for _, block in covariances.groupby(["metric", *data], dropna=False, sort=False):
        matrix = np.full((len(block), len(block)), np.nan)
        with suppress(ValueError):
            for place, text in enumerate(block[COVARIANCES]):
                numbers = np.array(str(text).split(), dtype=float).reshape(place + 1)
                matrix[place, : place + 1] = matrix[: place + 1, place] = numbers
        if not np.isfinite(matrix).all():
            where = f"{name}.rows.csv.gz, {block['dataset'].iloc[0]}"
            raise SummaryError(f"{where}: no half of a matrix of covariances: write it again")
        # of correlations, since variances may differ by more than the digits of a number
        scales = np.sqrt(np.diag(matrix))[:, None]
        scales[scales == 0] = 1
        values, vectors = np.linalg.eigh(matrix / scales / scales.T)
        is_used = values > _ROUNDING
        roots = scales * vectors[:, is_used] * np.sqrt(values[is_used])
        n_splits = roots.shape[1]
        rows = block[[*labels, "metric"]].iloc[np.repeat(np.arange(len(block)), n_splits)]
        numbers = np.tile(np.arange(used + 1, used + n_splits + 1), len(block))
        parts.append(rows.assign(split=-numbers, value=roots.ravel()))
        used += n_splits
    rows = pd.concat(parts, ignore_index=True)
    return rows.assign(experiment=name, converged=True, ratio=np.nan, drift=np.nan, selected=None)


def write_covariances(covariances: pd.DataFrame, name: str, folder: Path) -> None:
    """Write covariances beside the splits of an experiment, if there are any."""
    path = folder / f"{name}.rows.csv.gz"
    if covariances.empty:
        path.unlink(missing_ok=True)
    else:
        covariances.to_csv(path, index=False, compression=COMPRESSED)


def read_covariances(config: ExperimentConfig, name: str, folder: Path) -> pd.DataFrame:
    """Read the covariances that :func:`write_covariances` wrote.

    Raises
    ------
    SummaryError
        If the file cannot be read.
    """
    path, labels = folder / f"{name}.rows.csv.gz", [*LABELS, *config.axes]
    columns = [*labels, "metric", COVARIANCES]
    if not path.is_file():
        return pd.DataFrame(columns=columns)
    table = read_table(path, [*LABELS, "metric", COVARIANCES], columns)
    return plain_labels(table[columns], labels)
