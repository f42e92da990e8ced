import copy

import numpy as np
import pytest
from sklearn.base import clone

from kernlearn.config.plugin_files import kernel_class
from kernlearn.kernels import Kernel
from kernlearn.svm import KernelSVM

X = np.random.default_rng(0).normal(size=(30, 2))


def bell(X, Y, width=1.0, power=2, squared=False, unit=None):
    """How near."""
    distances = np.linalg.norm(X[:, None] - Y[None], axis=2)
    return np.exp(-((distances / width) ** power))


Bell = kernel_class(bell, "Bell")


def test_a_function_with_parameters_is_a_kernel_as_any_other():
    kernel = Bell(width=0.5)
    assert isinstance(kernel, Kernel)
    assert repr(kernel) == "Bell(width=0.5)"
    assert kernel.get_params() == {"width": 0.5, "power": 2, "squared": False, "unit": None}
    np.testing.assert_array_equal(kernel(X, X[:3]), bell(X, X[:3], width=0.5))
    np.testing.assert_array_equal(kernel(X), bell(X, X, width=0.5))
    changed = clone(kernel).set_params(power=1).fit(X)
    np.testing.assert_array_equal(changed(X), bell(X, X, width=0.5, power=1))
    assert kernel.power == 2
    np.testing.assert_array_equal(copy.deepcopy(kernel)(X), kernel(X))
    assert Bell.__doc__ == "How near."


@pytest.mark.parametrize("wrong", [{"width": "wide"}, {"power": 1.5}, {"squared": "no"}], ids=str)
def test_values_are_of_the_type_of_the_default(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of Bell"):
        Bell(**wrong).fit(X)


def test_whole_numbers_do_for_real_ones_and_anything_where_there_is_no_type():
    Bell(width=2, unit=["cm"]).fit(X)


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="widht"):
        Bell(widht=1.0)


def test_a_matrix_of_the_wrong_shape_is_told():
    with pytest.raises(ValueError, match="one row per row of X and one column per row of Y"):
        kernel_class(lambda X, Y: X, "Wrong")()(X, X[:5])


def test_an_estimator_takes_it_and_its_nested_parameters():
    y = (np.linalg.norm(X, axis=1) > 1).astype(int)
    model = KernelSVM(kernel=Bell(), C=10).set_params(kernel__width=0.7)
    assert model.fit(X, y).score(X, y) > 0.9
