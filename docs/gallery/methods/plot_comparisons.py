"""
Landmarks beside nearest neighbours
===================================

How accurate a method is, and how many seconds it takes for the test part, against the number of
training points that it compares a new one with. Lines are models on landmarks. Single marks are
methods that compare with all training points. The dotted line is the best method that compares
nothing. The first panel has means over the 13 sets of the experiment ``series``, the others are
the data sets of ``objects``. Each method chose its similarity on the same held-out rows.
"""

import json
from pathlib import Path

import altair as alt
import pandas as pd

import kernlearn
from kernlearn.config import find_config
from kernlearn.reports.report import read_report

measured = Path(kernlearn.__file__).parents[1] / "results" / "measured"
names = {
    "BBS": "BBS",
    "FTUNE-S, shared points": "FTUNE-S",
    "Nystroem": "Nyström",
    "landmark k-NN": "landmark k-NN",
    "1-NN": "1-NN (all points)",
    "k-NN": "k-NN (all points)",
    "SVM, clipped": "SVM (all points)",
}
features = {
    "MiniRocket": "MiniRocket",
    "n-grams": "n-grams, linear",
    "Weisfeiler-Lehman counts": "WL counts, linear",
    "boosted descriptors": "descriptors, boosting",
    "linear": "values, linear",
}
panels = {
    "series": "13 sets of series",
    "japanese_vowels": "Japanese vowels (series)",
    "promoters": "promoters (DNA)",
    "bbbp": "BBBP (molecules)",
    "mutag": "MUTAG (graphs)",
    "ptc_mr": "PTC-MR (graphs)",
}
reports = (read_report(find_config(name), measured) for name in ("series", "objects"))
rows = pd.concat(report.cells for report in reports)
rows["panel"] = rows["dataset"].where(rows["experiment"] == "objects", "series").map(panels)
rows["landmarks"] = rows["params"].map(lambda text: json.loads(text).get("n_landmarks", 0))
means = rows.pivot_table(
    index=["panel", "method", "landmarks"], columns="metric", values="mean"
).reset_index()
means["CPU seconds"] = means["predict_cpu_seconds"]
ticks = [k * 10**power for power in range(6) for k in (1, 2, 5)]


def panel(name: str, width: int = 200, height: int = 140) -> alt.VConcatChart:
    """Draw accuracies and seconds of a data set, or of several."""
    own = means[means["panel"] == name]
    columns = ["method", "landmarks", "accuracy", "comparisons", "CPU seconds"]
    shown = own.loc[own["method"].isin(names), columns].replace({"method": names})
    best = own[own["method"].isin(features)].nlargest(1, "accuracy")
    without = f"dotted: {features[best['method'].item()]}"
    title = alt.TitleParams(name, subtitle=without, subtitleColor="gray", offset=6)
    first = name in (panels["series"], panels["bbbp"])

    def drawn(y: str, axis: alt.Axis, scale: alt.Scale, labels: bool) -> alt.LayerChart:
        of_x = alt.Axis(values=ticks, labels=labels, format="d", labelOverlap=True)
        base = alt.Chart(shown).encode(
            alt.X(
                "comparisons",
                scale=alt.Scale(type="log", nice=False, padding=8),
                axis=of_x,
                title="comparisons" if labels else None,
            ),
            alt.Y(y, scale=scale, axis=axis, title=y.removeprefix("CPU ") if first else None),
            alt.Color("method", scale=alt.Scale(domain=[*names.values()]), title=None),
            order="landmarks",
        )
        # drawn over a line that it nearly equals
        dash = alt.condition("datum.method == 'Nyström'", alt.value([5, 4]), alt.value([1, 0]))
        marks = base.mark_point(filled=True, opacity=1, size=45).encode(
            alt.Shape("method", scale=alt.Scale(domain=[*names.values()]), title=None)
        )
        rule = alt.Chart(best[[y]]).mark_rule(strokeDash=[2, 2], color="gray").encode(y=y)
        return alt.layer(base.mark_line().encode(strokeDash=dash), marks, rule)

    percent = alt.Axis(format="%", tickCount=4)
    above = drawn("accuracy", percent, alt.Scale(zero=False, padding=10), False)
    decimal = alt.Axis(format="~g", values=[k / 10**5 for k in ticks], labelOverlap=True)
    below = drawn("CPU seconds", decimal, alt.Scale(type="log", nice=False, padding=8), True)
    above = above.properties(title=title, width=width, height=height)
    return alt.vconcat(above, below.properties(width=width, height=60), spacing=4)


alt.concat(*map(panel, panels.values()), columns=3).configure_legend(
    orient="top", columns=4, columnPadding=20
)
