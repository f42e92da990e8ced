import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from kernlearn.exceptions import SimilarityError
from kernlearn.landmarks import BBSClassifier, NystroemEmbedding, RegLand
from kernlearn.similarities import (
    ColumnSimilarity,
    FunctionSimilarity,
    MatrixSimilarity,
    RapidFuzzSimilarity,
    ScipyDistance,
)
from tests.similarities import objects

RNG = np.random.RandomState(0)
WORDS, CLASSES = objects.strings()
SERIES, _ = objects.series()
FRAME = pd.DataFrame(
    {
        "word": WORDS,
        "series": SERIES,
        "tags": [set(word[:3]) for word in WORDS],
        "age": RNG.randint(20, 60, size=60).astype(float),
        "height": RNG.rand(60),
    }
)
PARTS = [
    ("word", RapidFuzzSimilarity("jaro"), "word"),
    ("series", "dynamic_time_warping", "series"),
    ("tags", "jaccard", "tags"),
    ("body", ScipyDistance("cityblock", turn="exponential"), ["age", "height"]),
    ("age", lambda x, y: float(x < y), "age"),
]
WEIGHTS = {"word": 2.0, "series": 0.1}


def by_hand(parts, weights, frame, left, right):
    """The weighted mean over the parts that both have, with similarities fitted to the frame."""
    values = np.zeros((len(left), len(right)))
    for i, (_, x) in enumerate(left.iterrows()):
        for j, (_, y) in enumerate(right.iterrows()):
            total = weight = 0.0
            for name, similarity, columns in parts:
                entries = [x[columns], y[columns]]
                if isinstance(columns, list):
                    missing = any(pd.isna(e).any() for e in entries)
                    entries = [e.to_numpy(dtype=float)[None] for e in entries]
                else:
                    missing = any(e is None or (isinstance(e, float) and e != e) for e in entries)
                if missing:
                    continue
                w = weights.get(name, 1.0)
                weight += w
                if hasattr(similarity, "get_params"):
                    fitted = similarity
                    if isinstance(columns, list):
                        some = frame[columns].dropna().to_numpy(dtype=float)
                        fitted = clone(similarity).fit(some)
                        total += w * fitted(*entries)[0, 0]
                    else:
                        total += w * fitted([entries[0]], [entries[1]])[0, 0]
                elif callable(similarity):
                    total += w * similarity(*entries)
                else:
                    from kernlearn.kernels import as_kernel

                    total += w * as_kernel(similarity)([entries[0]], [entries[1]])[0, 0]
            values[i, j] = total / weight if weight else 0.0
    return values


def test_a_weighted_mean_of_parts():
    similarity = ColumnSimilarity(PARTS, weights=WEIGHTS).fit(FRAME)
    expected = by_hand(PARTS, WEIGHTS, FRAME, FRAME[:5], FRAME[3:12])
    np.testing.assert_allclose(similarity(FRAME[:5], FRAME[3:12]), expected)
    by_order = ColumnSimilarity(PARTS, weights=[2.0, 0.1, 1, 1, 1]).fit(FRAME)
    np.testing.assert_array_equal(by_order(FRAME[:4]), similarity(FRAME[:4]))
    positions = {"word": 0, "series": 1, "tags": 2, "age": 3}
    parts = [(name, s, [3, -1] if isinstance(c, list) else positions[c]) for name, s, c in PARTS]
    table = FRAME.to_numpy(dtype=object)
    unnamed = ColumnSimilarity(parts, weights=WEIGHTS).fit(table)
    np.testing.assert_array_equal(unnamed(table[:4]), similarity(FRAME[:4]))


def test_missing_entries_leave_a_part_out():
    frame = FRAME.copy()
    frame.loc[0, "word"] = None
    frame.loc[1, "age"] = np.nan
    frame.loc[2, ["word", "age"]] = None
    similarity = ColumnSimilarity(PARTS, weights=WEIGHTS).fit(frame)
    expected = by_hand(PARTS, WEIGHTS, frame, frame[:5], frame[:5])
    np.testing.assert_allclose(similarity(frame[:5]), expected)
    alone = ColumnSimilarity(PARTS[:1]).fit(frame)
    np.testing.assert_array_equal(alone(frame[:1], frame[:4]), 0)


@pytest.mark.parametrize("frames", [True, False])
def test_in_estimators(frames):
    parts = PARTS if frames else [("word", "rapidfuzz.jaro", 0), ("body", "gaussian", [3, 4])]
    X = FRAME if frames else FRAME.to_numpy(dtype=object)
    similarity = ColumnSimilarity(parts)
    model = BBSClassifier(15, similarity=similarity, C=1, random_state=0)
    assert cross_val_score(model, X, CLASSES, cv=3).mean() > 0.9
    fitted = model.fit(X, CLASSES)
    fewer = clone(model).set_params(similarity=ColumnSimilarity(parts[:1])).fit(X, CLASSES)
    copied = pickle.loads(pickle.dumps(fewer))
    assert (copied.predict(X) == CLASSES).mean() > 0.9
    search = GridSearchCV(model, {"similarity__weights": [None, {"word": 5.0}]}, cv=3)
    assert search.fit(X, CLASSES).score(X, CLASSES) > 0.9
    assert fitted.n_comparisons_ <= 15
    assert RegLand(15, similarity=similarity).fit(X, CLASSES == "long").predict(X).shape == (60,)
    assert NystroemEmbedding(similarity, 10).fit_transform(X).shape == (60, 10)


def test_nested_parameters():
    similarity = ColumnSimilarity(PARTS)
    assert similarity.get_params()["body__turn"] == "exponential"
    changed = clone(similarity).set_params(body__turn="reciprocal", word__measure="distance")
    assert changed.similarities[3][1].turn == "reciprocal"
    assert changed.similarities[0][1].measure == "distance"
    assert similarity.similarities[0][1].measure == "normalized_similarity"


def test_errors_name_part_and_pair():
    def breaks(x, y):
        if x == WORDS[7] and y == WORDS[4]:
            return np.nan
        return 1.0

    similarity = ColumnSimilarity([PARTS[3], ("own", FunctionSimilarity(breaks), "word")])
    frame = FRAME.copy()
    frame.loc[2, "word"] = None
    message = r"of X\[7\] .* and Y\[4\] .* in the part 'own' is NaN"
    with pytest.raises(SimilarityError, match=message):
        similarity.fit(frame)(frame[:9])
    model = BBSClassifier(60, similarity=similarity, C=1)
    with pytest.raises(SimilarityError, match=r"X\[7\] .* training X\[4\] .* part 'own'"):
        model.fit(FRAME, CLASSES)


@pytest.mark.parametrize(
    ("parts", "weights", "message"),
    [
        ([], None, "parts of different names"),
        ([PARTS[0], PARTS[0]], None, "parts of different names"),
        (PARTS, {"words": 1}, r"'weights' names \['words'\]"),
        (PARTS, [1, 2], "number >= 0 for each"),
        (PARTS[:1], [-1], "number >= 0 for each"),
        ([("a", "linear", ["size"])], None, r"no column 'size'; X has \['word'"),
        ([("a", "linear", [9])], None, "no column 9; X has 5"),
        ([("a", "lineal", "age")], None, "'similarities: a' must be one of"),
        ([("a", "linear", ["word"])], None, "numbers are needed"),
    ],
)
def test_bad_parts(parts, weights, message):
    with pytest.raises(ValueError, match=message):
        ColumnSimilarity(parts, weights=weights).fit(FRAME)


DISTANCES = np.abs(RNG.rand(60)[:, None] - RNG.rand(60))
DISTANCES += DISTANCES.T
NUMBERS = np.arange(60)[:, None]


def test_a_matrix_by_numbers_of_rows():
    similarity = MatrixSimilarity(DISTANCES, kind="distance", symmetric=True)
    expected = -DISTANCES[[3, 1]][:, [0, 2, 1]]
    np.testing.assert_array_equal(similarity([[3], [1]], [[0], [2], [1]]), expected)
    model = BBSClassifier(15, similarity=similarity, random_state=0).fit(NUMBERS, CLASSES)
    other = BBSClassifier(15, similarity="precomputed", kind="distance", random_state=0)
    other.fit(DISTANCES, CLASSES)
    np.testing.assert_array_equal(model.predict(NUMBERS), other.predict(DISTANCES))
    assert np.isfinite(cross_val_score(model, NUMBERS, CLASSES)).all()
    assert clone(similarity).matrix is similarity.matrix
    turned = MatrixSimilarity(DISTANCES, kind="distance", turn="exponential").fit(NUMBERS)
    assert turned.sigma_ == pytest.approx(DISTANCES[np.triu_indices(60, 1)].mean())
    with_words = ColumnSimilarity([("d", turned, "n"), ("w", "levenshtein", "w")])
    with_words.fit(pd.DataFrame({"n": np.arange(60), "w": WORDS}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((6, 9, np.nan), r"matrix row \[6\] and matrix column \[9\] is NaN"),
        ((6, 9, 3.0), r"\[6\] and matrix column \[9\] is 3, and .* not symmetric"),
    ],
)
def test_a_broken_matrix(change, message):
    matrix = DISTANCES.copy()
    matrix[change[:2]] = change[2]
    with pytest.raises(SimilarityError, match=message):
        MatrixSimilarity(matrix, symmetric=True)(NUMBERS)
    with pytest.raises(ValueError, match="from 0 to 59, got 60 at 1"):
        MatrixSimilarity(DISTANCES)([[0], [60]])
    with pytest.raises(ValueError, match="square"):
        MatrixSimilarity(DISTANCES[:4])([[0]])
