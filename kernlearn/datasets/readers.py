"""Readers of file formats, each by a library: from a path and options to a frame or a matrix."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernlearn.datasets.files import PACKED, container, opened
from kernlearn.datasets.tables import (
    ROW_NAMES,
    Table,
    are_numbers,
    counted,
    default_names,
    frame_table,
    joined,
    number_pattern,
    values_of,
)
from kernlearn.exceptions import DataError
from kernlearn.lazy import missing_text

if TYPE_CHECKING:
    import pandas as pd

#: Texts that stand for a missing entry in files of users: those of pandas, and two more.
STANDARD_MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", "?", "."),
)
_DENSE_FROM = 0.2  # share of entries that are not zero
_RANGE = re.compile(
    r"""(?im)^(\s*@attribute\s+(?:'[^']*'|"[^"]*"|\S+)\s+)(integer|real|numeric|date)\b.*$"""
)
_LINE_OF_PANDAS = re.compile(r"\b(?:line|row) (\d+)")


class Matrix(NamedTuple):
    """A file of numbers and labels, whose columns need no roles."""

    X: Any
    labels: Any
    query: np.ndarray | None = None
    names: tuple[str, ...] = ()


def read(
    paths: Sequence[Path],
    options: Any,
    n_features: int,
    classes: tuple[str, ...] | None,
    contents: Sequence[Any] = (),
) -> list[Table]:
    """Read the files of a data set.

    `contents` are those of :func:`content_of`, if they have been read before.

    Raises
    ------
    DataError
        If a file is damaged or not as the options say; the message names the file and the place.
    """
    if len(paths) > 1 and getattr(options, "skip", None):
        raise DataError(f"{paths[0]}: `skip` names lines of one file, and there are {len(paths)}")
    tables = []
    for i, path in enumerate(paths or [Path("scikit-learn")]):
        content = contents[i] if contents else content_of(path, options, n_features)
        if isinstance(content, Matrix):
            y = values_of(content.labels, classes, partial(_row, path))
            names = content.names or default_names(content.X.shape[1])
            table = Table(content.X, y, names, query=content.query)
            tables.append(table.with_target())
            continue
        place_of = partial(row_place, path, content, options)
        tables.append(frame_table(content, options, n_features, classes, path, place_of))
    if blocks := getattr(options, "blocks", None):
        table, n_rows = joined(tables, str(paths[0])), blocks * len(classes or ())
        if len(table.y) != n_rows:
            found = f"found {len(table.y)} rows, expected {n_rows} in blocks of {blocks}"
            raise DataError(f"{', '.join(map(str, paths))}: {found}")
        return [table._replace(y=(np.arange(n_rows) // blocks).astype(np.float64))]
    return tables


def content_of(path: Path, options: Any, n_features: int | None = None) -> Any:
    """Read one file: a frame, typed as pandas does, or a matrix."""
    if options.kind in ("libsvm", "letor"):
        zero_based = getattr(options, "zero_based", False)
        matrix = load_pairs(path, file_bytes(path), n_features, zero_based)
        if options.kind == "letor" and matrix.query is None:
            raise DataError(f"{path}: found no query ids, expected qid:number in each row")
        return matrix if options.kind == "letor" else matrix._replace(query=None)
    if options.kind in ("npz", "matlab"):
        return chosen_arrays(path, load_arrays(path), options)
    if options.kind == "sklearn":
        from sklearn import datasets

        bunch = getattr(datasets, options.loader)()
        of_classes = "target_names" in bunch
        labels = bunch.target_names[bunch.target] if of_classes else bunch.target
        return Matrix(bunch.data, labels, None, tuple(map(str, bunch.feature_names)))
    with library_errors(path, f"damaged, or no {options.kind} file"):
        frame = _FRAMES[options.kind](path, options)
    if not len(frame):
        has_header = " but its header" if len(frame.columns) else ""
        raise DataError(f"{path}: the file has no rows{has_header}")
    return _tidied(frame, options)


def _tidied(frame: "pd.DataFrame", options: Any) -> "pd.DataFrame":
    """Strip blanks around texts, take out texts of missing entries, and name the names of rows."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(names=[str(name or ROW_NAMES) for name in frame.index.names])
    names = [str(name).strip().strip('"') for name in frame.columns]
    frame.columns = [ROW_NAMES if names[0] == "Unnamed: 0" else names[0], *names[1:]]
    if not getattr(options, "standard_missing", True):
        return frame  # a published file is as its card says
    gaps = {"", *options.missing_texts}
    gaps |= {*STANDARD_MISSING} if options.kind in ("delimited", "excel") else set()
    codes = [float(text) for text in options.missing_texts if are_numbers([text])]
    for i, name in enumerate(frame.columns):
        column: Any = frame.iloc[:, i]
        if codes and pd.api.types.is_numeric_dtype(column.dtype):
            frame.isetitem(i, column.mask(column.isin(codes)))
        if name == options.points or not pd.api.types.is_string_dtype(column.dtype):
            continue
        if (texts := column.dropna()).dtype == object:
            texts = texts[[isinstance(value, str) for value in texts]].astype(str)
        bare = texts.str.strip()
        held = bare[~bare.isin(gaps)]
        if len(held) == len(texts) and held.equals(texts):
            continue
        written = texts[held.index]
        if (n := int((held != written).sum())) and written.nunique() > held.nunique():
            frame.attrs.setdefault("notes", []).append(
                f"blanks around {counted(n, 'text')} of column {name} were left out, so that "
                f"{written.nunique()} different ones became {held.nunique()}"
            )
        column = column.copy()
        column[texts.index] = held.reindex(texts.index)
        if options.kind == "delimited" and name not in options.text and are_numbers(held):
            column = pd.to_numeric(column)
        frame.isetitem(i, column.infer_objects())
    return frame


def _row(path: Path, row: int) -> str:
    return f"{path}, row {row + 1}"


def row_place(path: Path, frame: "pd.DataFrame", options: Any, row: int) -> str:
    """Name a row in a message: by its line where each row is one."""
    if "lines" in frame.attrs:
        return f"{path}, line {frame.attrs['lines'][row]}"
    if options.kind == "delimited":
        lines = file_bytes(path).decode(options.encoding, errors="replace").splitlines()
        bare = [line.split(options.comment)[0] if options.comment else line for line in lines]
        kept = [i for i, line in enumerate(bare, 1) if i not in options.skip and line.strip()]
        in_quotes = options.quote and any(line.count(options.quote) % 2 for line in bare)
        if not in_quotes and row + options.header < len(kept):
            return f"{path}, line {kept[row + options.header]}"
    return _row(path, row)


# Tables


def _delimited(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    named: Any = [name for name in (*options.text, options.points) if isinstance(name, str)]
    if options.columns:  # pandas knows them by position
        named = [options.columns.index(name) for name in named if name in options.columns]
    plain = options.decimal == "." and options.thousands is None
    if options.skip or container(path) != path or path.suffix.lower() in PACKED:
        source: Any = BytesIO(file_bytes(path))
    else:
        source = path
    try:
        frame = pd.read_csv(
            source,
            sep=options.delimiter or r"\s+",
            header=0 if options.header else None,
            skiprows=[line - 1 for line in options.skip],
            comment=options.comment or None,
            dtype=dict.fromkeys(named, str) if plain else str,
            na_values=[*options.missing_texts, *STANDARD_MISSING * options.standard_missing],
            keep_default_na=False,
            quotechar=options.quote or '"',
            quoting=csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
            index_col=None if options.header else False,
            encoding="utf-8-sig" if options.encoding == "utf-8" else options.encoding,
            skipinitialspace=options.points is None and options.skip_blanks,
            # files of users come as pandas reads them, published ones exactly as written
            float_precision=None if options.standard_missing else "round_trip",
            low_memory=False,
        )
    except UnicodeDecodeError as error:
        wrong = error.object[error.start : error.start + 1]
        raise DataError(
            f"{path}: found {wrong!r} at byte {error.start}, expected text in "
            f"{options.encoding.upper()}; `encoding` names another"
        ) from None
    except pd.errors.EmptyDataError:
        raise DataError(f"{path}: the file is empty") from None
    except pd.errors.ParserError as error:
        reason = " ".join(str(error).removeprefix("Error tokenizing data. ").split())
        line = _LINE_OF_PANDAS.search(reason)
        where = f"{path}, line {line[1]}" if line else str(path)
        raise DataError(f"{where}: {reason.removeprefix('C error: ')}") from None
    if not options.header:
        names = options.columns or default_names(len(frame.columns))
        if len(names) != len(frame.columns):
            found = len(frame.columns)
            raise DataError(f"{path}: found {found} columns, expected {len(names)}")
        frame.columns = list(names)
    elif not frame.index.equals(pd.RangeIndex(len(frame))) and len(frame.index.names) > 1:
        raise DataError(f"{path}: rows have more columns than the first line has names")
    if not plain:
        for name in frame.columns.difference([*options.text, options.points or ""]):
            frame[name] = _in_locale(frame[name], options.decimal, options.thousands)
    if options.encoding != "utf-8":
        frame.attrs["notes"] = [f"the text is read as {options.encoding}, not UTF-8"]
    return frame


def _in_locale(column: "pd.Series", decimal: str, thousands: str | None) -> "pd.Series":
    """Return a column of texts as numbers, if all of its entries are such."""
    import pandas as pd

    if not column.dropna().str.fullmatch(number_pattern(decimal, thousands)).all():
        return column
    if thousands is not None:
        marks = "[ \u00a0\u202f]" if thousands == " " else re.escape(thousands)
        column = column.str.replace(marks, "", regex=True)
    return pd.to_numeric(column.str.replace(decimal, ".", regex=False))


def _excel(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    frame = pd.read_excel(
        BytesIO(file_bytes(path)),
        sheet_name=options.sheet,
        header=None,
        dtype=object,
        engine="calamine",
        na_values=[*STANDARD_MISSING, *options.missing_texts],
    )
    frame = frame.dropna(how="all").dropna(axis=1, how="all")
    if options.header and len(frame):
        names = [n if n == n else f"Unnamed: {i}" for i, n in enumerate(frame.iloc[0])]
        frame = frame.iloc[1:]
    else:
        names = list(options.columns or default_names(len(frame.columns)))
    if len(names) != len(frame.columns):
        raise DataError(f"{path}: found {len(frame.columns)} columns, expected {len(names)}")
    frame = frame.set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    return frame.astype({name: str for name in options.text if name in names})


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a spreadsheet."""
    import pandas as pd

    with library_errors(path, "damaged, or no Excel file"):
        file = pd.ExcelFile(BytesIO(file_bytes(path)), engine="calamine")
        return list(map(str, file.sheet_names))


def _stored(path: Path, options: Any) -> "pd.DataFrame":
    """Read what pandas itself can write with the types of its columns."""
    import pandas as pd

    if options.kind == "spss":
        if container(path) != path:
            raise DataError(f"{path}: an SPSS file is not read from an archive; unpack it")
        return pd.read_spss(path)
    return getattr(pd, f"read_{options.kind}")(BytesIO(file_bytes(path)))


def _arff(path: Path, options: Any) -> "pd.DataFrame":
    """Read Weka's format by liac-arff; nominal attributes are categories."""
    import arff
    import pandas as pd

    content = file_bytes(path)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    parts = re.split(r"(?im)^(\s*@data.*)$", text, maxsplit=1)
    if len(parts) < 3:
        raise DataError(f"{path}: has no @data line after attributes")
    head, mark, body = parts
    # liac-arff would cut decimals off an integer, and knows no ranges, dates or last commas
    kinds = {"date": "string"}
    head = _RANGE.sub(lambda m: m[1] + kinds.get(m[2].lower(), "numeric"), head)
    body = re.sub(r"(?m),[ \t\r]*$", "", body)
    loaded = arff.loads(f"{head}{mark}{body}")
    kinds = dict(loaded["attributes"])
    frame = pd.DataFrame(loaded["data"], columns=list(kinds))
    for name, kind in kinds.items():
        if isinstance(kind, list):
            frame[name] = pd.Categorical(frame[name], categories=list(dict.fromkeys(kind)))
    return frame


def _series(path: Path, options: Any) -> "pd.DataFrame":
    """Read the ``.ts`` text of the time series archives."""
    import pandas as pd

    lines = iter(_text_lines(path))
    for line, text in lines:
        key, _, value = text.lower().partition(" ")
        if key == "@data":
            break
        if key == "@timestamps" and value.strip() == "true":
            raise DataError(f"{path}, line {line}: series with time stamps are not read")
        if not text.startswith(("#", "@")):
            raise DataError(f"{path}, line {line}: expected @data before the series")
    numbers, series, labels = [], [], []
    for line, text in lines:
        if text.startswith("#"):
            continue
        *channels, label = text.split(":")
        rows = [["nan" if v.strip() == "?" else v for v in c.split(",")] for c in channels]
        try:
            values = np.array(rows, dtype=np.float64)
        except ValueError as error:
            raise DataError(
                f"{path}, line {line}: {error}; expected numbers with commas between them, in "
                "channels of one length"
            ) from None
        if not channels:
            raise DataError(f"{path}, line {line}: expected values, a colon and the class")
        numbers.append(line)
        series.append(values)
        labels.append(label.strip())
    widths = {len(values) for values in series}
    lengths = {values.shape[1] for values in series}
    if options.points is not None:
        points = [values[0] if widths == {1} else values for values in series]
        frame = pd.DataFrame({"series": pd.Series(points, dtype=object), "class": labels})
    elif widths == {1} and len(lengths) == 1:
        frame = pd.DataFrame(np.concatenate(series), columns=list(default_names(*lengths)))
        frame["class"] = labels
    else:
        of = f"{min(lengths, default=0)} to {max(lengths, default=0)}"
        raise DataError(
            f"{path}: series of {' or '.join(map(str, sorted(widths)))} channels and {of} "
            "values make no matrix: give `points: series`, for distances of series"
        )
    if len(widths) > 1:
        raise DataError(f"{path}: series have from {min(widths)} to {max(widths)} channels")
    if are_numbers(labels):
        frame["class"] = frame["class"].astype(float)
    frame.attrs["lines"] = numbers
    return frame


def _json_lines(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    records, numbers = [], []
    for line, text in _text_lines(path):
        try:
            record = json.loads(text)
        except ValueError as error:
            raise DataError(f"{path}, line {line}: expected an object of JSON: {error}") from None
        if not isinstance(record, dict):
            raise DataError(f'{path}, line {line}: expected an object, {{"name": value, ...}}')
        records.append(record)
        numbers.append(line)
    frame = pd.DataFrame.from_records(records)
    frame.attrs["lines"] = numbers
    return frame


def _text_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers."""
    try:
        lines = file_bytes(path).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    return [(i, line.strip()) for i, line in enumerate(lines, 1) if line.strip()]


_FRAMES: dict[str, Callable[[Path, Any], Any]] = {
    **dict.fromkeys(("parquet", "feather", "stata", "spss"), _stored),
    "delimited": _delimited,
    "excel": _excel,
    "arff": _arff,
    "ts": _series,
    "jsonl": _json_lines,
}


# Matrices


def load_pairs(
    path: Path, content: bytes, n_features: int | None = None, zero_based: bool = True
) -> Matrix:
    """Read LIBSVM or LETOR text by scikit-learn, with queries if all rows have one."""
    from sklearn.datasets import load_svmlight_file

    stream = BytesIO(content.removeprefix(b"\xef\xbb\xbf"))
    try:
        X, y, query = load_svmlight_file(
            stream, n_features=n_features, zero_based=zero_based, query_id=True
        )
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}: cannot be read as index:value: {error}") from None
    if not len(y):
        raise DataError(f"{path}: the file has no rows")
    if not (np.isfinite(y).all() and np.isfinite(X.data).all()):
        raise DataError(f"{path}: a value is not finite")
    X.sum_duplicates()
    X.eliminate_zeros()
    n_queries = len(re.findall(rb"(?m)^[ \t]*[^\s#]+[ \t]+qid:\d", content))
    if n_queries not in (0, len(y)):
        raise DataError(f"{path}: {n_queries} of {len(y)} rows have a qid: all need one, or none")
    return Matrix(X, y, query.astype(np.int64) if n_queries else None)


def load_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an NPZ, MATLAB or HDF5 file by name; pickled objects are not loaded."""
    content = file_bytes(path)
    with library_errors(path, "damaged, or no file of plain arrays"):
        if content.startswith(b"PK"):
            with np.load(BytesIO(content), allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}
        if content[:8] == b"\x89HDF\r\n\x1a\n" or content.startswith(b"MATLAB 7.3"):
            return _hdf5(content)
        from scipy.io import loadmat

        stored = loadmat(BytesIO(content), simplify_cells=True)
        return dict(_flat({k: v for k, v in stored.items() if not k.startswith("__")}))


def _flat(stored: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in stored.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            value = value if hasattr(value, "tocsr") else np.asarray(value)
            texts = value.dtype.kind == "O" and all(isinstance(v, str) for v in value.flat)
            yield prefix + name, value.astype(np.str_) if texts else value


def _hdf5(content: bytes) -> dict[str, Any]:
    import h5py

    arrays: dict[str, Any] = {}
    turned = content.startswith(b"MATLAB")  # which stores column by column

    def keep(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.shape is None:
            return
        if h5py.check_string_dtype(item.dtype) is not None:
            arrays[name] = np.asarray(item.asstr()[()], dtype=np.str_)
        elif item.dtype.kind in "fiub":
            arrays[name] = item[()].T if turned else item[()]

    with h5py.File(BytesIO(content), "r") as file:
        file.visititems(keep)
    return arrays


def chosen_arrays(path: Path, arrays: Mapping[str, Any], options: Any) -> Matrix:
    """Return the matrix and the labels among the arrays of a file."""
    for name in (options.matrix, options.target):
        if name not in arrays:
            held = ", ".join(arrays) or "no arrays"
            raise DataError(f"{path}: has no array called {name}; it has {held}")
    X, labels = arrays[options.matrix], arrays[options.target]
    X = X.reshape(-1, 1) if X.ndim == 1 else X
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not X.shape[0]:
        raise DataError(
            f"{path}: found an array {options.matrix} of shape {X.shape} and type {X.dtype}, "
            "expected a matrix of numbers"
        )
    if not is_vector(labels.shape, X.shape[0]):
        raise DataError(
            f"{path}: found labels of shape {labels.shape}, expected one per row of "
            f"{X.shape[0]}; of columns of 0 and 1, give the position of the 1 in each row"
        )
    values = X.data if hasattr(X, "tocsr") else X
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise DataError(f"{path}: an entry of {options.matrix} is not finite")
    if hasattr(X, "tocsr"):
        X = X.tocsr().astype(np.float64)
    else:
        kind = np.float64 if X.dtype.kind == "b" or X.dtype == np.float16 else X.dtype
        X = np.ascontiguousarray(X, dtype=np.dtype(kind).newbyteorder("="))
    return Matrix(X, labels.ravel())


def is_vector(shape: tuple[int, ...], n: int) -> bool:
    """Tell whether an array has one entry per row: as a vector, a column or a row."""
    return shape in ((n,), (n, 1), (1, n))


def densified(X: Any) -> Any:
    """Return a sparse matrix of which much is not zero as a dense one."""
    few = hasattr(X, "tocsr") and X.nnz < _DENSE_FROM * X.shape[0] * X.shape[1]
    return X if few or not hasattr(X, "tocsr") else X.toarray()


def file_bytes(path: Path) -> bytes:
    """Read a file, unpacked."""
    with opened(path) as stream:
        return stream.read()


@contextmanager
def library_errors(path: Path, damage: str) -> Iterator[None]:
    """Turn what a library raises on a damaged file into one line."""
    try:
        yield
    except DataError:
        raise
    except ImportError as error:
        raise DataError(f"{missing_text(f'{path}', str(error.name))}, or save it as CSV") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise DataError(f"{path}: {damage}: {reason}") from None
