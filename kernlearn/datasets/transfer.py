"""Transfers over HTTP with pooch, which are resumed where they were interrupted."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernlearn.datasets.files import one_line
from kernlearn.exceptions import DataError
from kernlearn.version import __version__

if TYPE_CHECKING:
    from requests import Response

Report = Callable[[int, int | None], None]

_BLOCK = 1 << 16
_SLOWEST = 1024  # bytes that must arrive within the time-out
_TEMPORARY = {408, 425, 429}  # statuses after which a later attempt may succeed


def download(
    address: str,
    folder: Path,
    kept: Path,
    *,
    timeout: float,
    retries: int,
    max_bytes: int,
    report: Report | None,
) -> Path:
    """Transfer what an address serves, unless it is in the folder already.

    Parameters
    ----------
    address : str
        The address.
    folder : pathlib.Path
        A folder for complete files.
    kept : pathlib.Path
        A folder in which the part of a file that was received is kept for the next call.
    timeout : float
        Seconds without an answer, or with less than 1 KiB of it, after which an attempt ends.
    retries : int
        Further attempts after one that was cut, slow or refused for the moment.
    max_bytes : int
        The largest size.
    report : callable, optional
        Called with the bytes so far, and the total or None.

    Returns
    -------
    pathlib.Path
        The complete file, in `folder`.

    Raises
    ------
    DataError
        If it is not complete; the message is the reason alone.
    OSError
        If it cannot be written.
    """
    import pooch
    import requests

    name = sha256(address.encode()).hexdigest()[:16]
    manager = pooch.Pooch(folder, "", {name: None}, {name: address}, retry_if_failed=retries)
    pooch.get_logger().setLevel("WARNING")
    with _claimed(kept / name, folder / f"{name}.part") as part:

        def attempt(url: str, output_file: str, _: Any) -> None:
            with _Body(part, timeout, max_bytes, report) as body:
                hooks = {"response": body.begin}
                fetch = pooch.HTTPDownloader(
                    chunk_size=_BLOCK, headers=body.headers, timeout=timeout, hooks=hooks
                )
                fetch(url, body, None)
                body.finish(output_file)

        try:
            return Path(manager.fetch(name, downloader=attempt))
        except (requests.RequestException, ValueError) as error:
            raise DataError(_reason(error, timeout)) from None


def _reason(error: Exception, timeout: float) -> str:
    import requests

    reasons = {
        requests.Timeout: f"no answer within {timeout:g} s",
        requests.exceptions.SSLError: "the server's certificate is not valid",
        requests.TooManyRedirects: "it is redirected without end",
        requests.ConnectionError: "the server cannot be reached, or hung up",
    }
    return next(
        (text for kind, text in reasons.items() if isinstance(error, kind)), one_line(error)
    )


@contextmanager
def _claimed(kept: Path, part: Path) -> Iterator[Path]:
    """Use the part of a file that an earlier fetch kept, and keep it again after a failure."""
    # moving a folder is atomic: of two fetches only one continues the part
    try:
        kept.rename(part)
    except OSError:
        part.mkdir(parents=True, exist_ok=True)
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


class _Body:
    """The file that pooch's HTTPDownloader writes to; it continues a part received before."""

    def __init__(self, part: Path, timeout: float, max_bytes: int, report: Report | None) -> None:
        self.path, self.validator = part / "body", part / "validator"
        self.timeout, self.max_bytes, self.report = timeout, max_bytes, report
        self.total: int | None = None
        self.received = 0
        self.headers = {"User-Agent": f"kernlearn/{__version__}", "Accept-Encoding": "identity"}
        if self.validator.exists() and self.path.exists():
            self.received = self.path.stat().st_size
        if self.received:
            self.headers["Range"] = f"bytes={self.received}-"
            self.headers["If-Range"] = self.validator.read_text()
        self.file = self.path.open("ab")

    def __enter__(self) -> "_Body":
        return self

    def __exit__(self, *raised: object) -> None:
        self.file.close()

    def begin(self, response: "Response", **options: Any) -> None:
        """Check an answer's status and where it begins; called by requests for each answer."""
        if response.is_redirect:
            return
        status = response.status_code
        answer = f"the server answered {status} {response.reason}".strip()
        if self.received and status in (206, 416):
            part = response.headers.get("Content-Range", "")
            # some servers ignore If-Range
            same = _tag(response) in ("", self.validator.read_text())
            if status == 416 or not part.startswith(f"bytes {self.received}-") or not same:
                self.validator.unlink()
                raise _retryable("the server sent another part than was requested")
        elif status >= 500 or status in _TEMPORARY:
            raise _retryable(answer)
        elif status != 200:
            raise DataError(answer)
        else:
            self.validator.unlink(missing_ok=True)
            self.file.truncate(0)
            self.received = 0
            if tag := _tag(response):
                self.validator.write_text(tag)
        length = response.headers.get("Content-Length", "")
        self.total = self.received + int(length) if length.isdecimal() else None
        self.mark, self.deadline = self.received, time.monotonic() + self.timeout
        self._check()
        response.iter_content = partial(self._blocks, response)  # type: ignore[method-assign]

    def _blocks(self, response: "Response", chunk_size: int) -> Iterator[bytes]:
        """Yield the content as it arrives and not unpacked, other than requests does."""
        from urllib3.exceptions import HTTPError, ReadTimeoutError

        try:
            while block := response.raw.read1(chunk_size):
                yield block
        except ReadTimeoutError:
            size = _size(self.received)
            raise _retryable(f"nothing came within {self.timeout:g} s after {size}") from None
        except HTTPError:
            raise self._interrupted() from None

    def write(self, block: bytes) -> None:
        """Append a block; refuse too many bytes, and too few within the time-out."""
        self.file.write(block)
        self.received += len(block)
        self._check()
        if self.received - self.mark >= _SLOWEST:
            self.mark, self.deadline = self.received, time.monotonic() + self.timeout
        elif time.monotonic() > self.deadline:
            raise _retryable(f"hardly anything came within {self.timeout:g} s")

    def flush(self) -> None:
        """Do nothing; called after each block."""

    def finish(self, output_file: str) -> None:
        """Give the complete file its place."""
        self.file.flush()
        os.fsync(self.file.fileno())
        if self.total is not None and self.received != self.total:
            raise self._interrupted()
        self.validator.unlink(missing_ok=True)
        self.path.replace(output_file)

    def _check(self) -> None:
        """Report the progress; refuse more than the largest size."""
        if max(self.received, self.total or 0) > self.max_bytes:
            self.validator.unlink(missing_ok=True)
            raise DataError(f"it is larger than {_size(self.max_bytes)}, the limit")
        if self.report is not None:
            self.report(self.received, self.total)

    def _interrupted(self) -> Exception:
        of = "" if self.total is None else f" of {_size(self.total)}"
        return _retryable(f"the connection was cut after {_size(self.received)}{of}")


def _tag(response: "Response") -> str:
    """Return what identifies the exact bytes of a file, if the server says."""
    etag: str = response.headers.get("ETag", "")  # a weak one identifies less
    return etag if etag.startswith('"') else response.headers.get("Last-Modified", "")


def _retryable(reason: str) -> Exception:
    """Make an error after which pooch tries again."""
    import requests

    return requests.RequestException(reason)


def _size(n_bytes: int) -> str:
    from rich.filesize import decimal

    return decimal(n_bytes)
