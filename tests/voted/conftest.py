import numpy as np
import pytest

from kernlearn.voted.problem import VotedProblem


def make_problem(seed, m=20, n_kernels=3, kind="random", lam=0.01, beta=0.01):
    """A problem whose kernels are of a kind: random numbers, polynomials, indefinite."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(m, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=m) > 0, 1.0, -1.0)
    inner = X @ X.T
    grams = {
        "random": lambda k: rng.normal(size=(m, m)),
        "polynomial": lambda k: (inner + 1) ** (k + 1),
        "indefinite": lambda k: np.tanh((k + 1) * inner - 1),
    }[kind]
    grams = np.array([grams(k) for k in range(n_kernels)])
    return VotedProblem(grams, y, lam * (1.0 + np.arange(n_kernels)) + beta)


@pytest.fixture
def problem_of():
    return make_problem
