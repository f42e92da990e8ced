"""Which file of an archive is the data, if a user gives an archive."""

from pathlib import Path, PurePosixPath

from kernlearn.datasets.unpacking import (
    PACKED,
    clear_errors,
    container,
    is_archive,
    list_members,
    read_head,
)
from kernlearn.exceptions import DataError

ZIP = b"PK\x03\x04"
#: Spreadsheets, most of which are ZIP archives.
SHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")
_KNOWN = (
    ".csv",
    ".tsv",
    ".tab",
    ".data",
    ".dat",
    ".arff",
    ".libsvm",
    ".svm",
    ".svmlight",
    ".ts",
    ".jsonl",
    ".ndjson",
    ".npz",
    ".mat",
    ".h5",
    ".hdf5",
    ".parquet",
    ".dta",
    *SHEETS,
)
_SHOWN = 5


@clear_errors()
def data_file(path: Path) -> Path:
    """Return the path of a data file, ``archive.zip/member`` for an archive with one.

    An archive without a file of a known format, or with several, raises a DataError that names
    its files. NPZ files and spreadsheets are no archives here.
    """
    if container(path) != path:
        return path
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    kind = _kind(path)
    if not kind:
        return path
    names = list_members(path) if is_archive(path) else _members_of_zip(path)
    if kind == ".zip" and names and all(name.endswith(".npy") for name in names):
        return path
    files = [name for name in names if not _is_hidden(name)]
    for member, ending in (("[Content_Types].xml", ".xlsx"), ("content.xml", ".ods")):
        if kind == ".zip" and member in names:
            raise DataError(
                f"{path}: an archive of {_listed(files)}: a spreadsheet needs the ending {ending}"
            )
    if not is_archive(path):
        raise DataError(f"{path}: an archive of {_listed(files)}: rename it to end in {kind}")
    found = files if len(files) == 1 else [f for f in files if suffix_of(f) in _KNOWN]
    if not found:
        found = [name for name in files if suffix_of(name) == ".txt"]
    found = [name for name in found if not is_archive(name)]
    if len(found) == 1:
        return path / found[0]
    if not found:
        raise DataError(
            f"{path}: an archive of {_listed(files)}, none of which is a data file of a known "
            "format: unpack it, and name the file with the data"
        )
    raise DataError(
        f"{path}: an archive with {len(found)} data files, {_listed(found)}: name one of them, as "
        f"{path.name}/{found[0]}"
    )


def suffix_of(name: str) -> str:
    """Return the ending of the name of a file, in lower case, without that of its packing."""
    path = PurePosixPath(name.lower())
    return PurePosixPath(path.stem).suffix if path.suffix in PACKED else path.suffix


def _kind(path: Path) -> str:
    """Return ".zip" or ".tar" for an archive, by its name or its content."""
    if suffix_of(path.name) in SHEETS:
        return ""
    if is_archive(path):
        return ".zip" if path.suffix.lower() == ".zip" else ".tar"
    return ".zip" if read_head(path, len(ZIP)) == ZIP else ""


def _members_of_zip(path: Path) -> tuple[str, ...]:
    """List the files of a ZIP archive that may be packed or have any name."""
    from kernlearn.datasets.arrays import member_names

    return member_names(path)


def _is_hidden(name: str) -> bool:
    """Tell the files apart that systems add to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in PurePosixPath(name).parts)


def _listed(names: list[str]) -> str:
    """Name the first of some files."""
    shown = ", ".join(f"{name!r:.60}" for name in names[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{shown}{more}" if names else "no files"
