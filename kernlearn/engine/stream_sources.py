"""The data sets of a config that are streams: what is known of them without reading rows."""

from collections.abc import Iterator
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from kernlearn.config.entries import DatasetEntry, unfold, varied
from kernlearn.config.spec import DatasetSpec, Source
from kernlearn.datasets.cache import recall, remember, stamp
from kernlearn.datasets.chunks import chunk_format
from kernlearn.datasets.finding import find, is_file, is_path
from kernlearn.exceptions import DataError

#: What a trial's specification says of a stream beside how its file is read.
_DIVISION = ("rows", "workers", "chunk_size", "hold_out", "test_rows")


def stream_variants(
    label: str, entry: DatasetEntry, folder: Path, data_dir: Path | None
) -> Iterator[tuple[dict[str, Any], DatasetSpec, Source]]:
    """Expand a data set that is a stream, by its varied parameters and numbers.

    A file is read once for a hash of its content, which is kept until it changes.
    """
    stream = entry.stream
    assert stream is not None
    how = {key: getattr(stream, key) for key in ("chunk_size", "hold_out", "test_rows")}
    source = Source()
    named: dict[str, Any] = {"generator": entry.generator}
    if entry.generator is None:
        place = entry.name if entry.file is None else str((folder / entry.file).resolve())
        source = Source(stream=place)
        reading = {"target": entry.target, "drop": entry.drop or None, **stream.reading}
        how |= {key: value for key, value in reading.items() if value is not None}
        paths, _ = files_of(source, how, data_dir)
        named = {"name": entry.name or label, "fingerprint": content_hash(paths)}
    for parameters, _ in unfold(entry.parameters):
        for given, _ in unfold(stream.numbers):
            what = DatasetSpec(
                nominal="ordinal",
                binarize=entry.binarize,
                **named,
                parameters=parameters or None,
                stream={**how, **given},
            )
            labels = {k: parameters[k] for k in varied(entry.parameters)}
            yield {**labels, **{k: given[k] for k in varied(stream.numbers)}}, what, source


def files_of(
    source: Source, how: dict[str, Any], data_dir: Path | None
) -> tuple[list[Path], dict[str, Any]]:
    """Return the files of a stream, and the options by which they are read."""
    place = source.stream or ""
    if is_path(place) and is_file(place):
        path = Path(place)
        options = {key: value for key, value in how.items() if key not in _DIVISION}
        chunk_format(path)  # refuses what cannot be read
        return [path], options
    found = find(place, data_dir)
    form, card = found.form.format, found.card
    if form.kind == "libsvm":
        options = {"n_features": card.n_features, "zero_based": form.zero_based}
    elif form.kind == "parquet" and not form.nominal:
        options = {"n_features": card.n_features, "target": form.target, "drop": form.drop}
    else:
        why = "has nominal columns" if form.kind == "parquet" else f"has the format {form.kind}"
        raise DataError(f"{card.name}: {found.place} {why}, and is not read in chunks")
    for path in found.paths:
        chunk_format(path)
    return list(found.paths), options


def content_hash(paths: list[Path]) -> str:
    """Return a hash of the content of files, which is kept until one of them changes."""
    mark = stamp("content", paths, {})
    known = recall(mark)
    if not isinstance(known, str):
        digests = []
        for path in paths:
            with path.open("rb") as file:
                digests.append(file_digest(file, "sha256").digest())
        known = sha256(b"".join(digests)).hexdigest()
        remember(mark, known)
    return known
