"""Former defaults of estimators, which they have in configs with ``defaults: papers``.

The key of a trial contains what its config states, and no defaults: the same key must mean the
same numbers. A trial that takes a changed default from its class says so in its key.
"""

from typing import Any

#: Former defaults by class and parameter.
PINNED: dict[str, dict[str, Any]] = {
    "CompositionalMaclaurin": {"inner": None, "n_components": 100},
    "MaclaurinSVM": {"n_components": 100},
    "SimilarityFeatureSVM": {"C": (1, 10, 100, 1000)},
    "SpectrumSVM": {"C": (1, 10, 100, 1000), "distances": "negate"},
    "KernelRegressor": {"weights": "similarity", "bandwidth": 1.0},
    "RegLand": {"C": 1.0, "loss": "epsilon_insensitive", "fit_intercept": False},
    "SparseRegLand": {"n_landmarks": 50, "pool_size": 500, "ridge": 0.0, "fit_intercept": False},
    "VotedKernelClassifier": {"kernels": None, "lam": 1e-4, "beta": 1e-4, "tol": 1e-6},
    "L1SVMClassifier": {"kernel": "polynomial", "tol": 1e-6},
}
