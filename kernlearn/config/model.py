"""The model of a config: one class per section, unknown keys refused."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from kernlearn.config import checks
from kernlearn.config.beside import reported_fault, reported_files, variant_fault
from kernlearn.config.checks import Count, Fraction, MetricName, Names, Section
from kernlearn.config.claims import Claim
from kernlearn.config.costs import is_time
from kernlearn.config.entries import DatasetEntry
from kernlearn.config.measured import TASKS
from kernlearn.config.methods import KernelEntry, MethodEntry, takes_kernel
from kernlearn.config.protocol import Protocol
from kernlearn.config.registry import BUILT_IN, Scope
from kernlearn.config.stream_methods import stream_config_faults
from kernlearn.datasets.yaml import KeyPath

if TYPE_CHECKING:
    TaskName = str
else:
    TaskName = Literal[tuple(TASKS)]


class Derived(Section):
    """A metric computed from others: the ratio of a baseline's metric to a method's."""

    ratio: checks.MeasuredMetric = Field(description="the metric in the denominator")
    baseline: checks.MethodLabel = Field(description="the method whose metric is the numerator")
    baseline_metric: checks.MeasuredMetric | None = Field(
        default=None, description="metric of the baseline, if not the same"
    )


class TableSpec(Section):
    """The layout of the printed table."""

    each: list[checks.TableLabel] = Field(
        default=[], description="labels with one table per combination of values"
    )
    rows: list[checks.TableLabel] = Field(
        default=["dataset", "method"], description="labels with a row per combination of values"
    )
    columns: list[checks.TableLabel] = Field(default=[], description="the same of columns")
    metrics: list[MetricName] = Field(default=[], description="by default all of the config")


class FigureSpec(Section):
    """A chart of metrics against a varied parameter."""

    title: str = Field(default="", description="by default what is drawn against what")
    x: checks.TableLabel = Field(description="the label on the horizontal axis")
    metrics: list[str] = Field(description="what is drawn, a row of panels each")
    panels: list[checks.TableLabel] = Field(
        default=[], description="labels with one panel per combination of values"
    )
    per_row: Count = Field(default=4, description="number of panels per row")
    only: list[checks.Combination] = Field(
        default=[], description="the combinations of labels to draw, by default all"
    )
    color: checks.TableLabel = Field(
        default="method", description="the label that lines have a colour for"
    )
    dash: checks.TableLabel | None = Field(
        default=None, description="the label that lines are dashed for"
    )
    x_scale: Literal["linear", "log"] = Field(default="linear", description="that of the axis")
    y_scale: Literal["linear", "log"] | dict[str, Literal["linear", "log"]] = Field(
        default="linear", description="that of the metrics, or by metric"
    )


class Tolerance(Section):
    """When a measured mean agrees with the reported one, see `reports.verdicts`."""

    absolute: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="largest difference of the means; this or `relative` is given"
    )
    relative: Annotated[float, Field(ge=0)] | None = Field(
        default=None, description="largest difference as a share of the reported mean"
    )
    level: Fraction | None = Field(
        default=None, description="significance level of the test by which chance may explain more"
    )
    reported_splits: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="number of splits behind the reported means and deviations"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tolerance":
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give either absolute or relative")
        if self.level is None and self.reported_splits is not None:
            raise ValueError("reported_splits goes with level")
        return self


class Drift(Section):
    """How far a mean may lie from its baseline value: the largest of the three applies."""

    absolute: Annotated[float, Field(ge=0)] = Field(default=0, description="in the metric")
    relative: Annotated[float, Field(ge=0)] = Field(
        default=0, description="as a share of the baseline value"
    )
    spread: Annotated[float, Field(ge=0)] = Field(
        default=0, description="in standard deviations over the splits"
    )


class BestSpec(Section):
    """Which cells are set in bold: the best, and those that are not significantly worse.

    By a paired t-test over the splits, as in the thesis' tables. Baselines are left out.
    """

    metrics: Annotated[list[checks.MeasuredMetric], Field(min_length=1)] = Field(
        description="those whose best cells are marked"
    )
    within: list[checks.Label] = Field(
        default=["dataset"], description="labels within whose values the methods are compared"
    )
    level: Fraction = Field(default=0.05, description="significance level of the test")


def _new_metric(name: str, names: Names) -> str | None:
    taken = name in names.scope.metrics
    return "is the name of a measured metric; take another" if taken else None


def by_name(value: Any) -> Any:
    """Turn a list of names, and entries without options, into a mapping of mappings."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {v: {} for v in value}
    if isinstance(value, dict):
        return {k: {} if v is None else v for k, v in value.items()}
    return value


def _named_by_label(value: Any) -> Any:
    """Give data sets without a name, file or generator their label as name."""
    value = by_name(value)
    for label, entry in value.items() if isinstance(value, dict) else ():
        if isinstance(entry, dict) and not {"name", "file", "generator"} & entry.keys():
            value[label] = {**entry, "name": label}
    return value


class Fork(Section):
    """A choice that agrees with the paper's numbers, and what else could have been chosen.

    Such an agreement is in-sample: the numbers that come back include those that decided.
    """

    choice: Annotated[str, Field(min_length=1, description="what was decided")]
    reason: Annotated[str, Field(min_length=1, description="the numbers that decided it")]
    alternatives: Annotated[dict[str, list[str]], Field(min_length=1)] = Field(
        description="by name, the settings (key=value) that make this choice instead"
    )
    only: list[checks.Combination] = Field(
        default=[], description="the combinations of labels to compare, by default all"
    )
    splits: Count | None = Field(default=None, description="by default those of the protocol")


class ExperimentConfig(Section):
    """One experiment: a product of data sets, kernels, methods and splits.

    Attributes
    ----------
    task : str
        What is done with the methods, which determines the metrics.
    plugins : list of str
        Files that register further names, see :mod:`kernlearn.plugins`.
    datasets, kernels, methods : dict
        Entries by label, in the order of the table.
    protocol : Protocol
        How data are split and scaled, and how parameters are chosen.
    metrics : list of str
        Measured or derived metrics to show.
    derived : dict
        Metrics computed from measured ones, by name.
    verdict : dict
        By metric, when a measured mean agrees with the reported one.
    claims : list of Claim
        What the paper states, with the checks that decide it.
    notes : dict of str to str
        Remarks that the report shows, by what they are about.
    profiles : dict
        By name, changes to the config, such as fewer splits for a quick run.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> config = load_config("demo_ordinal").config
    >>> config.task, config.metrics, list(config.methods)
    ('ordinal', ['aae'], ['ORLand', 'KR'])
    >>> config.protocol.splits, config.protocol.train
    (10, 0.7)
    """

    model_config = ConfigDict(defer_build=False)

    title: Annotated[str, Field(min_length=1, description="the heading of reports")]
    source: str = Field(default="", description="the paper, table or figure that it repeats")
    task: TaskName = "classification"
    plugins: list[str] = Field(
        default=[],
        description="Python files with user-defined methods, kernels, data sets and metrics, "
        "relative to the config's folder; they are executed",
    )
    datasets: Annotated[
        dict[str, DatasetEntry], BeforeValidator(_named_by_label), Field(min_length=1)
    ]
    kernels: Annotated[dict[str, KernelEntry], BeforeValidator(by_name)] = {}
    methods: Annotated[dict[str, MethodEntry], BeforeValidator(by_name), Field(min_length=1)]
    defaults: Literal["papers"] | None = Field(
        default=None,
        description="`papers`: parameters that a method does not mention have the values of the "
        "papers' experiments, where the estimators' own defaults are others by now",
    )
    only: list[checks.Combination] = Field(
        default=[], description="the combinations of labels that are run, by default all"
    )
    exclude: list[checks.Combination] = Field(default=[], description="those that are not run")
    protocol: Protocol = Protocol()
    metrics: Annotated[list[MetricName], Field(min_length=1)]
    derived: dict[Annotated[str, checks.known(_new_metric, "fault")], Derived] = {}
    table: TableSpec | None = Field(default=None, description="how the table is laid out")
    figures: list[FigureSpec] = Field(default=[], description="what is drawn")
    reported: Annotated[str, checks.known(reported_fault, "fault")] | None = Field(
        default=None,
        description="the paper's numbers: a CSV file of kernlearn or beside the config",
    )
    verdict: dict[MetricName, Tolerance] = {}
    proposed: list[checks.MethodLabel] = Field(
        default=[],
        description="the methods that the paper proposes; a better number of any other one is "
        "counted apart, since it weakens what the paper concludes",
    )
    not_comparable: dict[checks.DatasetLabel, str] = Field(
        default={}, description="data sets that are not the paper's, with the reason"
    )
    variant_of: Annotated[str, checks.known(variant_fault, "fault")] | None = Field(
        default=None,
        description="the config with the same reported numbers, which this one measures in "
        "another way; totals count them once",
    )
    drift: dict[MetricName, Drift] = Field(
        default={}, description="by metric, what `kernlearn check` allows instead of its own rule"
    )
    best: BestSpec | None = Field(default=None, description="the cells that are set in bold")
    claims: list[Claim] = []
    forks: list[Fork] = Field(
        default=[], description="choices that agree with the paper's numbers, with alternatives"
    )
    notes: dict[str, str] = {}
    profiles: dict[str, dict[str, Any]] = {}
    _scope: Scope
    _folder: Path | None

    def model_post_init(self, context: Any) -> None:
        """Take scope and folder from the context of the validation."""
        self._scope = (context or {}).get("scope", BUILT_IN)
        self._folder = getattr((context or {}).get("names"), "folder", None)

    @model_validator(mode="after")
    def _measurable(self) -> "ExperimentConfig":
        asked = [m.name for m in self.scope.own_metrics(self.named_metrics) if m.scorer]
        if asked and self.protocol.select_by_mean:
            text = f"{asked[0]} cannot be measured with select_by_mean: scorers need models"
            checks.refuse([(("metrics",), text)])
        if self.protocol.select_by_mean and not (self.protocol.holdout or self.protocol.folds):
            text = "needs rows that are held out of all splits: give holdout, or folds"
            checks.refuse([(("protocol", "select_by_mean"), text)])
        if self.protocol.compare_once:
            scales: dict[KeyPath, Any] = {("protocol", "scale"): self.protocol.scale}
            scales |= {("datasets", k, "scale"): e.scale for k, e in self.datasets.items()}
            checks.refuse(checks.not_compared_once(self.task, scales))
        checks.refuse(stream_config_faults(self))
        return self

    @model_validator(mode="after")
    def _kernels_are_used(self) -> "ExperimentConfig":
        if self.task != "kernel_approximation" and not any(
            takes_kernel(entry, self.scope) for entry in self.methods.values()
        ):
            text = "is not used: no method takes a kernel of it"
            checks.refuse((("kernels", label), text) for label in self.kernels)
        return self

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


#: Name of a config without the changes of a profile.
DEFAULT_PROFILE = "full"


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
