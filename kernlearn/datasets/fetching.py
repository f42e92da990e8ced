"""Fetching data sets from their publishers into the user's cache, with pooch."""

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from kernlearn import __version__
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.files import (
    ARCHIVES,
    PACKED,
    cache_folder,
    expanded,
    find_card,
    is_archive,
    locate,
    members,
)
from kernlearn.datasets.loading import load
from kernlearn.exceptions import DataError

# Endings of packed files and archives by their first bytes, unless the address has one.
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"PK\x03\x04": ".zip"}
_WHOLE = (*ARCHIVES, ".npz", ".xlsx", ".ods")  # data files that are archives


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
    can be changed on its way: it is fetched only if the card has a fingerprint. Packed files and
    archives stay as published; they are read as they are.

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
        stage = Path(staging) / card.name
        stage.mkdir()
        bodies: dict[str, Path] = {}  # an archive of several files is transferred once
        for file in form.files:
            address = card.source.downloads[file]
            try:
                if address not in bodies:
                    _refuse_plain(address, form)
                    bodies[address] = download(address, stage, file)
            except DataError as error:
                raise DataError(
                    f"{card.name}: {file}: {address}: {error}. Try again later, or put the file "
                    f"into {own} by hand"
                ) from None
        remark = _check_content(card, form, Path(staging))
        n_bytes = sum(path.stat().st_size for path in bodies.values())
        for file in form.files:  # a copy that is packed otherwise would hide the new one
            for name in (file, *(file + suffix for suffix in PACKED)):
                (own / name).unlink(missing_ok=True)
        for path in bodies.values():
            path.replace(own / path.name)
    there = locate(card, place)
    return Fetched(card.name, "fetched", there.paths if there else (), n_bytes, remark)


def _refuse_plain(address: str, form: Form) -> None:
    """Refuse what can be changed on its way, http of another machine, if it cannot be checked."""
    parts = urlsplit(address)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local and form.fingerprint is None:
        raise DataError(
            "not fetched over http, where it can be changed on its way, since the card "
            "has no fingerprint to compare it with"
        )


def _check_content(card: Card, form: Form, staging: Path) -> str:
    """Read what was fetched by the card; refuse it if it differs."""
    sender = f"{card.name}: what {card.source.name_and_page} sends"
    try:
        found = locate(card, staging)
        if found is None or found.form != form or staging not in found.paths[0].parents:
            held = [n for path in (staging / card.name).iterdir() for n in _names(path)]
            raise DataError(f"found {', '.join(held)[:200]}, expected {', '.join(form.files)}")
        content = load(found).fingerprint
    except DataError as error:
        reason = str(error).replace(f"{staging / card.name}{os.sep}", "")
        raise DataError(
            f"{sender} does not read as the card says: {reason}; nothing is kept"
        ) from None
    if form.fingerprint is None:
        return "the card has no fingerprint to compare it with"
    if content != form.fingerprint:
        raise DataError(
            f"{sender} is not the data of the card: fingerprint is {content[:12]}, expected "
            f"{form.fingerprint[:12]}; nothing is kept"
        )
    return "the content is that of the card"


def _names(path: Path) -> tuple[str, ...]:
    return members(path) if is_archive(path) else (path.name,)


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
    published = address.partition("?")[0].rpartition("/")[2]
    if file.lower().endswith(_WHOLE):
        return body.rename(stage / file)
    if is_archive(published):
        return body.rename(stage / published)
    ending = next((e for magic, e in _MAGIC.items() if head.startswith(magic)), "")
    return body.rename(stage / (file.removesuffix(ending) + ending))
