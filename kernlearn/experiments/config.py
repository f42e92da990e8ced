"""What an experiment's YAML may say: one model a section, unknown keys refused."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Scaling = Literal["zscore", "minmax", "max_norm", "unit_norm"]
Task = Literal[
    "classification",
    "bipartite_ranking",
    "regression",
    "ordinal",
    "ranking",
    "kernel_approximation",
    "rademacher_complexity",
    "dataset_statistics",
]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _OpenSection(BaseModel):
    """A section whose further keys are parameters of the component that it names."""

    model_config = ConfigDict(extra="allow", frozen=True)

    @property
    def parameters(self) -> dict[str, Any]:
        """The keys that belong to the component."""
        return dict(self.model_extra or {})


class DatasetEntry(_OpenSection):
    """A data set of the catalogue, a file of one's own, or a generator with its parameters."""

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

    @property
    def is_published(self) -> bool:
        """Whether the catalogue's card of ``name`` describes the data."""
        return self.generator is None and self.file is None


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


class Protocol(_Section):
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


class Derived(_Section):
    """A metric computed from others: how many times less than a baseline's."""

    ratio: str = Field(description="the metric in the denominator")
    baseline: str = Field(description="the method whose metric is the numerator")
    baseline_metric: str | None = Field(default=None, description="if it is another than `ratio`")


class TableSpec(_Section):
    """The layout of the printed table."""

    each: list[str] = Field(default=[], description="one table a value of these labels")
    rows: list[str] = ["dataset", "method"]
    columns: list[str] = []
    metrics: list[str] = []


class FigureSpec(_Section):
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


class Tolerance(_Section):
    """When a measured mean counts as the reported one."""

    absolute: Annotated[float, Field(ge=0)] | None = None
    relative: Annotated[float, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tolerance":
        if (self.absolute is None) == (self.relative is None):
            raise ValueError("give either absolute or relative")
        return self


#: What a claim can ask of one or more methods.
QUESTIONS = ("better", "not_better", "not_worse", "indistinguishable", "among_best", "below")


class BestSpec(_Section):
    """Which cells are set in bold: the best, and what is not significantly worse.

    A paired t-test over the splits, as the thesis' tables have it. Baselines are left out.
    """

    metrics: Annotated[list[str], Field(min_length=1)]
    within: list[str] = Field(
        default=["dataset"], description="labels that are the same for all that is compared"
    )
    level: Fraction = 0.05


class Check(_Section):
    """A comparison of methods that decides a claim.

    Methods are compared within cells: the same data set, kernel and parameters; with
    ``compare`` it is the values of another label, such as the kernel, that are compared within
    cells in which all else is the same. Exactly one of :data:`QUESTIONS` names those that the
    claim is about.
    """

    metric: str
    compare: str = Field(default="method", description="label whose values are compared")
    better: list[str] = []
    not_better: list[str] = []
    not_worse: list[str] = []
    indistinguishable: list[str] = []
    among_best: list[str] = []
    below: float | None = Field(default=None, description="what the metric stays under")
    than: list[str] = []
    where: dict[str, Any] = Field(default={}, description="labels, each a value or several")
    over: Literal["all", "most", "average"] | Count = Field(
        default="average", description="which cells; a number: in so many of them at least"
    )
    by: float = Field(default=0.0, description="difference that is the least to count")
    level: Fraction = 0.05

    @property
    def question(self) -> str:
        """Which of the questions is asked."""
        return self._questions()[0]

    def _questions(self) -> list[str]:
        return [name for name in QUESTIONS if getattr(self, name) not in ([], None)]

    @model_validator(mode="after")
    def _one_question(self) -> "Check":
        if len(self._questions()) != 1:
            raise ValueError(f"give one of {', '.join(QUESTIONS[:-1])} and {QUESTIONS[-1]}")
        alone = self.question in ("among_best", "below")
        if bool(self.than) == alone:
            raise ValueError(
                "than goes with every question but among_best and below, and only with those"
            )
        if self.below is not None and self.over != "all":
            raise ValueError("below is decided over: all")
        if self.among_best and self.over == "average":
            raise ValueError("among_best needs over: all or over: most")
        if self.among_best and self.compare != "method":
            raise ValueError("among_best compares methods only")
        if self.not_better and self.over != "average":
            raise ValueError("not_better is decided over: average")
        return self


class Claim(_Section):
    """A sentence of the paper, and the comparison that decides it."""

    says: Annotated[str, Field(min_length=1)]
    section: str = ""
    check: Check


def _by_name(value: Any) -> Any:
    """Let a plain list of names stand for a mapping without options."""
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return {v: {} for v in value}
    if isinstance(value, dict):
        return {k: {} if v is None else v for k, v in value.items()}
    return value


class ExperimentConfig(_Section):
    """One experiment: a product of data sets, kernels, methods and splits.

    Attributes
    ----------
    title, source : str
        What it is and the paper, table or figure it re-measures.
    task : str
        What is done with a method, and so which metrics there are: "classification",
        "bipartite_ranking", "regression", "ordinal", "ranking", "kernel_approximation",
        "rademacher_complexity" or "dataset_statistics".
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
    datasets: Annotated[dict[str, DatasetEntry], BeforeValidator(_by_name), Field(min_length=1)]
    kernels: Annotated[dict[str, KernelEntry], BeforeValidator(_by_name)] = {}
    methods: Annotated[dict[str, MethodEntry], BeforeValidator(_by_name), Field(min_length=1)]
    only: list[dict[str, str]] = []
    protocol: Protocol = Protocol()
    metrics: Annotated[list[str], Field(min_length=1)]
    derived: dict[str, Derived] = {}
    table: TableSpec | None = None
    figures: list[FigureSpec] = []
    reported: str | None = Field(default=None, description="file of the paper's numbers")
    verdict: dict[str, Tolerance] = {}
    best: BestSpec | None = None
    claims: list[Claim] = []
    notes: dict[str, str] = {}
    profiles: dict[str, dict[str, Any]] = {}

    @property
    def compared(self) -> list[str]:
        """The methods that are compared with each other: all but the baselines."""
        return [label for label, entry in self.methods.items() if not entry.baseline]


class LoadedExperiment(BaseModel):
    """A checked config and where it came from."""

    model_config = ConfigDict(frozen=True)

    name: str
    path: Path
    profile: str
    config: ExperimentConfig
