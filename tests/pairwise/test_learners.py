"""OLP and OAM against slow loops, on arrays and on items."""

import pickle
import re
from copy import deepcopy
from itertools import pairwise, starmap

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from kernlearn import memory
from kernlearn.pairwise import OAM, OLP, AllPairsMoments
from kernlearn.pairwise.learners import LOSSES, POLICIES
from tests.pairwise import plain
from tests.pairwise.plain import stream

LABELS = [-1, 1]
NAMES = ["d", "a", "c", "b", "e"]
MODELS = [
    OLP(6, random_state=0),
    OLP(6, buffer="rsx", regularization=0.1, radius=0.5, random_state=0),
    OLP(6, buffer="rs", loss="logistic", average=False, random_state=0),
    OLP(6, buffer="fifo", loss="exponential", radius=1.0, random_state=0),
    OAM(7, C=0.1, random_state=0),
    OAM(7, variant="sequential", average=True, C=0.1, buffer="rsx2", random_state=0),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=range(len(MODELS)))


def same(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    for mine, theirs in zip(one._state, other._state, strict=True):
        np.testing.assert_array_equal(mine, theirs)


# -- the algorithms -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_of_losses(name):
    loss, points = LOSSES[name], np.array([-3.0, -0.3, 0.0, 0.7, 1.6, 4.0])
    slopes = (loss.value(points + 1e-6) - loss.value(points - 1e-6)) / 2e-6
    np.testing.assert_allclose(loss.derivative(points), slopes, rtol=1e-6, atol=1e-8)
    margins = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(loss.derivative(margins), plain.LOSSES[name](margins))
    if name == "logistic":  # which neither overflows nor loses its tail
        assert loss.value(np.array([-1000.0, 800.0])).tolist() == [1000.0, 0.0]
        np.testing.assert_allclose(loss.derivative(np.array([40.0])), -np.exp(-40.0))


@pytest.mark.parametrize("regularization", [0.0, 0.3])
@pytest.mark.parametrize("radius", [0.4, None])
@pytest.mark.parametrize("loss", plain.LOSSES)
def test_olp_is_the_plain_loop(loss, radius, regularization):
    X, y = stream(150, 5)
    X *= 0.3  # so that the exponential loss without a radius stays finite
    what = {"loss": loss, "radius": radius, "regularization": regularization}
    what |= {} if regularization else {"eta": 0.5}
    expected = plain.olp(X, y, "rsx2", 8, seed=3, **what)
    model = OLP(8, random_state=3, **what).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected.mean(axis=0), rtol=0, atol=1e-10)
    last = OLP(8, random_state=3, average=False, **what).fit(X, y)
    np.testing.assert_allclose(last.coef_[0], expected[-1], rtol=0, atol=1e-10)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("buffer", POLICIES)
def test_olp_follows_every_buffer(buffer, size):
    X, y = stream(150, 3)
    expected = plain.olp(X, y, buffer, size, seed=1).mean(axis=0)
    found = OLP(size, buffer=buffer, random_state=1).fit(X, y).coef_[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("size", [2, 3, 9, 500])
@pytest.mark.parametrize("buffer", POLICIES)
@pytest.mark.parametrize("variant", ["gradient", "sequential"])
def test_oam_is_the_plain_loop(variant, buffer, size):
    X, y = stream(150, 4)
    # half each, and the odd one to the positive class
    sizes = size // 2, size - size // 2
    expected = plain.oam(X, y, buffer, sizes, seed=5, C=0.03, variant=variant)
    model = OAM(size, variant=variant, C=0.03, buffer=buffer, random_state=5).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected[-1], rtol=0, atol=1e-10)
    averaged = clone(model).set_params(average=True).fit(X, y)
    np.testing.assert_allclose(averaged.coef_[0], expected.mean(axis=0), rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("model", "grid"),
    [
        *((MODELS[i], {"eta": [1.0, 0.1], "radius": [None, 0.5, 3.0]}) for i in (0, 2, 3)),
        (MODELS[1], {"radius": [None, 0.5, 3.0]}),
        *((OLP(9, loss=loss, random_state=0), {"eta": [0.2, 0.1]}) for loss in plain.LOSSES),
        (MODELS[0], {"regularization": [0.1, 0.0, 2.0], "radius": [2.0]}),
        *((model, {"C": [1.0, 0.01, 1e-6]}) for model in MODELS[4:]),
        (AllPairsMoments(), {"regularization": [10.0, 1e-3]}),
        (AllPairsMoments(half_life=9.0), {"regularization": [10.0, 1e-3]}),
    ],
)
def test_a_path_is_fits_of_its_own(model, grid, kind):
    X, y = stream(150, 4)
    X = kind(0.5 * X)
    (fits,) = model.path(X[:90], y[:90], grid)
    assert len(fits.params) == np.prod([*map(len, grid.values())])
    predictions, scores = (fits.outputs(name, X) for name in ("predict", "decision_function"))
    for i, (params, one) in enumerate(zip(fits.params, fits.models, strict=True)):
        expected = clone(model).set_params(**params).fit(X[:90], y[:90])
        assert one.get_params() == expected.get_params()
        for _ in range(2):
            np.testing.assert_allclose(one.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(one.intercept_, expected.intercept_, rtol=1e-9, atol=1e-12)
            for each in (one, expected):
                each.partial_fit(X[90:], y[90:])  # each goes on alone
        expected.fit(X[:90], y[:90])
        np.testing.assert_allclose(scores[i], expected.decision_function(X), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(predictions[i], expected.predict(X))


def test_a_path_refuses_what_fit_refuses():
    X, y = stream(20, 3)
    for grid, message in [
        ({"loss": ["hinge"]}, "'loss'"),
        ({"eta": [-1]}, "'eta'"),
        ({"eta": [1.0, 2.0], "regularization": [0.0, 0.1]}, "eta has no meaning"),
    ]:
        with pytest.raises(ValueError, match=message):
            next(OLP().path(X, y, grid))


def test_a_pair_with_a_margin_of_one_still_counts_for_oam():
    # after two points w = C/2 (x - x') = (1, 0), and the third has a margin of exactly 1
    X, y = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [-1, 1, 1]
    np.testing.assert_array_equal(OAM(2, C=2.0).fit(X, y).coef_, [[2.0, 1.0]])


# -- streams --------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40)
@given(model=st.sampled_from(MODELS), cuts=st.lists(st.integers(1, 79), max_size=6, unique=True))
def test_result_is_the_same_however_the_stream_is_cut_and_the_model_copied(model, cuts):
    X, y = stream(80, 3)
    whole, parts = clone(model).fit(X, y), clone(model)
    for start, end in pairwise([0, *sorted(cuts), 80]):
        before, how = parts, (deepcopy, lambda model: pickle.loads(pickle.dumps(model)))[start % 2]
        parts = how(before).partial_fit(X[start:end], y[start:end], classes=LABELS)
    same(whole, parts)
    if cuts:  # the model that was copied stands where it stood
        same(whole, before.partial_fit(X[start:], y[start:]))
    same(whole, parts.fit(X, y))  # which forgets


@each_model
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
def test_sparse_rows_and_blocks_of_them(model, kind, monkeypatch):
    X, y = stream(60, 5)
    X[np.abs(X) < 0.8] = 0
    dense = clone(model).fit(X, y)
    monkeypatch.setattr(memory, "BLOCK_BYTES", 7 * 5 * 8)
    monkeypatch.setattr(memory, "FEWEST_ROWS", 1)
    same(dense, clone(model).fit(kind(X), y))
    np.testing.assert_allclose(dense.decision_function(kind(X)), dense.decision_function(X))


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
def test_one_class_so_far(model):
    X, y = stream(60, 3)
    for label in LABELS:
        started = clone(model).partial_fit(X[y == label], y[y == label], classes=LABELS)
        assert not started.coef_.any()
        assert (started.predict(X) == label).all()
        started.partial_fit(X[y != label][:1], y[y != label][:1])
        assert started.coef_.any()


@each_model
def test_what_is_refused_leaves_the_model_as_it_was(model):
    X, y = stream(60, 3)
    bad = np.where(np.eye(60, 3, -1), np.nan, X)
    started = clone(model)
    for classes, message in [
        (None, "classes must be passed on the first call"),
        ([0, 1, 2], "Only binary classification is supported"),
        ([1, 1], "there is one class"),
        ([3, 4], r"label -?1, which is not one of the classes"),
    ]:
        with pytest.raises(ValueError, match=message):
            started.partial_fit(X, y, classes=classes)
    with pytest.raises(ValueError, match="binary"):
        started.fit(X, np.arange(60) % 3)
    same(started.partial_fit(X, y, classes=LABELS), clone(model).fit(X, y))
    before = deepcopy(started)
    for wrong, labels, classes, message in [
        (bad, y, None, "NaN"),
        (X[:2, :2], y[:2], None, "2 features, but .* is expecting 3"),
        (X[:2], [1, 7], None, r"label 7, which is not one of the classes \[-1, 1\]"),
        (X[:2], [1, 1], [0, 1], "not the same as on the last call"),
    ]:
        with pytest.raises(ValueError, match=message):
            started.partial_fit(wrong, labels, classes=classes)
    same(before.partial_fit(X, y), started.partial_fit(X, y))


@each_model
def test_memory_does_not_grow_with_the_stream(model):
    X, y = stream(5000, 3)
    model = clone(model).fit(X[:1000], y[:1000])
    before = len(pickle.dumps(model))
    model.partial_fit(X[1000:], y[1000:])
    # moves that are drawn ahead for single points are kept
    assert len(pickle.dumps(model)) <= before + 20_000


def test_weights_beyond_all_bounds():
    X, y = stream(300, 2)
    model = OLP(loss="squared", eta=1e6, radius=None)
    with pytest.raises(ValueError, match="beyond all bounds"):
        model.fit(1e6 * X, y)
    items = zip(items_of(1e6 * X, "ab"), (y == 1).tolist(), strict=True)
    with pytest.raises(ValueError, match="beyond all bounds"):
        list(starmap(clone(model).learn_one, items))


# -- items ----------------------------------------------------------------------------------------

LEARNERS = [*MODELS, AllPairsMoments(), AllPairsMoments(half_life=50.0)]
each_learner = pytest.mark.parametrize("model", LEARNERS, ids=range(len(LEARNERS)))


def items_of(X, names=NAMES):
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def labelled(n):
    X, y = stream(n, 5, seed=4)
    return X, y == 1


def about_equal(one, other):
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-7, atol=1e-11)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-7, atol=1e-11)


@each_learner
@pytest.mark.parametrize("of_items", [50, 23])
def test_items_rows_and_a_pickle_may_alternate(model, of_items):
    X, y = labelled(700)
    expected = clone(model).partial_fit(X, y, classes=[False, True])
    mixed, items = clone(model), items_of(X)
    frame = pd.DataFrame(X, columns=NAMES)
    for start in range(0, 700, 50):
        for i in range(start, start + of_items):
            assert mixed.learn_one(items[i], y[i]) is None
        mixed = pickle.loads(pickle.dumps(mixed)) if start == 100 else mixed
        rows = slice(start + of_items, start + 50)
        if of_items < 50:
            mixed.partial_fit(frame[rows], y[rows])
    (about_equal if isinstance(model, AllPairsMoments) else same)(mixed, expected)
    assert mixed.n_samples_seen_ == 700
    assert mixed.feature_names_in_.tolist() == NAMES
    for x, score in zip(items[:20], expected.decision_function(X[:20]), strict=True):
        assert mixed.score_one(x) == pytest.approx(score, rel=1e-6, abs=1e-9)
        assert mixed.predict_one(x) is bool(score > 0)


@each_learner
def test_features_that_come_later_or_not_at_all_are_zero(model):
    X, y = labelled(300)
    X[:, 3] *= y  # 0 in each point of one class
    X[:150, 2:] = 0
    items = clone(model)
    for row, label in zip(X, y, strict=True):
        items.learn_one({NAMES[i]: row[i] for i in range(5) if row[i]}, label)
    order = [NAMES.index(name) for name in items.feature_names_in_]
    expected = clone(model).partial_fit(X, y, classes=[False, True])
    np.testing.assert_allclose(items.coef_, expected.coef_[:, order], rtol=1e-7, atol=1e-11)
    x = {NAMES[0]: 1.0}
    (score,) = expected.decision_function([[1.0, 0, 0, 0, 0]])
    assert items.score_one(x) == pytest.approx(score)
    assert items.score_one({**x, "new": 1e6}) == pytest.approx(score)
    assert items.n_features_in_ == 5
    items.partial_fit(pd.DataFrame(X[:, order], columns=items.feature_names_in_), y)
    expected.partial_fit(X, y)
    np.testing.assert_allclose(items.coef_, expected.coef_[:, order], rtol=1e-7, atol=1e-11)


def test_after_arrays_the_features_are_theirs():
    X, y = labelled(100)
    arrays, by_number = (OLP(8, random_state=0).fit(X, y) for _ in range(2))
    by_name = clone(arrays).fit(pd.DataFrame(X, columns=NAMES), y)
    arrays.partial_fit([[-2.0, 0, 0, 1.0, 0]], [True])
    for model, x, wrong in (
        (by_number, {3: 1.0, 0: -2.0}, "b"),
        (by_name, {"b": 1.0, "d": -2}, 3),
    ):
        model.learn_one(x, True)
        same(model, arrays)
        with pytest.raises(ValueError, match=re.escape(f"feature {wrong!r} is not one of")):
            model.learn_one({wrong: 1.0}, True)
    again = by_name.fit(X, y)  # a fit begins anew
    (score,) = again.decision_function([[1.0, 0, 0, 0, 0]])
    assert again.score_one({0: 1.0}) == pytest.approx(score)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": "red"}, "feature 'a' is 'red', and must be a finite number"),
        ({"a": None}, "feature 'a' is None"),
        ({"a": 1.0, "b": "1.5"}, "feature 'b' is '1.5'"),
        ({"b": 2.0, "a": -np.inf}, "feature 'a' is -inf"),
        ({"a": 10**400}, "feature 'a' is 1"),
        ({"a": 1.0, "new": np.nan}, "feature 'new' is nan"),
    ],
)
@pytest.mark.parametrize("n_before", [0, 3])
def test_items_that_are_no_points_change_nothing(n_before, x, message):
    model, untouched = OLP(4, random_state=0), OLP(4, random_state=0)
    points = [({"a": float(i), "b": 1.0}, i % 2 == 0) for i in range(n_before)]
    list(starmap(model.learn_one, points))
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, True)
    with pytest.raises(ValueError, match="'eggs'"):
        model.learn_one({"a": 1.0}, "eggs")
    later = [({"a": 2.0, "b": 1.0}, True), ({"a": 1.0, "b": 3.0}, False)]
    list(starmap(model.learn_one, later))
    list(starmap(untouched.learn_one, points + later))
    same(model, untouched)


def test_labels_of_items():
    named = OLP(random_state=0).partial_fit([[-1.0], [1.0]], ["ham", "spam"], ["ham", "spam"])
    assert (named.score_one({0: 0.0}), named.predict_one({0: 0.0})) == (0, "ham")
    named.learn_one({0: 2.0}, "spam")
    assert (named.predict_one({0: -2.0}), named.predict_one({0: 2.0})) == ("ham", "spam")
    model = OLP(random_state=0)
    assert (model.predict_one({"a": 1.0}), model.score_one({"a": 1.0})) == (None, 0)
    model.learn_one({}, 1)
    assert model.predict_one({"a": 1.0}) is True
    model.learn_one({"a": 1.0}, np.bool_(False))
    expected = OLP(random_state=0).partial_fit([[0.0], [1.0]], [1, 0], classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(ValueError, match="'eta'"):
        OLP(eta=-1.0).learn_one({"a": 1.0}, True)
