"""Transfers of files from addresses: over https, and no longer, slower or larger than allowed."""

import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from kernlearn.datasets import unpacking
from kernlearn.exceptions import DataError
from kernlearn.version import __version__

_BLOCK = 1 << 16
_SLOWEST = 1024  # bytes that must arrive within the time-out
_TEMPORARY = {408, 425, 429}  # statuses after which a later attempt may succeed
_UNSAFE = (
    "not fetched over http, where it can be changed on its way, since the card has no fingerprint "
    "to compare it with"
)

Report = Callable[..., None]


def _is_plain(address: str) -> bool:
    """Tell whether what an address serves can be changed on its way: http, of another machine."""
    from urllib3.util import parse_url

    parts = parse_url(address)  # as requests reads it
    host = (parts.host or "").strip("[]")
    with suppress(ValueError):
        return parts.scheme == "http" and not ip_address(host).is_loopback
    return parts.scheme == "http" and host != "localhost"


def download(
    address: str,
    folder: Path,
    report: Report | None,
    known: bool,
    timeout: float,
    retries: int,
    max_bytes: int,
) -> tuple[Path, bool]:
    """Transfer what an address serves into a folder.

    Parameters
    ----------
    address : str
    folder : pathlib.Path
    report : callable or None
        Called with the bytes so far and all bytes, or None if these are not known.
    known : bool
        Whether the content will be compared with a fingerprint; without one nothing is fetched
        over http.
    timeout : float
        Seconds without an answer, or with less than 1 KiB of it, after which an attempt ends.
    retries : int
        Further attempts.
    max_bytes : int
        The largest file that is accepted.

    Returns
    -------
    path : pathlib.Path
        The file.
    plain : bool
        Whether any part of the way was http.

    Raises
    ------
    DataError
        If nothing can be transferred; the message is the reason.
    """
    import pooch
    import requests

    plain = False
    name = sha256(address.encode()).hexdigest()[:16]
    manager = pooch.Pooch(folder, "", {name: None}, {name: address}, retry_if_failed=retries)
    pooch.get_logger().setLevel("WARNING")
    reasons = {
        requests.Timeout: f"no answer within {timeout:g} s",
        requests.exceptions.SSLError: "the server's certificate is not valid",
        requests.TooManyRedirects: "it is redirected without end",
        requests.ConnectionError: "the server cannot be reached, or hung up",
    }

    def follow(answer: Any, **_: Any) -> None:
        nonlocal plain
        if not answer.is_redirect:
            return
        answer.close()  # requests would read all that comes with it
        target = urljoin(answer.url, answer.headers["Location"])
        leaves = answer.url.startswith("https:") and target.lower().startswith("http:")
        if leaves or _is_plain(target):
            plain = True
            if not known:
                raise DataError(f"it is redirected to {target:.200}, which is {_UNSAFE}")

    def attempt(url: str, output_file: str, _: Any) -> None:
        headers = {"User-Agent": f"kernlearn/{__version__}", "Accept-Encoding": "identity"}
        with requests.get(
            url, headers=headers, timeout=timeout, stream=True, hooks={"response": follow}
        ) as response:
            status = response.status_code
            if status != 200:
                later = status >= 500 or status in _TEMPORARY
                error = requests.RequestException if later else DataError
                raise error(f"the server answered {status} {response.reason}".strip())
            _save(response, Path(output_file), report, timeout, max_bytes)

    try:
        plain = _is_plain(address)
        if plain and not known:
            raise DataError(f"it is {_UNSAFE}")
        path = Path(manager.fetch(name, downloader=attempt))
    except (requests.RequestException, ValueError) as error:  # those after which pooch retries
        reason = (text for kind, text in reasons.items() if isinstance(error, kind))
        raise DataError(next(reason, unpacking.one_line(error))) from None
    return path, plain


def _save(answer: Any, path: Path, report: Report | None, timeout: float, max_bytes: int) -> None:
    """Write what a server sends to a file, and give up if that is too slow, short or long."""
    from requests import RequestException
    from rich.filesize import decimal
    from urllib3.exceptions import HTTPError, ReadTimeoutError

    length = answer.headers.get("Content-Length", "")
    total = int(length) if length.isdecimal() else None
    so_far = mark = 0
    deadline = time.monotonic() + timeout
    with path.open("wb") as file:
        while True:
            if max(so_far, total or 0) > max_bytes:
                raise DataError(f"it is larger than {decimal(max_bytes)}, the limit")
            if report is not None:
                report(so_far, total)
            try:
                block = answer.raw.read1(_BLOCK)  # not unpacked, other than requests does
            except ReadTimeoutError:
                reason = f"nothing came within {timeout:g} s after {decimal(so_far)}"
                raise RequestException(reason) from None
            except HTTPError:
                break
            if not block:
                total = so_far if total is None else total
                break
            file.write(block)
            so_far += len(block)
            if so_far - mark >= _SLOWEST:
                mark, deadline = so_far, time.monotonic() + timeout
            elif time.monotonic() > deadline:
                raise RequestException(f"hardly anything came within {timeout:g} s")
    if so_far != total:
        of = "" if total is None else f" of {decimal(total)}"
        raise RequestException(f"the connection was cut after {decimal(so_far)}{of}")
