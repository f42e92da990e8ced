import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)
from kernlearn.theory import (
    InnerMapConstants,
    compositional_failure_probability,
    compositional_n_components,
    maclaurin_failure_probability,
    maclaurin_n_components,
)

KERNELS = st.sampled_from(
    [PolynomialKernel(3), HomogeneousPolynomialKernel(4), ExponentialKernel(0.9), VovkKernel()]
)
EPSILONS = st.floats(0.01, 2.0)
DELTAS = st.floats(1e-6, 0.5)
RADII = st.floats(0.05, 0.6)
DIMENSIONS = st.integers(1, 60)
RBF_LIKE = InnerMapConstants(2.0, 1.5, 1.0, 0.8)


def test_theorem_3_10_by_hand():
    # f(t) = (1 + t)^2, R = 1/2, p = 2: p R^2 = 1/2, f = 9/4, f'(R^2) = 5/2, f'(p R^2) = 3.
    radius, d, n_components, epsilon = 0.5, 2, 20000, 0.5
    C = 2 * 9 / 4
    L = radius * 2.5 + 4 * radius * math.sqrt(d) * 3
    expected = 2 * (32 * radius * L / epsilon) ** (2 * d)
    expected *= math.exp(-n_components * epsilon**2 / (8 * C**2))
    actual = maclaurin_failure_probability(
        PolynomialKernel(2), epsilon, n_components, radius=radius, n_features=d
    )
    assert actual == pytest.approx(expected, rel=1e-10)
    assert 0 < actual < 1


def test_pointwise_bound_by_hand():
    expected = 2 * math.exp(-5000 * 0.25 / (8 * 4.5**2))
    actual = maclaurin_failure_probability(PolynomialKernel(2), 0.5, 5000, radius=0.5)
    assert actual == pytest.approx(expected, rel=1e-10)


def test_theorem_3_14_by_hand():
    # f(t) = (1 + t)^2, C_W = 2, p = 2: f(4) = 25, f'(4) = 10, f'(C_K) = 4.
    C = 2 * 25
    L = 0.8 * 4 + 1.5 * 4 * math.sqrt(2) * 10
    expected = 32 * 3 * L / 0.7 * math.exp(-2_000_000 * 0.49 / (8 * C**2 * 5))
    actual = compositional_failure_probability(
        PolynomialKernel(2), RBF_LIKE, 0.7, 2_000_000, radius=3, n_features=5
    )
    assert actual == pytest.approx(expected, rel=1e-10)
    assert 0 < actual < 1


def are_inverses(n_components, probability, epsilon, delta, **domain):
    needed = n_components(epsilon=epsilon, delta=delta, **domain)
    assert probability(epsilon=epsilon, n_components=needed, **domain) <= delta * (1 + 1e-9)
    if needed > 1:
        fewer = max(int(needed * (1 - 1e-9)) - 1, 1)
        found = probability(epsilon=epsilon, n_components=fewer, **domain)
        assert found > delta * (1 - 1e-9)


@given(KERNELS, EPSILONS, DELTAS, RADII, DIMENSIONS)
def test_components_and_probability_are_inverses(kernel, epsilon, delta, radius, d):
    functions = maclaurin_n_components, maclaurin_failure_probability
    are_inverses(*functions, epsilon, delta, kernel=kernel, radius=radius, n_features=d)
    functions = compositional_n_components, compositional_failure_probability
    outer = {"kernel": ExponentialKernel(1.2), "constants": RBF_LIKE}
    are_inverses(*functions, epsilon, delta, **outer, radius=2.0, n_features=d)


WISH = {"epsilon": 0.1, "delta": 0.1}


@pytest.mark.parametrize("kernel", [PolynomialKernel(200), PolynomialKernel(100_000)])
def test_more_features_than_an_int_holds(kernel):
    with pytest.raises(ValueError, match=r"2\*\*63 - 1"):
        maclaurin_n_components(kernel, **WISH, radius=9.0, n_features=3)
    assert maclaurin_failure_probability(kernel, 0.1, 10, radius=9.0, n_features=3) == 1.0


def test_an_easy_wish_needs_one_feature_and_never_fails():
    kernel, domain = DotProductKernel([0.0, 1e-200]), {"radius": 0.1, "n_features": 3}
    assert maclaurin_n_components(kernel, epsilon=100.0, delta=0.1, **domain) == 1
    assert maclaurin_failure_probability(kernel, 100.0, 1, **domain) == 0.0


def test_the_series_must_converge_where_it_is_needed():
    with pytest.raises(ValueError, match="'radius' is too large"):
        maclaurin_n_components(VovkKernel(), **WISH, radius=0.8, n_features=2)
    for constants, name in (
        (RBF_LIKE, "feature_bound"),
        (InnerMapConstants(0.4, 1.0, 1.0, 1.0), "kernel_bound"),
    ):
        with pytest.raises(ValueError, match=f"'{name}' is too large"):
            compositional_n_components(VovkKernel(), constants, **WISH, radius=1, n_features=2)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"radius": 0.0}, "radius"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"constants": RBF_LIKE._replace(feature_lipschitz=-1.0)}, "feature_lipschitz"),
    ],
)
def test_bad_parameters(changed, name):
    arguments = {**WISH, "radius": 0.5, "n_features": 2, "constants": RBF_LIKE, **changed}
    with pytest.raises(ValueError, match=f"'{name}' must be"):
        compositional_n_components(PolynomialKernel(), **arguments)
