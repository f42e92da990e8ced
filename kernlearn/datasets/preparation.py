"""What loading does to the rows and columns of a data set, in counts and in words."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from kernlearn.memory import row_blocks

_ID_NAME = re.compile(
    r"(.*[\s_.-])?(id|uuid|guid)|index|idx|key|row|row_?names?|unnamed: ?\d+", re.IGNORECASE
)
_CAMEL = re.compile(r".*[a-z]I[dD]")  # customerId, but not "paid"
_FEWEST = 10  # rows, of which fewer may differ by chance
_MANY = 30
_FEWEST_COMPARED = 3
_SHOWN = 6  # names in a sentence


@dataclass(frozen=True)
class Preparation:
    """What loading did to the rows and columns of a data set.

    Parameters
    ----------
    rows : int
        The number of rows that were read.
    rows_dropped : int, default=0
        Those that were left out because entries are missing.
    rows_filled, entries_filled : int, default=0
        Missing entries that were filled in, and the rows that have them.
    filled_by : {"", "mean", "most_frequent"}, default=""
        The value of the column that filled them in.
    left_out : dict of str to str, default={}
        Columns that are neither features nor the target, with the reason if it is known.
    coded : dict of str to int, default={}
        Nominal columns that are the positions of their values, with their numbers of values.
    one_hot : dict of str to int, default={}
        Nominal columns that are one 0/1 column per value.
    id_like : dict of str to str, default={}
        Features that look like the number or name of a row, with the reason.
    grades : tuple of str, default=()
        Grades in words whose order nobody gave, in the order that was taken.
    asymmetry : float, default=0.0
        For a matrix of similarities or distances, the largest difference of two entries (i, j)
        and (j, i).
    remarks : tuple of str, default=()
        Further sentences.

    Examples
    --------
    >>> from kernlearn.datasets.preparation import Preparation
    >>> Preparation(400, rows_dropped=122, one_hot={"city": 3}).sentences
    ['122 of 400 rows with missing entries are left out', '1 nominal column is one-hot: city (3 \
values)']
    """

    rows: int
    rows_dropped: int = 0
    rows_filled: int = 0
    entries_filled: int = 0
    filled_by: str = ""
    left_out: dict[str, str] = field(default_factory=dict)
    coded: dict[str, int] = field(default_factory=dict)
    one_hot: dict[str, int] = field(default_factory=dict)
    id_like: dict[str, str] = field(default_factory=dict)
    grades: tuple[str, ...] = ()
    asymmetry: float = 0.0
    remarks: tuple[str, ...] = ()

    @property
    def plain(self) -> dict[str, Any]:
        """What was done as JSON has it; empty if nothing was."""
        said = {k: v for k, v in asdict(self).items() if k != "rows" and v}
        return {"rows": self.rows} | said if said else {}

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Preparation":
        """Read what :attr:`plain` gave; fields of other versions are passed over."""
        known = {k: plain[k] for k in plain.keys() & {f.name for f in fields(cls)}}
        for name in ("grades", "remarks"):
            known[name] = tuple(known.get(name, ()))
        return cls(**{"rows": 0, **known})

    @property
    def sentences(self) -> list[str]:
        """What was done in words, one sentence per kind, without full stops."""
        found = []
        if self.rows_dropped:
            found.append(
                f"{self.rows_dropped} of {self.rows} rows with missing entries "
                f"{_are(self.rows_dropped)} left out"
            )
        if self.entries_filled:
            with_what = {"mean": "mean", "most_frequent": "most frequent value"}[self.filled_by]
            found.append(
                f"{_number(self.entries_filled, 'missing entry', 'missing entries')} in "
                f"{self.rows_filled} of {self.rows} rows {_are(self.entries_filled)} filled in by "
                f"the column's {with_what}"
            )
        if columns := self.left_out:
            listed = _listed(f"{name} ({why})" if why else name for name, why in columns.items())
            found.append(f"{_columns(columns)} {_are(columns)} left out: {listed}")
        if self.one_hot:
            found.append(nominal_columns(self.one_hot, f" {_are(self.one_hot)} one-hot"))
        if self.coded:
            verb = "enters" if len(self.coded) == 1 else "enter"
            found.append(nominal_columns(self.coded, f" {verb} as codes 0, 1, 2, …"))
        if columns := self.id_like:
            listed = _listed(f"{name} ({why})" for name, why in columns.items())
            one = len(columns) == 1
            found.append(
                f"{_columns(columns)} {'looks like an id' if one else 'look like ids'} and "
                f"{_are(columns)} kept, unless `drop` names {'it' if one else 'them'}: {listed}"
            )
        if self.grades:
            found.append(
                f"the grades are in the order {' < '.join(self.grades)}, that of the alphabet; "
                "if it is wrong, give `grades` in theirs"
            )
        if self.asymmetry:
            found.append(
                f"the matrix is not symmetric: entries (i, j) and (j, i) differ by up to "
                f"{self.asymmetry:.3g}"
            )
        return [*found, *self.remarks]


def nominal_columns(columns: Mapping[str, int], what: str = "") -> str:
    """List nominal columns with their numbers of values, and what is done with them."""
    listed = _listed(f"{name} ({values} values)" for name, values in columns.items())
    return f"{_columns(columns, 'nominal')}{what}: {listed}"


def look_like_ids(X: Any, names: Iterable[str], nominal: Iterable[str]) -> dict[str, str]:
    """Return the dense columns of numbers that look like the number of a row, and why."""
    if not isinstance(X, np.ndarray) or len(X) < _FEWEST:
        return {}
    names, coded, found = tuple(names), set(nominal), {}
    for name, column in zip(names, X.T, strict=True):
        if name in coded:
            continue
        if is_id_name(name) and _different(column) > len(column) // 2:
            found[name] = "by its name"
        elif _numbers_rows(column, first=name == names[0]):
            found[name] = f"{len(column)} different whole numbers"
    return found


def asymmetry(S: Any) -> float:
    """Return the largest difference of two entries (i, j) and (j, i) of a square matrix."""
    # in blocks, and as float64: integers without a sign have no negative differences
    blocks = (
        np.abs(np.asarray(S[rows], dtype=np.float64) - S.T[rows]).max()
        for rows in row_blocks(len(S), len(S))
    )
    return float(max(blocks, default=0.0))


def compares_rows(X: Any) -> str:
    """Say how a dense matrix looks like similarities or distances of its rows, or return ""."""
    n = len(X) if isinstance(X, np.ndarray) else 0
    if n < _FEWEST_COMPARED or X.shape != (n, n) or not np.isfinite(X).all() or not X.any():
        return ""
    if asymmetry(X) <= 1e-9 * max(float(X.max()), -float(X.min())):
        return "symmetric"
    return "with zeros on the diagonal" if not np.diag(X).any() and (X >= 0).all() else ""


def is_id_name(name: str) -> bool:
    """Tell whether a column is named like the id of a row."""
    return bool(_ID_NAME.fullmatch(name.strip()) or _CAMEL.fullmatch(name.strip()))


def _different(column: np.ndarray) -> int:
    return len(np.unique(column))


def _numbers_rows(column: np.ndarray, first: bool) -> bool:
    """Tell whether a column has a different whole number in every row, with few gaps.

    In the `first` column of many rows they may be any.
    """
    n = len(column)
    for part in (column[:1000], column):  # most columns need no look at all rows
        if not (np.floor(part) == part).all() or _different(part) < len(part):
            return False
    return (first and n >= _MANY) or float(column.max()) - float(column.min()) < 2 * n


def _columns(names: Any, kind: str = "") -> str:
    return _number(len(names), f"{kind} column".strip(), f"{kind} columns".strip())


def _number(n: int, one: str, many: str) -> str:
    return f"{n} {one if n == 1 else many}"


def _are(what: Any) -> str:
    return "is" if (what if isinstance(what, int) else len(what)) == 1 else "are"


def _listed(parts: Iterable[str]) -> str:
    every = list(parts)
    rest = len(every) - _SHOWN
    return ", ".join(every if rest < 2 else [*every[:_SHOWN], f"and {rest} more"])
