"""What the entries of one column are, gathered one by one."""

from collections import Counter
from dataclasses import dataclass, field

from kernlearn.datasets._labels import canonical_label
from kernlearn.datasets._text import number

MANY = 200  # distinct values above which text is no nominal column and numbers no classes
_MISSING = {"?", "", "NA", "N/A", "na", "NaN", "nan", "null", "NULL"}
_SURELY_MISSING = {"?", ""}  # in a column of text NA may be a value


@dataclass
class Column:
    """What the entries of a column are, gathered one by one.

    Parameters
    ----------
    name : str
        The column.
    n_numbers : int
        How many entries are numbers.
    texts : Counter
        The entries that are none, at most a few more than :data:`MANY` distinct ones.
    values : Counter or None
        All entries; None if there are too many distinct ones.
    """

    name: str
    n_numbers: int = 0
    texts: Counter[str] = field(default_factory=Counter)
    values: Counter[str] | None = field(default_factory=Counter)

    def add(self, text: str) -> None:
        """Take in one entry.

        Parameters
        ----------
        text : str
            The entry, without blanks around it.
        """
        if self.values is not None:
            self.values[text] += 1
            if len(self.values) > MANY:
                self.values = None
        try:
            number(text)
        except ValueError:
            if len(self.texts) <= MANY or text in self.texts:
                self.texts[text] += 1
        else:
            self.n_numbers += 1

    @property
    def missing(self) -> set[str]:
        """What stands for missing entries."""
        return set(self.texts) & (_MISSING if self.numeric else _SURELY_MISSING)

    @property
    def numeric(self) -> bool:
        """Whether all entries that are there are numbers."""
        return self.n_numbers > 0 and set(self.texts) <= _MISSING

    def labels(self) -> dict[str, int] | None:
        """Return the values in order and how often each comes; None if there are too many."""
        if self.values is None:
            return None
        counts: Counter[str] = Counter()
        for text, count in self.values.items():
            if text not in self.missing:
                counts[canonical_label(text)] += count
        order = sorted(counts, key=lambda label: float(label) if self.numeric else 0.0)
        return {label: counts[label] for label in (order if self.numeric else sorted(counts))}
