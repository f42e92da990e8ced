"""The seconds of trials in the committed results."""

import csv
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from kernlearn.datasets.resources import shipped
from kernlearn.experiments.config.model import DEFAULT_PROFILE, LoadedExperiment
from kernlearn.experiments.engine.spec import LABELS, CellKey, cell_key
from kernlearn.experiments.summary_files import parse_details, parse_parameters

# Folders of committed results, by profile.
_FOLDERS = {DEFAULT_PROFILE: "measured", "quick": "baseline", "smoke": "smoke"}


def committed_seconds(
    experiment: LoadedExperiment, fits: Mapping[CellKey, float]
) -> dict[CellKey, float]:
    """Return the mean seconds of a trial of each cell of an experiment, where they are committed.

    A summary has the seconds of each cell, or perhaps those of fitting and predicting alone. Then
    of all other time of the trials half is added in equal parts, half in proportion to the further
    ``fits`` that cells make to select parameters, if any does.
    """
    folder = _FOLDERS.get(experiment.profile)
    place = shipped("reported").parent / str(folder) / f"{experiment.name}.json"
    if folder is None or experiment.path.parent != shipped("configs"):
        return {}
    try:
        details = parse_details(place.read_text(encoding="utf-8"))
        if "seconds" in details:
            return {cell_key(parse_parameters(k)): s for k, s in details["seconds"].items()}
        return _from_means(place.with_suffix(".csv"), details["trial_seconds"], fits)
    except (OSError, ValueError, KeyError):  # a wheel without them, or a file of the user
        return {}


def _from_means(
    path: Path, trial_seconds: float, fits: Mapping[CellKey, float]
) -> dict[CellKey, float]:
    seconds: dict[CellKey, float] = defaultdict(float)
    splits: dict[CellKey, int] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if not row["mean"]:
                continue
            labels = {name: row[name] or None for name in LABELS}
            key = cell_key({**labels, **parse_parameters(row["params"])})
            metric = row["metric"]
            # times on the clock, not those of the processor nor ratios
            if metric.endswith("_seconds") and not metric.endswith("_cpu_seconds"):
                seconds[key] += float(row["mean"])
            if row["n_splits"]:
                splits[key] = int(float(row["n_splits"]))
    rest = max(0.0, trial_seconds - sum(seconds[key] * n for key, n in splits.items()))
    equal = rest / max(1, sum(splits.values()))
    further = {key: seconds[key] * (fits.get(key, 1.0) - 1) for key in splits}
    if whole := sum(further[key] * n for key, n in splits.items()):
        shares = {key: equal / 2 + rest / 2 * each / whole for key, each in further.items()}
    else:
        shares = dict.fromkeys(splits, equal)
    total = {key: seconds[key] + share for key, share in shares.items()}
    return {key: each for key, each in total.items() if each > 0}
