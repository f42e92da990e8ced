"""Kernels of functions against loops over pairs; names; errors that name the pair."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from functools import partial

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from kernlearn.config.names import kernel_class
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, as_kernel, known_pairs, named, names
from kernlearn.kernels.registry import KERNELS, LIBRARIES
from kernlearn.landmarks import BBSClassifier
from kernlearn.lazy import is_installed
from kernlearn.svm import KernelSVM
from tests.kernels import objects
from tests.kernels.objects import by_hand

RNG = np.random.RandomState(0)
GRAPHS, _ = objects.graphs(80)


def asymmetric(x, y):
    return len(x.edges) - 0.5 * len(y.edges)


OF_POINTS = {
    "raises for matrices": lambda x, y: float(x @ y),
    "a number for matrices": lambda x, y: -abs(x - y).max(),
    "a matrix for square Y": lambda x, y: x @ y,
    "a sum": lambda x, y: sum(x * y),
}


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 5), (7, 2), (2, 7)])
@pytest.mark.parametrize("name", OF_POINTS)
def test_a_function_of_two_vectors(name, n, m, d):
    function, X, Y = OF_POINTS[name], RNG.normal(size=(n, d)), RNG.normal(size=(m, d))
    expected = by_hand(function, X, Y)
    for takes in ("auto", "points"):
        kernel = CallableKernel(function, takes=takes)
        np.testing.assert_allclose(kernel(X, Y), expected, rtol=1e-14)
        np.testing.assert_allclose(kernel(sparse.csr_array(X), Y), expected, rtol=1e-14)
        np.testing.assert_allclose(kernel(X), by_hand(function, X, X), rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (4, 5), (7, 2)])
def test_a_function_of_two_matrices(n, m, d):
    X, Y, calls = RNG.normal(size=(n, d)), RNG.normal(size=(m, d)), []

    def product(A, B):
        calls.append(len(A) * len(B))
        return A @ B.T

    for takes in ("auto", "matrices"):
        kernel = CallableKernel(product, takes=takes)
        for _ in range(9):  # it is tried once
            np.testing.assert_allclose(kernel(X, Y), X @ Y.T)
    assert sum(calls) <= 18 * n * m + 15
    with pytest.raises(ValueError, match=r"shape \(\)"):
        CallableKernel(lambda A, B: -abs(A[0] - B[0]).max(), takes="matrices")(X, Y)


def test_functions_of_objects_are_of_two_objects_or_of_two_batches():
    expected = by_hand(objects.common_edges, GRAPHS[:5], GRAPHS)

    def of_batches(X, Y):
        return [[objects.common_edges(x, y) for y in Y] for x in X]

    for function in (objects.common_edges, of_batches):
        kernel = as_kernel(function)
        for points in (list, tuple, lambda X: np.array(X, dtype=object)):
            np.testing.assert_array_equal(kernel(points(GRAPHS[:5]), points(GRAPHS)), expected)
        assert kernel(GRAPHS[:0], GRAPHS[:3]).shape == (0, 3)
    function = np.vectorize(lambda x, y: 1.0)  # broadcasts, but gives no matrix
    np.testing.assert_array_equal(CallableKernel(function, takes="points")(GRAPHS[:2]), 1.0)


@pytest.mark.parametrize("backend", [None, "threading", "loky", "multiprocessing"])
def test_workers_give_the_values_of_a_loop(backend):
    kernel = CallableKernel(asymmetric, takes="points", n_jobs=2)
    expected = by_hand(asymmetric, GRAPHS[:30], GRAPHS[20:60])
    if backend is None:
        np.testing.assert_array_equal(kernel(GRAPHS[:30], GRAPHS[20:60]), expected)
        return
    kernel.set_params(n_jobs=None)
    with joblib.parallel_config(backend, n_jobs=2):
        np.testing.assert_array_equal(kernel(GRAPHS[:30], GRAPHS[20:60]), expected)
        if backend == "multiprocessing":  # which pickles no function of a test
            return
        with pytest.raises(SimilarityError, match=r"of X\[\d\] \(Graph.* Y\[\d\] .*ZeroDivision"):
            CallableKernel(lambda x, y: 1 / 0, takes="points")(GRAPHS[:9])


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        ("negative", lambda d: -d),
        ("reciprocal", lambda d: 1 / (1 + d)),
        ("exponential", lambda d: np.exp(-d / 2.5)),
    ],
)
def test_distances_are_turned(turn, expected):
    similarity = CallableKernel(objects.degrees, kind="distance", turn=turn, sigma=2.5)
    distances = by_hand(objects.degrees, GRAPHS[:5], GRAPHS)
    np.testing.assert_allclose(similarity(GRAPHS[:5], GRAPHS), expected(distances))
    # another function, of matrices, that counts in bytes
    similarity.set_params(function=lambda A, B: np.full((len(A), len(B)), 255, np.uint8))
    np.testing.assert_allclose(similarity(np.eye(2)), np.full((2, 2), expected(255.0)))


def test_sigma_is_the_mean_distance_of_64_evenly_spaced_points():
    kernel = CallableKernel(objects.degrees, kind="distance", turn="exponential").fit(GRAPHS)
    some = [GRAPHS[i * 80 // 64] for i in range(64)]
    for fitted, points in ((kernel, some), (clone(kernel).fit(GRAPHS[:10]), GRAPHS[:10])):
        distances = by_hand(objects.degrees, points, points)
        assert fitted.sigma_ == pytest.approx(distances[np.triu_indices(len(points), 1)].mean())
    for points, message in ((GRAPHS[:1] * 3, "points that differ"), (GRAPHS[:1], "two points")):
        with pytest.raises(ValueError, match=message):
            clone(kernel).fit(points)


def test_a_clone_has_the_same_function():
    function = objects.Graph(())  # any object that cannot be compared
    function = type("Callable", (), {"__call__": lambda self, x, y: 1.0, "held": function})()
    assert clone(CallableKernel(function)).function is function


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.nan, "is NaN"),
        (np.inf, "is infinite"),
        (np.zeros(2), "must return a number"),
        ("text", "must return a number"),
        (KeyError("k"), "KeyError"),
    ],
)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_an_error_names_the_pair(wrong, message, n_jobs):
    def breaks(x, y):
        if (x, y) == ("a6", "b9"):
            if isinstance(wrong, Exception):
                raise wrong
            return wrong
        return 1.0

    words = [f"{'ab'[i % 2]}{i}" for i in range(20)]
    with pytest.raises(SimilarityError, match=message) as caught:
        CallableKernel(breaks, n_jobs=n_jobs)(words)
    assert "X[6] ('a6') and Y[9] ('b9')" in str(caught.value)
    assert (caught.value.left, caught.value.right) == (6, 9)


def test_ctrl_c_ends_comparisons_at_once():
    script = textwrap.dedent("""
        import sys, time
        from kernlearn.kernels import CallableKernel

        def slow(x, y):
            if (x, y) == ("0", "3"):
                print("begun", flush=True)
            time.sleep(0.002)
            return float(x == y)

        CallableKernel(slow, n_jobs=int(sys.argv[1]))([str(i) for i in range(400)])
    """)
    for n_jobs in ("1", "2"):
        process = subprocess.Popen(
            [sys.executable, "-c", script, n_jobs],
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


def test_every_name_makes_a_kernel_of_its_points():
    for name in names():
        library = name.partition(".")[0]
        if library not in LIBRARIES or is_installed(library):
            kernel = as_kernel(name)
            objects_too = any(
                name in names(kind) for kind in ("strings", "series", "graphs", "sets")
            )
            assert (kernel.compares == "objects") == objects_too
            assert type(named(name)) is type(kernel)
    assert as_kernel("levenshtein").name == "rapidfuzz.levenshtein"
    assert as_kernel(kernel) is kernel
    kinds = ("vectors", "strings", "series", "graphs", "sets", "records")
    assert {name for kind in kinds for name in names(kind)} == set(names())
    assert set(names()) >= KERNELS.keys() - {"dot_product"}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gausian", "did you mean 'gaussian'"),
        ("qqqq", "allowed: cosine, dot_product, dynamic_time_warping"),
        ("scipy.canbera", "did you mean 'scipy.canberra'"),
        ("dot_product", "'kernel'"),
        (3, "'kernel'"),
    ],
)
def test_everything_else_is_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        as_kernel(spec)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("model", [BBSClassifier(84, C=1.0, random_state=0), KernelSVM()])
def test_a_pair_is_computed_once_in_a_process(model, symmetric):
    """Over fits, folds and values of a grid search, and for new objects with the function."""
    calls, n_calls = Counter(), 0

    def alignment(a, b):
        nonlocal n_calls
        n_calls += 1
        calls[a, b] += 1
        return float(sum(x == y for x, y in zip(a, b, strict=False)))

    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcd"), 12)) for _ in range(106)]
    y = np.array([word.count("a") > 2 for word in words])
    plain = CallableKernel(alignment)
    expected, gram = plain(words, words[:7]), plain(words)
    calls.clear()
    kernel = CallableKernel(alignment, cache=True, symmetric=symmetric)
    compared_by = {"similarity" if "similarity" in model.get_params() else "kernel": kernel}
    search = GridSearchCV(clone(model).set_params(**compared_by), {"C": [0.1, 1, 10]}, cv=5)
    search.fit(words, y).predict(words)
    assert max(calls.values()) == 1
    assert sum(calls.values()) <= (6000 if symmetric else 12000)
    again = clone(kernel)
    np.testing.assert_array_equal(again(words, words[:7]), expected)
    np.testing.assert_array_equal(again(words), gram)
    calls.clear()
    again(words)
    again([np.str_(word) for word in words])
    assert not calls
    # without a cache the mirrored pairs of a call are the same
    fresh = [f"{word}d" for word in words]
    CallableKernel(alignment, symmetric=symmetric)(fresh)
    assert len(calls) == (106 * 107 // 2 if symmetric else 106**2)


@pytest.mark.parametrize("how", [{}, {"n_jobs": 2}, {"cache": True, "symmetric": True}])
def test_a_bar_shows_how_many_pairs_are_done(how, capsys):
    kernel = CallableKernel(asymmetric, takes="points", verbose=True, **how)
    plain = CallableKernel(asymmetric, takes="points", **how)
    np.testing.assert_array_equal(kernel(GRAPHS[:30], GRAPHS), plain(GRAPHS[:30], GRAPHS))
    shown = capsys.readouterr()
    assert f"{30 * len(GRAPHS)}/{30 * len(GRAPHS)}" in shown.err
    assert not shown.out


def test_points_that_compute_otherwise_have_values_of_their_own():
    kernel = CallableKernel(lambda a, b: float(a + a - b), takes="points", cache=True)
    with np.errstate(over="ignore"):
        small = kernel([np.uint8(200)], [np.uint8(1)])
    assert small[0, 0] == np.uint8(143)
    assert kernel([200], [1])[0, 0] == 399


def test_values_of_one_order_are_not_those_of_both():
    def further(a, b):
        return float(a - b)

    CallableKernel(further, takes="points", cache=True, symmetric=True)([1.0, 2.0])
    both = CallableKernel(further, takes="points", cache=True)([1.0, 2.0])
    np.testing.assert_array_equal(both, [[0, -1], [1, 0]])


def test_threads_share_what_is_known(monkeypatch, request):
    request.addfinalizer(partial(sys.setswitchinterval, sys.getswitchinterval()))
    sys.setswitchinterval(1e-6)
    monkeypatch.setattr(known_pairs, "_MOST_KNOWN", 1000)

    def gap(a, b):
        time.sleep(1e-4)
        return abs(a - b) * 0.5

    kernel, rng = CallableKernel(gap, takes="points", cache=True, symmetric=True), np.random
    some = [(rng.permutation(60)[:9], rng.permutation(60)[:15]) for _ in range(40)]
    values = joblib.Parallel(4, prefer="threads", batch_size=1)(
        joblib.delayed(kernel)(list(left), list(right)) for left, right in some
    )
    for (left, right), found in zip(some, values, strict=True):
        np.testing.assert_array_equal(found, abs(left[:, None] - right) * 0.5)


def test_a_kernel_of_a_config_keeps_pairs_too():
    calls = []

    def longer(a, b):
        calls.append((a, b))
        return float(len(a) > len(b))

    for _ in range(2):  # a trial makes it anew
        kernel_class(longer, "longer")(cache=True)(list("abc"), list("abc"))
    assert len(calls) == 9 + 2  # and one to see what it takes


def test_a_cache_without_effect_is_told():
    with pytest.warns(UserWarning, match="takes matrices"):
        CallableKernel(lambda X, Y: X @ Y.T, cache=True)(np.eye(3))
    points = [lambda: 1, lambda: 2]
    with pytest.warns(UserWarning, match="cannot be pickled"):
        CallableKernel(lambda a, b: a() * b(), takes="points", cache=True)(points)
