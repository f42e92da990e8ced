"""The command ``init``: a config for data of one's own."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn.cli import new_config, options
from kernlearn.exceptions import ConfigError

# The methods that a config begins with, by task: an exact kernel method, landmarks, a simple
# peer and a baseline. Bandwidths are the mean distance of training points.
_C = "{select: [0.01, 0.1, 1, 10, 100]}"
_METHODS = {
    "classification": {
        "SVM": f"{{estimator: KernelSVM, C: {_C}}}",
        "landmarks": "{estimator: BBSClassifier, n_landmarks: [10, 50]}",
        "kNN": "{estimator: KNeighborsClassifier, n_neighbors: {select: [1, 5, 15]}}",
        "majority": "{estimator: DummyClassifier, baseline: true}",
    },
    "regression": {
        "SVR": f"{{estimator: SVR, kernel: rbf, C: {_C}}}",
        "landmarks": "{estimator: SparseRegLand, n_landmarks: [10, 50], "
        "fit_intercept: {select: [true, false]}}",
        "ridge": "{estimator: Ridge, alpha: {select: [0.01, 1, 100]}}",
        "mean": "{estimator: DummyRegressor, baseline: true}",
    },
    "ordinal": {
        "ORLand": f"{{estimator: ORLand, n_landmarks: [10, 50], C: {_C}}}",
        "mean": "{estimator: DummyRegressor, baseline: true}",
    },
}
_MATRIX = {
    "classification": {
        "SVM": f"{{estimator: SimilarityFeatureSVM, C: {_C}}}",
        "landmarks": "{estimator: BBSClassifier, n_landmarks: [10, 50]}",
        "kNN": "{estimator: SimilarityKNNClassifier}",
        "majority": "{estimator: DummyClassifier, baseline: true}",
    },
}
# For points that are compared by a similarity of theirs, by what they are.
_SIMILARITIES = {
    "strings": "rapidfuzz.levenshtein",
    "series": "dynamic_time_warping",
    "sets": "jaccard",
    "graphs": "grakel.weisfeiler_lehman",
}
_OBJECTS = {
    "classification": _MATRIX["classification"],
    "regression": {
        "neighbours": "{estimator: KernelRegressor}",
        "landmarks": "{estimator: SparseRegLand, n_landmarks: [10, 50]}",
        "mean": "{estimator: DummyRegressor, baseline: true}",
    },
    "ordinal": _METHODS["ordinal"],
}
_METRICS = {
    "classification": "accuracy, fit_seconds, predict_seconds",
    "regression": "mse, mae, fit_seconds, predict_seconds",
    "ordinal": "aae, zero_one, fit_seconds, predict_seconds",
}


def init(
    data: Annotated[
        str | None,
        Argument(
            metavar="DATA",
            help="A data file, or the name of a data set of the catalogue.",
            show_default="asked for",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        Option("--config", "-c", help="Config to write.", show_default="NAME.yaml of the data"),
    ] = None,
    target: new_config.Target = None,
    task: Annotated[
        str | None,
        Option(help="classification, regression or ordinal.", show_default="as the target says"),
    ] = None,
    sheet: new_config.Sheet = None,
    matrix: Annotated[
        str | None,
        Option(help="similarity or distance, if the file is a matrix of these with labels."),
    ] = None,
    points: new_config.Points = None,
    splits: Annotated[int | None, Option(min=1, help="Random splits.", show_default="5")] = None,
    title: Annotated[str | None, Option(help="Title of the experiment.")] = None,
    force: new_config.Force = False,
    data_dir: options.DataDir = None,
    max_memory: options.MaxMemory = None,
) -> None:
    """Write a config that runs for a data file, and say what to do next.

    On a terminal what is not given is asked for; elsewhere the defaults are taken.

    \b
    Examples:
      kernlearn init
      kernlearn init mine.csv --target price --task regression
      kernlearn init letter --config letters.yaml --splits 3
      kernlearn init names.csv --points name
    """  # noqa: D301
    asks = asking()
    if data is None:
        if not asks:
            raise ConfigError("name a data file or data set, such as `kernlearn init mine.csv`")
        data = str(typer.prompt("Data file, or name of a data set"))
    options.check_choice("matrix", matrix, ("similarity", "distance"))
    found = _find(data, (target, sheet, matrix, points), data_dir)
    if asks and target is None and found.paths and new_config.is_file(data):
        target = typer.prompt("Column to predict", default=_target_of(found)) or None
        found = _find(data, (target, sheet, matrix, points), data_dir)
    card, compares = found.card, found.card.similarity is not None
    guessed = _task_of(card)
    if task is None:
        task = typer.prompt("Task", default=guessed) if asks else guessed
    similarity = _similarity(found) if found.form.format.of_objects else ""
    known = _MATRIX if compares else _OBJECTS if similarity else _METHODS
    if task not in known:
        raise ConfigError(f"--task {task}: expected one of {', '.join(known)} for {data}")
    if splits is None:
        splits = typer.prompt("Number of random splits", default=5, type=int) if asks else 5
    if config is None:
        default = f"{new_config.label_of(data)}.yaml"
        config = Path(typer.prompt("Config to write", default=default) if asks else default)
    free = force or not config.exists()
    if not free and asks:
        free = typer.confirm(f"{config} exists. Replace it?", default=False)
    if not free:
        raise ConfigError(new_config.exists_message(config, "--config"))
    title = title or f"Methods compared on {new_config.label_of(data)}"
    keys = {"target": target, "sheet": sheet, "matrix": matrix, "points": points}
    kernel = "" if compares else similarity or "gaussian"
    text = _text(data, config, title, task, splits, keys, known[task], kernel)
    new_config.write_config(config, text, data_dir)


def asking() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _find(data: str, given: tuple[str | None, ...], data_dir: Path | None) -> Any:
    """Find a file or a data set of the catalogue; raise a DataError if there is none."""
    from kernlearn.datasets.file_options import FileOptions
    from kernlearn.datasets.finding import find

    target, sheet, matrix, points = given
    wanted = FileOptions(
        new_config.column_of(target),
        sheet=sheet,
        matrix=matrix,
        points=new_config.column_of(points),
    )
    return find(new_config.name_of(data), data_dir, wanted)


def _similarity(found: Any) -> str:
    """Return the name of a similarity for the points of a file that are no vectors."""
    from kernlearn.datasets import load
    from kernlearn.datasets.objects import kind_of

    return _SIMILARITIES[kind_of(load(found).data)]


def _target_of(found: Any) -> str:
    """Return the column that a file is taken to predict, by name."""
    return str(getattr(found.form.format, "target", "") or "")


def _task_of(card: Any) -> str:
    if card.task in _METHODS:
        return str(card.task)
    return "classification" if card.classes or card.similarity else "regression"


def _text(
    data: str,
    config: Path,
    title: str,
    task: str,
    splits: int,
    keys: dict[str, str | None],
    methods: dict[str, str],
    kernel: str,
) -> str:
    entry = new_config.dataset_entry(data, config, keys if new_config.is_file(data) else {})
    of_vectors = kernel == "gaussian"
    name = "gaussian" if of_vectors else kernel.rpartition(".")[2]
    parameters = ", sigma: mean_distance" if of_vectors else ""
    lines = [
        f"title: {new_config.quoted(title)}",
        f"task: {task}",
        "",
        "datasets:",
        f"  {new_config.label_of(data)}: {{{entry}}}",
        "",
        *(["kernels:", f"  {name}: {{kernel: {kernel}{parameters}}}", ""] if kernel else []),
        "methods:",
        *(f"  {name}: {what}" for name, what in methods.items()),
        "",
        "protocol:",
        f"  splits: {splits}                # random, the same for all methods",
        "  train: 0.7",
        *(["  scale: [zscore]"] if of_vectors else []),
        "",
        f"metrics: [{_METRICS[task]}]",
        "table: {rows: [dataset, method, n_landmarks]}",
        "best: {metrics: [" + _METRICS[task].partition(",")[0] + "]}",
        "",
        "profiles:",
        "  quick: {splits: 2, max_train: 500, max_test: 500}",
        "",
    ]
    return "\n".join(lines)
