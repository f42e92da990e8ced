"""The rows of a store: what they hold, and the model that whatever is read back is checked by.

A store may come from anyone, so that its values may be anything. A row that does not fit has no
number that means something: it is left out, and counted.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, Literal, NotRequired

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    Json,
    TypeAdapter,
    ValidationError,
    with_config,
)
from typing_extensions import TypedDict

from kernlearn.config.spec import LABELS, Trial, TrialSpec
from kernlearn.datasets.escaping import visible
from kernlearn.datasets.yaml import shortened

# Splits are fewer by far, and trials shorter; sums and differences of such numbers are numbers.
_MOST_SPLITS, _MOST_SECONDS, _MOST = 2**31, 1e10, 2**62


@dataclass(frozen=True)
class Result:
    """The result of a trial.

    Attributes
    ----------
    key : str
        The trial's key.
    status : {"done", "failed"}
    started : str
        UTC, ISO 8601.
    seconds : float
        Wall time of the whole trial, loading and selection included.
    metrics : dict of str to float
    info : dict
    error, traceback : str or None
        Of a failed trial.
    run : int or None
        Number of the run, set by the store.
    """

    key: str
    status: str
    started: str
    seconds: float
    metrics: dict[str, float] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    traceback: str | None = None
    run: int | None = None

    @property
    def done(self) -> bool:
        """Whether the trial succeeded."""
        return self.status == "done"


@dataclass(frozen=True)
class StoredTrial:
    """A finished trial, without its source, and its result."""

    trial: Trial
    result: Result


@dataclass(frozen=True)
class Run:
    """A run as the store records it.

    Attributes
    ----------
    number : int
    started : str
        UTC, ISO 8601.
    experiment, profile : str
    jobs : int
        Number of trials in parallel.
    environment : dict
        Machine, packages and code.
    settings : tuple of str
        Settings of the command line, as ``key=value``.
    """

    number: int
    started: str
    experiment: str
    profile: str
    jobs: int
    environment: dict[str, Any]
    settings: tuple[str, ...] = ()


class UnfitError(ValueError):
    """A row that does not fit its model; ``faults`` has a sentence for each wrong column."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def _a_time(text: str) -> str:
    datetime.fromisoformat(text)  # its ValueError says what is wrong
    return text


def _labels(labels: dict[str, Any]) -> dict[str, Any]:
    for name, value in labels.items():
        allowed: Any = str if name in LABELS else (str, int, float)
        if value is not None and not isinstance(value, allowed):
            kind = "text" if name in LABELS else "text, a number, true, false or null"
            raise ValueError(f"the label {shortened(name)} is {shortened(value)}, not {kind}")
    return labels


def _with_split(spec: TrialSpec) -> TrialSpec:
    if not 0 <= spec.split < _MOST_SPLITS:
        raise ValueError(f"the split is {shortened(spec.split)}, not a number from 0")
    return spec


# A limit lets pydantic look at every character: a text that is no UTF-8 has halves of them.
_Text = Annotated[str, Field(max_length=10_000_000)]
_Time = Annotated[_Text, AfterValidator(_a_time)]
_Number = Annotated[int, Field(ge=1, le=_MOST)]
_Count = Annotated[int, Field(ge=0, le=_MOST)]
_Metrics = dict[str, float]
_LENIENT, _STRICT = ConfigDict(extra="allow", strict=True), ConfigDict(strict=True)


class _Point(TypedDict):
    """A setting of a grid, as measured."""

    __pydantic_config__ = _LENIENT  # type: ignore[misc]

    parameters: dict[str, Any]
    score: float
    metrics: _Metrics
    converged: NotRequired[bool]


class _Info(TypedDict, total=False):
    """What a trial notes; other notes are shown nowhere."""

    __pydantic_config__ = _LENIENT  # type: ignore[misc]

    n_train: _Count
    n_test: _Count
    rows_read: _Count
    positive: list[str]
    sample: str
    selected: dict[str, Any]
    grid: Annotated[list[_Point], Field(min_length=1)]
    converged: bool
    shared: bool
    contended: bool
    warnings: dict[str, _Count]
    plugins: dict[str, str]


class Environment(TypedDict, total=False):
    """The machine, the packages and the code of a run; of none of it is known that it is there."""

    __pydantic_config__ = _LENIENT  # type: ignore[misc]

    python: str
    packages: dict[str, str]
    system: str
    cpu: str
    cores: _Number | None
    usable_cores: _Number
    memory_bytes: _Count
    blas: list[dict[str, Any]]
    threads: dict[str, str]
    commit: str
    dirty: bool


class _TrialRow(TypedDict):
    __pydantic_config__ = _STRICT  # type: ignore[misc]

    key: Annotated[str, Field(min_length=1)]
    run: _Number
    experiment: _Text
    labels: Json[Annotated[dict[str, Any], AfterValidator(_labels)]]
    spec: Json[Annotated[TrialSpec, AfterValidator(_with_split)]]
    status: Literal["done", "failed"]
    started: _Time
    seconds: Annotated[float, Field(ge=0, le=_MOST_SECONDS)]
    metrics: Json[_Metrics]
    info: Json[_Info]
    error: _Text | None
    traceback: _Text | None


class _RunRow(TypedDict):
    __pydantic_config__ = _STRICT  # type: ignore[misc]

    id: _Number
    started: _Time
    experiment: _Text
    profile: _Text
    jobs: _Number
    environment: Json[Environment]
    settings: Json[list[str]]


#: Columns of each kind of row, in the order of the tables.
TRIAL_COLUMNS = tuple(_TrialRow.__annotations__)
RUN_COLUMNS = tuple(_RunRow.__annotations__)

# Cells whose labels and specifications are remembered, and the most characters of one.
_CELLS, _REMEMBERED = 10_000, 10_000
_OTHER_COLUMNS = tuple(name for name in TRIAL_COLUMNS if name not in ("labels", "spec"))
# The specification as kernlearn writes it: the last keys are those of the whole, not of a part.
_SPEC = re.compile(r'(.*,"split":)(0|[1-9][0-9]{0,8})(,"task":"[^"\\]*","version":[0-9]{1,9}\})')

# What SQLite gives as bytes is text to the parser of JSON, but was not written by kernlearn.
_TEXTS = ("labels", "spec", "metrics", "info", "environment", "settings")


def trial_of(row: Any) -> StoredTrial:
    """Return the trial of a row with :data:`TRIAL_COLUMNS`, or raise an UnfitError.

    Trials of the same cell share labels and parts of specifications, which are checked once.
    """
    labels, spec = _labels_of(row["labels"]), _spec_of(row["spec"])
    if labels is None or spec is None:  # as a whole, which says what is wrong
        value = _checked(_trial_rows(), row, TRIAL_COLUMNS)
        labels, spec = value["labels"], value["spec"]
    else:
        value = _checked(_part(*_OTHER_COLUMNS), row, _OTHER_COLUMNS)
    trial = Trial(value["key"], value["experiment"], labels, spec)
    names = ("key", "status", "started", "seconds", "metrics", "info", "error", "traceback", "run")
    return StoredTrial(trial, Result(*(value[name] for name in names)))


def run_of(row: Any) -> Run:
    """Return the run of a row with :data:`RUN_COLUMNS`, or raise an UnfitError."""
    value = _checked(_run_rows(), row, RUN_COLUMNS)
    names = ("id", "started", "experiment", "profile", "jobs", "environment")
    facts = {name: value[name] for name in names}
    return Run(facts.pop("id"), **facts, settings=tuple(value["settings"]))


def row_name(row: Any, table: str = "trial") -> str:
    """Return how messages name a row: ``trial KEY``, ``superseded trial KEY`` or ``run 3``."""
    if table == "run":
        return f"run {shortened(row['id'])}"
    key = row["key"]
    shown = visible(key) if isinstance(key, str) and len(key) <= 80 else shortened(key)
    return f"{'superseded ' if table == 'superseded' else ''}trial {shown}"


@cache
def _trial_rows() -> TypeAdapter[Any]:
    return TypeAdapter(_TrialRow)


@cache
def _part(*columns: str) -> TypeAdapter[Any]:
    """Return the check of some columns of a trial's row."""
    kinds: Any = {name: _TrialRow.__annotations__[name] for name in columns}
    row: Any = TypedDict("row", kinds)  # type: ignore[misc]
    return TypeAdapter(with_config(_STRICT)(row))


@lru_cache(maxsize=_CELLS)
def _read_labels(text: str) -> dict[str, Any] | None:
    try:
        labels: dict[str, Any] = _part("labels").validate_python({"labels": text})["labels"]
    except ValidationError:
        return None
    return labels


def _labels_of(text: Any) -> dict[str, Any] | None:
    """Return the labels of a text; None if it does not fit."""
    return _read_labels(text) if _is_short(text) else None


@lru_cache(maxsize=_CELLS)
def _first_split(before: str, after: str) -> dict[str, Any] | None:
    """Return the fields of a specification with these texts around its split."""
    try:
        spec = _part("spec").validate_python({"spec": f"{before}0{after}"})["spec"]
    except ValidationError:
        return None
    return dict(vars(spec))


def _spec_of(text: Any) -> TrialSpec | None:
    """Return the specification of a text that is written as kernlearn does, if it fits."""
    parts = _SPEC.fullmatch(text) if _is_short(text) else None
    if parts is None:
        return None
    before, split, after = parts.groups()
    shared = _first_split(before, after)
    return None if shared is None else TrialSpec(**{**shared, "split": int(split)})


def _is_short(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= _REMEMBERED


@cache
def _run_rows() -> TypeAdapter[Any]:
    return TypeAdapter(_RunRow)


def _checked(adapter: TypeAdapter[Any], row: Any, columns: Sequence[str]) -> dict[str, Any]:
    given = {name: row[name] for name in columns}
    faults = {
        name: f"{name} is not text"
        for name in _TEXTS
        if name in given and not isinstance(given[name], str)
    }
    if not faults:
        try:
            checked: dict[str, Any] = adapter.validate_python(given)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                faults.setdefault(str(one["loc"][0]), _said(one))
        else:
            return checked
    raise UnfitError([*faults.values()])


# What is expected, by pydantic's kinds of errors.
_EXPECTED = {
    "dict_type": "an object",
    "dataclass_type": "an object",
    "list_type": "a list",
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
}


def _said(error: Any) -> str:
    """Say in words what is wrong with a value of a row."""
    kind, place = error["type"], error["loc"]
    if kind == "json_invalid":
        return f"{place[0]} is not JSON: {error['msg'].removeprefix('Invalid JSON: ')}"
    expected = _EXPECTED.get(kind)
    if expected and len(place) == 1 and place[0] in _TEXTS:
        return f"{place[0]} is JSON, but not {expected}"
    name = visible(".".join(map(str, place)))
    name = name if len(name) <= 80 else shortened(name)
    if kind == "missing":
        return f"{name} is missing"
    if kind == "too_short":
        return f"{name} is empty"
    if kind == "value_error":
        return f"{name}: {error['ctx']['error']}"
    if kind == "string_unicode":
        return f"{name} is not text in UTF-8"
    said = expected and f"not {expected}"
    return f"{name} is {shortened(error['input'])}, {said or visible(error['msg'].lower())}"
