"""
Random features instead of a kernel
===================================

Random Maclaurin features replace a dot-product kernel by a linear model. Their inner products
estimate the kernel. The error falls as one over the square root of the number of features.
"""

import altair as alt
import numpy as np
import pandas as pd

from kernlearn.features import RandomMaclaurin, TensorSketch
from kernlearn.kernels import PolynomialKernel

X = np.random.default_rng(0).normal(size=(200, 10))
X /= np.linalg.norm(X, axis=1, keepdims=True)
kernel = PolynomialKernel(degree=3, coef0=1.0)
K = kernel(X)
rows = []
for n in (50, 100, 200, 500, 1000):
    for name, features in {
        "RF": RandomMaclaurin(kernel, n_components=n, random_state=0),
        "H0/1": RandomMaclaurin(kernel, n_components=n, h01=True, random_state=0),
        "sketch": TensorSketch(kernel, n_components=n, random_state=0),
    }.items():
        Z = features.fit_transform(X)
        rows.append({"features": n, "error": np.abs(Z @ Z.T - K).mean(), "method": name})
alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(
    alt.X("features", scale=alt.Scale(type="log")),
    alt.Y("error", scale=alt.Scale(type="log"), title="mean error of an entry"),
    color="method",
)
