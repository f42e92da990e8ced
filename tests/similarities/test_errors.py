"""A broken similarity gets an error that names the pair."""

import numpy as np
import pytest

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, Kernel
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    NystroemEmbedding,
    ORLand,
    RankLand,
    RegLand,
    SparseRegLand,
)
from kernlearn.similarities import FunctionSimilarity, check_similarity

WORDS = [f"{'ab'[i % 2]}{i}" for i in range(40)]
CODES = np.arange(40) % 2
ESTIMATORS = [
    BBSClassifier(n_landmarks=40, C=1),
    DBoostClassifier(n_landmarks=40),
    FTuneClassifier(C=1),
    ORLand(40, C=1),
    RegLand(40, C=1),
    SparseRegLand(40),
    NystroemEmbedding(n_components=40),
    RankLand(40, C=1),
]


def breaking(wrong, broken=("a6", "b9")):
    def compare(x, y):
        if (x, y) == broken:
            if isinstance(wrong, Exception):
                raise wrong
            return wrong
        return float(x[0] == y[0]) + 0.01 * len(x)

    return compare


def learn(estimator, similarity, X=WORDS):
    made = type(estimator)(**estimator.get_params())
    name = "kernel" if hasattr(estimator, "kernel") else "similarity"
    made.set_params(**{name: similarity})
    for key in ("random_state",):
        if key in made.get_params():
            made.set_params(**{key: 0})
    if isinstance(estimator, RankLand):
        return made.fit(X, CODES, qid=np.arange(40) // 4)
    return made.fit(X, CODES)


WRONG = [
    (np.nan, "is NaN"),
    (np.inf, "is infinite"),
    (np.zeros(2), "must return a number"),
    ("text", "must return a number"),
    (ZeroDivisionError("by 0"), "ZeroDivisionError: by 0"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("wrong", "message"), WRONG)
@pytest.mark.parametrize("wrapped", [CallableKernel, FunctionSimilarity, None])
def test_in_a_fit(estimator, wrong, message, wrapped):
    function = breaking(wrong)
    similarity = function if wrapped is None else wrapped(function, takes="points")
    with pytest.raises(SimilarityError, match=message) as caught:
        learn(estimator, similarity)
    assert "X[6] ('a6') and training X[9] ('b9')" in str(caught.value)
    assert (caught.value.left, caught.value.right) == (6, 9)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_in_a_prediction(estimator, wrong, message):
    model = learn(estimator, breaking(wrong, ("new", "b9")))
    if not (model._landmarks.indices == 9).any():
        pytest.skip("the pair is not compared")
    use = getattr(model, "predict", getattr(model, "transform", None))
    with pytest.raises(SimilarityError, match=message) as caught:
        use([*WORDS[:3], "new"])
    assert "X[3] ('new') and training X[9] ('b9')" in str(caught.value)


def test_in_a_later_block_of_a_prediction(small_blocks):
    small_blocks()
    model = learn(BBSClassifier(n_landmarks=40, C=1), breaking(np.nan, ("new", "b9")))
    with pytest.raises(SimilarityError, match=r"X\[25\] \('new'\) and training X\[9\]"):
        model.predict([*WORDS[:25], "new", *WORDS[:3]])


def test_workers_pass_it_on():
    similarity = FunctionSimilarity(breaking(KeyError("k")), n_jobs=2, backend="processes")
    with pytest.raises(SimilarityError, match=r"X\[6\] \('a6'\) and Y\[9\] \('b9'\).*KeyError"):
        similarity(WORDS)


class Wrong(Kernel):
    def __init__(self, value=np.nan):
        self.value = value

    def __call__(self, X, Y=None):
        values = np.asarray(X @ (X if Y is None else Y).T)
        return values[:, :-1] if self.value is None else np.where(values == 0, self.value, values)


VECTORS = np.eye(3)[np.arange(30) % 3] + 1.0 * (np.arange(30) >= 10)[:, None]


def test_a_kernel_of_vectors():
    with pytest.raises(SimilarityError, match=r"X\[\d\] \(\[.*\]\) and training X\[\d\].*NaN"):
        BBSClassifier(30, similarity=Wrong(), C=1).fit(VECTORS, CODES[:30])
    with pytest.raises(ValueError, match=r"shape \(30, 29\), it must be \(30, 30\)"):
        BBSClassifier(30, similarity=Wrong(None), C=1).fit(VECTORS, CODES[:30])


@pytest.mark.parametrize("estimator", ESTIMATORS[:-1], ids=lambda e: type(e).__name__)
def test_a_matrix(estimator):
    matrix = np.exp(-((np.arange(40)[:, None] - np.arange(40)) ** 2.0))
    broken = matrix.copy()
    broken[6, 9] = np.nan
    with pytest.raises(SimilarityError, match=r"X\[6\] and training X\[9\] is NaN"):
        learn(estimator, "precomputed", broken)
    model = learn(estimator, "precomputed", matrix)
    broken[6, 9] = -np.inf
    use = getattr(model, "predict", getattr(model, "transform", None))
    with pytest.raises(SimilarityError, match=r"X\[3\] and training X\[9\] is infinite"):
        use(broken[3:])


def test_a_check_beforehand():
    check_similarity(lambda x, y: abs(len(x) - len(y)), WORDS, random_state=0)
    check_similarity("rapidfuzz.jaro", WORDS, random_state=0)
    with pytest.raises(SimilarityError, match="not symmetric"):
        check_similarity(lambda x, y: len(x), ["a", "bc", "def"], random_state=0)
    check_similarity(lambda x, y: len(x), ["a", "bc"], symmetric=False, random_state=0)
    rng = np.random.RandomState(0)
    with pytest.raises(SimilarityError, match="another time: it changes"):
        check_similarity(lambda x, y: rng.rand(), WORDS, random_state=0)
    with pytest.raises(SimilarityError, match=r"X\[\d+\] \('a6'\) and X\[\d+\]"):
        check_similarity(breaking(np.nan), ["a6", "b9"], random_state=0)
    with pytest.raises(ValueError, match="at least two points"):
        check_similarity("levenshtein", ["one"])
