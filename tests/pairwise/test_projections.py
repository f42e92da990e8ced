import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from kernlearn.pairwise.projections import (
    project_l1,
    project_l2,
    project_psd,
    project_simplex,
    project_trace_norm,
)

NUMBERS = st.floats(-10, 10, allow_subnormal=False)
VECTORS = st.integers(1, 8).flatmap(lambda n: arrays(np.float64, n, elements=NUMBERS))
MATRICES = st.integers(1, 5).flatmap(lambda n: arrays(np.float64, (n, n), elements=NUMBERS))
RADII = st.floats(1e-3, 20)


def nonnegative_l2(w, radius):
    return project_l2(w, radius, nonnegative=True)


def psd_trace_norm(M, radius):
    return project_trace_norm(M, radius, positive_semidefinite=True)


def trace_norm(M):
    return np.linalg.svd(M, compute_uv=False).sum()


def smallest_eigenvalue(M):
    np.testing.assert_array_equal(M, M.T)
    return np.linalg.eigvalsh(M).min()


# Whether a point is in the set, up to rounding, and a random point of the set.
VECTOR_SETS = {
    project_l2: (lambda v, r: np.linalg.norm(v) <= r, lambda rng, n: rng.normal(size=n)),
    nonnegative_l2: (
        lambda v, r: np.linalg.norm(v) <= r and v.min() >= 0,
        lambda rng, n: rng.exponential(size=n),
    ),
    project_l1: (lambda v, r: np.abs(v).sum() <= r, lambda rng, n: rng.laplace(size=n)),
    project_simplex: (
        lambda v, r: v.sum() == pytest.approx(r) and v.min() >= 0,
        lambda rng, n: rng.exponential(size=n),
    ),
}
MATRIX_SETS = {
    project_psd: (
        lambda M, r: np.linalg.norm(M) <= r and smallest_eigenvalue(M) >= -1e-9,
        lambda rng, n: (lambda A: A @ A.T)(rng.normal(size=(n, n))),
        np.linalg.norm,
    ),
    project_trace_norm: (
        lambda M, r: trace_norm(M) <= r,
        lambda rng, n: rng.normal(size=(n, n)),
        trace_norm,
    ),
    psd_trace_norm: (
        lambda M, r: np.trace(M) <= r and smallest_eigenvalue(M) >= -1e-9,
        lambda rng, n: (lambda A: A @ A.T)(rng.normal(size=(n, n))),
        np.trace,
    ),
}


def is_nearest(w, projected, others):
    """Whether <w - p, v - p> <= 0 for all points v, by which a projection p is known."""
    scale = 1 + np.abs(w).sum()
    return all(np.vdot(w - projected, other - projected) <= 1e-9 * scale**2 for other in others)


@pytest.mark.parametrize("project", VECTOR_SETS)
@example(w=np.array([np.finfo(float).tiny]), radius=4.0, seed=0)
@given(w=VECTORS, radius=RADII, seed=st.integers(0, 100))
def test_projection_of_a_vector_is_the_nearest_point(project, w, radius, seed):
    inside, draw = VECTOR_SETS[project]
    before = w.copy()
    projected = project(w, radius)
    np.testing.assert_array_equal(w, before)
    assert inside(projected, radius * (1 + 1e-12))
    rng, norm = np.random.RandomState(seed), 2 if "l2" in project.__name__ else 1
    draws = [draw(rng, len(w)) for _ in range(20)]
    others = [v * radius / np.linalg.norm(v, norm) for v in draws]
    if project is not project_simplex:
        others += [v * rng.uniform() for v in others]
    corners = radius * np.eye(len(w))
    others += [*corners, *(-corners if project in (project_l1, project_l2) else [])]
    assert is_nearest(w, projected, others)
    np.testing.assert_allclose(project(projected, radius), projected, atol=1e-12 * radius)


@pytest.mark.parametrize("project", MATRIX_SETS)
@given(M=MATRICES, radius=RADII, seed=st.integers(0, 100))
def test_projection_of_a_matrix_is_the_nearest_point(project, M, radius, seed):
    inside, draw, norm = MATRIX_SETS[project]
    before = M.copy()
    projected = project(M, radius)
    np.testing.assert_array_equal(M, before)
    assert inside(projected, radius * (1 + 1e-9))
    rng = np.random.RandomState(seed)
    draws = [draw(rng, len(M)) for _ in range(20)]
    # of rank one, the extreme points
    draws += [np.outer(v, v) for v in rng.normal(size=(10, len(M)))]
    others = [V * radius / norm(V) for V in draws]
    others += [V * rng.uniform() for V in others]
    assert is_nearest(M, projected, others)
    np.testing.assert_allclose(project(projected, radius), projected, atol=1e-9)


@pytest.mark.parametrize("project", [project_simplex, project_l1, project_l2, nonnegative_l2])
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_general_solver(project, seed):
    w = 2 * np.random.RandomState(seed).normal(size=4)
    start = np.full(4, 0.1)
    constraints = {
        project_simplex: {"type": "eq", "fun": lambda v: v.sum() - 1},
        project_l1: {"type": "ineq", "fun": lambda v: 1 - np.abs(v).sum()},
    }.get(project, {"type": "ineq", "fun": lambda v: 1 - v @ v})
    bounds = [(0, None)] * 4 if project in (project_simplex, nonnegative_l2) else None
    if project is project_l1:  # smooth in the positive and negative parts
        found = minimize(
            lambda v: ((v[:4] - v[4:] - w) ** 2).sum(),
            np.full(8, 0.05),
            bounds=[(0, None)] * 8,
            constraints={"type": "ineq", "fun": lambda v: 1 - v.sum()},
            options={"ftol": 1e-14},
        ).x
        found = found[:4] - found[4:]
    else:
        found = minimize(
            lambda v: ((v - w) ** 2).sum(),
            start,
            bounds=bounds,
            constraints=constraints,
            options={"ftol": 1e-14},
        ).x
    np.testing.assert_allclose(project(w, 1.0), found, atol=1e-5)


def test_points_of_the_set_stay():
    np.testing.assert_array_equal(project_l2([0.3, -0.4], 0.6), [0.3, -0.4])
    np.testing.assert_array_equal(project_l1([0.3, -0.4], 0.8), [0.3, -0.4])
    np.testing.assert_array_equal(project_l1([0.3, -0.4], np.inf), [0.3, -0.4])
    np.testing.assert_array_equal(project_l2([3e200, 4e200], np.inf), [3e200, 4e200])
    M = np.array([[1.0, 2.0], [0.0, 1.0]])
    np.testing.assert_array_equal(project_trace_norm(M, 10.0), M)
    assert not np.shares_memory(project_trace_norm(M, 10.0), M)


def test_a_new_array_is_returned_though_nothing_changes():
    w = np.array([0.25, 0.75])
    for project in (project_l1, project_l2, project_simplex, nonnegative_l2):
        assert not np.shares_memory(project(w, 1.0), w)
        np.testing.assert_array_equal(project(w, 1.0), w)


def test_extreme_numbers():
    np.testing.assert_allclose(project_l2([3e200, 4e200], 1.0), [0.6, 0.8], rtol=1e-15)
    np.testing.assert_allclose(project_l2([3e-200, 4e-200], 1e-200), [6e-201, 8e-201])
    np.testing.assert_array_equal(project_simplex([1e17, 1e17 - 1e3, 0]), [1, 0, 0])
    np.testing.assert_array_equal(project_simplex([1e9 + 0.5, 1e9, -1e9]), [0.75, 0.25, 0])
    np.testing.assert_array_equal(project_l2(np.zeros(3), 1.0), np.zeros(3))


@pytest.mark.parametrize("project", [*VECTOR_SETS, *MATRIX_SETS])
def test_precision_is_kept(project):
    w = np.array([[2.0, 1.0], [1.0, 3.0]])
    double = project(w, 1.0)
    single = project(w.astype(np.float32), 1.0)
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    np.testing.assert_allclose(single, double, atol=1e-6)
    assert project(w.astype(int), 1.0).dtype == np.float64


def test_of_a_matrix_all_entries_count_as_a_vector():
    M = np.random.RandomState(0).normal(size=(3, 4))
    for project in VECTOR_SETS:
        np.testing.assert_array_equal(project(M, 1.0), project(M.ravel(), 1.0).reshape(3, 4))


def test_rectangular_matrix_in_the_trace_norm():
    M = np.random.RandomState(0).normal(size=(3, 5))
    left, values, right = np.linalg.svd(M, full_matrices=False)
    expected = left @ np.diag(project_l1(values, 1.0)) @ right
    np.testing.assert_allclose(project_trace_norm(M, 1.0), expected, atol=1e-14)


@pytest.mark.parametrize("project", [*VECTOR_SETS, *MATRIX_SETS])
def test_bad_input(project):
    M = np.eye(2)
    for radius in (0.0, -1.0, np.nan):
        with pytest.raises(ValueError, match="'radius' must be a number > 0"):
            project(M, radius)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="must be finite"):
            project(np.full((2, 2), bad), 1.0)


def test_bad_shapes():
    for project in (project_psd, psd_trace_norm):
        with pytest.raises(ValueError, match=r"square matrix, got an array of shape \(2, 3\)"):
            project(np.ones((2, 3)), 1.0)
    with pytest.raises(ValueError, match="must be a matrix"):
        project_trace_norm(np.ones(3), 1.0)
    with pytest.raises(ValueError, match="must be finite, got inf"):
        project_simplex(np.ones(3), np.inf)
    with pytest.raises(ValueError, match="at least one entry"):
        project_simplex([])
