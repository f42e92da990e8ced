"""
Which landmarks decide
======================

A prediction of a model on landmarks is a sum. ``contributions`` names the landmarks, the
similarities to them, their weights, and what each adds. First a string: families of plants and of
animals, by the edit distance.
"""

from kernlearn.landmarks import BBSClassifier

plants = "Rosaceae Fabaceae Poaceae Apiaceae Lamiaceae Asteraceae Ericaceae Pinaceae Fagaceae"
animals = "Felidae Canidae Ursidae Bovidae Cervidae Equidae Suidae Hominidae Mustelidae"
names = [*plants.split(), *animals.split()]
kinds = ["plant"] * 9 + ["animal"] * 9
model = BBSClassifier(6, similarity="levenshtein", C=10, random_state=0).fit(names, kinds)

name = "Betulaceae"
terms = model.contributions([name]).to_frame()
terms["name"] = [names[row] for row in terms["landmark"]]
print(terms.drop(columns=["sample", "class"]).round(2).to_string(index=False))
print(f"sum {terms['share'].sum():.2f}, above 0: {model.predict([name])[0]}")

# %%
# Then a series, by dynamic time warping (the extra ``series``): two kinds of waves. The point is
# the first, then come the three landmarks that decide most; above 0 speaks for kind 1.

import altair as alt
import numpy as np
import pandas as pd

from kernlearn.kernels import LibrarySimilarity

rng = np.random.default_rng(0)
y = rng.integers(2, size=200)
times = [np.linspace(0, 4 * np.pi * rng.uniform(0.7, 1.3), rng.integers(30, 60)) for _ in y]
series = [
    np.sin(t) + 0.5 * k * np.sin(2 * t) + rng.normal(0, 0.1, len(t))
    for t, k in zip(times, y, strict=True)
]
warping = LibrarySimilarity("aeon.dtw", turn="exponential")
waves = BBSClassifier(20, similarity=warping, C=1, random_state=0).fit(series[1:], y[1:])
parts = waves.contributions(series[:1])
most = np.abs(parts.shares[0]).argsort()[::-1][:3]
titles = [
    f"{k + 1}. kind {y[1:][parts.landmarks[i]]}: {parts.shares[0, i]:+.2f}"
    for k, i in enumerate(most)
]
shown = [series[0], *(series[1:][row] for row in parts.landmarks[most])]
points = pd.concat(
    pd.DataFrame({"time": range(len(values)), "value": values, "series": title})
    for values, title in zip(shown, [f"0. the point, kind {y[0]}", *titles], strict=True)
)
alt.Chart(points).mark_line().encode(
    x="time", y="value", facet=alt.Facet("series", title=None, columns=2)
).properties(width=220, height=110)
