"""The command ``init``: a config that compares methods on data of one's own."""

import os
import re
import textwrap
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer
from typer import Argument, Option

from kernlearn import config as configs
from kernlearn import engine
from kernlearn.checks import whole_number
from kernlearn.cli import options
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.reports.replacing import replaced_file

# What a config compares, by the kind of points and the task: the methods of the papers beside
# the strongest rivals, each with about six settings. `$sigmas` and `$gammas` become widths of
# Gaussian kernels, `$similarities` those of a kind of objects, the others numbers of points.
_BOOSTING = "learning_rate: {select: [0.03, 0.1, 0.3]}, max_leaf_nodes: {select: [8, 31]}$dense}"
_NEIGHBORS = "n_neighbors: {select: $neighbors}}"
_PATH = "C: [[1, 10, 100, 1000]]"  # of which the method itself chooses
_LANDMARKS = "n_landmarks: $landmarks"
_GAUSSIAN = (
    f"{_LANDMARKS}, similarity: {{kernel: gaussian}}, similarity__sigma: {{select: $sigmas}}"
)
_NYSTROEM = (
    "{steps: [{estimator: NystroemEmbedding, kernel: {kernel: gaussian}, "
    "kernel__sigma: {select: $sigmas}, n_components: $components}, "
)
_REGRESSORS = {
    "gradient boosting": "{estimator: sklearn.ensemble.HistGradientBoostingRegressor, "
    + _BOOSTING,
    "SVR": "{estimator: SVR, kernel: rbf, gamma: {select: $gammas}, C: {select: [1, 10, 100]}}",
    "ridge": "{estimator: Ridge, alpha: {select: [0.01, 0.1, 1, 10, 100, 1000]}}",
    "k-NN": "{estimator: sklearn.neighbors.KNeighborsRegressor, " + _NEIGHBORS,
}
_MEAN = {"mean": "{estimator: DummyRegressor, baseline: true}"}
_MAJORITY = {"majority": "{estimator: DummyClassifier, baseline: true}"}
_VECTORS = {
    "classification": {
        "gradient boosting": "{estimator: sklearn.ensemble.HistGradientBoostingClassifier, "
        + _BOOSTING,
        "RBF SVM": "{estimator: KernelSVM, kernel: rbf, gamma: {select: $gammas}, "
        "C: {select: [1, 10, 100]}}",
        "logistic regression": "{estimator: LogisticRegression, max_iter: 1000, "
        "C: {select: [0.001, 0.01, 0.1, 1, 10, 100]}}",
        "k-NN": "{estimator: KNeighborsClassifier, " + _NEIGHBORS,
        "BBS": f"{{estimator: BBSClassifier, {_GAUSSIAN}, {_PATH}}}",
        "FTUNE": f"{{estimator: FTuneClassifier, {_GAUSSIAN}}}",
        "Nystroem": _NYSTROEM + "{estimator: LinearSVM, C: {select: [1, 10, 100]}}]}",
        "H0/1": "{steps: [sklearn.preprocessing.Normalizer, {estimator: RandomMaclaurin, "
        "kernel: {kernel: exponential}, kernel__sigma: {select: [0.5, 1]}, n_components: 1000, "
        "h01: true, measure: variance, complex_to_real: true}, "
        "{estimator: LinearSVM, C: {select: [1, 10, 100]}}]}",
        **_MAJORITY,
    },
    "regression": {
        **_REGRESSORS,
        "RegLand": f"{{estimator: RegLand, {_GAUSSIAN}, C: {{select: [1, 10, 100]}}}}",
        "Nystroem": _NYSTROEM + "{estimator: Ridge, alpha: {select: [0.01, 0.1, 1]}}]}",
        **_MEAN,
    },
    "ordinal": {
        **_REGRESSORS,
        "ORLand": f"{{estimator: ORLand, {_GAUSSIAN}, thresholds: learned, "
        "C: {select: [1, 100, 10000]}}",
        **_MEAN,
    },
    "ranking": {
        **_REGRESSORS,
        "RankLand": f"{{estimator: RankLand, {_GAUSSIAN}, C: {{select: [1, 10, 100]}}}}",
        **_MEAN,
    },
}
_MATRIX = {
    "k-NN": "{estimator: SimilarityKNNClassifier, n_neighbors: [$neighbors]}",
    "SVM, similarities as features": f"{{estimator: SimilarityFeatureSVM, {_PATH}}}",
    "SVM, clipped spectrum": f"{{estimator: SpectrumSVM, spectrum: clip, {_PATH}}}",
    "BBS": f"{{estimator: BBSClassifier, {_LANDMARKS}, {_PATH}}}",
    "FTUNE": f"{{estimator: FTuneClassifier, {_LANDMARKS}}}",
    **_MAJORITY,
}
_COMPARED = ", similarity: {select: $similarities}}"
_OBJECTS = {
    "classification": {
        name: entry if "baseline" in entry else entry.removesuffix("}") + _COMPARED
        for name, entry in _MATRIX.items()
    },
    "regression": {
        "KR": "{estimator: KernelRegressor" + _COMPARED,
        "RegLand": "{estimator: RegLand, n_landmarks: $landmarks, C: {select: [1, 10, 100]}"
        + _COMPARED,
        **_MEAN,
    },
    "ordinal": {
        "KR": "{estimator: KernelRegressor" + _COMPARED,
        "ORLand": "{estimator: ORLand, n_landmarks: $landmarks, thresholds: learned, "
        "C: {select: [1, 100, 10000]}" + _COMPARED,
        **_MEAN,
    },
}
_SIMILARITIES = {
    "strings": "[rapidfuzz.levenshtein, rapidfuzz.jaro_winkler, rapidfuzz.token_set_ratio]",
    "series": "[{kernel: aeon.dtw, window: 0.1}, {kernel: aeon.msm, window: 0.1}]",
    "sets": "[jaccard]",
    "graphs": "[grakel.weisfeiler_lehman, grakel.shortest_path]",
}
# Strings also without a similarity: counts of up to three letters or words in a row.
_LETTERS = "{steps: [{estimator: sklearn.feature_extraction.text.TfidfVectorizer, analyzer: char, "
_WORDS = _LETTERS.replace("analyzer: char", "token_pattern: '\\S+'")
_COUNTED = "ngram_range: [[1, 3]]}, "
_LINEAR = {
    "classification": "{estimator: LinearSVM, C: {select: [0.01, 0.1, 1, 10, 100]}}]}",
    "regression": "{estimator: Ridge, alpha: {select: [0.01, 0.1, 1, 10, 100]}}]}",
    "ordinal": "{estimator: Ridge, alpha: {select: [0.01, 0.1, 1, 10, 100]}}]}",
}
_METRICS = {
    "classification": "accuracy",
    "regression": "mse, r2",
    "ordinal": "aae, zero_one",
    "ranking": "ndcg, letor_ndcg_10",
}

# Features up to which random features keep the linear term, and cells of a sparse matrix up to
# which it is made dense: 400 MB.
_MOST_FEATURES, _MOST_CELLS = 1000, 50_000_000
_MOST_TRAINED = 10_000


def init(
    data: Annotated[
        str,
        Argument(metavar="DATA", help="A data file, or the name of a data set of the catalogue."),
    ],
    config: Annotated[
        Path | None,
        Option("--config", "-c", help="Config to write.", show_default="NAME.yaml of the data"),
    ] = None,
    target: Annotated[
        str | None, Option(help="Column to predict, by name or number.", show_default="guessed")
    ] = None,
    task: Annotated[
        str | None,
        Option(help="classification, regression or ordinal.", show_default="as the target says"),
    ] = None,
    sheet: Annotated[
        str | None,
        Option(help="Sheet of an Excel file, by name or number.", show_default="the first"),
    ] = None,
    matrix: Annotated[
        str | None,
        Option(help="similarity or distance, if the file is a matrix of these with labels."),
    ] = None,
    points: Annotated[
        str | None,
        Option(
            help="Column whose texts are the points, to compare as strings, by name or number."
        ),
    ] = None,
    force: Annotated[bool, Option("--force", help="Replace an existing config.")] = False,
    data_dir: options.DataDir = None,
    max_memory: options.MaxMemory = None,
) -> None:
    """Write a config that compares a shortlist of methods on a data set.

    The methods suit the data and the task: those of the papers, and the strongest rivals.
    Columns that look like ids are dropped.

    \b
    Examples:
      kernlearn init mine.csv
      kernlearn init mine.csv --target price --task regression
      kernlearn init letter --config letters.yaml
      kernlearn init names.csv --points name
    """  # noqa: D301
    options.check_choice("matrix", matrix, ("similarity", "distance"))
    if config is None:
        config = Path(f"{_label(data)}.yaml")
    if config.exists() and not force:
        raise ConfigError(f"{config}: exists; --force replaces it, --config names another")
    keys: dict[str, Any] = {"target": target, "sheet": sheet, "matrix": matrix, "points": points}
    bunch = _load(data, keys, data_dir)
    if drop := _ids(data, bunch):
        keys["drop"] = drop
    task = task or ("classification" if "similarity" in bunch else bunch.card.task)
    _write(config, _text(data, config, bunch, task, keys), data_dir)


def _is_file(data: str) -> bool:
    """Whether a data set is given by a file, rather than by its name in the catalogue."""
    return not data.isidentifier() or Path(data).is_file()


def _label(data: str) -> str:
    """Return the label of a data set in a config."""
    return "".join(c if c.isalnum() else "_" for c in Path(data).name.partition(".")[0]) or "data"


def _load(data: str, keys: dict[str, Any], data_dir: Path | None) -> Any:
    from kernlearn.datasets import load

    given = {key: value for key, value in keys.items() if value is not None}
    for key in ("target", "points"):
        if (number := whole_number(given.get(key))) is not None:
            given[key] = number
    if _is_file(data):
        return load(Path(data), data_dir=data_dir, nominal="onehot", **given)
    return load(data, data_dir=data_dir, **given)


def _ids(data: str, bunch: Any) -> list[str]:
    """Return the columns of a file that look like ids; refuse it if there are no others."""
    ids = bunch.preparation.id_like if _is_file(data) else {}
    if ids and len(ids) == bunch.data.shape[1]:
        listed = ", ".join(f"{name} ({why})" for name, why in ids.items())
        raise DataError(f"{data}: no feature is left but what looks like an id: {listed}")
    return list(ids)


def _methods(bunch: Any, task: str) -> tuple[dict[str, str], dict[str, str]]:
    """Return the methods for a data set, and why others are left out."""
    import scipy.sparse as sp

    from kernlearn.datasets.objects import kind_of

    X, kind = bunch.data, kind_of(bunch.data)
    if "similarity" in bunch:
        by_task: dict[str, dict[str, str]] = {"classification": _MATRIX}
    elif kind == "vectors":
        by_task = _VECTORS
    elif kind in _SIMILARITIES:
        by_task = _OBJECTS
    else:
        raise DataError(f"no similarity is known of such points: {kind}")
    options.check_choice("task", task, tuple(by_task))
    methods, left_out, half = dict(by_task[task]), {}, len(bunch.target) // 2
    values: dict[str, Any] = {"dense": "", "landmarks": min(100, half)}
    values["components"] = min(300, half)
    values["neighbors"] = [k for k in (1, 3, 5, 9, 15, 25) if k == 1 or 3 * k <= len(bunch.target)]
    if kind == "strings":
        counted = _COUNTED + _LINEAR[task]
        methods = {"letters": _LETTERS + counted, "words": _WORDS + counted, **methods}
    if by_task is _OBJECTS:
        values["similarities"] = _SIMILARITIES[kind]
    elif by_task is _VECTORS:
        gamma = _gamma(X)
        values["gammas"] = _listed(gamma, 4 * gamma)
        values["sigmas"] = _listed((2 * gamma) ** -0.5, (gamma / 2) ** -0.5)
        if sp.issparse(X):
            values["dense"] = ", dense: true"
            if X.shape[0] * X.shape[1] > _MOST_CELLS:
                left_out["gradient boosting"] = "it takes dense data only"
        if X.shape[1] > _MOST_FEATURES:
            left_out["H0/1"] = f"more than {_MOST_FEATURES} features"
    filled = {name: Template(entry).substitute(values) for name, entry in methods.items()}
    return {name: entry for name, entry in filled.items() if name not in left_out}, left_out


def _gamma(X: Any) -> float:
    """Return 1 / the sum of the variances of scaled features, as ``gamma="scale"`` of SVMs."""
    import numpy as np
    import scipy.sparse as sp

    if not sp.issparse(X):
        return 1 / X.shape[1]
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=float)
    means = np.asarray(X.mean(axis=0), dtype=float).ravel()
    return float((squares.max() or 1.0) / ((squares.mean() - means @ means) or 1.0))


def _listed(*values: float) -> str:
    return f"[{', '.join(f'{value:.3g}' for value in values)}]"


def _text(data: str, config: Path, bunch: Any, task: str, keys: dict[str, Any]) -> str:
    """Return the config of a comparison."""
    import scipy.sparse as sp

    methods, left_out = _methods(bunch, task)
    if _is_file(data):
        path = Path(os.path.relpath(data, config.parent)).as_posix()
        given = {"file": path} | {key: value for key, value in keys.items() if value is not None}
    else:
        given = {"name": data}
    entry = ", ".join(f"{key}: {_quoted(value)}" for key, value in given.items())
    vectors = bunch.data.ndim == 2 and "similarity" not in bunch
    scaler = "max_norm" if sp.issparse(bunch.data) else "zscore"
    published = "fold" in bunch
    more = len(bunch.target) > _MOST_TRAINED / 0.7 and not published
    lines = [
        f"title: {_quoted(f'Methods compared on {_label(data)}')}",
        f"task: {task}",
        "",
        "datasets:",
        f"  {_label(data)}: {{{entry}}}",
        "",
        "# `select`: the value that is best on held-out rows of the training part",
        "methods:",
        *(_folded(f"  {name}: {what}") for name, what in methods.items()),
        *(f"  # {name} is left out: {why}" for name, why in left_out.items()),
        "",
        "protocol:",
        *(
            ["  folds: published", "  splits: 5"]
            if published
            else ["  splits: 5                # random, the same for all methods", "  train: 0.7"]
        ),
        *([f"  max_train: {_MOST_TRAINED}         # of more rows"] if more else []),
        *([f"  scale: [{scaler}]"] if vectors else []),
        "",
        f"metrics: [{_METRICS[task]}, fit_seconds, predict_seconds]",
        "table: {rows: [dataset, method]}",
        f"best: {{metrics: [{_METRICS[task].partition(',')[0]}]}}",
        "",
        "profiles:",
        "  quick: {splits: 2" + ("" if published else ", max_train: 500, max_test: 500") + "}",
    ]
    return "\n".join(lines) + "\n"


def _folded(line: str) -> str:
    """Return an entry of YAML on lines of moderate length, with each list on one line."""
    together = re.sub(r"\[[^][{}]*\]|: ", lambda found: found[0].replace(" ", "\0"), line)
    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(together, 110, subsequent_indent="    ", **how).replace("\0", " ")


def _quoted(value: Any) -> str:
    """Return a value as YAML on one line, texts in quotes where they need them."""
    from kernlearn.datasets.yaml import dump_yaml

    return dump_yaml(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


def _write(config: Path, text: str, data_dir: Path | None) -> None:
    """Write a config once it is known to be valid, and say what comes next."""
    part = config.with_name(f"{config.stem}.part.yaml")
    try:
        end = replaced_file(config)
        config.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        try:
            experiment = configs.load_config(part, data_dir=data_dir)
            plan = engine.make_plan(experiment, data_dir=data_dir)
            part.replace(end)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{config}: cannot be written: {error.strerror or error}") from None
    options.show_prepared([plan])
    typer.echo(f"{config}: {len(plan.trials)} trials:\n\n{text}")
    typer.echo(
        f"`kernlearn run {config}` runs it, with `--profile quick` on few rows; `kernlearn show "
        f"{config}` says what it means; `kernlearn list` has further methods and kernels."
    )
