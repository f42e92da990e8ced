"""Trials: all that determines the numbers of one, and the key made from it."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

from kernlearn.config.model import DatasetEntry, Protocol
from kernlearn.config.values import canonical, cell_name, plain

# Raised when the way a trial is carried out changes its numbers.
TRIAL_VERSION = 2


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
        return {one.name: plain(value, exact) for one, value in values if value != one.default}


@dataclass(frozen=True)
class DatasetSpec(_Part):
    """The data of a trial: its entry in the config, and what tells its content.

    A data set is known by its fingerprint, one that a function makes by the parameters, too.
    """

    entry: DatasetEntry
    fingerprint: str | None = None
    pairwise: str | None = None
    parameters: dict[str, Any] | None = None
    plugin: str | None = None
    version: int | None = None


@dataclass(frozen=True)
class ComponentSpec(_Part):
    """A kernel with its parameters, or a metric; and the plug-in that registers it."""

    name: str
    version: int
    parameters: dict[str, Any] = field(default_factory=dict)
    plugin: str | None = None


@dataclass(frozen=True)
class MethodSpec(_Part):
    """An estimator with its parameters.

    ``select`` holds the parameters that are chosen on validation data, with their candidates;
    ``kernels`` the version of every kernel or estimator of a plug-in among the parameters.
    ``steps`` are those of a pipeline, each with its label, under which its parameters are, and its
    estimator; ``dense`` tells that it gets sparse data as dense ones, ``columns`` that it gets the
    table as it is.
    """

    name: str
    version: int
    parameters: dict[str, Any]
    select: dict[str, list[Any]]
    plugin: str | None = None
    kernels: dict[str, dict[str, Any]] | None = None
    steps: list[dict[str, Any]] | None = None
    dense: bool | None = None
    columns: str | None = None


@dataclass(frozen=True)
class TrialSpec(_Part):
    """All that determines the numbers of a trial besides the number of its split."""

    version: int
    task: str
    dataset: DatasetSpec
    kernel: ComponentSpec | None
    method: MethodSpec
    protocol: Protocol
    metrics: tuple[ComponentSpec, ...] = ()

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


def trial_keys(spec: TrialSpec, splits: Iterable[int]) -> list[str]:
    """Return the keys of the trials that have a specification, for each of some splits."""
    text = canonical(spec)
    return [sha256(f"{text} {split}".encode()).hexdigest()[:24] for split in splits]
