"""Defaults of models on landmarks beside scikit-learn's Nyström features, on real data.

Nine sets of numbers (R², with 200 landmarks, beside Nystroem and RidgeCV of the same width) and
twelve of classes (accuracy, with 100, beside an SVC); five splits of at most 6000 rows, features
and targets standardised. C is the largest that was chosen. Files are those of `KERNLEARN_DATA`:
``python -m benchmarks.default_lists``.
"""

import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from kernlearn.datasets import load
from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import BBSClassifier, FTuneClassifier, RegLand, SparseRegLand

NUMBERS = (
    "abalone bodyfat california_housing cpu_small pumadyn_8fm pumadyn_8nh pumadyn_32nm bank_8fm "
    "house_8l"
)
CLASSES = (
    "satimage segment pendigits magic spambase german diabetes ionosphere waveform optdigits "
    "letter steel_plates_faults"
)


def split(name: str, seed: int, *, has_classes: bool) -> list[np.ndarray]:
    """Return standardised training and test points, and their targets."""
    bunch = load(name)
    X, y = bunch.data, np.asarray(bunch.target)
    X = np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=float)
    rows = np.random.RandomState(seed).permutation(len(y))[:6000]
    X, y = X[rows], y[rows]
    classes = y if has_classes else None
    parts = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=classes)
    scaler = StandardScaler().fit(parts[0])
    parts[:2] = map(scaler.transform, parts[:2])
    if not has_classes:
        mean, deviation = parts[2].mean(), parts[2].std()
        parts[2:] = [(part - mean) / deviation for part in parts[2:]]
    return parts


def models(X: np.ndarray, seed: int, *, has_classes: bool) -> dict[str, BaseEstimator]:
    """Return the models to compare."""
    if has_classes:
        own = {
            cls.__name__: cls(100, random_state=seed) for cls in (BBSClassifier, FTuneClassifier)
        }
        return {**own, "SVC": SVC()}
    gamma = 1 / (2 * GaussianKernel().fit(X).sigma_ ** 2)
    features = Nystroem(gamma=gamma, n_components=200, random_state=seed)
    return {
        "RegLand": RegLand(200, random_state=seed),
        "SparseRegLand": SparseRegLand(200, 500, random_state=seed),
        "Nystroem": make_pipeline(features, RidgeCV(np.logspace(-8, 4, 25))),
    }


def main() -> None:
    """Print a line for each data set: score, seconds, and the largest C or ridge chosen."""
    for names, has_classes in ((NUMBERS, False), (CLASSES, True)):
        for name in names.split():
            found: dict[str, list[tuple[float, float, float]]] = {}
            for seed in range(5):
                X, X_test, y, y_test = split(name, seed, has_classes=has_classes)
                for label, model in models(X, seed, has_classes=has_classes).items():
                    start = time.perf_counter()
                    model.fit(X, y)
                    seconds = time.perf_counter() - start
                    chosen = getattr(model, "C_", getattr(model, "ridge_", np.nan))
                    found.setdefault(label, []).append(
                        (model.score(X_test, y_test), seconds, chosen)
                    )
            cells = []
            for label, values in found.items():
                score, seconds, _ = np.mean(values, axis=0)
                cells.append(f"{label} {score:.3f} {seconds:.2f} s {max(v[2] for v in values):g}")
            print(f"{name:20}", " | ".join(cells), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main()
