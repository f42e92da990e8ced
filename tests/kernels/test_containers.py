"""Whatever holds the points, an estimator compares the same points."""

import warnings
from collections import deque
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import pairwise_distances

from kernlearn.kernels import (
    CallableKernel,
    GaussianKernel,
    Kernel,
    NormalizedKernel,
    WeightedKernelSum,
    as_kernel,
)
from kernlearn.landmarks import BBSClassifier, NystroemEmbedding, SimilarityKNNClassifier
from kernlearn.svm import KernelSVM
from kernlearn.voted import L1SVMClassifier, VotedKernelClassifier
from tests.kernels.objects import as_array

pytest.importorskip("aeon")

WORDS = ["anna", "hanna", "otto", "lotto", "annas", "ottos", "hannah", "lottos"] * 3
Y = np.array([0, 0, 1, 1, 0, 1, 0, 1] * 3)
RNG = np.random.RandomState(0)
ORDER = np.random.RandomState(1).permutation(len(Y))
POINTS: dict[str, list[Any]] = {
    "texts": WORDS,
    "sets": [frozenset(word) for word in WORDS],
    "series": [RNG.normal(size=12) + label for label in Y],
    "series of several lengths": [RNG.normal(size=10 + i % 3) + y for i, y in enumerate(Y)],
    "series of two channels": [RNG.normal(size=(2, 12)) + label for label in Y],
}
SIMILARITIES = {"texts": "levenshtein", "sets": "jaccard"}
RECORDS = pd.DataFrame({"size": RNG.normal(size=len(Y)), "word": WORDS})
MODELS = {
    "landmarks": lambda one: BBSClassifier(4, similarity=one, C=1.0, random_state=0),
    "neighbours": lambda one: SimilarityKNNClassifier(similarity=one),
    "svm": KernelSVM,
}
# neighbours hold landmarks as the first model does
each_model = pytest.mark.parametrize(
    "model", ["landmarks", "svm", pytest.param("neighbours", marks=pytest.mark.exhaustive)]
)


def polars(points):
    return pytest.importorskip("polars").Series(points)


CONTAINERS = {
    "tuple": tuple,
    "array of objects": as_array,
    "column of objects": lambda points: as_array(points)[:, np.newaxis],
    "Series": pd.Series,
    "frame of one column": lambda points: pd.DataFrame({"point": points}),
}
OF_TEXTS = {
    "array of texts": np.array,
    "Categorical": lambda points: pd.Series(points, dtype="category"),
    "string dtype": lambda points: pd.Series(points, dtype="string"),
    "frame of a Categorical": lambda points: pd.DataFrame({"point": pd.Categorical(points)}),
    "polars Series": polars,
    "polars frame": lambda points: polars(points).to_frame("point"),
    "Arrow array": lambda points: pytest.importorskip("pyarrow").array(points),
    "Arrow table": lambda points: pytest.importorskip("pyarrow").table({"point": points}),
}


@each_model
@pytest.mark.parametrize("kind", POINTS)
def test_containers_of_objects(kind, model):
    points = POINTS[kind]
    similarity = SIMILARITIES.get(kind, "dynamic_time_warping")
    make = MODELS[model]
    expected = make(similarity).fit(points, Y).predict(points)
    for name, hold in (CONTAINERS | (OF_TEXTS if kind == "texts" else {})).items():
        held = hold(points)
        found = make(similarity).fit(held, Y).predict(held)
        np.testing.assert_array_equal(found, expected, err_msg=name)
        kernel = as_kernel(similarity)
        np.testing.assert_array_equal(kernel(held), kernel(points), err_msg=name)


@each_model
@pytest.mark.parametrize("similarity", ["gower", "value_difference"])
def test_containers_of_records(similarity, model):
    make = MODELS[model]
    expected = make(similarity).fit(RECORDS, Y).predict(RECORDS)
    arrow = pytest.importorskip("pyarrow").Table.from_pandas(RECORDS)
    polars = pytest.importorskip("polars").from_pandas(RECORDS)
    for held in (RECORDS.to_numpy(object), RECORDS.to_numpy().tolist(), arrow, polars):
        found = make(similarity).fit(held, Y).predict(held)
        np.testing.assert_array_equal(found, expected, err_msg=str(type(held)))


def shared(x, y):
    return len({*x} & {*y}) / len({*x} | {*y})


@each_model
@pytest.mark.parametrize(
    "similarity",
    [
        shared,
        "jaccard",
        "levenshtein",
        "rapidfuzz.ratio",
        NormalizedKernel(shared),
        WeightedKernelSum([shared, "levenshtein"], [0.5, 2.0]),
    ],
)
@pytest.mark.parametrize("kind", ["tokens", "numbers", "records"])
def test_lists_are_points_whatever_their_lengths(kind, similarity, model):
    make = partial(MODELS[model], similarity)
    of_word = {"tokens": list, "numbers": str.encode, "records": lambda word: [len(word), *word]}
    longer = [[*of_word[kind](word)] for word in WORDS]
    alike = [point[:4] for point in longer]  # of one length
    for points in (longer, alike):
        expected = make().fit(as_array(points), Y).predict(as_array(alike))
        rows = kind == "numbers" and points is alike and as_kernel(similarity).compares == "any"
        for held in (points, [*map(np.array, points)], [*map(tuple, points)]):
            if kind == "records" and isinstance(held[0], np.ndarray):
                continue  # which makes texts of numbers
            fitted = make().fit(held, Y)
            np.testing.assert_array_equal(fitted.predict(alike), expected)
            np.testing.assert_array_equal(fitted.predict(alike[:1]), expected[:1])
            if rows:  # of a matrix
                with pytest.raises(ValueError, match="inhomogeneous"):
                    fitted.predict(longer)


def test_series_may_be_the_rows_of_a_matrix():
    points = np.array(POINTS["series"])
    for make in MODELS.values():
        in_list = make("dynamic_time_warping").fit([*points], Y)
        np.testing.assert_array_equal(in_list.predict(points), in_list.predict([*points]))
        with pytest.raises(ValueError, match="must hold series"):
            in_list.predict(points[0])
        with pytest.raises(ValueError, match="must hold strings"):
            make("levenshtein").fit(WORDS, Y).predict(points[0])
        with pytest.raises(ValueError, match=r"X\[4\] is missing"):
            make("levenshtein").fit([*WORDS[:4], None, *WORDS[5:]], Y)


def test_tokens_may_be_lists():
    points = [[["a", "b"], ["c"]], [["c"], ["c"], ["a", "b"]], [["c"]]]
    expected = as_kernel("levenshtein")(["xy", "yyx", "y"])
    np.testing.assert_array_equal(as_kernel("levenshtein")(points), expected)
    with pytest.raises(ValueError, match=r"hashable items.*at 1"):
        as_kernel("levenshtein")(["a", [{}]])


@pytest.mark.parametrize("similarity", ["levenshtein", "gaussian", shared])
@pytest.mark.parametrize(
    ("points", "message"),
    [("aa", "pass .'aa'"), (Path("a.csv"), "`kernlearn.datasets.load`"), ([], "no points")],
)
def test_what_holds_no_points_is_refused(similarity, points, message):
    train = RNG.normal(size=(len(Y), 2)) if similarity == "gaussian" else WORDS
    for make in MODELS.values():
        with pytest.raises(ValueError, match=message):
            make(similarity).fit(points, [])
        with pytest.raises(ValueError, match=message):
            make(similarity).fit(train, Y).predict(points)


@pytest.mark.parametrize(
    "points",
    [
        pd.DataFrame({"first": WORDS, "second": WORDS}),
        deque(WORDS),
        dict(enumerate(WORDS)).values(),
        [[word] for word in WORDS],
    ],
    ids=lambda points: type(points).__name__,
)
@pytest.mark.parametrize("similarity", ["levenshtein", "gaussian", "gower"])
def test_other_containers_are_refused_with_what_to_pass(points, similarity):
    if similarity == "gower" and isinstance(points, (pd.DataFrame, list)):
        similarity = "cosine"
    for make in MODELS.values():
        with pytest.raises((TypeError, ValueError), match=r"a (list|single c)|other seq"):
            make(similarity).fit(points, Y)


SPARSE = sparse.random(len(Y), 6, 0.5, random_state=0, format="csr")


def in_halves(X):
    """Return the same rows with two entries for each value, in no order."""
    rows, columns = X.nonzero()
    order = np.argsort(np.r_[rows, rows], kind="stable")
    values = np.r_[0.3 * X.data, 0.7 * X.data][order]
    split = sparse.csr_matrix((values, np.r_[columns, columns][order], 2 * X.indptr), X.shape)
    assert not split.has_canonical_format
    return split


@pytest.mark.parametrize(
    "name", ["linear", "cosine", "gaussian", "exponential", "euclidean", "manhattan", "laplacian"]
)
def test_duplicate_entries_of_sparse_rows_are_summed(name):
    kernels = [as_kernel(name).fit(X) for X in (SPARSE, in_halves(SPARSE), SPARSE.toarray())]
    split = in_halves(SPARSE)
    expected = kernels[0](SPARSE)
    for kernel in kernels:
        np.testing.assert_allclose(kernel(split, SPARSE), expected, rtol=1e-9, atol=1e-9)
    assert split.nnz == 2 * SPARSE.nnz  # the input stays as it is
    for make in MODELS.values():
        for held in (split, split.tocoo(), split.tocsc()):
            found = make(name).fit(held, Y).predict(held)
            np.testing.assert_array_equal(found, make(name).fit(SPARSE, Y).predict(SPARSE))


@pytest.mark.parametrize(
    "model",
    [
        BBSClassifier(4, similarity="precomputed", C=1.0),
        SimilarityKNNClassifier(similarity="precomputed"),
        NystroemEmbedding("precomputed", n_components=4),
        KernelSVM("precomputed"),
        VotedKernelClassifier("precomputed"),
    ],
    ids=repr,
)
def test_matrices_of_distances_and_halves_warn(model):
    points = RNG.normal(size=(len(Y), 2)) + Y[:, np.newaxis]
    distances = pairwise_distances(points)
    similarities = np.exp(-distances)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        clone(model).fit(similarities, Y)
    for matrix, message in (
        (distances, "looks like a distance"),
        (np.sqrt(distances**2 + 1e-16), "looks like a distance"),
        (np.triu(similarities), "half a matrix"),
        (np.tril(similarities)[np.ix_(ORDER, ORDER)], "half a matrix"),
    ):
        with pytest.warns(UserWarning, match=message) as caught:
            clone(model).fit(matrix, Y)
        if matrix is distances:  # a parameter is named by those alone that have it
            named = any("kind='distance'" in str(one.message) for one in caught)
            assert named == ("kind" in model.get_params())
    if isinstance(model, BBSClassifier):  # a pair may be missing
        with pytest.warns(UserWarning, match="looks like a distance"):
            clone(model).fit(np.where(distances == distances[0, 1], np.nan, distances), Y)
    if "kind" in model.get_params():
        model = clone(model).set_params(kind="distance")
        for matrix in (similarities, -distances):
            with pytest.warns(UserWarning, match="looks like a similarity"):
                model.fit(matrix, Y)
        with pytest.warns(UserWarning, match="^1 of .* negative"):
            model.fit(
                np.where(np.arange(len(Y) ** 2).reshape(distances.shape) == 1, -1, distances), Y
            )
    names = [f"p{i}" for i in range(len(Y))]
    with pytest.raises(ValueError, match=r"pass X\.loc\[X\.columns\]"):
        clone(model).fit(pd.DataFrame(similarities, names[::-1], names), Y)


def distance(x, y):
    return float(np.abs(x - y).sum())


class Distance(Kernel):
    def __call__(self, X, Y=None):
        return pairwise_distances(X, Y)


@pytest.mark.parametrize("kernel", [distance, pairwise_distances, Distance(), NormalizedKernel])
@pytest.mark.parametrize("model", [*MODELS.values(), L1SVMClassifier, NystroemEmbedding])
def test_functions_that_are_distances_warn(model, kernel):
    """A distance without `kind` would make the most distant points the nearest."""
    points = RNG.normal(size=(len(Y), 2)) + 9 * Y[:, np.newaxis]
    kernel = kernel(distance) if kernel is NormalizedKernel else kernel
    with pytest.warns(UserWarning, match="looks like a distance"), suppress(ValueError):
        model(kernel).fit(points, Y)
    if not isinstance(kernel, NormalizedKernel) and "kind" in model(kernel).get_params():
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            right = model(kernel).set_params(kind="distance").fit(points, Y)
        assert right.score(points, Y) == 1.0
        with pytest.raises(ValueError, match="kind='distance' is for"):
            right.set_params(similarity=CallableKernel(distance, kind="distance")).fit(points, Y)
        with pytest.warns(UserWarning, match="looks like a similarity"):
            right.set_params(similarity=GaussianKernel()).fit(points, Y)
