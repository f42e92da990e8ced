"""Similarities of training points to each other, from a matrix, that count what is asked for."""

import numpy as np


class Matrix:
    def __init__(self, values, is_distance=False):
        """A distance is given with the other sign, as `KeptSimilarities` does."""
        self.values, self.is_distance = np.asarray(values), is_distance
        self.columns, self.n_diagonals, self.parts = [], 0, []

    def column(self, i):
        self.columns.append(int(i))
        return self.values[:, i]

    def diagonal(self):
        self.n_diagonals += 1
        return self.values.diagonal()

    def part(self, rows, which, *, keep=False):
        self.parts.append((len(rows), len(which)))
        return self.values[np.ix_(rows, which)]

    @property
    def n_values(self):
        """Values asked for, without the diagonal."""
        of_columns = len(set(self.columns)) * len(self.values)
        return of_columns + sum(height * width for height, width in self.parts)
