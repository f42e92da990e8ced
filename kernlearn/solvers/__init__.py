"""Support vector solvers: the official LIBLINEAR and LIBSVM as scikit-learn estimators."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "KernelSVM": "_kernel_svm",
        "LinearSVM": "_linear_svm",
        "LinearSVMRegressor": "_linear_svr",
    },
)
