"""The command ``show``: what a config means, in words."""

from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer

from kernlearn import datasets, engine
from kernlearn.cli import options
from kernlearn.exceptions import DataError

_TASKS = {
    "classification": "classification",
    "bipartite_ranking": "ranking of two classes, measured by AUC",
    "regression": "regression",
    "ordinal": "ordinal regression (ordered classes)",
    "ranking": "ranking of documents within queries",
    "kernel_approximation": "approximation of a kernel",
    "dataset_statistics": "counts of rows and columns",
    "rademacher_complexity": "estimates of Rademacher complexities",
    "regret": "regret of online learning from pairs",
}
_SCALINGS = {
    "zscore": "features to mean 0 and standard deviation 1",
    "minmax": "features to [0, 1]",
    "max_norm": "all points divided by the largest norm",
    "unit_norm": "points to norm 1",
}


def show(
    configs: options.Configs,
    profile: options.Profile = "full",
    splits: options.Splits = None,
    option: options.Settings = [],
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Say in words what a config runs: data, methods, splits, trials and time.

    \b
    Examples:
      kernlearn show quickstart
      kernlearn show mine.yaml --profile quick
    """  # noqa: D301
    for experiment in options.load_experiments(configs, profile, splits, option, data_dir):
        for line in _lines(experiment, data_dir):
            typer.echo(line)
        for line in _trials(experiment, data_dir, store):
            typer.echo(line)


def _lines(experiment: Any, data_dir: Path | None) -> Iterator[str]:
    config = experiment.config
    yield f"{experiment.name}: {config.title}"
    if config.source:
        yield f"  Source: {config.source}"
    yield f"  Task: {_TASKS.get(config.task, config.task)}"
    yield f"Data sets ({len(config.datasets)}):"
    width = max(map(len, config.datasets))
    for label, entry in config.datasets.items():
        yield f"  {label:{width}}  {'; '.join(_data(label, entry, experiment, data_dir))}"
    if config.kernels:
        yield f"Kernels ({len(config.kernels)}):"
        for label, entry in config.kernels.items():
            text = entry.kernel if label == entry.kernel else f"{label}: {entry.kernel}"
            yield f"  {'; '.join([text, *_parameters(entry.parameters)])}"
    yield f"Methods ({len(config.methods)}):"
    width = max(map(len, config.methods))
    for label, entry in config.methods.items():
        notes = ["; a baseline"] if entry.baseline else []
        notes += ["; with all rows of a stream in memory"] if entry.in_memory else []
        parts = [one for _, one in entry.components(config.scope)]
        missing = [one.name for one in parts if not one.installed]
        notes += [f"; left out, the library of {name} is not installed" for name in missing[:1]]
        what = " → ".join(", ".join(filter(None, [one.name, one.summary])) for one in parts)
        yield f"  {label:{width}}  {what}{''.join(notes)}"
        for text in _parameters(entry.shown_parameters):
            yield f"  {'':{width}}    {text}"
    yield from _protocol(config)
    shown = ", ".join(config.scope.label(name) for name in config.metrics)
    yield f"Metrics: {shown}"
    if config.reported:
        judged = ", ".join(config.verdict) or "none"
        yield f"Compared with the reported numbers of {config.reported}; judged: {judged}"
    others = [f"{name} ({_changes(p)})" for name, p in config.profiles.items()]
    if others and not experiment.indicative:
        yield f"Profiles, smaller versions: {'; '.join(others)}"


def _changes(profile: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {_value(value)}" for key, value in profile.items())


def _data(label: str, entry: Any, experiment: Any, data_dir: Path | None) -> Iterator[str]:
    """Yield what a data set is, its size, and what is done with it."""
    scope = experiment.config.scope
    if entry.generator:
        made = ", ".join(_parameters(entry.parameters))
        yield f"made by {entry.generator}{f' ({made})' if made else ''}"
    elif entry.name in scope.datasets:
        yield f"{entry.name}, of {scope.datasets[entry.name].plugin}"
    elif entry.stream is not None and entry.file is not None:
        yield entry.file
    else:
        yield _size(entry, experiment, data_dir)
    if entry.stream is not None:
        from kernlearn.reports.stream_facts import stream_facts

        yield from _parameters(entry.stream.numbers)
        yield from stream_facts(entry)
    if entry.binarize:
        given = entry.binarize
        merged = "a random half of the classes" if given == "random" else ", ".join(given)
        yield f"two classes: {merged} against the others"
    if entry.classes:
        yield f"only the classes {', '.join(entry.classes)}"
    if entry.bins:
        yield f"target cut into {entry.bins} grades"
    if entry.sample:
        yield f"a sample of {entry.sample} rows"
    if entry.file is not None and entry.stream is None:
        nominal = entry.nominal or "onehot"
        yield f"rows with missing values: {entry.missing or 'drop'}; nominal columns: {nominal}"
    if entry.optional:
        yield "left out if it is not found"


def _size(entry: Any, experiment: Any, data_dir: Path | None) -> str:
    from kernlearn.datasets.finding import find_as

    config = experiment.config
    try:
        if entry.file is not None:
            folder = experiment.path.parent
            found = find_as(entry.reading(config.task, folder, config.scope))
            title = entry.file
        else:
            card = datasets.find_card(entry.name, data_dir)
            located, title = datasets.locate(card, data_dir), card.title
            if located is None:
                return f"{title}; not found here (`kernlearn datasets info {card.name}` says more)"
            found = located
    except DataError as error:
        return str(error)
    card, rows = found.card, found.form.rows
    sizes = [f"{rows} rows"] if rows else []
    sizes.append(f"{card.n_features} {'columns' if card.similarity else 'features'}")
    if card.similarity:
        sizes.append(f"a matrix of {card.similarity}s")
    classes = found.form.classes or card.classes
    sizes.append(f"{len(classes)} classes" if classes else "a numeric target")
    return f"{title}: {', '.join(sizes)}"


def _parameters(parameters: Mapping[str, Any]) -> Iterator[str]:
    """Yield each parameter in words."""
    yield from (f"{name} {value}" for name, value in parameters.items())


def _value(value: Any) -> str:
    if isinstance(value, dict) and "kernel" in value:
        inner = [f"{k} {_value(v)}" for k, v in value.items() if k != "kernel"]
        return f"{value['kernel']}{' (' + ', '.join(inner) + ')' if inner else ''}"
    if isinstance(value, dict):
        return " ".join(f"{k} {_value(v)}" for k, v in value.items())
    return ", ".join(map(_value, value)) if isinstance(value, list) else str(value)


def _protocol(config: Any) -> Iterator[str]:
    protocol = config.protocol
    if protocol.folds == "published":
        text = f"{protocol.splits} published folds"
    elif protocol.folds:
        text = f"{protocol.splits} splits by {protocol.folds}-fold cross-validation"
    elif all(entry.stream is not None for entry in config.datasets.values()):
        text = f"{protocol.splits} splits, in each of which other rows are drawn and held out"
    else:
        train = f"{100 * protocol.train:g} % of the rows to train"
        text = f"{protocol.splits} random splits, {train}"
    limits = [("train", protocol.max_train), ("test", protocol.max_test)]
    text += "".join(f", at most {n} to {name}" for name, n in limits if n)
    yield f"Splits: {text}; seed {protocol.seed}"
    if any(
        "select" in v
        for m in config.methods.values()
        for v in m.parameters.values()
        if isinstance(v, dict)
    ):
        if protocol.folds:
            where = "the fold before the test fold"
        elif protocol.holdout:
            where = f"{100 * protocol.holdout:g} % of all rows"
        else:
            where = f"{100 * protocol.validation:g} % of the training part"
        how = "once for all splits" if protocol.select_by_mean else "in each split"
        yield f"Parameters are chosen on {where}, {how}"
    scaled = [_SCALINGS.get(name, name) for name in protocol.scale]
    yield f"Scaling: {', then '.join(scaled) if scaled else 'none'}"


def _trials(experiment: Any, data_dir: Path | None, path: Path) -> Iterator[str]:
    """Yield the number of trials, how many are in the store, and how long the others will take."""
    with options.opened_store(path) if path.exists() else nullcontext() as store:
        (plan,) = options.make_plans([experiment], data_dir, True)
        states = engine.trial_states(plan, store)
        todo = [t for t in plan.trials if states[t.key] == "new"]
    if plan.left_out:
        yield f"Left out, not found: {', '.join(plan.left_out)}"
    text = f"Trials: {len(plan.trials)}"
    if done := len(plan.trials) - len(todo):
        text += f", {done} of them in the store"
    if not todo:
        yield f"{text}: nothing to run"
    else:
        yield f"{text}"
