"""What a publisher sent, recognised by its content: a file, a packed file, an archive, a page."""

import lzma
import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

from kernlearn.datasets._packed import OPENERS, PACKED
from kernlearn.datasets._transfer import size
from kernlearn.exceptions import DataError

_BLOCK = 1 << 20
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x1f\x9d": ".Z"}
# files that are archives themselves are wanted whole
_OWN = {".zip", ".npz", ".xlsx", ".ods", ".tar", ".tgz"}
_DAMAGED = (
    EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile,
    NotImplementedError, RuntimeError, ValueError,
)  # fmt: skip


class _Member(NamedTuple):
    name: str
    plain: bool  # neither a link nor a folder nor a device
    open: Callable[[], IO[bytes] | None]


def unpack(body: Path, file: str, member: str, folder: Path, max_bytes: int) -> Path:
    """Make a data set's file out of what was transferred.

    Parameters
    ----------
    body : pathlib.Path
        What came.
    file : str
        The name of the file wanted. It is taken out of a ZIP or TAR archive, or the whole
        is the file, packed or not.
    member : str
        Its path in the archive, or its last name there.
    folder : pathlib.Path
        Where the file is written, and nothing else.
    max_bytes : int
        The largest size, unpacked.

    Returns
    -------
    pathlib.Path
        ``folder / file``, with ``.gz``, ``.bz2``, ``.xz`` or ``.Z`` after it if it is packed.

    Raises
    ------
    DataError
        If the file is not in there, unsafe, too large or damaged; the message is the
        reason alone.
    """
    with body.open("rb") as opened:
        head = opened.read(512)
    if not head.strip():
        raise DataError("the server sent an empty file")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) and not file.endswith((".html", ".htm")):
        raise DataError("the server sent a web page, not the file")
    members = None
    if Path(file).suffix not in _OWN:
        if head.startswith(b"PK\x03\x04"):
            members = _zip_members
        elif _is_tar(body):
            members = _tar_members
    if members is not None:
        with _damage_told("the archive"), members(body, max_bytes) as listed:
            return _take_out(listed, file, member, folder, max_bytes)
    suffix = next((s for magic, s in _MAGIC.items() if head.startswith(magic)), "")
    if suffix in OPENERS:
        with _damage_told("the file"), OPENERS[suffix](body, "rb") as stream:
            _copy(stream, None, max_bytes)
    target = folder / (file if file.endswith(suffix) else file + suffix)
    shutil.copyfile(body, target)  # the archive of several files is used more than once
    return target


@contextmanager
def _damage_told(what: str) -> Iterator[None]:
    try:
        yield
    except _DAMAGED as error:
        raise DataError(f"{what} is damaged: {' '.join(str(error).split())[:200]}") from None
    except OSError as error:
        if error.errno is not None:  # the disk's fault
            raise
        raise DataError(f"{what} is damaged: {error}") from None


def _is_tar(body: Path) -> bool:
    try:
        with tarfile.open(body) as archive:
            return archive.next() is not None  # packed zeros are no archive
    except (OSError, *_DAMAGED):
        return False


@contextmanager
def _zip_members(body: Path, max_bytes: int) -> Iterator[list[_Member]]:
    del max_bytes  # nothing is unpacked but what is taken out
    with zipfile.ZipFile(body) as archive:

        def opener(info: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
            return lambda: archive.open(info)

        yield [
            _Member(
                info.filename,
                not info.is_dir() and (info.external_attr >> 28) in (0, 0o10),
                opener(info),
            )
            for info in archive.infolist()
        ]


@contextmanager
def _tar_members(body: Path, max_bytes: int) -> Iterator[list[_Member]]:
    with tarfile.open(body) as archive:
        listed, total = [], 0

        def opener(info: tarfile.TarInfo) -> Callable[[], IO[bytes] | None]:
            return lambda: archive.extractfile(info)

        for info in archive:
            # to pass over a member is to unpack it, so that all of them count
            total += info.size
            if total > max_bytes:
                raise DataError(f"the archive holds more than {size(max_bytes)}, the limit")
            listed.append(_Member(info.name, info.isreg(), opener(info)))
        yield listed


def _take_out(listed: list[_Member], file: str, member: str, folder: Path, max_bytes: int) -> Path:
    paths = {member + suffix: suffix for suffix in ("", *PACKED)}
    wanted = [one for one in listed if one.name in paths]
    wanted = wanted or [one for one in listed if _last_name(one.name) in paths]
    if not wanted:
        others = ", ".join(_last_name(one.name) for one in listed if one.plain)[:200]
        raise DataError(f"the archive holds no {member}, but {others or 'nothing'}")
    for one in wanted:
        parts = PurePosixPath(one.name.replace("\\", "/")).parts
        if ".." in parts or parts[0] == "/" or ":" in parts[0]:
            raise DataError(f"the archive's {one.name!r} points out of its folder")
        if not one.plain:
            raise DataError(f"the archive's {one.name!r} is a link or no file")
    if len(wanted) > 1:
        places = ", ".join(one.name for one in wanted)[:200]
        raise DataError(f"the archive holds several files {member}: {places}")
    stream = wanted[0].open()
    if stream is None:  # only where tarfile sees no file
        raise DataError(f"the archive's {wanted[0].name!r} is no file")
    suffix = next(s for s in (*PACKED, "") if wanted[0].name.endswith(member + s))
    target = folder / (file + suffix)
    with stream, target.open("wb") as out:
        _copy(stream, out, max_bytes)
    if suffix in OPENERS:
        with OPENERS[suffix](target, "rb") as packed:
            _copy(packed, None, max_bytes)
    return target


def _last_name(name: str) -> str:
    return name.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _copy(stream: Any, out: Any, max_bytes: int) -> None:
    """Copy or only read through, and stop a bomb before it fills disk or memory."""
    total = 0
    while block := stream.read(_BLOCK):
        total += len(block)
        if total > max_bytes:
            raise DataError(f"unpacked it is larger than {size(max_bytes)}, the limit")
        if out is not None:
            out.write(block)
