"""Fetching data sets from their publishers into the user's cache, with pooch."""

import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from kernlearn import __version__
from kernlearn.checks import listed
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.files import (
    PACKED,
    Found,
    cache_folder,
    find_card,
    is_archive,
    locate,
    members,
)
from kernlearn.datasets.loading import find, load
from kernlearn.exceptions import DataError, writing


def fetch(
    name: str | Card,
    *,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    timeout: float = 30.0,
    retries: int = 3,
) -> Found:
    """Fetch a data set from its publisher, and compare it with its card.

    A file gets its name when all files are complete and read as the card says. If the card has a
    fingerprint, a hash of the content, the content must have it. What comes over http, not https,
    can be changed on its way: it is fetched only if the card has a fingerprint. Packed files and
    archives stay as published; they are read as they are.

    Parameters
    ----------
    name : str or Card
        The data set.
    folder : path-like, optional
        Where each data set gets a folder of its name; by default in the user's cache, which is
        the last folder of :func:`search_path`.
    force : bool, default=False
        Whether to fetch available data again.
    timeout : float, default=30
        Seconds without an answer after which an attempt ends.
    retries : int, default=3
        Further attempts per address.

    Returns
    -------
    Found
        Its files: those fetched, or those that were there already.

    Raises
    ------
    DataError
        If the name is unknown or the data set cannot be fetched, with address, reason and remedy.

    Examples
    --------
    >>> from kernlearn.datasets import fetch
    >>> fetch("iris").place
    'scikit-learn'
    """
    card = find_card(name) if isinstance(name, str) else name
    place = cache_folder() / "datasets" if folder is None else Path(folder)
    own = place / card.name
    # the preferred form of which every file has an address
    form = next((f for f in card.forms if card.source.downloads.keys() >= set(f.files)), None)
    better = card.forms if form is None else card.forms[: card.forms.index(form) + 1]
    if not force or not card.forms[0].files:
        for found in filter(None, [locate(card, place), locate(card)]):
            if found.form in better:
                return found
    if form is None:
        raise DataError(
            f"{card.name}: no address is known for {' + '.join(card.forms[0].files)}; get it from "
            f"{card.source.name_and_page}, and put it into {own}"
        )
    with writing(own, DataError):
        own.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=own) as staging:
            stage = Path(staging) / card.name
            stage.mkdir()
            for file in form.files:
                address = card.source.downloads[file]
                try:
                    _download(address, stage / _stored_name(address, file), form, timeout, retries)
                except DataError as error:
                    raise DataError(
                        f"{card.name}: {file}: {address}: {error}. Try again later, or put the "
                        f"file into {own} by hand"
                    ) from None
            _check_content(card, form, stage)
            for file in form.files:  # a copy that is packed otherwise would hide the new one
                for suffix in ("", *PACKED):
                    (own / f"{file}{suffix}").unlink(missing_ok=True)
            for path in stage.iterdir():
                path.replace(own / path.name)
    return find(card, place)


def _stored_name(address: str, file: str) -> str:
    """Return the name of a file on disk: a packed one has an ending more, an archive its own."""
    published = PurePosixPath(urlsplit(address).path)
    if is_archive(published.name):
        return published.name
    return file + (published.suffix if published.suffix in PACKED else "")


def _download(address: str, path: Path, form: Form, timeout: float, retries: int) -> None:
    """Transfer what an address serves to a path, repeatedly if need be."""
    import pooch
    import requests

    parts = urlsplit(address)
    local = parts.hostname in ("localhost", "127.0.0.1", "::1")
    if parts.scheme == "http" and not local and form.fingerprint is None:
        raise DataError("not fetched over http: the card has no fingerprint to compare it with")
    agent: Any = {"User-Agent": f"kernlearn/{__version__}"}
    fetcher = pooch.HTTPDownloader(timeout=timeout, headers=agent)
    names, addresses = {path.name: None}, {path.name: address}
    manager = pooch.Pooch(path.parent, "", names, addresses, retry_if_failed=retries)
    pooch.get_logger().setLevel("WARNING")
    try:
        manager.fetch(path.name, downloader=fetcher)
    except (requests.RequestException, ValueError) as error:
        lost = isinstance(error, requests.ConnectionError)
        text = f"no connection to {parts.hostname}" if lost else " ".join(str(error).split())[:300]
        raise DataError(text) from None
    with path.open("rb") as stream:
        start = stream.read(512).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise DataError("the server sent a web page, not the file")


def _check_content(card: Card, form: Form, stage: Path) -> None:
    """Read what was fetched by the card; refuse it if it differs."""
    sender = f"{card.name}: what {card.source.name_and_page} sends"
    try:
        found = locate(card, stage.parent)
        if found is None or found.form != form or stage.parent not in found.paths[0].parents:
            stored = [
                n for p in stage.iterdir() for n in (members(p) if is_archive(p) else [p.name])
            ]
            raise DataError(f"found {listed(stored)}, expected {', '.join(form.files)}")
        content = load(found).fingerprint
    except DataError as error:
        reason = str(error).replace(f"{stage}{os.sep}", "")
        raise DataError(f"{sender} does not read as the card says: {reason}") from None
    if form.fingerprint not in (None, content):
        raise DataError(
            f"{sender} is not the data of the card: fingerprint is {content[:12]}, expected "
            f"{str(form.fingerprint)[:12]}; nothing is kept"
        )
