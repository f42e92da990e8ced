"""
Landmarks beside nearest neighbours
===================================

How accurate a method is, and how many training points it compares a new one with: means over 13
sets of time series, by the best of nine elastic distances for each method, as the experiment
``series`` measured them. Lines join 10, 30 and 100 landmarks.
"""

import json
from pathlib import Path

import altair as alt
import pandas as pd

import kernlearn

measured = Path(kernlearn.__file__).parents[1] / "results" / "measured" / "series.csv"
methods = ["1-NN", "k-NN", "SVM, clipped", "BBS", "Nystroem", "landmark k-NN, 10 refined"]
rows = pd.read_csv(measured)
rows = rows[rows["method"].isin(methods) & rows["metric"].isin(["accuracy", "comparisons"])]
landmarks = rows["params"].map(lambda text: json.loads(text).get("n_landmarks", 0))
means = (
    rows.assign(landmarks=landmarks)
    .pivot_table(index=["method", "landmarks"], columns="metric", values="mean")
    .reset_index()
)
alt.Chart(means).mark_line(point={"size": 60}).encode(
    alt.X("comparisons", scale=alt.Scale(type="log", domain=[8, 400]), title="comparisons"),
    alt.Y("accuracy", scale=alt.Scale(zero=False), axis=alt.Axis(format="%")),
    alt.Color("method", sort=methods, title=None),
    order="landmarks",
).properties(width=420, height=300)
