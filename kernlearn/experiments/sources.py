"""Where a trial's data comes from: the catalogue, a generator, or a file of one's own."""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.exceptions import DataError
from kernlearn.experiments.config import DatasetEntry
from kernlearn.experiments.seeds import generator, random_state
from kernlearn.experiments.values import unfold, varied

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# A run goes through data sets one after the other; a few stay in memory for the next trial.
_KEPT = 4


def dataset_variants(
    label: str, entry: DatasetEntry, folder: Path, data_dir: Path | None
) -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    """Unfold an entry of ``datasets`` into the data sets that it stands for.

    Parameters
    ----------
    label : str
        Its label in the config.
    entry : DatasetEntry
    folder : Path
        Folder of the config, from which files are named.
    data_dir : Path or None
        Where published data is looked for first.

    Yields
    ------
    labels : dict
        Varied parameters of a generator.
    what : dict
        What the data is, for the trial's key: a fingerprint, or a generator's parameters.
    source : dict
        Where it comes from on this machine, for :func:`load_source`.
    """
    options: dict[str, Any] = {"nominal": entry.nominal, "binarize": entry.binarize}
    if entry.bins is not None:
        options["bins"] = entry.bins
    part = {k: v for k in ("classes", "sample") if (v := getattr(entry, k)) is not None}
    options |= part
    if entry.generator is not None:
        from kernlearn.datasets import generators

        similarity = generators()[entry.generator].similarity
        if similarity is not None:
            options["pairwise"] = similarity
        for parameters, _ in unfold(entry.parameters):
            labels = {k: parameters[k] for k in varied(entry.parameters)}
            made = {"generator": entry.generator, "parameters": parameters}
            yield labels, {**made, **options}, {**made, "part": part}
        return
    source: dict[str, Any] = {"nominal": entry.nominal, "missing": entry.missing}
    if entry.file is not None:
        source |= {"file": str((folder / entry.file).resolve()), "target": entry.target}
    else:
        source |= {"name": entry.name or label}
    name = label if entry.file is not None else source["name"]
    data = _load(source, data_dir)
    what = {"name": name, "fingerprint": data.fingerprint, **options}
    if "similarity" in data:
        what["pairwise"] = data.similarity
    yield {}, what, {**source, "part": part}


def load_source(
    source: dict[str, Any], data_dir: Path | None, *, seed: int, split: int
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

    Returns
    -------
    sklearn.utils.Bunch
    """
    part = source["part"]
    source = {k: v for k, v in source.items() if k != "part"}
    if "generator" in source:
        from kernlearn.datasets import generators

        make = generators()[source["generator"]]
        data = make(**source["parameters"], random_state=random_state(seed, "data", split))
    else:
        data = _load(source, data_dir)
    return _part(data, seed=seed, **part) if part else data


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
