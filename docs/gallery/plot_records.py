"""
Records that mix types
======================

Homes by their street, a text that is not always spelt alike, and by numbers. Each part of a record
has a similarity of its own; their weighted mean compares two records.
"""

import numpy as np
import pandas as pd

from kernlearn.kernels import ColumnSimilarity, named
from kernlearn.landmarks import BBSClassifier

rng = np.random.default_rng(0)
y = rng.integers(2, size=400)
streets = np.array(
    [["Mill Lane", "Mill Ln.", "Mill lane"], ["High Street", "High St.", "high street"]]
)
ways = np.where(rng.uniform(size=400) < 0.7, y, 1 - y)
homes = pd.DataFrame(
    {
        "street": streets[ways, rng.integers(3, size=400)],
        "rooms": rng.poisson(3 + 2 * y),
        "age": rng.exponential(40 - 15 * y),
    }
)
size = named("scipy.cityblock", turn="exponential")
parts = [("street", "rapidfuzz.token_ratio", "street"), ("size", size, ["rooms", "age"])]
model = BBSClassifier(20, similarity=ColumnSimilarity(parts), random_state=0)
model.fit(homes[:250], y[:250])
print(f"accuracy {model.score(homes[250:], y[250:]):.3f}, {model.n_comparisons_} comparisons")

# %%
# The homes, by the first word of the street: neither part alone tells the classes apart.

import altair as alt

words = homes["street"].str.split().str[0].str.lower()
alt.Chart(homes.assign(kind=y, street=words)).mark_circle().encode(
    x="age", y="rooms:O", color="kind:N", column="street"
).properties(width=200, height=200)
