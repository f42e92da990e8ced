"""
Strings, by their edits
=======================

Misspelt names, each class the spellings of one of twenty names: a new spelling is compared with
forty of those known. A generator draws the data; lists of your own do as well.
"""

from kernlearn.datasets import misspelt_words
from kernlearn.landmarks import BBSClassifier

data = misspelt_words(800, typos=1.5, random_state=0)
names, y = data.data, data.target_names[data.target]
model = BBSClassifier(40, similarity="rapidfuzz.jaro_winkler", C=10.0, random_state=0)
model.fit(names[:500], y[:500])
print(names[500:503], "are spellings of", model.predict(names[500:503]))
print(f"accuracy {model.score(names[500:], y[500:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# The nearest neighbour by the same similarity compares with all of them.

from kernlearn.landmarks import SimilarityKNNClassifier

nearest = SimilarityKNNClassifier(1, similarity="rapidfuzz.jaro_winkler").fit(names[:500], y[:500])
best = nearest.score(names[500:], y[500:])
print(f"nearest neighbour: accuracy {best:.3f}, 500 comparisons")

# %%
# More landmarks come near to it, at a fraction of its comparisons; the line is the neighbour's.

import altair as alt
import pandas as pd

rows = []
for d in (5, 10, 20, 40, 80):
    model.set_params(n_landmarks=d).fit(names[:500], y[:500])
    rows.append({"comparisons": d, "accuracy": model.score(names[500:], y[500:])})
alt.layer(
    alt.Chart(pd.DataFrame(rows))
    .mark_line(point=True)
    .encode(
        alt.X("comparisons", scale=alt.Scale(type="log")),
        alt.Y("accuracy", scale=alt.Scale(zero=False)),
    ),
    alt.Chart(pd.DataFrame({"accuracy": [best]}))
    .mark_rule(strokeDash=[4, 4], color="firebrick")
    .encode(y="accuracy"),
)
