import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.pairs import PairMemo
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    NystroemEmbedding,
    RegLand,
    SparseRegLand,
)
from kernlearn.similarities import FunctionSimilarity, PairCache
from tests.similarities import objects


class Counts:
    """A function of two points that remembers which it was given."""

    def __init__(self, function, pause=0.0):
        self.function, self.pause, self.pairs = function, pause, []

    def __call__(self, x, y):
        self.pairs.append((id(x), id(y)))
        time.sleep(self.pause)
        return self.function(x, y)

    def twice(self, *, ordered=True):
        pairs = self.pairs if ordered else [tuple(sorted(pair)) for pair in self.pairs]
        return len(pairs) - len(set(pairs))


GRAPHS, CLASSES = objects.graphs(80)


def asymmetric(x, y):
    return len(x.edges) - 0.5 * len(y.edges)


def by_hand(function, left, right):
    return np.array([[float(function(x, y)) for y in right] for x in left])


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("backend", ["threads", "processes"])
def test_workers_give_the_values_of_a_loop(n_jobs, backend):
    similarity = FunctionSimilarity(asymmetric, n_jobs=n_jobs, backend=backend)
    expected = by_hand(asymmetric, GRAPHS[:30], GRAPHS[20:60])
    np.testing.assert_array_equal(similarity(GRAPHS[:30], GRAPHS[20:60]), expected)
    np.testing.assert_array_equal(similarity(GRAPHS[:9]), expected_square(9))


def expected_square(n):
    return by_hand(asymmetric, GRAPHS[:n], GRAPHS[:n])


def test_rows_of_numbers_are_points_too():
    X = np.random.RandomState(0).rand(7, 3)
    similarity = FunctionSimilarity(lambda x, y: x @ y, symmetric=True)
    np.testing.assert_allclose(similarity(X), X @ X.T)
    np.testing.assert_allclose(similarity(X[:2], X[1:]), X[:2] @ X[1:].T)


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("negative", lambda d: -d),
        ("reciprocal", lambda d: 1 / (1 + d)),
        ("exponential", lambda d: np.exp(-d / 2.5)),
    ],
)
def test_distances_are_turned(turn, expected):
    similarity = FunctionSimilarity(objects.degrees, kind="distance", turn=turn, sigma=2.5)
    distances = by_hand(objects.degrees, GRAPHS[:5], GRAPHS)
    np.testing.assert_allclose(similarity(GRAPHS[:5], GRAPHS), expected(distances))


def test_sigma_is_the_mean_distance_of_64_evenly_spaced_points():
    kept = FunctionSimilarity(objects.degrees, kind="distance", turn="exponential").fit(GRAPHS)
    some = [GRAPHS[i * 80 // 64] for i in range(64)]
    upper = by_hand(objects.degrees, some, some)[np.triu_indices(64, 1)]
    assert kept.sigma_ == pytest.approx(upper.mean())
    few = clone(kept).fit(GRAPHS[:10])
    upper = by_hand(objects.degrees, GRAPHS[:10], GRAPHS[:10])[np.triu_indices(10, 1)]
    assert few.sigma_ == pytest.approx(upper.mean())
    with pytest.raises(ValueError, match="points that differ"):
        clone(kept).fit(GRAPHS[:1] * 3)


ESTIMATORS = [
    BBSClassifier(20, random_state=0),
    BBSClassifier(20, selection="dselect", random_state=0, calibration="sigmoid"),
    BBSClassifier(20, selection="rpcholesky", random_state=0),
    BBSClassifier(20, selection="leverage", random_state=0),
    FTuneClassifier(15, random_state=0),
    FTuneClassifier(15, random_state=0, selection="kmeans++"),
    DBoostClassifier(10, random_state=0),
    DBoostClassifier(10, selection="dselect", random_state=0),
    RegLand(20, random_state=0),
    SparseRegLand(10, random_state=0),
    NystroemEmbedding(n_components=20, selection="rpcholesky", random_state=0),
]


def with_similarity(estimator, similarity):
    name = "kernel" if "kernel" in estimator.get_params() else "similarity"
    return clone(estimator).set_params(**{name: similarity})


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
@pytest.mark.parametrize("symmetric", [False, True])
def test_a_fit_compares_no_pair_twice_and_says_how_many(estimator, symmetric):
    function = Counts(objects.common_edges)
    similarity = FunctionSimilarity(function, symmetric=symmetric)
    y = CLASSES if hasattr(estimator, "class_weight") else np.where(CLASSES == "thin", 0.0, 1.0)
    model = with_similarity(estimator, similarity).fit(GRAPHS, y)
    assert function.twice(ordered=not symmetric) == 0
    assert model.n_fit_comparisons_ == len(function.pairs) > 0
    function.pairs.clear()
    new, _ = objects.graphs(7, seed=1)
    getattr(model, "predict", getattr(model, "transform", None))(new)
    assert len(function.pairs) == 7 * model.n_comparisons_


def test_sigma_is_counted_and_its_pairs_are_not_compared_again():
    function = Counts(objects.degrees)
    similarity = FunctionSimilarity(function, kind="distance", turn="exponential")
    model = BBSClassifier(20, similarity=similarity, random_state=0).fit(GRAPHS, CLASSES)
    assert model.n_fit_comparisons_ == len(function.pairs)
    assert function.twice() == 0


def test_a_plain_function_of_objects_is_found_to_take_two_points():
    function = Counts(objects.common_edges)
    model = FTuneClassifier(15, similarity=function, random_state=0).fit(GRAPHS, CLASSES)
    assert function.twice() == 0
    # to find out, the first two points were compared
    assert model.n_fit_comparisons_ == len(function.pairs)
    batches = []

    def of_lists(X, Y):
        batches.append((len(X), len(Y)))
        return [[objects.common_edges(x, y) for y in Y] for x in X]

    again = FTuneClassifier(15, similarity=of_lists, random_state=0).fit(GRAPHS, CLASSES)
    np.testing.assert_array_equal(again.predict(GRAPHS), model.predict(GRAPHS))
    np.testing.assert_array_equal(again.coef_, model.coef_)


def test_progress_reaches_the_total():
    steps = []
    similarity = FunctionSimilarity(asymmetric, progress=lambda done, n: steps.append((done, n)))
    similarity(GRAPHS[:30], GRAPHS[:40])
    assert steps[-1] == (1200, 1200)
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})
    assert len(steps) > 4


def test_a_bar_on_the_terminal(capfd):
    FunctionSimilarity(asymmetric, progress=True)(GRAPHS[:3])
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("stored", [False, True])
def test_a_cache_serves_later_fits(stored, tmp_path):
    function = Counts(objects.common_edges)
    cache = PairCache(tmp_path / "new" / "pairs.sqlite" if stored else None, name="edges")
    model = BBSClassifier(10, similarity=FunctionSimilarity(function, cache=cache), random_state=0)
    first = clone(model).fit(GRAPHS, CLASSES)
    n_calls = len(function.pairs)
    assert len(cache) == n_calls == first.n_fit_comparisons_
    second = clone(model).set_params(C=3.0).fit(GRAPHS, CLASSES)
    again = clone(model).fit(GRAPHS, CLASSES)
    assert len(function.pairs) == n_calls + second.n_fit_comparisons_
    assert again.n_fit_comparisons_ == 0
    np.testing.assert_array_equal(again.coef_, first.coef_)
    cache.clear()
    assert len(cache) == 0


def test_a_cache_tells_functions_and_orders_apart(tmp_path):
    path = tmp_path / "pairs.sqlite"
    X = ["ab", "abc", "d"]
    kept = []
    for function in (lambda x, y: len(x), lambda x, y: 10 * len(y), partial(pow_of, base=2)):
        similarity = FunctionSimilarity(function, cache=path)
        expected = by_hand(function, X, X)
        for _ in range(2):
            np.testing.assert_array_equal(similarity(X), expected)
        kept.append(len(PairCache(path)))
    assert kept == [9, 18, 27]
    symmetric = FunctionSimilarity(lambda x, y: len(x) + len(y), cache=path, symmetric=True)
    symmetric(X)
    assert len(PairCache(path)) == 27 + 6


def pow_of(x, y, base):
    return base ** len(x)


def test_an_asymmetric_function_is_refused_on_request():
    similarity = FunctionSimilarity(asymmetric, symmetric="check")
    pair = r"X\[\d\] \(Graph\(\d+ edges\)\) and Y\[\d\].*not symmetric"
    with pytest.raises(SimilarityError, match=pair):
        similarity(GRAPHS[:5])
    with pytest.raises(SimilarityError, match=r"training X\[.*not symmetric"):
        BBSClassifier(5, similarity=similarity, random_state=0).fit(GRAPHS, CLASSES)
    function = Counts(objects.common_edges)
    checked = FunctionSimilarity(function, symmetric="check").fitted_to(GRAPHS)
    checked(np.array(GRAPHS[:5], dtype=object))
    assert len(function.pairs) == checked.evaluations == 2 * 15


def test_a_memo_gives_the_values_of_a_loop():
    rng = np.random.RandomState(0)
    points = [rng.rand(3) for _ in range(20)] + ["a", "b", 1, True, 1.0, (1, 2), (1, 2)]
    table = {}

    def value(x, y):
        return table.setdefault((repr(x), repr(y)), len(table) + 1.0)

    memo, n_calls = PairMemo(False), 0

    def evaluate(left, right, rows, columns):
        nonlocal n_calls
        n_calls += len(rows)
        return np.array([value(left[i], right[j]) for i, j in zip(rows, columns, strict=True)])

    for _ in range(30):
        left = [points[i] for i in rng.randint(len(points), size=rng.randint(1, 9))]
        right = [points[i] for i in rng.randint(len(points), size=rng.randint(1, 9))]
        np.testing.assert_array_equal(
            memo.values(left, right, evaluate), by_hand(value, left, right)
        )
    # equal tuples are different objects
    assert len(table) <= n_calls <= len(table) + 4 * len(points)


def test_pairs_that_interrupt_leave_at_once():
    """Ctrl-C ends a fit whose comparisons would take more than a minute."""
    script = textwrap.dedent("""
        import sys, time
        import numpy as np
        from kernlearn.landmarks import BBSClassifier
        from kernlearn.similarities import FunctionSimilarity

        def slow(x, y):
            time.sleep(0.002)
            return float(x == y)

        def say(done, total):
            print(done, flush=True)

        backend, n_jobs = sys.argv[1], int(sys.argv[2])
        similarity = FunctionSimilarity(slow, n_jobs=n_jobs, backend=backend, progress=say)
        words = [str(i) for i in range(400)]
        BBSClassifier(100, similarity=similarity).fit(words, np.arange(400) % 2)
    """)
    for backend, n_jobs in [("threads", 1), ("processes", 2)]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, backend, str(n_jobs)],
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode != 0
        assert "KeyboardInterrupt" in errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "metric"}, "'kind' parameter"),
        ({"turn": "square"}, "'turn' parameter"),
        ({"backend": "dask"}, "'backend' parameter"),
        ({"symmetric": "yes"}, "'symmetric' parameter"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        FunctionSimilarity(asymmetric, **options)(GRAPHS[:2])
