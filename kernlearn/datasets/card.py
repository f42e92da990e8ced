"""Cards of data sets, with the facts and how the files read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from kernlearn.datasets.formats import Format, Label, Missing, Strict
from kernlearn.exceptions import DataError

Task = Literal["classification", "regression", "ordinal", "ranking", "similarity"]
Address = Annotated[str, Field(pattern=r"^https?://\S+$", max_length=2000)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=100)]
Member = Annotated[
    str, Field(pattern=r"^[^/\\:\s.][^/\\:]*(/[^/\\:\s.][^/\\:]*)*$", max_length=1000)
]
FileName = Annotated[str, Field(pattern=r"^[^/\\:\s][^/\\:]*$", max_length=255)]
# Column numbers of sparse matrices have 32 bits; rows are counted in 64, of which floats keep 53.
Columns = Annotated[int, Field(gt=0, lt=2**31)]
Rows = Annotated[int, Field(gt=0, le=2**53)]
_MOST_FAULTS = 20  # that one message lists


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
    downloads: dict[FileName, Address] = {}

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
        compressed (with ``.gz``, ``.bz2`` or ``.xz`` after its name) or in an archive.
    members : dict of str to str, default={}
        The path in the published archive of a file whose name is not unique there.
    own_folder : bool, default=False
        Whether the files are only taken from a folder named like the data set, because other
        data sets have files of the same names.
    folder : str, optional
        Another data set whose folder may contain the files, as both are published together.
    format : Delimited, Libsvm, Letor, Arff, Series, Matlab, Npz, Parquet or Bundled
        The file format and its options.
    rows : int, optional
        The number of rows in all files together, if known.
    classes : dict of str to int, optional
        The labels in the order of their codes, and their numbers of rows.
    labels : tuple of str, optional
        The labels alone, if their counts are not known.
    folds : tuple of int, default=()
        The number of rows of each published fold, in order. A query is in one fold.
    fingerprint : str, optional
        The :func:`fingerprint` of what :func:`load` returns by default.
    sample : bool, default=False
        Whether this is only a part of the published data.
    note : str, default=""
        A remark for reports that use this form.
    left_out : dict of str to str, default={}
        Why columns that the format drops are no features, by column, for reports.
    order : {"given", "alphabet"}, default="given"
        Whether grades in words are in their order, or nobody has said it and they are in that of
        the alphabet, which reports then say.

    Examples
    --------
    >>> from kernlearn.datasets import find_card
    >>> form = find_card("spambase").forms[0]
    >>> form.files, form.rows, form.format.kind, form.format.target
    (('spambase.data',), 4601, 'delimited', 'spam')
    """

    files: tuple[FileName, ...] = ()
    members: dict[FileName, Member] = {}
    own_folder: bool = False
    folder: Name | None = None
    format: Format
    rows: Rows | None = None
    classes: dict[Label, Rows] | None = None
    labels: tuple[Label, ...] | None = None
    folds: tuple[Rows, ...] = ()
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    sample: bool = False
    note: str = ""
    left_out: dict[str, str] = {}
    order: Literal["given", "alphabet"] = "given"

    @model_validator(mode="after")
    def _check(self) -> "Form":
        if self.format.kind == "sklearn" and self.files:
            raise ValueError("files: must be empty for a data set bundled with scikit-learn")
        if self.format.kind != "sklearn" and not self.files:
            raise ValueError("files: at least one is required")
        if self.classes is not None and sum(self.classes.values()) != self.rows:
            raise ValueError(
                f"classes: the counts sum to {sum(self.classes.values())}, rows is {self.rows}"
            )
        if self.folds and sum(self.folds) != self.rows:
            raise ValueError(f"folds: their rows sum to {sum(self.folds)}, rows is {self.rows}")
        if self.folds and len(self.folds) < 3:
            raise ValueError(
                f"folds: {len(self.folds)}, expected at least 3: one is tested on, one held out"
            )
        if self.classes is not None and self.labels is not None:
            raise ValueError("labels: must be left out if classes are given")
        if unknown := sorted(self.members.keys() - set(self.files)):
            raise ValueError(f"members: {', '.join(unknown)}: not among files")
        if self.sample and not self.note:
            raise ValueError("note: a sample must state of what")
        return self

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
    missing : {"drop", "mean", "most_frequent", "error"}, optional
        How :func:`load` treats missing entries by default.
    drop : tuple of int or str, default=()
        Features that are left out after reading, by name or position; columns that the format can
        drop need not be read.
    dense : bool, default=False
        Whether sparse features are returned as a dense matrix.

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
    n_features: Columns
    source: Source
    forms: tuple[Form, ...]
    licence: str
    citation: str
    similarity: Literal["similarity", "distance"] | None = None
    notes: tuple[str, ...] = ()
    missing: Missing | None = None
    drop: tuple[int | str, ...] = ()
    dense: bool = False

    @model_validator(mode="after")
    def _check(self) -> "Card":
        if not self.forms:
            raise ValueError("forms: at least one is required")
        if (self.similarity is None) == (self.task == "similarity"):
            raise ValueError("similarity: required for the task similarity, and only there")
        for number, form in enumerate(self.forms):
            labels = form.known_labels
            form.format.check(self.n_features, len(labels or ()))
            if self.task == "classification" and labels is None:
                raise ValueError(f"forms.{number}.classes: required for classification")
            if self.task == "regression" and labels is not None:
                raise ValueError(f"forms.{number}.classes: not allowed for regression")
            if labels != self.classes:
                raise ValueError(f"forms.{number}.classes: must be those of forms.0")
        known = {file for form in self.forms for file in form.files}
        if unknown := sorted(self.source.downloads.keys() - known):
            raise ValueError(f"source.downloads: {', '.join(unknown)}: not a file of any form")
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
    >>> from kernlearn.datasets.resources import shipped
    >>> read_card(shipped("datasets") / "nursery.yaml").rows
    12960
    """
    from kernlearn.datasets.yaml import CARD_NODES, read_yaml

    path = Path(path)
    content, lines = read_yaml(path, fault=DataError, most=CARD_NODES)
    if not isinstance(content, dict):
        raise DataError(f"{path}: a card is a mapping of keys to values")
    card = make_card(content, str(path), lines)
    if card.name != path.stem:
        raise DataError(f"{path}: name: {card.name!r}, but the file is called {path.stem!r}")
    return card


def make_card(
    content: dict[str, Any], where: str, lines: Mapping[tuple[str | int, ...], int] | None = None
) -> Card:
    """Check the content of a card; each line of the error begins with `where`.

    `lines` are those of its values in the file, if it was read from one.
    """
    from kernlearn.datasets.yaml import shortened

    try:
        return Card.model_validate(content)
    except ValidationError as error:
        faults = error.errors(include_url=False)
        messages = []
        for fault in faults[:_MOST_FAULTS]:
            place = ".".join(str(part)[:60] for part in fault["loc"])
            message = fault["msg"].removeprefix("Value error, ")[:500]
            found = fault["input"]
            value = "" if isinstance(found, dict) else f" (found {shortened(found)})"
            at = "" if lines is None else f":{_line(fault['loc'], lines)}"
            messages.append(f"{where}{at}: {f'{place}: ' if place else ''}{message}{value}")
        if more := len(faults) - len(messages):
            messages.append(f"{where}: and {more} more faults")
        raise DataError("\n".join(messages)) from None


def _line(place: tuple[str | int, ...], lines: Mapping[tuple[str | int, ...], int]) -> int:
    """Return the line of the innermost part of a place that is in the file."""
    known: tuple[str | int, ...] = ()
    for part in place:  # of formats the kind is a part of the place too
        known = (*known, part) if (*known, part) in lines else known
    return lines.get(known, 1)
