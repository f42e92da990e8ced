"""The model of a config: one class for each section; unknown keys are refused."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    model_validator,
)

from kernlearn.config.claims import Claim
from kernlearn.config.entries import (
    Combination,
    Count,
    DatasetEntry,
    DatasetLabel,
    Fault,
    Fraction,
    KernelEntry,
    Label,
    MeasuredMetric,
    MethodEntry,
    MethodLabel,
    MetricName,
    Names,
    Scaling,
    Section,
    TableLabel,
    axes_of,
    named,
    reported_files,
    unfold,
)
from kernlearn.config.names import BUILT_IN, TASKS, Scope, is_time

if TYPE_CHECKING:
    TaskName = str
else:
    TaskName = Literal[tuple(TASKS)]

#: Name of a config without the changes of a profile.
DEFAULT_PROFILE = "full"


class Protocol(Section):
    """How the data is split and scaled and how parameters are chosen.

    Attributes
    ----------
    splits : int
        Number of random divisions into a training and a test part.
    train : float
        Share of the rows that is trained on.
    folds : int or "published"
        Cross-validation instead of random splits: the number of folds, or those published with
        the data set; fold k is the test part, the one before it is held out. With a multiple
        of as many splits the folds are drawn anew after each round.
    max_train : int
        Most rows of the training part; a random sample of more.
    max_test : int
        The same of the test part.
    scale : list of Scaling
        Scalings in their order, learnt on the training part.
    scale_target : {"max_abs", "zscore"}
        Scaling of real targets, learnt on the training part.
    validation : float
        Share of the training part that `select` validates on.
    holdout : float
        Share of all rows that is held out to choose parameters: methods are then fitted on the
        whole training part.
    select_by_mean : bool
        Choose the parameters under `select` once, by their mean score over all splits, instead
        of separately on each split.
    seed : int
        What all random numbers of the experiment come from.
    threads : int
        Number of threads of a trial.
    """

    splits: Annotated[int, Field(ge=1, le=10_000)] = 5
    train: Fraction = 0.6
    folds: Literal["published"] | Annotated[int, Field(ge=3)] | None = None
    max_train: Count | None = None
    max_test: Count | None = None
    scale: list[Scaling] = []
    scale_target: Literal["max_abs", "zscore"] | None = None
    validation: Fraction = 0.2
    holdout: Fraction | None = None
    select_by_mean: Literal[True] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    threads: Count = 1

    @model_validator(mode="after")
    def _leaves_a_test_part(self) -> "Protocol":
        if isinstance(self.folds, int) and self.splits > self.folds and self.splits % self.folds:
            raise ValueError(f"{self.folds} folds make {self.folds} splits, or a multiple of it")
        if self.folds == "published" and (self.max_train or self.max_test):
            raise ValueError("published folds are taken whole: leave out max_train and max_test")
        if self.folds is not None and self.holdout is not None:
            raise ValueError("with folds one of them is held out: leave out holdout")
        if self.holdout is not None and self.train + self.holdout >= 1:
            raise ValueError("train and holdout together must leave a test part: less than 1")
        if self.select_by_mean and not (self.holdout or self.folds):
            raise ValueError("select_by_mean needs rows held out of all splits: holdout or folds")
        return self


class Derived(Section):
    """A metric computed from others: the ratio of a baseline's metric to a method's.

    Attributes
    ----------
    ratio : str
        The metric in the denominator.
    baseline : str
        The method whose metric is the numerator.
    baseline_metric : str
        Metric of the baseline, if not the same.
    """

    ratio: MeasuredMetric
    baseline: MethodLabel
    baseline_metric: MeasuredMetric | None = None


class TableSpec(Section):
    """The layout of the printed table.

    Attributes
    ----------
    each : list of str
        Labels with one table per combination of values.
    rows : list of str
        Labels with a row per combination of values.
    columns : list of str
        The same of columns.
    metrics : list of str
        By default all of the config.
    """

    each: list[TableLabel] = []
    rows: list[TableLabel] = ["dataset", "method"]
    columns: list[TableLabel] = []
    metrics: list[MetricName] = []


class FigureSpec(Section):
    """A chart of metrics against a varied parameter.

    Attributes
    ----------
    title : str
        By default what is drawn against what.
    x : str
        The label on the horizontal axis.
    metrics : list of str
        What is drawn, a row of panels each.
    panels : list of str
        Labels with one panel per combination of values.
    per_row : int
        Number of panels per row.
    only : list of combinations
        The combinations of labels to draw, by default all.
    color : str
        The label that lines have a colour for.
    dash : str
        The label that lines are dashed for.
    x_scale : {"linear", "log"}
        That of the axis.
    y_scale : {"linear", "log"} or dict of str to {"linear", "log"}
        That of the metrics, or by metric.
    """

    title: str = ""
    x: TableLabel
    metrics: list[MetricName]
    panels: list[TableLabel] = []
    per_row: Count = 4
    only: list[Combination] = []
    color: TableLabel = "method"
    dash: TableLabel | None = None
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] | dict[str, Literal["linear", "log"]] = "linear"


class Tolerance(Section):
    """When a measured mean agrees with the reported one, see `reports.verdicts`.

    Attributes
    ----------
    absolute : float
        Largest difference of the means; give this or `relative`.
    relative : float
        Largest difference as a share of the reported mean.
    level : float
        Significance level of the test by which chance may explain more.
    reported_splits : int
        Number of splits behind the reported means and deviations.
    """

    absolute: Annotated[float, Field(ge=0)] | None = None
    relative: Annotated[float, Field(ge=0)] | None = None
    level: Fraction | None = None
    reported_splits: Annotated[int, Field(ge=2)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tolerance":
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give either absolute or relative")
        if self.level is None and self.reported_splits is not None:
            raise ValueError("reported_splits goes with level")
        return self


class Drift(Section):
    """How far a mean may lie from its baseline value: the largest of the three applies.

    Attributes
    ----------
    absolute : float
        In the metric.
    relative : float
        As a share of the baseline value.
    spread : float
        In standard deviations over the splits.
    """

    absolute: Annotated[float, Field(ge=0)] = 0
    relative: Annotated[float, Field(ge=0)] = 0
    spread: Annotated[float, Field(ge=0)] = 0


class BestSpec(Section):
    """Which cells are set in bold: the best, and those that are not significantly worse.

    By a paired t-test over the splits, as in the thesis' tables. Baselines are left out.

    Attributes
    ----------
    metrics : list of str
        Those whose best cells are marked.
    within : list of str
        Labels within whose values the methods are compared.
    level : float
        Significance level of the test.
    """

    metrics: Annotated[list[MeasuredMetric], Field(min_length=1)]
    within: list[Label] = ["dataset"]
    level: Fraction = 0.05


class Fork(Section):
    """A choice that agrees with the paper's numbers, and what else could have been chosen.

    Such an agreement is in-sample: the numbers that come back include those that decided.

    Attributes
    ----------
    choice : str
        What was decided.
    reason : str
        The numbers that decided it.
    alternatives : dict of str to list of str
        By name, the settings (key=value) that make this choice instead.
    only : list of combinations
        The combinations of labels to compare, by default all.
    splits : int
        By default those of the protocol.
    """

    choice: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    alternatives: dict[str, list[str]] = Field(min_length=1)
    only: list[Combination] = []
    splits: Count | None = None


class ExperimentConfig(Section):
    """One experiment: a product of data sets, kernels, methods and splits.

    Attributes
    ----------
    title : str
        The heading of reports.
    source : str
        The paper, table or figure that it repeats.
    task : str
        What is predicted or measured.
    plugins : list of str
        Python files with user-defined methods, kernels, data sets and metrics, relative to the
        config's folder; they are executed.
    datasets : dict of str to DatasetEntry
        The data sets by label; a list of names will do.
    kernels : dict of str to KernelEntry
        The kernels by label, each tried by every method that takes one.
    methods : dict of str to MethodEntry
        The methods by label.
    only : list of combinations
        The combinations of labels that are run, by default all.
    exclude : list of combinations
        Those that are not run.
    protocol : Protocol
        Splits, scaling and choice.
    metrics : list of str
        Measured or derived metrics.
    derived : dict of str to Derived
        Metrics computed from measured ones, by name.
    table : TableSpec
        How the table is laid out.
    figures : list of FigureSpec
        What is drawn.
    reported : str
        The paper's numbers: a CSV file of kernlearn or beside the config.
    verdict : dict of str to Tolerance
        By metric, when a measured mean agrees with the reported one.
    proposed : list of str
        The methods that the paper proposes; a better number of any other one is counted
        separately, since it weakens what the paper concludes.
    not_comparable : dict of str to str
        Data sets that are not the paper's, with the reason.
    variant_of : str
        The config with the same reported numbers, which this one measures in another way;
        totals count them once.
    drift : dict of str to Drift
        By metric, what `kernlearn check` allows instead of its own rule.
    best : BestSpec
        The cells that are set in bold.
    claims : list of Claim
        What the paper states, with the checks that decide it.
    forks : list of Fork
        Choices that agree with the paper's numbers, with alternatives.
    notes : dict of str to str
        Remarks that the report shows, by what they are about.
    profiles : dict of str to dict[str, Any]
        By name, changes to the config, such as fewer splits.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> config = load_config("demo_ordinal").config
    >>> config.task, config.metrics, list(config.methods)
    ('ordinal', ['aae'], ['ORLand', 'KR'])
    >>> config.protocol.splits, config.protocol.train
    (10, 0.7)
    """

    title: str = Field(min_length=1)
    source: str = ""
    task: TaskName = "classification"
    plugins: list[str] = []
    datasets: dict[str, DatasetEntry] = Field(min_length=1)
    kernels: dict[str, KernelEntry] = {}
    methods: dict[str, MethodEntry] = Field(min_length=1)
    only: list[Combination] = []
    exclude: list[Combination] = []
    protocol: Protocol = Protocol()
    metrics: list[MetricName] = Field(min_length=1)
    derived: dict[str, Derived] = {}
    table: TableSpec | None = None
    figures: list[FigureSpec] = []
    reported: Annotated[str, named("reported numbers")] | None = None
    verdict: dict[MetricName, Tolerance] = {}
    proposed: list[MethodLabel] = []
    not_comparable: dict[DatasetLabel, str] = {}
    variant_of: Annotated[str, named("config")] | None = None
    drift: dict[MetricName, Drift] = {}
    best: BestSpec | None = None
    claims: list[Claim] = []
    forks: list[Fork] = []
    notes: dict[str, str] = {}
    profiles: dict[str, dict[str, Any]] = {}
    _scope: Scope = PrivateAttr()
    _folder: Path | None = PrivateAttr()

    def model_post_init(self, context: Names | None) -> None:
        """Take scope and folder from the context of the validation."""
        self._scope = BUILT_IN if context is None else context.scope
        self._folder = None if context is None else context.folder

    def faults(self, names: Names) -> Iterator[Fault]:
        """Yield what is wrong with valid sections and entries beside each other."""
        takes = any(method.takes_kernel(self.scope) for method in self.methods.values())
        if not takes and self.task != "kernel_approximation":
            for label in self.kernels:
                yield ("kernels", label), "is not used: no method takes a kernel of it"
        for name in self.derived.keys() & self.scope.metrics.keys():
            yield ("derived", name), "is the name of a measured metric; take another"
        metrics = [self.scope.metrics.get(name) for name in self.metrics]
        scorers = [metric.name for metric in metrics if metric and metric.scorer]
        if scorers and self.protocol.select_by_mean:
            yield ("metrics",), f"{scorers[0]} cannot be measured with select_by_mean"
        if self.reported_path is not None and (text := _table_fault(self.reported_path, names)):
            yield ("reported",), text
        streams = {label: e for label, e in self.datasets.items() if e.stream is not None}
        if not streams:
            return
        if scorers:
            yield ("metrics",), f"{scorers[0]} is a scorer of rows in memory, not of a stream"
        keys = ["scale_target", "folds", "train", "max_train", "max_test", "holdout", "validation"]
        for key in keys if len(streams) == len(self.datasets) else keys[:2]:
            if key in self.protocol.model_fields_set:
                yield ("protocol", key), "is for data in memory, and data sets are streams"
        for label, method in self.methods.items():
            used = [name for name in streams if self.wants({"dataset": name, "method": label})]
            if any(grid for name in used for _, grid in unfold(method.parameters, name)):
                yield ("methods", label), "`select` chooses by rows in memory; give values"
            last = method.components(self.scope)[-1][1]
            divided = [name for name in used if "workers" in streams[name].shown_parameters]
            if divided and (method.in_memory or not last.reads_rows):
                text = f"reads its rows in one process, and {divided[0]} has workers: `exclude` it"
                yield ("methods", label), text

    @property
    def scope(self) -> Scope:
        """The names that the config sees."""
        return self._scope

    @property
    def reported_path(self) -> Path | None:
        """The file with the paper's numbers."""
        return reported_files(self._folder)[self.reported] if self.reported else None

    @property
    def published(self) -> dict[str, str]:
        """The labels of the data sets of the catalogue, with their names."""
        return {
            label: entry.name
            for label, entry in self.datasets.items()
            if entry.name is not None and entry.name not in self.scope.datasets
        }

    @property
    def named_metrics(self) -> set[str]:
        """All metrics that are shown, compared with reported ones or used by claims."""
        lists = [
            self.metrics,
            self.verdict,
            self.drift,
            self.table.metrics if self.table else [],
            self.best.metrics if self.best else [],
            [c.check.metric for c in self.claims],
            *(figure.metrics for figure in self.figures),
            *([d.ratio, d.baseline_metric or d.ratio] for d in self.derived.values()),
        ]
        return {name for names in lists for name in names}

    @property
    def shows_times(self) -> bool:
        """Whether times, or metrics derived from them, are among the results."""
        shown = [*self.metrics, *(m for figure in self.figures for m in figure.metrics)]
        shown += self.table.metrics if self.table is not None else []
        shown += [claim.check.metric for claim in self.claims]
        sources = [self.derived[name].ratio for name in shown if name in self.derived]
        return any(is_time(name) for name in [*shown, *sources])

    @property
    def compared(self) -> list[str]:
        """The methods other than baselines."""
        return [label for label, entry in self.methods.items() if not entry.baseline]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The varied parameters, which are labels of results, with all their values."""
        return axes_of([*self.datasets.values(), *self.kernels.values(), *self.methods.values()])

    def wants(self, labels: Mapping[str, Any]) -> bool:
        """Whether a combination of labels is run, as ``only`` and ``exclude`` say."""

        def among(combinations: Iterable[Mapping[Any, str]]) -> bool:
            return any(all(labels.get(k) == v for k, v in one.items()) for one in combinations)

        return (not self.only or among(self.only)) and not among(self.exclude)

    @property
    def layout(self) -> TableSpec:
        """The layout of the table: labels that vary and that it does not name are rows.

        Otherwise one of several results would stand for all.
        """
        spec = self.table or TableSpec()
        kernels = self.kernels.values()
        several = [e for e in kernels if any(v.is_several for v in e.parameters.values())]
        labels = ["kernel"] if several or len(kernels) > 1 else []
        for entry in (*self.datasets.values(), *self.methods.values()):
            labels += [name for name, v in entry.shown_parameters.items() if v.is_several]
        shown = {*spec.each, *spec.rows, *spec.columns}
        hidden = [label for label in dict.fromkeys(labels) if label not in shown]
        # the kernel before the method, as in the order of the trials
        at = spec.rows.index("method") if "method" in spec.rows else len(spec.rows)
        rows = [*spec.rows[:at], *(k for k in hidden if k == "kernel"), *spec.rows[at:]]
        rows += [label for label in hidden if label != "kernel"]
        return spec.model_copy(update={"rows": rows})


def _table_fault(path: Path, names: Names) -> str:
    """Say what is wrong with a file of reported numbers; its columns may be labels of results."""
    needed = {"dataset", "method", "metric", "mean"}
    allowed, line = {*names.of("label"), *needed, "std"}, 1
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if not needed <= {*(reader.fieldnames or ())} <= allowed:
                return f"{path}:1: needs {', '.join(needed)}; may have {', '.join(allowed)}"
            for row in reader:
                line = reader.line_num
                if None in row or None in row.values():
                    raise ValueError("not as many fields as the first line")
                if not all(isfinite(float(row.get(key) or 0)) for key in ("mean", "std")):
                    raise ValueError("a number is not finite")
    except (OSError, ValueError, csv.Error) as error:
        return f"{path}:{line}: {error}"
    return ""


class LoadedExperiment(BaseModel):
    """A checked config with its path, profile and settings (``key=value``)."""

    model_config = ConfigDict(frozen=True)

    name: str
    path: Path
    profile: str
    config: ExperimentConfig
    settings: tuple[str, ...] = ()

    @property
    def indicative(self) -> bool:
        """Whether it is run under a profile: a smaller version, from which no verdict is drawn."""
        return self.profile != DEFAULT_PROFILE

    @property
    def plugins(self) -> tuple[Path, ...]:
        """The absolute paths of the plug-in files that the config names."""
        return tuple(p.path for p in self.config.scope.plugins if p.path is not None)
