import numpy as np
import pytest
from sklearn.datasets import load_iris

from kernlearn import memory

N_ROWS = 7


@pytest.fixture
def small_blocks(monkeypatch):
    """Return a function after which similarities are computed in blocks of N_ROWS rows."""

    def set_size():
        monkeypatch.setattr(memory, "BLOCK_BYTES", 1)
        monkeypatch.setattr(memory, "FEWEST_ROWS", N_ROWS)

    return set_size


@pytest.fixture(scope="session")
def iris():
    """Iris with noise, in random order, with names of classes."""
    X, y = load_iris(return_X_y=True)
    order = np.random.RandomState(1).permutation(len(X))
    X = X + np.random.RandomState(2).normal(scale=0.5, size=X.shape)
    return X[order], np.array(["setosa", "versicolor", "virginica"])[y[order]]
