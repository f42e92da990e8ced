"""
Vectors, by a distance of SciPy
===============================

The Canberra distance compares each coordinate in proportion to its size. BBS, a linear classifier
on the similarities to landmarks, takes a distance of SciPy by its name.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from kernlearn.landmarks import BBSClassifier

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)
model = BBSClassifier(15, similarity="scipy.canberra", random_state=0).fit(X_train, y_train)
print(f"accuracy {model.score(X_test, y_test):.3f}, {model.n_comparisons_} comparisons")

# %%
# More landmarks cost more comparisons for each prediction, and mostly pay.

import altair as alt
import pandas as pd

rows = [
    {
        "comparisons": d,
        "accuracy": model.set_params(n_landmarks=d).fit(X_train, y_train).score(X_test, y_test),
    }
    for d in (2, 5, 10, 20, 40)
]
alt.Chart(pd.DataFrame(rows)).mark_line(point=True).encode(
    alt.X("comparisons", scale=alt.Scale(type="log")),
    alt.Y("accuracy", scale=alt.Scale(zero=False)),
)
