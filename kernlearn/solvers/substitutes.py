"""scikit-learn's solvers in the place of LIBLINEAR and LIBSVM, where these are not installed.

The official bindings are compiled on installation, which needs a C++ compiler on most systems.
scikit-learn has its own editions of both: other versions, without some options, and not to be
timed.
"""

import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PROJECTS = {"LIBLINEAR": "liblinear-official", "LIBSVM": "libsvm-official"}
_MAX_STEPS = 1000


@cache
def warn_once(library: str) -> None:
    """Say that scikit-learn's edition of a library trains instead, once per process."""
    warnings.warn(
        f"the official {library} is not installed, scikit-learn's edition of it trains instead: "
        f"pip install {_PROJECTS[library]} (it needs a C++ compiler on most systems)",
        RuntimeWarning,
        stacklevel=2,
    )


def refusal(what: str, library: str) -> ImportError:
    """Return the error for what only the official library can do."""
    return ImportError(
        f"{what} needs the official {library}, which is not installed: "
        f"pip install {_PROJECTS[library]}"
    )


def linear_weights(
    X: Any,
    y: NDArray[Any],
    loss: str,
    *,
    dual: bool,
    C: float,
    tol: float,
    epsilon: float,
    class_weight: NDArray[np.float64] | None,
    seed: int,
) -> NDArray[np.float64]:
    """Train a linear model without an intercept as LIBLINEAR does.

    The arguments and the result are those of :func:`kernlearn.solvers.liblinear.solve`, with the
    rows as a matrix.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC, LinearSVR

    options: dict[str, Any] = {
        "C": C,
        "tol": tol,
        "dual": dual,
        "fit_intercept": False,
        "max_iter": _MAX_STEPS,
        "random_state": seed,
    }
    if class_weight is None:
        model = LinearSVR(loss=loss, epsilon=epsilon, **options).fit(X, y)
        return model.coef_.reshape(1, -1)
    two = len(class_weight) == 2
    weights = []
    for positive in range(1 if two else len(class_weight)):
        options["class_weight"] = {
            1: class_weight[positive],
            0: class_weight[1 - positive] if two else 1.0,
        }
        if loss == "logistic":
            binary: Any = LogisticRegression(solver="liblinear", **options)
        else:
            binary = LinearSVC(loss=loss, **options)
        weights.append(binary.fit(X, (y == positive).astype(int)).coef_[0])
    return np.array(weights)
