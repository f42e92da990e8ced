"""The options of each file format, as a card states them; one model a format."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Strict(BaseModel):
    """A part of a card: immutable, and a key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _as_text(value: Any) -> Any:
    """Let a label be written as a bare number in YAML; refuse what YAML made of ``no``."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Label = Annotated[str, BeforeValidator(_as_text)]


class Options(Strict):
    """How the files of one format read."""

    def check(self, n_features: int, n_classes: int = 0) -> None:
        """Compare the options with what the card states; by default they always agree.

        Parameters
        ----------
        n_features : int
            The number of features that the card states.
        n_classes : int, default=0
            The number of classes; 0 where the target is a number.

        Raises
        ------
        ValueError
            If they do not agree.
        """


class Delimited(Options):
    """Text in columns, one row a line.

    Parameters
    ----------
    delimiter : str or None, default=","
        What stands between two columns; None means any run of blanks.
    header : bool, default=False
        Whether the first line that is not blank names the columns.
    comment : str, default=""
        How a line that is to be passed over begins.
    columns : tuple of str, optional
        The names of all columns in the file's order, where the file has no header.
    target : int or str, default=-1
        The target's column, by position (from the end if negative) or by name.
    target_suffix : str, default=""
        What may stand after a label and is no part of it (the dot in ``adult.test``).
    one_hot : bool, default=False
        Whether the last columns are the target, one 0/1 column a class in the card's order.
    blocks : int, optional
        There is no target column: each run of so many rows is a class, in the card's order.
    drop : tuple of int or str, default=()
        Columns that are no features (row ids, say).
    nominal : dict of str to tuple of str, default={}
        Nominal columns and their values in the published order.
    missing : str, optional
        What stands for a missing entry; such entries are read as NaN. Without it a missing
        entry is a fault.
    """

    kind: Literal["delimited"] = "delimited"
    delimiter: str | None = Field(default=",", min_length=1, max_length=1)
    header: bool = False
    comment: str = ""
    columns: tuple[str, ...] | None = None
    target: int | str = -1
    target_suffix: str = ""
    one_hot: bool = False
    blocks: int | None = Field(default=None, gt=0)
    drop: tuple[int | str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    missing: str | None = None

    def n_targets(self, n_classes: int) -> int:
        """Return how many columns the target takes.

        Parameters
        ----------
        n_classes : int
            The number of classes.

        Returns
        -------
        int
        """
        if self.one_hot:
            return n_classes
        return 0 if self.blocks is not None else 1

    def check(self, n_features: int, n_classes: int = 0) -> None:
        """Compare the column names with one another and with what the card states.

        Parameters
        ----------
        n_features : int
            The number of features that the card states.
        n_classes : int, default=0
            The number of classes; 0 where the target is a number.

        Raises
        ------
        ValueError
            If they do not agree.
        """
        if self.one_hot and self.blocks is not None:
            raise ValueError("one_hot, blocks: only one of them")
        if (self.one_hot or self.blocks is not None) and n_classes == 0:
            raise ValueError("one_hot, blocks: only where the card has classes")
        if self.columns is None:
            return
        if self.header:
            raise ValueError("columns: must be left out where header is true")
        expected = n_features + self.n_targets(n_classes) + len(self.drop)
        if len(self.columns) != expected or len(set(self.columns)) != expected:
            raise ValueError(
                f"columns: {len(set(self.columns))} distinct names, expected {expected} "
                "(the features, the target and the dropped columns)"
            )
        unknown = [
            column
            for column in (self.target, *self.drop, *self.nominal)
            if isinstance(column, str) and column not in self.columns
        ]
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: not among columns")


class Libsvm(Options):
    """LIBSVM's sparse text: ``label index:value index:value …``, one row a line.

    Parameters
    ----------
    zero_based : bool, default=False
        Whether the first feature has index 0.
    """

    kind: Literal["libsvm"] = "libsvm"
    zero_based: bool = False


class Letor(Options):
    """LETOR's text: ``relevance qid:number 1:value 2:value … # comment``, one row a line."""

    kind: Literal["letor"] = "letor"


class Arff(Options):
    """Weka's attribute-relation file format, dense or sparse; ``?`` is a missing entry.

    Parameters
    ----------
    target : int or str, default=-1
        The target's attribute, by position (from the end if negative) or by name.
    drop : tuple of int or str, default=()
        Attributes that are no features.
    rename : dict of str to str, default={}
        For a label that the file spells otherwise than the card, the card's spelling.
    """

    kind: Literal["arff"] = "arff"
    target: int | str = -1
    rename: dict[Label, Label] = {}
    drop: tuple[int | str, ...] = ()


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
    matrix: str = "A"
    target: str = "C"


class Npz(Options):
    """NumPy's archive of arrays; objects are not read.

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
    target: str
    drop: tuple[str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    query: str | None = None


class Carried(Options):
    """A data set that comes with scikit-learn and needs no file.

    Parameters
    ----------
    loader : str
        The name of its loader in :mod:`sklearn.datasets`.
    """

    kind: Literal["sklearn"] = "sklearn"
    loader: Literal["load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"]


Format = Annotated[
    Delimited | Libsvm | Letor | Arff | Matlab | Npz | Parquet | Carried,
    Field(discriminator="kind"),
]
