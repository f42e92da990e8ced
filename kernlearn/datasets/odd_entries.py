"""Entries of tables that are not what they seem: totals, and numbers that look odd."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.datasets import readers
from kernlearn.datasets.files import file_bytes, opened
from kernlearn.datasets.formats import HEAD, HEAD_ROWS, TableFile, is_like_number
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

_TOTALS = {"total", "totals", "sum", "sums", "summe", "gesamt", "insgesamt", "somme", "totale"}
_OF_THOUSANDS = "other columns have decimal points, so leave out those of thousands"
_SIGNS = {*"$€£¥%−"}  # beside numbers
_LIMIT = re.compile(r"[<>≤≥]=?\s*([+-]?\d+([.,]\d+)?)")
_SERIES = re.compile(r"\s*\[?\s*[-+.\deE]+([\s,;|:]+[-+.\deE]+){2,}\s*\]?\s*")
_MOST_MISSING = 20  # texts that a message takes for missing entries
_WITH_UNIT = re.compile(
    r"([$€£¥])\s?[+-]?\d[\d.,' ]*|[+-]?[\d.,' ]*\d(\s[^\W\d_]{1,6}|[^\W\d_]{2,6}|\s?[%$€£¥])"
)
_MOST_UNITS = 0.8  # share of entries that have a unit
_LEAST_NUMBERS = 10  # beside which <5 is one below a limit of detection


def refuse_totals(file: TableFile) -> None:
    """Refuse a last row that has the sums of the others, by its word or by its numbers, or a note.

    A note is the only entry of a row, below a blank row or rows that have half of their entries.
    """
    frame = file.frame
    if len(frame) < HEAD_ROWS / 10:
        return
    rest, last = frame.iloc[:-1], frame.iloc[-1]
    sizes = frame.notna().sum(axis=1).to_numpy()
    above = len(sizes) - int((sizes[::-1] > 1).argmax())  # the rows above such rows
    ends = 0 in sizes[above:] or (2 * sizes[:above] >= len(last)).all()
    note: Any = last.dropna().iloc[0] if sizes[-1] == 1 and len(last) > 2 and ends else None
    is_note = isinstance(note, str) and not (rest == note).any(axis=None)
    words = [i for i, v in enumerate(last) if str(v).strip(" :").casefold() in _TOTALS]
    by_word = any(not (rest.iloc[:, i] == last.iloc[i]).any() for i in words)
    by_sum = False
    if last.isna().any():
        numbers = frame.select_dtypes("number").to_numpy(float, na_value=0.0)
        with np.errstate(all="ignore"):  # of numbers that are too large for their sum
            sums, largest = numbers[:-1].sum(axis=0), np.abs(numbers[:-1]).max(axis=0)
            equal = np.abs(sums - numbers[-1]) <= 1e-6 * np.abs(sums)
        by_sum = bool((equal & (np.abs(sums) > largest)).any())
    if by_word or by_sum or is_note:
        rows = range(above if is_note else len(rest), len(frame))
        what = f"{note[:40]!r} alone" if is_note else "totals of the others"
        problem = f"{file.place(rows[-1])}: the last row has {what}: remove it"
        raise DataError(problem, file.without(rows))


def refuse_number_texts(file: TableFile, points: int) -> None:
    """Refuse points that are texts of several numbers each: series, compared as strings."""
    texts = file.frame.iloc[:HEAD_ROWS, points].tolist()
    if all(isinstance(one, str) and _SERIES.fullmatch(one) for one in texts):
        problem = f"{file.path}: column {file.names[points]} has texts of numbers"
        raise DataError(f"{problem}: write series as lists in lines of JSON, or as a .ts file")


def leading_zeros(file: TableFile, columns: Sequence[int]) -> list[str]:
    """Say which whole numbers of the first rows begin with 0, as codes do."""
    path, options, frame = file
    notes, rows = [], list[list[str]]()
    if not (whole := [i for i in columns if frame.dtypes.iloc[i].kind in "iu"]):
        return []
    with opened(path) as stream, suppress(csv.Error):  # the text may end within an entry
        for _, row in islice(readers.split_rows(stream.read(HEAD), options), HEAD_ROWS):
            rows.append(row)
    for i in whole:
        texts = [row[i] for row in rows if i < len(row) and re.fullmatch(r"\s*0\d+\s*", row[i])]
        if texts:
            name = file.names[i]
            keeps = f"`read_as: {{text: [{name}]}}` keeps them as values without an order"
            notes.append(f"{name} has numbers such as {texts[0].strip()}: {keeps}")
    return notes


def refuse_thousands(file: TableFile, columns: Sequence[int]) -> None:
    """Refuse points with three digits after each, beside whole numbers without one."""
    path, options, frame = file
    asked = []
    for i in columns:
        column = frame.iloc[:, i]
        values = column.dropna().to_numpy() if column.dtype.kind == "f" else np.empty(0)
        whole, sizes = np.floor(values) == values, np.abs(values)
        few = whole.any() and not whole.all() and (sizes < 1000).all()
        if few and (sizes[~whole] >= 1).all():
            asked.append(i)
    if not asked:
        return
    rows = islice(readers.split_rows(file_bytes(path), options), options.header, None)
    texts = [[row[i].strip() for i in asked] for _, row in rows if len(row) > max(asked)]
    for i, entries in zip(asked, zip(*texts, strict=True), strict=True):
        pointed = [text for text in entries if "." in text]
        whole = [text for text in entries if re.fullmatch(r"[+-]?\d{1,3}", text)]
        grouped = [re.fullmatch(r"[+-]?[1-9]\d{0,2}\.\d{3}", text) for text in pointed]
        if whole and pointed and all(grouped):
            what, ways = _OF_THOUSANDS, [("read_as.decimal", ".")]
            if not _has_decimals(file):
                what = "say what the point separates"
                ways.insert(0, ("read_as.thousands", "."))
            problem = f"{path}: column {file.names[i]}: {pointed[0]} beside {whole[0]}"
            raise DataError(f"{problem}: {what}", ways)


def _has_decimals(file: TableFile) -> bool:
    """Tell whether some points in numbers have other than three digits after them."""
    places = [i for i, kind in enumerate(file.frame.dtypes) if kind.kind == "f"]
    rows = readers.split_rows(file_bytes(file.path), file.options)
    texts = (row[i].strip() for _, row in rows for i in places if i < len(row))
    return any(re.fullmatch(r"[+-]?\d*\.(\d{0,2}|\d{4,})", text) for text in texts)


def _mark_of_thousands(frame: "pd.DataFrame") -> str:
    """Return the separator of thousands in numbers such as 1.234,5; "" if there are none."""
    texts = frame.select_dtypes(exclude="number").to_numpy(object)
    for text in map(str, texts.flat):
        if match := re.fullmatch(r"\D*\d{1,3}(?:([.'\s])\d{3})+,\d+\D*", text):
            return " " if match[1].isspace() else match[1]
    return ""


def _unit(counts: dict[str, int]) -> str:
    """Return the unit or sign that most numbers of a column end or begin with, as 12 kg and $5."""
    units = Counter[str]()
    for text, n in counts.items():
        if match := _WITH_UNIT.fullmatch(text.strip()):
            units[(match[1] or match[2]).strip()] += n
    ((unit, n),) = units.most_common(1) or [("", 0)]
    is_usual = unit in _SIGNS or len(counts) > _LEAST_NUMBERS
    return unit if is_usual and n > _MOST_UNITS * sum(counts.values()) else ""


def _bare(text: str, signs: Iterable[str]) -> str:
    """Return a text without signs."""
    for sign in signs:
        text = text.replace(sign, "")
    return text.strip()


def refuse_odd_numbers(file: TableFile, i: int, counts: dict[str, int]) -> None:
    """Refuse a column of which most entries look like numbers, and say what to write."""
    path, options, frame = file
    column, decimal = frame.iloc[:, i], getattr(options, "decimal", ".")
    n = sum(counts.values())
    unit = _unit(counts)
    like = {text for text in counts if is_like_number(_bare(text, [unit]))}
    # of values below a limit of detection, which may be most
    limits = {text: m[1] for text in counts if (m := _LIMIT.fullmatch(text.strip()))}
    limits = limits if len(like) > _LEAST_NUMBERS else {}
    n_like = sum(k for text, k in counts.items() if text in like or text in limits)
    odd = {text for text in counts if 2 * n_like > n and not readers.is_number(text, options)}
    if not odd:
        return
    row = int(column.astype(str).isin(odd).to_numpy().argmax())
    first = str(column.iloc[row])
    n_plain = sum(k for text, k in counts.items() if text not in odd)
    strange = sorted(odd - like)
    gaps = ("read_as.missing", [*options.missing, *strange[:_MOST_MISSING]])
    ways: list[tuple[str, Any]] = [gaps] if strange else []
    if limits and odd.isdisjoint(like):
        numbers = {text: float(limits[text].replace(decimal, ".")) for text in sorted(limits)}
        # half a limit of detection, as is usual
        numbers = {text: v / 2 if text.strip()[0] in "<≤" else v for text, v in numbers.items()}
        advice: dict[str, Any] = {"replace": {**options.replace, **numbers}}
        if rest := [text for text in strange if text not in limits]:
            advice["missing"] = [*options.missing, *rest[:_MOST_MISSING]]
        ways.insert(0, ("read_as", advice))
    if row == 0 and (skipped := file.without([0])):  # units or types under the names
        is_entry = counts[first] > 1 or any(is_like_number(str(one)) for one in frame.iloc[0])
        if first not in limits:
            ways.insert(is_entry, *skipped)
    remedy, text = "correct it", [("read_as.text", [*options.text, column.name])]
    signs = [unit] if unit else sorted(_SIGNS.intersection(first)) if first in like else []
    bare = [_bare(text, signs) for text in (first, *odd) if text in like]
    number = next((text for text in bare if not readers.is_number(text, options)), "0")
    if "−" in signs:
        remedy, ways = "write - for −", []
    elif signs and readers.is_number(number, options):
        remedy, ways, text = f"leave out {signs[0]}", [("read_as", {})], []
    elif (signs or first in like) and not hasattr(options, "decimal"):
        remedy, ways = "store it as a number", []
    elif signs or first in like:
        marks = re.sub(r"[^.,'\s]", "", number)
        is_point = marks[-1:] == "," and "," not in (decimal, options.thousands)
        usual, ways = ways, [("read_as.decimal", ",")] if is_point else []
        point = re.escape(marks[:1])
        groups = rf"\D*[1-9]\d{{0,2}}({point}\d{{3}})+((?!{point})\D\d*)?\D*"
        if ways and (mark := _mark_of_thousands(frame)):
            ways = [("read_as", {"decimal": ",", "thousands": mark})]
        elif marks == "." != decimal and not re.fullmatch(groups, number):
            ways, text = [], []
            remedy = "write its decimal points as in the other columns"
        elif marks[:1] == "." == decimal and _has_decimals(file):
            remedy = _OF_THOUSANDS
        elif marks and all(re.fullmatch(groups, text) for text in bare):
            ways.insert(0, ("read_as.thousands", " " if marks[0].isspace() else marks[0]))
        elif marks.strip() and n_plain:
            ways = ways or usual
    if signs and ways and "−" not in signs:
        replace = {**options.replace, **dict.fromkeys(signs, "")}
        ways = [_with_key(way, "replace", replace) for way in ways]
        ways = [_with_key(way, "missing", gaps[1]) if strange else way for way in ways]
    raise DataError(
        f"{path}: column {column.name}: {n_plain} of {n} entries are numbers; the first other is "
        f"{first!r}, {file.place(row)}: {remedy}",
        [*ways, *(text if frame.attrs.get("matrix") is None else ())],
    )


def _with_key(way: tuple[str, Any], key: str, value: Any) -> tuple[str, dict[str, Any]]:
    """Return an advice of `read_as` with a further key."""
    path, own = way
    _, _, name = path.rpartition("read_as.")
    return "read_as", {**(own if path == "read_as" else {name: own}), key: value}
