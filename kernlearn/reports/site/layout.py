"""Tables as pages lay them out: with addresses, and in a form that has room for them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kernlearn.reports.addresses import Taken, joined, numbered
from kernlearn.reports.site.formats import number_text, spread_text
from kernlearn.reports.site.units import in_readable_units
from kernlearn.reports.tables import Cell, Table
from kernlearn.reports.verdicts import VERDICTS

# Pixels of a character, and between columns; and the width that a page has for a table.
_CHARACTER, _GAP, _ROOM = 7.4, 21, 1220


@dataclass(frozen=True)
class Row:
    """A row: its address, its labels, and its cells with theirs."""

    address: str
    labels: list[str]
    cells: list[tuple[str, Cell]]


@dataclass(frozen=True)
class Shown:
    """A table on a page.

    Attributes
    ----------
    table : Table
    heading : str
        Its title without that of the experiment, which stands on top of the page.
    rows : list of Row
    notes : dict of str to str
        Addresses of the notes on its labels.
    kinds : list of str
        The verdicts that occur in it.
    stacked : bool
        Whether the reported number stands below the measured one, because the table is wide.
    """

    table: Table
    heading: str
    rows: list[Row]
    notes: dict[str, str]
    kinds: list[str]
    stacked: bool

    @property
    def signs(self) -> dict[str, int]:
        """How many cells have which verdict."""
        counts = Counter(cell.verdict for row in self.rows for _, cell in row.cells)
        return {kind: counts[kind] for kind in self.kinds}


def lay_out(table: Table, title: str, note_ids: Mapping[str, str], taken: Taken) -> Shown:
    """Give a table what a page needs; ``title`` is that of the experiment."""
    table = in_readable_units(table)
    heading = table.title.removeprefix(title).removeprefix(" — ").strip(" ()")
    labels = {label for row, _ in table.rows for label in row} | set(table.heads)
    named = {label: label.removesuffix(" (baseline)") for label in labels}
    notes = {label: note_ids[name] for label, name in named.items() if name in note_ids}
    occurring = {cell.verdict for _, cells in table.rows for cell in cells}
    kinds = [verdict for verdict in VERDICTS if verdict in occurring]
    places = numbered(joined("row", heading, *row) for row, _ in table.rows)
    rows = [
        Row(taken.first(place), row, [(_address(cell, taken), cell) for cell in cells])
        for place, (row, cells) in zip(places, table.rows, strict=True)
    ]
    return Shown(table, heading, rows, notes, kinds, _is_wide(table))


def _address(cell: Cell, taken: Taken) -> str:
    return taken.first(joined(*cell.place, cell.metric)) if cell.place else ""


def _is_wide(table: Table) -> bool:
    """Whether a page has too little room for the table with each cell in one line."""
    widths = [
        _longest([head, *(row[i] for row, _ in table.rows)])
        for i, head in enumerate(table.row_heads)
    ]
    for i, head in enumerate(table.heads):
        texts = [_text(cells[i]) for _, cells in table.rows]
        # a head of several words has several lines
        widths.append(max(_longest(texts), _longest(head.split(" "))))
    return _CHARACTER * sum(widths) + _GAP * len(widths) > _ROOM


def _text(cell: Cell) -> str:
    reported = f" ({cell.reported}) ✓" if cell.reported else ""
    return number_text(cell) + spread_text(cell) + reported


def _longest(texts: Iterable[str]) -> int:
    return max(map(len, texts), default=0)
