"""What ``init`` says of data: classes, orders, doubts, what gives the target away, splits."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kernlearn.checks import counted, listed
from kernlearn.exceptions import DataError, as_option

_LEAST_OF_CLASS, _MOST_OF_POSITIVE = 8, 3  # rows of a class, and shares, without a remark
_LEAST_GROUPS = 10  # values of a column of words that could mark groups
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
    [
        *("strongly disagree", "disagree", "neither agree nor disagree", "neutral", "undecided"),
        *("agree", "strongly agree"),
    ],
    [
        *("very dissatisfied", "dissatisfied", "neither satisfied nor dissatisfied", "neutral"),
        *("satisfied", "very satisfied"),
    ],
]
# Answers that have no place in a scale.
_NO_ANSWER = ["don't know", "do not know", "not sure", "not applicable", "no answer"]
_ENOUGH_ROWS = 5_000  # to see whether the target is a linear function
_FAR = 20  # quartile ranges
_MOST_AGAIN = 0.05  # share of rows that repeat others
_CHANCE = 1e-4  # with which a column's gaps may be those of a class


def class_sizes(bunch: Any) -> list[tuple[str, int]]:
    """Return the classes with their numbers of rows, the largest first."""
    return Counter(bunch.target_names[bunch.target].tolist()).most_common()


def about_classes(data: str, bunch: Any) -> Iterator[str]:
    """Say how large classes are; refuse what is a single one, or no classes."""
    sizes, names, n = class_sizes(bunch), bunch.target_names, len(bunch.target)
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


def in_order(values: Iterable[str]) -> list[str]:
    """Return words of a usual scale in its order; none of others."""
    words = {value.strip().casefold(): value for value in values}
    for scale in _SCALES:
        if len(words) > 2 and words.keys() <= {*scale}:
            return [words[word] for word in scale if word in words]
    return []


def orders(bunch: Any, task: str) -> Iterator[str]:
    """Say how classes are taken as grades, and features as numbers, if words have an order."""
    if task == "classification" and (grades := in_order(bunch.target_names.tolist())):
        way = as_option("grades", grades)
        yield f"{', '.join(grades)} seem to have an order: `{way}` takes them as grades"
    columns, numbers, none = list[str](), dict[str, int](), dict[str, None]()
    for name, values in bunch.columns.nominal.items() if bunch.columns else ():
        others = [value for value in values if value.strip().casefold() in _NO_ANSWER]
        places = {v: k for k, v in enumerate(in_order(v for v in values if v not in others))}
        none |= dict.fromkeys(others if places else ())
        if places and all(numbers.get(value, k) == k for value, k in places.items()):
            columns.append(name)
            numbers |= places
    if columns:
        texts = {"missing": [*none], "replace": numbers}
        texts = {key: json.dumps(text, ensure_ascii=False) for key, text in texts.items() if text}
        way = f"`read_as: {{{', '.join(f'{key}: {text}' for key, text in texts.items())}}}`"
        yield f"values of {listed(columns)} seem to have an order: {way} makes them numbers"


def doubts(bunch: Any, task: str) -> Iterator[str]:
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
    low, middle, high = np.nanquantile(X, [0.25, 0.5, 0.75], axis=0)
    spread = np.where(high > low, high - low, np.inf)
    n_far = (abs(X - middle) > _FAR * spread).sum(axis=0)
    if n_far.any():
        worst = [f"{bunch.feature_names[i]} ({n_far[i]})" for i in np.argsort(-n_far) if n_far[i]]
        far = f"entries of {listed(worst)} are more than {_FAR} quartile ranges from the median"
        yield f"{far}: `scale: [robust]` keeps them from making all others alike"
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


def giveaways(bunch: Any, task: str) -> Iterator[str]:
    """Say which features give the target away, so that they may not be known before it is."""
    import numpy as np

    X, y = bunch.data, bunch.target
    if not _has_columns(bunch):
        return
    if task == "regression":
        rows = np.flatnonzero(~np.isnan(X).any(axis=1))[:_ENOUGH_ROWS]
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


def dates_of(bunch: Any, features: Iterable[str]) -> dict[str, bool]:
    """Return the columns of dates, and whether their format is unclear, those last."""
    from kernlearn.datasets.guessing import DATES, UNCLEAR

    left_out = bunch.card.forms[0].left_out
    dated = {name: UNCLEAR in why for name, why in left_out.items() if why.startswith(DATES)}
    dated |= {name: False for name in features if name.lower() in ("year", "date")}
    return {name: dated[name] for name in sorted(dated, key=dated.__getitem__)}


def other_splits(
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
    nested = [k for k, why in left_out.items() if why == f"{VALUES} dict"]
    if nested:
        fields = f"the fields of {listed(nested)} would be columns"
        sentences.append(f"{fields} if they were written so, as pandas.json_normalize does")
    lists = [k for k, why in left_out.items() if why == f"{VALUES} list"]
    sentences += [f"`points: {k}` compares the values of {k}, and no other column" for k in lists]
    most = prepared.rows / 2
    words = [name for name, n in prepared.one_hot.items() if _LEAST_GROUPS <= n <= most]
    if words and not grouped:
        groups = f"`protocol: {{groups: {words[0]}}}`"
        groups += " in place of stratify" if "stratify" in protocol else ""
        kept = f"if rows that share a value of {listed(words)} belong together"
        sentences.append(f"{kept}, {groups} keeps them so, and the column is no feature")
    return sentences
