"""The bytes of files, packed or in archives, and errors for what is damaged or too large."""

import bz2
import gzip
import lzma
import os
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from kernlearn.datasets import room
from kernlearn.datasets.escaping import visible
from kernlearn.exceptions import DataError

#: The largest size of unpacked data, in bytes; no data set of the catalogue has a quarter of it.
LIMIT = 1 << 30
_BLOCK = 1 << 20
_LONGEST = 1600  # characters of a message
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
PACKED = (*OPENERS, ".Z")  # files packed by compress are found, but not read
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}
# Bytes that Python takes for a member's entry in the directory of an archive.
_OF_TAR_MEMBER, _OF_ZIP_BYTE = 2500, 25
#: The bytes among which the end of a ZIP archive's directory is; a comment may follow.
ZIP_END = (1 << 16) + 22
_END_OF_ZIP = b"PK\x05\x06"


def content_limit() -> int:
    """Return the largest size of a file, unpacked, that is read."""
    return room.given_limit() or min(LIMIT, room.allowed_room())


def is_archive(path: Path | str) -> bool:
    """Tell from its name whether a file is an archive, such as ``covertype.zip``."""
    return str(path).lower().endswith(ARCHIVES)


def archive_kind(path: Path) -> str:
    """Tell from the content of a file if it is a ".zip" or ".tar" archive; "" if it is none."""
    with path.open("rb") as opened:
        if opened.read(4) == b"PK\x03\x04":
            return ".zip"
    try:
        with _open_tar(path) as archive:
            return ".tar" if archive.next() is not None else ""  # packed zeros are no archive
    except Exception:  # the unpackers raise anything from EOFError to struct.error
        return ""


class _Careful:
    """A stream of a tape archive, of which no header may be huge.

    Some versions of tarfile read a header at once, others in pieces that follow each other.
    """

    def __init__(self, stream: Any) -> None:
        self.tell, self._stream, self._since = stream.tell, stream, 0

    def seek(self, *place: int) -> int:
        """Go to a place; what is read from there counts anew."""
        self._since = 0
        found: int = self._stream.seek(*place)
        return found

    def read(self, size: int = -1) -> bytes:
        """Read at most four megabytes from where a header or a part of a member begins."""
        if size == tarfile.BLOCKSIZE:
            self._since = 0
        self._since += size
        if size < 0 or self._since > 4 * _BLOCK:
            raise tarfile.ReadError(f"a header of {max(size, self._since)} bytes or more")
        data: bytes = self._stream.read(size)
        return data


@contextmanager
def _open_tar(path: Path) -> Iterator[tarfile.TarFile]:
    with ExitStack() as stack:
        stream: Any = stack.enter_context(path.open("rb"))
        head = stream.read(8)
        stream.seek(0)
        suffix = next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")
        if suffix:
            stream = stack.enter_context(OPENERS[suffix](stream, "rb"))
        careful: Any = _Careful(stream)
        yield stack.enter_context(tarfile.open(fileobj=careful, mode="r:"))


def _check_directory_of(path: Path) -> None:
    with path.open("rb") as opened:
        n_bytes = opened.seek(0, os.SEEK_END)
        opened.seek(max(0, n_bytes - ZIP_END))
        check_directory(path, opened.read(), n_bytes)


def check_directory(path: Path, end: bytes, n_bytes: int) -> None:
    """Refuse a ZIP archive whose directory is too large to be held.

    `end` are its last :data:`ZIP_END` bytes, `n_bytes` are all.
    """
    at = end.rfind(_END_OF_ZIP)
    if at >= 0 and len(end) >= at + 16:
        (size,) = struct.unpack_from("<I", end, at + 12)
        room.require_room(path, _OF_ZIP_BYTE * min(size, n_bytes), "the names of its members")


def container(path: Path) -> Path:
    """Return the archive of a path such as ``archive.zip/member``; any other path itself."""
    # a name that is too long makes pathlib raise
    found = (p for p in path.parents if is_archive(p.name) and os.path.isfile(p))  # noqa: PTH113
    return next(found, path)


def find_member(archive: Path, file: str, limit: int | None = None) -> str | None:
    """Return the full name of a file in an archive, or None.

    `file` is its path there, or the last component; the member may be compressed. An archive that
    is damaged or larger than `limit` (by default :func:`content_limit`), has a member that points
    outside of it, or several files of that name raises a DataError.
    """
    names = list_members(archive, limit)
    wanted = {file, *(file + suffix for suffix in PACKED)}
    if exact := sorted(wanted.intersection(names), key=len):
        return exact[0]
    members = [name for name in names if PurePosixPath(name).name in wanted]
    if len(members) > 1:
        raise DataError(
            f"{archive}: holds several files called {file}: "
            f"{', '.join(map(repr, members[:4]))}; unpack the right one next to the archive"
        )
    return members[0] if members else None


def list_members(archive: Path, limit: int | None = None) -> tuple[str, ...]:
    """List the files in an archive, with the guards of :func:`find_member`."""
    state = archive.stat()
    return _members(archive, limit or content_limit(), state.st_size, state.st_mtime_ns)


@lru_cache(maxsize=128)
def _members(archive: Path, limit: int, size: int, modified: int) -> tuple[str, ...]:
    names, total = [], 0
    with naming_damage(archive):
        if archive.suffix.lower() == ".zip":
            _check_directory_of(archive)
            with zipfile.ZipFile(archive) as packed:
                names = [info.filename for info in packed.infolist() if not info.is_dir()]
        else:
            watch = room.Watch(archive, "the names of its members")
            with _open_tar(archive) as tar:
                for member in tar:
                    names.append(member.name)
                    watch.passed(_OF_TAR_MEMBER)
                    total += member.size
                    if total > limit:  # before the next member is unpacked
                        raise too_large(archive, limit)
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/"))
        if not parts.parts:
            raise DataError(f"{archive}: has a member without a name; do not use this archive")
        if parts.is_absolute() or ".." in parts.parts or ":" in parts.parts[0]:
            raise DataError(
                f"{archive}: has a member {name!r:.60} that points outside of it; "
                "do not use this archive"
            )
    return tuple(names)


def read_bytes(path: Path, limit: int | None = None, *, unpack: bool = True) -> bytes:
    """Read a file, or a member of an archive as ``archive.zip/member``.

    Files that end in ``.gz``, ``.bz2`` or ``.xz`` are unpacked in memory, unless `unpack` is
    False. A file that cannot be read, is damaged or larger than `limit` (by default
    :func:`content_limit`) raises a DataError.
    """
    most = limit or content_limit()
    content = BytesIO()
    with _opened(path, limit, unpack) as stream:
        while block := stream.read(_BLOCK):
            content.write(block)
            if content.tell() > most:
                raise too_large(path, most)
    return content.getvalue()


def read_head(path: Path, n_bytes: int) -> bytes:
    """Read the first bytes of what :func:`read_bytes` reads."""
    with _opened(path) as stream:
        head: bytes = stream.read(n_bytes)
        return head


@contextmanager
def _opened(path: Path, limit: int | None = None, unpack: bool = True) -> Iterator[Any]:
    archive, name = container(path), path.name
    if archive != path:
        member = find_member(archive, path.relative_to(archive).as_posix(), limit)
        if member is None:
            raise DataError(f"{archive}: has no member {path.name}")
        name = member
    suffix = PurePosixPath(name).suffix if unpack else ""
    if suffix == ".Z":
        raise packed_by_compress(path)
    with naming_damage(path), ExitStack() as stack:
        stream = stack.enter_context(
            path.open("rb") if archive == path else _open_member(archive, name, stack)
        )
        if suffix in OPENERS:
            stream = stack.enter_context(OPENERS[suffix](stream, "rb"))
        yield stream


def _open_member(archive: Path, name: str, stack: ExitStack) -> IO[bytes]:
    """Open a member of an archive, which must be a plain file: links are not followed."""
    if archive.suffix.lower() == ".zip":
        _check_directory_of(archive)
        packed = stack.enter_context(zipfile.ZipFile(archive))
        if packed.getinfo(name).external_attr >> 28 in (0, 0o10):
            return packed.open(name)
    else:
        tar = stack.enter_context(_open_tar(archive))
        info = tar.getmember(name)
        if info.isreg() and (member := tar.extractfile(info)) is not None:
            return member
    raise DataError(f"{archive}: the member {PurePosixPath(name).name} is a link or no plain file")


def too_large(path: Path, limit: int) -> DataError:
    """Make the error for a file whose content exceeds a limit."""
    from rich.filesize import decimal

    return DataError(
        f"{path}: holds more than {decimal(limit)} unpacked, the limit; if that is right, "
        "unpack it and split it into several files, or allow more by --max-memory or "
        f"{room.VARIABLE}"
    )


def packed_by_compress(path: Path) -> DataError:
    """Make the error for a file that Python cannot unpack."""
    return DataError(f"{path}: packed by compress; unpack it with 'gzip -d' first")


@contextmanager
def naming_damage(path: Path, damage: str = "damaged or cut short") -> Iterator[None]:
    """Turn whatever a damaged file makes its reader raise into one clear line."""
    try:
        yield
    except DataError:
        raise
    except MemoryError:
        need = "needs more memory than there is"
        raise room.no_room(path, need, room.allowed_room()) from None
    except Exception as error:  # readers raise anything from EOFError to struct.error
        if isinstance(error, OSError) and error.errno is not None:
            reason = f"cannot be read: {error.strerror or one_line(error)}"
        else:
            reason = f"{damage}: {one_line(error)}"
        raise DataError(f"{path}: {reason}") from None


@contextmanager
def clear_errors() -> Iterator[None]:
    """Let each DataError be one line of some length, whatever names the data has.

    As a decorator it does so for a function.
    """
    try:
        yield
    except DataError as error:
        message = visible(str(error))
        if len(message) > _LONGEST:
            message = f"{message[: _LONGEST * 3 // 4]} … {message[-_LONGEST // 4 :]}"
        if message == str(error):
            raise
        raise DataError(message) from None


def one_line(error: Exception) -> str:
    """Return the message of an error as one short line."""
    return visible(" ".join(str(error).split()))[:200] or type(error).__name__
