"""Data sets that are read in chunks: the key `stream`, and what goes with it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from kernlearn.config.checks import Count, Fault, Fraction, Names, Section
from kernlearn.config.suggestions import suggestion
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    from kernlearn.config.entries import DatasetEntry

#: The tasks for which data may be streams.
STREAM_TASKS = ("classification", "bipartite_ranking", "regression")
#: Formats of cards that are read in chunks.
CARD_FORMATS = ("libsvm", "parquet")
# Keys of data sets in memory, and those of a file alone.
_IN_MEMORY = (
    "sheet",
    "matrix",
    "points",
    "nominal",
    "missing",
    "dense",
    "grades",
    "classes",
    "sample",
    "bins",
)
_Counts = Count | Annotated[list[Count], Field(min_length=1)]


class StreamEntry(Section):
    """How the rows of a stream are read and divided."""

    rows: _Counts | None = Field(
        default=None,
        description="how many rows are read to train on, those held out among them; by default "
        "all of a file. A list makes one trial for each number, and a label of results",
    )
    chunk_size: Count = Field(default=10_000, description="rows per chunk")
    hold_out: Fraction = Field(
        default=0.1, description="share of the rows that is held out, by a hash of their entries"
    )
    test_rows: Count = Field(
        default=10_000,
        description="the most rows to test on: the first held out, of all the stream",
    )
    workers: _Counts | None = Field(
        default=None,
        description="number of processes among which the chunks are divided, by Dask; by default "
        "the trial reads them itself. A list makes one trial for each number",
    )
    n_features: Count | None = Field(default=None, description="columns of a LIBSVM `file`")
    zero_based: bool = Field(
        default=False, description="whether the indices of a LIBSVM `file` begin at 0"
    )

    @property
    def axes(self) -> dict[str, Any]:
        """The numbers that are lists, by label."""
        return _lists({"rows": self.rows, "workers": self.workers})

    @property
    def reading(self) -> dict[str, Any]:
        """What it says of the file."""
        return {"n_features": self.n_features, "zero_based": self.zero_based or None}


def _lists(section: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in section.items() if isinstance(value, list)}


def with_stream_axes(entry: Any) -> Any:
    """Return the keys of an entry as it is written, with the numbers of its stream."""
    stream = entry.get("stream")
    if not isinstance(stream, dict):
        return entry
    found = {key: stream[key] for key in ("rows", "workers") if key in stream}
    return {**entry, **_lists(found)}


def stream_faults(entry: "DatasetEntry", names: Names) -> Iterator[Fault]:
    """Yield what is wrong with a data set that is a stream, apart from its parameters."""
    stream = entry.stream
    assert stream is not None
    if names.task not in STREAM_TASKS:
        allowed = ", ".join(STREAM_TASKS)
        yield ("stream",), f"has no place with task: {names.task}; streams are for {allowed}"
    for key in _IN_MEMORY:
        if getattr(entry, key) is not None:
            yield (key,), "is for data in memory; the rows of a stream are taken as they are"
    if entry.binarize == "random":
        yield ("binarize",), "name the positive classes: those of a stream are not known before"
    if names.folds is not None:
        yield ("stream",), "folds are for data in memory; a stream has `hold_out`"
    if entry.generator is not None:
        yield from _drawn_faults(entry, names)
    elif entry.file is not None and not entry.file.endswith((".yaml", ".yml")):
        yield from _file_faults(entry, names)
    elif entry.name in names.scope.datasets:
        text = f"the plug-in makes {entry.name} in memory; write a file, and name that"
        yield ("stream",), text
    else:
        yield from _card_faults(entry, names)
    if entry.generator is None and stream.workers is not None and stream.rows is not None:
        text = "the first rows of a file are read in their order: leave out rows or workers"
        yield ("stream", "workers"), text


def _drawn_faults(entry: "DatasetEntry", names: Names) -> Iterator[Fault]:
    from kernlearn.datasets.drawn_rows import STREAMS

    stream = entry.stream
    made = STREAMS.get(entry.generator or "")
    assert stream is not None
    if made is None:
        hint = suggestion(str(entry.generator), STREAMS)
        if entry.generator in names.scope.generators:
            hint = f": it draws all rows at once; streams are {', '.join(STREAMS)}"
        yield ("generator",), f"no stream {entry.generator!r}{hint}"
        return
    if stream.rows is None:
        yield ("stream", "rows"), f"is missing: {entry.generator} has no end"
    for key in ("binarize", "target"):
        if getattr(entry, key) is not None:
            yield (key,), "is for rows that are read"
    if entry.drop:
        yield ("drop",), "is for rows that are read"
    yield from _not_of_file(entry)
    if names.task == "regression" and not made.draws_numbers:
        yield (), f"{entry.generator} draws classes, and `task: regression` needs numbers"
    if stream.workers is not None and not made.divided:
        text = f"{entry.generator} draws one row after the other; take product_rows"
        yield ("stream", "workers"), text


def _file_faults(entry: "DatasetEntry", names: Names) -> Iterator[Fault]:
    from kernlearn.datasets.chunks import chunk_format

    path = names.folder / str(entry.file)
    if not path.is_file():
        yield ("file",), f"no file {entry.file!r} in the config's folder, {names.folder}"
        return
    try:
        kind = chunk_format(path)
    except DataError as error:
        yield ("file",), str(error)
        return
    assert entry.stream is not None
    if kind == "libsvm":
        if entry.stream.n_features is None:
            yield ("stream", "n_features"), f"is missing: no chunk of {entry.file} tells it"
        if entry.target is not None or entry.drop:
            yield (), f"{entry.file} is read as LIBSVM, whose columns have no names"
        return
    if not isinstance(entry.target, str):
        yield ("target",), f"must be the name of the column of {entry.file} to predict"
    if not all(isinstance(column, str) for column in entry.drop):
        yield ("drop",), "must be names of columns"
    yield from _not_of_file(entry)


def _card_faults(entry: "DatasetEntry", names: Names) -> Iterator[Fault]:
    from kernlearn.config.targets import SUITABLE, named_card

    try:
        card = named_card(entry, names)
    except DataError as error:
        yield (), str(error)
        return
    if card is None:
        return  # a fault that is reported elsewhere
    formats = {form.format.kind for form in card.forms}
    if not formats & {*CARD_FORMATS}:
        text = (
            f"{card.name} is in the format {', '.join(sorted(formats))}, which is not read in "
            "chunks; LIBSVM and Parquet are, and by `file` CSV with names in its first line"
        )
        yield ("stream",), text
    if card.task not in SUITABLE.get(names.task, (card.task,)):
        yield (), f"{card.name} suits `task: {card.task}`, not `task: {names.task}`"
    if entry.target is not None or entry.drop:
        yield (), "target and drop go with file: a card names its own"
    yield from _not_of_file(entry)


def _not_of_file(entry: "DatasetEntry") -> Iterator[Fault]:
    assert entry.stream is not None
    for key, value in entry.stream.reading.items():
        if value is not None:
            yield ("stream", key), "is for a LIBSVM file"
