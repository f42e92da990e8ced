"""The command ``init``: a config that compares methods on data of one's own."""

import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any, NamedTuple

import typer
from typer import Argument

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.checks import listed
from kernlearn.cli.advice import (
    about_classes,
    class_sizes,
    dates_of,
    doubts,
    giveaways,
    in_order,
    orders,
    other_splits,
)
from kernlearn.cli.data import Settings, reading_options
from kernlearn.cli.output import option, show_wrapped, write_text
from kernlearn.exceptions import ConfigError, DataError, as_option

_METRICS = {
    "classification": ["accuracy"],
    "regression": ["rmse", "r2"],
    "ordinal": ["aae", "zero_one"],
    "ranking": ["ndcg", "letor_ndcg_10"],
}
# Features up to which random features have the linear term, and cells of a sparse matrix up to
# which it is made dense: 400 MB.
_MOST_FEATURES, _MOST_CELLS = 1000, 50_000_000
_LEAST_UNITS = 20  # of a panel
_SHARES = (1 / 16, 1 / 4, 1, 4)  # of the usual width of a Gaussian
_MOST_LOST = 1 / 3  # share of rows that a config may leave out
_MOST_FAULTS = 8  # of a file that are shown together
_FOR_THE_USER = ("target", "read_as.text")  # advice that may not be what is meant
_MOST_ROWS = 5_000  # with more a kernel machine takes minutes


class _Read(NamedTuple):
    """Data, the keys of the config, the columns left out and why, and those that rows share.

    `dates` are columns that divide rows by time, `time` the one that they are in the order of.
    """

    bunch: Any
    keys: dict[str, Any]
    away: dict[str, str]
    shared: dict[str, int]
    dates: dict[str, bool] = {}
    time: str | None = None


def init(
    data: Annotated[
        str, Argument(metavar="FILE", help="A data file, or a name of the catalogue.")
    ],
    config: Annotated[Path | None, option("Default: NAME.yaml.", "FILE", "-c", "--config")] = None,
    target: Annotated[str | None, option("Column to predict: name or position.", "COLUMN")] = None,
    task: Annotated[str | None, option("classification, regression or ordinal.", "TASK")] = None,
    settings: Settings = [],
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
    from kernlearn.yaml import dump_yaml

    config = config or Path(f"{_label(data)}.yaml")
    if config.exists() and not force:
        raise ConfigError(f"{config}: exists; --force replaces it, --config names another")
    if task not in (None, *_METRICS):
        raise DataError(f"--task {task}: expected one of {', '.join(_METRICS)}")
    keys = ({} if target is None else {"target": target}) | reading_options(settings)
    bunch, keys, away, shared, dates, time = _read_or_advise(data, task, keys)
    grades = in_order(bunch.target_names.tolist()) if bunch.card.task == "ordinal" else []
    if grades and "grades" not in keys and grades != bunch.target_names.tolist():
        _show(data, [f"grades in their usual order: {', '.join(grades)}; `grades` gives another"])
        keys = {**keys, "grades": grades}
        bunch, keys, away, shared, dates, time = _read(data, task, keys)
    elif bunch.card.task == "ordinal" and bunch.card.forms[0].order == "alphabet" and not grades:
        way = as_option("grades", bunch.target_names.tolist())
        raise DataError(f"{data}: the grades have no known order: write it, as `{way}` does")
    n_rows, n = bunch.preparation.rows, len(bunch.target)
    for name in [*shared] if _is_file(data) else ():
        try:
            datasets.load(Path(data), **{"missing": "impute", **keys}, groups=name)
            break
        except DataError as error:  # some rows lack it
            _show(data, [f"rows are not grouped by {name} ({error.problem})"])
            del shared[name]
    advice = []
    if shared:
        names = listed(f"{name} ({n} values in {n_rows} rows)" for name, n in shared.items())
        whole = f"rows that share a value of {next(iter(shared))} stay together (`groups`)"
        whole += ", `-o groups=null` takes it as a feature"
        advice = [f"rows seem to belong together by {names}: in splits {whole}"]
        bunch.preparation = replace(bunch.preparation, shared={})
    lost, sentences = 1 - n / n_rows, [*bunch.preparation.sentences, *advice]
    if away:
        sentences.append(f"the config drops columns that are no features: {_with_reasons(away)}")
    _show(data, sentences)
    if lost > _MOST_LOST and keys.get("missing", "impute") != "impute":
        ways = "-o missing=impute fills entries in, -o drop=[COLUMN] leaves columns out"
        raise DataError(f"{data}: {lost:.0%} of the rows would be left out: {ways}")
    task = task or ("classification" if bunch.similarity is not None else bunch.card.task)
    if task == "classification":
        _show(data, about_classes(data, bunch))
    _show(data, orders(bunch, task))
    others = []
    if time:
        whole = "each split trains on rows before those that it tests on (`time`)"
        further = "columns of weekdays, months or earlier targets would be features"
        advice = [f"rows follow each other by {time}, one at each time: {whole}; {further}"]
        _show(data, advice)
    content, left_out = _config(data, config, bunch, task, keys, shared, time)
    if _is_file(data) and not time:
        others = other_splits(bunch, content["protocol"], dates, bool(shared))
    _show(data, [*others, *(f"{name} is left out: {why}" for name, why in left_out.items())])
    in_doubt = [*doubts(bunch, task), *giveaways(bunch, task)]
    _show(data, in_doubt)
    if most := content["protocol"].get("max_train"):
        limit = f"each split trains on {most} of {n} rows and tests on as many at most"
        _show(config, [f"{limit}; raise max_train and max_test for more"])
    how = (
        "# select: the value that is best on held-out rows of the training part is taken\n"
        "# C: [[1, 10]] passes a list to the method, which chooses from it itself\n"
    )
    for sentence in [*advice, *others, *in_doubt]:
        how += fill(sentence, 88, initial_indent="# ", subsequent_indent="#   ") + "\n"
    write_text(config, how + dump_yaml(content), ", ".join(content["methods"]))
    configs.load_config(config)
    typer.echo(f"Run it with `kernlearn run {config}`, on few rows with `--profile quick`.")


def _read_or_advise(data: str, task: str | None, keys: dict[str, Any]) -> _Read:
    """Load a data set; if it fails, go on with the first advice for what else would."""
    advice, problems, asked = dict[str, Any](), list[str](), {**keys, "task": task}
    while True:
        try:
            read = _read(data, asked["task"], {k: v for k, v in asked.items() if k != "task"})
            break
        except DataError as error:
            problem = error.as_options()
            ways = [way for way in error.ways if way[1] not in ("FILE", "NAME")]
        goes_on = problem not in problems and ways and ways[0][0] not in _FOR_THE_USER
        problems = [*dict.fromkeys([*problems, problem])]
        if not goes_on or len(problems) == _MOST_FAULTS:
            raise DataError("\n".join(problems))
        (key, value), (section, _, name) = ways[0], ways[0][0].rpartition(".")
        if section or key == "read_as":
            value = {**asked.get("read_as", {}), **({name: value} if section else value)}
            key = "read_as"
        elif key == "drop":
            value = [*asked.get("drop", []), *value]
        asked[key] = advice[key] = value
    if problems:
        options = " ".join(as_option(key, value) for key, value in advice.items())
        every = f"\nWith the first of each it reads: {options}" if len(problems) > 1 else ""
        raise DataError("\n".join(problems) + every)
    return read


def _read(data: str, task: str | None, keys: dict[str, Any]) -> _Read:
    """Load a data set, a file without columns that look like ids or that rows have in common.

    A file keeps its rows with missing entries, which each split then fills in.
    """
    from kernlearn.datasets.card import Reading
    from kernlearn.datasets.groups import ID_NAME
    from kernlearn.datasets.guessing import VALUES

    if not _is_file(data):
        bunch = datasets.load(data, **{"nominal": "onehot", **keys})
        own = {"nominal": "onehot"} if bunch.preparation.one_hot else {}
        return _Read(bunch, own | keys, {}, bunch.preparation.shared)
    # the labels of a matrix are classes
    how = {"nominal": "onehot", "task": None if "matrix" in keys else task, "missing": "impute"}
    bunch = datasets.load(Path(data), **how | keys)
    asked = bunch.card.forms[0].texts
    shared = {k: n for k, n in bunch.preparation.shared.items() if k not in asked}
    away, dates = dict(bunch.preparation.id_like), dates_of(bunch, bunch.feature_names.tolist())
    time, panel = _in_time(data, keys, dates)
    if time:  # a number that counts the times is a trend
        away = {k: why for k, why in away.items() if ID_NAME.fullmatch(k)}
    shared = {} if time or "groups" in keys else shared or panel
    if bunch.data.ndim == 2 and bunch.similarity is None:  # points have no features to drop
        away |= dict.fromkeys(shared, "rows share its values")
    if away and away.keys() >= {name.partition("=")[0] for name in bunch.feature_names}:
        text = f"no feature is left but what looks like an id: {_with_reasons(away)}"
        lists = [k for k, why in bunch.card.forms[0].left_out.items() if why.startswith(VALUES)]
        raise DataError(f"{data}: {text}", [("points", name) for name in lists[:1]])
    if away:  # their gaps cost no rows, and they have no part in bandwidths
        keys = keys | {"drop": [*Reading.of(**keys).drop, *away]}
        bunch = datasets.load(Path(data), **how | keys)
    column = getattr(bunch.card.forms[0].format, "target", None)
    named = {"target": column} if isinstance(column, str) and "labels" not in keys else {}
    if bunch.preparation.imputed:
        keys = {"missing": "impute"} | keys
    keys = {key: value for key, value in (named | keys).items() if value is not None}
    return _Read(bunch, keys, away, shared, dates, time)


def _with_reasons(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({why})" for name, why in columns.items())


def _show(name: object, sentences: Iterable[str]) -> None:
    for sentence in sentences:
        show_wrapped(f"{name}: {sentence}", 2)


def _is_file(data: str) -> bool:
    """Whether a data set is a file, rather than a name in the catalogue."""
    return not data.isidentifier() or Path(data).is_file()


def _label(data: str) -> str:
    """Return the label of a data set in a config."""
    name = re.sub(r"(\.[A-Za-z]\w*)+$", "", Path(data).name)  # without suffixes
    return re.sub(r"\W", "_", name) or "data"


def _methods(bunch: Any, task: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the methods for a data set, and why others are left out."""
    import numpy as np
    import scipy.sparse as sp

    from kernlearn.datasets.files import shipped
    from kernlearn.datasets.tables import kind_of
    from kernlearn.yaml import read_yaml

    X, n = bunch.data, len(bunch.target)
    shortlists, _ = read_yaml(shipped("configs") / "shortlists" / "methods.yaml")
    kind = "matrix" if bunch.similarity is not None else kind_of(X)
    similarities = shortlists["similarities"].get(kind)
    by_task = shortlists.get(kind if kind in shortlists or similarities is None else "objects", {})
    if task not in by_task:
        known = f"expected one of {', '.join(by_task)}" if by_task else "no methods are known"
        raise DataError(f"--task {task}: for {kind}, {known}")
    values: dict[str, Any] = {
        "$landmarks": min(100, n // 2),
        "$components": min(300, n // 2),
        "$neighbors": [k for k in (1, 3, 5, 9, 15, 25) if k == 1 or 3 * k <= n],
        "$similarities": similarities,
        "$dense": True if sp.issparse(X) else None,
    }
    left_out = {}
    if kind == "vectors":
        # dense features have the variance 1, sparse points the norm 1
        gamma = 0.5 if sp.issparse(X) else 1 / X.shape[1]
        values["$gammas"] = [_rounded(k * gamma) for k in _SHARES]
        values["$sigmas"] = [_rounded((2 * k * gamma) ** -0.5) for k in _SHARES]
        if sp.issparse(X) and X.shape[0] * X.shape[1] > _MOST_CELLS:
            left_out["gradient boosting"] = "it takes dense data only"
        if X.shape[1] > _MOST_FEATURES and "H0/1" in by_task[task]:
            left_out["H0/1"] = f"more than {_MOST_FEATURES} features"
    if kind == "series" and len({np.shape(one) for one in X}) > 1:
        left_out["MiniRocket"] = "it takes series of one length and number of channels"
    methods = {k: _filled(v, values) for k, v in by_task[task].items() if k not in left_out}
    if texts := bunch.card.forms[0].texts:
        last = methods.get("logistic regression", methods.get("ridge"))
        methods |= {"text and columns": _with_texts(texts, [*bunch.preparation.one_hot], last)}
    return methods, left_out


def _with_texts(texts: list[str], nominal: list[str], last: Any) -> dict[str, Any]:
    """Return a method that weighs the words of texts beside nominal columns and numbers."""
    words = {"estimator": "sklearn.feature_extraction.text.TfidfVectorizer"}
    hot = {"estimator": "sklearn.preprocessing.OneHotEncoder", "handle_unknown": "ignore"}
    parts: list[Any] = [[f"words{i}", words, text] for i, text in enumerate(texts, 1)]
    columns = {
        "estimator": "sklearn.compose.ColumnTransformer",
        "transformers": [[*parts, ["nominal", hot, nominal]] if nominal else parts],
        "remainder": {"estimator": "sklearn.preprocessing.StandardScaler"},
    }
    return {"columns": "raw", "steps": [columns, "sklearn.impute.SimpleImputer", last]}


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _filled(entry: Any, values: dict[str, Any]) -> Any:
    """Return an entry with the values that its words with $ stand for; None takes its key away."""
    if isinstance(entry, dict):
        filled = {key: _filled(value, values) for key, value in entry.items()}
        return {key: value for key, value in filled.items() if value is not None}
    if isinstance(entry, list):
        return [_filled(value, values) for value in entry]
    return values[entry] if isinstance(entry, str) and entry[:1] == "$" else entry


def _in_time(
    data: str, keys: Mapping[str, Any], dates: Mapping[str, bool]
) -> tuple[str | None, dict[str, int]]:
    """Return the first column of dates if rows are in its order, one at each time.

    Beside it are the columns of whole numbers that have one row for each value and time, as those
    of persons in a panel, with their numbers of values.
    """
    import numpy as np

    name, is_unclear = next(iter(dates.items()), ("", True))
    if is_unclear or "time" in keys:
        return None, {}
    drop = [column for column in keys.get("drop", ()) if column != name]
    panel = dict[str, int]()
    with suppress(DataError):  # some rows lack it
        options = {"missing": "impute", **keys, "drop": drop, "groups": None, "time": name}
        bunch = datasets.load(Path(data), **options)
        steps = np.diff(bunch.time)
        if (steps > 0).all() or (steps < 0).all():
            return name, {}
        for column, values in zip(bunch.feature_names, bunch.data.T, strict=True):
            n_values = len(np.unique(values))
            if _LEAST_UNITS <= n_values <= len(values) / 2 and not (values % 1).any():
                both = np.column_stack([values, bunch.time])
                if len(np.unique(both, axis=0)) == len(values):
                    panel[str(column)] = n_values
    return None, panel


def _config(
    data: str,
    config: Path,
    bunch: Any,
    task: str,
    keys: dict[str, Any],
    shared: Mapping[str, int],
    time: str | None,
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the config of a comparison, and why methods are left out of it.

    The first of the columns whose values rows share marks groups; `time` may be a column.
    """
    import scipy.sparse as sp

    methods, left_out = _methods(bunch, task)
    keys = {"file" if _is_file(data) else "name": data, **keys}
    for key in keys.keys() & {"file", "labels"}:
        keys[key] = Path(os.path.relpath(keys[key], config.parent)).as_posix()
    published = bunch.fold is not None
    group = None if published or task == "ranking" else next(iter(shared), None)
    protocol: dict[str, Any] = {"train": 0.7}
    if published or task == "ranking":  # queries are held out whole
        protocol = {"folds": "published" if published else 5}
    elif group and task != "regression":  # groups go with stratify in folds only
        protocol = {"folds": 5, "refit": True}
    elif time:
        protocol = {"time": time}
    protocol |= {"splits": 5} | ({"groups": group} if group else {})
    if time is None and task in ("classification", "ordinal") and not published:
        protocol["stratify"] = True
    if not published and len(bunch.target) > _MOST_ROWS / 0.7:
        protocol |= {"max_train": _MOST_ROWS, "max_test": _MOST_ROWS}
    by_pairs = ["comparisons"] if bunch.data.ndim == 1 or bunch.similarity is not None else []
    if not by_pairs:
        protocol["scale"] = ["unit_norm" if sp.issparse(bunch.data) else "zscore_numbers"]
    metrics = _METRICS[task]
    if task == "classification":
        sizes = [size for _, size in class_sizes(bunch)]
        if max(10, 2 * len(sizes)) * sizes[-1] < sum(sizes) or sizes[0] > 0.8 * sum(sizes):
            of_two = ["roc_auc", "average_precision"] if len(bunch.target_names) == 2 else []
            metrics = [*of_two, "balanced_accuracy", *metrics]
    few_rows = {} if published else {"max_train": 500, "max_test": 500}
    content = {
        "title": f"Methods compared on {_label(data)}",
        "task": task,
        "datasets": {_label(data): keys},
        "methods": methods,
        "protocol": protocol,
        "metrics": [*metrics, *by_pairs, "fit_seconds", "predict_seconds"],
        "table": {"rows": ["dataset", "method"]},
        "best": {"metrics": metrics[:1]},
        "profiles": {"quick": {"splits": 2, **few_rows}},
    }
    return content, left_out
