"""
A matrix that has been computed
===============================

If all pairs have been compared already, estimators take the matrix: rows are the points to
predict, columns the training points. This one has negative eigenvalues: it is no kernel.
"""

import numpy as np

from kernlearn.datasets import indefinite_similarity
from kernlearn.landmarks import BBSClassifier

data = indefinite_similarity(300, negative=0.3, noise=0.5, random_state=0)
S, y = data.data, data.target
train, test = np.arange(200), np.arange(200, 300)
model = BBSClassifier(30, similarity="precomputed", random_state=0)
model.fit(S[np.ix_(train, train)], y[train])
accuracy = model.score(S[np.ix_(test, train)], y[test])
print(f"accuracy {accuracy:.3f}, {model.n_comparisons_} comparisons")

# %%
# The eigenvalues, in descending order.

import altair as alt
import pandas as pd

spectrum = pd.DataFrame({"eigenvalue": np.linalg.eigvalsh(S)[::-1]}).rename_axis("number")
alt.Chart(spectrum.reset_index()).mark_bar().encode(x="number", y="eigenvalue")
