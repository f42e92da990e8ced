"""What test rows add to a metric: their mean is the metric, and texts keep it."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    precision_score,
    recall_score,
    roc_auc_score,
)

from kernlearn.config.names import METRICS
from kernlearn.engine import losses, run_plan
from kernlearn.engine.losses import SAMPLE, kept, values_of
from kernlearn.engine.preparation import Part
from kernlearn.engine.tasks import Predictions, value
from kernlearn.store import Store, chosen_by_mean, values_as_text, values_from_text

SKLEARNS = {
    "balanced_accuracy": balanced_accuracy_score,
    "roc_auc": roc_auc_score,
    "average_precision": average_precision_score,
    "f1": f1_score,
    "precision": precision_score,
    "recall": recall_score,
}


@pytest.mark.parametrize("metric", [*losses._OF_ROWS, *losses._OF_SCORES, *losses._OF_QUERIES])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_over_rows_is_the_metric(metric, seed):
    rng = np.random.default_rng(seed)
    of_scores = "auc" in metric or metric == "average_precision"
    n_grades = 2 if of_scores or metric in ("f1", "precision", "recall") else 4
    true = rng.integers(n_grades, size=300)
    predicted = np.round(true + rng.normal(size=300), 1)  # with ties
    if not of_scores:
        predicted = rng.integers(n_grades, size=300)
    query = np.repeat(np.arange(20), 15) if "ndcg" in metric else None
    values = values_of(metric, true, predicted, query)
    assert values.shape == (300,) if query is None else (20,)
    if metric in SKLEARNS:
        expected = SKLEARNS[metric](true, predicted)
    else:
        expected = value(METRICS[metric], true, predicted, query)
    assert values.mean() == pytest.approx(expected)
    np.testing.assert_allclose(values_from_text(values_as_text(values)), values, rtol=1e-6)


@pytest.mark.parametrize("metric", ["auc", "rmse"])
def test_the_influences_of_rows_are_those_of_leaving_each_out(metric):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=200)
    scores = np.round(true + rng.normal(size=200), 1)  # with ties

    def measured(rows):
        return value(METRICS[metric], true[rows], scores[rows])

    everything = np.arange(200)
    whole = measured(everything)
    jackknife = [200 * whole - 199 * measured(np.delete(everything, i)) for i in everything]
    values = values_of(metric, true, scores)
    np.testing.assert_allclose(values, jackknife, rtol=0.01, atol=0.02)
    assert values.var() == pytest.approx(np.var(jackknife), rel=0.02)


@pytest.mark.parametrize("metric", SKLEARNS)
@pytest.mark.parametrize("n_positive", [12, 60])
def test_the_influences_of_rows_are_derivatives_by_their_weights(metric, n_positive):
    rng = np.random.default_rng(0)
    true = rng.permutation(200) // (200 - n_positive)
    predicted = np.round(true + rng.normal(size=200), 1)  # with ties
    if metric in ("balanced_accuracy", "f1", "precision", "recall"):
        predicted = (predicted > 0.8).astype(int)
    whole, step = SKLEARNS[metric](true, predicted), 1e-5
    weights = 1 + step * np.eye(200)
    more = np.array([SKLEARNS[metric](true, predicted, sample_weight=one) for one in weights])
    expected = whole + 200 * (more - whole) / step
    np.testing.assert_allclose(values_of(metric, true, predicted), expected, atol=0.002)


def test_the_same_rows_are_kept_of_every_method():
    rng = np.random.default_rng(0)
    true = rng.normal(size=5 * SAMPLE)
    zero, half = (Predictions(Part(None, true), share * true) for share in (0, 0.5))
    first = values_from_text(kept(["mse"], zero, 1, 2)["mse"])
    again = values_from_text(kept(["mse"], half, 1, 2)["mse"])
    np.testing.assert_allclose(again, first / 4, rtol=1e-6)
    assert len(first) == SAMPLE
    other = values_from_text(kept(["mse"], half, 1, 3)["mse"])
    assert not np.array_equal(other, again)
    assert kept(["fit_seconds"], half, 1, 2) == {}


@pytest.mark.parametrize("estimator", ["LogisticRegression", "KNeighborsClassifier"])
def test_losses_of_scores_are_those_of_the_fitted_method(planned, tmp_path, estimator):
    plan = planned(
        "title: t\ndatasets: {breast_cancer: {sample: 200}}\n"
        f"methods: {{m: {{estimator: {estimator}}}}}\n"
        "protocol: {splits: 2}\nmetrics: [roc_auc, average_precision, f1]\n"
    )
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        rows = store.get(trial.key for trial in plan.trials)
    for row in rows.values():
        for metric in ("roc_auc", "average_precision", "f1"):
            values = values_from_text(row.info["losses"][metric])
            assert values.mean() == pytest.approx(row.metrics[metric])


def test_a_grid_keeps_the_losses_of_the_point_that_is_chosen(planned, tmp_path):
    plan = planned(
        "title: t\ndatasets: [iris]\n"
        "methods: {k: {estimator: KNeighborsClassifier, n_neighbors: {select: [1, 30]}}}\n"
        "protocol: {splits: 3, select_by_mean: true, folds: 5}\nmetrics: [accuracy]\n"
    )
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        rows = chosen_by_mean(store.get(trial.key for trial in plan.trials))
    for row in rows.values():
        values = values_from_text(row.info["losses"]["accuracy"])
        assert len(values) == row.info["n_test"]
        assert values.mean() == pytest.approx(row.metrics["accuracy"])


@pytest.mark.parametrize("values", [[0, 100, 100], [True, False], [0, 0, 0], [], [0.5, -1, 2]])
def test_texts_give_values_back(values):
    array = np.array(values)
    np.testing.assert_array_equal(values_from_text(values_as_text(array)), array.astype(float))
