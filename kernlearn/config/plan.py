"""Plans: the trials of an experiment, and which of them a user has chosen."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import chain, islice
from typing import Any

from kernlearn import datasets
from kernlearn.checks import counted, listed, suggestion
from kernlearn.config.model import ExperimentConfig, Fork, LoadedExperiment, MethodEntry
from kernlearn.config.read import load_config
from kernlearn.config.trial import (
    TRIAL_VERSION,
    ComponentSpec,
    DatasetSpec,
    MethodSpec,
    Source,
    Trial,
    TrialSpec,
    trial_keys,
)
from kernlearn.config.values import as_label, cell_name, unfold, varied
from kernlearn.datasets.loading import card_preparation, find, is_file
from kernlearn.datasets.tables import default_order, grades_notes
from kernlearn.exceptions import ConfigError, DataError, SelectionError
from kernlearn.plugins import Registered
from kernlearn.store import State

_MOST_TRIALS = 1_000_000
# Labels, specification and source of a data set.
_Variant = tuple[dict[str, Any], DatasetSpec, Source]


@dataclass(frozen=True)
class Plan:
    """The trials of an experiment, in the order of its table.

    Attributes
    ----------
    experiment : LoadedExperiment
    trials : list of Trial
    left_out : list of str
        Labels of data sets that were not found and are left out.
    not_installed : list of str
        Labels of methods that are left out because their library is not installed.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan
    >>> plan = make_plan(load_config("demo_ordinal", profile="quick"))
    >>> len(plan.trials)
    24
    """

    experiment: LoadedExperiment
    trials: list[Trial]
    left_out: list[str] = field(default_factory=list)
    not_installed: list[str] = field(default_factory=list)

    @property
    def preparations(self) -> dict[str, tuple[str, ...]]:
        """What loading did to the rows and columns of each data set, in sentences, by label."""
        return {trial.labels["dataset"]: trial.source.prepared for trial in self.trials}

    @property
    def needed(self) -> list[str]:
        """The names of the data sets that are left out and not optional."""
        config = self.experiment.config
        needed = [label for label in self.left_out if not config.datasets[label].optional]
        return [config.published[label] for label in needed]


@dataclass(frozen=True)
class Choice:
    """Which trials to run.

    Attributes
    ----------
    only : tuple of dict
        If not empty, only trials that match one of these mappings of labels to values, as text;
        from :func:`parse_only`.
    retry_failed : bool
        Also those that failed before.
    force : bool
        Also those that are done.
    """

    only: tuple[Mapping[str, Sequence[str]], ...] = ()
    retry_failed: bool = False
    force: bool = False

    def of(self, plan: Plan) -> list[Trial]:
        """Return the trials of a plan that ``only`` allows.

        Raises
        ------
        SelectionError
            If ``only`` names what is not in the plan, or a combination that is not.
        """
        if not self.only:
            return plan.trials
        trials = [trial for trial in plan.trials if is_allowed(_numbered(trial), self.only)]
        _refuse_unknown(plan, self.only)
        if not trials:
            raise SelectionError(f"{plan.experiment.name}: --only leaves no trial")
        return trials

    def due(self, plan: Plan, known: Mapping[str, State]) -> list[Trial]:
        """Return the trials that a run carries out, of which a store has some."""
        kept = {} if self.force else known
        if self.retry_failed:
            kept = {key: state for key, state in kept.items() if state.done}
        return [trial for trial in self.of(plan) if trial.key not in kept]

    def datasets(self, config: ExperimentConfig) -> list[str]:
        """Return the labels of the data sets that ``only`` allows: others need not be here."""
        return [k for k in config.datasets if is_allowed({"dataset": k}, self.only, lacking=True)]


def make_plan(
    experiment: LoadedExperiment, *, available: bool = False, labels: Collection[str] | None = None
) -> Plan:
    """Expand an experiment into trials.

    Parameters
    ----------
    experiment : LoadedExperiment
    available : bool, default=False
        Leave out data sets that are not found instead of refusing to plan.
    labels : collection of str, optional
        The labels of the data sets to plan, by default all.

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        If data sets are missing; the message lists every one and where it is published.
    ConfigError
        If two trials are one, or there are none.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan
    >>> [len(make_plan(load_config("demo_ordinal", profile=p)).trials) for p in ("quick", "full")]
    [24, 120]
    """
    config = experiment.config
    for one in (*config.only, *config.exclude):
        if not any(planned_labels(config.model_copy(update={"only": [one], "exclude": []}))):
            name = cell_name(one, one.values())
            text = f"`only` and `exclude`: no method is run with {name}: leave it out"
            raise ConfigError(f"{experiment.path}: {text}")
    chosen = set(config.datasets if labels is None else labels)
    names = {label: name for label, name in config.published.items() if label in chosen}
    cards = {label: datasets.find_card(name) for label, name in names.items()}
    places = {label: datasets.locate(card) for label, card in cards.items()}
    left_out = [label for label, place in places.items() if place is None]
    left_out += [k for k, one in config.datasets.items() if not one.is_there(config.folder)]
    variants = {
        label: list(_variants(label, experiment, places.get(label)))
        for label in config.datasets
        if label in chosen and label not in left_out
    }
    splits = range(config.protocol.splits)
    cells = [*islice(_cells(config, variants), _MOST_TRIALS // len(splits) + 1)]
    if len(cells) * len(splits) > _MOST_TRIALS:
        raise ConfigError(f"{experiment.path}: more than {_MOST_TRIALS} trials: shorten its lists")
    trials = [
        Trial(key, experiment.name, labels, spec, i, source)
        for labels, spec, source in cells
        for i, key in enumerate(trial_keys(spec, splits))
    ]
    first: dict[Any, Trial] = {}
    for trial in trials[:: len(splits)]:
        for same in (trial.key, tuple(trial.labels.items())):
            if (other := first.setdefault(same, trial)) is not trial:
                both = f"{other} and {trial}"
                raise ConfigError(f"{experiment.path}: {both} are one trial: leave one out")
    absent = [k for k, m in config.methods.items() if not m.is_installed(config.scope)]
    if not (trials or left_out or absent) and chosen.issuperset(config.datasets):
        raise ConfigError(f"{experiment.path}: `only` and `exclude` leave nothing to run")
    plan = Plan(experiment, trials, left_out, absent)
    if plan.needed and not available:
        raise DataError(datasets.missing_message(map(datasets.find_card, plan.needed)))
    return plan


def make_plans(
    experiments: Iterable[LoadedExperiment], available: bool, choice: Choice = Choice()
) -> list[Plan]:
    """Plan experiments, or the data sets that are chosen; one message names what is missing."""
    plans = [
        make_plan(one, available=True, labels=choice.datasets(one.config)) for one in experiments
    ]
    missing = dict.fromkeys(name for plan in plans for name in plan.needed)
    if missing and not available:
        raise DataError(
            f"{datasets.missing_message(map(datasets.find_card, missing))}\n`kernlearn datasets "
            "fetch NAME` downloads what its publisher serves; --available runs the rest without "
            "them."
        )
    return plans


#: Name of the branch of a fork that the config takes.
CHOSEN = "as chosen"


def fork_plans(
    experiment: LoadedExperiment, fork: Fork, available: bool
) -> Iterator[tuple[str, Plan, list[str]]]:
    """Yield the name, the plan and the missing data of each branch, the config's own first."""
    choice = Choice(tuple({k: (v,) for k, v in one.items()} for one in fork.only))
    splits = [f"splits={fork.splits}"] if fork.splits else []
    lacking = set[str]()
    for branch, changes in {CHOSEN: [], **fork.alternatives}.items():
        loaded = load_config(experiment.path, settings=[*changes, *splits])
        if fork.only:
            config = loaded.config.model_copy(update={"only": fork.only})
            loaded = loaded.model_copy(update={"config": config})
        (plan,) = make_plans([loaded], available or branch != CHOSEN, choice)
        lacking = set(plan.left_out) if branch == CHOSEN else lacking
        yield branch, plan, sorted({*plan.left_out} - lacking)


def _variants(label: str, experiment: LoadedExperiment, found: Any) -> Iterator[_Variant]:
    """Expand an entry of ``datasets``, by the varied parameters of a function that makes data.

    Of a data set with a card only the bytes are read.
    """
    config, scope = experiment.config, experiment.config.scope
    marks = config.protocol.model_dump(include={"groups", "time"}, exclude_none=True)
    entry = config.datasets[label].model_copy(update=marks)
    if (make := entry.maker(scope)) is not None:
        # whether whole numbers are numbers or classes, which a plug-in does not say
        source = Source(numbers=config.task == "regression" or entry.bins is not None)
        for parameters, _ in unfold(entry.parameters):
            what = DatasetSpec(entry, pairwise=make.similarity, parameters=parameters)
            if make.plugin:
                from kernlearn.config.data import make_data

                # of a generator one draw stands for what it reads and does
                seed = {"random_state": 0} if make.kind == "generator" else {}
                data = make_data(make, source.numbers, {**parameters, **seed})
                what = replace(what, **make.identity, fingerprint=data.fingerprint)
            labels = {k: as_label(parameters[k]) for k in varied(entry.parameters)}
            yield labels, what, source
        return
    arguments = entry.arguments(config.task, experiment.path.parent, scope)
    if is_raw := any(method.columns == "raw" for method in config.methods.values()):
        arguments["frame"] = True
    found, done = _known_data(arguments, found)
    if found.form.texts and not is_raw:
        done = done.noting(f"no method uses {listed(found.form.texts)}: give one `columns: raw`")
    card, own_data = found.card, entry.file is not None or not datasets.is_shipped(found.card.name)
    _check_folds(label, config, found)
    if entry.file is not None and card.rows:
        done = done.noting(f"{counted(card.rows, 'row')} with a target in the file")
    known: dict[str, Any] = {"nominal": entry.nominal_in(scope)}
    if config.task == "ordinal" and entry.bins is None:
        # the labels of a class have no order
        if own_data and card.classes is not None:
            ordered = card.classes == tuple(default_order(card.classes))
            known["grades"] = None if ordered else card.classes
        done = done.noting(*grades_notes(found.form.order, card.classes))
    if entry.file is not None:
        known["name"] = label
    if not entry.of_card:
        known["drop"] = ()  # what is dropped of a file is part of its format
    what = DatasetSpec(entry.model_copy(update=known), found.identity, card.similarity)
    yield {}, what, Source(arguments, prepared=tuple(done.sentences))


def _known_data(
    arguments: dict[str, Any], found: Any
) -> tuple[datasets.Found, datasets.Preparation]:
    """Return the files of a data set, and what is done to its rows and columns.

    What may have missing entries is read, so that what is left out is said in counts; of other
    data sets only the bytes are hashed.
    """
    if not is_file(arguments["name"]):
        found = found or find(arguments["name"])
        shipped = datasets.is_shipped(found.card.name)
        if shipped and not getattr(found.form.format, "missing", None):
            return found, card_preparation(found, arguments["nominal"], arguments.get("drop", ()))
    from kernlearn.config.data import read_data

    data = read_data(arguments)
    return data.found, data.preparation


def _check_folds(label: str, config: ExperimentConfig, of_data: datasets.Found) -> None:
    """Refuse published folds where there are fewer than splits, or none."""
    form, splits = of_data.form, config.protocol.splits
    folds = len(form.files if form.folds == "files" else form.folds)
    if config.protocol.folds == "published" and splits > folds:
        raise DataError(
            f"{label}: `folds: published`: {folds} published folds make at most {folds} splits, "
            f"not {splits}; give a number of folds, or fewer splits"
        )


def _cells(
    config: ExperimentConfig, variants: Mapping[str, Sequence[_Variant]]
) -> Iterator[tuple[dict[str, Any], TrialSpec, Source]]:
    """Yield the labels, the specification and the data's source of every cell of the table."""
    # kernlearn's own metrics are measured in any case
    own = config.scope.own_metrics(config.named_metrics)
    metrics = tuple(ComponentSpec(metric.name, **metric.identity) for metric in own)
    files = tuple((str(plugin.path), plugin.state) for plugin in config.scope.plugins)
    methods = cache(partial(_methods, config))
    values = [one for entry in config.methods.values() for one in entry.parameters.values()]
    differ = any(value.form == "by_dataset" for value in values)
    for name, entry in config.datasets.items():
        scale = {} if entry.scale is None else {"scale": entry.scale}
        update = {"select_by": config.select_by, **scale}
        protocol = config.protocol.model_copy(update=update)
        for data_labels, data, source in variants.get(name, ()):
            cells = methods(name if differ else "", data.pairwise is not None)
            for method_labels, kernel, method in cells:
                labels = {"dataset": name, **method_labels, **data_labels}
                if config.wants(labels):
                    what = config.task, data, kernel, method, protocol
                    spec = TrialSpec(TRIAL_VERSION, *what, metrics=metrics)
                    place = replace(source, plugins=files) if spec.plugins else source
                    yield labels, spec, place


def _methods(
    config: ExperimentConfig, dataset: str, pairwise: bool
) -> list[tuple[dict[str, Any], ComponentSpec | None, MethodSpec]]:
    """Return the labels and specifications of kernels and methods on a data set."""
    scope, cells = config.scope, []
    for labels, kernel, entry, fixed, grid in _labelled(config, dataset, pairwise):
        if not entry.is_installed(scope):
            continue
        values = [*fixed.values(), *chain.from_iterable(grid.values())]
        own = [one for one in scope.nested(values) if one.plugin]
        method = MethodSpec(
            **_identity(entry, entry.components(scope)),
            parameters=fixed,
            select=grid,
            kernels={one.name: one.identity for one in own} or None,
            dense=entry.dense or None,
            columns=entry.columns,
        )
        cells.append((labels, kernel, method))
    return cells


def _labelled(
    config: ExperimentConfig, dataset: str, pairwise: bool
) -> Iterator[tuple[dict[str, Any], ComponentSpec | None, MethodEntry, Any, Any]]:
    """Yield the labels of each kernel and method on a data set, with parameters and grid."""
    # a matrix of similarities needs no kernel
    axes, kernels = config.axes, [(None, None)] if pairwise else _kernels(config)
    # a feature map is compared with a kernel even if it has one of its own
    compares = config.task == "kernel_approximation"
    for i, (kernel_label, kernel) in enumerate(kernels):
        for label, entry in config.methods.items():
            needs = compares or entry.takes_kernel(config.scope)  # others run once
            used = (kernel_label, kernel) if needs else (None, None)
            for fixed, grid in unfold(entry.parameters, dataset) if needs or i == 0 else ():
                shown = entry.relabelled(fixed)
                own = {k: as_label(shown[k]) for k in axes if k in shown}
                yield {"kernel": used[0], "method": label, **own}, used[1], entry, fixed, grid


def planned_labels(config: ExperimentConfig) -> Iterator[dict[str, Any]]:
    """Yield the labels of every cell of a config, without a look at data."""
    for name, entry in config.datasets.items():
        one: Any = entry.maker(config.scope)
        one = entry.card(config.folder) if one is None and entry.of_card else one
        pairwise = entry.matrix or getattr(one, "similarity", None)
        for labels, *_ in _labelled(config, name, bool(pairwise)):
            for parameters, _ in unfold(entry.parameters):
                own = {k: as_label(parameters[k]) for k in varied(entry.parameters)}
                if config.wants(labels := {"dataset": name, **labels, **own}):
                    yield labels


def _identity(entry: MethodEntry, parts: Sequence[tuple[str, Registered]]) -> dict[str, Any]:
    """Return what a specification says of the estimator of a method, or of its steps."""
    if entry.steps is None:
        return {"name": parts[0][1].name, **parts[0][1].identity}
    steps = [{"step": label, "name": one.name, **one.identity} for label, one in parts]
    return {"name": "Pipeline", "version": 1, "steps": steps}


def _kernels(config: ExperimentConfig) -> Iterator[tuple[str | None, ComponentSpec | None]]:
    """Yield the label and specification of every kernel, or of none."""
    if not config.kernels:
        yield None, None
    for label, entry in config.kernels.items():
        kernel = config.scope.kernel(entry.kernel)
        for name, parameters in entry.variants(label):
            yield name, ComponentSpec(kernel.name, **kernel.identity, parameters=parameters)


def parse_only(text: str) -> dict[str, tuple[str, ...]]:
    """Parse text such as ``dataset=letter,method=FTUNE-S``.

    A label that is given more than once may have any of its values. A part without an equals sign
    belongs to the value before it, as in ``method=RF, tuned solver``.

    Raises
    ------
    SelectionError
        If the first part has no equals sign.
    """
    match: dict[str, tuple[str, ...]] = {}
    last = ""
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals and key.strip():
            last = key.strip()
            match[last] = (*match.get(last, ()), value.strip())
        elif last and part.strip() and not equals:
            *before, value = match[last]
            match[last] = (*before, f"{value},{part.rstrip()}")
        else:
            raise SelectionError(
                f"--only {text!r}: expected LABEL=VALUE,... such as dataset=letter,method=K"
            )
    return match


def is_allowed(
    labels: Mapping[str, Any], only: Sequence[Mapping[str, Sequence[str]]], lacking: bool = False
) -> bool:
    """Whether labels match one of several mappings to values as text, or there is none.

    ``lacking`` tells whether a label that does not apply has any value, or no value.
    """

    def has(label: str, values: Sequence[str]) -> bool:
        value = labels.get(label)
        return lacking if value is None else str(value) in values

    return not only or any(all(has(*one) for one in match.items()) for match in only)


def _numbered(trial: Trial) -> dict[str, Any]:
    """Return the labels of a trial, with the number of its split."""
    return {**trial.labels, "split": trial.split + 1}


def _refuse_unknown(plan: Plan, only: Sequence[Mapping[str, Sequence[str]]]) -> None:
    """Refuse labels and values that no trial of a plan has."""
    labels = [one for trial in plan.trials for one in _numbered(trial).items()]
    there = {(label, str(value)) for label, value in labels if value is not None}
    there |= {("dataset", name) for name in plan.experiment.config.datasets}
    for label, value in [(k, value) for match in only for k, vs in match.items() for value in vs]:
        known = {value for name, value in there if name == label}
        if value not in known and (plan.trials or label == "dataset"):
            what = f"no such value{suggestion(value, known)}"
            if not known:
                what = f"no label {label!r}{suggestion(label, {name for name, _ in there})}"
            raise SelectionError(f"{label}={value}: {what}")
    if not plan.trials:
        missing = ", ".join(plan.left_out)
        raise SelectionError(f"{plan.experiment.name}: no trial, data not found: {missing}")
