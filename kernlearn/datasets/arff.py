"""Weka's ARFF: attributes declared at the top, then dense or sparse rows."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.datasets import text
from kernlearn.datasets.formats import Arff, Expected, Table
from kernlearn.datasets.svmlight import dense_or_sparse
from kernlearn.exceptions import DataError

_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_ENTRY = re.compile(rf"[ \t]*({_QUOTED})[ \t]*(?=,|$)|[^,]*")
_ATTRIBUTE = re.compile(rf"@attribute[ \t]+({_QUOTED}|[^\s'\"]\S*)[ \t]*(.*)", re.IGNORECASE)
_INDEXED = re.compile(r"(\d{1,9})[ \t]+(.*)", re.ASCII)
_NUMERIC = {"numeric", "real", "integer"}


class Header(NamedTuple):
    """The declarations of an ARFF file.

    Attributes
    ----------
    types : dict of str to tuple of str or str
        For each attribute its values if it is nominal, else "numeric" or "text".
    lines : int
        The number of lines up to ``@data``.
    """

    types: dict[str, tuple[str, ...] | str]
    lines: int

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes, in the file's order."""
        return tuple(self.types)


def read_arff(paths: Sequence[Path], options: Arff, expected: Expected) -> Table:
    """Read ARFF files and concatenate their rows.

    X is a CSR matrix for sparse rows of numbers if less than a fifth of them is not zero.
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
) -> tuple[text.Layout, Any, NDArray[np.float64]]:
    lines, header = read_declarations(path, text.read_lines(path))
    rows = "\n".join(lines[header.lines :])
    layout = _layout(path, header, options, expected, "?" if "?" in rows else None)
    if rows.lstrip().startswith("{"):
        sparse_values = _read_sparse(path, lines, header, layout)
        y = sparse_values[:, layout.targets].toarray().ravel()
        return layout, sparse_values[:, layout.features], y
    width = len(header.names)
    split = None
    if re.search(r"['\"{]", rows):
        split = _row_splitter(width)
    else:  # rows that end with a comma, as published in bank8FM.arff
        lines = [x.rstrip().removesuffix(",") if x.count(",") == width else x for x in lines]
    values = text.parse_rows(path, lines, header.lines, layout, ",", split)
    return layout, values[:, layout.features], values[:, layout.targets].ravel()


def read_declarations(path: Path, lines: list[str]) -> tuple[list[str], Header]:
    """Return the lines of a file with comments blanked, and its header."""
    lines = ["" if line.lstrip().startswith("%") else line for line in lines]
    types: dict[str, tuple[str, ...] | str] = {}
    for line_number, line in enumerate(lines, start=1):
        word = line.split(maxsplit=1)[0].lower() if line.strip() else ""
        if word == "@data":
            if not types:
                raise text.fault(path, line_number, line.strip(), "an @attribute before")
            return lines, Header(types, line_number)
        if word in ("", "@relation"):
            continue
        match = _ATTRIBUTE.fullmatch(line.strip())
        if match is None:
            raise text.fault(path, line_number, line.strip(), "@relation, @attribute or @data")
        name, kind = _unquoted(match[1]), match[2].strip()
        if name in types:
            raise text.fault(path, line_number, name, "an attribute not declared before")
        if kind.startswith("{") and kind.endswith("}"):
            types[name] = tuple(_split(kind[1:-1]))
        elif kind.lower() in _NUMERIC:
            types[name] = "numeric"
        elif kind.lower().split(maxsplit=1)[:1] in (["string"], ["date"]):
            types[name] = "text"
        else:
            wanted = "numeric, real, integer, string, date or {values}"
            raise text.fault(path, line_number, kind, wanted)
    raise DataError(f"{path}: has no @data line")


def _layout(
    path: Path, header: Header, options: Arff, expected: Expected, missing: str | None
) -> text.Layout:
    names, width = header.names, len(header.names)
    target = text.column_position(path, options.target, names, width, "attribute")
    dropped = {text.column_position(path, c, names, width, "attribute") for c in options.drop}
    nominal = {name: kind for name, kind in header.types.items() if isinstance(kind, tuple)}
    for i, name in enumerate(names):
        if header.types[name] == "text" and i != target and i not in dropped:
            raise DataError(f"{path}: the attribute {name} is text; the card must drop it")
    label: text.Convert = text.number
    if expected.classes is not None:
        code = text.coder(expected.classes)
        renamed = {text.canonical_label(k): label for k, label in options.rename.items()}
        label = code
        if renamed:
            label = lambda entry: code(renamed.get(text.canonical_label(entry), entry))  # noqa: E731
    layout = text.make_layout(names, [target], dropped, nominal, label, missing)
    if len(layout.features) != expected.n_features:
        raise DataError(
            f"{path}: found {len(layout.features)} features, expected {expected.n_features}"
        )
    return layout


def _read_sparse(path: Path, lines: list[str], header: Header, layout: text.Layout) -> Any:
    from scipy import sparse

    width = len(layout.names)
    (target,) = layout.targets
    kind = header.types[layout.names[target]]
    default = kind[0] if isinstance(kind, tuple) else "0"  # the value of a target left out
    values: list[float] = []
    indices: list[int] = []
    indptr = [0]
    for line_number, line in enumerate(lines[header.lines :], start=header.lines + 1):
        if not (row := line.strip().removesuffix(",").rstrip()):
            continue
        if not (row.startswith("{") and row.endswith("}")):
            wanted = "a sparse row, as {index value, index value}"
            raise text.fault(path, line_number, row, wanted)
        before = -1
        entries = [entry for entry in _sparse_entries(row[1:-1]) if entry.strip()]
        written = {entry.split(maxsplit=1)[0] for entry in entries}
        if str(target) not in written:
            position = sum(_index(entry) < target for entry in entries)
            entries.insert(position, f"{target} {default}")
        for entry in entries:
            match = _INDEXED.fullmatch(entry.strip())
            if match is None or not before < int(match[1]) < width:
                wanted = f"increasing indices from 0 to {width - 1}, each with a value"
                raise text.fault(path, line_number, entry.strip(), wanted)
            before = int(match[1])
            try:
                value = layout.convert[before](_unquoted(match[2].strip()))
            except ValueError as error:
                column = f"{before + 1} ({layout.names[before]})"
                raise text.fault(path, line_number, match[2], str(error), column) from None
            values.append(value)
            indices.append(before)
        indptr.append(len(values))
    matrix = sparse.csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, width))
    return matrix.astype(np.float64)


def _index(entry: str) -> int:
    match = _INDEXED.fullmatch(entry.strip())
    return int(match[1]) if match else -1


def _sparse_entries(row: str) -> list[str]:
    """Split a sparse row at commas outside of quotes."""
    if "'" not in row and '"' not in row:
        return row.split(",")
    return re.findall(rf"(?:{_QUOTED}|[^,'\"])+|['\"][^,]*", row)


def _row_splitter(width: int) -> text.Split:
    def split(line: str) -> list[str]:
        entries = _split(line)
        if len(entries) == width + 1 and not entries[-1]:
            entries.pop()  # rows that end with a comma
        return entries

    return split


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
