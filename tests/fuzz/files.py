"""Small valid files of every format that is read, in parts of which one or all are damaged."""

import bz2
import gzip
import io
import lzma
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import sparse
from scipy.io import savemat

X = np.array([[1.0, 2.5], [-4.0, 500.0], [0.0, 0.125], [8.0, 0.0], [3.0, 1e-5], [7.0, -1.0]])
Y = np.array([1, 2, 1, 2, 1, 2])
LABELS = ["a", "b", "a", "b", "a", "b"]


class Sample(NamedTuple):
    """A file: its name, its parts, and how they are packed to its content."""

    name: str
    parts: tuple[bytes, ...]
    pack: Callable[[Sequence[bytes]], bytes] = b"".join

    @property
    def content(self) -> bytes:
        return self.pack(self.parts)


def _lines(comma: str, head: str = "", labels: Sequence[object] = Y) -> bytes:
    rows = "".join(
        f"{a!r}{comma}{b!r}{comma}{y}\n" for (a, b), y in zip(X.tolist(), labels, strict=True)
    )
    return (head + rows).encode()


def _pairs(query: bool = False) -> bytes:
    return "".join(
        f"{y} {f'qid:{7 + i // 3} ' * query}1:{a!r} 2:{b!r} # note {i}\n"
        for i, ((a, b), y) in enumerate(zip(X.tolist(), Y.tolist(), strict=True))
    ).encode()


def _npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def zipped(*names: str) -> Callable[[Sequence[bytes]], bytes]:
    """Return a function that packs parts as members of a ZIP archive."""

    def pack(parts: Sequence[bytes]) -> bytes:
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, part in zip(names, parts, strict=True):
                packed.writestr(zipfile.ZipInfo(name), part)
        return stream.getvalue()

    return pack


def taped(mode: str, *names: str) -> Callable[[Sequence[bytes]], bytes]:
    """Return a function that packs parts as members of a tape archive."""

    def pack(parts: Sequence[bytes]) -> bytes:
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode=mode) as packed:
            for name, part in zip(names, parts, strict=True):
                info = tarfile.TarInfo(name)
                info.size = len(part)
                packed.addfile(info, io.BytesIO(part))
        return stream.getvalue()

    return pack


def _written(write: Callable[[Path], object], name: str = "f") -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        write(path)
        return path.read_bytes()


def _hdf5(path: Path, *, matlab: bool = False) -> None:
    with h5py.File(path, "w", userblock_size=512 * matlab) as file:
        file.create_dataset("X", data=X.T if matlab else X, chunks=True, compression="gzip")
        file["y"] = Y
        file["group/inside"] = X
        file["soft"] = h5py.SoftLink("/X")
    if matlab:
        with path.open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(508) + b"\x00\x02IM")


def _matlab(path: Path, **options: object) -> None:
    savemat(path, {"X": X, "y": Y}, **options)


def _cells(path: Path) -> None:
    savemat(path, {"X": sparse.csc_matrix(X), "y": np.array(LABELS, dtype=object)})


def _frame() -> pd.DataFrame:
    return pd.DataFrame(X, columns=["a", "b"]).assign(s=list("uvuvuv"), y=LABELS)


def _parquet(path: Path, **options: object) -> None:
    pq.write_table(pa.Table.from_pandas(_frame(), preserve_index=False), path, **options)


def _excel(path: Path) -> None:
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    )
    rows = [["a", "b", "y"], *([*x, y] for x, y in zip(X.tolist(), LABELS, strict=True))]
    for i, row in enumerate(rows, start=1):
        cells = "".join(
            f'<c r="{"ABC"[j]}{i}" t="inlineStr"><is><t>{cell}</t></is></c>'
            if isinstance(cell, str)
            else f'<c r="{"ABC"[j]}{i}"><v>{cell}</v></c>'
            for j, cell in enumerate(row)
        )
        sheet += f'<row r="{i}">{cells}</row>'
    path.write_text(sheet + "</sheetData></worksheet>")


_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default '
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-'
    'officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
    "</Types>"
)
_RELATIONS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/'
    'relationships/{}" Target="{}"/></Relationships>'
)
_BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r='
    '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet '
    'name="one" sheetId="1" r:id="r1"/></sheets></workbook>'
)


def _xlsx() -> Sample:
    parts = {
        "[Content_Types].xml": _TYPES.encode(),
        "_rels/.rels": _RELATIONS.format("officeDocument", "xl/workbook.xml").encode(),
        "xl/workbook.xml": _BOOK.encode(),
        "xl/_rels/workbook.xml.rels": _RELATIONS.format(
            "worksheet", "worksheets/sheet1.xml"
        ).encode(),
        "xl/worksheets/sheet1.xml": _written(_excel),
    }
    return Sample("f.xlsx", tuple(parts.values()), zipped(*parts))


_ARFF = (
    "@relation r\n% note\n@attribute a numeric\n@attribute 'b' {}\n@attribute y {{1,2}}\n@data\n"
)
_SERIES = b"@problemName p\n@univariate true\n@equalLength true\n@classLabel true 1 2\n@data\n"
_CSV = _lines(",", "a,b,y\n", LABELS)


@cache
def samples() -> dict[str, Sample]:
    """Return the files by the names of their formats."""
    plain = {
        "csv": Sample("f.csv", (_CSV,)),
        "quoted": Sample(
            "f.csv",
            (
                b'"a","b","y"\n"1.5","x ""y""","u"\n"2","z, z","v"\n'
                b'"3","z, z","u"\n"4.5","x ""y""","v"\n',
            ),
        ),
        "decimal": Sample("f.txt", (_lines(";").replace(b".", b","),)),
        "separated": Sample("f.csv", (b"sep=;\n" + _lines(";", "a;b;y\n", LABELS),)),
        "blanks": Sample("f.data", (_lines("  "),)),
        "utf-16": Sample("f.csv", (_CSV.decode().encode("utf-16"),)),
        "libsvm": Sample("f.libsvm", (_pairs(),)),
        "arff": Sample("f.arff", (_lines(",", _ARFF.format("real")),)),
        "sparse arff": Sample(
            "f.arff",
            (
                _ARFF.format("real").encode()
                + "".join(
                    f"{{0 {a!r}, 1 {b!r}, 2 {y}}}\n"
                    for (a, b), y in zip(X.tolist(), Y, strict=True)
                ).encode(),
            ),
        ),
        "nominal arff": Sample(
            "f.arff",
            (
                _ARFF.format("{'u v', w, \"x'y\"}").encode()
                + b"1,'u v',1\n2,w,2\n?,\"x'y\",1\n4,w,2\n",
            ),
        ),
        "ts": Sample(
            "f.ts", (_SERIES + _lines(",").replace(b",1\n", b":1\n").replace(b",2\n", b":2\n"),)
        ),
        "jsonl": Sample(
            "f.jsonl",
            (
                b"".join(
                    f'{{"p": "{word}", "y": "{y}"}}\n'.encode()
                    for word, y in zip("uvwxyz", LABELS, strict=True)
                ),
            ),
        ),
        "npy": Sample("f.npy", (_npy(X),)),
        "npz": Sample("f.npz", (_npy(X), _npy(Y)), zipped("X.npy", "y.npy")),
        "texts npz": Sample("f.npz", (_npy(X), _npy(LABELS)), zipped("X.npy", "y.npy")),
        "matlab 4": Sample("f.mat", (_written(lambda p: _matlab(p, format="4"), "f.mat"),)),
        "matlab 5": Sample("f.mat", (_written(_matlab, "f.mat"),)),
        "packed matlab": Sample(
            "f.mat", (_written(lambda p: _matlab(p, do_compression=True), "f.mat"),)
        ),
        "cells": Sample("f.mat", (_written(_cells, "f.mat"),)),
        "matlab 7.3": Sample("f.mat", (_written(lambda p: _hdf5(p, matlab=True)),)),
        "hdf5": Sample("f.h5", (_written(_hdf5),)),
        "parquet": Sample("f.parquet", (_written(_parquet),)),
        "plain parquet": Sample(
            "f.parquet",
            (
                _written(
                    lambda p: _parquet(
                        p, compression="none", use_dictionary=False, row_group_size=2
                    )
                ),
            ),
        ),
        "stata": Sample(
            "f.dta",
            (
                _written(
                    lambda p: _frame().astype({"s": "category"}).to_stata(p, write_index=False)
                ),
            ),
        ),
        "xlsx": _xlsx(),
    }
    packed = {
        "gz": Sample("f.csv.gz", (_CSV,), lambda parts: gzip.compress(parts[0])),
        "bz2": Sample("f.csv.bz2", (_CSV,), lambda parts: bz2.compress(parts[0])),
        "xz": Sample("f.csv.xz", (_CSV,), lambda parts: lzma.compress(parts[0])),
        "zip": Sample("f.zip", (_CSV, b"read me"), zipped("f.csv", "README")),
        "zip of npz": Sample("f.zip", (plain["npz"].content,), zipped("f.npz")),
        "tar": Sample("f.tar", (_CSV, b"read me"), taped("w", "f.csv", "README")),
        "tar.gz": Sample("f.tar.gz", (_CSV,), taped("w:gz", "f.csv")),
    }
    return plain | packed


def letor() -> Sample:
    """Return a file of ranking."""
    return Sample("f.letor", (_pairs(query=True),))


#: Formats of cards and tasks, by the names of samples; those of ranking are known by cards alone.
CARDS: dict[str, tuple[dict[str, object], str]] = {
    "csv": ({"kind": "delimited", "header": True}, "classification"),
    "blanks": ({"kind": "delimited", "delimiter": None}, "regression"),
    "libsvm": ({"kind": "libsvm"}, "regression"),
    "letor": ({"kind": "letor"}, "ranking"),
    "arff": ({"kind": "arff"}, "classification"),
    "ts": ({"kind": "ts"}, "classification"),
    "npz": ({"kind": "npz"}, "regression"),
    "matlab 5": ({"kind": "matlab", "matrix": "X", "target": "y"}, "regression"),
    "matlab 7.3": ({"kind": "matlab", "matrix": "X", "target": "y"}, "regression"),
    "hdf5": ({"kind": "matlab", "matrix": "group/inside", "target": "y"}, "regression"),
    "parquet": ({"kind": "parquet", "target": "y", "drop": ["s"]}, "classification"),
    "xlsx": ({"kind": "excel"}, "classification"),
    "stata": ({"kind": "stata", "drop": ["s"]}, "classification"),
}
