"""Fetching data sets from their publishers into the user's cache, with pooch."""

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from shutil import copyfile
from typing import Any, Literal
from urllib.parse import urlsplit

from kernlearn import __version__
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.files import (
    ARCHIVES,
    PACKED,
    Found,
    cache_folder,
    existing,
    expanded,
    find_card,
    find_member,
    is_archive,
    locate,
    members,
    opened,
)
from kernlearn.datasets.loading import load
from kernlearn.exceptions import DataError

_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz"}
# The ending of an archive by its first bytes, unless the address has one.
_ARCHIVE = {b"PK\x03\x04": ".zip"}
_WHOLE = (".zip", ".npz", ".xlsx", ".ods", ".tar", ".tgz")  # archives that are data files


@dataclass(frozen=True)
class Fetched:
    """The result of fetching one data set.

    Parameters
    ----------
    name : str
        The data set.
    state : {"fetched", "there", "carried", "failed"}
        Fetched now; already available, so that nothing was transferred; bundled with
        scikit-learn ("carried"); or not fetched.
    paths : tuple of pathlib.Path
        Its files.
    n_bytes : int
        The number of bytes transferred and kept.
    remark : str
        The comparison with the card, or the reason why it was not fetched.

    Examples
    --------
    >>> from kernlearn.datasets import fetch
    >>> fetch("iris")
    [Fetched(name='iris', state='carried', paths=(), n_bytes=0, remark='comes with scikit-learn')]
    """

    name: str
    state: Literal["fetched", "there", "carried", "failed"]
    paths: tuple[Path, ...] = ()
    n_bytes: int = 0
    remark: str = ""


def fetch(
    names: str | Card | Iterable[str | Card],
    *,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    timeout: float = 30.0,
    retries: int = 3,
    on_done: Callable[[Fetched], None] | None = None,
) -> list[Fetched]:
    """Fetch data sets from their publishers, and compare them with their cards.

    A file gets its name when it is complete and reads as the card says. If the card has a
    fingerprint, a hash of the content, the content must have it. What comes over http, not https,
    can be changed on its way: it is fetched only if the card has a fingerprint. From an archive
    only the data set's files are taken.

    Parameters
    ----------
    names : str, Card or iterable of these
        The data sets.
    folder : path-like, optional
        Where each data set gets a folder of its name; by default in the user's cache, which is
        the last folder of :func:`search_path`.
    force : bool, default=False
        Whether to fetch available data again.
    timeout : float, default=30
        Seconds without an answer after which an attempt ends.
    retries : int, default=3
        Further attempts per address.
    on_done : callable, optional
        Called with the result of each data set as soon as it is available.

    Returns
    -------
    list of Fetched
        One per name.

    Raises
    ------
    DataError
        If a name is unknown, before anything is fetched. If data sets cannot be fetched, after
        the others: one line for each, with address, reason and remedy.

    Examples
    --------
    >>> from kernlearn.datasets import fetch
    >>> fetch("iris")[0].state
    'carried'
    """
    listed = [names] if isinstance(names, str | Card) else list(names)
    cards = [find_card(name) if isinstance(name, str) else name for name in listed]
    place = cache_folder() / "datasets" if folder is None else expanded(folder)
    results = []
    for card in cards:
        try:
            result = _fetch_card(card, place, force, partial(_download, timeout, retries))
        except DataError as error:
            result = Fetched(card.name, "failed", remark=str(error))
        except OSError as error:
            where = error.filename or place / card.name
            reason = f"{card.name}: {where}: cannot be written: {error.strerror or error}"
            result = Fetched(card.name, "failed", remark=reason)
        results.append(result)
        if on_done is not None:
            on_done(result)
    if failures := [result.remark for result in results if result.state == "failed"]:
        raise DataError("\n".join(failures))
    return results


def _fetch_card(card: Card, place: Path, force: bool, download: Callable[..., Path]) -> Fetched:
    located = filter(None, [locate(card, place), locate(card)])
    found = min(located, key=lambda one: card.forms.index(one.form), default=None)
    if found is not None and not found.paths:
        return Fetched(card.name, "carried", remark="comes with scikit-learn")
    own = place / card.name
    # the preferred form of which every file has an address
    form = next((f for f in card.forms if card.source.downloads.keys() >= set(f.files)), None)
    preferred = len(card.forms) if form is None else card.forms.index(form)
    if found is not None and not force and card.forms.index(found.form) <= preferred:
        return Fetched(card.name, "there", found.paths, remark=found.form.note)
    if form is None:
        files = " + ".join(card.forms[0].files)
        raise DataError(
            f"{card.name}: no address is known for {files}; get it from "
            f"{card.source.name_and_page}, and put it into {own}"
        )
    own.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetching-", dir=own) as staging:
        new = _fetch_files(card, form, own, Path(staging), force, download)
        paths = tuple(new.get(file) or existing(own / file) or own / file for file in form.files)
        remark = _check_content(card, form, paths)
        n_bytes = sum(path.stat().st_size for path in new.values())
        for file, path in new.items():
            path.replace(own / path.name)
            for name in (file, *(file + suffix for suffix in PACKED)):
                if name != path.name:  # a copy that is packed otherwise would hide the file
                    (own / name).unlink(missing_ok=True)
    kept = tuple(filter(None, (existing(own / file) for file in form.files)))
    return Fetched(card.name, "fetched", kept, n_bytes, remark)


def _fetch_files(
    card: Card, form: Form, own: Path, stage: Path, force: bool, download: Callable[..., Path]
) -> dict[str, Path]:
    """Fetch the files of a form that are not in its own folder, or all, into a staging folder."""
    new: dict[str, Path] = {}
    bodies: dict[str, Path] = {}  # an archive of several files is transferred once
    for file in form.files:
        if existing(own / file) is not None and not force:
            continue
        address = card.source.downloads[file]
        try:
            if _is_plain(address) and form.fingerprint is None:
                raise DataError(
                    "not fetched over http, where it can be changed on its way, since the card "
                    "has no fingerprint to compare it with"
                )
            if address not in bodies:
                bodies[address] = download(address, stage, file)
            new[file] = _extract(bodies[address], file, form.members.get(file, file), stage)
        except DataError as error:
            raise DataError(
                f"{card.name}: {file}: {address}: {error}. Try again later, or put the file into "
                f"{own} by hand"
            ) from None
    return new


def _is_plain(address: str) -> bool:
    """Tell whether what an address serves can be changed on its way: http, of another machine."""
    parts = urlsplit(address)
    return parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1")


def _check_content(card: Card, form: Form, paths: tuple[Path, ...]) -> str:
    """Read what was fetched by the card; refuse it if it differs."""
    try:
        content = load(Found(form, paths, card)).fingerprint
    except DataError as error:
        reason = str(error).replace(f"{paths[0].parent}{os.sep}", "")
        raise DataError(
            f"{card.name}: what {card.source.name_and_page} sends does not read as the card says: "
            f"{reason}; nothing is kept"
        ) from None
    if form.fingerprint is None:
        return "the card has no fingerprint to compare it with"
    if content != form.fingerprint:
        raise DataError(
            f"{card.name}: what {card.source.name_and_page} sends is not the data of the card: "
            f"fingerprint is {content[:12]}, expected {form.fingerprint[:12]}; nothing is kept"
        )
    return "the content is that of the card"


def _download(timeout: float, retries: int, address: str, stage: Path, file: str) -> Path:
    """Transfer what an address serves into a folder, repeatedly if need be."""
    import pooch
    import requests

    name = sha256(address.encode()).hexdigest()[:16]
    agent: Any = {"User-Agent": f"kernlearn/{__version__}"}
    fetcher = pooch.HTTPDownloader(timeout=timeout, headers=agent)
    manager = pooch.Pooch(stage, "", {name: None}, {name: address}, retry_if_failed=retries)
    pooch.get_logger().setLevel("WARNING")
    try:
        body = Path(manager.fetch(name, downloader=fetcher))
    except requests.Timeout:
        raise DataError(f"no answer within {timeout:g} s") from None
    except requests.ConnectionError:
        raise DataError("the server cannot be reached, or hung up") from None
    except (requests.RequestException, ValueError) as error:
        raise DataError(" ".join(str(error).split())[:300]) from None
    with body.open("rb") as stream:
        head = stream.read(512)
    if not head.strip():
        raise DataError("the server sent an empty file")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) and not file.endswith((".html", ".htm")):
        raise DataError("the server sent a web page, not the file")
    ending = next((e for magic, e in _ARCHIVE.items() if head.startswith(magic)), "")
    published = address.partition("?")[0].lower()
    if not ending and is_archive(published):
        ending = next(e for e in sorted(ARCHIVES, key=len)[::-1] if published.endswith(e))
    return body.rename(body.with_name(body.name + ending))


def _extract(body: Path, file: str, member: str, stage: Path) -> Path:
    """Take a file out of what was transferred; it may stay packed."""
    if is_archive(body) and not file.endswith(_WHOLE):
        inside = find_member(body, member)
        if inside is None:
            others = ", ".join(members(body))[:200] or "nothing"
            raise DataError(f"the archive has no {member}, but {others}")
        target = stage / file
        with opened(inside) as stream:
            target.write_bytes(stream.read())
        return target
    head = body.open("rb").read(8)
    suffix = next((s for magic, s in _MAGIC.items() if head.startswith(magic)), "")
    suffix = "" if file.endswith(_WHOLE) else suffix
    target = stage / (file.removesuffix(suffix) + suffix)
    copyfile(body, target)
    return target
