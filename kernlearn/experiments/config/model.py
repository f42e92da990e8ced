"""What an experiment's YAML may say: one model a section, unknown keys refused."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PrivateAttr, model_validator

from kernlearn.experiments.config.claims import Claim
from kernlearn.experiments.config.sections import Count, Execution, Fraction, Section
from kernlearn.experiments.registry import BUILT_IN, TASKS, Scope
from kernlearn.registration import Kind

Scaling = Literal["zscore", "minmax", "max_norm", "unit_norm"]
if TYPE_CHECKING:
    Task = str
else:
    Task = Literal[tuple(TASKS)]


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
        default=None, description="a file of one's own, named from the config's folder"
    )
    target: str | int | None = Field(
        default=None, description="the column of `file` to predict; by default the last"
    )
    generator: str | None = Field(
        default=None, description="name of a generator instead of a data set"
    )
    nominal: Literal["ordinal", "onehot"] = "ordinal"
    missing: Literal["drop", "mean", "most_frequent", "error"] = Field(
        default="drop", description="what becomes of rows with missing entries"
    )
    binarize: Literal["random"] | list[str] | None = Field(
        default=None, description="make two classes: a random half positive, or the classes named"
    )
    classes: Annotated[list[str], Field(min_length=2)] | None = Field(
        default=None, description="classes kept; rows of the others are left out"
    )
    sample: Count | None = Field(
        default=None, description="a random part of so many rows, the same in all splits"
    )
    scale: list[Scaling] | None = Field(default=None, description="instead of the protocol's")
    bins: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="cut a real target into so many grades of equal frequency"
    )
    optional: bool = Field(default=False, description="run without it where it is not found")


class KernelEntry(_OpenSection):
    """A kernel class with its parameters."""

    kernel: str


class MethodEntry(_OpenSection):
    """An estimator with its parameters.

    A parameter is a value; a list, which makes one method a value; ``{select: [...]}``,
    chosen on a validation part; or ``{by_dataset: {name: value, default: value}}``.
    """

    estimator: str
    baseline: bool = Field(
        default=False, description="not of the paper: shown under a heading of its own"
    )
    optional: bool = Field(
        default=False, description="run without it where its library is not installed"
    )


class Protocol(Section):
    """How data is cut and scaled and how parameters are chosen."""

    splits: Annotated[int, Field(ge=1, le=10_000)] = 5
    train: Fraction = 0.6
    folds: Literal["published"] | Annotated[int, Field(ge=3)] | None = Field(
        default=None,
        description="cross-validation instead of random splits: as many folds, or the data "
        "set's own; fold k is the test part, the one before it is held out",
    )
    max_train: Count | None = None
    max_test: Count | None = None
    scale: list[Scaling] = []
    scale_target: Literal["max_abs", "zscore"] | None = Field(
        default=None, description="what real targets are divided by, learnt on the training part"
    )
    validation: Fraction = Field(
        default=0.2, description="share of the training part for `select`"
    )
    holdout: Fraction | None = Field(
        default=None,
        description="share of all rows on which parameters are chosen instead: "
        "methods are then fitted on the training part alone",
    )
    select_by_mean: Literal[True] | None = Field(
        default=None,
        description="choose the parameters under `select` by their mean score over all splits, "
        "once for all, instead of on each split",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    threads: Count = 1

    @model_validator(mode="after")
    def _leaves_a_test_part(self) -> "Protocol":
        if isinstance(self.folds, int) and self.splits > self.folds:
            raise ValueError(f"{self.folds} folds make no more than {self.folds} splits")
        if self.folds is not None and self.holdout is not None:
            raise ValueError("folds hold one of them out: leave out holdout")
        if self.holdout is not None and self.train + self.holdout >= 1:
            raise ValueError("train and holdout together must leave a test part: less than 1")
        return self


class Derived(Section):
    """A metric computed from others: how many times less than a baseline's."""

    ratio: str = Field(description="the metric in the denominator")
    baseline: str = Field(description="the method whose metric is the numerator")
    baseline_metric: str | None = Field(default=None, description="if it is another than `ratio`")


class TableSpec(Section):
    """The layout of the printed table."""

    each: list[str] = Field(default=[], description="one table a value of these labels")
    rows: list[str] = ["dataset", "method"]
    columns: list[str] = []
    metrics: list[str] = []


class FigureSpec(Section):
    """A chart of metrics against a varied parameter."""

    title: str = ""
    x: str
    metrics: list[str]
    panels: list[str] = Field(default=[], description="one panel a value of these labels")
    per_row: Count = Field(default=4, description="panels side by side")
    color: str = "method"
    dash: str | None = None
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] | dict[str, Literal["linear", "log"]] = "linear"


class Tolerance(Section):
    """When a measured mean counts as the reported one; `reports.verdicts` has the rule."""

    absolute: Annotated[float, Field(ge=0)] | None = None
    relative: Annotated[float, Field(ge=0)] | None = None
    level: Fraction | None = Field(
        default=None, description="of the test that lets chance explain what is beyond"
    )
    reported_splits: Annotated[int, Field(ge=2)] | None = Field(
        default=None, description="how many splits the reported means and deviations are over"
    )
    up_to: Annotated[float, Field(ge=1)] = Field(
        default=2, description="times the tolerance that chance may explain at most"
    )

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tolerance":
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give either absolute or relative")
        if self.level is None and {"reported_splits", "up_to"} & self.model_fields_set:
            raise ValueError("reported_splits and up_to go with level")
        return self


class Drift(Section):
    """How far a mean may lie from the one that it is checked against: the largest counts."""

    absolute: Annotated[float, Field(ge=0)] = 0
    relative: Annotated[float, Field(ge=0)] = 0
    spread: Annotated[float, Field(ge=0)] = Field(
        default=0, description="in standard deviations over the splits"
    )


class BestSpec(Section):
    """Which cells are set in bold: the best, and what is not significantly worse.

    A paired t-test over the splits, as the thesis' tables have it. Baselines are left out.
    """

    metrics: Annotated[list[str], Field(min_length=1)]
    within: list[str] = Field(
        default=["dataset"], description="labels that are the same for all that is compared"
    )
    level: Fraction = 0.05


#: Keys beside the name of a component, which none of its parameters can have.
RESERVED_KEYS: dict[Kind, set[str]] = {
    "estimator": set(MethodEntry.model_fields) - {"estimator"},
    "kernel": set(KernelEntry.model_fields) - {"kernel"},
    "dataset": set(DatasetEntry.model_fields),
    "metric": set(),
}


def _by_name(value: Any) -> Any:
    """Let a plain list of names stand for a mapping without options."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {v: {} for v in value}
    if isinstance(value, dict):
        return {k: {} if v is None else v for k, v in value.items()}
    return value


class ExperimentConfig(Section):
    """One experiment: a product of data sets, kernels, methods and splits.

    Attributes
    ----------
    title, source : str
        What it is and the paper, table or figure it re-measures.
    task : str
        What is done with a method, and so which metrics there are: "classification",
        "bipartite_ranking", "regression", "ordinal", "ranking", "kernel_approximation",
        "rademacher_complexity" or "dataset_statistics".
    plugins : list of str
        Files that register what the config names besides, see :mod:`kernlearn.plugins`.
    datasets, kernels, methods : dict
        Label to entry, in the order of the table.
    only : list of dict
        If given, the combinations of labels that are run; others are left out.
    metrics : list of str
        The metrics shown, measured or derived.
    """

    title: Annotated[str, Field(min_length=1)]
    source: str = ""
    task: Task = "classification"
    plugins: list[str] = Field(
        default=[],
        description="Python files of one's own methods, kernels, data sets and metrics, named "
        "from the config's folder; they are run",
    )
    datasets: Annotated[dict[str, DatasetEntry], BeforeValidator(_by_name), Field(min_length=1)]
    kernels: Annotated[dict[str, KernelEntry], BeforeValidator(_by_name)] = {}
    methods: Annotated[dict[str, MethodEntry], BeforeValidator(_by_name), Field(min_length=1)]
    only: list[dict[str, str]] = []
    protocol: Protocol = Protocol()
    metrics: Annotated[list[str], Field(min_length=1)]
    derived: dict[str, Derived] = {}
    execution: Execution = Execution()
    table: TableSpec | None = None
    figures: list[FigureSpec] = []
    reported: str | None = Field(default=None, description="file of the paper's numbers")
    verdict: dict[str, Tolerance] = {}
    variant_of: str | None = Field(
        default=None,
        description="the config whose reported numbers this one measures again in another way; "
        "totals count them once",
    )
    drift: dict[str, Drift] = Field(
        default={}, description="by metric, what `kernlearn check` allows instead of its own rule"
    )
    best: BestSpec | None = None
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    profiles: dict[str, dict[str, Any]] = {}
    _scope: Scope = PrivateAttr(default_factory=lambda: BUILT_IN)

    def model_post_init(self, context: Any) -> None:
        """Take the names that the config sees from the context of its validation."""
        self._scope = (context or {}).get("scope", BUILT_IN)

    @property
    def scope(self) -> Scope:
        """What the names in the config stand for."""
        return self._scope

    @property
    def published(self) -> dict[str, str]:
        """The label of each data set of the catalogue, with its name there."""
        named = {
            label: entry.name or label
            for label, entry in self.datasets.items()
            if entry.generator is None and entry.file is None
        }
        return {k: name for k, name in named.items() if name not in self.scope.datasets}

    @property
    def named_metrics(self) -> set[str]:
        """Every metric that is shown, judged or compared."""
        lists = [
            self.metrics, self.verdict, self.drift, self.table.metrics if self.table else [],
            self.best.metrics if self.best else [], [c.check.metric for c in self.claims],
            *(figure.metrics for figure in self.figures),
            *([d.ratio, d.baseline_metric or d.ratio] for d in self.derived.values()),
        ]  # fmt: skip
        return {name for names in lists for name in names}

    @property
    def compared(self) -> list[str]:
        """The methods that are compared with each other: all but the baselines."""
        return [label for label, entry in self.methods.items() if not entry.baseline]


class LoadedExperiment(BaseModel):
    """A checked config, where it came from, and what was set in it (``key=value``).

    What was set under ``execution`` is in the config alone.
    """

    model_config = ConfigDict(frozen=True)

    name: str
    path: Path
    profile: str
    config: ExperimentConfig
    settings: tuple[str, ...] = ()

    @property
    def plugins(self) -> tuple[Path, ...]:
        """The files that the config names as plug-ins, with their whole paths."""
        return tuple(p.path for p in self.config.scope.plugins if p.path is not None)
