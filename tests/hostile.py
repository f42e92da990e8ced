"""What each estimator makes of hostile input, by trying: a stated error or a right result."""

import copy
import io
import pickle
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier, is_regressor

from tests.conformance import X, made, outcome, targets, transforms

SAME, FINITE, NOT_MEANT = "same", "finite", ""
#: Errors of bad values, which must have a message.
STATED = (ValueError, TypeError)
TOLERANCE = 1e-6


class Wrong(AssertionError):
    """Neither a stated error nor a right result."""


def fitted(model: Any, points: Any, y: Any) -> np.ndarray:
    """Fit a copy and return what it makes of the first points."""
    found = outcome(clone(model).fit(points, y), points)
    return found if found.ndim == 0 else found[:20]


def plain(model: Any) -> np.ndarray:
    return fitted(model, X, targets(model))


def finite(found: Any) -> str:
    """Refuse results that are not finite."""
    values = np.asarray(found)
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise Wrong("the result is not finite")
    return FINITE


def like(found: np.ndarray, expected: np.ndarray) -> str:
    """Refuse results that differ by more than rounding; of labels, one in twenty may."""
    if found.shape != expected.shape:
        raise Wrong(f"shape {found.shape}, expected {expected.shape}")
    if found.ndim == 1 and found.dtype.kind != "f":
        if np.mean(found != expected) > 0.05:
            raise Wrong("other labels")
        return SAME
    if not np.allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE * np.abs(expected).max()):
        raise Wrong("other values")
    return SAME


def _with(value: float) -> Callable[[Any], str]:
    def check(model: Any) -> str:
        points = X.copy()
        points[3, 1] = value
        fitted(model, points, targets(model))
        raise Wrong(f"{value} is taken")

    return check


def _scaled(factor: float) -> Callable[[Any], str]:
    return lambda model: finite(fitted(model, X * factor, targets(model)))


def _constant(model: Any) -> str:
    points = X.copy()
    points[:, [1, 3]] = [0, 7]
    return finite(fitted(model, points, targets(model)))


def _all_equal(model: Any) -> str:
    return finite(fitted(model, np.ones_like(X), targets(model)))


def _one_class(model: Any) -> str:
    y = np.full(len(X), 2.5 if is_regressor(model) else 1)
    found = fitted(model, X, y)
    if is_regressor(model) and np.abs(found - 2.5).max() > 0.2:  # an epsilon of 0.1, and penalties
        raise Wrong("other values than the target")
    if is_classifier(model) and (found != 1).any():
        raise Wrong("a class that is not there")
    return finite(found)


def _one_sample(model: Any) -> str:
    return finite(fitted(model, X[:1], targets(model)[:1]))


def _no_sample(model: Any) -> str:
    fitted(model, X[:0], targets(model)[:0])
    raise Wrong("no rows are taken")


def _int8(model: Any) -> str:
    whole = np.rint(X * 20).clip(-127, 127)
    y = targets(model)
    return like(fitted(model, whole.astype(np.int8), y), fitted(model, whole, y))


def _read_only(model: Any) -> str:
    points, y = X.copy(), targets(model).copy()
    points.flags.writeable = y.flags.writeable = False
    return like(fitted(model, points, y), plain(model))


def _strided(model: Any) -> str:
    wide = np.repeat(np.repeat(X, 2, axis=0), 2, axis=1)
    y = np.repeat(targets(model), 3)[::3]
    return like(fitted(model, wide[::2, ::2], y), plain(model))


def _backwards(model: Any) -> str:
    points = np.asfortranarray(X[::-1])[::-1]
    return like(fitted(model, points, targets(model)), plain(model))


def _memory_map(model: Any) -> str:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "points.npy"
        np.save(file, X)
        points = np.load(file, mmap_mode="r")
        return like(fitted(model, points, targets(model)), plain(model))


def _big_endian(model: Any) -> str:
    return like(fitted(model, X.astype(">f8"), targets(model)), plain(model))


def _sparse(kind: str) -> Callable[[Any], str]:
    def check(model: Any) -> str:
        points = sparse.coo_matrix(np.where(X > 0, X, 0)).asformat(kind)
        dense = fitted(model, points.toarray(), targets(model))
        return like(fitted(model, points, targets(model)), dense)

    return check


def _refit(model: Any) -> str:
    """Fit again after a fit that failed."""
    expected = plain(model)
    again = clone(model).fit(X, targets(model))
    bad = X.copy()
    bad[0, 0] = np.nan
    try:
        again.fit(bad, targets(model))
    except STATED:
        pass
    else:
        raise Wrong("NaN is taken")
    found = outcome(again.fit(X, targets(model)), X)
    return like(found if found.ndim == 0 else found[:20], expected)


def _threads(model: Any) -> str:
    """Four threads fit their own and use one in common."""
    expected = plain(model)
    common = clone(model).fit(X, targets(model))
    with ThreadPoolExecutor(4) as pool:
        own = list(pool.map(lambda _: plain(model), range(4)))
        used = list(pool.map(lambda _: outcome(common, X), range(8)))
    for found in (*own, *(each if each.ndim == 0 else each[:20] for each in used)):
        like(found, expected)
    return SAME


def _pickled(model: Any) -> str:
    ready = clone(model).fit(X, targets(model))
    expected = outcome(ready, X)
    file = io.BytesIO()
    pickle.dump(ready, file, protocol=5)
    file.seek(0)
    like(outcome(pickle.load(file), X), expected)
    return like(outcome(copy.deepcopy(ready), X), expected)


def _has_similarity(model: Any) -> bool:
    return "similarity" in model.get_params()


def _similarity(function: Callable[[Any, Any], Any]) -> Callable[[Any], str]:
    def check(model: Any) -> str:
        finite(fitted(model.set_params(similarity=function), X, targets(model)))
        raise Wrong("it is taken")

    return check


def _raises(A: Any, B: Any) -> Any:
    raise KeyError("of the function")


def _raised(model: Any) -> str:
    try:
        fitted(model.set_params(similarity=_raises), X, targets(model))
    except KeyError:
        return "its error"
    raise Wrong("the error is lost")


def _precomputed(shape: tuple[int, int]) -> Callable[[Any], str]:
    def check(model: Any) -> str:
        matrix = np.random.RandomState(0).normal(size=shape)
        fitted(model.set_params(similarity="precomputed"), matrix, targets(model)[: shape[0]])
        raise Wrong("it is taken")

    return check


def _precomputed_later(model: Any) -> str:
    model.set_params(similarity="precomputed").fit(X @ X.T, targets(model))
    outcome(model, X @ X[:-1].T)
    raise Wrong("it is taken")


def _always(model: Any) -> bool:
    return True


Check = tuple[Callable[[Any], str], Callable[[Any], bool]]

#: Values and shapes of points.
VALUES: dict[str, Check] = {
    "NaN": (_with(np.nan), _always),
    "infinity": (_with(np.inf), _always),
    "times 1e150": (_scaled(1e150), _always),
    "times 1e-300": (_scaled(1e-300), _always),
    "constant columns": (_constant, _always),
    "equal points": (_all_equal, _always),
    "one class, or constant target": (_one_class, lambda m: not transforms(m)),
    "one row": (_one_sample, _always),
    "no row": (_no_sample, _always),
}
#: How points are stored.
STORED: dict[str, Check] = {
    "int8": (_int8, _always),
    "read-only": (_read_only, _always),
    "strided": (_strided, _always),
    "backwards": (_backwards, _always),
    "memory map": (_memory_map, _always),
    "big-endian": (_big_endian, _always),
    **{
        kind: (_sparse(kind), _always)
        for kind in ("csr", "csc", "coo", "lil", "dok", "dia", "bsr")
    },
}
#: Similarities of the user, and what happens around a fit.
AROUND: dict[str, Check] = {
    "similarity raises": (_raised, _has_similarity),
    "returns NaN": (_similarity(lambda A, B: np.full((len(A), len(B)), np.nan)), _has_similarity),
    "wrong shape": (_similarity(lambda A, B: np.zeros((len(A) + 1, len(B)))), _has_similarity),
    "returns text": (_similarity(lambda A, B: "alike"), _has_similarity),
    "precomputed, not square": (_precomputed((60, 59)), _has_similarity),
    "precomputed, too narrow later": (_precomputed_later, _has_similarity),
    "again after a failure": (_refit, _always),
    "four threads": (_threads, _always),
    "pickled, copied": (_pickled, _always),
}
TABLES = {"values": VALUES, "stored": STORED, "around": AROUND}


def cell(estimator: type, check: Check) -> str:
    """Return the outcome; an error that is not stated, or a wrong result, is raised."""
    work, meant = check
    model = made(estimator)
    if not meant(model):
        return NOT_MEANT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(model)
        except STATED as error:
            if not str(error).strip():
                raise Wrong("an error without a message") from error
            return type(error).__name__


def table(name: str, rows: list[tuple[str, type]]) -> list[str]:
    """Return the lines of a table."""
    checks = TABLES[name]
    lines = ["| estimator | " + " | ".join(checks) + " |", "|---" * (len(checks) + 1) + "|"]
    for title, estimator in rows:
        cells = [cell(estimator, check) for check in checks.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return lines
