"""Sources of data: the catalogue, a file, a generator or a plug-in."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config.entries import DatasetEntry, unfold, varied
from kernlearn.experiments.config.model import LoadedExperiment
from kernlearn.experiments.engine.spec import DatasetSpec
from kernlearn.experiments.registry import BUILT_IN, Scope
from kernlearn.registration import RegisteredDataset

if TYPE_CHECKING:
    from sklearn.utils import Bunch

    from kernlearn.datasets import Card, Found

#: Labels, specification and source of a data set.
Variant = tuple[dict[str, Any], DatasetSpec, dict[str, Any]]

# Data sets kept in memory for the next trials; a run takes one after the other.
_KEPT = 4


@dataclass(frozen=True)
class StoredDataset:
    """A data set as a store records it.

    Attributes
    ----------
    what : DatasetSpec
        As in the specifications of its trials.
    experiments : frozenset of str
        The experiments that measured trials on it.
    """

    what: DatasetSpec
    experiments: frozenset[str]


def dataset_variants(
    label: str,
    experiment: LoadedExperiment,
    data_dir: Path | None,
    stored: Sequence[StoredDataset] | None = None,
    found: "Found | Card | None" = None,
) -> Iterator[Variant]:
    """Expand an entry of ``datasets`` into data sets.

    A data set that was loaded before is not read: its fingerprint is kept in the cache.

    Parameters
    ----------
    label : str
        Its label in the config.
    experiment : LoadedExperiment
    data_dir : Path or None
        Folder to search for data first.
    stored : sequence of StoredDataset, optional
        For a data set that is not found: what a store records of it, the latest first. Of those
        with the options of the entry the first is taken, preferably one that this experiment
        measured. (Their treatment of missing values shows in the fingerprint only.)
    found : Found, optional
        The files of a published data set, so that they are not located again.

    Yields
    ------
    labels : dict
        Varied parameters of a generator or of a plug-in's data set.
    what : DatasetSpec
        What the data is: a fingerprint, or a generator's parameters.
    source : dict
        Where it is on this machine, for :func:`load_source`; empty for a stored data set.
    """
    config = experiment.config
    entry = config.datasets[label]
    part = {k: v for k in ("classes", "sample") if (v := getattr(entry, k)) is not None}
    options: dict[str, Any] = {
        "nominal": entry.nominal, "binarize": entry.binarize, "bins": entry.bins, **part,
    }  # fmt: skip
    is_plugin = entry.file is None and (entry.name or label) in config.scope.datasets
    if entry.generator is not None or is_plugin:
        # whether whole numbers are numbers or classes, which a plug-in does not say
        numbers = config.task == "regression" or entry.bins is not None
        for labels, what, made in _made(label, entry, config.scope, options, numbers):
            yield labels, what, {**made, "part": part}
        return
    source: dict[str, Any] = {"nominal": entry.nominal, "missing": entry.missing}
    if entry.file is None:
        name = source["name"] = entry.name or label
    else:
        name = label
        file = experiment.path.parent / entry.file
        source |= {"file": str(file.resolve()), "target": entry.target}
    if stored is not None:
        like = DatasetSpec(name=name, **options)
        same = [s for s in stored if like == replace(s.what, fingerprint=None, pairwise=None)]
        same.sort(key=lambda s: experiment.name not in s.experiments)
        yield from (({}, s.what, {}) for s in same[:1])
        return
    fingerprint, pairwise = _content(source, data_dir, found)
    what = DatasetSpec(name=name, fingerprint=fingerprint, pairwise=pairwise, **options)
    yield {}, what, {**source, "part": part}


def _made(
    label: str, entry: DatasetEntry, scope: Scope, options: dict[str, Any], numbers: bool
) -> Iterator[Variant]:
    """Expand the parameters of a generator or of a plug-in's data set."""
    if entry.generator is not None:
        make, named = scope.generators[entry.generator], {"generator": entry.generator}
    else:
        make = scope.datasets[entry.name or label]
        named = {"name": make.name}
    for parameters, _ in unfold(entry.parameters):
        labels = {k: parameters[k] for k in varied(entry.parameters)}
        source: dict[str, Any] = {**named, "parameters": parameters}
        what = DatasetSpec(**source, pairwise=make.similarity, **options)
        if isinstance(make, RegisteredDataset):
            what = replace(what, **make.identity)
            source["numbers"] = numbers
            if entry.generator is None:
                what = replace(what, fingerprint=_plugin_data(make, source).fingerprint)
        yield labels, what, source


def _content(
    source: dict[str, Any], data_dir: Path | None, found: "Found | Card | None"
) -> tuple[str, str | None]:
    """Return the fingerprint of a data set, and the kind of its matrix if it is one."""
    from kernlearn.datasets.loading import known_fingerprint

    arguments = _arguments(source)
    if found is not None:
        arguments["name"] = found
    if known := known_fingerprint(**arguments, data_dir=data_dir):
        return known
    data = _load(source, data_dir)
    return data.fingerprint, data.get("similarity")


def load_source(
    source: dict[str, Any],
    data_dir: Path | None,
    *,
    seed: int,
    split: int,
    scope: Scope = BUILT_IN,
) -> "Bunch":
    """Load the data of a source; a generator draws new data for every split.

    Parameters
    ----------
    source : dict
        From :func:`dataset_variants`.
    data_dir : Path or None
        Folder to search for data first.
    seed, split : int
        The experiment's seed and the number of the split.
    scope : Scope, optional
        Where data sets and generators of plug-ins are found.

    Returns
    -------
    sklearn.utils.Bunch
    """
    from kernlearn.experiments.engine.protocol import random_state
    from kernlearn.experiments.plugin_data import make_data

    if "generator" in source:
        make = scope.generators[source["generator"]]
        drawn = {**source["parameters"], "random_state": random_state(seed, "data", split)}
        if isinstance(make, RegisteredDataset):
            data = make_data(make, numbers=source["numbers"], parameters=drawn)
        else:
            data = make(**drawn)
    elif "parameters" in source:
        data = _plugin_data(scope.datasets[source["name"]], source)
    else:
        data = _load(source, data_dir)
    return _part(data, seed=seed, **source["part"]) if source["part"] else data


def _plugin_data(dataset: RegisteredDataset, source: dict[str, Any]) -> "Bunch":
    from kernlearn.experiments.plugin_data import loaded_once

    return loaded_once(dataset, source["numbers"], json.dumps(source["parameters"]))


def _part(
    data: "Bunch", *, seed: int, classes: list[str] | None = None, sample: int | None = None
) -> "Bunch":
    """Return some of the rows of a data set."""
    import numpy as np
    from sklearn.utils import Bunch

    from kernlearn.experiments.engine.protocol import generator

    n = data.data.shape[0]
    rows = np.arange(n)
    changed: dict[str, Any] = {}
    if classes is not None:
        names = [str(name) for name in data.target_names]
        unknown = [name for name in classes if name not in names]
        if unknown:
            have = f"has {', '.join(names)}" if names else "has no classes"
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


def _arguments(source: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of :func:`kernlearn.datasets.load` for a source."""
    name = Path(source["file"]) if "file" in source else source["name"]
    return {
        "name": name,
        **{k: source[k] for k in ("nominal", "missing", "target") if k in source},
    }


def _load(source: dict[str, Any], data_dir: Path | None) -> "Bunch":
    arguments = _arguments(source)
    stamp = None
    if "file" in source:  # a user may edit it
        status = Path(source["file"]).stat()
        stamp = (status.st_mtime_ns, status.st_size)
    return _load_once(tuple(arguments.items()), data_dir, stamp)


@lru_cache(maxsize=_KEPT)
def _load_once(
    arguments: tuple[tuple[str, Any], ...], data_dir: Path | None, stamp: tuple[int, int] | None
) -> "Bunch":
    from kernlearn.datasets import load

    return load(**dict(arguments), data_dir=data_dir)
