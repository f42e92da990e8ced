"""Entries of a config: data sets, kernels and methods with their parameters."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from kernlearn.experiments.config import checks
from kernlearn.experiments.config.checks import Count, names_of, refuse
from kernlearn.registration import Kind

Scaling = Literal["zscore", "minmax", "max_norm", "unit_norm"]


class _OpenSection(BaseModel):
    """A section whose further keys are parameters of the component that it names."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the component."""
        return dict(self.model_extra or {})


class DatasetEntry(_OpenSection):
    """A data set of the catalogue or of a plug-in, a file, or a generator with its parameters."""

    name: str | None = Field(
        default=None, description="name in the catalogue, if the label is another"
    )
    file: str | None = Field(
        default=None, description="a file of the user, relative to the config's folder"
    )
    target: str | int | None = Field(
        default=None, description="the column of `file` to predict; by default the last"
    )
    generator: str | None = Field(
        default=None, description="name of a generator instead of a data set"
    )
    nominal: Literal["ordinal", "onehot"] = "ordinal"
    missing: Literal["drop", "mean", "most_frequent", "error"] = Field(
        default="drop", description="how rows with missing entries are treated"
    )
    binarize: Literal["random"] | list[str] | None = Field(
        default=None,
        description="make two classes: a random half is positive, or the classes named",
    )
    classes: Annotated[list[str], Field(min_length=2)] | None = Field(
        default=None, description="classes to keep; rows of other classes are left out"
    )
    sample: Count | None = Field(
        default=None, description="a random subsample of so many rows, the same in all splits"
    )
    scale: list[Scaling] | None = Field(default=None, description="replaces the protocol's")
    bins: Annotated[int, Field(ge=2)] | None = Field(
        default=None,
        description="number of grades of equal frequency into which a real target is cut",
    )
    optional: bool = Field(default=False, description="leave it out if it is not found")

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "DatasetEntry":
        if (names := names_of(info)) is not None:
            refuse(checks.dataset_faults(self, names))
        return self


class KernelEntry(_OpenSection):
    """A kernel with its parameters."""

    kernel: str

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "KernelEntry":
        if (names := names_of(info)) is not None:
            checks.stored_name(self.kernel, names)
            refuse(checks.kernel_faults(self, names))
        return self


class MethodEntry(_OpenSection):
    """An estimator with its parameters.

    A parameter is a value; a list, which gives one method per value; ``{select: [...]}``, of
    which the best value on validation data is taken; or ``{by_dataset: {name: value, default:
    value}}``.
    """

    estimator: str
    baseline: bool = Field(
        default=False, description="not in the paper: shown under a separate heading"
    )
    optional: bool = Field(
        default=False, description="leave it out if its library is not installed"
    )

    @model_validator(mode="before")
    @classmethod
    def _store_names(cls, entry: Any, info: ValidationInfo) -> Any:
        names = names_of(info)
        if names is None or not isinstance(entry, dict):
            return entry
        return {key: checks.with_stored_names(value, names) for key, value in entry.items()}

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "MethodEntry":
        if (names := names_of(info)) is not None:
            refuse(checks.method_faults(self, names))
        return self


#: Keys beside the name of a component, which none of its parameters can have.
RESERVED_KEYS: dict[Kind, set[str]] = {
    "estimator": set(MethodEntry.model_fields) - {"estimator"},
    "kernel": set(KernelEntry.model_fields) - {"kernel"},
    "dataset": set(DatasetEntry.model_fields),
    "metric": set(),
}


def by_name(value: Any) -> Any:
    """Turn a list of names, and entries without options, into a mapping of mappings."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {v: {} for v in value}
    if isinstance(value, dict):
        return {k: {} if v is None else v for k, v in value.items()}
    return value


def named_by_label(value: Any) -> Any:
    """Give data sets without a name, file or generator their label as name."""
    value = by_name(value)
    if not isinstance(value, dict):
        return value
    return {
        label: {**entry, "name": label}
        if isinstance(entry, dict) and not {"name", "file", "generator"} & entry.keys()
        else entry
        for label, entry in value.items()
    }
