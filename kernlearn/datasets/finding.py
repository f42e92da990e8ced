"""From what a user gives, a name, a path or a card, to a card and the files of its data."""

import os
from pathlib import Path
from typing import Any

from kernlearn.datasets.cache import recall, remember, stamp
from kernlearn.datasets.card import Card, make_card, read_card
from kernlearn.datasets.file_options import FileOptions
from kernlearn.datasets.files import Found, locate, missing_message
from kernlearn.datasets.known_cards import find_card
from kernlearn.exceptions import DataError


def is_path(name: Any) -> bool:
    """Tell whether a data set is given by a path."""
    return isinstance(name, os.PathLike) or (isinstance(name, str) and not name.isidentifier())


def is_file(name: Any) -> bool:
    """Tell whether a data set is given by the path of a data file, rather than by a card."""
    return is_path(name) and Path(name).suffix not in (".yaml", ".yml")


def find(
    name: str | os.PathLike[str] | Card | Found,
    data_dir: str | os.PathLike[str] | None = None,
    given: FileOptions | None = None,
) -> Found:
    """Find the files of a data set, given as for :func:`load`; raise a DataError if missing."""
    given = given or FileOptions()
    named = {k: v for k, v in given._asdict().items() if k != "drop" and v is not None}
    if is_path(name):
        path = Path(name)  # type: ignore[arg-type]
        if is_file(path):
            return _find_file(path, given)
        if named:
            option = next(iter(named))
            raise DataError(f"{path}: a card names its own {option}; leave {option} out")
        name, data_dir, named = read_card(path), path.parent, {}
    if isinstance(name, Found):
        return name
    if named:
        option = next(iter(named))
        called = name.name if isinstance(name, Card) else str(name)
        raise DataError(f"{called}: {option} is for the path of a file; a card names its own")
    card = name if isinstance(name, Card) else find_card(str(name), data_dir)
    found = locate(card, data_dir)
    if found is None:
        raise DataError(missing_message([card], data_dir))
    return found


def find_as(arguments: dict[str, Any], data_dir: Path | None = None) -> Found:
    """Find the files for arguments of :func:`load`, among which others are passed over."""
    given = {key: arguments[key] for key in FileOptions._fields if arguments.get(key) is not None}
    return find(arguments["name"], data_dir, FileOptions(**given))


def _find_file(path: Path, given: FileOptions) -> Found:
    """Make a card for a data file, or take the one made before for the file as it is."""
    from kernlearn.datasets import guess
    from kernlearn.datasets.members import data_file

    name, path = guess.file_name(path), data_file(path)
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in given._asdict().items()}
    mark = stamp(name, [path], {**plain, "guess": guess.VERSION})
    if (content := recall(mark)) is None:
        content, _ = guess.card_content(path, name, given)
        remember(mark, content)
    card = make_card(content, f"{path}: no card can be made")
    return Found(card.forms[0], (path,), card)
