"""From values in a config to specifications of trials, and the keys made from them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import product
from typing import Any

GOODNESS = ("goodness_error", "goodness_margin")
#: Labels that every trial has; further ones are the varied parameters.
LABELS = ("dataset", "kernel", "method")
#: Columns of results, after which no varied parameter can be called.
RESERVED = (
    *("dataset", "kernel", "method", "experiment", "params", "metric", "split", "value"),
    *("converged", "ratio", "drift", "mean", "std", "n_splits", "reported_mean", "reported_std"),
    *("verdict", "best", "median", "low", "high", "not_converged"),
)

# Raised when the way a trial is carried out changes its numbers.
TRIAL_VERSION = 2

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
    return [(dict(zip(axes, chosen, strict=True)), grid) for chosen in product(*axes.values())]


def varied(parameters: Mapping[str, Value]) -> list[str]:
    """Return the parameters that differ between the variants of one entry."""
    return [name for name, value in parameters.items() if value.varies]


class _Part:
    """A part of a specification.

    A field that has a default is left out of the key while it has that default, so that a field
    can be added and old keys still hold.
    """

    @cached_property
    def plain(self) -> dict[str, Any]:
        """Its fields as JSON has them; most parts belong to many trials."""
        part: Any = self
        values = ((one, getattr(self, one.name)) for one in fields(part))
        # all features are 1.0 and one feature is 1 in estimators, but nowhere else
        exact = isinstance(self, MethodSpec)
        return {one.name: _plain(value, exact) for one, value in values if value != one.default}


@dataclass(frozen=True)
class DatasetSpec(_Part):
    """The data of a trial: a data set known by its fingerprint, or a generator's parameters."""

    nominal: str
    binarize: str | list[str] | None
    name: str | None = None
    generator: str | None = None
    parameters: dict[str, Any] | None = None
    fingerprint: str | None = None
    pairwise: str | None = None
    bins: int | None = None
    classes: list[str] | None = None
    sample: int | None = None
    plugin: str | None = None
    version: int | None = None
    dense: bool | None = None
    grades: list[str] | None = None
    missing: str | None = None
    drop: list[str | int] | None = None


@dataclass(frozen=True)
class KernelSpec(_Part):
    """A kernel with its parameters, and the plug-in that registers it."""

    name: str
    version: int
    parameters: dict[str, Any]
    plugin: str | None = None


@dataclass(frozen=True)
class MethodSpec(_Part):
    """An estimator with its parameters.

    ``select`` holds the parameters that are chosen on validation data, with their candidates;
    ``kernels`` the version of every plug-in kernel among the parameters. ``steps`` are those of a
    pipeline, each with its label, under which its parameters are, and its estimator; ``dense``
    tells that it gets sparse data as dense ones.
    """

    name: str
    version: int
    parameters: dict[str, Any]
    select: dict[str, list[Any]]
    plugin: str | None = None
    kernels: dict[str, dict[str, Any]] | None = None
    steps: list[dict[str, Any]] | None = None
    dense: bool | None = None


@dataclass(frozen=True)
class ProtocolSpec(_Part):
    """How the data is split and scaled and how parameters are chosen, as in the config."""

    train: float
    max_train: int | None
    max_test: int | None
    scale: Sequence[str]
    validation: float
    seed: int
    threads: int
    folds: int | str | None = None
    holdout: float | None = None
    scale_target: str | None = None
    select_by_mean: bool | None = None
    search: str = "all"


@dataclass(frozen=True)
class MetricSpec(_Part):
    """A metric of a plug-in, a scorer of scikit-learn, or goodness."""

    name: str
    version: int
    plugin: str | None = None


@dataclass(frozen=True)
class TrialSpec(_Part):
    """All that determines the numbers of a trial besides the number of its split."""

    version: int
    task: str
    dataset: DatasetSpec
    kernel: KernelSpec | None
    method: MethodSpec
    protocol: ProtocolSpec
    metrics: tuple[MetricSpec, ...] = ()

    @property
    def plugins(self) -> set[str]:
        """Names of the plug-ins that the trial draws on."""
        parts = (self.dataset, self.kernel, self.method, *self.metrics)
        names = {part.plugin for part in parts if part is not None and part.plugin}
        names |= {step["plugin"] for step in self.method.steps or () if "plugin" in step}
        return names | {kernel["plugin"] for kernel in (self.method.kernels or {}).values()}


@dataclass(frozen=True)
class Source:
    """Where the data and the plug-ins of a trial are on this machine.

    Attributes
    ----------
    read : dict
        Arguments of :func:`kernlearn.datasets.load`, if the data is not made by a function.
    numbers : bool
        Whether the targets that a plug-in gives are numbers; otherwise they are classes.
    plugins : tuple of (path, hash)
        The files of the config's plug-ins, if the trial needs any.
    prepared : tuple of str
        What loading did to the data, in sentences.
    """

    read: dict[str, Any] = field(default_factory=dict)
    numbers: bool = False
    plugins: tuple[tuple[str, str], ...] = ()
    prepared: tuple[str, ...] = ()


@dataclass(frozen=True)
class Trial:
    """One data set, kernel, method, set of parameters and split.

    Attributes
    ----------
    key : str
        Hash of ``spec`` and ``split``: the same key means the same numbers.
    experiment : str
        Name of the experiment that it belongs to.
    labels : dict
        Its labels in tables and figures: ``dataset``, ``kernel``, ``method`` and the
        varied parameters.
    spec : TrialSpec
        All that determines the numbers of the trial and of its other splits.
    split : int
        Number of the split, from 0.
    source : Source
        Where the data is.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan
    >>> plan = make_plan(load_config("demo_ordinal", profile="quick"))
    >>> plan.trials[0].labels
    {'dataset': 'diabetes_sklearn', 'kernel': 'manhattan', 'method': 'ORLand', 'n_landmarks': 2}
    >>> len({trial.key for trial in plan.trials})
    24
    """

    key: str
    experiment: str
    labels: dict[str, Any]
    spec: TrialSpec
    split: int
    source: Source

    def __str__(self) -> str:
        return f"{cell_name(self.labels, self.labels.values(), ' · ')} · split {self.split + 1}"


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
    return _ENCODER.encode(_plain(value))


def _plain(value: Any, exact: bool = False) -> Any:
    if value is None or isinstance(value, (str, int)):
        return value
    if isinstance(value, float):
        is_whole = value.is_integer() and abs(value) < 2**53
        return int(value) if is_whole and not (exact and value == 1) else value
    if isinstance(value, (list, tuple)):
        return [_plain(v, exact) for v in value]
    if isinstance(value, _Part):
        return value.plain
    if isinstance(value, Mapping):
        return {str(k): _plain(v, exact) for k, v in value.items()}
    return value


def trial_keys(spec: TrialSpec, splits: Iterable[int]) -> list[str]:
    """Return the keys of the trials that have a specification, for each of some splits."""
    cell = hashlib.sha256(canonical(spec).encode())
    keys = []
    for split in splits:
        (own := cell.copy()).update(f" {split}".encode())
        keys.append(own.hexdigest()[:24])
    return keys
