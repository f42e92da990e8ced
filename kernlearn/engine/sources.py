"""The data of a config's entries: what is known of it without reading, and its folds."""

from pathlib import Path
from typing import Any

from kernlearn import datasets
from kernlearn.config.model import ExperimentConfig
from kernlearn.datasets.loading import Known, known
from kernlearn.exceptions import DataError


def known_data(arguments: dict[str, Any], found: Any, data_dir: Path | None) -> Known:
    """Return what is known of a data set, which is read if it was not before."""
    place = {**arguments, "name": found or arguments["name"]}
    kept = known(**place, data_dir=data_dir)
    if kept is None:
        from kernlearn.engine.build import read_data

        data = read_data(arguments, data_dir)
        kept = known(**place, data_dir=data_dir)
        if kept is None:  # the cache cannot be written
            form = data.card.forms[0] if found is None else found.form
            kept = Known(
                datasets.Found(form, (), data.card),
                data.fingerprint,
                data.get("similarity"),
                data.preparation,
            )
    return kept


def check_folds(label: str, config: ExperimentConfig, of_data: Known) -> None:
    """Refuse published folds where there are none, or fewer than splits."""
    if config.protocol.folds != "published":
        return
    folds, done, splits = of_data.found.form.folds, of_data.preparation, config.protocol.splits
    if not folds:
        text = "the data set has no published folds; give a number"
    elif done.rows_dropped:
        text = (
            f"{done.rows_dropped} of {done.rows} rows with missing entries are left out, so that "
            "the published folds do not hold; fill entries in, or give a number"
        )
    elif splits > len(folds):
        text = f"{len(folds)} published folds make at most {len(folds)} splits, not {splits}"
    else:
        return
    raise DataError(f"{label}: `folds: published`: {text}")
