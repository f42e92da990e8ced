"""Entries of a config, data sets, kernels and methods, and what all sections may refer to.

A value of a parameter is parsed once, into a :class:`Value`. Names that other sections define are
checked by pydantic, with a :class:`Names` as context; names and parameters of an entry by its
method ``faults``, once all entries are there.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from inspect import Parameter
from itertools import product
from math import prod
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationInfo,
    model_validator,
)

from kernlearn import datasets
from kernlearn.config.names import (
    TASKS,
    Scope,
    install_hint,
    refuse_unknown,
    suggestion,
)
from kernlearn.config.spec import LABELS
from kernlearn.datasets.files import shipped
from kernlearn.datasets.yaml import KeyPath
from kernlearn.exceptions import ConfigError, KernlearnError
from kernlearn.plugins import Registered, RegisteredEstimator

#: Where in a config a fault is, and what it is.
Fault = tuple[KeyPath, str]

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Scaling = Literal["zscore", "minmax", "max_norm", "unit_norm"]
# Far more than the rows of any table; longer products of lists would fill the memory.
_MAX_VARIANTS = 10_000


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
        one_list = self.form == "list" and len(self.content) == 1
        return self.form in ("list", "by_dataset") and not (
            one_list and isinstance(self.content[0], list)
        )

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

    def __str__(self) -> str:
        if self.form == "by_dataset":
            others = ", ".join(f"{v} on {k}" for k, v in self.content.items() if k != "default")
            default = self.content.get("default")
            return others if default is None else f"{default} ({others})"
        listed = ", ".join(_text(value) for value in self.candidates)
        return f"chosen from {listed}" if self.form == "select" else listed


def _text(value: Any) -> str:
    """Write a plain value for readers."""
    if isinstance(value, Mapping) and "kernel" in value:
        own = ", ".join(f"{k} {_text(v)}" for k, v in value.items() if k != "kernel")
        return f"{value['kernel']} ({own})" if own else str(value["kernel"])
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_text(v)}" for k, v in value.items())
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


Parameters = Mapping[str, Value]


def unfold(
    parameters: Parameters, dataset: str = ""
) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Expand parameters into every combination of their lists, for the data set of a label.

    Each combination comes with the grid: the candidates that are chosen among on validation data.
    """
    values = {name: value.on(dataset) for name, value in parameters.items()}
    grid = {name: v.candidates for name, v in values.items() if v.form == "select"}
    axes = {name: v.candidates for name, v in values.items() if v.form != "select"}
    return [(dict(zip(axes, chosen, strict=True)), grid) for chosen in product(*axes.values())]


def varied(parameters: Parameters) -> list[str]:
    """Return the parameters that differ between the variants of one entry."""
    return [name for name, value in parameters.items() if value.varies]


@dataclass
class Names:
    """What the sections of a config may refer to: the context of their validation.

    Attributes
    ----------
    scope : Scope
    folder : Path
        Folder of the config.
    data_dir : Path or None
        Folder to search for the user's own cards first.
    labels : dict of str to list of str
        The labels of each kind: "dataset", "kernel" and "method".
    axes : dict of str to list
        The varied parameters with all their values.
    task : str
    derived : list of str
        The derived metrics.
    scale, folds : object
        What the protocol says.
    """

    scope: Scope
    folder: Path
    data_dir: Path | None = None
    labels: dict[str, list[str]] = field(default_factory=dict)
    axes: dict[str, list[Any]] = field(default_factory=dict)
    task: str = ""
    derived: list[str] = field(default_factory=list)
    scale: Any = None
    folds: Any = None

    def of(self, kind: str) -> list[str]:
        """Return the names of a kind."""
        if kind == "reported numbers":
            return [*reported_files(self.folder)]
        if kind == "config":
            folders = (self.folder, shipped("configs"))
            return [path.stem for folder in folders for path in folder.glob("*.yaml")]
        if kind.startswith("label"):
            return [*LABELS, *self.axes, *(["metric"] if kind == "label or metric" else [])]
        if kind.endswith("metric"):
            measured = self.scope.task_metrics(self.task)
            return [*measured, *(self.derived if kind == "metric" else [])]
        return self.labels[kind]

    def check(self, kind: str, name: Any) -> None:
        """Raise a ValueError if there is no such name of a kind."""
        # an unknown task has no metrics
        if name not in (allowed := self.of(kind)) and (allowed or not kind.endswith("metric")):
            hint = self.scope.hint if kind.endswith("metric") else suggestion
            what = kind.replace("dataset", "data set")
            raise ValueError(f"no {what} {name!r}{hint(str(name), allowed)}")


def named(kind: str) -> AfterValidator:
    """Return a validator of names of a kind."""

    def check(name: str, info: ValidationInfo) -> str:
        if info.context is not None:
            info.context.check(kind, name)
        return name

    return AfterValidator(check)


def _check_combination(labels: dict[str, str], info: ValidationInfo) -> dict[str, str]:
    if info.context is not None:
        for key, name in labels.items():
            info.context.check(key, name)
    return labels


#: A label of the results: dataset, kernel, method or a varied parameter.
Label = Annotated[str, named("label")]
TableLabel = Annotated[str, named("label or metric")]
MeasuredMetric = Annotated[str, named("measured metric")]
MetricName = Annotated[str, named("metric")]
MethodLabel = Annotated[str, named("method")]
DatasetLabel = Annotated[str, named("dataset")]
#: Labels of a combination of data set, kernel and method.
Combination = Annotated[
    dict[Literal["dataset", "kernel", "method"], str], AfterValidator(_check_combination)
]


class Section(BaseModel):
    """A section of a config; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def _one_or_list(raw: Any) -> Value:
    return Value.parse(raw, ("list",))


class Entry(BaseModel):
    """A section whose further keys are parameters of the component that it names."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, Annotated[Any, PlainValidator(_one_or_list)]]

    @property
    def parameters(self) -> dict[str, Value]:
        """The keys that belong to the component."""
        return dict(self.model_extra or {})

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters under their labels in results."""
        return self.parameters

    @abstractmethod
    def faults(self, names: Names) -> Iterator[Fault]:
        """Yield what is wrong with its names and its parameters."""


class StreamEntry(Section):
    """How the rows of a stream are read and divided.

    Attributes
    ----------
    rows : int or list of int
        How many rows are read to train on, those held out among them; by default all of a
        file. A list makes one trial for each number, and a label of results.
    chunk_size : int
        Rows per chunk.
    hold_out : float
        Share of the rows that is held out, by a hash of their entries.
    test_rows : int
        The most rows to test on: the first held out, of all the stream.
    workers : int or list of int
        Number of processes among which the chunks are divided, by Dask; by default the trial
        reads them itself. A list makes one trial for each number.
    n_features : int
        Columns of a LIBSVM `file`.
    zero_based : bool
        Whether the indices of a LIBSVM `file` begin at 0.
    """

    rows: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    chunk_size: Count = 10000
    hold_out: Fraction = 0.1
    test_rows: Count = 10000
    workers: Count | Annotated[list[Count], Field(min_length=1)] | None = None
    n_features: Count | None = None
    zero_based: bool = False

    @property
    def numbers(self) -> dict[str, Value]:
        """The numbers of rows and workers that are given."""
        numbers = {"rows": self.rows, "workers": self.workers}
        return {key: _one_or_list(value) for key, value in numbers.items() if value is not None}

    @property
    def reading(self) -> dict[str, Any]:
        """What it says of the file."""
        return {"n_features": self.n_features, "zero_based": self.zero_based or None}


class DatasetEntry(Entry):
    """A data set of the catalogue or of a plug-in, a file, or a generator with its parameters.

    Attributes
    ----------
    name : str
        Name in the catalogue, if the label is another.
    file : str
        A file of the user, relative to the config's folder.
    target : str or int
        The column of `file` to predict; by default the last.
    sheet : str or int
        The sheet of an Excel file, by name or position from 0.
    read_as : dict
        How text in columns reads where that is not plain: delimiter, header, decimal, thousands,
        comment, quote, skip, encoding, missing (texts of missing entries), text (columns).
    matrix : {"similarity", "distance"}
        `file` is a square matrix of similarities or distances, with a column or array of
        labels.
    points : str or int
        The column of `file` whose texts are the points themselves, for similarities of
        strings; `series` takes those of a .ts file as they are.
    generator : str
        Name of a generator instead of a data set.
    nominal : {"ordinal", "onehot"}
        Whether a nominal column becomes codes 0, 1, ... (ordinal) or one 0/1 column per value
        (onehot); by default codes for data of the catalogue, else 0/1 columns.
    missing : {"drop", "mean", "most_frequent", "error"}
        How rows with missing entries are treated; by default as the data set's card says, else
        they are dropped.
    drop : list[str or int]
        Columns that are no features.
    dense : bool
        Whether to make a sparse matrix dense.
    grades : list of str
        The labels of the target of `file` in their order.
    binarize : list of str or "random"
        Make two classes: a random half is positive, or the classes named.
    classes : list of str
        Classes to keep; rows of other classes are left out.
    sample : int
        A random subsample of so many rows, the same in all splits.
    scale : list of Scaling
        Replaces the protocol's.
    bins : int
        Number of grades of equal frequency into which a real target is cut.
    stream : StreamEntry
        Its rows are read in chunks, and never all in memory.
    optional : bool
        Leave it out if it is not found.
    """

    name: str | None = None
    file: str | None = None
    target: str | int | None = None
    sheet: str | int | None = None
    read_as: dict[str, Any] | None = None
    matrix: Literal["similarity", "distance"] | None = None
    points: str | int | None = None
    generator: str | None = None
    nominal: Literal["ordinal", "onehot"] | None = None
    missing: Literal["drop", "mean", "most_frequent", "error"] | None = None
    drop: list[str | int] = []
    dense: bool | None = None
    grades: Annotated[list[str], Field(min_length=2)] | None = None
    binarize: Literal["random"] | list[str] | None = None
    classes: Annotated[list[str], Field(min_length=2)] | None = None
    sample: Count | None = None
    scale: list[Scaling] | None = None
    bins: Annotated[int, Field(ge=2)] | None = None
    stream: StreamEntry | None = None
    optional: bool = False

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters, with the numbers of a stream, under their labels in results."""
        return {**self.parameters, **(self.stream.numbers if self.stream is not None else {})}

    @property
    def of_card(self) -> bool:
        """Whether it is a data set of the catalogue, or a file that is a card."""
        if self.file is not None:
            return self.file.endswith((".yaml", ".yml"))
        return self.generator is None

    def nominal_in(self, scope: Scope) -> str:
        """Return how nominal columns are encoded: those of a user's data one-hot by default.

        Published results have the codes of the catalogue's data sets.
        """
        shipped = self.name is not None and datasets.is_shipped(self.name)
        made = self.generator is not None or self.name in scope.datasets
        return self.nominal or ("ordinal" if shipped or made else "onehot")

    def reading(self, task: str, folder: Path, scope: Scope) -> dict[str, Any]:
        """Return the arguments of :func:`kernlearn.datasets.load`."""
        options: dict[str, Any] = {
            "name": self.name,
            "nominal": self.nominal_in(scope),
            "missing": self.missing,
            "dense": self.dense,
            "drop": tuple(self.drop) or None,
        }
        if self.file is not None:
            options |= {"name": (folder / self.file).resolve(), "target": self.target}
        if self.file is not None and not self.of_card:
            tasks = {name: name for name in ("classification", "regression", "ordinal", "ranking")}
            kind = tasks.get("classification" if task == "bipartite_ranking" else task)
            kind = kind if self.bins is None else "regression"
            options |= {
                "sheet": self.sheet,
                "read_as": self._read_as,
                "matrix": self.matrix,
                "points": self.points,
                "task": kind if self.matrix is None else "similarity",
                "grades": tuple(self.grades) if self.grades else None,
            }
        return {key: value for key, value in options.items() if value is not None}

    @property
    def _read_as(self) -> tuple[tuple[str, Any], ...] | None:
        pairs = (self.read_as or {}).items()
        return tuple((k, tuple(v) if isinstance(v, list) else v) for k, v in pairs) or None

    def faults(self, names: Names) -> Iterator[Fault]:
        """Yield what is wrong with its names and its parameters."""
        makers: dict[str, Any] = dict(names.scope.generators)
        if self.stream is not None:
            from kernlearn.datasets.stream import STREAMS

            makers = dict(STREAMS)
        made = names.scope.datasets.get(self.name or "") or makers.get(self.generator or "")
        if sum(one is not None for one in (self.name, self.file, self.generator)) > 1:
            yield (), "give one of name, file and generator"
        elif self.generator is not None and made is None:
            hint = names.scope.hint(self.generator, makers)
            yield ("generator",), f"no generator {self.generator!r}{hint}"
        elif self.file is not None and not _exists(names.folder / self.file):
            yield ("file",), f"no file {self.file!r} in the config's folder, {names.folder}"
        else:
            yield from self._parameter_faults({} if made is None else made.parameters)
            yield from self._use_faults(names, made)
            if made is None and self.of_card:
                try:
                    card = self.card(names)
                except KernlearnError as error:
                    yield (), str(error)
                else:
                    yield from (((), text) for text in self._card_faults(card, names))

    def card(self, names: Names) -> datasets.Card:
        """Return its card; a DataError says why there is none."""
        if self.file is not None:
            return datasets.read_card(names.folder / self.file)
        return datasets.find_card(str(self.name), names.data_dir)

    def _parameter_faults(self, defaults: Mapping[str, Any]) -> Iterator[Fault]:
        settable = [name for name in defaults if name != "random_state"]
        for key in self.parameters:
            if key not in settable:
                hint = suggestion(key, [*DatasetEntry.model_fields, *settable])
                yield (key,), f"unknown key{hint}"

    def _use_faults(self, names: Names, made: Any) -> Iterator[Fault]:
        """Yield the keys that would have no effect, or give wrong numbers."""
        useless = {
            *(_IN_MEMORY if self.stream is not None else ()),
            *(_OF_READING if made is not None else ()),
            *(_OF_FILE if made is not None or self.of_card else ()),
        }
        for key in sorted(useless):
            if getattr(self, key) not in (None, []):
                yield (key,), "has no effect on this kind of data"
        draws_classes = made is not None and not (
            getattr(made, "plugin", "") or getattr(made, "draws_numbers", False)
        )
        if draws_classes and names.task in ("regression", "ranking"):
            yield (), f"{self.generator} draws classes, which `task: {names.task}` cannot take"
        if self.stream is not None:
            yield from self._stream_faults(self.stream, names, made)

    def _stream_faults(self, stream: StreamEntry, names: Names, made: Any) -> Iterator[Fault]:
        if names.task not in ("classification", "bipartite_ranking", "regression"):
            yield ("stream",), f"has no place with `task: {names.task}`"
        if self.binarize == "random":
            yield ("binarize",), "name the positive classes: a stream's are not known before"
        if self.name in names.scope.datasets:
            yield ("stream",), f"the plug-in makes {self.name} in memory"
        elif made is None and stream.workers is not None and stream.rows is not None:
            text = "the first rows of a file are read in their order: leave out rows or workers"
            yield ("stream", "workers"), text
        elif made is not None and stream.rows is None:
            yield ("stream", "rows"), f"is missing: {self.generator} has no end"
        elif made is not None and stream.workers is not None and not made.divided:
            yield ("stream", "workers"), f"{self.generator} draws one row after the other"

    def _card_faults(self, card: datasets.Card, names: Names) -> Iterator[str]:
        """Yield what of a card does not fit the task and the protocol."""
        task = names.task
        suitable = _SUITABLE.get(task, (card.task,))
        if self.bins is not None and card.task != "regression":
            yield f"bins cut numbers into grades, and the target of {card.name} is no number"
        elif task == "ordinal" and card.task == "regression":
            if self.bins is None:
                yield f"{card.name} has numbers to predict: `bins` cuts them into grades"
        elif card.task not in suitable:
            kind = "classification" if card.task == "similarity" else card.task
            yield f"{card.name} is data for `task: {kind}`, not for `task: {task}`"
        scale = names.scale if self.scale is None else self.scale
        if card.task == "similarity" and scale:
            yield f"{card.name} is a matrix of similarities, without features: give `scale: []`"
        if names.folds == "published" and not any(form.folds for form in card.forms):
            yield f"{card.name} has no published folds: give `folds` a number"


# Keys for data files, for data that is read, and for data in memory.
_OF_FILE = ("target", "grades", "sheet", "read_as", "matrix", "points")
_OF_READING = ("drop", "dense", "missing", "nominal")
_IN_MEMORY = {*_OF_FILE, *_OF_READING, "classes", "sample", "bins"} - {"target", "drop"}
# The tasks of cards whose targets suit a task.
_CLASSES = ("classification", "ordinal", "similarity")
_SUITABLE = {
    "classification": _CLASSES,
    "bipartite_ranking": _CLASSES,
    "regret": _CLASSES,
    "ordinal": ("ordinal", "classification"),
    "regression": ("regression",),
    "ranking": ("ranking",),
}


class KernelEntry(Entry):
    """A kernel with its parameters.

    Attributes
    ----------
    kernel : str
        Its name, as `kernlearn list` has it.
    """

    kernel: str

    def faults(self, names: Names) -> Iterator[Fault]:
        """Yield what is wrong with its name and its parameters."""
        try:
            kernel = names.scope.kernel(self.kernel)
        except KernlearnError as error:
            yield ("kernel",), str(error)
            return
        if kernel.installed:
            yield from _parameter_faults(kernel, self.parameters, names)
        else:
            yield ("kernel",), f"{self.kernel} is not installed: {install_hint(kernel)}"


class StepEntry(BaseModel):
    """A step of a pipeline: an estimator with its parameters.

    Attributes
    ----------
    estimator : str
        Its name, or the dotted name of its class.
    name : str
        Label of the step; by default the name of the class, lower case.
    """

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)
    __pydantic_extra__: dict[str, Annotated[Any, PlainValidator(Value.parse)]]

    estimator: str
    name: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, step: Any) -> Any:
        return {"estimator": step} if isinstance(step, str) else step


class MethodEntry(Entry):
    """An estimator with its parameters, or a pipeline of several.

    A parameter is a value; a list, which gives one method per value; ``{select: [...]}``, of
    which the best value on validation data is taken; or ``{by_dataset: {name: value, default:
    value}}``.

    Attributes
    ----------
    estimator : str
        Name of an estimator, or package.module.Class.
    steps : list of StepEntry
        The steps of a pipeline, instead of an estimator: names of estimators, or entries with
        parameters.
    dense : bool
        Make sparse data dense, for an estimator that refuses it.
    in_memory : bool
        Gather the rows of a stream in memory, for an estimator that needs them; its seconds
        and memory contain that.
    baseline : bool
        Not in the paper: shown under a separate heading.
    optional : bool
        Leave it out if its library is not installed.
    shown_as : dict of str to str
        Labels of parameters in results, by parameter: methods whose parameters mean the same,
        such as a number of columns, then share a label.
    """

    __pydantic_extra__: dict[str, Annotated[Any, PlainValidator(Value.parse)]]

    estimator: str | None = None
    steps: Annotated[list[StepEntry], Field(min_length=1)] | None = None
    dense: bool | None = None
    in_memory: Literal[True] | None = None
    baseline: bool = False
    optional: bool = False
    shown_as: dict[str, str] = {}

    @model_validator(mode="after")
    def _one_of_two(self) -> "MethodEntry":
        if (self.steps is None) == (self.estimator is None):
            raise ValueError("give an estimator, or steps")
        if self.steps is not None and self.model_extra:
            raise ValueError(f"give {', '.join(self.model_extra)} to the step it belongs to")
        return self

    @cached_property
    def _parts(self) -> list[tuple[str, str, KeyPath, dict[str, Value]]]:
        """The label, the name of the estimator, the path and the parameters of each step."""
        if self.steps is None:
            return [("", str(self.estimator), (), dict(self.model_extra or {}))]
        # as scikit-learn's `make_pipeline` has it, unless they have names
        labels = [s.name or s.estimator.rpartition(".")[2].lower() for s in self.steps]
        numbered = [
            one if labels.count(one) == 1 else f"{one}-{labels[: i + 1].count(one)}"
            for i, one in enumerate(labels)
        ]
        return [
            (label, step.estimator, ("steps", i), dict(step.model_extra or {}))
            for i, (label, step) in enumerate(zip(numbered, self.steps, strict=True))
        ]

    @property
    def labelled_steps(self) -> list[tuple[str, str]]:
        """The label and the name of the estimator of each step; "" for a single estimator."""
        return [(label, name) for label, name, _, _ in self._parts]

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """The parameters; those of a step after its label and two underscores."""
        return {
            f"{label}__{key}" if label else key: value
            for label, _, _, own in self._parts
            for key, value in own.items()
        }

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters under their labels in results."""
        return self.relabelled(self.parameters)

    def relabelled(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under their labels in results."""
        return {self.shown_as.get(name, name): value for name, value in parameters.items()}

    def components(self, scope: Scope) -> list[tuple[str, RegisteredEstimator]]:
        """Return the estimator of each step with the step's label, "" for a single estimator."""
        return [(label, scope.estimator(name)) for label, name in self.labelled_steps]

    def takes_kernel(self, scope: Scope) -> bool:
        """Whether it takes a kernel of the config's section, rather than none or its own."""
        takes = "" if self.estimator is None else scope.estimator(self.estimator).takes
        return bool(takes) and takes not in self.parameters

    def is_installed(self, scope: Scope) -> bool:
        """Whether the libraries that it needs are installed."""
        return all(estimator.installed for _, estimator in self.components(scope))

    def faults(self, names: Names) -> Iterator[Fault]:
        """Yield what is wrong with its names and its parameters."""
        for parameter, label in self.shown_as.items():
            if parameter not in self.parameters:
                text = f"is no parameter here{suggestion(parameter, self.parameters)}"
                yield ("shown_as", parameter), text
            elif label in {*LABELS, *self.parameters} - {parameter} or not label.isidentifier():
                yield ("shown_as", parameter), f"{label!r} cannot be a label: take another name"
        labels = [label for label, _ in self.labelled_steps]
        if self.steps and (len({*labels}) < len(labels) or any("__" in one for one in labels)):
            yield ("steps",), "give each step a name of its own, without `__`"
            return
        own_faults = []
        for _, name, path, own in self._parts:
            faults = self._part_faults(name, own, names)
            own_faults += [((*path, *place), text) for place, text in faults]
        yield from own_faults
        if not own_faults and self.is_installed(names.scope):
            try:
                yield from [((), text) for text in self._misfits(names)]
            except Exception as error:  # of any library
                yield (), f"cannot be made: {error or type(error).__name__}"

    def _part_faults(self, name: str, own: dict[str, Value], names: Names) -> Iterator[Fault]:
        """Yield the faults of one estimator."""
        try:
            estimator = names.scope.estimator(name)
            if estimator.installed and not hasattr(estimator.load(), "set_params") and "." in name:
                raise TypeError(f"{name} is no estimator: a class with fit and set_params")
        except Exception as error:  # of any library that is imported
            yield ("estimator",), str(error)
            return
        if not estimator.installed:
            if not self.optional:
                how = f"{install_hint(estimator)}, or make the method `optional`"
                yield ("estimator",), f"{estimator.name} is not installed: {how}"
            return
        known = names.labels["dataset"]
        for key, value in own.items():
            choices = value.content if value.form == "by_dataset" else {"default": None}
            for label in choices.keys() - {"default", *known}:
                hint = suggestion(label, [*known, "default"])
                yield (key, "by_dataset", label), f"no data set {label!r}{hint}"
            if "default" not in choices and (missing := [k for k in known if k not in choices]):
                yield (key,), f"by_dataset gives no value for {', '.join(missing)}"
        yield from _parameter_faults(estimator, own, names)
        has_kernel = (
            "kernel" in own or "." in name or (self.steps is None and names.labels["kernel"])
        )
        # a similarity has a default, a kernel has none that would suit
        if estimator.takes == "kernel" and not has_kernel:
            yield (), f"{estimator.name} needs a kernel: give it one, or a section `kernels`"

    def _misfits(self, names: Names) -> Iterator[str]:
        """Say what the estimator lacks for the task."""
        from sklearn.base import is_classifier, is_regressor

        first = {key: value.candidates[0] for key, value in self.parameters.items()}
        made = names.scope.make_method(self.components(names.scope), first)
        *maps, (_, name) = self.labelled_steps
        for (_, one), step in zip(maps, made if maps else (), strict=False):
            if not hasattr(step, "transform"):
                yield f"{one} has no method transform, which all steps but the last need"
                return
        task = TASKS[names.task]
        if not task.supervised:
            return
        with suppress(AttributeError, TypeError):  # a user-defined class may have no tags
            classes = names.task in ("classification", "bipartite_ranking")
            if classes and is_regressor(made):
                yield f"{name} predicts numbers, and `task: {names.task}` needs classes"
            if names.task == "regression" and is_classifier(made):
                yield f"{name} predicts classes, and `task: regression` needs numbers"
        if not hasattr(made, output := task.load().output):
            yield f"{name} has no method {output}, which `task: {names.task}` needs"


def _parameter_faults(
    component: Registered, own: Mapping[str, Value], names: Names
) -> Iterator[Fault]:
    """Yield the faults of parameters: the component is made with each value of each of them."""
    count = prod(len(v.candidates) for v in own.values() if v.form == "list")
    if count > _MAX_VARIANTS:
        yield (), f"its lists make {count} combinations; at most {_MAX_VARIANTS} are allowed"
    ours = isinstance(component.target, str) and component.target.startswith("kernlearn.")
    # code of others may raise anything
    errors: Any = (ValueError, TypeError, KernlearnError) if ours else Exception
    first = {key: value.candidates[0] for key, value in own.items()}
    required = {k: v for k, v in first.items() if component.parameters.get(k) is Parameter.empty}
    for key, value in own.items():
        owner = key.partition("__")[0]
        others = {**required, **({owner: first[owner]} if owner in first else {})}
        try:
            refuse_unknown(component, [key])
            if owner != key and not isinstance(first.get(owner), dict):
                raise ConfigError(f"needs the kernel itself too, as `{owner}: {{kernel: NAME}}`")
            for candidate in value.candidates:
                names.scope.make(component, {**others, key: candidate})
        except errors as error:
            yield (key,), str(error) or type(error).__name__


def axes_of(entries: Iterable[Entry]) -> dict[str, list[Any]]:
    """Return the varied parameters of entries under their labels, with all their values."""
    axes: dict[str, list[Any]] = {}
    for entry in entries:
        for name, value in entry.shown_parameters.items():
            if value.varies:
                axes.setdefault(name, []).extend(value.candidates)
    return axes


def reported_files(folder: Path | None) -> dict[str, Path]:
    """Return the files of reported numbers by name; those of kernlearn come first."""
    folders = [*([] if folder is None else [folder]), shipped("reported")]
    return {path.name: path for place in folders for path in sorted(place.glob("*.csv"))}


def _exists(path: Path) -> bool:
    """Whether there is a file, or an archive that it is a member of."""
    return any(place.is_file() for place in (path, *path.parents))
