"""
Landmarks beside nearest neighbours
===================================

How accurate a method is, and how long it takes for the test part, against the number of training
points that it compares a new one with. The first panel has means over 13 sets of time series, as
the experiment ``series`` measured them, the others the strings, graphs and series of ``objects``.
Every method chose its similarity on the same held-out rows. Lines join numbers of landmarks;
dashes are the best method that compares nothing: MiniRocket, n-grams, counts of
neighbourhoods, boosting, or a linear model.
"""

import json
from pathlib import Path

import altair as alt
import pandas as pd

import kernlearn

measured = Path(kernlearn.__file__).parents[1] / "results" / "measured"
landmarks = ["BBS", "FTUNE-S, shared points", "Nystroem", "landmark k-NN"]
methods = [*landmarks, "1-NN", "k-NN", "SVM, clipped"]
features = ["MiniRocket", "n-grams", "Weisfeiler-Lehman counts", "boosted descriptors", "linear"]
rows = pd.concat(pd.read_csv(measured / f"{name}.csv") for name in ("series", "objects"))
rows["panel"] = rows["dataset"].where(rows["experiment"] == "objects", "13 sets of series")
rows["landmarks"] = rows["params"].map(lambda text: json.loads(text).get("n_landmarks", 0))
means = rows.pivot_table(
    index=["panel", "method", "landmarks"], columns="metric", values="mean"
).reset_index()
means["CPU seconds"] = means["predict_cpu_seconds"]


def panel(name: str) -> alt.VConcatChart:
    """Draw accuracies and seconds of a data set, or of several."""
    own = means[means["panel"] == name]
    columns = ["method", "landmarks", "accuracy", "comparisons", "CPU seconds"]
    shown = own.loc[own["method"].isin(methods), columns]
    base = (
        alt.Chart(shown)
        .mark_line(point={"size": 30})
        .encode(
            alt.X(
                "comparisons", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(tickCount=4)
            ),
            alt.Color("method", sort=methods, scale=alt.Scale(domain=methods), title=None),
            order="landmarks",
        )
    )
    best = own[own["method"].isin(features)].nlargest(1, "accuracy")[["accuracy", "CPU seconds"]]
    rule = alt.Chart(best).mark_rule(strokeDash=[4, 3], color="gray")
    percent = alt.Y("accuracy", scale=alt.Scale(zero=False), axis=alt.Axis(format="%"))
    seconds = alt.Y("CPU seconds", scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=3))
    size = {"width": 180, "height": 120}
    above = (base.encode(percent) + rule.encode(y="accuracy")).properties(title=name, **size)
    below = (base.encode(seconds) + rule.encode(y="CPU seconds")).properties(width=180, height=60)
    return alt.vconcat(above, below, spacing=4)


names = ["13 sets of series", "japanese_vowels", "promoters", "bbbp", "mutag", "ptc_mr"]
alt.concat(*map(panel, names), columns=3).configure_legend(orient="bottom", columns=4)
