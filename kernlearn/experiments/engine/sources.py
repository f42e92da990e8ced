"""Where a trial's data comes from: the catalogue, a generator, a file, or a plug-in."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config.model import DatasetEntry, ExperimentConfig, LoadedExperiment
from kernlearn.experiments.config.values import unfold, varied
from kernlearn.experiments.engine.protocol import generator, random_state
from kernlearn.experiments.engine.spec import DatasetSpec
from kernlearn.experiments.plugin_objects import OwnDataset, loaded_once
from kernlearn.experiments.scope import BUILT_IN, Scope

if TYPE_CHECKING:
    from sklearn.utils import Bunch


#: Labels, what the data is, and where it comes from.
Variant = tuple[dict[str, Any], DatasetSpec, dict[str, Any]]


@dataclass(frozen=True)
class StoredDataset:
    """What a data set was when it was measured.

    Attributes
    ----------
    what : DatasetSpec
        Its fingerprint and how it was prepared, as in the specifications of its trials.
    experiments : frozenset of str
        Those that measured trials on it.
    """

    what: DatasetSpec
    experiments: frozenset[str]


# A run goes through data sets one after the other; a few stay in memory for the next trial.
_KEPT = 4


def dataset_variants(
    label: str,
    experiment: LoadedExperiment,
    data_dir: Path | None,
    stored: Sequence[StoredDataset] | None = None,
) -> Iterator[Variant]:
    """Unfold an entry of ``datasets`` into the data sets that it stands for.

    Parameters
    ----------
    label : str
        Its label in the config.
    experiment : LoadedExperiment
    data_dir : Path or None
        Where published data is looked for first.
    stored : sequence of StoredDataset, optional
        What it was when it was measured, of several the latest first, for data that is not here.
        The first that was prepared as the entry says is taken, those of the same experiment
        before others: how missing values were filled shows in the fingerprint alone. It has no
        source.

    Yields
    ------
    labels : dict
        Varied parameters of a generator or of a plug-in's data set.
    what : DatasetSpec
        What the data is, for the trial's key: a fingerprint, or a generator's parameters.
    source : dict
        Where it comes from on this machine, for :func:`load_source`.
    """
    config = experiment.config
    entry = config.datasets[label]
    options: dict[str, Any] = {"nominal": entry.nominal, "binarize": entry.binarize}
    if entry.bins is not None:
        options["bins"] = entry.bins
    part = {k: v for k in ("classes", "sample") if (v := getattr(entry, k)) is not None}
    options |= part
    dataset = config.scope.datasets.get(entry.name or label)
    if entry.generator is not None:
        yield from _generated(entry, config, options, part)
        return
    if entry.file is None and dataset is not None:
        yield from _from_plugin(dataset, entry, config, options, part)
        return
    source: dict[str, Any] = {"nominal": entry.nominal, "missing": entry.missing}
    if entry.file is not None:
        file = experiment.path.parent / entry.file
        source |= {"file": str(file.resolve()), "target": entry.target}
    else:
        source |= {"name": entry.name or label}
    name = label if entry.file is not None else source["name"]
    if stored is not None:
        asked = DatasetSpec(name=name, **options)
        fitting = [s for s in stored if asked == replace(s.what, fingerprint=None, pairwise=None)]
        fitting.sort(key=lambda s: experiment.name not in s.experiments)
        yield from (({}, s.what, {}) for s in fitting[:1])
        return
    data = _load(source, data_dir)
    pairwise = data.get("similarity")
    what = DatasetSpec(name=name, fingerprint=data.fingerprint, pairwise=pairwise, **options)
    yield {}, what, {**source, "part": part}


def _generated(
    entry: DatasetEntry, config: ExperimentConfig, options: dict[str, Any], part: dict[str, Any]
) -> Iterator[Variant]:
    make = config.scope.generators[str(entry.generator)]
    if make.similarity is not None:
        options = {**options, "pairwise": make.similarity}
    own, how = {}, {}
    if isinstance(make, OwnDataset):
        own, how = make.identity, _numbers(entry, config)
    for parameters, _ in unfold(entry.parameters):
        labels = {k: parameters[k] for k in varied(entry.parameters)}
        made: dict[str, Any] = {"generator": entry.generator, "parameters": parameters}
        yield labels, DatasetSpec(**made, **own, **options), {**made, **how, "part": part}


def _from_plugin(
    dataset: OwnDataset,
    entry: DatasetEntry,
    config: ExperimentConfig,
    options: dict[str, Any],
    part: dict[str, Any],
) -> Iterator[Variant]:
    if dataset.similarity is not None:
        options = {**options, "pairwise": dataset.similarity}
    for parameters, _ in unfold(entry.parameters):
        labels = {k: parameters[k] for k in varied(entry.parameters)}
        made: dict[str, Any] = {"name": dataset.name, "parameters": parameters}
        source = {**made, **_numbers(entry, config)}
        content = {"fingerprint": _own(dataset, source).fingerprint}
        what = DatasetSpec(**made, **dataset.identity, **content, **options)
        yield labels, what, {**source, "part": part}


def _numbers(entry: DatasetEntry, config: ExperimentConfig) -> dict[str, bool]:
    """Say whether whole numbers are numbers; what a plug-in returns does not."""
    return {"numbers": config.task == "regression" or entry.bins is not None}


def load_source(
    source: dict[str, Any],
    data_dir: Path | None,
    *,
    seed: int,
    split: int,
    scope: Scope = BUILT_IN,
) -> "Bunch":
    """Return the data of a source; a generator draws anew for every split.

    Parameters
    ----------
    source : dict
        From :func:`dataset_variants`.
    data_dir : Path or None
        Where published data is looked for first.
    seed, split : int
        The experiment's seed and the number of the split.
    scope : Scope, optional
        Where a plug-in's data set or generator is found.

    Returns
    -------
    sklearn.utils.Bunch
    """
    part = source["part"]
    source = {k: v for k, v in source.items() if k not in ("part", "plugins")}
    if "generator" in source:
        make = scope.generators[source["generator"]]
        drawn = {**source["parameters"], "random_state": random_state(seed, "data", split)}
        if isinstance(make, OwnDataset):
            data = make(numbers=source["numbers"], parameters=drawn)
        else:
            data = make(**drawn)
    elif "parameters" in source:
        data = _own(scope.datasets[source["name"]], source)
    else:
        data = _load(source, data_dir)
    return _part(data, seed=seed, **part) if part else data


def _own(dataset: OwnDataset, source: dict[str, Any]) -> "Bunch":
    return loaded_once(dataset, source["numbers"], json.dumps(source["parameters"]))


def _part(
    data: "Bunch", *, seed: int, classes: list[str] | None = None, sample: int | None = None
) -> "Bunch":
    """Return some of the rows of a data set."""
    import numpy as np
    from sklearn.utils import Bunch

    n = data.data.shape[0]
    rows = np.arange(n)
    changed: dict[str, Any] = {}
    if classes is not None:
        names = [str(name) for name in data.target_names]
        unknown = [name for name in classes if name not in names]
        if unknown:
            have = f"has {', '.join(names)}" if names else "is not of classes"
            raise DataError(f"classes: no class {', '.join(unknown)}; the data {have}")
        kept = sorted(names.index(name) for name in classes)
        rows = np.flatnonzero(np.isin(data.target, kept))
        changed["target_names"] = np.asarray(data.target_names)[kept]
    if sample is not None and sample < len(rows):
        rows = np.sort(generator(seed, "sample").permutation(rows)[:sample])
        changed["sample"] = True
        changed["note"] = f"a random part of {sample} of {n} rows"
    for field in ("data", "target", "fold", "query"):
        if data.get(field) is not None:
            changed[field] = data[field][rows]
    if classes is not None:
        changed["target"] = np.searchsorted(kept, changed["target"])
    return Bunch(**{**data, **changed})


def _load(source: dict[str, Any], data_dir: Path | None) -> "Bunch":
    stamp = None
    if "file" in source:
        status = Path(source["file"]).stat()
        stamp = (status.st_mtime_ns, status.st_size)
    return _load_once(tuple(sorted(source.items())), data_dir, stamp)


@lru_cache(maxsize=_KEPT)
def _load_once(
    source: tuple[tuple[str, Any], ...], data_dir: Path | None, stamp: tuple[int, int] | None
) -> "Bunch":
    """Load and keep; the stamp of a user's own file makes an edited one another."""
    from kernlearn.datasets import load

    options = dict(source)
    if "file" in options:
        return load(Path(options.pop("file")), **options)
    return load(options.pop("name"), data_dir=data_dir, **options)
