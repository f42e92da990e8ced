"""Support vector machines: the official LIBLINEAR and LIBSVM as scikit-learn estimators."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {"kernel_svm": "KernelSVM", "linear_svm": "LinearSVM LinearSVMRegressor"}
)
