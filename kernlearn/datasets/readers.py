"""Readers of file formats, each by a library: from paths and a card's options to a table."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO, StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.datasets.files import container, naming_damage, opened
from kernlearn.datasets.tables import (
    Expected,
    Table,
    are_numbers,
    as_objects,
    coded_labels,
    default_names,
    frame_table,
    from_json,
    joined,
)
from kernlearn.exceptions import DataError
from kernlearn.lazy import missing_text

if TYPE_CHECKING:
    import pandas as pd

#: The column of the names of rows, where the file gives it no name.
ROW_NAMES = "row names"
#: Texts that stand for a missing entry beside those that pandas knows.
FURTHER_MISSING = ("?", ".")
#: All of these, as pandas has them.
STANDARD_MISSING = (
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
    *("<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null", *FURTHER_MISSING),
)
_DENSE_FROM = 0.2  # share of entries that are not zero
_ATTRIBUTE = re.compile(
    r"""@attribute\s+('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\s'"]\S*)\s+(.+)""", re.IGNORECASE
)
_WITH_COMMA = r"\s*[+-]?(?:\d+,?\d*|,\d+)(?:[eE][+-]?\d+)?\s*"
_LINE_OF_PANDAS = re.compile(r"\b(?:line|row) (\d+)")

# A frame that was read to make a card for it, until it is read by that card.
_looked_at: dict[Any, Any] = {}


def read(paths: Sequence[Path], options: Any, expected: Expected) -> Table:
    """Read the files of a data set and concatenate their rows.

    Raises
    ------
    DataError
        If a file is damaged or not as the options say; the message names the file and the place.
    """
    if options.kind == "sklearn":
        return _bundled(options, expected)
    if len(paths) > 1 and getattr(options, "skip", None):
        raise DataError(f"{paths[0]}: `skip` names lines of one file, and there are {len(paths)}")
    tables = [READERS[options.kind](path, options, expected) for path in paths]
    place = ", ".join(map(str, paths))
    table = joined(tables, place)
    if blocks := getattr(options, "blocks", None):
        n_rows = blocks * len(expected.classes or ())
        if len(table.y) != n_rows:
            raise DataError(
                f"{place}: found {len(table.y)} rows, expected {n_rows} in blocks of {blocks}"
            )
        table = table._replace(y=(np.arange(n_rows) // blocks).astype(np.float64))
    if options.kind in ("libsvm", "letor") and hasattr(table.X, "tocsr"):
        n_rows, n_columns = table.X.shape
        if table.X.nnz >= _DENSE_FROM * n_rows * n_columns:
            return table._replace(X=table.X.toarray())
    return table


# Tables


def read_frame(path: Path, options: Any) -> "pd.DataFrame":
    """Read a table, typed as pandas does; one that was looked at before is not read again."""
    with naming_damage(path):
        key = _frame_key(path, options)
    if (frame := _looked_at.pop(key, None)) is None:
        frame = FRAMES[options.kind](path, options)
    if not len(frame):
        raise DataError(f"{path}: the file has no rows")
    return frame


def look_at(path: Path, options: Any) -> "pd.DataFrame":
    """Read a table and keep it for the next call of :func:`read_frame`."""
    frame = read_frame(path, options)
    _looked_at.clear()
    _looked_at[_frame_key(path, options)] = frame
    return frame


def _frame_key(path: Path, options: Any) -> Any:
    state = container(path).stat()
    roles = {"target", "drop", "nominal", "rename", "query", "target_suffix", "columns"}
    how = options.model_dump_json(exclude=roles)
    return str(path.resolve()), state.st_size, state.st_mtime_ns, how


def _frame_table(path: Path, options: Any, expected: Expected) -> Table:
    frame = read_frame(path, options)
    return frame_table(frame, options, expected, path, partial(row_place, path, options))


def row_place(path: Path, options: Any, row: int) -> str:
    """Name a row in a message: by its line where each row is one."""
    if options.kind == "delimited":
        with opened(path) as stream:
            lines = stream.read().decode(options.encoding, errors="replace").splitlines()
        bare = [line.split(options.comment)[0] if options.comment else line for line in lines]
        kept = [i for i, line in enumerate(bare, 1) if i not in options.skip and line.strip()]
        in_quotes = options.quote and any(line.count(options.quote) % 2 for line in bare)
        if not in_quotes and row + options.header < len(kept):
            return f"{path}, line {kept[row + options.header]}"
    return f"{path}, row {row + 1}"


def _delimited(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    named: Any = [name for name in (*options.text, options.points) if isinstance(name, str)]
    if options.columns:  # pandas knows them by position
        named = [options.columns.index(name) for name in named if name in options.columns]
    texts: Any = str if options.decimal == "," else dict.fromkeys(named, str)
    with opened(path) as stream:
        try:
            frame = pd.read_csv(
                stream,
                sep=options.delimiter or r"\s+",
                header=0 if options.header else None,
                skiprows=[line - 1 for line in options.skip],
                comment=options.comment or None,
                dtype=texts,
                na_values=[*options.missing_texts, *FURTHER_MISSING * options.standard_missing],
                keep_default_na=options.standard_missing,
                quotechar=options.quote or '"',
                quoting=csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
                thousands=None if options.decimal == "," else options.thousands,
                index_col=None if options.header else False,
                encoding="utf-8-sig" if options.encoding == "utf-8" else options.encoding,
                skipinitialspace=options.points is None,
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
        except (ValueError, OverflowError) as error:
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
    else:
        frame.columns = [str(name).strip().strip('"') for name in frame.columns]
        if not frame.index.equals(pd.RangeIndex(len(frame))):
            raise DataError(f"{path}: rows have more columns than the first line has names")
    if options.decimal == ",":
        for name in frame.columns.difference([*options.text, options.points or ""]):
            frame[name] = _decimal_commas(frame[name], options.thousands)
    return _with_row_names(path, frame)


def is_number(text: str, comma: bool = False) -> bool:
    """Tell whether an entry is a number, with a decimal comma or a point."""
    return bool(re.fullmatch(_WITH_COMMA, text)) if comma else are_numbers([text])


def _decimal_commas(column: "pd.Series", thousands: str | None) -> "pd.Series":
    """Return a column as numbers, if all of its entries are such with a decimal comma."""
    import pandas as pd

    bare = column.str.replace(thousands, "", regex=False) if thousands else column
    if not bare.dropna().str.fullmatch(_WITH_COMMA).all():
        return column
    return pd.to_numeric(bare.str.replace(",", "."))


def _with_row_names(path: Path, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Give the names of rows a column, if the file has such in a column without a name."""
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        names = [str(name or ROW_NAMES) for name in frame.index.names]
        frame = frame.reset_index(names=names)
    if len(frame.columns) and str(frame.columns[0]) == "Unnamed: 0":
        frame = frame.rename(columns={frame.columns[0]: ROW_NAMES})
    return frame


def _excel(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    try:
        import python_calamine  # noqa: F401
    except ImportError:
        needed = missing_text(f"{path}: a spreadsheet", "python_calamine")
        raise DataError(f"{needed}, or save it as CSV") from None
    missing = options.missing or ()
    with opened(path) as stream, _library_errors(path, "damaged, or no Excel file"):
        frame = pd.read_excel(
            BytesIO(stream.read()),
            sheet_name=options.sheet,
            header=None,
            dtype=object,
            engine="calamine",
            na_values=[missing] if isinstance(missing, str) else [*missing],
        )
    frame = frame.dropna(how="all").dropna(axis=1, how="all")
    if options.header and len(frame):
        heads = frame.iloc[0]
        names = [str(n).strip() if n == n else f"Unnamed: {i}" for i, n in enumerate(heads)]
        frame = frame.iloc[1:]
    else:
        names = list(options.columns or default_names(len(frame.columns)))
    if len(names) != len(frame.columns):
        raise DataError(f"{path}: found {len(frame.columns)} columns, expected {len(names)}")
    frame = frame.set_axis(names, axis=1).reset_index(drop=True).infer_objects()
    return _with_row_names(path, frame)


def sheet_names(path: Path) -> list[str]:
    """Return the names of the sheets of a spreadsheet."""
    import pandas as pd

    with opened(path) as stream, _library_errors(path, "damaged, or no Excel file"):
        return list(map(str, pd.ExcelFile(BytesIO(stream.read()), engine="calamine").sheet_names))


def _parquet(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    with opened(path) as stream, _library_errors(path, "damaged, or no Parquet file"):
        return _with_row_names(path, pd.read_parquet(BytesIO(stream.read())))


def _labelled(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    with opened(path) as stream, _library_errors(path, f"damaged, or no {options.kind} file"):
        if options.kind == "stata":
            return pd.read_stata(BytesIO(stream.read()))
        if container(path) != path:
            raise DataError(f"{path}: an SPSS file is not read from an archive; unpack it")
        return pd.read_spss(path)


class _library_errors:
    """Turn what a library raises on a damaged file into one line."""

    def __init__(self, path: Path, damage: str) -> None:
        self.path, self.damage = path, damage

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, _: Any) -> None:
        if isinstance(error, ImportError):
            raise DataError(f"{self.path}: {error}") from None
        if isinstance(error, Exception) and not isinstance(error, DataError):
            reason = " ".join(str(error).split())[:200]
            raise DataError(f"{self.path}: {self.damage}: {reason}") from None


# ARFF


def _arff_lines(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the attributes of an ARFF file with their types, and the lines of the data.

    A type is "number", "text", "dates", or the values of a nominal attribute.
    """
    with opened(path) as stream:
        content = stream.read()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")
    lines = text.splitlines()
    types: dict[str, Any] = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        word = line.split(maxsplit=1)[0].lower() if line else ""
        if word == "@data" and types:
            kept = (row.strip() for row in lines[number:])
            # rows may end with a comma
            rows = ["" if row.startswith("%") else row.removesuffix(",") for row in kept]
            return types, rows
        if not word or word.startswith("%") or word == "@relation":
            continue
        match = _ATTRIBUTE.fullmatch(line)
        if match is None:
            raise DataError(f"{path}, line {number}: found {line[:60]!r}, expected an @attribute")
        name, kind = _unquoted(match[1]), match[2].strip()
        if name in types:
            raise DataError(f"{path}, line {number}: the attribute {name!r} is declared twice")
        types[name] = _arff_type(kind)
        if types[name] is None:
            raise DataError(
                f"{path}, line {number}: found {kind[:60]!r}, expected numeric, real, integer, "
                "string, date or {values}"
            )
    raise DataError(f"{path}: has no @data line after attributes")


def _arff_type(kind: str) -> Any:
    if kind.startswith("{") and kind.endswith("}"):
        return tuple(_split(kind[1:-1]))
    word = re.split(r"[\s\[]", kind.lower())[0]  # "integer [1,10]" has a range
    names = {"numeric": "number", "real": "number", "integer": "number"}
    return (names | {"string": "text", "date": "dates"}).get(word)


def _split(text: str) -> list[str]:
    """Split at commas outside quotes, of which there may be two kinds."""
    quote = "'" if "'" in text and not text.lstrip().startswith('"') else '"'
    reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
    return [entry.strip() for entry in next(reader, [])]


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text[1:-1]) if text[0] in "'\"" else text


def _arff(path: Path, options: Any) -> "pd.DataFrame":
    """Read the rows of an ARFF file; nominal attributes are categories."""
    import pandas as pd

    types, rows = _arff_lines(path)
    rows = [_full_row(path, row, types) if row.startswith("{") else row for row in rows]
    body = "\n".join(rows)
    with _library_errors(path, "cannot be read"):
        frame = pd.read_csv(
            StringIO(body),
            names=list(types),
            index_col=False,
            quotechar="'" if "'" in body else '"',
            escapechar="\\",
            na_values=["?"],
            keep_default_na=False,
            skipinitialspace=True,
            dtype={name: str for name, kind in types.items() if kind != "number"},
            float_precision="round_trip",
            low_memory=False,
        )
    for name, kind in types.items():
        if not isinstance(kind, tuple):
            continue
        texts = frame[name].str.strip()
        if len(wrong := np.flatnonzero(texts.notna() & ~texts.isin(kind))):
            raise DataError(
                f"{path}, row {wrong[0] + 1}, column {name}: found {texts.iloc[wrong[0]]!r}, "
                f"expected one of {', '.join(kind)[:200]}"
            )
        frame[name] = pd.Categorical(texts, categories=list(dict.fromkeys(kind)))
    return frame


def _full_row(path: Path, row: str, types: Mapping[str, Any]) -> str:
    """Return a sparse row, ``{index value, ...}``, with all values, by default 0 or the first."""
    others = {"number": "0", "text": "?", "dates": "?"}
    values = [k[0] if isinstance(k, tuple) else others[k] for k in types.values()]
    for entry in filter(None, map(str.strip, row.strip("{}").split(","))):
        index, _, value = entry.partition(" ")
        if not index.isdecimal() or int(index) >= len(values):
            raise DataError(
                f"{path}: found {entry[:60]!r} in a sparse row, expected an index below "
                f"{len(values)} and a value"
            )
        values[int(index)] = value.strip()
    return ",".join(values)


# Matrices


def _pairs(path: Path, options: Any, expected: Expected) -> Table:
    """Read LIBSVM or LETOR text by scikit-learn."""
    X, labels, query = load_pairs(path, expected.n_features, getattr(options, "zero_based", False))
    if options.kind == "letor" and query is None:
        raise DataError(f"{path}: found no query ids, expected qid:number in each row")
    y = coded_labels(labels, expected.classes, lambda row: f"{path}, row {row + 1}")
    query = query if options.kind == "letor" else None
    return Table(X, y, default_names(expected.n_features), query=query)


def load_pairs(
    path: Path, n_features: int | None, zero_based: bool, content: bytes | None = None
) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return the matrix, the labels, and the queries if all rows have one."""
    from sklearn.datasets import load_svmlight_file

    if content is None:
        with opened(path) as stream:
            content = stream.read()
    try:
        X, y, query = load_svmlight_file(
            BytesIO(content.removeprefix(b"\xef\xbb\xbf")),
            n_features=n_features,
            zero_based=zero_based,
            query_id=True,
        )
    except (ValueError, OverflowError) as error:
        raise DataError(f"{path}: cannot be read as index:value: {error}") from None
    if not len(y):
        raise DataError(f"{path}: the file has no rows")
    if len(wrong := np.flatnonzero(~np.isfinite(y))) or not np.isfinite(X.data).all():
        where = f", row {wrong[0] + 1}" if len(wrong) else ""
        raise DataError(f"{path}{where}: a value is not finite")
    X.sum_duplicates()
    X.eliminate_zeros()
    n_queries = len(re.findall(rb"(?m)^[ \t]*[^\s#]+[ \t]+qid:\d", content))
    return X, y, query.astype(np.int64) if n_queries == len(y) else None


def load_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an NPZ, MATLAB or HDF5 file by name; pickled objects are not loaded."""
    with opened(path) as stream:
        content = stream.read()
    damage = "damaged, or no file of plain arrays"
    with _library_errors(path, damage):
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


def _arrays(path: Path, options: Any, expected: Expected) -> Table:
    arrays = load_arrays(path)
    for name in filter(None, (options.matrix, options.target, options.query)):
        if name not in arrays:
            held = ", ".join(arrays) or "no arrays"
            raise DataError(f"{path}: has no array called {name}; it has {held}")
    X, labels = arrays[options.matrix], arrays[options.target]
    if X.ndim == 1:  # a single column
        X = X.reshape(-1, 1)
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
    y = coded_labels(labels.ravel(), expected.classes, lambda row: f"{path}, row {row + 1}")
    query = None if options.query is None else arrays[options.query].ravel().astype(np.int64)
    if hasattr(X, "tocsr"):
        sparse = X.nnz < _DENSE_FROM * X.shape[0] * X.shape[1]
        X = X.tocsr().astype(np.float64) if sparse else X.toarray()
    elif X.dtype.kind == "b" or X.dtype == np.float16:
        X = X.astype(np.float64)
    X = X if hasattr(X, "tocsr") else np.ascontiguousarray(X, dtype=X.dtype.newbyteorder("="))
    return Table(X, y, default_names(X.shape[1]), query=query)


def is_vector(shape: tuple[int, ...], n: int) -> bool:
    """Tell whether an array has one entry per row: as a vector, a column or a row."""
    return shape in ((n,), (n, 1), (1, n))


def _bundled(options: Any, expected: Expected) -> Table:
    from sklearn import datasets

    bunch = getattr(datasets, options.loader)()
    labels = bunch.target if expected.classes is None else bunch.target_names[bunch.target]
    y = coded_labels(labels, expected.classes, lambda row: f"scikit-learn, row {row + 1}")
    return Table(bunch.data, y, tuple(map(str, bunch.feature_names)))


# Series and lines of JSON


def _text_lines(path: Path) -> list[str]:
    with opened(path) as stream:
        try:
            lines = stream.read().decode("utf-8-sig").splitlines()
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text (byte {error.start})") from None
    if not any(map(str.strip, lines)):
        raise DataError(f"{path}: the file is empty")
    return lines


def series_of(path: Path) -> list[tuple[int, np.ndarray, str]]:
    """Return the series of a ``.ts`` file: the line, the values of each channel, and the class."""
    lines = enumerate(map(str.strip, _text_lines(path)), 1)
    for line, text in lines:
        key, _, value = text.lower().partition(" ")
        if key == "@data":
            break
        if key == "@timestamps" and value.strip() == "true":
            raise DataError(f"{path}, line {line}: series with time stamps are not read")
        if text and not text.startswith(("#", "@")):
            raise DataError(f"{path}, line {line}: expected @data before the series")
    series = []
    for line, text in lines:
        if not text or text.startswith("#"):
            continue
        *channels, label = text.split(":")
        rows = [["nan" if v.strip() == "?" else v for v in c.split(",")] for c in channels]
        try:
            series.append((line, np.array(rows, dtype=np.float64), label.strip()))
        except ValueError as error:
            raise DataError(
                f"{path}, line {line}: {error}; expected numbers with commas between them, in "
                "channels of one length"
            ) from None
        if not channels:
            raise DataError(f"{path}, line {line}: expected values, a colon and the class")
    if not series:
        raise DataError(f"{path}: has no series after @data")
    return series


def _series(path: Path, options: Any, expected: Expected) -> Table:
    series = series_of(path)
    n_channels = len(series[0][1])
    width = expected.n_features
    for line, values, _ in series:
        if len(values) != n_channels or (not options.points and values.shape != (1, width)):
            found = f"{len(values)} channels of {values.shape[1]} values"
            wanted = f"{n_channels} channels" if options.points else f"one of {width} values"
            advice = "" if options.points else ": others make no matrix; give `points: series`"
            raise DataError(f"{path}, line {line}: found {found}, expected {wanted}{advice}")
    labels = [label for _, _, label in series]
    y = coded_labels(
        labels, expected.classes, lambda row: f"{path}, line {series[row][0]}", options.rename
    )
    arrays = [values[0] if n_channels == 1 else values for _, values, _ in series]
    if options.points:
        return Table(as_objects(arrays), y, ("series",))
    return Table(np.array(arrays), y, default_names(expected.n_features))


def json_records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """Return the line and the object of each line of JSON that is not blank."""
    records = []
    for line, text in enumerate(_text_lines(path), 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except ValueError as error:
            raise DataError(f"{path}, line {line}: expected an object of JSON: {error}") from None
        if not isinstance(record, dict):
            raise DataError(f'{path}, line {line}: expected an object, {{"name": value, ...}}')
        records.append((line, record))
    return records


def _json_lines(path: Path, options: Any, expected: Expected) -> Table:
    points: list[Any] = []
    records = json_records(path)
    for line, record in records:
        for name in (options.points, options.target):
            if name not in record:
                raise DataError(f"{path}, line {line}: has no value called {name}")
        value = record[options.points]
        try:
            points.append(None if value is None or value == "" else from_json(value))
        except ValueError as error:
            raise DataError(f"{path}, line {line}: {options.points}: expected {error}") from None
    labels = [record[options.target] for _, record in records]
    y = coded_labels(labels, expected.classes, lambda row: f"{path}, line {records[row][0]}")
    has_target = ~np.isnan(y)
    table = Table(as_objects(points)[has_target], y[has_target], (options.points,))
    return table._replace(without_target=int((~has_target).sum()))


FRAMES: dict[str, Callable[[Path, Any], Any]] = {
    "arff": _arff,
    "delimited": _delimited,
    "excel": _excel,
    "parquet": _parquet,
    "stata": _labelled,
    "spss": _labelled,
}
READERS: dict[str, Callable[[Path, Any, Expected], Table]] = {
    **dict.fromkeys(FRAMES, _frame_table),
    "libsvm": _pairs,
    "letor": _pairs,
    "npz": _arrays,
    "matlab": _arrays,
    "ts": _series,
    "jsonl": _json_lines,
}
