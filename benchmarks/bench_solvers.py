"""Speed of the LIBLINEAR and LIBSVM bridges, beside the official bindings in the same run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter
from typing import Any

from liblinear import liblinearutil
from rich.console import Console
from rich.table import Table
from sklearn.datasets import make_classification
from threadpoolctl import threadpool_limits

from kernlearn.solvers import KernelSVM, LinearSVM, _liblinear

_REPEATS = 3
_OPTIONS = "-s 2 -B 1 -q"

Row = dict[str, Any]


def run(console: Console) -> list[Row]:
    """Measure everything; one row a comparison.

    Returns
    -------
    list of dict
        ``benchmark``, ``what``, ``seconds`` (ours), ``ratio`` (ours to the other's),
        ``target`` (the ratio not to exceed, or None) and ``met``.
    """
    rows: list[Row] = []
    for measure in (_linear_fit, _linear_presolve, _linear_predict, _kernel_predict):
        console.log(f"solvers: {measure.__name__.strip('_')}")
        with threadpool_limits(1):  # LIBSVM's OpenMP too
            rows += measure()
    return rows


def _linear_fit() -> list[Row]:
    X, y = make_classification(20_000, 500, n_informative=50, random_state=0)
    inside: list[float] = []
    library = _liblinear._library

    class Timed:
        """The C library, with a clock on its ``train``."""

        def __getattr__(self, name: str) -> Any:
            return getattr(library, name)

        def train(self, *told: Any) -> Any:
            begin = perf_counter()
            model = library.train(*told)
            inside.append(perf_counter() - begin)
            return model

    _liblinear._library = Timed()
    try:
        fit = _best(lambda: LinearSVM().fit(X, y))
    finally:
        _liblinear._library = library

    def official() -> None:
        liblinearutil.train(liblinearutil.problem(y, X), _OPTIONS)

    return [
        _row("LinearSVM.fit, 20000 x 500", "time inside liblinear.train", fit, min(inside), 2.0),
        _row(
            "LinearSVM.fit, 20000 x 500",
            "official problem and train",
            fit,
            _best(official, 1),
            1.0,
        ),
    ]


def _linear_presolve() -> list[Row]:
    X, y = make_classification(
        50_000, 100, n_informative=40, n_redundant=0, class_sep=2.0, random_state=0
    )
    model = LinearSVM(C=10.0)
    cold = _best(lambda: model.fit(X, y))
    warm = _best(lambda: model.set_params(presolve=0.1).fit(X, y))
    return [_row("LinearSVM(presolve=0.1).fit, 50000 x 100", "without presolve", warm, cold, None)]


def _linear_predict() -> list[Row]:
    X, y = make_classification(2_000, 500, n_informative=50, random_state=0)
    ours = LinearSVM().fit(X, y)
    signs = 2.0 * y - 1
    model = liblinearutil.train(signs, X, _OPTIONS)
    blas = _best(lambda: ours.predict(X))
    official = _best(lambda: liblinearutil.predict(signs, X, model, "-q"), 1)
    return [_row("LinearSVM.predict, 2000 x 500", "official predict", blas, official, 0.01)]


def _kernel_predict() -> list[Row]:
    X, y = make_classification(5_000, 50, n_informative=10, flip_y=0.2, random_state=0)
    rows = []
    for kernel in ("rbf", "poly"):
        model = KernelSVM(kernel, coef0=1.0).fit(X[:3000], y[:3000])
        blas = _best(partial(model.predict, X))
        native = _best(partial(model.predict_native, X), 1)
        what = f"KernelSVM({kernel!r}).predict, 5000 x 50, {len(model.support_)} vectors"
        rows.append(_row(what, "LIBSVM's own prediction", blas, native, 0.5))
    return rows


def _best(work: Callable[[], object], repeats: int = _REPEATS) -> float:
    """Least seconds of some runs."""
    times = []
    for _ in range(repeats):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)


def _row(what: str, against: str, seconds: float, other: float, target: float | None) -> Row:
    ratio = seconds / other
    return {
        "benchmark": "solvers",
        "what": f"{what} / {against}",
        "seconds": seconds,
        "ratio": ratio,
        "target": target,
        "met": target is None or ratio <= target,
    }


def main() -> None:
    """Print the rows as a table."""
    console = Console()
    table = Table("what", "seconds", "ratio", "target", "met")
    for row in run(console):
        target = "" if row["target"] is None else f"{row['target']:g}"
        figures = (f"{row['seconds']:.3f}", f"{row['ratio']:.3f}", target)
        table.add_row(row["what"], *figures, "yes" if row["met"] else "NO")
    console.print(table)


if __name__ == "__main__":
    main()
