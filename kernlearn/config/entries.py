"""Entries of a config: data sets, kernels and methods, and the checks of their parameters.

A parameter's value is a single value, a list, ``{select: [...]}`` or ``{by_dataset: {...}}``.
"""

import os
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, model_validator

from kernlearn.config.checks import Count, Fault, Names, names_of, refuse
from kernlearn.config.streamed import StreamEntry, stream_faults
from kernlearn.config.suggestions import suggestion
from kernlearn.config.targets import target_faults
from kernlearn.datasets.unpacking import container
from kernlearn.datasets.yaml import shortened

FORMS = ("list", "select", "by_dataset")
Scaling = Literal["zscore", "minmax", "max_norm", "unit_norm"]

# Far more than the rows of any table; longer products of lists would fill the memory.
_MAX_VARIANTS = 10_000


def form_of(value: Any) -> str:
    """Return ``"select"``, ``"by_dataset"``, ``"list"`` or ``"value"``."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in FORMS[1:]:
        return next(iter(value))
    return "list" if isinstance(value, list) else "value"


def form_fault(value: Any, forms: tuple[str, ...] = FORMS) -> str | None:
    """Say what is wrong with the form of a value; ``forms`` are allowed besides a plain one."""
    form = form_of(value)
    inner: tuple[str, ...] = ()
    if form in FORMS[1:] and form not in forms:
        return f"{form} has no place here; give {' or a '.join(['a value', *forms])}"
    if form == "select":
        members = value["select"]
        if not (isinstance(members, list) and members):
            return "select must be a list of values to choose from"
    elif form == "by_dataset":
        if not (isinstance(value["by_dataset"], dict) and value["by_dataset"]):
            return "by_dataset must be a mapping of data sets to values"
        members, inner = list(value["by_dataset"].values()), ("list", "select")
    elif form == "list" and "list" in forms:
        members = value
        if not members:
            return "an empty list gives no method; give one value or more"
    else:
        return None
    return next((fault for m in members if (fault := form_fault(m, inner))), None)


def candidates(value: Any) -> list[Any]:
    """Return every single value that a parameter can take."""
    form = form_of(value)
    if form == "by_dataset":
        return [v for each in value["by_dataset"].values() for v in candidates(each)]
    return value["select"] if form == "select" else value if form == "list" else [value]


def unfold(
    parameters: Mapping[str, Any], dataset: str = ""
) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Expand parameters into every combination of their lists, for the data set of a label.

    Each combination comes with the grid: the candidates that are chosen among on validation data.
    """
    grid: dict[str, list[Any]] = {}
    axes: dict[str, list[Any]] = {}
    for name, value in parameters.items():
        if form_of(value) == "by_dataset":
            choices = value["by_dataset"]
            value = choices[dataset] if dataset in choices else choices["default"]
        if form_of(value) == "select":
            grid[name] = value["select"]
        else:
            axes[name] = value if isinstance(value, list) else [value]
    return [(dict(zip(axes, chosen, strict=True)), grid) for chosen in product(*axes.values())]


def varied(parameters: Mapping[str, Any]) -> list[str]:
    """Return the parameters that differ between the variants of one method.

    The only value of a list, where it is a list itself, is no variant.
    """
    return [
        name
        for name, value in parameters.items()
        if form_of(value) in ("list", "by_dataset") and not _is_one_list(value)
    ]


def _is_one_list(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and isinstance(value[0], list)


def axes_of(entries: Iterable[Any], own_keys: Iterable[str]) -> dict[str, list[Any]]:
    """Return the varied parameters of entries of a config with all their values."""
    axes: dict[str, list[Any]] = {}
    for entry in entries:
        for name in varied({k: v for k, v in entry.items() if k not in own_keys}):
            value = entry[name]
            axes.setdefault(name, []).extend(() if form_fault(value) else candidates(value))
    return axes


def form_faults(
    parameters: Mapping[str, Any], datasets: Iterable[str] = (), forms: tuple[str, ...] = ("list",)
) -> Iterator[Fault]:
    """Yield a fault for every parameter whose value has the wrong form."""
    for key, value in parameters.items():
        wrong = form_fault(value, forms)
        if wrong:
            yield (key,), wrong
        elif form_of(value) == "by_dataset":
            choices = value["by_dataset"]
            for name in (n for n in choices if n not in ("default", *datasets)):
                text = f"no data set {name!r} here{suggestion(name, [*datasets, 'default'])}"
                yield (key, "by_dataset", name), text
            missing = [d for d in datasets if d not in choices]
            if missing and "default" not in choices:
                yield (key,), f"by_dataset gives no value for {', '.join(missing)}"
    variants = prod(len(v) for v in parameters.values() if isinstance(v, list))
    if variants > _MAX_VARIANTS:
        yield (), f"its lists make {variants} combinations; at most {_MAX_VARIANTS} are allowed"


class Entry(BaseModel):
    """A section whose further keys are parameters of the component that it names."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the component."""
        return dict(self.model_extra or {})

    @property
    def shown_parameters(self) -> dict[str, Any]:
        """The parameters under their labels in results."""
        return self.parameters

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> "Entry":
        if (names := names_of(info)) is not None:
            refuse(self._faults(names))
        return self

    @abstractmethod
    def _faults(self, names: Names) -> Iterator[Fault]:
        """Yield the faults of the entry's names and parameters."""


class DatasetEntry(Entry):
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
    sheet: str | int | None = Field(
        default=None, description="the sheet of an Excel file, by name or position from 0"
    )
    matrix: Literal["similarity", "distance"] | None = Field(
        default=None,
        description="`file` is a square matrix of similarities or distances, with a column or "
        "array of labels",
    )
    points: str | int | None = Field(
        default=None,
        description="the column of `file` whose texts are the points themselves, for similarities "
        "of strings; `series` takes those of a .ts file as they are",
    )
    generator: str | None = Field(
        default=None, description="name of a generator instead of a data set"
    )
    nominal: Literal["ordinal", "onehot"] | None = Field(
        default=None,
        description="whether a nominal column becomes codes 0, 1, ... (ordinal) or one 0/1 column "
        "per value (onehot); by default codes for data of the catalogue, else 0/1 columns",
    )
    missing: Literal["drop", "mean", "most_frequent", "error"] | None = Field(
        default=None,
        description="how rows with missing entries are treated; by default as the data set's card "
        "says, else they are dropped",
    )
    drop: list[str | int] = Field(default=[], description="columns that are no features")
    dense: bool | None = Field(default=None, description="whether to make a sparse matrix dense")
    grades: Annotated[list[str], Field(min_length=2)] | None = Field(
        default=None, description="the labels of the target of `file` in their order"
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
    stream: StreamEntry | None = Field(
        default=None, description="its rows are read in chunks, and never all in memory"
    )
    optional: bool = Field(default=False, description="leave it out if it is not found")

    @property
    def shown_parameters(self) -> dict[str, Any]:
        """The parameters, with the numbers of a stream, under their labels in results."""
        return {**self.parameters, **(self.stream.axes if self.stream is not None else {})}

    def _faults(self, names: Names) -> Iterator[Fault]:
        scope, defaults = names.scope, {}
        if sum(given is not None for given in (self.name, self.file, self.generator)) > 1:
            yield (), "give one of name, file and generator"
        if self.stream is not None:
            yield from stream_faults(self, names)
            yield from self._name_faults(names)
            from kernlearn.datasets.drawn_rows import STREAMS

            made = STREAMS.get(self.generator or "")
            if made is not None or self.generator is None:
                yield from self._parameter_faults(dict(made.parameters) if made else {})
            return
        of_card = self.file is None or self.file.endswith((".yaml", ".yml"))
        for key in ("target", "grades", "sheet", "matrix", "points") if of_card else ():
            if getattr(self, key) is not None:
                yield (key,), f"goes with file: a card names its own {key}"
        yield from names.reading_faults(self)
        if self.generator is not None:
            if self.generator not in scope.generators:
                hint = scope.hint(self.generator, scope.generators)
                if names.is_card(self.generator) or self.generator in scope.datasets:
                    hint = f"; it is a data set: give `name: {self.generator}`"
                yield ("generator",), f"no generator {self.generator!r}{hint}"
                return
            defaults = dict(scope.generators[self.generator].parameters)
        elif self.file is not None:
            file = container(names.folder / self.file)  # a file may be one of an archive
            if not os.path.isfile(file):  # noqa: PTH113  (raises for no name)
                yield ("file",), f"no file {self.file!r} in the config's folder, {names.folder}"
        elif own := scope.datasets.get(self.name or ""):
            defaults = dict(own.parameters)
        yield from self._name_faults(names)
        yield from target_faults(self, names)
        yield from self._parameter_faults(defaults)

    def _name_faults(self, names: Names) -> Iterator[Fault]:
        scope = names.scope
        if self.name is None or self.name in scope.datasets or names.is_card(self.name):
            return
        hint = scope.hint(self.name, [*names.cards, *scope.datasets])
        if self.name in scope.generators:
            hint = f"; it is a generator: give `generator: {self.name}`"
        yield (), f"no data set {self.name!r} in the catalogue{hint}"

    def _parameter_faults(self, defaults: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield the faults of the parameters of a function that makes data."""
        yield from form_faults(self.parameters)
        settable = [p for p in defaults if p != "random_state"]
        for key, value in self.parameters.items():
            if key not in settable:
                allowed = [*DatasetEntry.model_fields, *settable]
                yield (key,), f"unknown key{suggestion(key, allowed)}"
            elif form_fault(value, ("list",)) is None:
                yield from (((key,), text) for text in _type_faults(value, defaults[key]))


_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def _type_faults(value: Any, default: Any) -> Iterator[str]:
    """Say which values of a generator's parameter are not of its default's type."""
    kind = type(default)
    for given in candidates(value) if kind in _TYPES else ():
        fits = isinstance(given, (int, float) if kind is float else kind)
        if not fits or (isinstance(given, bool) and kind is not bool):
            yield f"must be {_TYPES[kind]}, not {shortened(given)}"
