"""What all online learners for AUC do with streams."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

from kernlearn import memory
from kernlearn.features import RandomMaclaurin
from kernlearn.pairwise import OAM, OLP, Hinge
from tests.pairwise.plain import stream

MODELS = [
    OLP(6, random_state=0),
    OLP(6, buffer="rsx", regularization=0.1, norm="l1", radius=0.5, random_state=0),
    OLP(6, buffer="rs", loss=(Hinge().value, Hinge().derivative), average=False, random_state=0),
    OLP(6, buffer="fifo", loss="exponential", radius=1.0, random_state=0),
    OAM(7, C=0.1, random_state=0),
    OAM(7, variant="sequential", C=0.1, buffer="rsx2", random_state=0),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))
LABELS = [-1, 1]


def same(first, second):
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.intercept_, second.intercept_)
    assert first.n_samples_seen_ == second.n_samples_seen_


@settings(deadline=None, max_examples=40)
@given(model=st.sampled_from(MODELS), cuts=st.lists(st.integers(1, 80), max_size=6, unique=True))
def test_result_is_the_same_however_the_stream_is_cut(model, cuts):
    X, y = stream(80, 3)
    whole = clone(model).fit(X, y)
    parts = clone(model)
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), 80], strict=True):
        if start < end:
            parts.partial_fit(X[start:end], y[start:end], classes=LABELS)
    same(whole, parts)


@each_model
def test_point_by_point(model):
    X, y = stream(60, 3)
    points = clone(model)
    for x, label in zip(X, y, strict=True):
        points.partial_fit([x], [label], classes=LABELS)
    same(clone(model).fit(X, y), points)


@each_model
def test_blocks_inside_make_no_difference(model, monkeypatch):
    X, y = stream(60, 3)
    whole = clone(model).fit(X, y)
    monkeypatch.setattr(memory, "BLOCK_BYTES", 7 * 3 * 8)
    monkeypatch.setattr(memory, "FEWEST_ROWS", 1)
    same(whole, clone(model).fit(X, y))


@each_model
def test_the_seed_decides(model):
    X, y = stream(60, 3)
    same(clone(model).fit(X, y), clone(model).fit(X, y))
    again = clone(model).set_params(random_state=np.random.RandomState(0))
    same(clone(model).fit(X, y), again.fit(X, y))
    if model.buffer != "fifo":
        other = clone(model).set_params(random_state=1).fit(X, y)
        assert (other.coef_ != clone(model).fit(X, y).coef_).any()


@each_model
def test_a_copy_goes_on_where_the_model_stood(model):
    X, y = stream(60, 3)
    if isinstance(model, OLP) and isinstance(model.loss, tuple):
        model = clone(model).set_params(loss=(np.abs, np.sign))  # bound methods differ as copies
    whole = clone(model).fit(X, y)
    part = clone(model).fit(X[:30], y[:30])
    for copy in (deepcopy(part), pickle.loads(pickle.dumps(part))):
        same(whole, copy.partial_fit(X[30:], y[30:]))
    assert part.n_samples_seen_ == 30


@each_model
def test_coefficients_once_read_do_not_change(model):
    X, y = stream(60, 3)
    model = clone(model).fit(X[:30], y[:30])
    coef = model.coef_
    before = coef.copy()
    model.partial_fit(X[30:], y[30:])
    np.testing.assert_array_equal(coef, before)


@each_model
def test_fit_forgets(model):
    X, y = stream(60, 3)
    once = clone(model).fit(X, y)
    same(once, clone(model).fit(X[:20], y[:20]).fit(X, y))


@each_model
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_rows(model, kind):
    X, y = stream(60, 5)
    X[np.abs(X) < 0.8] = 0
    dense = clone(model).fit(X, y)
    same(dense, clone(model).fit(kind(X), y))
    np.testing.assert_allclose(dense.decision_function(kind(X)), dense.decision_function(X))


@each_model
def test_float32_is_learned_from_in_double_precision(model):
    X, y = stream(60, 5)
    X = X.astype(np.float32)
    single = clone(model).fit(X, y)
    same(single, clone(model).fit(X.astype(np.float64), y))
    assert single.coef_.dtype == np.float64


@each_model
def test_strided_rows(model):
    X, y = stream(60, 6)
    same(clone(model).fit(X[:, ::2], y), clone(model).fit(X[:, ::2].copy(), y))


@each_model
def test_threshold_is_midway_between_the_classes_and_leaves_the_auc_alone(model):
    X, y = stream(200, 3, shift=3)
    model = clone(model).fit(X, y)
    scores = model.decision_function(X)
    middle = (scores[y == 1].mean() + scores[y == -1].mean()) / 2
    np.testing.assert_allclose(middle, 0, atol=1e-9 * np.abs(scores).max())
    assert roc_auc_score(y, scores) == roc_auc_score(y, X @ model.coef_[0])
    np.testing.assert_array_equal(model.predict(X), np.where(scores > 0, 1, -1))


@each_model
def test_labels_may_be_strings(model):
    X, y = stream(60, 3)
    named = np.where(y == 1, "spam", "ham")
    other = clone(model).fit(X, named)
    same(other, clone(model).fit(X, y))
    assert other.classes_.tolist() == ["ham", "spam"]
    assert set(other.predict(X)) <= {"ham", "spam"}


@each_model
def test_one_class_so_far(model):
    X, y = stream(60, 3)
    with pytest.raises(ValueError, match="there must be two classes, but there is one class"):
        clone(model).fit(X, np.ones(60))
    for label in LABELS:
        started = clone(model).partial_fit(X[y == label], y[y == label], classes=LABELS)
        assert not started.coef_.any()
        assert (started.predict(X) == label).all()
        started.partial_fit(X[y != label][:1], y[y != label][:1])
        assert started.coef_.any()


@each_model
def test_identical_points_say_nothing(model):
    model = clone(model).fit(np.full((40, 3), 2.0), np.resize(LABELS, 40))
    np.testing.assert_array_equal(model.coef_, 0)
    np.testing.assert_array_equal(model.intercept_, 0)


@each_model
def test_what_is_refused_leaves_the_model_as_it_was(model):
    X, y = stream(60, 3)
    model = clone(model).fit(X, y)
    before = deepcopy(model)
    bad = X[:2].copy()
    bad[1, 1] = np.nan
    for wrong, labels, message in [
        (bad, y[:2], "NaN"),
        (np.full((2, 3), np.inf), y[:2], "infinity"),
        (X[:2, :2], y[:2], "2 features, but .* is expecting 3"),
        (X[:2], [1, 7], r"label 7, which is not one of the classes \[-1, 1\]"),
    ]:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(wrong, labels)
    with pytest.raises(ValueError, match="classes"):
        model.partial_fit(X[:2], y[:2], classes=[0, 1])
    same(before, model)
    same(before.partial_fit(X, y), model.partial_fit(X, y))


@each_model
def test_first_call_needs_two_classes(model):
    X, y = stream(10, 3)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        clone(model).partial_fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        clone(model).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match="there is one class"):
        clone(model).partial_fit(X, y, classes=[1, 1])
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        clone(model).fit(X, np.arange(10) % 3)
    started = clone(model)
    with pytest.raises(ValueError, match=r"label -?1, which is not one of the classes"):
        started.partial_fit(X, y, classes=[3, 4])
    buffer = started.buffer
    with pytest.raises(ValueError, match="'buffer' must be one of"):
        started.set_params(buffer="lifo").partial_fit(X, y, classes=LABELS)
    started.set_params(buffer=buffer).partial_fit(X, y, classes=LABELS)
    same(started, clone(model).fit(X, y))


@each_model
def test_memory_does_not_grow_with_the_stream(model):
    X, y = stream(3000, 3)
    model = clone(model).fit(X[:100], y[:100])
    if isinstance(model, OLP) and isinstance(model.loss, tuple):
        model.set_params(loss="hinge")
    before = len(pickle.dumps(model))
    model.partial_fit(X[100:], y[100:])
    assert len(pickle.dumps(model)) <= before + 16  # the digits of counts


def test_kernels_by_a_feature_map():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (1500, 2))
    y = np.sign(X[:, 0] * X[:, 1])
    for model in (OLP(random_state=0), OAM(C=1e-3, random_state=0)):
        features = RandomMaclaurin(n_components=100, random_state=0)
        piped = make_pipeline(features, model).fit(X[:1000], y[:1000])
        assert roc_auc_score(y[1000:], piped.decision_function(X[1000:])) > 0.9
        plainly = model.fit(X[:1000], y[:1000])
        assert roc_auc_score(y[1000:], plainly.decision_function(X[1000:])) < 0.65
