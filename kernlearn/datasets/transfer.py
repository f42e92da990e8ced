"""One transfer over HTTP that goes on where it was cut; pooch does the retries around it."""

import lzma
import os
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from kernlearn.datasets.packed import OPENERS, PACKED
from kernlearn.exceptions import DataError
from kernlearn.version import __version__

if TYPE_CHECKING:
    from requests import Response


_BLOCK = 1 << 16
_LEAST = 1024  # bytes that have to come within the time-out
_PASSING = {408, 425, 429}  # a later attempt may meet another answer
_KEPT = ".partial"


def size(n_bytes: int) -> str:
    """Write a number of bytes for people.

    Parameters
    ----------
    n_bytes : int

    Returns
    -------
    str

    Examples
    --------
    >>> size(512), size(75_169_317)
    ('512 bytes', '75.2 MB')
    """
    for power, unit in ((3, "GB"), (2, "MB"), (1, "kB")):
        if n_bytes >= 1000**power:
            return f"{n_bytes / 1000**power:.1f} {unit}"
    return f"{n_bytes} bytes"


def download(
    address: str,
    folder: Path,
    kept: Path,
    *,
    timeout: float,
    retries: int,
    max_bytes: int,
    progress: Callable[[int, int | None], None],
) -> Path:
    """Transfer what lies at an address.

    Parameters
    ----------
    address : str
        Where it lies.
    folder : pathlib.Path
        A folder of this transfer's own.
    kept : pathlib.Path
        A folder in which the part that came stays for the next call if this one fails.
    timeout : float
        Seconds without an answer, or with less than 1 KiB of it, that end an attempt.
    retries : int
        How many further attempts are made after one that was cut, slow or refused for now.
    max_bytes : int
        The largest size.
    progress : callable
        (bytes so far, bytes in all or None).

    Returns
    -------
    pathlib.Path
        The complete file, in ``folder``.

    Raises
    ------
    DataError
        If nothing came or not all; the message is the reason alone.
    OSError
        If it cannot be written.
    """
    import pooch
    import requests

    name = sha256(address.encode()).hexdigest()[:16]
    manager = pooch.Pooch(folder, "", {name: None}, {name: address}, retry_if_failed=retries)
    with _claimed(kept / _KEPT / name, folder / f"{name}.part") as part, _quiet(pooch):
        transfer = _Transfer(part, timeout, max_bytes, progress)
        try:
            return Path(manager.fetch(name, downloader=transfer))
        except requests.RequestException as error:
            raise DataError(_reason(error, timeout)) from None


@contextmanager
def _claimed(kept: Path, part: Path) -> Iterator[Path]:
    # moving a folder is atomic: of two fetches only one goes on from what is there
    try:
        kept.rename(part)
    except OSError:
        part.mkdir(parents=True)
    try:
        yield part
    except BaseException:
        if (part / "validator").exists():
            with suppress(OSError):  # the other fetch was first to keep its part
                kept.parent.mkdir(parents=True, exist_ok=True)
                part.rename(kept)
        raise
    finally:
        with suppress(OSError):
            kept.parent.rmdir()  # if nothing is kept


@contextmanager
def _quiet(pooch: Any) -> Iterator[None]:
    logger = pooch.get_logger()
    before = logger.level
    logger.setLevel("WARNING")
    try:
        yield
    finally:
        logger.setLevel(before)


def _reason(error: Exception, timeout: float) -> str:
    import requests

    if isinstance(error, requests.Timeout):
        return f"no answer within {timeout:g} s"
    if isinstance(error, requests.exceptions.SSLError):
        return "the server's certificate does not hold"
    if isinstance(error, requests.TooManyRedirects):
        return "it is redirected without end"
    if isinstance(error, requests.ConnectionError):
        return "the server cannot be reached, or hung up"
    return " ".join(str(error).split())[:200]


def _cut(reason: str) -> Exception:
    """Make an error after which pooch tries again."""
    import requests

    return requests.RequestException(reason)


class _Transfer:
    """A downloader for pooch that appends to what came before, if the server allows it."""

    def __init__(
        self,
        part: Path,
        timeout: float,
        max_bytes: int,
        progress: Callable[[int, int | None], None],
    ) -> None:
        self.body, self.validator = part / "body", part / "validator"
        self.timeout, self.max_bytes, self.progress = timeout, max_bytes, progress

    def __call__(self, url: str, output_file: str, pooch: Any) -> None:
        import requests

        headers = {"User-Agent": f"kernlearn/{__version__}", "Accept-Encoding": "identity"}
        have = 0
        if self.validator.exists() and self.body.exists():
            have = self.body.stat().st_size
        if have:
            headers["Range"] = f"bytes={have}-"
            headers["If-Range"] = self.validator.read_text()
        with requests.get(url, headers=headers, timeout=self.timeout, stream=True) as response:
            start = self._start(response, have)
            length = response.headers.get("Content-Length", "")
            total = start + int(length) if length.isdecimal() else None
            self._limit(total or 0)
            with self.body.open("ab" if start else "wb") as file:
                came = self._receive(response, file, start, total)
                os.fsync(file.fileno())
        if total is not None and came != total:
            raise _cut(f"the connection was cut after {size(came)} of {size(total)}")
        self.validator.unlink(missing_ok=True)
        self.body.replace(output_file)

    def _start(self, response: "Response", have: int) -> int:
        """Return from which byte on the answer goes; forget what does not fit to it."""
        status = response.status_code
        answer = f"the server answered {status} {response.reason}".strip()
        if status == 206 and have:
            fits = response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
            # some servers pay no heed to If-Range
            if fits and self._tag(response) in ("", self.validator.read_text()):
                return have
            self._forget()
            raise _cut("the server sent another part than was asked for")
        if status == 416 and have:
            self._forget()
            raise _cut(answer)
        if status >= 500 or status in _PASSING:
            raise _cut(answer)
        if status != 200:
            raise DataError(answer)
        self._forget()
        if tag := self._tag(response):
            self.body.touch()
            self.validator.write_text(tag)
        return 0

    @staticmethod
    def _tag(response: "Response") -> str:
        """Return what stands for the very bytes of the file, if the server tells it."""
        etag: str = response.headers.get("ETag", "")
        # a weak one does not
        return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")

    def _receive(self, response: "Response", file: Any, start: int, total: int | None) -> int:
        from urllib3.exceptions import HTTPError, ReadTimeoutError

        came, mark, deadline = start, start, time.monotonic() + self.timeout
        self.progress(came, total)
        while True:
            try:
                block = response.raw.read1(_BLOCK)
            except ReadTimeoutError:
                raise _cut(f"nothing came within {self.timeout:g} s after {size(came)}") from None
            except HTTPError:
                of = "" if total is None else f" of {size(total)}"
                raise _cut(f"the connection was cut after {size(came)}{of}") from None
            if not block:
                return came
            file.write(block)
            came += len(block)
            self._limit(came)
            self.progress(came, total)
            if came - mark >= _LEAST:
                mark, deadline = came, time.monotonic() + self.timeout
            elif time.monotonic() > deadline:
                raise _cut(f"hardly anything came within {self.timeout:g} s")

    def _limit(self, n_bytes: int) -> None:
        if n_bytes > self.max_bytes:
            self._forget()
            raise DataError(f"it is larger than {size(self.max_bytes)}, the limit")

    def _forget(self) -> None:
        self.validator.unlink(missing_ok=True)
        with suppress(FileNotFoundError):
            os.truncate(self.body, 0)


_unpack_BLOCK = 1 << 20
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
    while block := stream.read(_unpack_BLOCK):
        total += len(block)
        if total > max_bytes:
            raise DataError(f"unpacked it is larger than {size(max_bytes)}, the limit")
        if out is not None:
            out.write(block)
