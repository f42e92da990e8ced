"""File formats: the options of each, as on a card, and the result of its reader.

A new format is an :class:`Options` class here, listed in :data:`Format`, and a reader function in
a module of its own.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

#: What is done with missing entries.
Missing = Literal["drop", "mean", "most_frequent", "error"]


class Expected(NamedTuple):
    """The part of a card that readers check, so that they can name the line that differs.

    `classes` are the labels, None if the target is a number.
    """

    n_features: int
    classes: tuple[str, ...] | None


class Table(NamedTuple):
    """The result of a reader.

    X is float64, dense or CSR, or objects, None where one is missing; a nominal column has the
    positions of its values in the published order. y are those of the labels, or numbers.
    """

    X: Any
    y: Any
    feature_names: tuple[str, ...]
    nominal: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    query: Any = None


def default_names(n_features: int) -> tuple[str, ...]:
    """Name features that have no names: x1, x2, and so on."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))


class Strict(BaseModel):
    """A part of a card: immutable, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_text(value: Any) -> Any:
    """Let a label be a bare number in YAML; refuse what YAML makes of ``no``."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Label = Annotated[str, BeforeValidator(_as_text)]


class Options(Strict):
    """How the files of one format read."""

    #: "module:function" of this package that reads it: (paths, options, expected) → Table.
    reader: ClassVar[str]

    def read(self, paths: Sequence[Path], expected: Expected) -> Table:
        """Read files and concatenate their rows; a fault raises a DataError that says where."""
        module, _, function = self.reader.partition(":")
        read = getattr(import_module(f"kernlearn.datasets.{module}"), function)
        table: Table = read(paths, self, expected)
        return table

    def check(self, n_features: int, n_classes: int = 0) -> None:
        """Raise a ValueError if the options contradict the card; 0 classes mean a number."""


class Delimited(Options):
    """Text in columns, one row per line.

    Parameters
    ----------
    delimiter : str or None, default=","
        The separator of columns; None means any run of blanks.
    header : bool, default=False
        Whether the first line that is not blank names the columns.
    comment : str, default=""
        How a line that is skipped begins.
    skip : tuple of int, default=()
        Lines of a single file that are left out, from 1, such as damaged ones.
    columns : tuple of str, optional
        The names of all columns in the file's order, if the file has no header.
    target : int or str, default=-1
        The target's column, by position (negative from the end) or by name.
    target_suffix : str, default=""
        Text that may follow a label and is no part of it (the dot in ``adult.test``).
    one_hot : bool, default=False
        Whether the last columns are the target, one 0/1 column per class in the card's order.
    blocks : int, optional
        There is no target column: each run of that many rows is a class, in the card's order.
    drop : tuple of int or str, default=()
        Columns that are no features, such as row ids.
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    missing : str, optional
        The text of a missing entry, read as NaN. Without it a missing entry is a fault.
    quote : str, optional
        The character around entries that may have the delimiter or line breaks in them, which is
        doubled within.
    decimal : {".", ","}, default="."
        The decimal point.
    encoding : {"utf-8", "utf-16", "cp1252"}, default="utf-8"
        How the text is written.
    points : int or str, optional
        The column whose texts are the points themselves; the card has one feature then, and all
        other columns but the target are dropped.
    """

    kind: Literal["delimited"] = "delimited"
    reader = "text:read_delimited"
    delimiter: str | None = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    comment: str = ""
    skip: tuple[Annotated[int, Field(gt=0)], ...] = ()
    columns: tuple[str, ...] | None = None
    target: int | str = -1
    target_suffix: str = ""
    one_hot: bool = False
    blocks: int | None = Field(default=None, gt=0)
    drop: tuple[int | str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    missing: str | None = None
    quote: str | None = Field(default=None, min_length=1, max_length=1)
    decimal: Literal[".", ","] = "."
    encoding: Literal["utf-8", "utf-16", "cp1252"] = "utf-8"
    points: int | str | None = None

    def n_targets(self, n_classes: int) -> int:
        """Return the number of columns that the target takes."""
        if self.one_hot:
            return n_classes
        return 0 if self.blocks is not None else 1

    def check(self, n_features: int, n_classes: int = 0) -> None:
        """Raise a ValueError if the options contradict each other or the card."""
        if self.one_hot and self.blocks is not None:
            raise ValueError("one_hot, blocks: only one of them is allowed")
        if (self.one_hot or self.blocks is not None) and n_classes == 0:
            raise ValueError("one_hot, blocks: only allowed if the card has classes")
        if self.points is not None and (n_features != 1 or self.one_hot or self.nominal):
            raise ValueError("points: goes with one feature, without nominal or one_hot")
        if self.columns is None:
            return
        if self.header:
            raise ValueError("columns: must be left out if header is true")
        expected = n_features + self.n_targets(n_classes) + len(self.drop)
        if len(self.columns) != expected or len(set(self.columns)) != expected:
            raise ValueError(
                f"columns: {len(set(self.columns))} distinct names, expected {expected} "
                "(the features, the target and the dropped columns)"
            )
        named = (self.target, *self.drop, *self.nominal)
        if unknown := [c for c in named if isinstance(c, str) and c not in self.columns]:
            raise ValueError(f"{', '.join(unknown)}: not among columns")


class Libsvm(Options):
    """LIBSVM's sparse text: ``label index:value index:value …``, one row per line.

    Parameters
    ----------
    zero_based : bool, default=False
        Whether the first feature has index 0.
    """

    kind: Literal["libsvm"] = "libsvm"
    reader = "sparse_text:read_pairs"
    zero_based: bool = False


class Letor(Options):
    """LETOR's text: ``relevance qid:number 1:value 2:value … # comment``, one row per line."""

    kind: Literal["letor"] = "letor"
    reader = "sparse_text:read_pairs"


class Arff(Options):
    """Weka's attribute-relation file format, dense or sparse; ``?`` is a missing entry.

    Parameters
    ----------
    target : int or str, default=-1
        The target's attribute, by position (negative from the end) or by name.
    drop : tuple of int or str, default=()
        Attributes that are no features.
    rename : dict of str to str, default={}
        The card's spelling of labels that the file spells differently.
    """

    kind: Literal["arff"] = "arff"
    reader = "sparse_text:read_arff"
    target: int | str = -1
    rename: dict[Label, Label] = {}
    drop: tuple[int | str, ...] = ()


class Series(Options):
    """The ``.ts`` text of the time series archives; ``?`` is a missing entry.

    A header of lines that begin with ``@``, of which the last is ``@data``, then for each series
    its values, a colon and its class; of several channels, each ends with a colon.

    Parameters
    ----------
    rename : dict of str to str, default={}
        The card's spelling of labels that the file spells differently.
    points : bool, default=False
        Whether the series are points themselves, of any lengths and numbers of channels; the card
        has one feature then. Otherwise they are the rows of a matrix: of one length and channel.
    """

    kind: Literal["ts"] = "ts"
    reader = "series_text:read_ts"
    rename: dict[Label, Label] = {}
    points: bool = False


class JsonLines(Options):
    """Lines of JSON, an object each, of which one value is the point and one the target.

    A point is text, a list of numbers (a series; lists of numbers are its channels), a list of
    texts (a set), or a graph, ``{"edges": [[u, v], ...], "labels": {u: label, ...}}``.

    Parameters
    ----------
    points, target : str
        The names of the two.
    """

    kind: Literal["jsonl"] = "jsonl"
    reader = "json_lines:read_json_lines"
    points: str
    target: str


class Matlab(Options):
    """A MATLAB file (version 5 to 7.3) with a matrix and a vector of labels.

    Parameters
    ----------
    matrix : str, default="A"
        The name of the matrix: similarities, distances or features.
    target : str, default="C"
        The name of the labels.
    """

    kind: Literal["matlab"] = "matlab"
    reader = "matlab:read_matlab"
    matrix: str = "A"
    target: str = "C"


class Npz(Options):
    """NumPy's archive of arrays; object arrays are not read.

    Parameters
    ----------
    matrix : str, default="X"
        The name of the matrix: features, similarities or distances.
    target : str, default="y"
        The name of the labels.
    query : str, optional
        The name of the query numbers, for ranking.
    """

    kind: Literal["npz"] = "npz"
    reader = "arrays:read_npz"
    matrix: str = "X"
    target: str = "y"
    query: str | None = None


class Parquet(Options):
    """Apache Parquet; null is a missing entry.

    Parameters
    ----------
    target : str
        The target's column.
    drop : tuple of str, default=()
        Columns that are no features.
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    query : str, optional
        The column of query numbers, for ranking.
    """

    kind: Literal["parquet"] = "parquet"
    reader = "parquet:read_parquet"
    target: str
    drop: tuple[str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    query: str | None = None


class Excel(Options):
    """A sheet of an Excel (.xls, .xlsx, .xlsb) or OpenDocument file; an empty cell is missing.

    Parameters
    ----------
    sheet : int or str, default=0
        The sheet, by position or name.
    header : bool, default=True
        Whether the first row that is not empty names the columns.
    columns : tuple of str, optional
        The names of all columns, if the sheet has no header.
    target : int or str, default=-1
        The target's column, by position (negative from the end) or by name.
    drop : tuple of int or str, default=()
        Columns that are no features.
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    missing : str, optional
        A text that stands for a missing entry too.
    points : int or str, optional
        As in :class:`Delimited`.
    """

    kind: Literal["excel"] = "excel"
    reader = "frames:read_sheets"
    sheet: int | str = 0
    header: bool = True
    columns: tuple[str, ...] | None = None
    target: int | str = -1
    drop: tuple[int | str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    missing: str | None = None
    points: int | str | None = None


class Stata(Options):
    """Stata's .dta; values with labels are texts in the order of the values.

    Parameters
    ----------
    target : int or str, default=-1
        The target's column, by position (negative from the end) or by name.
    drop : tuple of int or str, default=()
        Columns that are no features.
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    missing : str, optional
        A text that stands for a missing entry too.
    """

    kind: Literal["stata"] = "stata"
    reader = "frames:read_stata"
    target: int | str = -1
    drop: tuple[int | str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    missing: str | None = None


class Bundled(Options):
    """A data set that is bundled with scikit-learn and needs no file.

    Parameters
    ----------
    loader : str
        The name of its loader in :mod:`sklearn.datasets`.
    """

    kind: Literal["sklearn"] = "sklearn"
    reader = "arrays:read_bundled"
    loader: Literal["load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"]


Format = Annotated[
    Delimited
    | Libsvm
    | Letor
    | Arff
    | Series
    | JsonLines
    | Matlab
    | Npz
    | Parquet
    | Excel
    | Stata
    | Bundled,
    Field(discriminator="kind"),
]
