"""Cards: what is known of a data set, and how its published files read."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from kernlearn.datasets.formats import Format, Label, Strict
from kernlearn.exceptions import DataError

Task = Literal["classification", "regression", "ordinal", "ranking", "similarity"]
Address = Annotated[str, Field(pattern=r"^https?://\S+$")]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Member = Annotated[str, Field(pattern=r"^[^/\\:\s.][^/\\:]*(/[^/\\:\s.][^/\\:]*)*$")]
FileName = Annotated[str, Field(pattern=r"^[^/\\:\s][^/\\:]*$")]


class Source(Strict):
    """Where a data set is published.

    Parameters
    ----------
    publisher : str
        Who publishes it.
    page : str or None
        The address of the page that describes it, if there is one.
    downloads : dict of str to str, default={}
        For each file, the address to fetch it from: the file itself, the file compressed,
        or an archive that holds it.
    """

    publisher: str
    page: Address | None = None
    downloads: dict[FileName, Address] = {}

    @property
    def told(self) -> str:
        """Publisher and page, as a message names them."""
        return self.publisher if self.page is None else f"{self.publisher}, {self.page}"


class Form(Strict):
    """One form in which a data set is found: some files, how they read, what they hold.

    Parameters
    ----------
    files : tuple of str, default=()
        The files, in the order in which their rows are put together. Each may also be
        found compressed (``.gz``, ``.bz2`` or ``.xz`` after its name), or in an archive.
    members : dict of str to str, default={}
        For a file whose name is not the only one of its kind in the published archive, its
        path there.
    own_folder : bool, default=False
        Whether the files are only taken from a folder with the data set's name, since
        other data sets have files of the same names.
    folder : str, optional
        The data set in whose folder the files may lie too, since both are published together.
    format : Delimited, Libsvm, Letor, Arff, Matlab, Npz, Parquet or Carried
        How the files read.
    rows : int, optional
        The number of rows in all files together, if it is known.
    classes : dict of str to int, optional
        The labels, in the order of their codes, and how many rows each has.
    labels : tuple of str, optional
        The labels alone, where the counts are not known.
    folds : tuple of int, default=()
        The number of rows of each fold, in their order, where the publisher gives folds.
    fingerprint : str, optional
        The :func:`fingerprint` of what :func:`load` returns by default, if the data was seen.
    sample : bool, default=False
        Whether this is only a part of the published data.
    note : str, default=""
        What a report that uses this form has to say.
    """

    files: tuple[FileName, ...] = ()
    members: dict[FileName, Member] = {}
    own_folder: bool = False
    folder: Name | None = None
    format: Format
    rows: int | None = Field(default=None, gt=0)
    classes: dict[Label, Annotated[int, Field(gt=0)]] | None = None
    labels: tuple[Label, ...] | None = None
    folds: tuple[Annotated[int, Field(gt=0)], ...] = ()
    fingerprint: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    sample: bool = False
    note: str = ""

    @model_validator(mode="after")
    def _check(self) -> "Form":
        if self.format.kind == "sklearn" and self.files:
            raise ValueError("files: must be empty for a data set that scikit-learn carries")
        if self.format.kind != "sklearn" and not self.files:
            raise ValueError("files: at least one is needed")
        if self.classes is not None and sum(self.classes.values()) != self.rows:
            raise ValueError(
                f"classes: the counts sum to {sum(self.classes.values())}, rows is {self.rows}"
            )
        if self.folds and sum(self.folds) != self.rows:
            raise ValueError(f"folds: their rows sum to {sum(self.folds)}, rows is {self.rows}")
        if self.classes is not None and self.labels is not None:
            raise ValueError("labels: must be left out where classes are given")
        if unknown := sorted(self.members.keys() - set(self.files)):
            raise ValueError(f"members: {', '.join(unknown)}: not among files")
        if self.sample and not self.note:
            raise ValueError("note: a sample must say what it is a sample of")
        return self

    @property
    def known_labels(self) -> tuple[str, ...] | None:
        """The labels in the order of their codes, counted or not; None if there are none."""
        return self.labels if self.classes is None else tuple(self.classes)


class Card(Strict):
    """What is known of a data set.

    Parameters
    ----------
    name : str
        The name by which it is loaded: lower case, digits and underscores.
    title : str
        Its full name.
    task : {"classification", "regression", "ordinal", "ranking", "similarity"}
        What its target is for.
    n_features : int
        The number of feature columns as published (nominal columns count once); the number
        of points for a similarity matrix.
    source : Source
        Where it is published.
    forms : tuple of Form
        The forms in which it may be found, the preferred one first.
    licence : str
        The licence that the publisher states.
    citation : str
        What to cite.
    similarity : {"similarity", "distance"}, optional
        What the entries of a matrix are; given where the task is "similarity", else not.
    notes : tuple of str, default=()
        Known faults and other things that a user should know.

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
    n_features: int = Field(gt=0)
    source: Source
    forms: tuple[Form, ...]
    licence: str
    citation: str
    similarity: Literal["similarity", "distance"] | None = None
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "Card":
        if not self.forms:
            raise ValueError("forms: at least one is needed")
        if (self.similarity is None) == (self.task == "similarity"):
            raise ValueError("similarity: needed where the task is similarity, and only there")
        for number, form in enumerate(self.forms):
            labels = form.known_labels
            form.format.check(self.n_features, len(labels or ()))
            if self.task == "classification" and labels is None:
                raise ValueError(f"forms.{number}.classes: needed for classification")
            if self.task == "regression" and labels is not None:
                raise ValueError(f"forms.{number}.classes: regression has none")
            if labels != self.classes:
                raise ValueError(f"forms.{number}.classes: differ from those of forms.0")
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
        """The labels in the order of their codes; None where the target is a number."""
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
        If the file is no YAML, or not a card; the message names the file and every key at
        fault.

    Examples
    --------
    >>> from kernlearn.datasets import read_card
    >>> from kernlearn.resources import shipped
    >>> read_card(shipped("datasets") / "nursery.yaml").rows
    12960
    """
    import yaml

    path = Path(path)
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster if built in
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        raise DataError(f"{path}: no valid YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: a card is a mapping of keys to values")
    try:
        card = Card.model_validate(content)
    except ValidationError as error:
        faults = [_describe(path, fault) for fault in error.errors(include_url=False)]
        raise DataError("\n".join(faults)) from None
    if card.name != path.stem:
        raise DataError(f"{path}: name: {card.name!r}, but the file is called {path.stem!r}")
    return card


def _describe(path: Path, fault: Any) -> str:
    place = ".".join(map(str, fault["loc"]))
    message = fault["msg"].removeprefix("Value error, ")
    found = "" if isinstance(fault["input"], dict) else f" (found {fault['input']!r:.60})"
    return f"{path}: {place}: {message}{found}" if place else f"{path}: {message}"
