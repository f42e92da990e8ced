"""The model of a config: one class for each section; unknown keys are refused."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import compress
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, PrivateAttr, model_validator

from kernlearn import datasets
from kernlearn.config.claims import Answer, Claim
from kernlearn.config.names import BUILT_IN, Scope, is_time
from kernlearn.config.values import (
    Combination,
    DatasetLabel,
    Fraction,
    Label,
    MeasuredMetric,
    MethodLabel,
    MetricName,
    Section,
    TableLabel,
    Value,
    named,
    unfold,
    varied,
)
from kernlearn.datasets.card import Reading
from kernlearn.datasets.files import shipped
from kernlearn.plugins import Registered

#: Name of a config without the changes of a profile.
DEFAULT_PROFILE = "full"
# Keys of which a setting leaves the numbers those of the full protocol.
_HARMLESS = {"seed", "threads", "title", "source", "metrics", "table", "figures"}
_HARMLESS |= {"best", "notes", "drift"}


def reported_files(folder: Path | None) -> dict[str, Path]:
    """Return the files of reported numbers by name; those of kernlearn come first."""
    folders = [*([] if folder is None else [folder]), shipped("reported")]
    return {path.name: path for place in folders for path in sorted(place.glob("*.csv"))}


Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Scaling = Literal["zscore", "zscore_numbers", "robust", "minmax", "max_norm", "unit_norm"]
# The tasks of a file; other tasks take it as it is.
_OF_FILES = ("classification", "regression", "ordinal", "ranking", "similarity")
# The keys that change the data that are read, besides those that say where and how to read.
_OF_DATA = {"name", "generator", "nominal", "missing", "drop", "dense", "grades"}
_OF_DATA |= {"binarize", "bins", "classes", "sample", "groups", "time"}
# A parameter of a method.
_Parameter = Annotated[Any, PlainValidator(Value.parse)]
# A parameter of data or of a kernel: a value, or a list of several.
_OneOrList = Annotated[Any, PlainValidator(lambda raw: Value.parse(raw, ("list",)))]


class Entry(BaseModel):
    """A section whose further keys are parameters of the component that it names."""

    model_config = ConfigDict(
        extra="allow", frozen=True, defer_build=True, use_attribute_docstrings=True
    )
    __pydantic_extra__: dict[str, _OneOrList]

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """The keys that belong to the component."""
        return self.own

    @property
    def own(self) -> dict[str, Value]:
        """The keys that are none of the section's."""
        return dict(self.model_extra or {})

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters under their labels in results."""
        return self.parameters


class DatasetEntry(Reading, Entry):
    """A data set of the catalogue or of a plug-in, a file, or a generator with its parameters."""

    name: str | None = None
    """Name in the catalogue, if the label is another."""
    file: str | None = None
    """A file of the user, relative to the config's folder."""
    generator: str | None = None
    """Name of a generator instead of a data set."""
    binarize: Literal["random"] | list[str] | None = None
    """Make two classes: a random half is positive, or the classes named."""
    classes: Annotated[list[str], Field(min_length=2)] | None = None
    """Classes to keep; rows of other classes are left out."""
    sample: Count | None = None
    """A random subsample of so many rows, the same in all splits."""
    scale: list[Scaling] | None = None
    """Replaces the protocol's."""
    bins: Annotated[int, Field(ge=2)] | None = None
    """Number of grades of equal frequency into which a real target is cut."""
    optional: bool = False
    """Leave it out if it is not found."""

    @model_validator(mode="after")
    def _one_of_three(self) -> "DatasetEntry":
        if sum(one is not None for one in (self.name, self.file, self.generator)) > 1:
            raise ValueError("give one of name, file and generator")
        return self

    @property
    def plain(self) -> dict[str, Any]:
        """What the key of a trial has of it: all that changes the data that are read."""
        return self.model_dump(include=_OF_DATA, exclude_defaults=True)

    @property
    def of_card(self) -> bool:
        """Whether it is a data set of the catalogue, or a file that is a card."""
        if self.file is not None:
            return self.file.endswith((".yaml", ".yml"))
        return self.generator is None

    def is_there(self, folder: Path | None) -> bool:
        """Whether its file, if it has one, is in the config's folder."""
        if self.file is None:
            return True
        path = Path(folder or "", self.file)
        # a folder of LETOR, or a file in an archive
        return path.is_dir() or any(place.is_file() for place in (path, *path.parents))

    def card(self, folder: Path | None) -> datasets.Card:
        """Return its card, which may be a file in the config's folder."""
        if self.file is None:
            return datasets.find_card(str(self.name))
        return datasets.read_card(Path(folder or "", self.file))

    def maker(self, scope: Scope) -> Registered | None:
        """Return the generator, or the function of a plug-in, that makes it; None of a file."""
        return scope.generators.get(self.generator or "") or scope.datasets.get(self.name or "")

    def nominal_in(self, scope: Scope) -> str:
        """Return how nominal columns are encoded: those of a user's data one-hot by default.

        Published results have the codes of the catalogue's data sets.
        """
        shipped = self.name is not None and datasets.is_shipped(self.name)
        return self.nominal or ("ordinal" if shipped or self.maker(scope) else "onehot")

    def arguments(self, task: str, folder: Path, scope: Scope) -> dict[str, Any]:
        """Return the arguments of :func:`kernlearn.datasets.load`."""
        if self.matrix is not None:
            task = "similarity"
        elif self.bins is not None:
            task = "regression"
        elif task == "bipartite_ranking":
            task = "classification"
        place = {"name": self.name if self.file is None else (folder / self.file).resolve()}
        of_target = {} if self.of_card or task not in _OF_FILES else {"task": task}
        how = self.model_dump(include={*Reading.model_fields}, exclude_defaults=True)
        if self.labels is not None:
            how["labels"] = (folder / self.labels).resolve()
        return place | of_target | how | {"nominal": self.nominal_in(scope)}


class KernelEntry(Entry):
    """A kernel with its parameters; a list of values makes kernels such as `rbf (sigma=1)`."""

    kernel: str
    """Its name, as `kernlearn list` has it."""

    def variants(self, label: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield each combination of the parameters with the label of its results."""
        for parameters, _ in unfold(self.parameters):
            values = ", ".join(f"{k}={parameters[k]}" for k in varied(self.parameters))
            yield f"{label} ({values})" if values else label, parameters


class EstimatorEntry(Entry):
    """An estimator with its parameters."""

    __pydantic_extra__: dict[str, _Parameter]

    arguments: dict[str, _Parameter] = {}
    """Further parameters, whose names are keys here, such as AdaBoost's `estimator`."""

    @property
    def own(self) -> dict[str, Value]:
        """The keys that are none of the section's, and those under `arguments`."""
        return {**super().own, **self.arguments}


class StepEntry(EstimatorEntry):
    """A step of a pipeline: an estimator with its parameters."""

    estimator: str
    """Its name, or the dotted name of its class."""
    name: str | None = None
    """Label of the step; by default the name of the class, lower case."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, step: Any) -> Any:
        return {"estimator": step} if isinstance(step, str) else step


class MethodEntry(EstimatorEntry):
    """An estimator with its parameters, or a pipeline of several.

    A parameter is a value; a list, which gives one method per value; ``{select: [...]}``, of
    which the best value on validation data is taken; or ``{by_dataset: {name: value, default:
    value}}``.
    """

    estimator: str | None = None
    """Name of an estimator, or package.module.Class."""
    steps: Annotated[list[StepEntry], Field(min_length=1)] | None = None
    """The steps of a pipeline, instead of an estimator: names of estimators, or entries with
    parameters."""
    dense: bool | None = None
    """Make sparse data dense, for an estimator that refuses it."""
    columns: Literal["raw"] | None = None
    """Pass the table as it is: a pandas frame with names, nominal columns as categories, unscaled
    and with missing entries in place (`missing: impute` keeps their rows)."""
    baseline: bool = False
    """Not in the paper: shown under a separate heading."""
    optional: bool = False
    """Leave it out if its library is not installed."""
    shown_as: dict[str, str] = {}
    """Labels of parameters in results, by parameter: methods whose parameters mean the same, such
    as a number of columns, then share a label."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "MethodEntry":
        if (self.steps is None) == (self.estimator is None):
            raise ValueError("give an estimator, or steps")
        if self.steps is not None and self.own:
            raise ValueError(f"give {', '.join(self.own)} to the step it belongs to")
        return self

    @cached_property
    def labelled_steps(self) -> "dict[str, StepEntry | MethodEntry]":
        """Each step by its label; a single estimator by ""."""
        if self.steps is None:
            return {"": self}
        # as scikit-learn's `make_pipeline` has it, unless they have names
        labels = [s.name or s.estimator.rpartition(".")[2].lower() for s in self.steps]
        return {
            one if labels.count(one) == 1 else f"{one}-{labels[: i + 1].count(one)}": step
            for i, (one, step) in enumerate(zip(labels, self.steps, strict=True))
        }

    @cached_property
    def parameters(self) -> dict[str, Value]:
        """The parameters; those of a step after its label and two underscores."""
        return {
            f"{label}__{key}" if label else key: value
            for label, step in self.labelled_steps.items()
            for key, value in step.own.items()
        }

    @property
    def shown_parameters(self) -> dict[str, Value]:
        """The parameters under their labels in results."""
        return self.relabelled(self.parameters)

    def relabelled(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters under their labels in results."""
        return {self.shown_as.get(name, name): value for name, value in parameters.items()}

    def components(self, scope: Scope) -> list[tuple[str, Registered]]:
        """Return the estimator of each step with the step's label, "" for a single estimator."""
        steps = self.labelled_steps.items()
        return [(label, scope.estimator(str(step.estimator))) for label, step in steps]

    def takes_kernel(self, scope: Scope) -> bool:
        """Whether it takes a kernel of the config's section, rather than none or its own."""
        takes = "" if self.estimator is None else scope.estimator(self.estimator).takes
        return bool(takes) and takes not in self.parameters

    def is_installed(self, scope: Scope) -> bool:
        """Whether the libraries that it needs are installed."""
        return not any(estimator.missing for _, estimator in self.components(scope))


def axes_of(entries: Iterable[Entry]) -> dict[str, list[Any]]:
    """Return the varied parameters of entries under their labels, with all their values."""
    axes: dict[str, list[Any]] = {}
    for entry in entries:
        for name, value in entry.shown_parameters.items():
            if value.varies:
                axes.setdefault(name, []).extend(value.candidates)
    return axes


class Protocol(Section):
    """How the data is split and scaled and how parameters are chosen."""

    splits: Annotated[int, Field(ge=1, le=10_000)] = 5
    """Number of random divisions into a training and a test part; with `folds` as many."""
    train: Fraction = 0.6
    """Share of the rows that is trained on."""
    folds: Literal["published"] | Annotated[int, Field(ge=3)] | None = None
    """Cross-validation instead of random splits: the number of folds, or those published with the
    data set; fold k is the test part, the one before it is held out. If `splits` is a multiple,
    folds are redrawn after each round."""
    refit: bool = False
    """With folds: train on all but the test part. For choices a share `validation` of these rows
    is held out, as of random splits, instead of a fold that no method trains on."""
    groups: str | int | None = None
    """The column of all files whose equal values mark rows that belong together, such as those of
    a patient: they are in one part, also if rows are held out. It is no feature."""
    stratify: bool = False
    """Whether all parts have the same shares of classes, by scikit-learn's stratified splits. In
    random splits, classes with too few rows for each part are divided as one class."""
    time: str | int | None = None
    """The column of all files with the time of each row, numbers or dates: each split trains on
    rows before those that it tests on (scikit-learn's TimeSeriesSplit). It is no feature."""
    gap: Annotated[int, Field(ge=0)] = 0
    """With time: the number of times before the test part, and before rows held out, that are not
    trained on, such as those whose targets are not known yet when one predicts."""
    max_train: Count | None = None
    """Most rows of the training part, for ranking most queries; of more a random sample, with
    `time` the latest."""
    max_test: Count | None = None
    """The same of the test part."""
    scale: list[Scaling] = []
    """Any of `zscore`, `zscore_numbers` (leaves columns of 0 and 1 as they are), `robust` (by the
    median and the quartiles), `minmax`, `max_norm` and `unit_norm`, learnt on the training part
    and applied in the order listed."""
    scale_target: Literal["max_abs", "zscore"] | None = None
    """Scaling of real targets, learnt on the training part."""
    validation: Fraction = 0.2
    """Share of the training part that `select` validates on."""
    holdout: Fraction | None = None
    """Share of all rows, with `time` of those before the test part, that is held out to choose
    parameters: methods are then fitted on the whole training part."""
    search: Literal["all", "halving"] = "all"
    """How `select` tries values: `all` on all rows, or by successive `halving`: all values on a
    ninth of the rows, the best third of them on a third, the best third of these on all."""
    select_by: MetricName | None = None
    """The metric that `select` goes by; by default the first score among `metrics`."""
    select_by_mean: Literal[True] | None = None
    """Choose the parameters under `select` once, by their mean score over all splits, instead of
    separately on each split."""
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0
    """What all random numbers of the experiment come from."""
    threads: Count = 1
    """Number of threads of a trial."""

    @property
    def plain(self) -> dict[str, Any]:
        """What the key of a trial has of it: all but the number of splits, and defaults."""
        return self.model_dump(exclude={"splits"}, exclude_defaults=True)

    @model_validator(mode="before")
    @classmethod
    def _takes_all_folds(cls, raw: Any) -> Any:
        folds = raw.get("folds") if isinstance(raw, dict) else None
        if isinstance(folds, (int, float)) and folds == folds // 1:  # 10.0 is 10
            return {"splits": int(folds), **raw}
        return raw

    @model_validator(mode="after")
    def _agrees(self) -> "Protocol":
        if isinstance(self.folds, int) and self.splits > self.folds and self.splits % self.folds:
            raise ValueError(f"{self.folds} folds make {self.folds} splits, or a multiple of it")
        if self.folds == "published" and (self.max_train or self.max_test):
            raise ValueError("published folds are taken whole: leave out max_train and max_test")
        if self.refit and (self.folds is None or self.select_by_mean):
            raise ValueError(
                "refit is for folds, without select_by_mean; random splits do so anyway"
            )
        if self.folds is not None and self.holdout is not None:
            raise ValueError("with folds one of them is held out: leave out holdout")
        if self.select_by_mean and not (self.holdout or self.folds):
            raise ValueError("select_by_mean needs rows held out of all splits: holdout or folds")
        if self.time is not None and (self.folds or self.groups or self.stratify):
            raise ValueError("time goes without folds, groups and stratify: leave them out")
        if self.gap and self.time is None:
            raise ValueError("gap is for splits by time")
        if self.time is not None and self.splits < 2:
            raise ValueError("time needs at least two splits")
        if self.groups is not None and self.stratify and not isinstance(self.folds, int):
            raise ValueError("groups and stratify together need a number of folds")
        if self.folds == "published" and (self.groups is not None or self.stratify):
            raise ValueError("published folds are as they are: leave out groups and stratify")
        if self.select_by_mean and self.search == "halving":
            raise ValueError("select_by_mean compares all values: leave out search")
        return self


# The metrics that tasks choose parameters by, or that order methods alike.
_CHOSEN_BY = {
    "classification": ("accuracy", "error_percent"),
    "bipartite_ranking": ("auc",),
    "regression": ("mse", "rmse"),
    "ordinal": ("aae",),
    "ranking": ("ndcg",),
}


class Derived(Section):
    """A metric computed from others: the ratio of a baseline's metric to a method's."""

    ratio: MeasuredMetric
    """The metric in the denominator."""
    baseline: MethodLabel
    """The method whose metric is the numerator."""
    baseline_metric: MeasuredMetric | None = None
    """Metric of the baseline, if not the same."""


class TableSpec(Section):
    """The layout of the printed table."""

    each: list[TableLabel] = []
    """Labels with one table per combination of values."""
    rows: list[TableLabel] = ["dataset", "method"]
    """Labels with a row per combination of values."""
    columns: list[TableLabel] = []
    """The same of columns."""
    metrics: list[MetricName] = []
    """By default all of the config."""


class FigureSpec(Section):
    """A chart of metrics against a varied parameter."""

    x: TableLabel
    """The label on the horizontal axis."""
    metrics: list[MetricName]
    """What is drawn, a row of panels each."""
    panels: list[TableLabel] = []
    """Labels with one panel per combination of values."""
    per_row: Count = 4
    """Number of panels per row."""
    color: TableLabel = "method"
    """The label that lines have a colour for."""
    dash: TableLabel | None = None
    """The label that lines are dashed for."""
    x_scale: Literal["linear", "log"] = "linear"
    """That of the axis."""
    y_scale: Literal["linear", "log"] | dict[MetricName, Literal["linear", "log"]] = "linear"
    """That of the metrics, or by metric."""


class Tolerance(Section):
    """When a measured mean agrees with the reported one, see `reports.verdicts`.

    Give one of `absolute`, `relative` and `factor`.
    """

    absolute: Annotated[float, Field(ge=0)] | None = None
    """Largest difference of the means."""
    relative: Annotated[float, Field(ge=0)] | None = None
    """Largest difference as a share of the reported mean."""
    factor: Annotated[float, Field(ge=1)] | None = None
    """Largest factor between the means, for times and speed-ups."""
    level: Fraction | None = None
    """Significance level of the test of a larger difference."""
    reported_splits: Annotated[int, Field(ge=2)] | None = None
    """Number of splits behind the reported means and deviations."""

    @model_validator(mode="after")
    def _one_of_two(self) -> "Tolerance":
        if [self.absolute, self.relative, self.factor].count(None) != 2:
            raise ValueError("give one of absolute, relative and factor")
        if self.factor is not None and self.level is not None:
            raise ValueError("a factor goes without level: what lies beyond it is no match")
        if self.level is None and self.reported_splits is not None:
            raise ValueError("reported_splits goes with level")
        return self


class BestSpec(Section):
    """Which cells are set in bold: the best, and those that are not significantly worse.

    The tests are for all pairs of methods (Holm), each with its best setting. A method that lacks
    a label of ``within`` is compared with those of every value, and has to be the best of all.
    Where no difference is shown nothing is bold.
    """

    metrics: Annotated[list[MeasuredMetric], Field(min_length=1)]
    """Those whose best cells are marked."""
    within: list[Label] = ["dataset"]
    """Labels within whose values the methods are compared."""
    level: Fraction = 0.05
    """Significance level of the test."""


class Fork(Section):
    """A choice that agrees with the paper's numbers, and what else could have been chosen.

    Such an agreement is in-sample: the numbers that come back include those that decided.
    """

    choice: str = Field(min_length=1)
    """What was decided."""
    reason: str = Field(min_length=1)
    """The numbers that decided it."""
    alternatives: dict[str, list[str]] = Field(min_length=1)
    """By name, the settings (key=value) that make this choice instead."""
    only: list[Combination] = []
    """The combinations of labels to compare, by default all."""
    splits: Count | None = None
    """By default those of the protocol."""


class ExperimentConfig(Section):
    """One experiment: a product of data sets, kernels, methods and splits.

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
    """The heading of reports."""
    source: str = ""
    """The paper, table or figure that it repeats."""
    task: Annotated[str, named("task")] = "classification"
    """What is predicted or measured."""
    plugins: list[str] = []
    """Python files with user-defined methods, kernels, data sets and metrics, relative to the
    config's folder; they are executed."""
    datasets: dict[str, DatasetEntry] = Field(min_length=1)
    """The data sets by label; a list of names will do."""
    kernels: dict[str, KernelEntry] = {}
    """The kernels by label, each tried by every method that takes one."""
    methods: dict[str, MethodEntry] = Field(min_length=1)
    """The methods by label."""
    only: list[Combination] = []
    """The combinations of labels that are run, by default all."""
    exclude: list[Combination] = []
    """Those that are not run."""
    protocol: Protocol = Protocol()
    """Splits, scaling and choice."""
    metrics: list[MetricName] = Field(min_length=1)
    """Measured or derived metrics."""
    derived: dict[str, Derived] = {}
    """Metrics computed from measured ones, by name."""
    table: TableSpec | None = None
    """How the table is laid out."""
    figures: list[FigureSpec] = []
    """What is drawn."""
    reported: Annotated[str, named("reported numbers")] | None = None
    """The paper's numbers: a CSV file of kernlearn or beside the config."""
    verdict: dict[MetricName, Tolerance] = {}
    """By metric, when a measured mean agrees with the reported one."""
    proposed: list[MethodLabel] = []
    """The methods that the paper proposes; a better number of any other one is counted separately,
    since it weakens what the paper concludes."""
    not_comparable: dict[DatasetLabel, str] = {}
    """Data sets that are not the paper's, with the reason."""
    variant_of: Annotated[str, named("config")] | None = None
    """The config with the same reported numbers, which this one measures in another way; totals
    count them once."""
    drift: dict[MetricName, Annotated[float, Field(ge=0)]] = {}
    """By metric, how far `kernlearn check` lets a mean move, instead of its own rule."""
    best: BestSpec | None = None
    """The cells that are set in bold."""
    claims: list[Claim] = []
    """What the paper states, with the checks that decide it."""
    answer: list[Answer] = []
    """What came out, in one to three sentences, with which reports begin."""
    forks: list[Fork] = []
    """Choices that agree with the paper's numbers, with alternatives."""
    notes: dict[str, str] = {}
    """Remarks that the report shows, by what they are about."""
    profiles: dict[str, dict[str, Any]] = {}
    """By name, changes to the config, such as fewer splits."""
    _scope: Scope = PrivateAttr()
    _folder: Path | None = PrivateAttr()

    def model_post_init(self, context: Any) -> None:
        """Take scope and folder from the context of the validation."""
        self._scope = BUILT_IN if context is None else context.scope
        self._folder = None if context is None else context.folder

    @property
    def scope(self) -> Scope:
        """The names that the config sees."""
        return self._scope

    @property
    def folder(self) -> Path | None:
        """The folder of the config's file."""
        return self._folder

    @property
    def reported_path(self) -> Path | None:
        """The file with the paper's numbers."""
        return reported_files(self._folder)[self.reported] if self.reported else None

    @property
    def published(self) -> dict[str, str]:
        """The labels of the data sets of the catalogue, with their names."""
        names = {label: entry.name or "" for label, entry in self.datasets.items()}
        return {k: name for k, name in names.items() if name and name not in self.scope.datasets}

    @property
    def named_metrics(self) -> set[str]:
        """All metrics that are shown, compared with reported ones or used by claims."""
        lists = [
            self.metrics,
            self.verdict,
            self.drift,
            [self.protocol.select_by] if self.protocol.select_by else [],
            self.table.metrics if self.table else [],
            self.best.metrics if self.best else [],
            [c.check.metric for c in self.claims],
            *(figure.metrics for figure in self.figures),
            *([d.ratio, d.baseline_metric or d.ratio] for d in self.derived.values()),
        ]
        return {name for names in lists for name in names}

    @property
    def select_by(self) -> str | None:
        """The metric that parameters are chosen by; None for that of the task."""
        known = map(self.scope.metrics.get, self.metrics)
        scores = [m.name for m in known if m and m.better and (m.target or m.scorer)]
        asked = self.protocol.select_by or next(iter(scores), None)
        return None if asked in _CHOSEN_BY.get(self.task, ()) else asked

    @property
    def shows_times(self) -> bool:
        """Whether times, or metrics derived from them, are among the results."""
        return any(is_time(name) for name in self.named_metrics)

    @property
    def compared(self) -> list[str]:
        """The methods other than baselines."""
        return [label for label, entry in self.methods.items() if not entry.baseline]

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The varied parameters, which are labels of results, with all their values.

        Those of a kernel are in its label.
        """
        return axes_of([*self.datasets.values(), *self.methods.values()])

    def wants(self, labels: Mapping[str, Any]) -> bool:
        """Whether a combination of labels is run, as ``only`` and ``exclude`` say."""
        # a kernel with varied parameters has their values behind its name
        kernel = str(labels.get("kernel"))
        names = [name for name in self.kernels if f"{kernel} (".startswith(f"{name} (")]
        labels = {**labels, "kernel": max(names, key=len)} if names else labels
        # a label that there is none of, as of some reported numbers, has any value under `only`
        fits = [all(labels.get(k, v) == v for k, v in one.items()) for one in self.only]
        is_excluded = any(one.items() <= labels.items() for one in self.exclude)
        return (any(fits) or not fits) and not is_excluded

    @property
    def several(self) -> list[str]:
        """The labels that differ between results on the same data, data set and kernel first."""
        kernels = [name for k, one in self.kernels.items() for name, _ in one.variants(k)]
        names = {"dataset": self.datasets, "kernel": kernels, "method": self.methods}
        labels = [label for label, of_label in names.items() if len(of_label) > 1]
        for entry in (*self.datasets.values(), *self.methods.values()):
            labels += [name for name, v in entry.shown_parameters.items() if v.is_several]
        return list(dict.fromkeys(labels))

    @property
    def layout(self) -> TableSpec:
        """The layout of the table: labels that vary and that it does not name are rows.

        Otherwise one of several results would stand for all.
        """
        spec = self.table or TableSpec()
        shown = {*spec.each, *spec.rows, *spec.columns}
        hidden = [label for label in self.several if label not in shown]
        # the data set first, and the kernel before the method, as in the order of the trials
        at = spec.rows.index("method") if "method" in spec.rows else len(spec.rows)
        rows = [*spec.rows[:at], *(k for k in hidden if k == "kernel"), *spec.rows[at:]]
        rows = [*(k for k in hidden if k == "dataset"), *rows]
        rows += [label for label in hidden if label not in ("dataset", "kernel")]
        return spec.model_copy(update={"rows": rows})


class LoadedExperiment(BaseModel):
    """A checked config with its path, profile and settings (``key=value``)."""

    model_config = ConfigDict(frozen=True)

    name: str
    path: Path
    profile: str
    config: ExperimentConfig
    settings: tuple[str, ...] = ()

    @property
    def changes(self) -> list[str]:
        """The profile and the settings that make its numbers others than the full protocol's."""
        compares = self.config.reported or self.config.claims
        keys = [one.removeprefix("protocol.").partition("=")[0] for one in self.settings]
        changed = [key.partition(".")[0] not in _HARMLESS for key in keys]
        return [
            *([f"profile {self.profile}"] if self.profile != DEFAULT_PROFILE else []),
            *(compress(self.settings, changed) if compares else []),
        ]

    @property
    def indicative(self) -> bool:
        """Whether its numbers are others than the full protocol's: no verdict is drawn."""
        return bool(self.changes)

    @property
    def is_counted(self) -> bool:
        """Whether totals count it: no variant, whose numbers are another's, nor indicative."""
        return self.config.variant_of is None and not self.indicative
