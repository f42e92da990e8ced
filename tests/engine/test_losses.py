"""What test rows add to a metric: their mean is the metric, and texts keep it."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from kernlearn.config.names import METRICS
from kernlearn.engine import losses, run_plan
from kernlearn.engine.losses import SAMPLE, kept, values_of
from kernlearn.engine.preparation import Part
from kernlearn.engine.tasks import Predictions, value
from kernlearn.store import Store, chosen_by_mean, values_as_text, values_from_text

SKLEARNS = {"balanced_accuracy": balanced_accuracy_score, "roc_auc": roc_auc_score}


@pytest.mark.parametrize("metric", [*losses._OF_ROWS, *losses._OF_QUERIES])
@pytest.mark.parametrize("seed", range(3))
def test_the_mean_over_rows_is_the_metric(metric, seed):
    rng = np.random.default_rng(seed)
    of_scores = "auc" in metric
    true = rng.integers(2 if of_scores else 4, size=300)
    predicted = true + rng.normal(size=300) if of_scores else rng.integers(4, size=300)
    query = np.repeat(np.arange(20), 15) if "ndcg" in metric else None
    values = values_of(metric, true, predicted, query)
    assert values.shape == (300,) if query is None else (20,)
    if metric in SKLEARNS:
        expected = SKLEARNS[metric](true, predicted)
    else:
        expected = value(METRICS[metric], true, predicted, query)
    assert values.mean() == pytest.approx(expected)
    np.testing.assert_allclose(values_from_text(values_as_text(values)), values, rtol=1e-6)


@pytest.mark.parametrize("metric", ["auc", "rmse", "balanced_accuracy"])
def test_the_influences_of_rows_are_those_of_leaving_each_out(metric):
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=200)
    scores = np.round(true + rng.normal(size=200), 1)  # with ties
    if metric == "balanced_accuracy":
        true, scores = rng.permutation(200) // 130, np.where(rng.random(200) < 0.3, 1, true)

    def measured(rows):
        if metric in SKLEARNS:
            return SKLEARNS[metric](true[rows], scores[rows])
        return value(METRICS[metric], true[rows], scores[rows])

    everything = np.arange(200)
    whole = measured(everything)
    jackknife = [200 * whole - 199 * measured(np.delete(everything, i)) for i in everything]
    values = values_of(metric, true, scores)
    np.testing.assert_allclose(values, jackknife, rtol=0.01, atol=0.02)
    assert values.var() == pytest.approx(np.var(jackknife), rel=0.02)


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
        "protocol: {splits: 2}\nmetrics: [roc_auc, balanced_accuracy]\n"
    )
    with Store(tmp_path / "s.sqlite") as store:
        run_plan(plan, store)
        rows = store.get(trial.key for trial in plan.trials)
    for row in rows.values():
        for metric in ("roc_auc", "balanced_accuracy"):
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
