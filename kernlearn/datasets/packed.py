"""Packed files: read from a compressed file or out of an archive, never unpacked on disk."""

import bz2
import gzip
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from kernlearn.exceptions import DataError

LIMIT = 1 << 30  # bytes; no data set of the catalogue is a quarter of this
_CHUNK = 1 << 20
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSED = tuple(OPENERS)
PACKED = (*COMPRESSED, ".Z")  # found, but the last one is not read
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def is_archive(path: Path | str) -> bool:
    """Tell by its name whether a file is an archive of other files.

    Parameters
    ----------
    path : path-like
        A file's name or path.

    Returns
    -------
    bool

    Examples
    --------
    >>> from kernlearn.datasets.packed import is_archive
    >>> is_archive("covertype.zip"), is_archive("covtype.data.gz")
    (True, False)
    """
    return str(path).lower().endswith(ARCHIVES)


def container(path: Path) -> Path:
    """Return the file on disk in which a path lies.

    Parameters
    ----------
    path : pathlib.Path
        A file, or a member of an archive written as ``archive.zip/member``.

    Returns
    -------
    pathlib.Path
        The archive for a member, else the path itself.
    """
    return next((p for p in path.parents if is_archive(p.name) and p.is_file()), path)


def find_member(archive: Path, file: str) -> str | None:
    """Find a file in an archive by its path there, or by its base name.

    Parameters
    ----------
    archive : pathlib.Path
        The archive.
    file : str
        The path in the archive, or a base name; the member may be compressed once more.

    Returns
    -------
    str or None
        The member's full name; None if there is none.

    Raises
    ------
    DataError
        If the archive is damaged, has a member that points outside of it, or has several
        files of that name.
    """
    state = archive.stat()
    names = _members(archive, state.st_size, state.st_mtime_ns)
    wanted = {file, *(file + suffix for suffix in PACKED)}
    if exact := sorted(wanted.intersection(names), key=len):
        return exact[0]
    found = [name for name in names if PurePosixPath(name).name in wanted]
    if len(found) > 1:
        raise DataError(
            f"{archive}: holds several files called {file}: {', '.join(map(repr, found[:4]))}; "
            f"unpack the right one beside the archive"
        )
    return found[0] if found else None


@lru_cache(maxsize=128)
def _members(archive: Path, size: int, changed: int) -> tuple[str, ...]:
    """List the files of an archive; size and time of change make a changed one read anew."""
    with _damage_told(archive):
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as packed:
                names = [info.filename for info in packed.infolist() if not info.is_dir()]
        else:
            names, total = [], 0
            with tarfile.open(archive, "r:*") as tar:
                for member in tar:
                    names.append(member.name)
                    total += member.size
                    if total > LIMIT:  # before what follows is unpacked
                        raise _too_large(archive)
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
            raise DataError(
                f"{archive}: has a member {name!r:.60} that points outside of it; "
                "do not use this archive"
            )
    return tuple(names)


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if it is compressed or lies in an archive.

    Parameters
    ----------
    path : pathlib.Path
        A file; ``.gz``, ``.bz2`` and ``.xz`` are unpacked; ``archive.zip/member`` is read
        out of the archive.

    Returns
    -------
    bytes

    Raises
    ------
    DataError
        If it cannot be read, is damaged, or holds more than :data:`LIMIT` bytes.
    """
    archive = container(path)
    if archive == path:
        with _damage_told(path), path.open("rb") as raw:
            return _unpacked(path, path.name, raw)
    name = find_member(archive, path.relative_to(archive).as_posix())
    if name is None:
        raise DataError(f"{archive}: has no member {path.name}")
    with _damage_told(path):
        if archive.suffix.lower() == ".zip":
            with zipfile.ZipFile(archive) as packed, packed.open(name) as member:
                return _unpacked(path, name, member)
        with tarfile.open(archive, "r:*") as tar:
            info = tar.getmember(name)
            extracted = tar.extractfile(info) if info.isfile() else None
            if extracted is None:
                raise DataError(f"{archive}: the member {path.name} is no plain file")
            with extracted:
                return _unpacked(path, name, extracted)


def _unpacked(path: Path, name: str, raw: IO[bytes]) -> bytes:
    suffix = PurePosixPath(name).suffix
    if suffix == ".Z":
        raise DataError(f"{path}: packed by compress; unpack it with 'gzip -d' first")
    if suffix not in OPENERS:
        return _bounded(path, raw)
    with OPENERS[suffix](raw, "rb") as unpacked:
        return _bounded(path, unpacked)


def _bounded(path: Path, file: IO[bytes]) -> bytes:
    content = BytesIO()
    while chunk := file.read(_CHUNK):
        content.write(chunk)
        if content.tell() > LIMIT:
            raise _too_large(path)
    return content.getvalue()


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path}: holds more than {LIMIT >> 20} MiB unpacked; if that is right, unpack it "
        "and cut it into several files"
    )


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Turn whatever a damaged file makes the unpackers raise into one clear line."""
    try:
        yield
    except DataError:
        raise
    except (gzip.BadGzipFile, tarfile.TarError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: damaged or cut short: {_line(error)}") from None
    except OSError as error:
        if error.errno is None:  # bz2 has no error of its own
            raise DataError(f"{path}: damaged or cut short: {_line(error)}") from None
        raise DataError(f"{path}: cannot be read: {error.strerror or _line(error)}") from None
    except Exception as error:  # the unpackers raise anything from EOFError to struct.error
        raise DataError(f"{path}: damaged or cut short: {_line(error)}") from None


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
