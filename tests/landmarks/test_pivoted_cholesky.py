import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from kernlearn.solvers.pivoted_cholesky import draw_pivots


def part_of(matrix):
    def part(rows, columns):
        return matrix[rows] if columns is None else matrix[np.ix_(rows, columns)]

    return part


def gaussian(n, seed=0):
    return rbf_kernel(np.random.RandomState(seed).normal(size=(n, 2)), gamma=0.5)


def drawn_one_by_one(matrix, rank, rng):
    """Chen et al., algorithm 2.1, in loops; a uniform number is drawn where proposals have one."""
    n = len(matrix)
    left, factor, pivots = np.maximum(matrix.diagonal(), 0), [], []
    for _ in range(rank):
        pivot = rng.choice(n, 1, p=left / left.sum())[0]
        rng.random(1)
        row = [matrix[pivot, j] - sum(f[pivot] * f[j] for f in factor) for j in range(n)]
        factor.append([value / np.sqrt(row[pivot]) for value in row])
        left = np.array([max(left[j] - factor[-1][j] ** 2, 0) for j in range(n)])
        left[pivot] = 0
        pivots.append(pivot)
    return pivots, np.array(factor)


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_single_proposals_are_the_algorithm_as_printed(make):
    K = gaussian(30)
    for seed in range(5):
        pivots, factor = draw_pivots(K.diagonal(), part_of(K), 6, make(seed), n_proposed=1)
        expected, expected_factor = drawn_one_by_one(K, 6, make(seed))
        assert pivots.tolist() == expected
        np.testing.assert_allclose(factor, expected_factor, atol=1e-10)


@pytest.mark.parametrize("n_proposed", [1, 3, 20])
def test_pairs_of_pivots_have_the_probabilities_of_the_algorithm(n_proposed):
    # of unequal lengths, two almost parallel
    Z = np.array([[2.0, 0.0], [1.9, 0.2], [0.0, 1.0], [0.7, 0.7], [-0.3, 1.2]])
    K = Z @ Z.T + 0.05 * np.eye(5)
    expected = np.zeros((5, 5))
    for i in range(5):
        rest = K.diagonal() - K[:, i] ** 2 / K[i, i]
        expected[i] = K[i, i] / K.trace() * rest / rest.sum()
    np.fill_diagonal(expected, 0)
    rng, n_drawn, counts = np.random.RandomState(7), 4000, np.zeros((5, 5))
    for _ in range(n_drawn):
        (i, j), _ = draw_pivots(K.diagonal(), part_of(K), 2, rng, n_proposed=n_proposed)
        counts[i, j] += 1
    error = np.sqrt(expected * (1 - expected) / n_drawn)
    assert (np.abs(counts / n_drawn - expected) <= 4 * error).all()


@pytest.mark.parametrize("n_proposed", [1, 5, 128])
def test_the_factor_is_the_nystroem_approximation_with_the_pivots(n_proposed):
    K = gaussian(80)
    pivots, factor = draw_pivots(
        K.diagonal(), part_of(K), 12, np.random.default_rng(0), n_proposed=n_proposed
    )
    columns = K[:, pivots]
    expected = columns @ np.linalg.solve(K[np.ix_(pivots, pivots)], columns.T)
    np.testing.assert_allclose(factor.T @ factor, expected, atol=1e-8)
    assert len(set(pivots.tolist())) == 12


def test_whole_rows_are_those_of_the_pivots():
    K, asked = gaussian(200), []

    def part(rows, columns):
        asked.append((rows.tolist(), columns is None))
        return part_of(K)(rows, columns)

    pivots, _ = draw_pivots(K.diagonal(), part, 15, np.random.RandomState(0), n_proposed=15)
    assert [i for rows, whole in asked if whole for i in rows] == pivots.tolist()
    assert {len(rows) for rows, whole in asked if not whole} == {15}


@pytest.mark.parametrize("seed", range(5))
def test_an_indefinite_matrix_gives_distinct_pivots_with_a_positive_rest(seed):
    rng = np.random.RandomState(seed)
    A = rng.normal(size=(40, 40))
    K = A + A.T
    pivots, factor = draw_pivots(K.diagonal(), part_of(K), 40, rng, n_proposed=7)
    assert len(set(pivots.tolist())) == len(pivots) < 40
    assert (K.diagonal()[pivots] > 0).all()
    assert np.isfinite(factor).all()
    left = np.maximum(K.diagonal(), 0)
    for pivot, row in zip(pivots, factor, strict=True):
        assert left[pivot] > 0
        left = np.maximum(left - row**2, 0)
        left[pivot] = 0


def test_rounding_errors_of_floats_end():
    Z = np.random.RandomState(0).normal(size=(200, 3)).astype(np.float32)
    K = Z @ Z.T
    # values among the proposals, as a kernel of them alone computes them, differ in the last digit
    noisy = K * (1 + 1e-6 * np.random.RandomState(1).normal(size=K.shape))

    def part(rows, columns):
        return part_of(K if columns is None else noisy)(rows, columns)

    pivots, _ = draw_pivots(
        K.diagonal(), part, 50, np.random.RandomState(2), n_proposed=10, nothing=1e-5
    )
    assert 3 <= len(pivots) <= 10


def test_a_matrix_without_a_positive_diagonal_has_no_pivots():
    K = -gaussian(10)
    pivots, factor = draw_pivots(K.diagonal(), part_of(K), 4, np.random.RandomState(0))
    assert pivots.shape == (0,)
    assert factor.shape == (0, 10)
