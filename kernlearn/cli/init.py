"""The command ``init``: a config that compares methods on data of one's own."""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer
from typer import Argument

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.checks import counted, listed
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
_MOST_LOST = 1 / 3  # share of rows that a config may leave out
_LEAST_OF_CLASS, _MOST_OF_POSITIVE = 8, 3  # rows of a class, and shares, without a remark
_LEAST_GROUPS = 10  # values of a column of words that could mark groups
_MOST_FAULTS = 8  # of a file that are shown together
_FOR_THE_USER = ("target", "read_as.text")  # advice that may not be what is meant
_MOST_NAMED = 5  # columns that separate the classes
_SENTINELS = (-1, -9, -99, -999, -9999, 99, 999, 9999)  # numbers that may stand for gaps
#: Words of usual scales, in their order.
_SCALES = [
    ["none", "very low", "low", "mid", "medium", "moderate", "high", "very high"],
    ["none", "absent", "mild", "moderate", "severe", "critical"],
    ["bad", "poor", "fair", "good", "very good", "excellent"],
    ["xs", "s", "m", "l", "xl", "xxl"],
    ["tiny", "small", "medium", "large", "huge"],
    ["never", "rarely", "sometimes", "often", "always"],
    ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
]
_MOST_AGAIN = 0.05  # share of rows that repeat others
_CHANCE = 1e-4  # with which a column's gaps may be those of a class
_MOST_ROWS = 5_000  # with more a kernel machine takes minutes


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
    bunch, keys, away, shared = _read_or_advise(data, task, keys)
    n_rows, n = bunch.preparation.rows, len(bunch.target)
    shared = {} if "groups" in keys else shared  # the user has decided
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
        _show(data, _about_classes(data, bunch))
    _show(data, _orders(bunch, task))
    features, others = [*bunch.feature_names.tolist(), *away], []
    dates = _dates(bunch, features) if _is_file(data) else {}
    time = None if shared else _series(data, keys, dates)
    if time:
        whole = "each split trains on rows before those that it tests on (`time`)"
        advice = [f"rows follow each other by {time}, one at each time: {whole}"]
        _show(data, advice)
    content, left_out = _config(data, config, bunch, task, keys, shared, time)
    if _is_file(data) and not time:
        others = _other_splits(bunch, content["protocol"], dates, bool(shared))
    _show(data, [*others, *(f"{name} is left out: {why}" for name, why in left_out.items())])
    _show(data, [*_doubts(bunch, task), *_giveaways(bunch, task)])
    if most := content["protocol"].get("max_train"):
        limit = f"each split trains on {most} of {n} rows and tests on as many at most"
        _show(config, [f"{limit}; raise max_train and max_test for more"])
    how = (
        "# select: the value that is best on held-out rows of the training part is taken\n"
        "# C: [[1, 10]] passes a list to the method, which chooses from it itself\n"
    )
    for sentence in [*advice, *others]:
        how += fill(sentence, 88, initial_indent="# ", subsequent_indent="#   ") + "\n"
    write_text(config, how + dump_yaml(content), ", ".join(content["methods"]))
    configs.load_config(config)
    typer.echo(f"Run it with `kernlearn run {config}`, on few rows with `--profile quick`.")


def _read_or_advise(data: str, task: str | None, keys: dict[str, Any]) -> Any:
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


def _read(
    data: str, task: str | None, keys: dict[str, Any]
) -> tuple[Any, dict[str, Any], dict[str, str], dict[str, int]]:
    """Load a data set, a file without columns that look like ids or that rows have in common.

    A file keeps its rows with missing entries, which each split then fills in.
    Beside the data come the keys of the config, what is left out and why, and what rows share.
    """
    from kernlearn.datasets.card import Reading
    from kernlearn.datasets.guessing import VALUES

    if not _is_file(data):
        bunch = datasets.load(data, **{"nominal": "onehot", **keys})
        own = {"nominal": "onehot"} if bunch.preparation.one_hot else {}
        return bunch, own | keys, {}, bunch.preparation.shared
    # the labels of a matrix are classes
    how = {"nominal": "onehot", "task": None if "matrix" in keys else task, "missing": "impute"}
    bunch = datasets.load(Path(data), **how | keys)
    asked = bunch.card.forms[0].texts
    shared = {k: n for k, n in bunch.preparation.shared.items() if k not in asked}
    away = dict(bunch.preparation.id_like)
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
    return bunch, named | keys, away, shared


def _with_reasons(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({why})" for name, why in columns.items())


def _sizes(bunch: Any) -> list[tuple[str, int]]:
    """Return the classes with their numbers of rows, the largest first."""
    return Counter(bunch.target_names[bunch.target].tolist()).most_common()


def _about_classes(data: str, bunch: Any) -> Iterator[str]:
    """Say how large classes are; refuse what is a single one, or no classes."""
    sizes, names, n = _sizes(bunch), bunch.target_names, len(bunch.target)
    (largest, _), (rarest, n_rarest) = sizes[0], sizes[-1]
    if len(sizes) < 2:
        raise DataError(f"{data}: a single class is left: {rarest}")
    if 2 * len(names) > n:
        problem = f"{data}: the target has {len(names)} values in {n} rows, which are no classes"
        raise DataError(f"{problem}: --target names another column, --task regression numbers")
    shown = listed(f"{label} ({count})" for label, count in sizes[:3])
    if len(sizes) > 3:
        shown += f", the smallest {rarest} ({n_rarest})"
    if len(names) == 2:
        shown += f"; {names[1]} is the positive class"
        if largest == names[1] and n > _MOST_OF_POSITIVE * n_rarest:
            shown += f", `binarize: [{rarest}]` makes {rarest} it"
    yield f"rows by class: {shown}"
    if n_rarest < _LEAST_OF_CLASS:
        few = "parts of splits may have none, so that scores fail: leave it out or join classes"
        yield f"class {rarest} has {n_rarest} rows; {few}"


def _in_order(values: Iterable[str]) -> list[str]:
    """Return words of a usual scale in its order; none of others."""
    words = {value.strip().casefold(): value for value in values}
    for scale in _SCALES:
        if len(words) > 2 and words.keys() <= {*scale}:
            return [words[word] for word in scale if word in words]
    return []


def _orders(bunch: Any, task: str) -> Iterator[str]:
    """Say how classes are taken as grades, and features as numbers, if words have an order."""
    if task == "classification" and (grades := _in_order(bunch.target_names.tolist())):
        way = as_option("grades", grades)
        yield f"{', '.join(grades)} seem to have an order: `{way}` takes them as grades"
    columns, numbers = list[str](), dict[str, int]()
    for name, values in bunch.columns.nominal.items() if bunch.columns else ():
        places = {value: k for k, value in enumerate(_in_order(values))}
        if places and all(numbers.get(value, k) == k for value, k in places.items()):
            columns.append(name)
            numbers |= places
    if columns:
        way = f"`read_as: {{replace: {json.dumps(numbers, ensure_ascii=False)}}}`"
        yield f"values of {listed(columns)} seem to have an order: {way} makes them numbers"


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
        values["$gammas"] = [_rounded(k * gamma) for k in (0.25, 1, 4)]
        values["$sigmas"] = [_rounded((2 * k * gamma) ** -0.5) for k in (0.25, 1, 4)]
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


def _doubts(bunch: Any, task: str) -> Iterator[str]:
    """Say that a target is skewed, that rows are repeated, and which numbers may be gaps."""
    import numpy as np

    X, y = bunch.data, bunch.target
    if task == "regression" and (skewness := ((y - y.mean()) ** 3).mean() / y.std() ** 3) > 1:
        scaler = "`transformer: {estimator: sklearn.preprocessing.PowerTransformer}`"
        yield (
            f"the target is skewed (skewness {skewness:.1f}): {scaler} in a "
            "TransformedTargetRegressor makes it even, `metrics: [mae]` counts large values less"
        )
    if not _has_columns(bunch):
        return
    again = len(X) - len(np.unique(np.column_stack([X, y]), axis=0))
    if again > _MOST_AGAIN * len(X):
        yield f"{again} of {len(X)} rows repeat another: random splits have both in their parts"
    coded: dict[int, list[str]] = {}
    for name, column in zip(bunch.feature_names, X.T, strict=True):
        for value in _SENTINELS:
            rest = column[(column != value) & ~np.isnan(column)]
            n = np.count_nonzero(column == value)
            beyond = max(rest.min() - value, value - rest.max()) if n > 1 and len(rest) else 0
            if beyond > np.ptp(rest) or (beyond and value <= -9 and rest.min() >= 0):
                coded.setdefault(value, []).append(f"{name} in {counted(int(n), 'row')}")
    for value, places in coded.items():
        way = f"`read_as: {{missing: [{value}]}}` takes it as missing"
        yield f"{value} is far from the other values of {listed(places)}: {way}"


def _has_columns(bunch: Any) -> bool:
    """Whether points are rows of a dense table."""
    return bunch.similarity is None and bunch.data.ndim == 2 and not hasattr(bunch.data, "tocsr")


def _giveaways(bunch: Any, task: str) -> Iterator[str]:
    """Say which features give the target away, so that they may not be known before it is."""
    import numpy as np

    X, y = bunch.data, bunch.target
    if not _has_columns(bunch):
        return
    if task == "regression":
        rows = np.flatnonzero(~np.isnan(X).any(axis=1))[:_MOST_ROWS]
        A, y = np.column_stack([X[rows], np.ones(len(rows))]), y[rows]
        is_exact = len(A) > 2 * A.shape[1]
        if is_exact and (y - A @ np.linalg.lstsq(A, y)[0]).var() <= 1e-9 * y.var():
            yield "the target is a linear function of the features: is one a part of it?"
        return
    names, shares = [], np.bincount(y) / len(y)
    filled: dict[str, Any] = {}
    for name, column in zip(bunch.feature_names, X.T, strict=True):
        order = np.argsort(column, kind="stable")[: np.count_nonzero(~np.isnan(column))]
        values, classes = column[order], y[order]
        ends = np.flatnonzero(classes[1:] != classes[:-1])
        if len(ends) == len(bunch.target_names) - 1 and (values[ends] != values[ends + 1]).all():
            names.append(name)
        whole = name.partition("=")[0]
        nominal = whole in bunch.preparation.one_hot
        key, is_filled = (whole, column == 1) if nominal else (name, ~np.isnan(column))
        filled[key] = filled.get(key, False) | is_filled
    text = "alone separates the classes: is it known before they are?"
    yield from (f"{name} {text}" for name in names[:_MOST_NAMED])
    for name, mask in filled.items():
        for rows, has in ((mask, "has"), (~mask, "lacks")):
            codes, n = np.unique(y[rows]), np.count_nonzero(rows)
            if len(codes) == 1 and shares[codes[0]] ** n < _CHANCE:
                label = bunch.target_names[codes[0]]
                yield f"{name} {has} entries in {n} rows, all of {label}: is it known before that?"
                break


def _dates(bunch: Any, features: Iterable[str]) -> dict[str, bool]:
    """Return the columns of dates, and whether their format is unclear, those last."""
    from kernlearn.datasets.guessing import DATES, UNCLEAR

    left_out = bunch.card.forms[0].left_out
    dated = {name: UNCLEAR in why for name, why in left_out.items() if why.startswith(DATES)}
    dated |= {name: False for name in features if name.lower() in ("year", "date")}
    return {name: dated[name] for name in sorted(dated, key=dated.__getitem__)}


def _series(data: str, keys: Mapping[str, Any], dates: Mapping[str, bool]) -> str | None:
    """Return the first column of dates if rows are in its order, one at each time."""
    import numpy as np

    name, is_unclear = next(iter(dates.items()), ("", True))
    if is_unclear or {"time", "groups"} & keys.keys():
        return None
    drop = [column for column in keys.get("drop", ()) if column != name]
    with suppress(DataError):  # some rows lack it
        options = {"missing": "impute", **keys, "drop": drop, "time": name}
        steps = np.diff(datasets.load(Path(data), **options).time)
        return name if (steps > 0).all() or (steps < 0).all() else None
    return None


def _other_splits(
    bunch: Any, protocol: dict[str, Any], dates: Mapping[str, bool], grouped: bool
) -> list[str]:
    """Say which columns could divide the rows, by time, or as groups if no others do."""
    from kernlearn.datasets.guessing import TEXT, VALUES

    sentences = []
    left_out, prepared = bunch.card.forms[0].left_out, bunch.preparation
    if dates:
        first, is_unclear = next(iter(dates.items()))
        replaced = " and ".join(
            k for k in ("train", "folds", "refit", "groups", "stratify") if k in protocol
        )
        how = f"{first} written as 2023-12-31 and " if is_unclear else ""
        time = f"with {how}`protocol: {{time: {first}}}` in place of {replaced}"
        sentences.append(f"{time}, each split trains on rows before those that it tests on")
    asked = bunch.card.forms[0].texts
    texts = [k for k, why in left_out.items() if why.startswith(TEXT) and k not in asked]
    if texts:
        keeps = f"`read_as: {{text: [{', '.join(texts)}]}}`"
        sentences.append(f"{keeps} keeps text for methods with `columns: raw`")
    lists = [k for k, why in left_out.items() if why.startswith(VALUES)]
    sentences += [f"`points: {k}` compares the values of {k}, and no other column" for k in lists]
    most = prepared.rows / 2
    words = [name for name, n in prepared.one_hot.items() if _LEAST_GROUPS <= n <= most]
    if words and not grouped:
        groups = f"`protocol: {{groups: {words[0]}}}`"
        groups += " in place of stratify" if "stratify" in protocol else ""
        kept = f"if rows that share a value of {listed(words)} belong together"
        sentences.append(f"{kept}, {groups} keeps them so, and the column is no feature")
    return sentences


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
        sizes = [size for _, size in _sizes(bunch)]
        if max(10, 2 * len(sizes)) * sizes[-1] < sum(sizes) or sizes[0] > 0.8 * sum(sizes):
            of_two = ["roc_auc"] if len(bunch.target_names) == 2 else []
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
