"""From columns to matrices: labels, missing entries, points, what was done, fingerprints."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kernlearn.checks import counted, listed, whole_number
from kernlearn.exceptions import DataError

if TYPE_CHECKING:
    import pandas as pd

#: The largest number that is read: sums of squares, which scaling takes, stay finite.
LARGEST = 1e150
#: The column of the names of rows, where the file gives it no name.
ROW_NAMES = "row names"
_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
_CONTENT_VERSION = "kernlearn content 1"
_BLOCK_ENTRIES = 1 << 20
_ENTRY = np.dtype([("column", "<i8"), ("value", "<f8")])


@dataclass(frozen=True)
class Preparation:
    """What loading did to the rows and columns of a data set.

    Parameters
    ----------
    rows : int
        The number of rows that were read.
    notes : tuple of str, default=()
        What was left out, filled in or assumed, in counts: a sentence each, without full stop.
    coded : dict of str to int, default={}
        Nominal columns that are the positions of their values, with their numbers of values.
    one_hot : dict of str to int, default={}
        Nominal columns that are one 0/1 column per value.
    imputed : int, default=0
        The number of missing entries that experiments fill in.
    id_like : dict of str to str, default={}
        Features that look like the number or name of a row, with the reason.
    shared : dict of str to int, default={}
        Features whose values several rows seem to have in common, such as a patient, with their
        numbers of values.

    Examples
    --------
    >>> from kernlearn.datasets import Preparation
    >>> Preparation(400, ("122 of 400 rows are left out",), one_hot={"city": 3}).sentences
    ['122 of 400 rows are left out', '1 nominal column as one-hot: city (3 values)']
    """

    rows: int
    notes: tuple[str, ...] = ()
    coded: dict[str, int] = field(default_factory=dict)
    one_hot: dict[str, int] = field(default_factory=dict)
    imputed: int = 0
    id_like: dict[str, str] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)

    def noting(self, *notes: str, **facts: Any) -> "Preparation":
        """Return it with further notes and other facts."""
        return replace(self, notes=tuple(dict.fromkeys((*self.notes, *notes))), **facts)

    @property
    def sentences(self) -> list[str]:
        """What was done in words, one sentence per kind, without full stops."""
        lines = list(self.notes)
        for columns, how in ((self.one_hot, "one-hot"), (self.coded, "codes 0, 1, 2, …")):
            if columns:
                shown = listed(f"{name} ({counted(n, 'value')})" for name, n in columns.items())
                lines.append(f"{counted(len(columns), 'nominal column')} as {how}: {shown}")
        if self.id_like:
            shown = listed(f"{name} ({why})" for name, why in self.id_like.items())
            n = counted(len(self.id_like), "feature")
            lines.append(f"{n} may be the id of a row, which `drop` leaves out: {shown}")
        if self.shared:
            shown = listed(
                f"{name} ({n} values in {self.rows} rows)" for name, n in self.shared.items()
            )
            keeps = f"`protocol: {{groups: {next(iter(self.shared))}}}` keeps them together"
            lines.append(
                f"random splits train and test on rows that share a value of {shown}; {keeps}"
            )
        return lines


class Table(NamedTuple):
    """The result of a reader.

    X is a matrix of numbers, dense or CSR, or an array of objects, None where one is missing; a
    nominal column has the positions of its values in the published order. y are those of the
    labels, or numbers, NaN where there is none. `gaps` are texts that were taken as missing
    entries, with their columns, in words. `texts` are columns of text that are no features, but
    part of the table as it is. `done` is what was done to the table.
    """

    X: Any
    y: np.ndarray
    feature_names: tuple[str, ...]
    nominal: Mapping[str, tuple[str, ...]] = {}
    query: np.ndarray | None = None
    groups: np.ndarray | None = None
    time: np.ndarray | None = None
    gaps: Sequence[str] = ()
    texts: "pd.DataFrame | None" = None
    done: Preparation = Preparation(0)

    def rows(self, chosen: np.ndarray) -> "Table":
        """Return some rows."""
        of_rows = {k: getattr(self, k) for k in ("X", "y", "query", "groups", "time")}
        texts = None if self.texts is None else self.texts.iloc[chosen]
        return self._replace(
            texts=texts, **{k: v[chosen] for k, v in of_rows.items() if v is not None}
        )

    def columns(self, chosen: Sequence[int] | np.ndarray) -> "Table":
        """Return some features."""
        names = tuple(self.feature_names[i] for i in chosen)
        return self._replace(X=self.X[:, chosen], feature_names=names)

    def noting(self, *notes: str, **facts: Any) -> "Table":
        """Return it with further notes and facts on what was done."""
        return self._replace(done=self.done.noting(*notes, **facts))


def default_names(n_features: int) -> tuple[str, ...]:
    """Name features that have no names: x1, x2, and so on."""
    return tuple(f"x{number}" for number in range(1, n_features + 1))


# Numbers and labels


def are_numbers(labels: Iterable[str]) -> bool:
    """Tell whether all labels are numbers, and there are some."""
    return bool(every := list(labels)) and all(_NUMBER.fullmatch(label) for label in every)


def canonical_label(label: Any) -> str:
    """Spell a label so that ``+1``, ``1``, ``1.0`` and the number 1 are the same text."""
    text = str(label).strip()
    if not _NUMBER.fullmatch(text):  # Python's own `int` takes 1_0 for 10
        return text
    with suppress(ValueError):
        return str(int(text))  # of any length
    with suppress(OverflowError):
        value = float(text)
        return str(int(value)) if value == int(value) else repr(value)
    return text


def canonical_labels(y: np.typing.ArrayLike) -> np.ndarray:
    """Spell every label of an array, text or numbers, as :func:`canonical_label` does."""
    distinct, positions = np.unique(np.asarray(y), return_inverse=True)
    spellings = np.array([canonical_label(label) for label in distinct], dtype=np.str_)
    return spellings[positions.reshape(-1)]


def default_order(labels: Iterable[str]) -> list[str]:
    """Sort labels as numbers if all are, else by the alphabet."""
    every = list(labels)
    return sorted(every, key=float) if are_numbers(every) else sorted(every)


def values_of(
    column: Any,
    classes: Sequence[str] | None,
    place_of: Callable[[int], str],
    what: str = ", label",
    renamed: Mapping[str, str] = {},
) -> np.ndarray:
    """Return a column as numbers, or as positions among classes; NaN where one is missing.

    `place_of` names a row in errors, and `what` the column; `renamed` are other spellings of
    classes.
    """
    import pandas as pd

    column = column if isinstance(column, pd.Series) else pd.Series(column)
    if classes is None:
        expected = f"a finite number (up to {LARGEST:g})"
        numbers = column if column.dtype.kind in "iuf" else pd.to_numeric(column, errors="coerce")
        values = numbers.to_numpy(np.float64, na_value=np.nan)
    else:
        expected = f"one of {listed(classes)}"
        exact = {text: float(code) for code, text in enumerate(classes)}
        exact |= {text: exact[label] for text, label in renamed.items() if label in exact}
        alike = {canonical_label(text): code for text, code in exact.items()}
        codes, distinct = pd.factorize(column)
        known = [exact.get(t, alike.get(canonical_label(t), np.nan)) for t in map(str, distinct)]
        values = np.array([*known, np.nan])[codes]  # -1 is missing
    wrong = ~(abs(values) <= LARGEST)
    if wrong.any() and (wrong := wrong & ~column.isna().to_numpy()).any():
        row = int(wrong.argmax())
        found = str(column.iloc[row])
        raise DataError(f"{place_of(row)}{what}: found {found!r:.60}, expected {expected}")
    return values


# From a frame and the roles of its columns to a table


def column_position(place: Any, column: Any, names: Sequence[str], noun: str = "column") -> int:
    """Return the position of a column; a text that is no name may be a number."""
    number = column if isinstance(column, int) else whole_number(column)
    if column in names:
        return list(names).index(column)
    if number is None or not -len(names) <= number < len(names):
        raise DataError(f"{place}: has no {noun} {column!r:.60}; its {noun}s: {listed(names)}")
    return number % len(names)


def frame_table(
    frame: "pd.DataFrame",
    options: Any,
    classes: tuple[str, ...] | None,
    place: Any,
    place_of: Callable[[int], str],
) -> Table:
    """Make a table of the columns of a file, by the options on its card.

    `place` names the file in errors, `place_of` a row.
    """
    names, targets = list(map(str, frame.columns)), list[int]()
    if getattr(options, "one_hot", False):
        n_classes = len(classes or ())
        hot = frame.iloc[:, -n_classes:].to_numpy(np.float64)
        if not (np.isin(hot, (0, 1)).all() and (hot.sum(axis=1) == 1).all()):
            raise DataError(f"{place}: the last {n_classes} columns are not a single 1 and else 0")
        y, targets = hot.argmax(axis=1).astype(np.float64), [*range(len(names))[-n_classes:]]
    elif blocks := getattr(options, "blocks", None):
        y = np.arange(len(frame)) // blocks * 1.0
    else:
        targets = [column_position(place, options.target, names)]
        y = values_of(frame.iloc[:, targets[0]], classes, place_of, renamed=options.rename)
    away = {*targets, *(column_position(place, column, names) for column in options.drop)}
    rest = [i for i in range(len(names)) if i not in away]
    frame, lacks = frame.copy(deep=False), np.isnan(y)
    for name in (*options.nominal, *options.text):
        i = column_position(place, name, names)
        if lacks.any():  # these rows are left out, and may have values of their own
            frame.isetitem(i, frame.iloc[:, i].mask(lacks).array)
    categories = frame.select_dtypes("category")
    nominal = {str(name): tuple(map(str, categories[name].cat.categories)) for name in categories}
    nominal |= options.nominal
    if options.points is None:
        X: Any = feature_matrix(frame.iloc[:, rest], nominal, place_of)
    else:
        rest = [column_position(place, options.points, names)]
        X = _points(frame.iloc[:, rest[0]], options, place_of)
    texts = frame.attrs.get("gaps", {})
    gaps = [text for i in (*targets, *rest) for text in texts.get(names[i], ())]
    kept = [i for i, name in enumerate(names) if i in away and name in options.text]
    raw = frame.iloc[:, kept].set_axis([names[i] for i in kept], axis=1) if kept else None
    raw = None if raw is None else raw.astype(object).where(raw.notna(), "")
    return Table(X, y, tuple(names[i] for i in rest), nominal, gaps=gaps, texts=raw)


def feature_matrix(
    frame: "pd.DataFrame", nominal: Mapping[str, Sequence[str]], place_of: Callable[[int], str]
) -> np.ndarray:
    """Return columns as numbers, nominal ones as the positions of their values."""
    X, names = np.empty(frame.shape), list(map(str, frame.columns))
    amounts = plain_numbers(frame) & [name not in nominal for name in names]
    X[:, amounts] = frame.iloc[:, amounts]  # one by one they take longer
    for i in np.flatnonzero(~amounts):
        name = names[i]
        X[:, i] = values_of(frame.iloc[:, i], nominal.get(name), place_of, f", column {name}")
    return X


def plain_numbers(frame: "pd.DataFrame") -> np.ndarray:
    """Tell of each column whether it has numbers that NumPy holds, none of too many digits."""
    kinds = [kind.kind if isinstance(kind, np.dtype) else "" for kind in frame.dtypes]
    places = [i for i, kind in enumerate(kinds) if kind in ("i", "u", "f")]
    most = np.array([LARGEST if kinds[i] == "f" else 2.0**53 for i in places])
    numbers, plain = frame.iloc[:, places], np.zeros(len(kinds), dtype=bool)
    plain[places] = (numbers.min() >= -most) & (numbers.max() <= most)  # not if all are missing
    return plain


def _points(column: "pd.Series", options: Any, place_of: Callable[[int], str]) -> np.ndarray:
    """Return texts and arrays, or what values of JSON stand for; None where there is nothing."""
    import pandas as pd

    points: list[Any] = []
    for row, value in enumerate(column.astype(object)):
        if isinstance(value, np.ndarray):
            points.append(value)
            continue
        value = value.strip() if getattr(options, "strip", False) else value
        if not isinstance(value, list | dict) and (pd.isna(value) or value == ""):
            points.append(None)
        else:
            try:
                points.append(from_json(value) if options.kind == "jsonl" else str(value))
            except ValueError as error:
                raise DataError(f"{place_of(row)}, column {column.name}: {error}") from None
    return as_objects(points)


# What is noticed


def grades_notes(order: str, classes: Iterable[str] | None) -> tuple[str, ...]:
    """Say the order of grades if no user or card has, or that numbers are not 1 apart."""
    grades = list(classes or ())
    shown = " < ".join(grades)
    if order != "given":
        taken = f"the grades are in the order {shown}, that of the {order}"
        return (f"{taken}; if it is wrong, give `grades` in theirs",)
    if are_numbers(grades) and (np.diff([float(grade) for grade in grades]) != 1).any():
        numbered = f"the grades {shown} are numbered 0, 1, 2, …"
        return (f"{numbered}, and errors are differences of these",)
    return ()


# Points that are no vectors


def as_objects(points: Iterable[Any]) -> np.ndarray:
    """Return points as an array of objects of shape (n_points,), whatever they are."""
    every = list(points)
    return np.fromiter(every, dtype=object, count=len(every))


def are_objects(X: Any) -> bool:
    """Tell whether data are an array of objects rather than a matrix."""
    return isinstance(X, np.ndarray) and X.ndim == 1


def kind_of(X: Any) -> str:
    """Say what points are, by the first: vectors, strings, series, graphs, sets or objects."""
    if not are_objects(X):
        return "vectors"
    first: Any = X[0] if len(X) else None
    kinds = {"strings": str, "series": np.ndarray, "sets": AbstractSet}
    if kind := next((kind for kind, types in kinds.items() if isinstance(first, types)), None):
        return kind
    parts = isinstance(first, (tuple, list)) and len(first) in (2, 3) and first
    of_parts = parts and all(isinstance(part, Mapping) for part in parts)
    return "graphs" if of_parts or hasattr(first, "adjacency") else "objects"


def from_json(value: Any) -> Any:
    """Return the point that a value of JSON stands for.

    Text is a string. A list of numbers is a series, a list of such lists a series of several
    channels. Another list is the set of its entries if these are texts. ``{"edges": [[u, v], ...],
    "labels": {u: label, ...}}`` is a graph.

    Raises
    ------
    ValueError
        If it is none of these; the message says what was expected.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(entry, str) for entry in value):
        return frozenset(value)
    with suppress(TypeError, ValueError, AttributeError):
        if isinstance(value, dict) and "edges" in value:
            labels = {str(node): label for node, label in value.get("labels", {}).items()}
            near: dict[str, dict[str, float]] = {node: {} for node in labels}
            for u, v in [map(str, edge) for edge in value["edges"]]:
                near.setdefault(u, {})[v] = near.setdefault(v, {})[u] = 1.0
            return near, {node: labels.get(node, 0) for node in near}
        series = np.array(value, dtype=np.float64)
        if series.ndim in (1, 2) and series.size and np.isfinite(series).all():
            return series
    written = re.sub(r'"([^"\\]|\\.)*"', "", json.dumps(value, default=str))
    odd = {"null": "a null", "NaN": "a NaN", "[]": "an empty list"}
    has = "".join(f"has {noun}; " for text, noun in odd.items() if text in written)
    raise ValueError(
        f"{has}expected text, a list of numbers or of texts, lists of numbers of one length, or "
        '{"edges": [[u, v], ...], "labels": {u: label, ...}}'
    )


def content(point: Any) -> str:
    """Write a point as text that is the same for equal points.

    Whole numbers and floats, lists and tuples are alike; sets and mappings have no order.

    Raises
    ------
    ValueError
        If the point, or a part of it, is none of strings, numbers, arrays of numbers, lists, sets,
        mappings and graphs of networkx.
    """
    if point is None or isinstance(point, str):
        return repr(point)
    if isinstance(point, Real):
        return repr(float(point) + 0.0)  # no -0
    if isinstance(point, np.ndarray) and point.dtype.kind in "biuf":
        return f"{point.shape}{(point.astype('<f8') + 0.0).tobytes().hex()}"
    if hasattr(point, "adjacency"):  # of networkx
        point = [dict(point.nodes(data=True)), dict(point.adjacency())]
    if isinstance(point, Mapping):
        pairs = sorted(f"{content(key)}: {content(value)}" for key, value in point.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(point, AbstractSet):
        return f"<{', '.join(sorted(map(content, point)))}>"
    if isinstance(point, (Sequence, np.ndarray)):
        return f"[{', '.join(map(content, point))}]"
    raise ValueError(
        f"points must be strings, numbers, arrays, lists, sets, mappings or graphs of networkx, "
        f"not {type(point).__name__}: other points have no fingerprint"
    )


def fingerprint(X: Any, y: np.typing.ArrayLike | None = None) -> str:
    """Hash the rows and labels of a data set.

    Each row is written as its label and its non-zero entries, (column, value) pairs of
    little-endian int64 and float64, and hashed by SHA-256. The sorted hashes are hashed together
    with the number of columns.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The data. Dense and sparse, -0.0 and 0.0, and all NaNs are alike. Or an array of objects of
        shape (n_samples,), whose content is hashed: strings, arrays, sets, graphs and others.
    y : array-like of shape (n_samples,), optional
        Labels, text or numbers; ``"+1"``, ``1`` and ``1.0`` are alike.

    Returns
    -------
    str
        64 hexadecimal digits, the same for any order of the rows.

    Raises
    ------
    ValueError
        If X is not 2-D, or X and y differ in length.

    Examples
    --------
    >>> from kernlearn.datasets import fingerprint
    >>> fingerprint([[0, 1], [2, 3]], ["a", "b"]) == fingerprint([[2, 3], [0, 1]], ["b", "a"])
    True
    """
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    objects = X.ndim == 1 and X.dtype.kind in "OUS"
    if X.ndim != 2 and not objects:
        raise ValueError(f"X must have 2 dimensions, got {X.ndim}")
    n_samples, n_features = (len(X), 0) if objects else X.shape
    labels = np.zeros(n_samples, dtype="U1") if y is None else canonical_labels(y)
    if len(labels) != n_samples:
        raise ValueError(f"y must have one label per row of X, got {len(labels)} for {n_samples}")
    heads = [label.encode() + b"\0" for label in labels.tolist()]
    if objects:
        written = (content(point).encode("utf-8", "surrogatepass") for point in X)
        digests = [sha256(h + text).digest() for h, text in zip(heads, written, strict=True)]
        title = f"{_CONTENT_VERSION} objects\n"
    else:
        digests = []
        step = max(1, _BLOCK_ENTRIES // max(1, n_features))
        for start in range(0, n_samples, step):
            digests += _hash_rows(X[start : start + step], heads[start : start + step])
        title = f"{_CONTENT_VERSION} {n_features}\n"
    return sha256(title.encode() + b"".join(sorted(digests))).hexdigest()


def _hash_rows(X: Any, heads: list[bytes]) -> list[bytes]:
    from scipy import sparse

    rows = sparse.csr_matrix(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    entries = np.empty(rows.nnz, dtype=_ENTRY)
    entries["column"] = rows.indices
    entries["value"] = np.where(np.isnan(rows.data), np.nan, rows.data)  # one NaN for all
    written = entries.tobytes()
    ends = (rows.indptr * _ENTRY.itemsize).tolist()
    return [
        sha256(head + written[start:end]).digest()
        for head, start, end in zip(heads, ends, ends[1:], strict=False)
    ]
