"""Text that may have sparse rows: the pairs of LIBSVM and LETOR, and Weka's ARFF."""

import re
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from kernlearn.datasets import text
from kernlearn.datasets.formats import Arff, Expected, Letor, Libsvm, Table, default_names
from kernlearn.datasets.room import require_room
from kernlearn.datasets.text import canonical_labels, coder, fault, joined, number, read_lines
from kernlearn.datasets.unpacking import one_line
from kernlearn.exceptions import DataError

_DENSE_FROM = 0.2
# Bytes of an index and a value as they are parsed, of a row, and of a column's name in two forms.
_OF_PAIR, _OF_ROW, _OF_COLUMN = 60, 120, 150
_COMMENT = re.compile(r"#[^\n]*")
_UNUSUAL = re.compile(r"[^0-9eE+\-.: \t\n]")
_INDEX = re.compile(r"\+?\d{1,18}", re.ASCII)  # more digits would overflow
_ROW = re.compile(r"^[ \t]*\S", re.MULTILINE)
_QUERY = re.compile(r"^([ \t]*\S+)[ \t]+qid:\d{1,18}(?=\s|$)", re.ASCII | re.MULTILINE)
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ENTRY = re.compile(rf"[ \t]*({_QUOTED})[ \t]*(?=,|$)|[^,]*")
_ATTRIBUTE = re.compile(rf"@attribute[ \t]+({_QUOTED}|[^\s'\"]\S*)[ \t]*(.*)", re.IGNORECASE)
_SPARSE_ENTRY = re.compile(rf"(?:{_QUOTED}|[^,'\"])+|['\"][^,]*")  # split at commas outside quotes
_INDEXED = re.compile(r"(\d{1,9})[ \t]+(.*)", re.ASCII)
_NUMERIC = {"numeric", "real", "integer"}


def read_pairs(paths: Sequence[Path], options: Libsvm | Letor, expected: Expected) -> Table:
    """Read LIBSVM files, or LETOR files with their query ids.

    X is sparse if less than a fifth of its entries is not zero.
    """
    queries = isinstance(options, Letor)
    lowest = 0 if isinstance(options, Libsvm) and options.zero_based else 1
    require_room(
        paths[0], _OF_COLUMN * expected.n_features, f"the names of {expected.n_features} columns"
    )
    parts = []
    for path in paths:
        lines = list(enumerate(read_lines(path), start=1))
        parts.append(parse_pairs(path, lines, expected, lowest, queries))
        if not len(parts[-1][1]):
            raise DataError(f"{path}: the file has no rows")
    X = parts[0][0]
    if len(parts) > 1:
        X = sparse.csr_matrix(sparse.vstack([X for X, _, _ in parts], format="csr"))
    y = joined([y for _, y, _ in parts])
    query = joined([query for _, _, query in parts]) if queries else None
    X = _dense_or_sparse(paths[0], X)
    return Table(X, y, default_names(expected.n_features), query=query)


def parse_pairs(
    path: Path,
    lines: list[tuple[int, str]],
    expected: Expected,
    lowest: int,
    queries: bool = False,
) -> tuple[Any, np.ndarray, np.ndarray]:
    """Parse numbered lines of LIBSVM or LETOR: a CSR matrix, codes or numbers, and queries."""
    code = number if expected.classes is None else coder(expected.classes)
    n_letters = sum(len(line) for _, line in lines)
    n_pairs = sum(line.count(":") for _, line in lines)
    needed = 5 * n_letters + _OF_PAIR * n_pairs + _OF_ROW * len(lines)
    require_room(path, needed, f"{n_pairs} entries of {len(lines)} lines")
    try:
        content = "\n".join(line for _, line in lines)
        X, targets, query = _parse(content, expected.n_features, lowest, queries)
        distinct, positions = np.unique(targets, return_inverse=True)
        y = np.array([code(label) for label in canonical_labels(distinct)])[positions]
    except (ValueError, IndexError, OverflowError) as error:
        _check_lines(path, lines, code, expected, lowest, queries)
        place = f"{path}, lines {lines[0][0]} to {lines[-1][0]}"
        raise DataError(f"{place}: cannot be read: {one_line(error)}") from None
    X.eliminate_zeros()
    return X, y, query.astype(np.int64)


def _dense_or_sparse(path: Path, X: Any) -> Any:
    """Make a CSR matrix dense if a fifth of its entries or more is not zero."""
    return _dense(path, X) if X.nnz >= _DENSE_FROM * X.shape[0] * X.shape[1] else X


def _dense(path: Path, X: Any) -> np.ndarray:
    """Make a CSR matrix dense, if it fits."""
    n_rows, n_columns = X.shape
    require_room(path, 8 * n_rows * n_columns, f"{n_rows} dense rows of {n_columns} columns")
    dense: np.ndarray = X.toarray()
    return dense


def _parse(text: str, n_features: int, lowest: int, queries: bool) -> tuple[Any, Any, Any]:
    """Parse text with scikit-learn, which passes over some faults that are raised here."""
    from sklearn.datasets import load_svmlight_file

    text = _COMMENT.sub("", text)
    plain, n_queries = _QUERY.subn(r"\1 ", text) if queries else (text, 0)
    if _UNUSUAL.search(plain) or (queries and n_queries != len(_ROW.findall(text))):
        raise ValueError("an entry is no number, or a query id is missing")
    X, y, query = load_svmlight_file(
        BytesIO(text.encode()), n_features=n_features, zero_based=lowest == 0, query_id=True
    )
    if not (np.isfinite(X.data).all() and np.isfinite(y).all()):
        raise ValueError("a value is not finite")
    return X, y, query


def _check_lines(
    path: Path,
    lines: Iterable[tuple[int, str]],
    code: Callable[[str], float],
    expected: Expected,
    lowest: int,
    queries: bool,
) -> None:
    """Raise for the first faulty entry; slow, therefore only called if there is a fault."""
    highest = lowest + expected.n_features - 1
    for line_number, line in lines:
        if not (words := line.split("#", 1)[0].split()):
            continue
        label, *entries = words
        try:
            code(str(number(label)))
        except ValueError as error:
            raise fault(path, line_number, label, str(error), "1 (label)") from None
        if queries:
            query, entries = "".join(entries[:1]), entries[1:]
            if not re.fullmatch(r"qid:\d{1,18}", query, re.ASCII):
                raise fault(path, line_number, query, "a query id, as qid:number", "2")
        before = lowest - 1
        for position, entry in enumerate(entries, start=3 if queries else 2):
            index, _, value = entry.partition(":")
            if not (_INDEX.fullmatch(index) and before < int(index) <= highest):
                wanted = f"an index from {before + 1} to {highest} and its value, as index:value"
                raise fault(path, line_number, entry, wanted, str(position))
            before = int(index)
            try:
                number(value)
            except ValueError as error:
                wanted = f"index:value with {error}"
                raise fault(path, line_number, entry, wanted, str(position)) from None


# for each attribute its values if it is nominal, else "numeric", "text" or "dates"
Types = dict[str, tuple[str, ...] | str]


def read_arff(paths: Sequence[Path], options: Arff, expected: Expected) -> Table:
    """Read ARFF files and concatenate their rows.

    X is a CSR matrix for sparse rows of numbers if less than a fifth of them is not zero.
    """
    parts = [_read_arff_file(path, options, expected) for path in paths]
    layout = parts[0][0]
    for path, (other, _, _) in zip(paths, parts, strict=True):
        if (other.names, other.nominal) != (layout.names, layout.nominal):
            raise DataError(f"{path}: its attributes differ from those of {paths[0]}")
    y = joined([y for _, _, y in parts])
    names = tuple(layout.names[i] for i in layout.features)
    blocks = [X for _, X, _ in parts]
    if all(sparse.issparse(X) for X in blocks) and not layout.nominal:
        X = _dense_or_sparse(paths[0], sparse.csr_matrix(sparse.vstack(blocks, format="csr")))
    else:
        dense = zip(paths, blocks, strict=True)
        X = joined([_dense(path, X) if sparse.issparse(X) else X for path, X in dense])
    return Table(X, y, names, layout.nominal)


def _read_arff_file(
    path: Path, options: Arff, expected: Expected
) -> tuple[text.Layout, Any, np.ndarray]:
    lines, types, first = read_declarations(path, read_lines(path))
    require_room(path, 4 * sum(map(len, lines)), f"its {len(lines)} lines")
    rows = "\n".join(lines[first:])
    layout = _layout(path, types, options, expected, "?" if "?" in rows else None)
    if rows.lstrip().startswith("{"):
        (target,) = layout.targets
        X = _read_sparse(path, lines, first, layout, types[layout.names[target]])
        return layout, X[:, layout.features], X[:, [target]].toarray().ravel()
    split = None
    if re.search(r"['\"{]", rows):
        split = partial(_split_row, len(types))
    else:  # rows that end with a comma, as published in bank8FM.arff
        lines = [x.rstrip().removesuffix(",") if x.count(",") == len(types) else x for x in lines]
    values = text.parse_rows(path, lines, first, layout, ",", split)
    return layout, values[:, layout.features], values[:, layout.targets].ravel()


def read_declarations(path: Path, lines: list[str]) -> tuple[list[str], Types, int]:
    """Return lines with comments blanked, the types of the attributes, and where rows begin."""
    lines = ["" if line.lstrip().startswith("%") else line for line in lines]
    types: Types = {}
    for line_number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@data":
            if not types:
                raise fault(path, line_number, line.strip(), "an @attribute before")
            return lines, types, line_number
        if word in ("", "@relation"):
            continue
        match = _ATTRIBUTE.fullmatch(line.strip())
        if match is None:
            raise fault(path, line_number, line.strip(), "@relation, @attribute or @data")
        name, kind = _unquoted(match[1]), match[2].strip()
        if name in types:
            raise fault(path, line_number, name, "an attribute not declared before")
        if kind.startswith("{") and kind.endswith("}"):
            types[name] = tuple(_split(kind[1:-1]))
        elif kind.lower() in _NUMERIC:
            types[name] = "numeric"
        elif (held := kind.lower().split(maxsplit=1)[:1]) in (["string"], ["date"]):
            types[name] = "dates" if held == ["date"] else "text"
        else:
            wanted = "numeric, real, integer, string, date or {values}"
            raise fault(path, line_number, kind, wanted)
    raise DataError(f"{path}: has no @data line")


def _layout(
    path: Path, types: Types, options: Arff, expected: Expected, missing: str | None
) -> text.Layout:
    names, width = tuple(types), len(types)
    target = text.column_position(path, options.target, names, width, "attribute")
    dropped = {text.column_position(path, c, names, width, "attribute") for c in options.drop}
    nominal = {name: kind for name, kind in types.items() if isinstance(kind, tuple)}
    for i, name in enumerate(names):
        if types[name] in ("text", "dates") and i != target and i not in dropped:
            raise DataError(
                f"{path}: the attribute {name} holds {types[name]}; the card must drop it"
            )
    label = number if expected.classes is None else coder(expected.classes, options.rename)
    layout = text.make_layout(names, [target], dropped, nominal, label, missing)
    found = len(layout.features)
    if found != expected.n_features:
        raise DataError(f"{path}: found {found} features, expected {expected.n_features}")
    return layout


def _read_sparse(
    path: Path, lines: list[str], first: int, layout: text.Layout, kind: tuple[str, ...] | str
) -> Any:
    """Read sparse rows; `kind` is the type of the target."""
    width, (target,) = len(layout.names), layout.targets
    default = kind[0] if isinstance(kind, tuple) else "0"  # the value of a target left out
    values, indices, indptr = array("d"), array("q"), array("q", [0])
    for line_number, line in enumerate(lines[first:], start=first + 1):
        if not (row := line.strip().removesuffix(",").rstrip()):
            continue
        if not (row.startswith("{") and row.endswith("}")):
            wanted = "a sparse row, as {index value, index value}"
            raise fault(path, line_number, row, wanted)
        entries: dict[int, str] = {}
        before = -1
        for entry in filter(None, map(str.strip, _SPARSE_ENTRY.findall(row[1:-1]))):
            match = _INDEXED.fullmatch(entry)
            if match is None or not before < int(match[1]) < width:
                wanted = f"increasing indices from 0 to {width - 1}, each with a value"
                raise fault(path, line_number, entry, wanted)
            before = int(match[1])
            entries[before] = match[2]
        entries.setdefault(target, default)
        for index, entry in sorted(entries.items()):
            values.append(layout.value(path, line_number, index, _unquoted(entry)))
            indices.append(index)
        indptr.append(len(values))
    parts = np.array(values), np.array(indices), np.array(indptr)
    return sparse.csr_matrix(parts, shape=(len(indptr) - 1, width), dtype=np.float64)


def _split_row(width: int, line: str) -> list[str]:
    entries = _split(line)
    return entries[:-1] if len(entries) == width + 1 and not entries[-1] else entries


def _split(line: str) -> list[str]:
    entries, at = [], 0
    while at <= len(line) and (match := _ENTRY.match(line, at)):
        entries.append(_unquoted(match[1] if match[1] is not None else match[0]))
        at = match.end() + 1
    return entries


def _unquoted(entry: str) -> str:
    entry = entry.strip()
    if len(entry) > 1 and entry[0] == entry[-1] and entry[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", entry[1:-1])
    return entry
