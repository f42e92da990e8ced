import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from kernlearn.kernels import ExponentialKernel, GaussianKernel, LaplacianKernel, mean_distance


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [51, 512, 1100])  # a tile has 512 rows
def test_against_all_pairs(convert, dtype, n):
    X = np.random.default_rng(0).normal(size=(n, 6)).astype(dtype)
    X[np.abs(X) < 0.5] = 0
    actual = mean_distance(convert(X))
    assert actual == pytest.approx(pdist(X).mean(), rel=1e-12)


def test_wide_sparse_rows():
    X = sparse.random(40, 300_000, density=1e-4, format="csr", random_state=0)
    columns = np.unique(X.indices)
    expected = pdist(X[:, columns].toarray()).mean()
    assert mean_distance(X) == pytest.approx(expected, rel=1e-12)


WIDTHS = [GaussianKernel, LaplacianKernel]
FORMS = {"array": np.asarray, "csr": sparse.csr_array, "matrix": sparse.csr_matrix}


def slowly(kernel, X, Y):
    """One pair at a time, from the definition."""
    gram = np.empty((len(X), len(Y)))
    for i, x in enumerate(X):
        for j, y in enumerate(Y):
            if isinstance(kernel, GaussianKernel):
                gram[i, j] = np.exp(-((x - y) ** 2).sum() / (2 * kernel.sigma**2))
            else:
                gram[i, j] = np.exp(-abs(x - y).sum() / kernel.sigma)
    return gram


@pytest.mark.parametrize("left", FORMS)
@pytest.mark.parametrize("right", FORMS)
@pytest.mark.parametrize("Kernel", WIDTHS)
@pytest.mark.parametrize("shift", [0, 1e8])
def test_definition(Kernel, left, right, shift):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(23, 4)), rng.normal(size=(9, 4))
    X[abs(X) < 0.5] = 0
    X[3] = Y[2]
    for Z in (X, Y):
        Z[:, :2] += shift
    kernel = Kernel(sigma=1.7)
    actual = kernel(FORMS[left](X), FORMS[right](Y))
    np.testing.assert_allclose(actual, slowly(kernel, X, Y), rtol=1e-12)
    same = Kernel().fit(FORMS[left](X)).sigma_
    assert same == pytest.approx(Kernel().fit(X).sigma_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_several_tiles_and_the_floating_type(dtype):
    rng = np.random.RandomState(0)
    X, Y = rng.normal(size=(1500, 6)).astype(dtype), rng.normal(size=(90, 6)).astype(dtype)
    for kernel, expected in [
        (GaussianKernel(2.0), rbf_kernel(X.astype(float), Y.astype(float), gamma=1 / 8)),
        (LaplacianKernel(2.0), laplacian_kernel(X.astype(float), Y.astype(float), gamma=1 / 2)),
    ]:
        actual = kernel(X, Y)
        assert actual.dtype == dtype
        np.testing.assert_allclose(actual, expected, rtol=40 * np.finfo(dtype).eps)


@pytest.mark.parametrize("Kernel", WIDTHS)
def test_a_point_has_similarity_one_with_itself(Kernel):
    # Far from the origin, where norms of 1e12 would leave four digits of a distance.
    X = np.random.RandomState(0).normal(size=(300, 5)) + 1e6
    gram = Kernel(1.0)(X)
    np.testing.assert_array_equal(gram.diagonal(), 1)
    np.testing.assert_allclose(gram, slowly(Kernel(1.0), X, X), rtol=1e-12)
    np.testing.assert_array_equal(Kernel(1.0)(X, X), gram)


@pytest.mark.parametrize("form", FORMS)
def test_mean_distances(form):
    X = np.random.RandomState(0).poisson(1.0, size=(30, 5)).astype(float)
    pairs = [(i, j) for i in range(30) for j in range(i)]
    mean = np.mean([abs(X[i] - X[j]).sum() for i, j in pairs])
    assert LaplacianKernel().fit(FORMS[form](X)).sigma_ == pytest.approx(mean, rel=1e-12)


@given(arrays(float, (6, 2), elements=st.floats(-1e6, 1e6)), st.floats(-1e9, 1e9))
def test_mean_manhattan_distance_does_not_move_with_the_points(X, shift):
    X = np.round(X, 3)
    X[0] += 1  # not all the same
    X[1] -= 1
    moved = X + np.round(shift)
    kernel = LaplacianKernel()
    assert kernel.fit(moved).sigma_ == pytest.approx(kernel.fit(X).sigma_, rel=1e-6)


def test_mean_manhattan_distance_in_several_blocks(monkeypatch):
    X = np.random.RandomState(0).normal(size=(20, 7))
    whole = LaplacianKernel().fit(X).sigma_
    monkeypatch.setattr("kernlearn.kernels.distances._DENSE_ELEMENTS", 45)
    for form in FORMS.values():
        assert LaplacianKernel().fit(form(X)).sigma_ == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize("Kernel", [*WIDTHS, ExponentialKernel])
def test_the_width_is_fitted_or_given(Kernel):
    assert Kernel().data_dependent
    assert not Kernel(2.0).data_dependent
    assert Kernel(2).fit([[1.0], [5.0]]).sigma_ == 2.0
    for sigma in ("auto", "mean_distance"):
        kernel = Kernel(sigma).fit([[1.0], [5.0]])
        assert kernel.sigma_ == 4.0
        assert clone(kernel).get_params() == {"sigma": sigma}
        np.testing.assert_array_equal(kernel([[1.0]], [[5.0]]), Kernel(4.0)([[1.0]], [[5.0]]))
    with pytest.raises(NotFittedError):
        Kernel()([[1.0]])


@pytest.mark.parametrize("Kernel", [*WIDTHS, ExponentialKernel])
@pytest.mark.parametrize("form", FORMS)
def test_the_default_width_is_the_mean_of_2000_points(Kernel, form):
    X = np.random.RandomState(0).standard_normal((5000, 4)) * [1, 2, 3, 4]
    exact = Kernel("mean_distance").fit(X).sigma_
    default = Kernel().fit(FORMS[form](X)).sigma_
    some = X[np.arange(2000) * 5000 // 2000]
    assert default == pytest.approx(Kernel("mean_distance").fit(some).sigma_, rel=1e-12)
    assert default == pytest.approx(exact, rel=0.02)
    assert default != pytest.approx(exact, rel=1e-6)
    few = Kernel().fit(FORMS[form](X[:2000])).sigma_
    assert few == pytest.approx(Kernel("mean_distance").fit(X[:2000]).sigma_, rel=1e-12)


@pytest.mark.parametrize("Kernel", WIDTHS)
def test_bad_input(Kernel):
    with pytest.raises(ValueError, match="points that differ"):
        Kernel().fit(np.ones((3, 2)))
    for use in (Kernel().fit, mean_distance):
        with pytest.raises(ValueError, match="minimum of 2"):
            use([[1.0]])
    for sigma in 0, -1.0, "mean", None:
        with pytest.raises(ValueError, match="'sigma' parameter"):
            Kernel(sigma).fit([[1.0], [2.0]])
        with pytest.raises(ValueError, match="'sigma' parameter"):
            Kernel(sigma)([[1.0], [2.0]])
    with pytest.raises(ValueError, match="Incompatible dimension"):
        Kernel(1.0)([[1.0, 2.0]], [[1.0]])
    with pytest.raises(ValueError, match="NaN"):
        Kernel(1.0)([[np.nan]])


def test_sparse_points_with_long_indices_are_left_as_they_are():
    rng = np.random.default_rng(0)
    X = sparse.csr_array(rng.random((8, 5)) * (rng.random((8, 5)) < 0.4))
    long = X.copy()
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    for kernel in GaussianKernel(1.0), LaplacianKernel(1.0):
        np.testing.assert_allclose(kernel(long), kernel(X.toarray()))
        np.testing.assert_allclose(kernel(long, X.toarray()), kernel(X.toarray()))
    assert long.indices.dtype == np.int64
