"""Errors of methods that are given data of a kind that they do not take, with what to do."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import scipy.sparse as sp

from kernlearn.datasets.objects import are_objects, kind_of
from kernlearn.experiments.engine.spec import TrialSpec
from kernlearn.experiments.registry import Scope

# How estimators say that they need a matrix of numbers.
_NO_MATRIX = (
    "could not convert string to float",
    "expected 2d array",
    "float() argument",
    "setting an array element with a sequence",
    "must be 2-dimensional",
    "must be real number",
)
_VECTORS_OF = {"strings": ", such as sklearn.feature_extraction.text.TfidfVectorizer"}


def refuse_kernel(spec: TrialSpec, scope: Scope, X: Any) -> None:
    """Refuse a kernel of vectors where the points are objects.

    Raises
    ------
    ValueError
        If the kernel of the trial, or one among the parameters of its method, compares vectors.
    """
    if not are_objects(X):
        return
    given = [spec.kernel.name] if spec.kernel is not None else []
    values = [*spec.method.parameters.values()]
    values += [value for choices in spec.method.select.values() for value in choices]
    given += [str(v["kernel"]) for v in values if isinstance(v, Mapping) and "kernel" in v]
    for name in given:
        kernel = scope.kernel(name)
        if kernel is None or kernel.plugin:
            continue
        if kernel.points in ("vectors", "records"):
            kind = kind_of(X)
            raise ValueError(
                f"the kernel {kernel.name} compares {kernel.points}, and the points are {kind}: "
                f"`kernlearn list` has similarities of {kind}"
            )


@contextmanager
def advising(X: Any) -> Iterator[None]:
    """Add to the error of an estimator that refuses sparse data, or objects, what to do."""
    try:
        yield
    except (TypeError, ValueError) as error:
        text = str(error)
        if sp.issparse(X) and "sparse" in text.lower():
            first = text.partition(". ")[0].rstrip(".")
            raise ValueError(f"{first}: give the method `dense: true`") from error
        if are_objects(X) and any(part in text.lower() for part in _NO_MATRIX):
            kind = kind_of(X)
            raise ValueError(
                f"the method needs vectors, and the points are {kind}: take one with a similarity "
                f"of {kind}, or put a step before it that makes vectors of them"
                f"{_VECTORS_OF.get(kind, '')}"
            ) from error
        raise
