"""
Which points to take as landmarks
=================================

Nyström features are those of a kernel, projected to the span of a few points. How these are chosen
decides how near the features come to the kernel.
"""

import altair as alt
import numpy as np
import pandas as pd

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import NystroemEmbedding

X = np.random.default_rng(0).standard_t(4, size=(400, 2))
kernel = GaussianKernel(sigma=1.5)
K = kernel(X, X)
rows = []
for selection in ("random", "kmeans++", "leverage", "rpcholesky"):
    for n in (10, 20, 40, 80):
        features = NystroemEmbedding(kernel, n, selection=selection, random_state=0)
        Z = features.fit_transform(X)
        rows.append({"landmarks": n, "error": np.abs(K - Z @ Z.T).mean(), "selection": selection})
alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(
    alt.X("landmarks", scale=alt.Scale(type="log")),
    alt.Y("error", scale=alt.Scale(type="log"), title="mean error of an entry"),
    color="selection",
)
