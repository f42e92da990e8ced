"""OLP and OAM on dictionaries, one at a time."""

import pickle
import re
from fractions import Fraction
from itertools import starmap

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss

from kernlearn.item_models import register_with_river
from kernlearn.pairwise import OAM, OLP, Buffer, Logistic
from tests.pairwise.plain import stream

NAMES = ["d", "a", "c", "b", "e"]


class Second(Buffer):
    """Every second point takes a random slot."""

    def update(self, t, n_kept, rng):
        if n_kept < self.size:
            return np.array([n_kept]), np.array([-1])
        return np.array([int(rng.integers(self.size))])[: t % 2], np.array([-1])[: t % 2]


LEARNERS = [
    OLP(8, random_state=0),
    OLP(8, buffer="rsx", average=False, norm="l1", radius=0.5, random_state=1),
    OLP(8, buffer="fifo", loss="logistic", regularization=0.1, random_state=1),
    OLP(8, buffer={"name": "time_biased", "half_life": 40}, calibration="sigmoid"),
    OLP(8, buffer="class_balanced", calibration="sigmoid", average=False, random_state=1),
    OLP(8, buffer="loss_weighted", random_state=1),
    OLP(8, buffer=Second, loss=Logistic(), random_state=1),
    OLP(8, loss=(Logistic().value, Logistic().derivative), random_state=1),
    OAM(8, C=0.1, random_state=2),
    OAM(9, variant="sequential", buffer="rsx2", average=True, calibration="sigmoid"),
]


def data(n=700):
    X, y = stream(n, 5, seed=4)
    return X, y == 1


def items_of(X, names=NAMES):
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def same_state(one, other):
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)
    np.testing.assert_array_equal(one._link, other._link)
    kept, others = (
        getattr(model, "_reservoirs", None) or [model._reservoir] for model in (one, other)
    )
    for mine, theirs in zip(kept, others, strict=True):
        np.testing.assert_array_equal(mine.rows, theirs.rows)
        np.testing.assert_array_equal(mine.codes, theirs.codes)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_items_and_arrays_give_the_same_bits(learner):
    X, y = data()
    learner = clone(learner).set_params(random_state=7)
    expected = clone(learner).partial_fit(X, y, classes=[False, True])
    items = clone(learner)
    for x, label in zip(items_of(X), y.tolist(), strict=True):
        assert items.learn_one(x, label) is None
    same_state(items, expected)
    assert items.n_samples_seen_ == len(y)
    assert items.feature_names_in_.tolist() == NAMES
    for x, row in zip(items_of(X[:20]), X[:20], strict=True):
        (score,) = expected.decision_function(row[np.newaxis])
        assert items.score_one(x) == pytest.approx(score, rel=1e-9, abs=1e-12)
        assert items.predict_one(x) is bool(score > 0)
        if learner.calibration:
            (both,) = expected.predict_proba(row[np.newaxis])
            found = items.predict_proba_one(x)
            assert list(found) == [False, True]
            np.testing.assert_allclose(list(found.values()), both, rtol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_items_rows_and_a_pickle_may_alternate(learner):
    X, y = data(400)
    learner = clone(learner).set_params(random_state=7)
    expected = clone(learner).partial_fit(X, y, classes=[False, True])
    mixed, items = clone(learner), items_of(X)
    frame = pd.DataFrame(X, columns=NAMES)
    for start in range(0, 400, 50):
        for i in range(start, start + 23):
            mixed.learn_one(items[i], y[i])
        if start == 100:
            mixed = pickle.loads(pickle.dumps(mixed))
        rows = slice(start + 23, start + 50)
        mixed.partial_fit(frame[rows], y[rows])
    same_state(mixed, expected)


def test_the_order_of_features_and_types_of_numbers_make_no_difference():
    X, y = data(100)
    X = X.round()
    expected = OLP(8, random_state=0).partial_fit(X, y, classes=[False, True])
    rng = np.random.default_rng(0)
    model = OLP(8, random_state=0).declare(NAMES)
    kinds = [int, float, np.float64, np.int32, Fraction]
    for row, label in zip(X, y, strict=True):
        order = rng.permutation(5)
        model.learn_one({NAMES[i]: kinds[rng.integers(5)](row[i]) for i in order}, label)
    same_state(model, expected)


def test_features_that_come_later_or_not_at_all_are_zero():
    X, y = data(300)
    X[:, 3] *= y  # 0 in each point of one class
    X[:150, 2:] = 0
    model = OLP(8, random_state=0)
    for row, label in zip(X, y, strict=True):
        model.learn_one({NAMES[i]: row[i] for i in range(5) if row[i]}, label)
    order = [NAMES.index(name) for name in model.feature_names_in_]
    expected = OLP(8, random_state=0).partial_fit(X, y, classes=[False, True])
    np.testing.assert_allclose(model.coef_, expected.coef_[:, order], atol=1e-12)
    np.testing.assert_allclose(model.intercept_, expected.intercept_, atol=1e-12)
    assert model.coef_.shape == (1, 5)
    x = {NAMES[0]: 1.0}
    (score,) = expected.decision_function([[1.0, 0, 0, 0, 0]])
    assert model.score_one(x) == pytest.approx(score)
    assert model.score_one({**x, "new": 1e6}) == pytest.approx(score)
    assert model.n_features_in_ == 5
    model.partial_fit(pd.DataFrame(X[:, order], columns=model.feature_names_in_), y)
    expected.partial_fit(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_[:, order], atol=1e-12)


def test_ever_new_features_are_all_kept():
    rng = np.random.default_rng(0)
    n = 200
    model, X = OAM(8, C=0.1, random_state=0), np.zeros((n, n + 1))
    y = rng.random(n) < 0.5
    for i in range(n):
        X[i, : i + 2 : 3] = rng.standard_normal(len(X[i, : i + 2 : 3]))
        model.learn_one({f"f{k}": X[i, k] for k in np.flatnonzero(X[i])}, bool(y[i]))
    columns = [int(name[1:]) for name in model.feature_names_in_]
    expected = OAM(8, C=0.1, random_state=0).partial_fit(X[:, columns], y, classes=[False, True])
    np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-12)


def test_after_arrays_the_features_are_theirs():
    X, y = data(100)
    arrays = OLP(8, random_state=0).fit(X, y)
    by_number = clone(arrays).fit(X, y)
    by_number.learn_one({3: 1.0, 0: -2.0}, True)
    same_state(by_number, arrays.partial_fit([[-2.0, 0, 0, 1.0, 0]], [True]))
    frame = pd.DataFrame(X, columns=NAMES)
    by_name = clone(arrays).fit(frame, y)
    by_name.learn_one({"b": 1.0, "d": -2.0}, True)
    same_state(by_name, arrays)
    for model, wrong in ((by_number, "b"), (by_name, 3)):
        for call in (lambda x, m=model: m.learn_one(x, True), model.score_one):
            with pytest.raises(ValueError, match=re.escape(f"feature {wrong!r} is not one of")):
                call({wrong: 1.0})
    again = by_name.fit(X, y)  # a fit begins anew
    assert again.score_one({0: 1.0}) == pytest.approx(
        again.decision_function([[1.0, 0, 0, 0, 0]])[0]
    )


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ({"a": "red"}, "feature 'a' is 'red', and must be a number: make indicators"),
        ({"a": "3.5"}, "feature 'a' is '3.5', and must be a number"),
        ({"a": None}, "feature 'a' is None"),
        ({"a": float("nan"), "b": 1.0}, "feature 'a' is nan, and must be finite"),
        ({"b": 2.0, "a": -np.inf}, "feature 'a' is -inf"),
        ({"a": 10**400}, "feature 'a' is 1"),
        ({"a": 1.0, "new": np.nan}, "feature 'new' is nan"),
        ([1.0, 2.0], "an item must be a dictionary of features, got list"),
    ],
)
@pytest.mark.parametrize("n_before", [0, 3])
def test_items_that_are_no_points_change_nothing(n_before, x, message):
    model, same = OLP(4, random_state=0), OLP(4, random_state=0)
    for i in range(n_before):
        for each in (model, same):
            each.learn_one({"a": float(i), "b": 1.0}, i % 2 == 0)
    with pytest.raises(ValueError, match=message):
        model.learn_one(x, True)
    if n_before:
        with pytest.raises(ValueError, match=message):
            model.score_one(x)
        assert model.n_features_in_ == 2
    for each in (model, same):
        each.learn_one({"a": 2.0, "b": 1.0}, True)
        each.learn_one({"a": 1.0, "b": 3.0}, False)
    same_state(model, same)


def test_labels():
    x = {"a": 1.0}
    with pytest.raises(ValueError, match=r"the first label is 'ham'.*declare\(classes"):
        OLP().learn_one(x, "ham")
    model = OLP(random_state=0).declare(classes=["spam", "ham"])
    assert model.predict_one(x) == "ham"  # nothing learned yet, a score of 0
    model.learn_one(x, "spam")
    model.learn_one({"a": -1.0}, "ham")
    assert (model.predict_one(x), model.predict_one({"a": -2.0})) == ("spam", "ham")
    with pytest.raises(ValueError, match=r"the label 'eggs' is not one of the classes \['ham'"):
        model.learn_one(x, "eggs")
    with pytest.raises(ValueError, match="two classes"):
        OLP().declare(classes=["spam"])
    with pytest.raises(ValueError, match="Only binary classification"):
        OLP().declare(classes=["a", "b", "c"])
    numbers = OLP(random_state=0)
    numbers.learn_one(x, 1)
    numbers.learn_one({"a": -1.0}, 0)
    numbers.learn_one({"a": -1.0}, np.bool_(False))
    assert numbers.predict_one(x) is True
    with pytest.raises(ValueError, match="'eta'"):
        OLP(eta=-1.0).learn_one(x, True)


def test_before_the_first_point():
    model = OLP(calibration="sigmoid")
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    assert model.score_one({"a": 1.0}) == 0
    assert not hasattr(model, "coef_")
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"a": 1.0}) is True
    assert not hasattr(OLP(), "predict_proba_one")
    assert not hasattr(OLP(), "predict_proba")


def test_an_item_may_be_empty():
    model = OLP(random_state=0)
    model.learn_one({}, True)
    model.learn_one({"a": 1.0}, False)
    expected = OLP(random_state=0).partial_fit([[0.0], [1.0]], [1, 0], classes=[0, 1])
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_weights_beyond_all_bounds():
    model = OLP(loss="squared", eta=1e6, radius=None)
    X, y = data(300)
    items = zip(items_of(1e6 * X), y, strict=True)
    with pytest.raises(ValueError, match="weights grew beyond all bounds"):
        list(starmap(model.learn_one, items))


# -- probabilities --------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [True, False])
def test_probabilities_are_those_of_the_scores_before_learning(average):
    X, y = data(200)
    model = OLP(8, average=average, calibration="sigmoid", random_state=0)
    scores, means, variances = [], {}, {}
    for code in (0, 1):
        means[code] = variances[code] = 0.0
    counts = {0: 0, 1: 0}
    for x, label in zip(X, y.astype(int), strict=True):
        score = float(model.coef_[0] @ x) if counts[0] + counts[1] else 0.0
        model.partial_fit([x], [label], classes=[0, 1])
        counts[label] += 1
        scores.append((label, score))
    for code in (0, 1):
        own = np.array([score for label, score in scores if label == code])
        weights = np.arange(1, len(own) + 1)
        means[code] = np.average(own, weights=weights)
        variances[code] = np.average((own - means[code]) ** 2, weights=weights)
    pooled = sum(counts[c] * variances[c] for c in (0, 1)) / 200
    raw = X @ model.coef_[0]
    odds = (means[1] - means[0]) / pooled * (raw - (means[1] + means[0]) / 2)
    odds += np.log((counts[1] + 0.5) / (counts[0] + 0.5))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(odds), rtol=1e-9)


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_probabilities_of_normal_classes_are_about_right(share):
    rng = np.random.default_rng(0)
    y = rng.random(8000) < share
    X = rng.standard_normal((8000, 3)) + np.outer(y, [1.5, 0.5, 0])
    true = expit(X @ [1.5, 0.5, 0] - (1.5**2 + 0.5**2) / 2 + np.log(share / (1 - share)))
    model = OLP(calibration="sigmoid", random_state=0).fit(X[:6000], y[:6000])
    found = model.predict_proba(X[6000:])[:, 1]
    # no worse than two hundredths than the true ones, and better than the share
    least = log_loss(y[6000:], true[6000:])
    assert log_loss(y[6000:], found) < least + 0.02
    assert log_loss(y[6000:], np.full(2000, share)) > least + 0.03


# -- river ----------------------------------------------------------------------------------------


def test_river_takes_the_learners():
    river = pytest.importorskip("river")
    from river import compose, datasets, evaluate, metrics, preprocessing

    register_with_river()
    assert isinstance(OLP(), river.base.Classifier)
    model = preprocessing.StandardScaler() | OLP(calibration="sigmoid", random_state=0)
    found = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert found.get() > 0.85
    model = compose.Pipeline(preprocessing.StandardScaler(), clone(model["OLP"]))
    auc = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.ROCAUC())
    assert auc.get() > 0.9
    assert model["OLP"].n_samples_seen_ == 1250
