"""A user's own file, named by its path instead of a data set's name."""

import re
from pathlib import Path

from kernlearn.datasets._card import Card, read_card
from kernlearn.datasets._locate import Found, locate, missing_message
from kernlearn.exceptions import DataError


def own_file(path: Path, target: int | str | None = None) -> tuple[Card, Found]:
    """Return a card for a file, and the file as found.

    Parameters
    ----------
    path : pathlib.Path
        A data file, which is looked at as :func:`add` does; or a card (``.yaml``) whose
        data lies beside it or where data is looked for.
    target : int or str, optional
        The target's column; not for a card, which names its own.

    Returns
    -------
    card : Card
    found : Found

    Raises
    ------
    DataError
        If the file is not there or does not read.
    """
    if path.suffix in (".yaml", ".yml"):
        if target is not None:
            raise DataError(f"{path}: a card names its own target; leave target out")
        card = read_card(path)
        found = locate(card, path.parent)
        if found is None:
            raise DataError(missing_message([card], path.parent))
        return card, found
    from kernlearn.datasets._add import look_at

    content, _ = look_at(path, name=_name(path), target=target)
    card = Card.model_validate(content)
    return card, Found(card.forms[0], (path,))


def _name(path: Path) -> str:
    """Make a data set's name of a file's."""
    words = re.findall(r"[a-z0-9]+", path.name.split(".")[0].lower())
    return "_".join(["own", *words]) if not words or words[0][0].isdigit() else "_".join(words)
