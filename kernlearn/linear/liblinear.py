"""Bridge to LIBLINEAR's primal solver of the squared hinge, and what it shares with LIBSVM's.

Both libraries read rows in the same layout, and report only by printing. To load one takes a third
of a second, since each binding imports Numba: they are loaded when they first train or predict.
"""

import ctypes
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.ctypeslib import as_ctypes
from sklearn.exceptions import ConvergenceWarning

from kernlearn.memory import interruptible, row_blocks
from kernlearn.validation import warn

#: LIBLINEAR's number of the solver (``-s``), and its own stopping tolerance (``-e``).
SOLVER = 2
DEFAULT_TOL = 0.01

#: ``struct feature_node`` of LIBLINEAR, which is ``struct svm_node`` of LIBSVM.
NODE = np.dtype([("index", np.int32), ("value", np.float64)], align=True)
#: A dense array with a smaller share of nonzeros than this is copied without its zeros.
DENSE_FROM = 0.6

_END = -1  # index of the node that ends a row
_ADVICE = {
    "reaching max number of Newton iterations": "the primal solver did not converge in 1000 "
    "iterations: scale the features, lower C or raise tol",
    "line search fails": "the primal solver stopped at a failed line search, short of the "
    "tolerance: raise tol or scale the features",
}
_loading = threading.Lock()
_bindings: dict[str, "Binding"] = {}

T = TypeVar("T")


@dataclass(frozen=True)
class Settings:
    """LIBLINEAR's parameters; `class_weight` is the factor on C by class code."""

    C: float
    tol: float
    class_weight: np.ndarray


def solve(
    rows: "NodeRows",
    codes: np.ndarray,
    n_weights: int,
    settings: Settings,
    presolve: float | None = None,
) -> np.ndarray:
    """Train, optionally from the solution on evenly spaced rows.

    These are a share `presolve` of the rows; if a class is missing there, it is not used.
    `codes` are class codes 0, 1, ..., and `n_weights` is the number of features including a
    constant one. The result has shape (n_problems, n_weights), with one problem for two classes,
    otherwise one per class. Weights for two classes are positive for class 0, independently of
    the order of the rows.

    Raises
    ------
    ImportError
        If LIBLINEAR is not installed.

    Warns
    -----
    ConvergenceWarning
        If LIBLINEAR stopped before it reached the tolerance.
    """
    # Sorted by class: LIBLINEAR's first class is the one of the first row.
    by_class = np.argsort(codes, kind="stable")
    rows, codes, start = rows.take(by_class), codes[by_class], None
    if presolve is not None:
        part, factor = first_part(len(rows), presolve)
        if len(np.unique(codes[part])) == len(settings.class_weight):
            scaled = replace(settings, C=settings.C * factor)
            start, _ = _train(rows.take(part), codes[part], n_weights, scaled, None)
    weights, output = _train(rows, codes, n_weights, settings, start)
    for text, advice in _ADVICE.items():
        if text in output:
            warn(advice, ConvergenceWarning)
            break
    return weights


def first_part(n_rows: int, share: float) -> tuple[np.ndarray, float]:
    """Return evenly spaced rows to solve first, and the factor on C for them.

    The sum of the losses has fewer terms there, which a larger C compensates.
    """
    n_part = int(np.ceil(share * n_rows))
    return np.arange(n_part) * n_rows // n_part, n_rows / n_part


def _train(
    rows: "NodeRows",
    codes: np.ndarray,
    n_weights: int,
    settings: Settings,
    start: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Call LIBLINEAR's ``train``; return the weights and the output that it printed."""
    binding = load_binding("liblinear", "liblinear.liblinear", "set_print_string_function")
    official, library = binding.module, binding.library
    # The official constructors loop over the data and reset the print hook: not called.
    problem = official.problem.__new__(official.problem)
    problem.l, problem.n, problem.bias = len(rows), n_weights, -1.0
    problem.y = _doubles(codes)
    problem.x = rows.pointer(official.feature_node)
    parameter = official.parameter.__new__(official.parameter)
    parameter.set_to_default_values()
    parameter.solver_type, parameter.C, parameter.eps = SOLVER, settings.C, settings.tol
    n_classes = parameter.nr_weight = len(settings.class_weight)
    parameter.weight_label = as_ctypes(np.arange(n_classes, dtype=np.int32))
    parameter.weight = _doubles(settings.class_weight)
    if start is not None:
        parameter.init_sol = _doubles(start.T)
    model, output = binding.call(lambda: library.train(problem, parameter), rows)
    try:
        n_problems = 1 if n_classes == 2 else n_classes
        flat = np.ctypeslib.as_array(model.contents.w, (n_weights, n_problems))
        return flat.T.copy(), output
    finally:
        library.free_and_destroy_model(ctypes.byref(model))


def _doubles(values: np.ndarray) -> Any:
    """Return a C array, kept alive by the structure that it is assigned to."""
    return as_ctypes(np.array(values, dtype=np.float64).ravel())


class Binding:
    """An official binding: its module, the compiled library, and the output of that by thread.

    The libraries report non-convergence only by printing, through one function pointer per
    process, which `set_hook` sets. What a library prints goes to the thread that trains.
    """

    def __init__(self, module: Any, library: Any, set_hook: Callable[[Any], None]) -> None:
        self.module, self.library, self._set_hook = module, library, set_hook
        # the library stores the bare pointer for longer than one call
        self._hook = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(self._record)
        self._thread = threading.local()

    def call(self, train: Callable[[], T], rows: Any) -> tuple[T, str]:
        """Return what a call of the library returns, and what it prints meanwhile.

        The `rows` that it reads live as long as it runs, also after an interrupt.
        """
        # each thread has its own number of OpenMP threads, where the library has any
        n_threads = getattr(self.library, "omp_get_max_threads", int)()

        def work(_: Any = rows) -> tuple[T, str]:
            if n_threads:
                self.library.omp_set_num_threads(n_threads)
            texts: list[str] = []
            self._thread.texts = texts
            self._set_hook(self._hook)
            try:
                return train(), "".join(texts)
            finally:
                self._thread.texts = None

        return interruptible(work)

    def _record(self, text: bytes) -> None:
        texts = getattr(self._thread, "texts", None)
        if texts is None:  # somebody else's training: printed, as without a hook
            print(text.decode("ascii", "replace"), end="")
        else:
            texts.append(text.decode("ascii", "replace"))


def load_binding(library: str, module: str, print_function: str) -> Binding:
    """Load the binding of a library once.

    `print_function` is the name of the library's function that takes another one to print with.

    Raises
    ------
    ImportError
        If it is not installed, or cannot load its library.
    """
    with _loading:  # one hook per library, whichever thread is first
        if library not in _bindings:
            try:
                loaded = import_module(module)
            except Exception as error:  # they raise a bare Exception without their library
                raise ImportError(
                    f"{library.upper()} is not installed: pip install {library}-official (it "
                    "needs a C++ compiler on most systems)"
                ) from error
            compiled = getattr(loaded, library)
            _bindings[library] = Binding(loaded, compiled, getattr(compiled, print_function))
        return _bindings[library]


@dataclass(frozen=True)
class NodeRows:
    """Rows of nodes in one buffer, each ended by a node with index -1.

    `addresses`, of dtype uintp, are where each row starts. They are valid as long as this object,
    or one taken from it, lives.
    """

    nodes: np.ndarray
    addresses: np.ndarray

    @classmethod
    def starting_at(cls, nodes: np.ndarray, starts: np.ndarray) -> Self:
        """Return rows that start at positions in a buffer."""
        return cls(nodes, (nodes.ctypes.data + starts * NODE.itemsize).astype(np.uintp))

    def __len__(self) -> int:
        return len(self.addresses)

    def take(self, rows: np.ndarray) -> Self:
        """Select rows, without a copy of their nodes."""
        return type(self)(self.nodes, self.addresses[rows])

    def pointer(self, node_type: type[ctypes.Structure]) -> Any:
        """Return the addresses as a C ``node **``."""
        kind = ctypes.POINTER(ctypes.POINTER(node_type))
        return ctypes.cast(self.addresses.ctypes.data, kind)


def feature_rows(X: Any, *, constant: bool = False) -> NodeRows:
    """Convert the rows of a matrix to nodes, feature j with index j + 1.

    The constructors of the official bindings loop over values in Python. Zeros of a dense array
    are dropped where less than 60 % of its values are nonzero. With `constant`, there is an
    additional feature of 1, with index n_features + 1.
    """
    n_rows, n_features = X.shape
    n_extra = 2 if constant else 1
    if sp.issparse(X) or np.count_nonzero(X) < DENSE_FROM * X.size:
        csr = sp.csr_array(X, copy=True)
        csr.sum_duplicates()  # LIBSVM needs ascending, unique indices
        counts = np.diff(csr.indptr)
        ends = np.cumsum(counts.astype(np.intp) + n_extra)
        nodes = np.empty(csr.nnz + n_extra * n_rows, NODE)
        places = np.arange(csr.nnz) + np.repeat(np.arange(n_rows) * n_extra, counts)
        nodes["index"][places] = csr.indices + 1
        nodes["value"][places] = csr.data
        nodes["index"][ends - 1] = _END
        if constant:
            nodes["index"][ends - 2] = n_features + 1
            nodes["value"][ends - 2] = 1.0
        return NodeRows.starting_at(nodes, ends - counts - n_extra)
    width = n_features + n_extra
    nodes = np.empty((n_rows, width), NODE)
    index = np.arange(1, width + 1)
    index[-1] = _END
    for batch in row_blocks(n_rows, width, itemsize=NODE.itemsize):
        nodes["index"][batch] = index
        nodes["value"][batch, :n_features] = X[batch]
    if constant:
        nodes["value"][:, n_features] = 1.0
    return NodeRows.starting_at(nodes, np.arange(n_rows) * width)
