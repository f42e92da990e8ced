"""Fetching data sets from their publishers into the user's cache, with pooch."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copyfile, rmtree
from typing import Any, Literal

from kernlearn.datasets import files, unpacking
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.known_cards import find_card
from kernlearn.datasets.loading import load
from kernlearn.datasets.transfers import Report, download
from kernlearn.exceptions import DataError

_STAGING = ".fetching-"
_ABANDONED = 24 * 3600  # seconds after which another fetch's folder is removed
_MAGIC = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\0": ".xz", b"\x1f\x9d": ".Z"}
_WHOLE = {".zip", ".npz", ".xlsx", ".ods", ".tar", ".tgz"}  # archives that are data files


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
    max_bytes: int | None = None,
    progress: Callable[[str, str, int, int | None], None] | None = None,
    on_done: Callable[[Fetched], None] | None = None,
) -> list[Fetched]:
    """Fetch data sets from their publishers, and compare them with their cards.

    A transfer that is cut or slow is repeated. A file gets its name when it is complete, so that
    a part is never taken for data. From an archive only the data set's files are extracted. A
    file that does not read as the card says is set aside as ``<file>.rejected``. What comes over
    http, not https, can be changed on its way: it is fetched only if the card has a fingerprint,
    and kept only if the content has that.

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
        Seconds without an answer, or with less than 1 KiB of it, after which an attempt ends.
    retries : int, default=3
        Further attempts per address.
    max_bytes : int, optional
        The largest file that is accepted, as transferred and unpacked. By default 2**30, or half
        of the free memory if that is less, or what ``KERNLEARN_MAX_MEMORY`` says.
    progress : callable, optional
        Called during a transfer: (data set, file, bytes so far, total bytes or None).
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
    wanted = [names] if isinstance(names, str | Card) else list(names)
    cards = [find_card(name) if isinstance(name, str) else name for name in wanted]
    place = files.cache_folder() / "datasets" if folder is None else files.expanded(folder)
    if max_bytes is None:
        max_bytes = unpacking.content_limit()
    limits = {"timeout": timeout, "retries": retries, "max_bytes": max_bytes}
    results = []
    for card in cards:
        report = partial(progress, card.name) if progress else None
        try:
            result = _fetch_card(card, place, force, report, limits)
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


def _fetch_card(
    card: Card, place: Path, force: bool, report: Report | None, limits: dict[str, Any]
) -> Fetched:
    located = filter(None, [files.locate(card, place), files.locate(card)])
    found = min(located, key=lambda one: card.forms.index(one.form), default=None)
    if found is not None and not found.paths:
        return Fetched(card.name, "carried", remark="comes with scikit-learn")
    own = place / card.name
    # the preferred form of which every file has an address
    form = next((f for f in card.forms if card.source.downloads.keys() >= set(f.files)), None)
    preferred = card.forms.index(form) if form is not None else len(card.forms)
    if found is not None and not force and card.forms.index(found.form) <= preferred:
        return Fetched(card.name, "there", found.paths, remark=found.form.note)
    if form is None:
        wanted = " + ".join(card.forms[0].files)
        raise DataError(
            f"{card.name}: no address is known for {wanted}; get it from "
            f"{card.source.name_and_page}, and put it into {own}"
        )
    own.mkdir(parents=True, exist_ok=True)
    for folder in own.glob(_STAGING + "*"):  # left behind by a fetch that was killed
        with suppress(OSError):
            if time.time() - folder.stat().st_mtime > _ABANDONED:
                rmtree(folder)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=own) as staging:
        stage = Path(staging)
        new, plain = _fetch_files(card, form, own, stage, force, report, limits)
        remark = _check_content(card, form, own, new, plain)
        n_bytes = sum(path.stat().st_size for path in new.values())
        _publish(new, own)
    paths = tuple(path for file in form.files if (path := files.existing(own / file)))
    return Fetched(card.name, "fetched", paths, n_bytes, remark)


def _fetch_files(
    card: Card,
    form: Form,
    own: Path,
    stage: Path,
    force: bool,
    report: Report | None,
    limits: dict[str, Any],
) -> tuple[dict[str, Path], bool]:
    """Fetch the files of a form that are not in its own folder, or all, into a staging folder.

    Returns them, and whether any came over http, on whose way they can be changed.
    """
    plain, known = False, form.fingerprint is not None
    new: dict[str, Path] = {}
    bodies: dict[str, Path] = {}  # an archive of several files is transferred once
    for file in form.files:
        if files.existing(own / file) is not None and not force:
            continue
        address = card.source.downloads[file]
        try:
            if address not in bodies:
                told = report and partial(report, file)
                body, unsafe = download(address, stage, told, known, **limits)
                plain |= unsafe
                bodies[address] = body.rename(body.with_suffix(unpacking.archive_kind(body)))
            member = form.members.get(file, file)
            new[file] = _extract(bodies[address], file, member, limits["max_bytes"])
        except DataError as error:
            if not plain:  # which nothing could be compared with yet
                _publish({f: p for f, p in new.items() if files.existing(own / f) is None}, own)
            raise DataError(
                f"{card.name}: {file}: {address}: {error}. Try again later, or put the file into "
                f"{own} by hand"
            ) from None
    packed = [path.name for path in new.values() if path.suffix == ".Z"]
    if packed and plain:
        raise DataError(
            f"{card.name}: {', '.join(packed)}: came over http, and is packed by compress, so "
            f"that it cannot be compared with the card; put the file into {own} by hand"
        )
    if packed:
        _publish(new, own)
        paths = " ".join(f"'{own / name}'" for name in packed)
        raise DataError(
            f"{card.name}: fetched, but packed by compress, which Python does not read; "
            f"unpack it with: gzip -d {paths}"
        )
    return new, plain


def _publish(new: dict[str, Path], own: Path) -> None:
    """Move new files to their place, and remove copies packed otherwise, which would hide them."""
    for file, path in new.items():
        path.replace(own / path.name)
        for name in (file, *(file + suffix for suffix in unpacking.PACKED)):
            if name != path.name:
                (own / name).unlink(missing_ok=True)


def _check_content(card: Card, form: Form, own: Path, new: dict[str, Path], plain: bool) -> str:
    """Load the new files before they get their place; set them aside if that fails.

    What came over http (`plain`) is set aside also if it is not what the card's fingerprint says.
    """
    paths = tuple(new.get(f) or files.existing(own / f) or own / f for f in form.files)
    try:
        content = load(files.Found(form, paths, card), cache=False).fingerprint
        if plain and content != form.fingerprint:
            raise DataError(f"{_prints(content, form)}, and it came over http")
    except DataError as error:
        addresses = dict.fromkeys(card.source.downloads[file] for file in new)
        message = str(error)
        for path in new.values():
            message = message.replace(str(path), str(own / path.name))
            path.replace(own / f"{path.name}.rejected")
        raise DataError(
            f"{card.name}: {', '.join(addresses) or own}: the content is not what the card says: "
            f"{message}; it is kept with '.rejected' after its "
            f"name. Put the right file into {own} by hand"
        ) from None
    if form.fingerprint is None:
        return "the card has no fingerprint to compare the content with"
    if content == form.fingerprint:
        return "the content is that of the card"
    return f"the content {_prints(content, form)}: results may differ"


def _prints(content: str, form: Form) -> str:
    known = (form.fingerprint or "")[:12]
    return f"(fingerprint {content[:12]}) differs from the card's ({known})"


def _extract(body: Path, file: str, member: str, max_bytes: int) -> Path:
    """Make a data set's file out of what was transferred: the file itself, or an archive of it.

    Returns its path, with ``.gz``, ``.bz2``, ``.xz`` or ``.Z`` added if it is packed.
    """
    with body.open("rb") as opened:
        head = opened.read(512)
    if not head.strip():
        raise DataError("the server sent an empty file")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if start.startswith((b"<!doctype html", b"<html")) and not file.endswith((".html", ".htm")):
        raise DataError("the server sent a web page, not the file")
    try:
        if unpacking.is_archive(body) and Path(file).suffix not in _WHOLE:
            name = unpacking.find_member(body, member, max_bytes)
            if name is None:
                names = unpacking.list_members(body, max_bytes)
                others = ", ".join(name.rpartition("/")[2] for name in names)[:200] or "nothing"
                raise DataError(f"{body}: has no {member}, but {others}")
            target = body.with_name(file + name.rpartition(member)[2])
            target.write_bytes(unpacking.read_bytes(body / name, max_bytes, unpack=False))
        else:
            suffix = next((s for magic, s in _MAGIC.items() if head.startswith(magic)), "")
            target = body.with_name(file.removesuffix(suffix) + suffix)
            copyfile(body, target)
        if target.suffix in unpacking.OPENERS:
            unpacking.read_bytes(target, max_bytes)
    except DataError as error:
        message = str(error).replace(str(body), "the archive")
        raise DataError(message.replace(f"{body.parent}{os.sep}", "")) from None
    return target
