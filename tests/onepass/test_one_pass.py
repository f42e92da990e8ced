"""The same bits for any partition, order and tree of merges, and what is refused."""

import copy
import pickle
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file
from sklearn.preprocessing import FunctionTransformer

from kernlearn.datasets import row_source
from kernlearn.features import CompositionalMaclaurin, RandomMaclaurin, TensorSketch
from kernlearn.landmarks import LandmarkEmbedding, NystroemEmbedding
from kernlearn.onepass import OnePassRankRLS, OnePassRidge, OnePassRidgeClassifier

RNG = np.random.default_rng(1)
N = 1500
X = RNG.normal(size=(N, 7))
X /= np.linalg.norm(X, axis=1).max()
X[700:760] = X[:60]  # equal rows
y = (X[:, 0] + 0.2 * RNG.normal(size=N) > 0).astype(int)
MAPS = {
    "none": None,
    "maclaurin": RandomMaclaurin(n_components=90, random_state=0),
    "h01": RandomMaclaurin("exponential", n_components=50, h01=True, random_state=0),
    "compositional": CompositionalMaclaurin(n_components=30, random_state=0),
    "sketch": TensorSketch(n_components=40, random_state=0),
    "nystroem": NystroemEmbedding(n_components=30, random_state=0),
    "landmarks": LandmarkEmbedding(n_landmarks=30, random_state=0),
}


def parts_of(n_parts, order):
    cuts = np.sort(np.random.default_rng(n_parts).integers(0, N, n_parts - 1))
    return [rows for rows in np.split(order, cuts) if len(rows)]


def merged(models, nesting):
    """Merge in another tree: a chain from the left, from the right, or in pairs."""
    models = list(models)
    if nesting == "right":
        models.reverse()
    while len(models) > 1:
        step = 2 if nesting == "pairs" else len(models)
        models = [
            group[0].merge(*group[1:]) if len(group) > 1 else group[0]
            for group in (models[i : i + step] for i in range(0, len(models), step))
        ]
    return models[0]


def assert_same(one, two):
    for a, b in zip(one.moments_.limbs(), two.moments_.limbs(), strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("alphas_", "cv_errors_", "coef_path_", "intercept_path_", "coef_", "intercept_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)


@pytest.mark.parametrize("feature_map", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("kind", [OnePassRidge, OnePassRidgeClassifier, OnePassRankRLS])
def test_bits_do_not_depend_on_partition_order_and_merges(kind, feature_map):
    base = kind(feature_map).fit_map(X[:200], y[:200])
    whole = copy.deepcopy(base).partial_fit(X, y)
    assert whole.n_samples_seen_ == N
    orders = (np.arange(N), np.random.default_rng(3).permutation(N))
    for n_parts, order, nesting in (
        (1, orders[1], "left"),
        (2, orders[0], "left"),
        (7, orders[1], "pairs"),
        (7, orders[0], "right"),
    ):
        models = []
        for rows in parts_of(n_parts, order):
            model = pickle.loads(pickle.dumps(base))
            models.append(model.partial_fit(X[rows], y[rows]))
        assert_same(merged(models, nesting), whole)
    chunks = iter([(X[rows], y[rows]) for rows in parts_of(40, orders[1])])
    assert_same(copy.deepcopy(base).partial_fit(chunks), whole)


@pytest.mark.parametrize("kind", [OnePassRidge, OnePassRidgeClassifier, OnePassRankRLS])
def test_fit_does_not_depend_on_the_order(kind):
    feature_map = NystroemEmbedding(n_components=20, random_state=0)
    shuffled = np.random.default_rng(4).permutation(N)
    one = kind(feature_map, sample_rows=300).fit(X, y)
    assert_same(kind(feature_map, sample_rows=300).fit(X[shuffled], y[shuffled]), one)
    source = row_source(X[shuffled], y[shuffled], n_rows=111)
    assert_same(kind(feature_map, sample_rows=300).fit(source), one)
    for block_rows, n_jobs in ((17, None), (250, 2)):
        blocked = kind(feature_map, sample_rows=300, block_rows=block_rows, n_jobs=n_jobs)
        assert_same(blocked.fit(X, y), one)


def test_sources_give_the_same_bits(tmp_path):
    """A Parquet, a CSV and a LIBSVM file, a memory map, Dask arrays and frames."""
    rows = X.round(6)  # LIBSVM files are written with 16 digits
    base = OnePassRidgeClassifier(MAPS["h01"]).fit_map(rows[:200], y[:200])
    whole = copy.deepcopy(base).partial_fit(rows, y)
    frame = pd.DataFrame(rows, columns=list("abcdefg")).assign(label=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    dump_svmlight_file(rows, y, str(tmp_path / "rows.txt"), zero_based=False)
    np.save(tmp_path / "rows.npy", rows)
    sources = [
        row_source(tmp_path / "rows.parquet", target="label", n_rows=130),
        row_source(tmp_path / "rows.csv", target="label", n_rows=270),
        row_source(tmp_path / "rows.txt", n_features=7),
        row_source(np.load(tmp_path / "rows.npy", mmap_mode="r"), y, n_rows=99),
    ]
    if find_spec("dask"):
        from dask import array, dataframe

        sources.append(row_source(array.from_array(rows, chunks=(170, 3)), array.from_array(y)))
        sources.append(row_source(dataframe.from_pandas(frame, npartitions=7), target="label"))
    for source in sources:
        if isinstance(next(iter(source))[0], pd.DataFrame):  # names are checked
            source = row_source(lambda s=source: ((part.to_numpy(), t) for part, t in s))
        assert_same(copy.deepcopy(base).partial_fit(source), whole)


def test_float32_rows_are_those_of_the_same_numbers():
    single = X.astype(np.float32)
    base = OnePassRidge().fit_map(X[:200], y[:200])
    one = copy.deepcopy(base).partial_fit(single, y)
    assert_same(one, copy.deepcopy(base).partial_fit(single.astype(float), y))


def test_outliers_are_exact():
    wild = X.copy()
    wild[::100] *= 10.0 ** RNG.integers(0, 9, size=(len(wild[::100]), 1))
    base = OnePassRidge(alphas=[1.0, 10.0]).fit_map(X[:200], y[:200])
    one = copy.deepcopy(base).partial_fit(wild, y)
    order = np.random.default_rng(5).permutation(N)
    two = copy.deepcopy(base)
    for rows in parts_of(7, order):
        two.partial_fit(wild[rows], y[rows])
    assert_same(one, two)
    np.testing.assert_allclose(
        one.moments_.sums(range(5)).second, wild.T @ wild, rtol=1e-3, atol=1e-2 * (wild**2).sum()
    )


def test_rows_close_to_a_tie_are_computed_alone():
    """A map whose features depend on the size of the block by less than rounding can bear."""

    def noisy(rows):
        return rows + 1e-13 * (len(rows) > 1)

    base = OnePassRidge(FunctionTransformer(noisy)).fit_map(X[:200], y[:200])
    layout = base.moments_.layout
    ties = (np.arange(N) + 0.5) * layout.features.units[0] + layout.features.centers[0] - 0.5e-13
    rows = X.copy()
    rows[:, 0] = ties
    together = copy.deepcopy(base).partial_fit(rows, y)
    apart = copy.deepcopy(base)
    for i in range(N):
        apart.partial_fit(rows[i : i + 1], y[i : i + 1])
    assert_same(together, apart)


def test_maps_that_depend_on_the_block_are_refused():
    def noisy(rows):
        return rows * (1 + 1e-3 * len(rows))

    with pytest.raises(ValueError, match=r"feature . of the feature map changes by up to"):
        OnePassRidge(FunctionTransformer(noisy)).fit(X, y)


def test_merging_leaves_the_other_as_it_is():
    base = OnePassRidge().fit_map(X[:100], y[:100])
    left, right = copy.deepcopy(base).partial_fit(X[:500], y[:500]), copy.deepcopy(base)
    right.partial_fit(X[500:], y[500:])
    before = right.coef_.copy()
    left.merge(right)
    assert (left.n_samples_seen_, right.n_samples_seen_) == (N, N - 500)
    np.testing.assert_array_equal(right.coef_, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: clone(m).set_params(n_folds=3).fit_map(X[:100], y[:100]), "n_folds: 5 and 3"),
        (lambda m: clone(m).set_params(fold_seed=1).fit_map(X[:100], y[:100]), "fold_seed: 0"),
        (lambda m: clone(m).fit_map(X[:100, :6], y[:100]), "n_features: 7 and 6"),
        (lambda m: clone(m).fit_map(X[:100], y[:100], classes=[0, 1, 2]), "classes: .0, 1. and"),
        (
            lambda m: clone(m).set_params(class_weight="balanced").fit_map(X[:100], y[:100]),
            "moments by class: False and True",
        ),
        (
            lambda m: clone(m).set_params(feature_map__random_state=1).fit_map(X[:100], y[:100]),
            r"the feature map \(RandomMaclaurin\) or the sample",
        ),
        (
            lambda m: clone(m).set_params(feature_map__n_components=9).fit_map(X[:100], y[:100]),
            "number of features of the map: 20 and 9",
        ),
        (lambda m: clone(m).fit_map(X[100:200], y[100:200]), "or the sample that it was fitted"),
        (lambda m: OnePassRidge().fit(X, y), "cannot be merged with a OnePassRidge$"),
        (lambda m: m, "cannot be merged with itself"),
    ],
)
def test_what_cannot_be_merged(change, message):
    feature_map = RandomMaclaurin(n_components=20, random_state=0)
    model = OnePassRidgeClassifier(feature_map).fit_map(X[:100], y[:100])
    with pytest.raises(ValueError, match=message):
        model.merge(change(model))


def test_targets_of_other_units_cannot_be_merged():
    one = OnePassRidge().fit_map(X[:100], y[:100])
    with pytest.raises(ValueError, match="the sample of the targets"):
        one.merge(OnePassRidge().fit_map(X[:100], 10.0 * y[:100]))


def test_chunks_are_checked():
    model = OnePassRidgeClassifier().fit_map(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"label 5, which is not one of the classes \[0, 1\]; 2 "):
        model.partial_fit(X[:3], [0, 5, 5])
    broken = X[:5].copy()
    broken[2, 3] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(broken, y[:5])
    with pytest.raises(ValueError, match="X has 5 features"):
        model.partial_fit(X[:3, :5], y[:3])
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X[:3], y[:3], classes=[0, 1, 2])
    assert model.n_samples_seen_ == 0
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        OnePassRidgeClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"one class: \[1\]"):
        OnePassRidgeClassifier().fit(X, np.ones(N, int))
    with pytest.raises(ValueError, match="fit reads the data twice"):
        OnePassRidge().fit(iter([(X, y)]))
    with pytest.raises(ValueError, match="the data have no rows"):
        OnePassRidge().fit(row_source(lambda: iter([])))
    with pytest.raises(ValueError, match=r"more than 2\^62 times the unit"):
        OnePassRidge().fit_map(X[:100], y[:100]).partial_fit(X * 1e30, y)


def test_a_chunk_added_in_part_is_not_used():
    model = OnePassRidge(block_rows=100).fit_map(X[:100], y[:100])
    early, late = X.copy(), X.copy()
    early[50] *= 1e30
    late[950] *= 1e30
    with pytest.raises(ValueError, match="more than"):
        model.partial_fit(early, y)
    assert model.partial_fit(X, y).n_samples_seen_ == N
    with pytest.raises(ValueError, match="more than"):
        model.partial_fit(late, y)
    other = copy.deepcopy(model)
    for use in (
        lambda: model.partial_fit(X, y),
        lambda: model.predict(X),
        lambda: other.merge(model),
    ):
        with pytest.raises(ValueError, match="an error left a chunk added in part"):
            use()


@pytest.mark.parametrize("labels", [["a", "b", "a"], [None, 1, 0], [0.5, 1.0, 0.0]])
def test_labels_of_another_kind(labels):
    model = OnePassRidgeClassifier().fit_map(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"label|Unknown|unknown"):
        model.partial_fit(X[:3], np.array(labels, dtype=object if None in labels else None))
    assert model.n_samples_seen_ == 0


def test_the_model_is_solved_when_asked_for():
    model = OnePassRidge().partial_fit(X[:100], y[:100])
    assert "coef_" not in vars(model)
    first = model.coef_.copy()
    model.partial_fit(X[100:], y[100:])
    assert "coef_" not in vars(model)
    assert not np.array_equal(model.coef_, first)
    with pytest.raises(AttributeError, match="no attribute 'coef_'"):
        OnePassRidge().coef_  # noqa: B018


def test_memory_does_not_grow_with_the_rows():
    def most(n_chunks):
        model = OnePassRidge(MAPS["maclaurin"]).fit_map(X, y)
        chunks = ((RNG.uniform(-0.3, 0.3, size=(N, 7)), y) for _ in range(n_chunks))
        tracemalloc.start()
        model.partial_fit(chunks)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak

    assert most(20) < 1.1 * most(3)


def gathered(base, rows):
    return base.partial_fit(X[rows], y[rows])


def test_other_processes_give_the_same_bits():
    base = OnePassRidgeClassifier(MAPS["maclaurin"]).fit_map(X[:200], y[:200])
    parts = parts_of(3, np.random.default_rng(6).permutation(N))
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        models = list(pool.map(gathered, [base] * 3, parts))
    assert_same(merged(models, "left"), copy.deepcopy(base).partial_fit(X, y))
