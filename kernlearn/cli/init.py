"""The command ``init``: a config that compares methods on data of one's own."""

import os
import re
import textwrap
from pathlib import Path
from string import Template
from typing import Annotated, Any

import typer
from typer import Argument

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.cli.data import Reading, reading_options
from kernlearn.cli.output import option
from kernlearn.exceptions import ConfigError, DataError

# The shortlists by kind of points and task: the methods of the papers and the strongest rivals,
# each with about six settings. `$sigmas` and `$gammas` become widths of Gaussian kernels,
# `$similarities` those of a kind of objects, the others numbers of points.
_BOOSTING = "learning_rate: {select: [0.03, 0.1, 0.3]}, max_leaf_nodes: {select: [8, 31]}$dense}"
_NEIGHBORS = "n_neighbors: {select: $neighbors}}"
_C = "C: {select: [1, 10, 100]}"
_PATH = "C: [[1, 10, 100, 1000]]"  # of which the method itself chooses
_LANDMARKS = "n_landmarks: $landmarks"
_GAUSSIAN = (
    f"{_LANDMARKS}, similarity: {{kernel: gaussian}}, similarity__sigma: {{select: $sigmas}}"
)
_NYSTROEM = (
    "{steps: [{estimator: NystroemEmbedding, kernel: {kernel: gaussian}, "
    "kernel__sigma: {select: $sigmas}, n_components: $components}, "
)
_MEAN = {"mean": "{estimator: DummyRegressor, baseline: true}"}
_MAJORITY = {"majority": "{estimator: DummyClassifier, baseline: true}"}
_LINEAR_PATH = "{select: [0.01, 0.1, 1, 10, 100]}}"
_REGRESSORS = {
    "gradient boosting": "{estimator: sklearn.ensemble.HistGradientBoostingRegressor, "
    + _BOOSTING,
    "SVR": f"{{estimator: SVR, kernel: rbf, gamma: {{select: $gammas}}, {_C}}}",
    "ridge": f"{{estimator: Ridge, alpha: {_LINEAR_PATH}",
    "k-NN": f"{{estimator: sklearn.neighbors.KNeighborsRegressor, {_NEIGHBORS}",
    **_MEAN,
}
_ORLAND = "thresholds: learned, C: {select: [1, 100, 10000]}"
_VECTORS = {
    "classification": {
        "gradient boosting": "{estimator: sklearn.ensemble.HistGradientBoostingClassifier, "
        + _BOOSTING,
        "RBF SVM": f"{{estimator: KernelSVM, kernel: rbf, gamma: {{select: $gammas}}, {_C}}}",
        "logistic regression": "{estimator: LogisticRegression, max_iter: 1000, C: "
        + _LINEAR_PATH,
        "k-NN": f"{{estimator: KNeighborsClassifier, {_NEIGHBORS}",
        "BBS": f"{{estimator: BBSClassifier, {_GAUSSIAN}, {_PATH}}}",
        "FTUNE": f"{{estimator: FTuneClassifier, {_GAUSSIAN}}}",
        "Nystroem": f"{_NYSTROEM}{{estimator: LinearSVM, {_C}}}]}}",
        "H0/1": "{steps: [sklearn.preprocessing.Normalizer, {estimator: RandomMaclaurin, "
        "kernel: {kernel: exponential}, kernel__sigma: {select: [0.5, 1]}, n_components: 1000, "
        "h01: true, measure: variance, complex_to_real: true}, "
        f"{{estimator: LinearSVM, {_C}}}]}}",
        **_MAJORITY,
    },
    "regression": {
        **_REGRESSORS,
        "RegLand": f"{{estimator: RegLand, {_GAUSSIAN}, {_C}}}",
        "Nystroem": _NYSTROEM + "{estimator: Ridge, alpha: {select: [0.01, 0.1, 1]}}]}",
    },
    "ordinal": {**_REGRESSORS, "ORLand": f"{{estimator: ORLand, {_GAUSSIAN}, {_ORLAND}}}"},
    "ranking": {**_REGRESSORS, "RankLand": f"{{estimator: RankLand, {_GAUSSIAN}, {_C}}}"},
}
_MATRIX = {
    "k-NN": "{estimator: SimilarityKNNClassifier, n_neighbors: [$neighbors]}",
    "SVM, similarities as features": f"{{estimator: SimilarityFeatureSVM, {_PATH}}}",
    "SVM, clipped spectrum": f"{{estimator: SpectrumSVM, spectrum: clip, {_PATH}}}",
    "BBS": f"{{estimator: BBSClassifier, {_LANDMARKS}, {_PATH}}}",
    "FTUNE": f"{{estimator: FTuneClassifier, {_LANDMARKS}}}",
    **_MAJORITY,
}
_OBJECTS = {
    "classification": _MATRIX,
    "regression": {
        "KR": "{estimator: KernelRegressor}",
        "RegLand": f"{{estimator: RegLand, {_LANDMARKS}, {_C}}}",
        **_MEAN,
    },
    "ordinal": {
        "KR": "{estimator: KernelRegressor}",
        "ORLand": f"{{estimator: ORLand, {_LANDMARKS}, {_ORLAND}}}",
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
_COUNTS = (
    "{{steps: [{{estimator: sklearn.feature_extraction.text.TfidfVectorizer, {}, "
    "ngram_range: [[1, 3]]}}, {}]}}"
)
_TEXTS = {"letters": "analyzer: char", "words": "token_pattern: '\\S+'"}
_METRICS = {
    "classification": "accuracy",
    "regression": "mse, r2",
    "ordinal": "aae, zero_one",
    "ranking": "ndcg, letor_ndcg_10",
}
# Features up to which random features have the linear term, and cells of a sparse matrix up to
# which it is made dense: 400 MB.
_MOST_FEATURES, _MOST_CELLS = 1000, 50_000_000
_MOST_TRAINED = 10_000


def init(
    data: Annotated[
        str, Argument(metavar="FILE", help="A data file, or a data set of the catalogue.")
    ],
    config: Annotated[
        Path | None, option("Config to write, by default NAME.yaml.", "FILE", "-c", "--config")
    ] = None,
    target: Annotated[str | None, option("Column to predict: name or position.", "COLUMN")] = None,
    task: Annotated[str | None, option("classification, regression or ordinal.", "TASK")] = None,
    settings: Reading = [],
    force: Annotated[bool, option("Replace an existing config.", None, "--force")] = False,
) -> None:
    """Write a config that compares methods on a data set.

    The methods suit the data and the task: those of the papers, and the strongest rivals.
    Columns that look like ids are dropped. The keys of -o are those of a `file` in a config:
    points (a column of texts to compare), matrix (similarity or distance), read_as.decimal.

    \b
    Examples:
      kernlearn init mine.csv --target price --task regression
      kernlearn init names.csv -o points=name
    """  # noqa: D301
    if config is None:
        config = Path(f"{_label(data)}.yaml")
    if config.exists() and not force:
        raise ConfigError(f"{config}: exists; --force replaces it, --config names another")
    keys = reading_options(settings, datasets.load)
    if target is not None:
        keys = {"target": int(target) if target.lstrip("-").isdecimal() else target, **keys}
    bunch = _load(data, keys, task)
    column = getattr(bunch.card.forms[0].format, "target", None)
    if _is_file(data) and "target" not in keys and isinstance(column, str):
        keys = {"target": column, **keys}
    for sentence in bunch.preparation.sentences:
        typer.echo(f"{data}: {sentence}")
    if drop := _ids(data, bunch):
        typer.echo(f"{data}: the config drops what looks like an id: {', '.join(drop)}")
        keys["drop"] = [*keys.get("drop", []), *drop]
    task = task or ("classification" if "similarity" in bunch else bunch.card.task)
    _write(config, _text(data, config, bunch, task, keys))


def _is_file(data: str) -> bool:
    """Whether a data set is a file, rather than a name in the catalogue."""
    return not data.isidentifier() or Path(data).is_file()


def _label(data: str) -> str:
    """Return the label of a data set in a config."""
    return "".join(c if c.isalnum() else "_" for c in Path(data).name.partition(".")[0]) or "data"


def _load(data: str, keys: dict[str, Any], task: str | None) -> Any:
    if task not in (None, *_METRICS):
        raise DataError(f"--task {task}: expected one of {', '.join(_METRICS)}")
    if not _is_file(data):
        return datasets.load(data, hashed=False, **keys)
    how: dict[str, Any] = {"nominal": "onehot", **keys}
    if "matrix" not in keys:  # the labels of a matrix are classes
        how["task"] = task
    return datasets.load(Path(data), hashed=False, **how)


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

    from kernlearn.datasets.tables import kind_of

    X, n = bunch.data, len(bunch.target)
    kind = "matrix" if "similarity" in bunch else kind_of(X)
    by_kind = {"matrix": {"classification": _MATRIX}, "vectors": _VECTORS}
    by_task = by_kind.get(kind, _OBJECTS if kind in _SIMILARITIES else {})
    if task not in by_task:
        known = f"expected one of {', '.join(by_task)}" if by_task else "no methods are known"
        raise DataError(f"--task {task}: for {kind}, {known}")
    methods, left_out = dict(by_task[task]), {}
    values: dict[str, Any] = {
        "dense": "",
        "landmarks": min(100, n // 2),
        "components": min(300, n // 2),
        "neighbors": [k for k in (1, 3, 5, 9, 15, 25) if k == 1 or 3 * k <= n],
    }
    if kind in _SIMILARITIES:
        values["similarities"] = _SIMILARITIES[kind]
        methods = {
            name: entry
            if "baseline" in entry
            else f"{entry[:-1]}, similarity: {{select: $similarities}}}}"
            for name, entry in methods.items()
        }
    if kind == "strings":
        linear = "Ridge, alpha: " if task != "classification" else "LinearSVM, C: "
        last = f"{{estimator: {linear}{_LINEAR_PATH}"
        methods = {name: _COUNTS.format(how, last) for name, how in _TEXTS.items()} | methods
    if kind == "vectors":
        # dense features have the variance 1, sparse points the norm 1
        gamma = 0.5 if sp.issparse(X) else 1 / X.shape[1]
        values["gammas"] = _listed(gamma, 4 * gamma)
        values["sigmas"] = _listed((2 * gamma) ** -0.5, (gamma / 2) ** -0.5)
        if sp.issparse(X):
            values["dense"] = ", dense: true"
            if X.shape[0] * X.shape[1] > _MOST_CELLS:
                left_out["gradient boosting"] = "it takes dense data only"
        if X.shape[1] > _MOST_FEATURES and "H0/1" in methods:
            left_out["H0/1"] = f"more than {_MOST_FEATURES} features"
    filled = {name: Template(entry).substitute(values) for name, entry in methods.items()}
    return {name: entry for name, entry in filled.items() if name not in left_out}, left_out


def _listed(*values: float) -> str:
    return f"[{', '.join(f'{value:.3g}' for value in values)}]"


def _text(data: str, config: Path, bunch: Any, task: str, keys: dict[str, Any]) -> str:
    """Return the config of a comparison."""
    import scipy.sparse as sp

    methods, left_out = _methods(bunch, task)
    place = {"name": data}
    if _is_file(data):
        place = {"file": Path(os.path.relpath(data, config.parent)).as_posix()}
    entry = ", ".join(f"{key}: {_quoted(value)}" for key, value in {**place, **keys}.items())
    published = "fold" in bunch
    lines = [
        f"title: {_quoted(f'Methods compared on {_label(data)}')}",
        f"task: {task}",
        "",
        "datasets:",
        f"  {_label(data)}: {{{entry}}}",
        "",
        "# `select`: the value that is best on held-out rows of the training part",
        "methods:",
        *(_folded(f"  {name}: {method}") for name, method in methods.items()),
        *(f"  # {name} is left out: {why}" for name, why in left_out.items()),
        "",
        "protocol:",
        *(["  folds: published"] if published else ["  train: 0.7"]),
        "  splits: 5                # the same for all methods",
    ]
    if not published and len(bunch.target) > _MOST_TRAINED / 0.7:
        lines.append(f"  max_train: {_MOST_TRAINED}         # of more rows")
    if bunch.data.ndim == 2 and "similarity" not in bunch:
        lines.append(f"  scale: [{'unit_norm' if sp.issparse(bunch.data) else 'zscore'}]")
    lines += [
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
    together = re.sub(r"\[[^][{}]*\]|: ", lambda match: match[0].replace(" ", "\0"), line)
    folded = textwrap.fill(
        together, 100, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return folded.replace("\0", " ")


def _quoted(value: Any) -> str:
    """Return a value as YAML on one line, texts in quotes where they need them."""
    from kernlearn.datasets.yaml import dump_yaml

    return dump_yaml(value, flow=True, width=10_000).strip()


def _write(config: Path, text: str) -> None:
    """Write a config once it is known to be valid, and print what comes next."""
    part = config.with_name(f"{config.stem}.part.yaml")
    try:
        config.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        try:
            configs.load_config(part)
            part.replace(config)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{config}: cannot be written: {error.strerror or error}") from None
    typer.echo(f"{config}:\n\n{text}")
    typer.echo(f"Run it with `kernlearn run {config}`, on few rows with `--profile quick`.")
