"""Bias of the feature maps that are unbiased by construction, over 1000 draws.

A draw's relative error in the direction of the kernel is ⟨ZZᵀ − K, K⟩ / ‖K‖², over pairs of points
of norm 1 with a mean. Its mean over the draws is to be within its standard error: by chance 68 of
100 means are, and 95 within two. The figure is the mean in standard errors.
"""

from itertools import product
from time import perf_counter

import numpy as np
from scipy import stats
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row
from kernlearn.features import RandomMaclaurin, TensorSketch
from kernlearn.kernels import ExponentialKernel, PolynomialKernel

_DRAWS, _COLUMNS, _POINTS = 1000, 100, 30
_KERNELS = {
    "degree 3": PolynomialKernel(3),
    "degree 7": PolynomialKernel(7),
    "degree 10": PolynomialKernel(10),
    "exponential": ExponentialKernel(sigma=1.0),
}
_H01 = {"h01": True, "include_exact": True}
_BEST = {**_H01, "measure": "variance"}
_MAPS = {
    "RF": RandomMaclaurin(),
    "H0/1": RandomMaclaurin(**_H01),
    "variance": RandomMaclaurin(**_BEST),
    "variance, complex": RandomMaclaurin(**_BEST, complex_to_real=True),
    "centred, variance, complex": RandomMaclaurin(**_BEST, center=True, complex_to_real=True),
    "TensorSketch": TensorSketch(),
}
#: Maps of one kind of kernel.
_ONLY = {"TensorSketch": "degree"}


def run() -> list[Row]:
    """Measure all maps; the last row has the share of means within two standard errors."""
    with threadpool_limits(1):
        rows = [
            _bias(name, kernel)
            for name, kernel in product(_MAPS, _KERNELS)
            if kernel.startswith(_ONLY.get(name, ""))
        ]
    inside, n = sum(row.ratio <= 2 for row in rows), len(rows)
    # so few or fewer with a probability of one percent
    least = float(stats.binom.ppf(0.01, n, 0.954)) / n
    share = Row(f"share of {n} means within two standard errors", 0.0, inside / n, at_least=least)
    return [*rows, share]


def _bias(name: str, kernel: str) -> Row:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((_POINTS, 20)) + 0.3
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    K = _KERNELS[kernel](X)
    errors = np.empty(_DRAWS)
    start = perf_counter()
    for seed in range(_DRAWS):
        model = clone(_MAPS[name]).set_params(
            kernel=_KERNELS[kernel], n_components=_COLUMNS, random_state=seed
        )
        Z = model.fit_transform(X)
        errors[seed] = ((Z @ Z.T - K) * K).sum() / (K * K).sum()
    seconds = perf_counter() - start
    size = abs(errors.mean()) / (errors.std(ddof=1) / np.sqrt(_DRAWS))
    return Row(f"{name}, {kernel}: mean error {errors.mean():+.4f}", seconds, size)
