"""Reader for Weka's ARFF: attributes declared at the top, then dense or sparse rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets.formats import Arff
from kernlearn.datasets.hashing import canonical_label, coder
from kernlearn.datasets.readers import Expected, Table, dense_or_sparse
from kernlearn.datasets.text import (
    Convert,
    Layout,
    fault,
    make_layout,
    number,
    parse_rows,
    read_lines,
)
from kernlearn.exceptions import DataError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ENTRY = re.compile(rf"[ \t]*({_QUOTED})[ \t]*(?=,|$)|[^,]*")
_ATTRIBUTE = re.compile(rf"@attribute[ \t]+({_QUOTED}|[^\s'\"]\S*)[ \t]*(.*)", re.IGNORECASE)
_INDEXED = re.compile(r"(\d{1,9})[ \t]+(.*)", re.ASCII)
_NUMERIC = {"numeric", "real", "integer"}


class _Header(NamedTuple):
    """The attributes, the values of the nominal ones, and the number of lines down to @data."""

    names: tuple[str, ...]
    types: dict[str, tuple[str, ...] | str]
    lines: int


def read_arff(paths: Sequence[Path], options: Arff, expected: Expected) -> Table:
    """Read ARFF files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Arff
        What the attributes are for.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table
        X is a CSR matrix for sparse rows of numbers, if fewer than a fifth are not zero.

    Raises
    ------
    DataError
        If a file is damaged; the message names line and column.
    """
    from scipy import sparse

    parts = [_read_file(path, options, expected) for path in paths]
    layout = parts[0][0]
    for path, (other, _, _) in zip(paths, parts, strict=True):
        if (other.names, other.nominal) != (layout.names, layout.nominal):
            raise DataError(f"{path}: its attributes differ from those of {paths[0]}")
    y = np.concatenate([y for _, _, y in parts])
    names = tuple(layout.names[i] for i in layout.features)
    blocks = [X for _, X, _ in parts]
    if all(sparse.issparse(X) for X in blocks) and not layout.nominal:
        X = dense_or_sparse(sparse.csr_matrix(sparse.vstack(blocks, format="csr")))
    else:
        X = np.concatenate([X.toarray() if sparse.issparse(X) else X for X in blocks])
    return Table(X, y, names, layout.nominal)


def _read_file(
    path: Path, options: Arff, expected: Expected
) -> tuple[Layout, Any, NDArray[np.float64]]:
    lines = ["" if line.lstrip().startswith("%") else line for line in read_lines(path)]
    header = _read_header(path, lines)
    rows = "\n".join(lines[header.lines :])
    layout = _layout(path, header, options, expected, "?" if "?" in rows else None)
    if rows.lstrip().startswith("{"):
        values = _read_sparse(path, lines, header, layout)
        y = values[:, layout.targets].toarray().ravel()
        return layout, values[:, layout.features], y
    split = None
    if re.search(r"['\"{]", rows):
        split = _splitter(len(header.names))
    else:  # rows that end with a comma, as published in bank8FM.arff
        surplus = len(header.names)
        lines = [x.rstrip().removesuffix(",") if x.count(",") == surplus else x for x in lines]
    values = parse_rows(path, lines, header.lines, layout, ",", split)
    return layout, values[:, layout.features], values[:, layout.targets].ravel()


def _read_header(path: Path, lines: list[str]) -> _Header:
    names: list[str] = []
    types: dict[str, tuple[str, ...] | str] = {}
    for number_, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@data":
            if not names:
                raise fault(path, number_, line.strip(), "an @attribute before")
            return _Header(tuple(names), types, number_)
        if word in ("", "@relation"):
            continue
        match = _ATTRIBUTE.fullmatch(line.strip())
        if match is None:
            raise fault(path, number_, line.strip(), "@relation, @attribute or @data")
        name, kind = _unquoted(match[1]), match[2].strip()
        if name in types:
            raise fault(path, number_, name, "an attribute not declared before")
        names.append(name)
        if kind.startswith("{") and kind.endswith("}"):
            types[name] = tuple(_split(kind[1:-1]))
        elif kind.lower() in _NUMERIC:
            types[name] = "numeric"
        elif kind.lower().split(maxsplit=1)[:1] in (["string"], ["date"]):
            types[name] = "text"
        else:
            raise fault(path, number_, kind, "numeric, real, integer, string, date or {values}")
    raise DataError(f"{path}: has no @data line")


def _layout(
    path: Path, header: _Header, options: Arff, expected: Expected, missing: str | None
) -> Layout:
    target = _position(path, options.target, header)
    dropped = {_position(path, column, header) for column in options.drop}
    nominal: dict[str, tuple[str, ...]] = {}
    for i, name in enumerate(header.names):
        kind = header.types[name]
        if isinstance(kind, tuple):
            nominal[name] = kind
        elif kind == "text" and i != target and i not in dropped:
            raise DataError(f"{path}: the attribute {name} is text; the card must drop it")
    label: Convert = number
    if expected.classes is not None:
        code = coder(expected.classes)
        spelt = {canonical_label(theirs): ours for theirs, ours in options.rename.items()}
        label = (lambda text: code(spelt.get(canonical_label(text), text))) if spelt else code
    layout = make_layout(header.names, [target], dropped, nominal, label, missing)
    if len(layout.features) != expected.n_features:
        raise DataError(
            f"{path}: found {len(layout.features)} features, expected {expected.n_features}"
        )
    return layout


def _position(path: Path, column: int | str, header: _Header) -> int:
    width = len(header.names)
    if isinstance(column, str):
        if column not in header.names:
            raise DataError(f"{path}: has no attribute called {column!r}")
        return header.names.index(column)
    if not -width <= column < width:
        raise DataError(f"{path}: attribute {column} asked for, expected -{width} to {width - 1}")
    return column % width


def _read_sparse(path: Path, lines: list[str], header: _Header, layout: Layout) -> Any:
    from scipy import sparse

    width = len(layout.names)
    (target,) = layout.targets
    default = header.types[layout.names[target]]
    text = default[0] if isinstance(default, tuple) else "0"  # what a row that leaves it out has
    values: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for number_, line in enumerate(lines[header.lines :], start=header.lines + 1):
        if not (row := line.strip().removesuffix(",").rstrip()):
            continue
        if not (row.startswith("{") and row.endswith("}")):
            raise fault(path, number_, row, "a sparse row, as {index value, index value}")
        before = -1
        entries = [entry for entry in _pieces(row[1:-1]) if entry.strip()]
        written = {entry.split(maxsplit=1)[0] for entry in entries}
        if str(target) not in written:
            position = sum(_index(entry) < target for entry in entries)
            entries.insert(position, f"{target} {text}")
        for entry in entries:
            match = _INDEXED.fullmatch(entry.strip())
            if match is None or not before < int(match[1]) < width:
                wanted = f"rising indices from 0 to {width - 1}, each with a value"
                raise fault(path, number_, entry.strip(), wanted)
            before = int(match[1])
            try:
                value = layout.convert[before](_unquoted(match[2].strip()))
            except ValueError as error:
                column = f"{before + 1} ({layout.names[before]})"
                raise fault(path, number_, match[2], str(error), column) from None
            values.append(value)
            indices.append(before)
        indptr.append(len(values))
    matrix = sparse.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width))
    return matrix.astype(np.float64)


def _index(entry: str) -> int:
    match = _INDEXED.fullmatch(entry.strip())
    return int(match[1]) if match else -1


def _pieces(text: str) -> list[str]:
    """Cut at commas that stand outside quotes; for the entries of a sparse row."""
    if "'" not in text and '"' not in text:
        return text.split(",")
    return re.findall(rf"(?:{_QUOTED}|[^,'\"])+|['\"][^,]*", text)


def _splitter(width: int) -> "Any":
    def split(line: str) -> list[str]:
        entries = _split(line)
        if len(entries) == width + 1 and not entries[-1]:
            entries.pop()  # rows that end with a comma
        return entries

    return split


def _split(line: str) -> list[str]:
    entries, at = [], 0
    while at <= len(line):
        match = _ENTRY.match(line, at)
        if match is None:  # cannot be: the last alternative matches anything
            break
        entries.append(_unquoted(match[1] if match[1] is not None else match[0]))
        at = match.end() + 1
    return entries


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
