"""Partitions of rows: parts of data that are read by themselves, here or on another machine."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn.lazy import needed_by

#: Rows X, and their targets y or None.
RowChunk = tuple[Any, Any]


@dataclass(frozen=True)
class Partition:
    """A part of the rows of a source.

    Iterating over it yields its chunks, which are computed in this process.

    Attributes
    ----------
    name : str
        What errors call it; empty where there is but one.
    read : callable
        Returns the chunks; a function of a module, so that it can be sent to where the data are.
    arguments : tuple
        Its arguments, after the values of `lazy`.
    lazy : tuple of Dask objects
        What has to be computed for it.
    """

    name: str
    read: Callable[..., Iterable[RowChunk]]
    arguments: tuple[Any, ...] = ()
    lazy: tuple[Any, ...] = ()

    def __iter__(self) -> Iterator[RowChunk]:
        values: Sequence[Any] = ()
        if self.lazy:
            import dask

            values = dask.compute(*self.lazy)
        return checked_chunks(self.read(*values, *self.arguments))

    def computed(self, values: Sequence[Any]) -> "Partition":
        """Return the partition with the values of its lazy arguments."""
        return Partition(self.name, self.read, (*values, *self.arguments))

    @contextmanager
    def naming_errors(self) -> Iterator[None]:
        """Say in errors that they are of this partition."""
        try:
            yield
        except Exception as error:
            if not self.name:
                raise
            if type(error) is ValueError:
                raise ValueError(f"{self.name}: {error}") from error
            error.add_note(f"in {self.name}")
            raise


def gathered(gather: Callable[[Partition], Any], part: Partition, *values: Any) -> Any:
    """Return what is gathered of a partition with the values of its lazy arguments."""
    with part.naming_errors():
        return gather(part.computed(values) if values else part)


def checked_chunks(chunks: Iterable[RowChunk]) -> Iterator[RowChunk]:
    """Yield chunks; refuse what is none."""
    for place, chunk in enumerate(chunks):
        if not (isinstance(chunk, tuple) and len(chunk) == 2):
            kind = type(chunk).__name__
            raise ValueError(f"chunk {place} must be a pair (X, y), got a {kind}")
        yield chunk


def of_files(
    paths: Sequence[str | Path], n_rows: int, target: str | None, options: dict[str, Any]
) -> list[Partition]:
    """Return each file as a partition, a Parquet file as several with some row groups each."""
    with needed_by("a source of files"):
        from kernlearn.datasets.chunks import chunk_format
        from kernlearn.datasets.table_batches import parquet_parts

    partitions = []
    for path in paths:
        file = Path(path)
        parquet = chunk_format(file, options.get("format")) == "parquet"
        parts = parquet_parts(file, options.get("row_groups")) if parquet else []
        if len(parts) < 2:
            partitions.append(Partition(str(file), _of_file, (file, n_rows, target, options)))
        for rows in parts if len(parts) > 1 else ():
            name = f"{file}, row groups {rows[0]} to {rows[-1]}"
            some = {**options, "row_groups": rows}
            partitions.append(Partition(name, _of_file, (file, n_rows, target, some)))
    return partitions


def of_arrays(X: Any, y: Any) -> list[Partition]:
    """Return the partitions of a Dask array or data frame, and those of its targets."""
    parts = [_delayed(X)] if y is None else [_delayed(X), _delayed(y)]
    lazy = zip(*parts, strict=True)
    return [Partition(f"partition {i}", _pair, lazy=both) for i, both in enumerate(lazy)]


def of_frame(frame: Any, target: str) -> list[Partition]:
    """Return the partitions of a Dask data frame with its targets."""
    parts = enumerate(_delayed(frame))
    return [Partition(f"partition {i}", _with_target, (target,), (part,)) for i, part in parts]


def of_delayed(chunks: Sequence[Any]) -> list[Partition]:
    """Return delayed chunks as partitions."""
    return [Partition(f"partition {i}", _alone, lazy=(c,)) for i, c in enumerate(chunks)]


def is_dask(data: Any) -> bool:
    """Tell whether data are a Dask array or data frame, without importing Dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr")


def are_delayed(data: Any) -> bool:
    """Tell whether data are a list of delayed objects of Dask."""
    several = isinstance(data, (list, tuple)) and len(data) > 0
    return several and all(is_dask(item) and hasattr(item, "dask") for item in data)


def _delayed(data: Any) -> list[Any]:
    parts = data.to_delayed()
    return list(parts.ravel() if hasattr(parts, "ravel") else parts)


def _of_file(
    path: Path, n_rows: int, target: str | None, options: dict[str, Any]
) -> Iterator[RowChunk]:
    with needed_by("a source of files"):
        from kernlearn.datasets.chunks import iter_chunks

    return iter_chunks(path, n_rows, target=target, **options)


def _pair(X: Any, y: Any = None) -> Iterator[RowChunk]:
    if X.shape[0]:
        yield X, y


def _with_target(frame: Any, target: str) -> Iterator[RowChunk]:
    return _pair(frame.drop(columns=[target]), frame[target])


def _alone(chunk: RowChunk) -> Iterator[RowChunk]:
    yield chunk
