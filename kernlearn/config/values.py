"""What the sections of a config are made of: values, names, and labels of results."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationInfo

from kernlearn.exceptions import ConfigError

_MOST_COMBINATIONS = 100_000
GOODNESS = ("goodness_error", "goodness_margin")
#: Metrics of kernlearn that are measured only where they are named.
ON_REQUEST = (*GOODNESS, "rmse")
#: Labels that every trial has; further ones are the varied parameters.
LABELS = ("dataset", "kernel", "method")
#: Columns of results, after which no varied parameter can be called.
RESERVED = (
    *("dataset", "kernel", "method", "experiment", "params", "metric", "split", "value"),
    *("converged", "ratio", "drift", "mean", "std", "n_splits", "reported_mean", "reported_std"),
    *("verdict", "best", "median", "low", "high", "not_converged"),
)

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Value:
    """The value of a parameter: one, a list of several, one to select, or one for each data set.

    Attributes
    ----------
    form : {"value", "list", "select", "by_dataset"}
    content : object
        The value; the values of a list; the candidates; or Values by data set.
    """

    form: str
    content: Any

    @classmethod
    def parse(cls, raw: Any, forms: Iterable[str] = ("list", "select", "by_dataset")) -> "Value":
        """Read a value in one of some forms besides a plain one; a ValueError says why not."""
        form, content = "list" if "list" in forms and isinstance(raw, list) else "value", raw
        if isinstance(raw, dict) and len(raw) == 1 and {"select", "by_dataset"} & raw.keys():
            ((form, content),) = raw.items()
        if form == "value":
            return cls(form, content)
        if form not in forms:
            raise ValueError(f"{form} has no place here; give a value")
        if form == "by_dataset":
            if not isinstance(content, dict) or not content:
                raise ValueError("by_dataset must be a mapping of data sets to values")
            return cls(form, {k: cls.parse(v, ("list", "select")) for k, v in content.items()})
        if not isinstance(content, list) or not content:
            raise ValueError(f"{form} must be a list of values, with one or more")
        for one in content:
            cls.parse(one, ())
        labels = [*map(as_label, content)]
        if form == "list" and (twice := [one for one in labels if labels.count(one) > 1]):
            raise ValueError(f"{twice[-1]} is listed twice")
        return cls(form, content)

    @property
    def candidates(self) -> list[Any]:
        """Every single value that it can stand for."""
        if self.form == "by_dataset":
            return [one for value in self.content.values() for one in value.candidates]
        return [self.content] if self.form == "value" else list(self.content)

    @property
    def varies(self) -> bool:
        """Whether it is a label: its values differ between methods.

        The only value of a list, where it is a list itself, is none.
        """
        if self.form == "by_dataset":
            return any(value.form != "select" for value in self.content.values())
        one_list = self.form == "list" and len(self.content) == 1
        return self.form == "list" and not (one_list and isinstance(self.content[0], list))

    @property
    def is_several(self) -> bool:
        """Whether it has several values for the same data set."""
        if self.form == "by_dataset":
            return any(value.is_several for value in self.content.values())
        return self.form == "list" and len(self.content) > 1

    def on(self, dataset: str) -> "Value":
        """Return the value for the data set of a label."""
        if self.form != "by_dataset":
            return self
        value: Value = self.content[dataset if dataset in self.content else "default"]
        return value


def unfold(
    parameters: Mapping[str, Value], dataset: str = ""
) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Expand parameters into every combination of their lists, for the data set of a label.

    Each combination comes with the grid: the candidates that are chosen among on validation data.
    """
    values = {name: value.on(dataset) for name, value in parameters.items()}
    grid = {name: v.candidates for name, v in values.items() if v.form == "select"}
    axes = {name: v.candidates for name, v in values.items() if v.form != "select"}
    for lists in (axes, grid):
        if (n := prod(map(len, lists.values()))) > _MOST_COMBINATIONS:
            names = ", ".join(name for name, values in lists.items() if len(values) > 1)
            most = f"at most {_MOST_COMBINATIONS} are allowed"
            raise ConfigError(f"the lists of {names} have {n} combinations; {most}")
    return [(dict(zip(axes, chosen, strict=True)), grid) for chosen in product(*axes.values())]


def varied(parameters: Mapping[str, Value]) -> list[str]:
    """Return the parameters that differ between the variants of one entry."""
    return [name for name, value in parameters.items() if value.varies]


def named(kind: str = "") -> AfterValidator:
    """Return a validator of names of a kind, or of names by their kinds."""

    def check(value: Any, info: ValidationInfo) -> Any:
        if info.context is not None:
            for key, name in value.items() if isinstance(value, dict) else [(kind, value)]:
                info.context.check(key, name)
        return value

    return AfterValidator(check)


Fraction = Annotated[float, Field(gt=0, lt=1)]
#: A label of the results: dataset, kernel, method or a varied parameter.
Label = Annotated[str, named("label")]
TableLabel = Annotated[str, named("label or metric")]
MeasuredMetric = Annotated[str, named("measured metric")]
MetricName = Annotated[str, named("metric")]
MethodLabel = Annotated[str, named("method")]
DatasetLabel = Annotated[str, named("dataset")]
#: Labels of a combination of data set, kernel and method.
Combination = Annotated[dict[Literal["dataset", "kernel", "method"], str], named()]


class Section(BaseModel):
    """A section of a config; unknown keys are refused."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, defer_build=True, use_attribute_docstrings=True
    )


def cell_name(labels: Iterable[str], values: Iterable[Any], separator: str = " ") -> str:
    """Join labels to a name such as ``adult polynomial n_components=50``."""
    named = zip(labels, values, strict=True)
    texts = {k: f"{v:.15g}" if isinstance(v, float) else f"{v}" for k, v in named if v is not None}
    return separator.join(text if k in LABELS else f"{k}={text}" for k, text in texts.items())


def as_label(value: Any) -> Any:
    """Return a value as a label, by which cells are looked up: lists, mappings, null as text."""
    return canonical(value) if value is None or isinstance(value, (list, Mapping)) else value


def canonical(value: Any) -> str:
    """Write a value as JSON that depends neither on order nor on ``1`` against ``1.0``."""
    return _ENCODER.encode(plain(value))


def plain(value: Any, exact: bool = False) -> Any:
    """Return a value as JSON has it: whole numbers as such, unless 1.0 shall not be 1."""
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < 2**53
        return int(value) if is_whole and not (exact and value == 1) else value
    if isinstance(value, (list, tuple)):
        return [plain(v, exact) for v in value]
    if isinstance(value, Mapping):
        return {str(k): plain(v, exact) for k, v in value.items()}
    return getattr(value, "plain", value)
