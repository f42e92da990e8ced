"""Cards of data sets: the facts, the files, and how these read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from kernlearn.exceptions import ConfigError, DataError

#: What is done with missing entries.
Missing = Literal["drop", "impute", "mean", "most_frequent", "category", "error"]
Task = Literal["classification", "regression", "ordinal", "ranking", "similarity"]
Address = Annotated[str, Field(pattern=r"^https?://\S+$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
Member = Annotated[str, Field(pattern=r"^[^/\\:\s.][^/\\:]*(/[^/\\:\s.][^/\\:]*)*$")]
Column = int | str
Count = Annotated[int, Field(gt=0)]

#: The most columns that are read, each of which gets a name.
MOST_FEATURES = 5_000_000


def _as_text(value: Any) -> Any:
    """Let a label be a bare number in YAML; refuse what YAML makes of ``true``."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Label = Annotated[str, BeforeValidator(_as_text)]


def _as_list(value: Any) -> Any:
    """Let one of several be given without a list."""
    return [value] if isinstance(value, (str, int)) else value


Labels = Annotated[tuple[Label, ...], BeforeValidator(_as_list)]
SeveralColumns = Annotated[tuple[Column, ...], BeforeValidator(_as_list)]

#: Keys for the path of a data file; a card names its own.
OF_FILE = ("target", "grades", "sheet", "read_as", "matrix", "labels", "points")


class Reading(BaseModel):
    """How a data set is read: the arguments of :func:`load`, keys of configs."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    target: Column | None = None
    """The column of `file` to predict; by default the last."""
    grades: Labels | None = None
    """The labels of the target of `file` in their order: without a task these are grades."""
    sheet: int | str | None = None
    """The sheet of an Excel file, by name or position from 0."""
    read_as: dict[str, Any] = {}
    """How text in columns reads where that is not plain: delimiter, header, decimal, thousands,
    comment, quote, skip, encoding, missing (texts of missing entries), text (columns), replace
    (numbers in place of texts, as {"<0.5": 0.25})."""
    matrix: Literal["similarity", "distance"] | None = None
    """`file` is a square matrix of similarities or distances, with a column or array of labels."""
    labels: str | None = None
    """A file with the labels of the points of `file`: a column has the names of the matrix's rows,
    and `target`, or the last, the labels. Arrays without names take the labels in their order."""
    points: Column | None = None
    """The column of `file` whose texts are the points themselves, for similarities of strings;
    `series` takes those of a .ts file as they are."""
    drop: SeveralColumns = ()
    """Columns that are no features."""
    groups: Column | None = None
    """The column whose equal values mark rows that belong together, such as those of a patient; it
    is no feature."""
    time: Column | None = None
    """The column with the time of each row, numbers or dates; it is no feature."""
    nominal: Literal["ordinal", "onehot"] | None = None
    """Whether a nominal column becomes codes 0, 1, ... (ordinal) or one 0/1 column per value
    (onehot); by default codes for data of the catalogue, else 0/1 columns."""
    missing: Missing | None = None
    """How missing entries are treated. `impute` fills them in within each split by what
    training rows have in the column: the mean, of codes and of 0 and 1 the most frequent value;
    of a nominal column as 0/1 columns none is 1 then.
    `mean` and `most_frequent` are those of all rows. `category` makes them a value of their own in
    nominal columns, and drops rows with others. By default as the data set's card says, else rows
    with missing entries, or points that lack pairs, are dropped."""
    dense: bool | None = None
    """Whether to make a sparse matrix dense."""

    @classmethod
    def of(cls, **options: Any) -> "Reading":
        """Return what is asked for; a DataError says what is none of these."""
        try:
            return cls.model_validate({k: v for k, v in options.items() if v is not None})
        except ValidationError as error:
            raise DataError("; ".join(faults(error, options))) from None


class Strict(BaseModel):
    """A part of a card: immutable, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class TableOptions(Strict):
    """What the columns of a table are, whatever its format.

    Parameters
    ----------
    target : int or str, default=-1
        The target's column, by position (negative from the end) or by name.
    drop : tuple of int or str, default=()
        Columns that are no features, such as row ids.
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    points : int or str, optional
        The column whose texts are the points themselves; the card has one feature then, and all
        other columns but the target are dropped.
    rename : dict of str to str, default={}
        The card's spelling of labels that the file spells differently.
    missing : tuple of str, default=()
        Texts of a missing entry, beside those that the format itself has for one.
    text : tuple of str, default=()
        Columns that are text, even if most of their entries are numbers.
    replace : dict of str to float or "", default={}
        Numbers in place of texts among numbers, such as ``<0.5``, below the limit of detection.
    """

    target: Column = -1
    drop: tuple[Column, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    points: Column | None = None
    rename: dict[Label, Label] = {}
    missing: Labels = ()
    text: Labels = ()
    replace: dict[Label, float | Literal[""]] = {}


class Delimited(TableOptions):
    """Text in columns, one row per line, read by :func:`pandas.read_csv`.

    Blanks after a delimiter are skipped, unless texts are the points and `strip` is false.

    The parameters of :class:`TableOptions`, and the following.

    Parameters
    ----------
    delimiter : str or None, default=","
        The separator of columns; None means any run of blanks.
    header : bool, default=False
        Whether the first line that is not blank names the columns. A first column without a name
        is called ``row names``.
    comment : str, default=""
        A character; it and the rest of its line are left out.
    skip : tuple of int, default=()
        Lines of a single file that are left out, from 1, such as damaged ones.
    columns : tuple of str, optional
        The names of all columns in the file's order, if the file has no header.
    one_hot : bool, default=False
        Whether the last columns are the target, one 0/1 column per class in the card's order.
    blocks : int, optional
        There is no target column: each run of that many rows is a class, in the card's order.
    standard_missing : bool, default=False
        Whether no text, ``?``, ``.`` and what pandas takes for missing (``NA``, ``NaN``,
        ``null``, …) are missing entries, in all columns.
    quote : str or None, default='"'
        The character around entries that may have the delimiter or line breaks in them, which is
        doubled within. Without one, quotes are text.
    decimal : {".", ","}, default="."
        The decimal point.
    thousands : str, optional
        The separator of thousands.
    encoding : {"utf-8", "utf-16", "cp1252"}, default="utf-8"
        How the text is written.
    strip : bool, default=False
        Whether blanks and tabs around texts that are the points are left out.
    """

    kind: Literal["delimited"] = "delimited"
    delimiter: str | None = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    comment: str = Field(default="", max_length=1)
    skip: Annotated[tuple[Count, ...], BeforeValidator(_as_list)] = ()
    columns: tuple[str, ...] | None = None
    one_hot: bool = False
    blocks: Count | None = None
    standard_missing: bool = False
    quote: str | None = Field(default='"', min_length=1, max_length=1)
    decimal: Literal[".", ","] = "."
    thousands: str | None = Field(default=None, min_length=1, max_length=1)
    encoding: Literal["utf-8", "utf-16", "cp1252"] = "utf-8"
    strip: bool = False


class Columns(TableOptions):
    """A file whose format says how it reads, down to missing entries.

    Apache Parquet and Feather; Stata's .dta and SPSS's .sav, where values with labels are texts in
    the order of the values; a sheet of an Excel (.xls, .xlsx, .xlsb) or OpenDocument file; Weka's
    attribute-relation file format; the ``.ts`` text of the time series archives, in columns
    ``x1``, ``x2``, … and ``class``, or with a column ``series`` of `points`, which may have any
    lengths and numbers of channels; lines of JSON, an object each, where a point is text, a list
    of numbers (a series; lists of numbers are its channels), a list of texts (a set), or a graph,
    ``{"edges": [[u, v], ...], "labels": {u: label, ...}}``.

    The parameters of :class:`TableOptions`, and the following.

    Parameters
    ----------
    sheet : int or str, default=0
        The sheet of a spreadsheet, by position or name.
    header : bool, default=True
        Whether the first row of a sheet names the columns.
    skip : tuple of int, default=()
        Rows of a sheet that are left out, from 1.
    """

    kind: Literal["parquet", "feather", "stata", "spss", "excel", "arff", "ts", "jsonl"]
    sheet: int | str = 0
    header: bool = True
    skip: Annotated[tuple[Count, ...], BeforeValidator(_as_list)] = ()


class Pairs(Strict):
    """LIBSVM's or LETOR's sparse text, one row per line.

    LIBSVM's rows are ``label index:value index:value …``, LETOR's ``relevance qid:number 1:value
    2:value … # comment``.

    Parameters
    ----------
    zero_based : bool, default=False
        Whether the first feature has index 0.
    """

    kind: Literal["libsvm"] = "libsvm"
    zero_based: bool = False


class Arrays(Strict):
    """NumPy's NPZ or NPY, or a MATLAB or HDF5 file, with a matrix and its labels.

    Object arrays are not read. A field of a structure has the name ``structure.field``.

    Parameters
    ----------
    matrix : str, default="X"
        The name of the matrix: features, similarities or distances.
    target : str, default="y"
        The name of the labels.
    """

    kind: Literal["npz", "matlab"]
    matrix: str = "X"
    target: str = "y"


class Bundled(Strict):
    """A data set that is bundled with scikit-learn and needs no file.

    Parameters
    ----------
    loader : str
        The name of its loader in :mod:`sklearn.datasets`.
    """

    kind: Literal["sklearn"] = "sklearn"
    loader: Literal["load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"]


Format = Annotated[Delimited | Columns | Pairs | Arrays | Bundled, Field(discriminator="kind")]


class Source(Strict):
    """Where a data set is published.

    Parameters
    ----------
    publisher : str
        The publisher.
    page : str or None
        The address of the page that describes it.
    downloads : dict of str to str, default={}
        For each file, the address of the file, plain or compressed, or of an archive with it.

    Examples
    --------
    >>> from kernlearn.datasets import find_card
    >>> source = find_card("abalone").source
    >>> source.publisher, source.page
    ('UCI Machine Learning Repository', 'https://archive.ics.uci.edu/dataset/1/abalone')
    """

    publisher: str
    page: Address | None = None
    downloads: dict[Member, Address] = {}

    @property
    def name_and_page(self) -> str:
        """Publisher and page, for messages."""
        return self.publisher if self.page is None else f"{self.publisher}, {self.page}"


class Form(Strict):
    """One form in which a data set is found: its files, how they read, what they contain.

    Parameters
    ----------
    files : tuple of str, default=()
        The files, in the order in which their rows are concatenated. Each may also be
        compressed (with ``.gz``, ``.bz2`` or ``.xz`` after its name) or in an archive, where
        its name, or its path if that is not unique, finds it.
    own_folder : bool, default=False
        Whether the files are only taken from a folder named like the data set, because other
        data sets have files of the same names.
    folder : str, optional
        Another data set whose folder may contain the files, as both are published together.
    format : Options
        The file format and its options.
    rows : int, optional
        The number of rows in all files together, if known.
    classes : dict of str to int, optional
        The labels in the order of their codes, and their numbers of rows.
    labels : tuple of str, optional
        The labels alone, if their counts are not known.
    folds : tuple of int or "files", default=()
        The number of rows of each published fold, in order; or each file is one. A query is in
        one fold.
    fingerprint : str, optional
        The :func:`fingerprint` of what :func:`load` returns by default.
    sample : bool, default=False
        Whether this is only a part of the published data.
    note : str, default=""
        A remark for reports that use this form.
    left_out : dict of str to str, default={}
        Why columns that the format drops are no features, by column, for reports.
    order : {"given", "file", "alphabet"}, default="given"
        Who has said the order of grades: somebody, or only the file, or nobody, so that words are
        in that of the alphabet. Of the last two reports say the order.

    Examples
    --------
    >>> from kernlearn.datasets import find_card
    >>> form = find_card("spambase").forms[0]
    >>> form.files, form.rows, form.format.kind, form.format.target
    (('spambase.data',), 4601, 'delimited', 'spam')
    """

    files: tuple[Member, ...] = ()
    own_folder: bool = False
    folder: Name | None = None
    format: Format
    rows: Count | None = None
    classes: dict[Label, Count] | None = None
    labels: tuple[Label, ...] | None = None
    folds: tuple[Count, ...] | Literal["files"] = ()
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    sample: bool = False
    note: str = ""
    left_out: dict[str, str] = {}
    order: Literal["given", "file", "alphabet"] = "given"

    @model_validator(mode="after")
    def _check(self) -> "Form":
        if (self.format.kind == "sklearn") == bool(self.files):
            raise ValueError("files: at least one, and none of a data set of scikit-learn")
        if self.classes is not None and (n := sum(self.classes.values())) != self.rows:
            raise ValueError(f"classes: the counts sum to {n}, rows is {self.rows}")
        if self.folds and self.folds != "files" and sum(self.folds) != self.rows:
            raise ValueError(f"folds: their rows sum to {sum(self.folds)}, rows is {self.rows}")
        coded = [key for key in ("blocks", "one_hot") if getattr(self.format, key, None)]
        if len(coded) > (self.known_labels is not None):
            raise ValueError("one_hot, blocks: one of them, if the card has classes")
        return self

    @property
    def texts(self) -> list[str]:
        """The columns of text that are no features, but part of the table as it is."""
        return [name for name in getattr(self.format, "text", ()) if name in self.left_out]

    @property
    def known_labels(self) -> tuple[str, ...] | None:
        """The labels in the order of their codes; None if there are none."""
        return self.labels if self.classes is None else tuple(self.classes)


class Card(Strict):
    """The facts about a data set, and how its files read.

    Parameters
    ----------
    name : str
        The name by which it is loaded: lower case, digits and underscores.
    title : str
        Its full name.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}
        The kind of target.
    n_features : int
        The number of feature columns as published (a nominal column counts once); for a
        similarity matrix the number of points.
    source : Source
        Where it is published.
    forms : tuple of Form
        The forms in which it may be found, the preferred one first.
    licence : str
        The licence that the publisher states.
    citation : str
        The publication to cite.
    similarity : {"similarity", "distance"}, optional
        The meaning of a matrix's entries; required for the task "similarity", else not allowed.
    notes : tuple of str, default=()
        Known faults and other remarks for users.
    missing : {"drop", "mean", "most_frequent", "category", "error"}, optional
        How :func:`load` treats missing entries by default.
    family : str, optional
        Common to data sets that are parts of one study: in comparisons over data sets they count
        once.

    Examples
    --------
    >>> from kernlearn.datasets import find_card
    >>> card = find_card("covertype")
    >>> card.rows, card.n_features, [form.sample for form in card.forms]
    (581012, 54, [False, True])
    """

    name: Name
    title: str
    task: Task
    n_features: Annotated[int, Field(gt=0, le=MOST_FEATURES)]
    source: Source
    forms: Annotated[tuple[Form, ...], Field(min_length=1)]
    licence: str
    citation: str
    similarity: Literal["similarity", "distance"] | None = None
    notes: tuple[str, ...] = ()
    missing: Missing | None = None
    family: Name | None = None

    @model_validator(mode="after")
    def _check(self) -> "Card":
        if (self.similarity is None) == (self.task == "similarity"):
            raise ValueError("similarity: required for the task similarity, and only there")
        for number, form in enumerate(self.forms):
            labels = form.known_labels
            if self.task in ("classification", "regression") and (
                (labels is None) == (self.task == "classification")
            ):
                raise ValueError(f"forms.{number}.classes: for classification, not regression")
            if labels != self.classes:
                raise ValueError(f"forms.{number}.classes: must be those of forms.0")
        return self

    @property
    def rows(self) -> int | None:
        """The number of rows as published."""
        return self.forms[0].rows

    @property
    def classes(self) -> tuple[str, ...] | None:
        """The labels in the order of their codes; None if the target is a number."""
        return self.forms[0].known_labels


def read_card(path: Path | str) -> Card:
    """Read and check the card of one data set.

    Parameters
    ----------
    path : path-like
        A YAML file whose name is the data set's.

    Returns
    -------
    Card

    Raises
    ------
    DataError
        If the file is not a valid card; the message names the file and every key at fault.

    Examples
    --------
    >>> from kernlearn.datasets import read_card
    >>> from kernlearn.datasets.files import shipped
    >>> read_card(shipped("datasets") / "nursery.yaml").rows
    12960
    """
    from kernlearn.yaml import read_yaml

    path = Path(path)
    try:
        content, lines = read_yaml(path)
    except ConfigError as error:
        raise DataError(str(error)) from None
    card = make_card(content, str(path), lines)
    if card.name != path.stem:
        raise DataError(f"{path}: name: {card.name!r}, but the file is called {path.stem!r}")
    return card


def make_card(content: Any, where: str, lines: Mapping[tuple[str | int, ...], int] = {}) -> Card:
    """Check the content of a card; each line of the error begins with `where`.

    `lines` are those of its values in the file, if it was read from one.
    """
    try:
        return Card.model_validate(content)
    except ValidationError as error:
        raise DataError("\n".join(faults(error, content, where, lines))) from None


def faults(
    error: ValidationError,
    content: Any,
    where: str = "",
    lines: Mapping[tuple[str | int, ...], int] = {},
) -> list[str]:
    """Say what is wrong with a content, each with its place; see :func:`make_card`."""
    from kernlearn.yaml import explained

    texts = []
    for path, text in explained(error, content):
        around = (path[:end] for end in range(len(path), -1, -1))
        at = next((f":{lines[part]}" for part in around if part in lines), "")
        place = ".".join(map(str, path))
        texts.append(": ".join(filter(None, (f"{where}{at}", place, text))))
    return texts
