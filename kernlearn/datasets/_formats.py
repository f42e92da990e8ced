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

    def check(self, n_features: int) -> None:
        """Compare the options with the number of features; by default they always agree.

        Parameters
        ----------
        n_features : int
            The number of features that the card states.

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
        Whether the first line names the columns.
    columns : tuple of str, optional
        The names of all columns in the file's order, where the file has no header.
    target : int or str, default=-1
        The target's column, by position (from the end if negative) or by name.
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
    columns: tuple[str, ...] | None = None
    target: int | str = -1
    drop: tuple[int | str, ...] = ()
    nominal: dict[str, tuple[Label, ...]] = {}
    missing: str | None = None

    def check(self, n_features: int) -> None:
        """Compare the column names with one another and with the number of features.

        Parameters
        ----------
        n_features : int
            The number of features that the card states.

        Raises
        ------
        ValueError
            If they do not agree.
        """
        if self.columns is None:
            return
        if self.header:
            raise ValueError("columns: must be left out where header is true")
        expected = n_features + 1 + len(self.drop)
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


class Carried(Options):
    """A data set that comes with scikit-learn and needs no file.

    Parameters
    ----------
    loader : str
        The name of its loader in :mod:`sklearn.datasets`.
    """

    kind: Literal["sklearn"] = "sklearn"
    loader: Literal["load_breast_cancer", "load_diabetes", "load_digits", "load_iris", "load_wine"]


Format = Annotated[Delimited | Libsvm | Carried, Field(discriminator="kind")]
