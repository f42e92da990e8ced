"""Checks of names in a config, run by pydantic as validators.

The validation context carries :class:`Names`: everything that the parts of the config may refer
to. Without it only the form is checked.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo
from pydantic_core import InitErrorDetails, PydanticCustomError

from kernlearn.config.measured import SUPERVISED
from kernlearn.config.registry import Scope
from kernlearn.config.spec import LABELS
from kernlearn.config.suggestions import suggestion
from kernlearn.datasets.resources import shipped
from kernlearn.datasets.yaml import KeyPath

#: Where in a section a fault is, and what it is.
Fault = tuple[KeyPath, str]

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


@cache
def _shipped_cards() -> list[str]:
    """Return the names of the cards that come with kernlearn, without reading them."""
    return [path.stem for path in shipped("datasets").glob("*.yaml")]


class Section(BaseModel):
    """A section of a config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


@dataclass
class Names:
    """Everything that the parts of a config may refer to.

    Attributes
    ----------
    scope : Scope
    folder : Path
        Folder of the config.
    data_dir : Path or None
        Folder to search for the user's own cards first.
    task : str
    labels : dict of str to list of str
        The labels under ``datasets``, ``kernels`` and ``methods``.
    axes : dict of str to list
        The varied parameters with all their values.
    derived : list of str
        The derived metrics.
    checked : set of str
        Digests of settings that are known to be valid.
    metrics : list of str
        The metrics that are shown.
    folds, scale : object
        What the protocol says of folds and of scaling.
    """

    scope: Scope
    folder: Path
    data_dir: Path | None
    task: str
    labels: dict[str, list[str]]
    axes: dict[str, list[Any]]
    derived: list[str]
    checked: set[str]
    metrics: list[str] = field(default_factory=list)
    folds: Any = None
    scale: Any = None

    @cached_property
    def cards(self) -> list[str]:
        """Names of published data sets and of the user's own cards."""
        from kernlearn.datasets import own_cards

        return [*_shipped_cards(), *own_cards(self.data_dir)]

    def is_card(self, name: str) -> bool:
        """Whether a data set is published or has a card of the user."""
        return name in _shipped_cards() or name in self.cards

    def reading_faults(self, entry: Any) -> Iterator[Fault]:
        """Yield what is wrong with how a data set is to be read, as far as names tell."""
        if entry.generator is not None or entry.name in self.scope.datasets:
            for key in ("drop", "dense", "missing", "nominal"):
                if getattr(entry, key) not in (None, []):
                    yield (key,), "is for data that is read, not for data that a function makes"
        elif self.folds == "published":
            if entry.file is not None and not entry.file.endswith((".yaml", ".yml")):
                yield (), "`folds: published`: a file has no published folds; give a number"
            elif entry.name is not None and self.is_card(entry.name):
                from kernlearn.datasets import find_card

                if not any(form.folds for form in find_card(entry.name, self.data_dir).forms):
                    text = f"the card of {entry.name} has no folds; give a number"
                    yield (), f"`folds: published`: {text}"

    @property
    def all_labels(self) -> list[str]:
        """The labels of the results."""
        return [*LABELS, *self.axes]

    def metric_fault(self, metric: str, *, measured: bool = False) -> str | None:
        """Say why a name is no metric, measured or, if that is allowed, derived."""
        metrics = self.scope.task_metrics(self.task)
        allowed = metrics if measured else (*metrics, *self.derived)
        if not metrics or metric in allowed:
            return None
        kind = "measured metric" if measured else "metric"
        return f"no {kind} {metric!r} of {self.task}{self.scope.hint(metric, allowed)}"


def names_of(info: ValidationInfo) -> Names | None:
    """Return the names in the context of a validation, if there are any."""
    return (info.context or {}).get("names")


def refuse(faults: Iterable[Fault]) -> None:
    """Raise one ValidationError for all faults of a section, if there are any."""
    errors = [InitErrorDetails(type=_fault(text), loc=path, input=None) for path, text in faults]
    if errors:
        raise ValidationError.from_exception_data("config", errors)


def not_compared_once(
    task: str, scales: Mapping[KeyPath, Sequence[str] | None]
) -> Iterator[Fault]:
    """Yield why pairs of points cannot be compared once for all splits."""
    if task not in SUPERVISED:
        yield ("protocol", "compare_once"), f"is for methods that predict, not for task: {task}"
    for where, scale in scales.items():
        if learnt := [name for name in scale or () if name != "unit_norm"]:
            text = (
                f"{', '.join(learnt)} is learnt on the training part of each split, which changes "
                "similarities: with compare_once give [] or [unit_norm]"
            )
            yield where, text


def _fault(text: str, kind: Literal["fault", "name"] = "fault") -> PydanticCustomError:
    """Return the error of one fault; that of a "name" is reported for the list around it."""
    return PydanticCustomError(kind, "{text}", {"text": text})


def unknown(kind: str, name: Any, allowed: Iterable[str]) -> str | None:
    """Say that a name is none of those allowed, and which was probably meant, or return None."""
    return None if name in allowed else f"no {kind} {name!r}{suggestion(str(name), allowed)}"


def known(
    find_fault: Callable[[str, Names], str | None], kind: Literal["fault", "name"] = "name"
) -> AfterValidator:
    """Return a validator of names, by a function that returns what is wrong with one."""

    def check(name: str, info: ValidationInfo) -> str:
        names = names_of(info)
        if names is not None and (text := find_fault(name, names)):
            raise _fault(text, kind)
        return name

    return AfterValidator(check)


def _combination(match: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    if (names := names_of(info)) is not None:
        for key, name in match.items():
            if key not in LABELS:
                refuse([((key,), f"unknown key{suggestion(key, LABELS)}")])
            elif text := unknown(key, name, names.labels[f"{key}s"]):
                refuse([((key,), text)])
    return match


#: A label of the results: dataset, kernel, method or a varied parameter.
Label = Annotated[str, known(lambda name, names: unknown("label", name, names.all_labels))]
#: A label, or "metric".
TableLabel = Annotated[
    str, known(lambda name, names: unknown("label", name, [*names.all_labels, "metric"]))
]
#: A metric that the task can measure.
MeasuredMetric = Annotated[str, known(lambda name, names: names.metric_fault(name, measured=True))]
#: A measured or derived metric.
MetricName = Annotated[str, known(lambda name, names: names.metric_fault(name))]
#: The label of a method.
MethodLabel = Annotated[
    str, known(lambda name, names: unknown("method", name, names.labels["methods"]))
]
#: The label of a data set.
DatasetLabel = Annotated[
    str, known(lambda name, names: unknown("data set", name, names.labels["datasets"]))
]
#: Labels of a combination of data set, kernel and method.
Combination = Annotated[dict[str, str], AfterValidator(_combination)]
