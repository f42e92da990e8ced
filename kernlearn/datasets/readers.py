"""Readers of file formats, each by a library: from a path and options to a frame or a matrix."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO, TextIOWrapper
from itertools import count, islice, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kernlearn.checks import counted
from kernlearn.datasets.card import MOST_FEATURES
from kernlearn.datasets.files import file_bytes, opened, refuse_unpacking
from kernlearn.datasets.tables import (
    LARGEST,
    ROW_NAMES,
    Table,
    are_numbers,
    default_names,
    frame_table,
    values_of,
)
from kernlearn.exceptions import DataError
from kernlearn.lazy import missing_text

if TYPE_CHECKING:
    import pandas as pd

_GAPS = ("?", ".")  # texts of missing entries in files of users, besides those of pandas
#: What a file of a single array begins with.
NPY = b"\x93NUMPY"
_TOO_WIDE = f"a feature's index is above {MOST_FEATURES:,}: number those that occur from 1"
_ATTRIBUTE = re.compile(
    r"""(?im)^(\s*@attribute\s+(?:'[^']*'|"[^"]*"|\S+)\s+)(integer|real|numeric|date)\b.*$"""
)


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
    tables = []
    for i, path in enumerate(paths or [Path("scikit-learn")]):
        content = contents[i] if contents else content_of(path, options, n_features)
        place_of = partial(row_place, path, content, options)
        if isinstance(content, Table):
            y = values_of(content.y, classes, place_of)
            names = content.feature_names or default_names(content.X.shape[1])
            tables.append(content._replace(y=y, feature_names=names))
        else:
            tables.append(frame_table(content, options, classes, path, place_of))
    return tables


def content_of(path: Path, options: Any, n_features: int | None = None) -> Any:
    """Read one file: a frame, typed as pandas does, or a table whose y are labels."""
    if options.kind == "libsvm":
        return load_pairs(path, file_bytes(path), n_features, options.zero_based)
    if options.kind in ("npz", "matlab"):
        return chosen_arrays(path, load_arrays(path), options.matrix, options.target)
    if options.kind == "sklearn":
        from sklearn import datasets

        bunch = getattr(datasets, options.loader)()
        of_classes = "target_names" in bunch
        labels = bunch.target_names[bunch.target] if of_classes else bunch.target
        return Table(bunch.data, labels, tuple(map(str, bunch.feature_names)))
    with library_errors(path, f"damaged, or no {options.kind} file"):
        # a copy has its columns in blocks: ten thousands, each by itself, take long
        frame = _FRAMES[options.kind](path, options).copy()
    if not len(frame):
        raise DataError(f"{path}: the file has no rows")
    if not getattr(options, "standard_missing", True):
        return frame
    gaps = frame.isna()
    if options.kind in ("delimited", "excel") and gaps.any(axis=None):
        texts = _FRAMES[options.kind](path, options, na_filter=False)
        frame.attrs["gaps"] = {
            str(name): [
                f"{text!r} in {counted(n, 'row')} of column {name}"
                for text, n in texts[name][gaps[name].to_numpy()].value_counts().items()
                if str(text).strip()
            ]
            for name in frame.columns[gaps.any()]
        }
    return _tidied(path, frame, options)


def _tidied(path: Path, frame: "pd.DataFrame", options: Any, first: int = 0) -> "pd.DataFrame":
    """Return the names of rows as a column, and take out what stands for missing entries.

    `first` is the number of rows before these.
    """
    import pandas as pd

    if not frame.index.equals(pd.RangeIndex(first, first + len(frame))):  # R numbers rows from 1
        frame = frame.reset_index(names=[str(name or ROW_NAMES) for name in frame.index.names])
    if options.kind != "delimited":
        mask_gaps(frame, options)
    if options.replace:
        replace_texts(frame, options)
    frame = frame.rename(columns={"Unnamed: 0": ROW_NAMES})
    nameless = [name for name in frame.columns if str(name).startswith("Unnamed: ")]
    # columns beside a table, or separators at the ends of lines
    if not first and (empty := [name for name in nameless if frame[name].isna().all()]):
        frame, nameless = frame.drop(columns=empty), sorted({*nameless} - {*empty})
        frame.attrs["empty"] = len(empty)
    if nameless:
        n = counted(len(nameless), "column")
        raise DataError(f"{path}: {n} without a name: name all, or remove what stands above")
    return frame


def mask_gaps(frame: "pd.DataFrame", options: Any) -> None:
    """Make what stands for missing entries missing, in place."""
    import pandas as pd

    numbers = [float(text) for text in options.missing if are_numbers([text])]
    for i in range(len(frame.columns)):
        column: Any = frame.iloc[:, i]
        if (is_numeric := pd.api.types.is_numeric_dtype(column)) and not numbers:
            continue
        kind, gaps = pd.api.types.infer_dtype(column), column.isin([*options.missing, *numbers])
        if kind == "string":
            gaps |= (column if options.points else column.str.strip()) == ""
        # of a database, or beyond 64 bits
        elif kind == "decimal" or (kind == "integer" and options.kind == "excel"):
            column = column.astype(float)
        elif not (is_numeric or kind.startswith("mixed")):
            continue
        frame.isetitem(i, column.mask(gaps))


def replace_texts(frame: "pd.DataFrame", options: Any) -> None:
    """Put numbers in the place of texts, in place, in columns that have numbers else.

    Texts that nothing is to stand for are left out of entries.
    """
    from pandas.api.types import is_numeric_dtype

    places: dict[str, list[str]] = {text: [] for text in options.replace}
    numbers = {text: number for text, number in options.replace.items() if number != ""}
    signs = [text for text in places if text not in numbers]
    for i in (i for i, kind in enumerate(frame.dtypes) if not is_numeric_dtype(kind)):
        held: Any = frame.iloc[:, i].dropna().astype(str).str.strip()
        found = {sign: int(held.str.contains(sign, regex=False).sum()) for sign in signs}
        for sign in signs:
            held = held.str.replace(sign, "", regex=False).str.strip()
        replaced = held.map(numbers)
        rest = held[replaced.isna()]
        found |= held.drop(rest.index).value_counts().to_dict()
        if any(found.values()) and all(is_number(text, options) for text in rest):
            frame.isetitem(i, replaced.fillna(numbers_of(rest, options)).reindex(frame.index))
            for text, n in found.items():
                column = f"{counted(n, 'row')} of column {frame.columns[i]}"
                places[text] += [column] if n else []
    frame.attrs["replaced"] = places


def numbers_of(texts: Any, options: Any) -> Any:
    """Return texts that :func:`is_number` takes for numbers as these."""
    point, mark = getattr(options, "decimal", "."), getattr(options, "thousands", None) or ""
    return texts.str.strip().str.replace(mark, "").str.replace(point, ".").astype(float)


def row_place(path: Path, content: Any, options: Any, row: int) -> str:
    """Name a row in a message: by its line where it has one."""
    if lines := getattr(content, "attrs", {}).get("lines"):
        return f"{path}, line {lines[row]}"
    if options.kind == "delimited":
        rows = split_rows(file_bytes(path), options)
        for line, _ in islice(rows, row + options.header, None):
            return f"{path}, line {line}"
    if options.kind == "excel":
        kept = (number for number in count(1) if number not in options.skip)
        return f"{path}, row {next(islice(kept, row + options.header, None))}"
    return f"{path}, row {row + 1}"


# Tables


def split_rows(content: bytes, options: Any) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of text in columns as pandas splits them, each with its first line.

    csv.Error says that a quoted entry does not end with its quote.
    """
    csv.field_size_limit(max(csv.field_size_limit(), len(content)))  # texts may be long

    def bare(number: int, line: str) -> str:
        line = "\n" if number in options.skip else line
        line = line.partition(options.comment)[0] if options.comment else line
        return line if options.delimiter else " ".join(line.split())

    codec = "utf-8-sig" if options.encoding == "utf-8" else options.encoding
    lines = TextIOWrapper(BytesIO(content), codec, errors="replace", newline="")
    reader = csv.reader(
        starmap(bare, enumerate(lines, 1)),
        delimiter=options.delimiter or " ",
        quotechar=options.quote or '"',
        quoting=csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
        skipinitialspace=True,
        strict=True,
    )
    end = 0
    try:
        for row in reader:
            line, end = end + 1, reader.line_num
            if len(row) > 1 or (row and row[0].strip()):
                yield line, row
    except csv.Error as error:
        raise csv.Error(f"line {end + 1}: {error}") from None


def _delimited(path: Path, options: Any, **how: Any) -> Iterator["pd.DataFrame"]:
    """Yield the rows of text in columns, all in one frame or `chunksize` in each."""
    import pandas as pd

    names, codec = options.columns or (), options.encoding
    as_text = [name for name in (*options.text, options.points) if name is not None]
    as_text = [names.index(name) if name in names else name for name in as_text]

    def frames(**other: Any) -> "Iterator[pd.DataFrame]":
        with opened(path) as stream:
            if options.thousands == " ":  # programs write blanks of other kinds
                text = re.sub("[\u00a0\u202f]", " ", stream.read().decode(codec))
                stream = BytesIO(text.encode(codec))
            asked: dict[str, Any] = {
                "sep": options.delimiter or r"\s+",
                "header": 0 if options.header else None,
                "skiprows": [line - 1 for line in options.skip],
                "comment": options.comment or None,
                "dtype": dict.fromkeys(as_text, str),
                "na_values": [*options.missing, *_GAPS * options.standard_missing],
                "keep_default_na": options.standard_missing,
                "quotechar": options.quote or '"',
                "quoting": csv.QUOTE_MINIMAL if options.quote else csv.QUOTE_NONE,
                "index_col": None if options.header else False,
                "decimal": options.decimal,
                "thousands": options.thousands,
                "encoding": "utf-8-sig" if codec == "utf-8" else codec,
                "skipinitialspace": options.points is None,
                # files of users come as pandas reads them, published ones exactly as written
                "float_precision": None if options.standard_missing else "round_trip",
                "low_memory": False,
            }
            read = pd.read_csv(stream, **{**asked, **how, **other})
            yield from read if "chunksize" in how else [read]

    read = frames()
    if options.thousands:
        pairs = zip(read, frames(thousands=None, dtype=str), strict=True)
        read = (_with_groups(frame, texts, options) for frame, texts in pairs)
    for frame in read:
        if not options.header:
            frame.columns = list(names or default_names(len(frame.columns)))
        yield frame


def _with_groups(frame: "pd.DataFrame", texts: "pd.DataFrame", options: Any) -> "pd.DataFrame":
    """Leave columns as texts in which the separator of thousands divides other than thousands.

    pandas takes it out wherever it stands, so that a date such as 31.03.2022 becomes a number.
    """
    from pandas.api.types import is_numeric_dtype

    for i in range(frame.shape[1]):
        if is_numeric_dtype(frame.dtypes.iloc[i]):
            held = texts.iloc[:, i].dropna()
            marked = held[held.str.strip().str.contains(options.thousands, regex=False)]
            if not all(is_number(text, options) for text in marked):
                frame.isetitem(i, texts.iloc[:, i].array)
    return frame


def is_number(text: str, options: Any) -> bool:
    """Tell whether a text is a number by the decimal point and separator of thousands stated."""
    point, mark = getattr(options, "decimal", "."), getattr(options, "thousands", None)
    plain: dict[str, Any] = {".": "#", point: "."}
    if not mark or mark not in text.strip():
        return are_numbers([text.translate(str.maketrans(plain))])
    mark, point = re.escape(mark), re.escape(point)
    grouped = rf"(?i)\s*[+-]?[1-9]\d{{0,2}}({mark}\d{{3}})+({point}\d*)?(e[+-]?\d+)?\s*"
    return bool(re.fullmatch(grouped, text))


def frames_of(path: Path, options: Any, n_rows: int) -> Iterator["pd.DataFrame"]:
    """Yield the rows of a Parquet file or of text in columns in frames of `n_rows`, or fewer."""
    with library_errors(path, f"damaged, or no {options.kind} file"):
        if options.kind == "delimited":
            for i, frame in enumerate(_delimited(path, options, chunksize=n_rows)):
                yield _tidied(path, frame, options, i * n_rows)
            return
        from pyarrow.parquet import ParquetFile

        # without a buffer Arrow keeps a whole row group, with pre_buffer all that was read
        with ParquetFile(path, buffer_size=2**16, pre_buffer=False) as file:
            for batch in file.iter_batches(n_rows):
                yield _tidied(path, batch.to_pandas(), options)


def _stored(path: Path, options: Any, **how: Any) -> "pd.DataFrame":
    """Read what pandas itself can write with the types of its columns."""
    import pandas as pd

    if options.kind == "excel":
        how |= {"sheet_name": options.sheet, "dtype": dict.fromkeys(options.text, str)}
        how |= {"engine": "calamine", "na_values": [*_GAPS, *options.missing]}
        how["header"] = 0 if options.header else None
        how["skiprows"] = [row - 1 for row in options.skip]
    frame = getattr(pd, f"read_{options.kind}")(BytesIO(file_bytes(path)), **how)
    return frame if options.header else frame.set_axis(default_names(frame.shape[1]), axis=1)


def first_rows(path: Path, options: Any, n_rows: int) -> list[list[str]]:
    """Return the first rows of a sheet, that of the names among them, as texts."""
    bare = options.model_copy(update={"header": False})
    with library_errors(path, "damaged, or no Excel file"):
        frame = _stored(path, bare, nrows=n_rows, na_filter=False)
    return frame.astype(str).to_numpy().tolist() or [[]]


def _arff(path: Path, options: Any) -> "pd.DataFrame":
    """Read Weka's format by liac-arff; nominal attributes are categories."""
    import arff
    import pandas as pd

    content = file_bytes(path)
    text = content.decode(encoding_of(path, content)).removeprefix("\ufeff")
    # liac-arff would cut decimals off an integer, and knows no ranges, dates and last commas
    kinds = {"date": "string"}
    text = _ATTRIBUTE.sub(lambda m: m[1] + kinds.get(m[2].lower(), "numeric"), text)
    try:
        loaded = arff.loads(re.sub(r"(?m),[ \t\r]*$", "", text))
    except arff.ArffException as error:
        advice = "names and values with blanks in them need quotes, such as 'New York'"
        raise DataError(f"{path}: {str(error).rstrip('.')}; {advice}") from None
    kinds = dict(loaded["attributes"])
    frame = pd.DataFrame(loaded["data"], columns=list(kinds))
    for name, kind in kinds.items():
        if isinstance(kind, list):
            frame[name] = pd.Categorical(frame[name], categories=list(dict.fromkeys(kind)))
    return frame


def _series(path: Path, options: Any) -> "pd.DataFrame":
    """Read the ``.ts`` text of the time series archives."""
    import pandas as pd

    lines = _text_lines(path)
    start = [text.lower() for _, text in lines].index("@data") + 1
    if any(text.lower().split() == ["@classlabel", "false"] for _, text in lines[:start]):
        raise DataError(f"{path}: its series have no classes (@classLabel false): add them")
    lines = [(line, text) for line, text in lines[start:] if not text.startswith("#")]
    series, labels = [], []
    for line, text in lines:
        *channels, label = text.split(":")
        rows = [channel.replace("?", "nan").split(",") for channel in channels]
        try:
            values = np.array(rows, dtype=np.float64).reshape(len(rows), -1)
        except ValueError:
            expected = "channels of one length and the class, as in 1,2:3,4:a"
            raise DataError(f"{path}, line {line}: expected {expected}") from None
        series.append(values[0] if len(values) == 1 else values)
        labels.append(label.strip())
    if options.points is not None:
        frame = pd.DataFrame({"series": pd.Series(series, dtype=object)})
    elif series and {values.shape for values in series} == {(len(series[0]),)}:
        frame = pd.DataFrame(np.array(series), columns=default_names(len(series[0])))
    else:
        problem = f"{path}: series of several channels or lengths make no matrix: cut them"
        raise DataError(problem, [("points", "series")])
    frame["class"] = np.array(labels, dtype=np.float64) if are_numbers(labels) else labels
    frame.attrs["lines"] = [line for line, _ in lines]
    return frame


def _json_lines(path: Path, options: Any) -> "pd.DataFrame":
    import pandas as pd

    lines, records = _text_lines(path), []
    if is_list := lines[0][1].startswith("["):
        records = [{**record} for record in json.loads("\n".join(text for _, text in lines))]
    for line, text in () if is_list else lines:
        try:
            records.append({**json.loads(text)})
        except (TypeError, ValueError) as error:
            expected = 'an object, {"name": value, ...}'
            raise DataError(f"{path}, line {line}: expected {expected}: {error}") from None
    frame = pd.DataFrame.from_records(records)
    for name in frame if options.points is None else ():
        column = frame[name]  # texts that are numbers become these, as in pandas
        is_text = column.dtype.kind == "O" and name not in options.text
        if is_text and are_numbers(map(str, column.dropna())):
            frame[name] = pd.to_numeric(column)
    frame.attrs["lines"] = [] if is_list else [line for line, _ in lines]
    return frame


def _text_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers; texts may have other breaks."""
    content = file_bytes(path)
    lines = content.decode(encoding_of(path, content)).removeprefix("\ufeff").split("\n")
    return [(i, line.strip()) for i, line in enumerate(lines, 1) if line.strip()]


_FRAMES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("parquet", "feather", "stata", "spss", "excel"), _stored),
    "delimited": lambda path, options, **how: next(_delimited(path, options, **how)),
    "arff": _arff,
    "ts": _series,
    "jsonl": _json_lines,
}


# Matrices


def load_pairs(
    path: Path, content: bytes, n_features: int | None = None, zero_based: bool = True
) -> Table:
    """Read LIBSVM or LETOR text by scikit-learn, with queries if all rows have one."""
    from sklearn.datasets import load_svmlight_file

    stream = BytesIO(content.removeprefix(b"\xef\xbb\xbf"))
    try:
        X, y, query = load_svmlight_file(
            stream, n_features=n_features, zero_based=zero_based, query_id=True
        )
    except OverflowError:  # beyond 32 bits
        raise DataError(f"{path}: {_TOO_WIDE}") from None
    except ValueError as error:
        raise DataError(f"{path}: not rows of one label and index:value: {error}") from None
    if n_features is None and X.shape[1] > MOST_FEATURES:
        raise DataError(f"{path}: {_TOO_WIDE}")
    if not (len(y) and all((abs(values) <= LARGEST).all() for values in (y, X.data))):
        raise DataError(f"{path}: no rows, or a value that is not finite (up to {LARGEST:g})")
    X.sum_duplicates()
    X.eliminate_zeros()
    if len(query) not in (0, len(y)):
        raise DataError(f"{path}: {len(query)} of {len(y)} rows have a qid: all need one, or none")
    return Table(X, y, (), query=query.astype(np.int64) if len(query) else None)


def load_arrays(path: Path) -> dict[str, Any]:
    """Return the arrays of an NPZ, NPY, MATLAB or HDF5 file by name, but no pickled objects."""
    content = file_bytes(path)
    with library_errors(path, "damaged, or no file of plain arrays"):
        if content.startswith((b"PK", NPY)):
            return _numpy(path, content)
        if content.startswith((b"\x89HDF", b"MATLAB 7.3")):
            return _hdf5(path, content)
        from scipy.io import loadmat

        stored = loadmat(BytesIO(content), simplify_cells=True)
        return dict(_flat({k: v for k, v in stored.items() if not k.startswith("__")}))


def _numpy(path: Path, content: bytes) -> dict[str, Any]:
    name, arrays = "X", dict[str, Any]()
    try:
        stored = np.load(BytesIO(content), allow_pickle=False)
        for name in getattr(stored, "files", ()):
            arrays[name] = stored[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        text = f"numpy.savez(file, ..., {name}=pandas.Series({name}).fillna('').to_numpy(str))"
        raise DataError(f"{path}: {name} is an array of objects: write texts, {text}") from None
    return {"X": stored} if isinstance(stored, np.ndarray) else arrays


def _flat(stored: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in stored.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif hasattr(value, "tocsr"):
            yield prefix + name, value
        else:
            texts = np.ndim(value) and all(isinstance(entry, str) for entry in np.ravel(value))
            yield prefix + name, np.asarray(value, np.str_ if texts else None)


def _hdf5(path: Path, content: bytes) -> dict[str, Any]:
    import h5py

    arrays: dict[str, Any] = {}

    def keep(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or item.dtype.kind not in "fiubSO":
            return
        if h5py.check_ref_dtype(item.dtype) or name.startswith("#") or not item.size:
            return  # cells of MATLAB, their contents, and what is empty
        if item.external or item.is_virtual:
            raise DataError(
                f"{path}: the values of {name} are in another file: store them in this"
            )
        refuse_unpacking(path, item.nbytes, len(content))
        value: Any = item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]
        if "MATLAB_class" in item.attrs:
            value = value.T  # which is stored column by column
        if item.attrs.get("MATLAB_class") == b"char":
            value = ["".join(map(chr, row)).rstrip() for row in value]
        arrays[name.replace("/", ".")] = value

    with h5py.File(BytesIO(content), "r") as file:
        file.visititems(keep)
    return dict(_flat(arrays))


def chosen_arrays(path: Path, arrays: Mapping[str, Any], matrix: str, target: str) -> Table:
    """Return the matrix and the labels among the arrays of a file."""
    if unknown := [name for name in (matrix, target) if name not in arrays]:
        raise DataError(f"{path}: has no array {unknown[0]}; its arrays: {', '.join(arrays)}")
    X, labels = arrays[matrix], arrays[target]
    if X.ndim != 2 or X.dtype.kind not in "fiub" or not is_vector(labels.shape, X.shape[0]):
        raise DataError(
            f"{path}: {matrix} of shape {X.shape} and type {X.dtype} with {target} of shape "
            f"{labels.shape}, expected a matrix of numbers with a label per row"
        )
    X = (X.tocsr() if hasattr(X, "tocsr") else np.ascontiguousarray(X)).astype(np.float64)
    labels = np.char.decode(labels) if labels.dtype.kind == "S" else labels
    entries = X.data if hasattr(X, "tocsr") else X[~np.isnan(X)]
    if not (np.abs(entries) <= LARGEST).all():
        raise DataError(f"{path}: an entry of {matrix} is not finite (up to {LARGEST:g})")
    labels = labels.ravel()
    if labels.dtype.kind == "U" and (lacks := labels == "").any():
        labels = labels.astype(object)
        labels[lacks] = None
    return Table(X, labels, ())


def is_vector(shape: tuple[int, ...], n: int) -> bool:
    """Tell whether an array has one entry per row: as a vector, a column or a row."""
    return shape in ((n,), (n, 1), (1, n))


def encoding_of(path: Path, content: bytes) -> Any:
    """Tell how a text is encoded; Excel does not write UTF-8 by default."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    for encoding in () if b"\0" in content else ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    raise DataError(
        f"{path}: neither text nor a format that is read: write tables to CSV or Parquet, arrays "
        "by numpy.savez(file, X=X, y=y); names of packed files end with .gz, .bz2, .xz or .zip"
    )


@contextmanager
def library_errors(path: Path, damage: str) -> Iterator[None]:
    """Turn what a library raises on a damaged file into one line."""
    try:
        yield
    except (DataError, MemoryError):
        raise
    except ImportError as error:
        raise DataError(f"{missing_text(f'{path}', str(error.name))}, or save it as CSV") from None
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        if "out of memory" in reason:  # as pandas says it
            raise MemoryError(f"{path}: {reason}") from None
        raise DataError(f"{path}: {damage}: {reason}") from None
