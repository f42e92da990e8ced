import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import mean_squared_error
from sklearn.preprocessing import StandardScaler

from kernlearn.datasets import load
from kernlearn.experiments.engine.shared import Shared
from kernlearn.landmarks import pool
from kernlearn.landmarks.sparse import LeastSquares
from kernlearn.landmarks.sparse import SparseRegLand as SparseRegLandClass
from tests.checks import parametrize_with_checks
from tests.pinned import as_in_configs

SparseRegLand = as_in_configs(SparseRegLandClass)


@pytest.mark.filterwarnings("ignore:n_landmarks=:UserWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        SparseRegLand(),
        SparseRegLand(
            10,
            40,
            similarity="manhattan",
            selection="dselect",
            rule="decrease",
            fit_intercept=True,
        ),
        SparseRegLand(7, 8, similarity="linear", double_dipping=False, ridge=0.1),
        SparseRegLand(similarity="precomputed", rule="correlation"),
        SparseRegLand(
            20, similarity="linear", algorithm="forward_greedy", tol=1.0, epsilon=0, max_iter=1000
        ),
        SparseRegLand("auto", 40, max_comparisons=20, similarity="laplacian"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def manhattan(X, Y):
    return np.array([[-sum(abs(a - b) for a, b in zip(x, y, strict=True)) for y in Y] for x in X])


def distance(X, Y):
    return -manhattan(X, Y)


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    X = rng.standard_normal((90, 4))
    return X, np.sin(X[:, 0]) + 0.5 * X[:, 1] ** 2 + 0.1 * rng.standard_normal(90)


def slow_regland(X, y, pool, n_landmarks):
    """The largest product with the residual, and least squares solved anew."""
    K = manhattan(X, X[pool])
    chosen, residual = [], y
    stages = []
    for _ in range(n_landmarks):
        products = [abs(K[:, j] @ residual) if j not in chosen else -1 for j in range(len(pool))]
        chosen.append(int(np.argmax(products)))
        w = np.linalg.lstsq(K[:, chosen], y, rcond=None)[0]
        residual = y - K[:, chosen] @ w
        stages.append(w)
    return [pool[j] for j in chosen], stages


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("selection", ["random", "dselect"])
def test_is_the_slow_version(data, seed, selection):
    X, y = data
    model = SparseRegLand(
        12, 30, similarity="manhattan", selection=selection, random_state=seed
    ).fit(X[:60], y[:60])
    assert len(set(model.pool_indices_)) == 30
    indices, stages = slow_regland(X[:60], y[:60], model.pool_indices_, 12)
    assert model.landmark_indices_.tolist() == indices
    np.testing.assert_array_equal(model.pool_indices_[model.support_], indices)
    np.testing.assert_allclose(model.coef_, stages[-1])
    predictions = list(model.staged_predict(X[60:]))
    assert len(predictions) == 12
    for k, (w, found) in enumerate(zip(stages, predictions, strict=True), start=1):
        np.testing.assert_allclose(model.coef_path_[k - 1], np.append(w, np.zeros(12 - k)))
        np.testing.assert_allclose(found, manhattan(X[60:], X[indices[:k]]) @ w)
        shorter = SparseRegLand(
            k, 30, similarity="manhattan", selection=selection, random_state=seed
        ).fit(X[:60], y[:60])
        np.testing.assert_allclose(shorter.predict(X[60:]), found)
    np.testing.assert_array_equal(model.predict(X[60:]), predictions[-1])


def test_only_chosen_landmarks_are_compared(data):
    X, y = data
    widths = []

    def counted(A, B):
        widths.append(len(B))
        return manhattan(A, B)

    model = SparseRegLand(5, 30, similarity=counted, random_state=0).fit(X, y)
    assert set(widths) == {30}
    widths.clear()
    model.predict(X)
    assert set(widths) == {5}
    widths.clear()
    list(model.staged_predict(X[:10]))
    assert widths == [5]


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("algorithm", ["fully_corrective", "forward_greedy"])
def test_however_the_similarity_is_given(data, fit_intercept, algorithm):
    X, y = data
    options = {"random_state": 0, "tol": 0.3, "algorithm": algorithm}
    options["fit_intercept"] = fit_intercept and algorithm == "fully_corrective"
    points, new = X[:60], X[60:]
    model = SparseRegLand(6, 20, similarity="manhattan", **options).fit(points, y[:60])
    assert len(model.landmark_indices_) > 1
    for similarity, kind, train, test in [
        (manhattan, "similarity", points, new),
        (distance, "distance", points, new),
        ("precomputed", "similarity", manhattan(points, points), manhattan(new, points)),
        ("precomputed", "distance", distance(points, points), distance(new, points)),
        ("manhattan", "similarity", sparse.csr_array(points), sparse.csr_array(new)),
        ("manhattan", "similarity", points.astype(np.float32), new.astype(np.float32)),
    ]:
        other = SparseRegLand(6, 20, similarity=similarity, kind=kind, **options)
        other.fit(train, y[:60])
        np.testing.assert_array_equal(other.landmark_indices_, model.landmark_indices_)
        found = other.predict(test)
        assert found.dtype == train.dtype
        rtol = 1e-9 if train.dtype == np.float64 else 1e-4
        np.testing.assert_allclose(found, model.predict(new), rtol=rtol, atol=rtol)


def test_an_intercept_is_least_squares_with_a_constant(data):
    X, y = data
    y = y + 100
    model = SparseRegLand(6, 30, similarity=manhattan, fit_intercept=True, random_state=0).fit(
        X, y
    )
    K = manhattan(X, X[model.landmark_indices_])
    for k, (weights, intercept) in enumerate(
        zip(model.coef_path_, model.intercept_path_, strict=True), start=1
    ):
        design = np.column_stack([K[:, :k], np.ones(len(y))])
        best, (loss,) = np.linalg.lstsq(design, y, rcond=None)[:2]
        np.testing.assert_allclose([*weights[:k], intercept], best, rtol=1e-8)
        np.testing.assert_allclose(model.loss_path_[k - 1], loss)
    assert model.intercept_ == model.intercept_path_[-1]


def test_ridge(data):
    X, y = data
    model = SparseRegLand(6, 30, similarity=manhattan, ridge=3.0, random_state=0).fit(X, y)
    K = manhattan(X, X[model.landmark_indices_])
    np.testing.assert_allclose(model.coef_, np.linalg.solve(K.T @ K + 3 * np.eye(6), K.T @ y))


def test_memory_of_the_pool_serves_other_numbers_of_landmarks_and_penalties(data, monkeypatch):
    X, y = data
    memory, settings = Shared(), [(20, 0.0), (10, 0.0), (20, 0.1), (5, 0.1)]
    compared = []
    monkeypatch.setattr(
        pool, "LeastSquares", lambda *args: compared.append(0) or LeastSquares(*args)
    )
    for fit_intercept in (False, True):
        for n_landmarks, ridge in settings:
            model = SparseRegLand(
                n_landmarks, pool_size=60, ridge=ridge, fit_intercept=fit_intercept, random_state=0
            )
            alone = clone(model).fit(X, y)
            shared = clone(model).set_params(memory=memory).fit(X, y)
            np.testing.assert_array_equal(shared.landmark_indices_, alone.landmark_indices_)
            np.testing.assert_allclose(shared.predict(X), alone.predict(X), rtol=1e-8)
    assert memory.hits == 2 * len(settings) - 2
    assert len(compared) == 2 * len(settings) + 2


def test_algorithm_6_bounds_the_norm(data):
    X, y = data
    model = SparseRegLand(
        30, 40, algorithm="forward_greedy", norm_bound=4.0, tol=0.2, epsilon=0.2, random_state=0
    ).fit(X, y)
    assert np.abs(model.coef_path_).sum(axis=1).max() <= 4 + 1e-9
    assert len(model.coef_) <= model.n_iter_ <= 8 * 4**2 / 0.2**2
    bounded = SparseRegLand(
        2, 40, algorithm="forward_greedy", norm_bound=4.0, tol=0.2, epsilon=0.2, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(bounded.coef_path_, model.coef_path_[:2, :2])


def test_a_pool_that_is_not_trained_on(data):
    X, y = data
    model = SparseRegLand(8, 30, similarity=manhattan, double_dipping=False, random_state=0)
    model.fit(X, y)
    rest = np.setdiff1d(np.arange(90), model.pool_indices_)
    w = np.linalg.lstsq(manhattan(X[rest], X[model.landmark_indices_]), y[rest], rcond=None)[0]
    np.testing.assert_allclose(model.coef_, w)
    with pytest.raises(ValueError, match="needs a pool_size below n_samples=90"):
        SparseRegLand(8, 90, double_dipping=False).fit(X, y)


def test_a_pool_that_is_given(data):
    X, y = data
    model = SparseRegLand(5, 10, similarity=manhattan).fit(X[:60], y[:60], landmarks=X[60:])
    assert model.landmark_indices_ is None
    assert model.pool_indices_ is None
    w = np.linalg.lstsq(manhattan(X[:60], X[60:][model.support_]), y[:60], rcond=None)[0]
    np.testing.assert_allclose(model.coef_, w)
    np.testing.assert_allclose(model.predict(X), manhattan(X, X[60:][model.support_]) @ w)
    drawn = SparseRegLand(5, 90, similarity=manhattan, random_state=0).fit(X, y)
    pool = X[drawn.pool_indices_]
    np.testing.assert_allclose(
        SparseRegLand(5, similarity=manhattan).fit(X, y, landmarks=pool).coef_, drawn.coef_
    )


def test_fewer_points_than_the_pool_and_fewer_candidates_than_landmarks(data, recwarn):
    X, y = data
    model = SparseRegLand(5, 500, random_state=0).fit(X[:20], y[:20])
    assert sorted(model.pool_indices_) == list(range(20))
    assert not recwarn.list
    with pytest.warns(UserWarning, match="n_landmarks=50 is more than the 7 candidates"):
        model = SparseRegLand(50, 7, random_state=0).fit(X, y)
    assert len(model.landmark_indices_) == 7


def test_repeated_points_are_chosen_once(data):
    X, y = data
    X, y = np.vstack([X[:10]] * 3), np.concatenate([y[:10], y[:10] + 1, y[:10] - 1])
    model = SparseRegLand(20, 30, similarity="laplacian", random_state=0).fit(X, y)
    assert len(model.landmark_indices_) == 10
    assert sorted(model.landmark_indices_ % 10) == list(range(10))
    first = {i % 10: i for i in model.pool_indices_[::-1]}
    assert all(first[i % 10] == i for i in model.landmark_indices_)
    np.testing.assert_allclose(model.predict(X[:10]), y[:10])


@pytest.mark.parametrize("similarity", ["gaussian", "manhattan"])
@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3])
def test_a_constant_target(data, similarity, constant):
    X, _ = data
    y = np.full(len(X), constant)
    model = SparseRegLand(similarity=similarity, fit_intercept=True).fit(X, y)
    assert len(model.landmark_indices_) == len(model.coef_) == model.coef_path_.size == 0
    np.testing.assert_array_equal(model.predict(X), y)
    assert list(model.staged_predict(X)) == []
    model = SparseRegLand(similarity=similarity).fit(X, y)
    assert (len(model.landmark_indices_) > 0) == (constant != 0)
    np.testing.assert_allclose(model.predict(X), y, atol=0.05 * abs(constant))


def test_a_constant_similarity_is_of_no_use_beside_an_intercept(data):
    X, y = data
    options = {"similarity": lambda A, B: np.full((len(A), len(B)), 0.1), "random_state": 0}
    for rule in ("gradient", "correlation", "decrease"):
        model = SparseRegLand(fit_intercept=True, rule=rule, **options).fit(X, y)
        assert len(model.coef_) == 0
        np.testing.assert_allclose(model.predict(X), y.mean())
    assert len(SparseRegLand(**options).fit(X, y).coef_) == 1


def test_same_again(data):
    X, y = data
    model = SparseRegLand(10, 40, random_state=3).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(
        SparseRegLand(10, 40, random_state=3).fit(X, y).coef_, model.coef_
    )


def test_algorithm_6_has_no_intercept(data):
    with pytest.raises(ValueError, match="fit_intercept=True needs algorithm='fully_corrective'"):
        SparseRegLand(algorithm="forward_greedy", fit_intercept=True).fit(*data)


@pytest.mark.data
@pytest.mark.usefixtures("data_dir")
def test_the_pool_is_what_makes_the_table():
    """Table 5.1a: 1.2e-3 on cpu_small with the Manhattan similarity, std 3.2e-5."""
    found = load("cpu_small")
    X, y = np.asarray(found.data, dtype=float), found.target / np.abs(found.target).max()
    order = np.random.RandomState(0).permutation(len(y))
    train, test = order[: int(0.7 * len(y))], order[int(0.7 * len(y)) :]
    X = StandardScaler().fit(X[train]).transform(X)
    errors = {
        pool_size: mean_squared_error(
            y[test],
            SparseRegLand(50, pool_size, similarity="manhattan", random_state=0)
            .fit(X[train], y[train])
            .predict(X[test]),
        )
        for pool_size in (50, 500)
    }
    assert errors[500] < 1.3e-3
    assert errors[500] < errors[50] / 1.5
