"""Fetching data sets from their publishers into the user's cache."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile, rmtree
from typing import Literal, NamedTuple

from kernlearn.datasets.cache import cache_folder
from kernlearn.datasets.card import Card, Form
from kernlearn.datasets.lookup import Found, find_card, locate
from kernlearn.datasets.packed import LIMIT, PACKED
from kernlearn.exceptions import DataError

_STAGING = ".fetching-"
_ABANDONED = 24 * 3600

Progress = Callable[[str, str, int, int | None], None]


@dataclass(frozen=True)
class Fetched:
    """What became of one data set that was to be fetched.

    Parameters
    ----------
    name : str
        The data set.
    state : {"fetched", "there", "carried", "failed"}
        Fetched now; there before, so that nothing was transferred; carried by
        scikit-learn, so that nothing need be; or not fetched.
    paths : tuple of pathlib.Path
        Its files.
    n_bytes : int
        How much was transferred and kept.
    remark : str
        Whether the content is that of the card; why it was not fetched.
    """

    name: str
    state: Literal["fetched", "there", "carried", "failed"]
    paths: tuple[Path, ...] = ()
    n_bytes: int = 0
    remark: str = ""


class _Settings(NamedTuple):
    folder: Path
    force: bool
    timeout: float
    retries: int
    max_bytes: int
    progress: Progress


def fetch(
    names: str | Card | Iterable[str | Card],
    *,
    folder: str | os.PathLike[str] | None = None,
    force: bool = False,
    timeout: float = 30.0,
    retries: int = 3,
    max_bytes: int = LIMIT,
    progress: Progress | None = None,
    on_done: Callable[[Fetched], None] | None = None,
) -> list[Fetched]:
    """Fetch data sets from their publishers, and check what came against their cards.

    A transfer that is cut goes on from where it was, at once or at the next call, if the
    server allows it. A file gets its name when it is complete, so that nothing half
    written is ever taken for data. Of an archive only the data set's files are taken.
    What cannot be read as the card says is set aside as ``<file>.rejected``.

    Parameters
    ----------
    names : str, Card or iterable of these
        The data sets.
    folder : path-like, optional
        Where each gets a folder of its name; by default the user's cache, which
        :func:`search_path` ends with.
    force : bool, default=False
        Whether to fetch anew what is there.
    timeout : float, default=30
        Seconds of silence (or of less than 1 KiB) after which an attempt is given up.
    retries : int, default=3
        Further attempts at one address.
    max_bytes : int, default=2**30
        The largest file that is accepted, as it comes and unpacked.
    progress : callable, optional
        Called during a transfer: (data set, file, bytes so far, bytes in all or None).
    on_done : callable, optional
        Called with each data set's result as soon as it is known.

    Returns
    -------
    list of Fetched
        One for each name.

    Raises
    ------
    DataError
        If a name is not known, before anything is fetched. If a data set cannot be
        fetched, after the others: one line for each, with address, reason and what to do.

    Examples
    --------
    >>> from kernlearn.datasets import fetch
    >>> fetch("iris")[0].state
    'carried'
    """
    wanted = [names] if isinstance(names, str | Card) else list(names)
    cards = [find_card(name) if isinstance(name, str) else name for name in wanted]
    place = cache_folder() / "datasets" if folder is None else Path(folder).expanduser()
    settings = _Settings(place, force, timeout, retries, max_bytes, progress or _silent)
    results = []
    for card in cards:
        try:
            result = _fetch_card(card, settings)
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


def _silent(name: str, file: str, so_far: int, in_all: int | None) -> None:
    pass


def _fetch_card(card: Card, settings: _Settings) -> Fetched:
    found = locate(card, settings.folder)
    if found is not None and not found.paths:
        return Fetched(card.name, "carried", remark="comes with scikit-learn")
    form = _fetchable(card)
    if found is not None and not settings.force and not _better(card, form, found):
        return Fetched(card.name, "there", found.paths, remark=found.form.note)
    if form is None:
        files = " + ".join(card.forms[0].files)
        raise DataError(
            f"{card.name}: no address is known for {files}; get it from "
            f"{card.source.told}, and put it into "
            f"{settings.folder / card.name}"
        )
    own = settings.folder / card.name
    own.mkdir(parents=True, exist_ok=True)
    _sweep(own)
    with tempfile.TemporaryDirectory(prefix=_STAGING, dir=own) as staging:
        stage = Path(staging) / card.name
        stage.mkdir()
        new = _fetch_files(card, form, stage, settings)
        _refuse_z(card, new, own)
        remark = _checked(card, form, new, stage, settings)
        n_bytes = sum(path.stat().st_size for path in new.values())
        for file, path in new.items():
            _publish(path, own, file)
    paths = tuple(own / path.name for path in (_there(own, file) for file in form.files) if path)
    return Fetched(card.name, "fetched", paths, n_bytes, remark)


def _fetchable(card: Card) -> Form | None:
    return next((f for f in card.forms if all(_addresses(card, file) for file in f.files)), None)


def _addresses(card: Card, file: str) -> tuple[str, ...]:
    named = card.source.downloads.get(file, ())
    return (named,) if isinstance(named, str) else tuple(named)


def _better(card: Card, form: Form | None, found: Found) -> bool:
    """Whether a form that can be fetched is preferred to the one that is there."""
    return form is not None and card.forms.index(form) < card.forms.index(found.form)


def _names(file: str) -> list[str]:
    return [file, *(file + suffix for suffix in PACKED)]


def _there(own: Path, file: str) -> Path | None:
    return next((path for name in _names(file) if (path := own / name).is_file()), None)


def _sweep(own: Path) -> None:
    """Remove what a fetch that was killed left behind."""
    for left in own.glob(_STAGING + "*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _ABANDONED:
                rmtree(left)


def _fetch_files(card: Card, form: Form, stage: Path, settings: _Settings) -> dict[str, Path]:
    """Bring together all files of a form; return those that are new."""
    own = settings.folder / card.name
    new: dict[str, Path] = {}
    bodies: dict[str, Path] = {}
    for file in form.files:
        before = _there(own, file)
        if before is not None and not settings.force:
            _link(before, stage / before.name)
            continue
        try:
            new[file] = _fetch_file(card, form, file, stage, bodies, settings)
        except DataError:
            for name, path in new.items():  # what is complete need not come again
                if _there(own, name) is None:
                    _publish(path, own, name)
            raise
    return new


def _link(path: Path, link: Path) -> None:
    try:
        os.link(path, link)
    except OSError:  # not every file system has links
        copyfile(path, link)


def _fetch_file(
    card: Card, form: Form, file: str, stage: Path, bodies: dict[str, Path], settings: _Settings
) -> Path:
    from kernlearn.datasets.transfer import unpack

    reasons = []
    for address in _addresses(card, file):
        try:
            if address not in bodies:
                bodies[address] = _transfer(card, file, address, stage.parent, settings)
            member = form.members.get(file, file)
            return unpack(bodies[address], file, member, stage, settings.max_bytes)
        except DataError as error:
            reasons.append(f"{address}: {error}")
    raise DataError(
        f"{card.name}: {file}: {'; '.join(reasons)}. Try again later, or put the file into "
        f"{settings.folder / card.name} by hand"
    )


def _transfer(card: Card, file: str, address: str, staging: Path, settings: _Settings) -> Path:
    from kernlearn.datasets.transfer import download

    return download(
        address,
        staging,
        staging.parent,
        timeout=settings.timeout,
        retries=settings.retries,
        max_bytes=settings.max_bytes,
        progress=lambda so_far, in_all: settings.progress(card.name, file, so_far, in_all),
    )


def _refuse_z(card: Card, new: dict[str, Path], own: Path) -> None:
    """Put what only the user can unpack where it belongs, and say how."""
    packed = [path for path in new.values() if path.suffix == ".Z"]
    if packed:
        for file, path in new.items():
            _publish(path, own, file)
        paths = " ".join(f"'{own / path.name}'" for path in packed)
        raise DataError(
            f"{card.name}: fetched, but packed by compress, which Python does not read; "
            f"unpack it with: gzip -d {paths}"
        )


def _publish(path: Path, own: Path, file: str) -> None:
    path.replace(own / path.name)
    for name in _names(file):  # an older copy, packed otherwise, would hide the new one
        if name != path.name:
            (own / name).unlink(missing_ok=True)


def _checked(
    card: Card, form: Form, new: dict[str, Path], stage: Path, settings: _Settings
) -> str:
    """Load what came before it gets its place; set it aside if that fails."""
    from kernlearn.datasets.loading import load

    own = settings.folder / card.name
    sole = card.model_copy(update={"forms": (form,)})
    try:
        content = load(sole, data_dir=stage.parent, cache=False).fingerprint
    except DataError as error:
        addresses = dict.fromkeys(a for file in new for a in _addresses(card, file))
        for path in new.values():
            path.replace(own / (path.name + ".rejected"))
        raise DataError(
            f"{card.name}: {', '.join(addresses) or own}: what came is not what the card says: "
            f"{str(error).replace(str(stage), str(own))}; it is kept with '.rejected' after its "
            f"name. Put the right file into {own} by hand"
        ) from None
    if form.fingerprint is None:
        return "the card has no fingerprint to compare the content with"
    if content == form.fingerprint:
        return "the content is that of the card"
    return (
        f"the content (fingerprint {content[:12]}) differs from the card's "
        f"({form.fingerprint[:12]}): results may differ"
    )
