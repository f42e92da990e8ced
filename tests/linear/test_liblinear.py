"""The bridge to the C libraries; what users see of it is tested with the estimators."""

import ctypes
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from liblinear.liblinear import feature_node, parameter
from libsvm.svm import svm_node
from sklearn.exceptions import ConvergenceWarning

from kernlearn.linear import liblinear
from kernlearn.linear.liblinear import (
    DEFAULT_TOL,
    NODE,
    SOLVER,
    Binding,
    Settings,
    feature_rows,
    load_binding,
    solve,
)

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4))
CODES = (X[:, 0] + 0.3 * RNG.standard_normal(60) < 0).astype(int)


def fit(rows, codes, presolve=None, **changes):
    told = {"C": 1.0, "tol": 1e-8, "class_weight": np.ones(2), **changes}
    return solve(feature_rows(rows), codes, rows.shape[1], Settings(**told), presolve)


def test_the_first_class_is_positive_whatever_the_order_of_the_rows():
    turned = np.argsort(-CODES, kind="stable")
    assert CODES[0] != CODES[turned[0]]
    weights = fit(X, CODES)
    assert weights[0, 0] > 0
    np.testing.assert_allclose(fit(X[turned], CODES[turned]), weights, rtol=1e-6)


def test_the_default_tolerance_is_the_official_one():
    assert parameter(f"-s {SOLVER} -q").eps == DEFAULT_TOL


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_part_solved_first_is_scaled_to_the_whole(share, monkeypatch):
    calls = []
    train = liblinear._train

    def spy(rows, y, n_weights, settings, start):
        calls.append((len(rows), settings.C, start))
        return train(rows, y, n_weights, settings, start)

    monkeypatch.setattr(liblinear, "_train", spy)
    fit(X, CODES, share)
    (n_part, part_C, no_start), (n_all, full_C, start) = calls
    assert (n_part, n_all) == (np.ceil(share * 60), 60)
    assert (part_C, full_C) == (pytest.approx(60 / n_part), 1)
    assert no_start is None
    assert start.shape == (1, 4)
    calls.clear()
    rare = np.zeros(60, int)
    rare[7] = 1
    fit(X, rare, 0.2)  # one of the classes is missing in the part
    assert [n_rows for n_rows, *_ in calls] == [60]


def test_a_better_start_saves_newton_iterations():
    solution = fit(X, CODES)
    by_class = np.argsort(CODES, kind="stable")
    rows, y = feature_rows(X).take(by_class), CODES[by_class]
    settings = Settings(1.0, 1e-6, np.ones(2))
    cold, warm = (liblinear._train(rows, y, 4, settings, s)[1] for s in (None, solution))
    assert cold.count("CG") > 0
    assert warm.count("CG") == 0


@pytest.mark.parametrize("text", list(liblinear._ADVICE))
def test_every_complaint_becomes_a_warning(text, monkeypatch):
    monkeypatch.setattr(liblinear, "_train", lambda *told: (np.zeros((1, 4)), f"WARNING: {text}"))
    with pytest.warns(ConvergenceWarning, match="solver"):
        fit(X, CODES)


def test_a_binding_that_is_not_there_says_what_installs_it():
    with pytest.raises(ImportError, match="pip install none-official"):
        load_binding("none", "no_such_module", "print")


def test_threads_share_one_binding():
    def load(_):
        return load_binding("liblinear", "liblinear.liblinear", "set_print_string_function")

    with ThreadPoolExecutor(4) as threads:
        assert len({id(one) for one in threads.map(load, range(8))}) == 1


def test_estimators_are_imported_without_bindings():
    code = "import sys; from kernlearn.landmarks import *; from kernlearn.linear import *; "
    code += "from kernlearn.svm import *; "
    code += "sys.exit(any(name in sys.modules for name in ('liblinear', 'libsvm', 'numba')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Library:
    """A fake C library with one print hook per process."""

    def __init__(self):
        self.hook = None

    def install(self, hook):
        self.hook = hook

    def say(self, text):
        assert self.hook, "would go to the terminal"
        self.hook(text)


def test_each_thread_hears_itself_and_others_print(capsys):
    library = Library()
    binding = Binding(None, library, library.install)
    inside, outside = threading.Event(), threading.Event()

    def train_here():
        inside.wait(10)
        library.say(b"one ")
        stranger = threading.Thread(target=library.say, args=(b"stranger",))
        stranger.start()
        stranger.join(10)
        library.say(b"two")
        return "result"

    def train_there():
        inside.set()
        outside.wait(10)
        library.say(b"there")

    with ThreadPoolExecutor(1) as threads:
        there = threads.submit(binding.call, train_there, None)
        assert binding.call(train_here, None) == ("result", "one two")
        outside.set()  # the first to end leaves the hook to the other
        assert there.result(10) == (None, "there")
    assert capsys.readouterr().out == "stranger"
    library.say(b"three")
    assert capsys.readouterr().out == "three"


def read(rows):
    """What C sees: from each address (index, value) up to index -1."""
    pointers = rows.pointer(svm_node)
    found = []
    for i in range(len(rows)):
        row, j = [], 0
        while pointers[i][j].index != -1:
            row.append((pointers[i][j].index, pointers[i][j].value))
            j += 1
        found.append(row)
    return found


def slow_rows(matrix, constant, keep_zeros):
    found = []
    for x in matrix:
        row = [(j + 1, float(v)) for j, v in enumerate(x) if keep_zeros or v != 0]
        found.append([*row, (len(x) + 1, 1.0)] if constant else row)
    return found


MATRICES = hnp.arrays(
    st.sampled_from([np.float64, np.float32]),
    st.tuples(st.integers(1, 8), st.integers(1, 6)),
    elements=st.sampled_from([0.0, 0.0, 1.0, -2.5, 3.25]),
)


@given(MATRICES, st.booleans(), st.sampled_from([None, np.int32, np.int64]))
@settings(max_examples=200, deadline=None)
def test_rows_are_the_slow_ones(matrix, constant, index_type):
    points, keep_zeros = matrix, np.count_nonzero(matrix) >= 0.6 * matrix.size
    if index_type is not None:
        points, keep_zeros = sp.csr_array(matrix), False
        points.indices = points.indices.astype(index_type)
        points.indptr = points.indptr.astype(index_type)
    rows = feature_rows(points, constant=constant)
    assert read(rows) == slow_rows(matrix, constant, keep_zeros)


@pytest.mark.parametrize("density", [0.1, 0.9])
@pytest.mark.parametrize("as_sparse", [False, True])
def test_rows_of_many_blocks(density, as_sparse):
    matrix = RNG.standard_normal((3000, 40)) * (RNG.random((3000, 40)) < density)
    keep_zeros = density > 0.6 and not as_sparse
    rows = feature_rows(sp.csr_array(matrix) if as_sparse else matrix, constant=True)
    assert rows.nodes.size == (matrix.size if keep_zeros else np.count_nonzero(matrix)) + 6000
    assert read(rows) == slow_rows(matrix, True, keep_zeros)


def test_unsorted_and_repeated_indices_are_put_right_in_a_copy():
    matrix = sp.csr_array((np.array([1.0, 2.0, 4.0]), np.array([2, 0, 2]), np.array([0, 3])))
    assert read(feature_rows(matrix)) == [[(1, 2.0), (3, 5.0)]]
    np.testing.assert_array_equal(matrix.indices, [2, 0, 2])


@pytest.mark.parametrize("official", [feature_node, svm_node])
def test_nodes_are_laid_out_as_in_c(official):
    assert NODE.itemsize == ctypes.sizeof(official)
    for name in ("index", "value"):
        assert NODE.fields[name][1] == getattr(official, name).offset
