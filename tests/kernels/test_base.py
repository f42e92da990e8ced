import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.kernels import CallableKernel, Kernel


def test_a_subclass_needs_only_a_call():
    class Manhattan(Kernel):
        def __call__(self, X, Y=None):
            Y = X if Y is None else Y
            return -np.abs(X[:, None] - Y[None]).sum(axis=2)

    kernel = clone(Manhattan())
    X = np.arange(6.0).reshape(3, 2)
    assert kernel.fit(X) is kernel
    assert not kernel.data_dependent
    np.testing.assert_array_equal(kernel(X), kernel(X, X))


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Kernel()


def test_callable_kernel_evaluates_its_function():
    X, Y = np.ones((3, 2)), np.ones((4, 2))
    kernel = CallableKernel(lambda A, B: A @ B.T)
    np.testing.assert_array_equal(kernel(X, Y), X @ Y.T)
    np.testing.assert_array_equal(kernel(X), X @ X.T)


def test_callable_kernel_checks_the_shape():
    with pytest.raises(ValueError, match=r"'function' returned .* must be \(2, 3\)"):
        CallableKernel(lambda A, B: B @ A.T)(np.ones((2, 2)), np.ones((3, 2)))


def test_callable_kernel_checks_its_function():
    with pytest.raises(ValueError, match="'function' parameter"):
        CallableKernel(3).fit([[1.0]])
