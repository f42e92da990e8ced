from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from kernlearn.config import load_config
from kernlearn.config.names import BUILT_IN, TASKS
from kernlearn.engine import build, make_executor, make_plan, run_plan
from kernlearn.engine.tasks import Predictions, auc, equal_frequency
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.pairwise import stream_regret
from kernlearn.pairwise.regret import follow
from kernlearn.reports.report import remarks
from kernlearn.store import Store


def ended(folder, text):
    """Run a config, and return its trials and their rows in order."""
    path = folder / "c.yaml"
    path.write_text(text)
    plan = make_plan(load_config(path))
    with Store(folder / "s") as store:
        run_plan(plan, store)
        rows = store.get(trial.key for trial in plan.trials)
    return plan.trials, [rows[trial.key] for trial in plan.trials]


def test_bins_hold_as_many_rows_each():
    values = np.random.default_rng(0).permutation(np.arange(100.0))
    grades = equal_frequency(values, 10)
    np.testing.assert_array_equal(np.bincount(grades), 10)
    assert (np.diff(grades[np.argsort(values)]) >= 0).all()


def test_metrics_by_hand():
    true, predicted = np.array([0, 0, 1, 3]), np.array([0, 1, 1, 1])
    predictions = Predictions(true, predicted)
    assert TASKS["ordinal"].load().measure(predictions) == {
        "aae": 0.75,
        "macro_aae": pytest.approx((0.5 + 0 + 2) / 3),
        "zero_one": 0.5,
    }
    assert TASKS["regression"].load().measure(predictions) == {"mse": 1.25, "mae": 0.75}
    assert TASKS["classification"].load().measure(predictions) == {
        "accuracy": 0.5,
        "error_percent": 50.0,
    }


REGRESSION = """\
title: t
task: regression
datasets: {mine: {file: mine.csv}}
methods:
  mean: {estimator: DummyRegressor, baseline: true}
  k-NN: {estimator: sklearn.neighbors.KNeighborsRegressor, n_neighbors: 90, baseline: true}
  SVR: {estimator: SVR, kernel: linear, epsilon: 0.001, C: {select: [0.001, 10]}}
protocol: {splits: 2, train: 0.6, scale: [zscore], scale_target: max_abs}
metrics: [mse, fit_seconds]
"""


def test_regression_and_ordinal_regression_of_a_file(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 100 * (X @ [1, 2, 0] + 0.01 * rng.normal(size=200))
    np.savetxt(tmp_path / "mine.csv", np.c_[X, y], delimiter=",", header="a,b,c,y", comments="")
    path = tmp_path / "c.yaml"
    path.write_text(REGRESSION)
    ordinal = REGRESSION.replace("task: regression", "task: ordinal")
    ordinal = ordinal.replace("mine.csv}", "mine.csv, bins: 5}").replace(
        "metrics: [mse", "metrics: [aae"
    )
    other = tmp_path / "o.yaml"
    other.write_text(ordinal.replace(", scale_target: max_abs", ""))
    with Store(tmp_path / "s") as store:
        for config, metric, better in ((path, "mse", 0.01), (other, "aae", 0.5)):
            plan = make_plan(load_config(config))
            assert plan.experiment.config.compared == ["SVR"]
            assert run_plan(plan, store).done == 6
            results = store.get(t.key for t in plan.trials)
            for trial in plan.trials:
                found = results[trial.key].metrics[metric]
                if trial.labels["method"] == "SVR":
                    assert found < better
                    assert results[trial.key].info["selected"] == {"C": 10}
                else:
                    assert found > better


RANKING = """\
title: t
task: ranking
datasets: [mq2008]
methods:
  ridge: {estimator: Ridge, alpha: {select: [0.1, 10]}}
  RankLand: {estimator: RankLand, similarity: manhattan, n_landmarks: 30, C: 1}
  mean: {estimator: DummyRegressor}
protocol: {folds: published, splits: 1, scale: [zscore]}
metrics: [ndcg, letor_mean_ndcg]
"""


@pytest.mark.data
def test_ranking_on_the_published_folds(tmp_path, data_dir, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", str(data_dir))
    path = tmp_path / "c.yaml"
    path.write_text(RANKING)
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store, closing(make_executor()) as executor:
        assert run_plan(plan, store, executor=executor).done == 3
        results = store.get(t.key for t in plan.trials)
    found = {t.labels["method"]: results[t.key] for t in plan.trials}
    assert found["mean"].info["n_train"] == 2933 + 3635 + 3062
    assert found["mean"].info["n_test"] == 2874
    for metric in ("ndcg", "ndcg_10", "letor_ndcg_10", "letor_mean_ndcg"):
        worst = found["mean"].metrics[metric]
        assert found["ridge"].metrics[metric] > worst
        assert found["RankLand"].metrics[metric] > worst


BIPARTITE = """\
title: t
task: bipartite_ranking
datasets: {moons: {generator: two_moons, n_samples: 200, noise: 0.3}}
methods: {logistic: {estimator: LogisticRegression, C: {select: [0.01, 1]}}}
protocol: {splits: 2, scale: [zscore]}
metrics: [auc]
"""


def test_bipartite_ranking_judges_scores_by_auc(tmp_path):
    _, found = ended(tmp_path, BIPARTITE)
    assert all(0.85 < result.metrics["auc"] < 1 for result in found)
    true, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.5, 0.4, 0.9])
    assert TASKS["bipartite_ranking"].load().measure(Predictions(true, scores)) == {"auc": 0.75}


def test_metrics_of_two_classes_name_those_of_more(tmp_path):
    config = """\
title: t
task: classification
datasets: {iris: {}}
methods: {k: {estimator: DummyClassifier}}
protocol: {splits: 1}
metrics: [accuracy, roc_auc]
"""
    _, (row,) = ended(tmp_path, config)
    assert row.info["not_measured"] == {
        "roc_auc": "ValueError: roc_auc: for two classes, not 3; forms for more have names such "
        "as f1_macro and roc_auc_ovr"
    }
    assert 0 < row.metrics["accuracy"] < 1


def test_a_metric_without_a_value_leaves_the_others(tmp_path):
    """An SVM has no probabilities."""
    config = """\
title: t
datasets: {iris: {}}
methods: {SVM: {estimator: sklearn.svm.LinearSVC}, logistic: {estimator: LogisticRegression}}
protocol: {splits: 2}
metrics: [accuracy, log_loss]
"""
    trials, rows = ended(tmp_path, config)
    ways = {t.labels["method"]: r for t, r in zip(trials, rows, strict=True)}
    assert "log_loss" in ways["logistic"].metrics
    assert "log_loss" not in ways["SVM"].metrics
    assert "predict_proba" in ways["SVM"].info["not_measured"]["log_loss"]
    assert "accuracy" in ways["SVM"].metrics
    plan, known = make_plan(load_config(tmp_path / "c.yaml")), [*zip(trials, rows, strict=True)]
    assert any(text.startswith("2 of 4 trials have no log_loss:") for text in remarks(plan, known))


def test_bipartite_ranking_needs_two_classes(tmp_path):
    three = BIPARTITE.replace("two_moons, n_samples: 200, noise: 0.3", "waveform, n_samples: 90")
    _, found = ended(tmp_path, three)
    assert all("needs two classes, not 3" in str(result.error) for result in found)


REGRET = """\
title: t
task: regret
datasets: {stream: {generator: two_gaussians, n_samples: [40, 80], n_features: 3}}
methods: {OLP: {estimator: OLP, radius: 2, buffer_size: 5, regularization: [0, 0.1]}}
metrics: [regret, buffer_regret]
protocol: {splits: 1, train: 0.5, scale: [max_norm]}
"""


def test_regret_is_that_of_the_learner_on_the_training_part(tmp_path):
    trials, rows = ended(tmp_path, REGRET)
    assert [row.done for row in rows] == [True] * 4
    for trial, result in zip(trials, rows, strict=True):
        how = trial.spec.protocol
        assert result.info["n"] == trial.labels["n_samples"] // 2
        data = build.load_data(trial, BUILT_IN)
        parts = build.prepare(data, data.target, how, 0)
        learner = build.build_estimator(trial, BUILT_IN, None)
        seen = follow(learner, parts.X_train, parts.y_train)
        expected = stream_regret(
            parts.X_train,
            parts.y_train,
            seen.hypotheses,
            seen.contents,
            radius=2,
            regularization=trial.labels["regularization"],
        )
        assert result.metrics["regret"] == expected.all_pairs.regret
        assert result.metrics["regret_per_round"] == expected.all_pairs.per_round
        assert result.metrics["buffer_regret"] == expected.buffer.regret


def test_a_compositional_map_is_compared_with_the_composed_kernel(tmp_path):
    _, (few, many) = ended(
        tmp_path,
        "title: t\ntask: kernel_approximation\nmetrics: [gram_error]\nprotocol: {splits: 1}\n"
        "datasets: {ball: {generator: unit_ball, n_samples: 20, n_features: 3}}\n"
        "kernels: {square: {kernel: polynomial, degree: 2}}\n"
        "methods: {map: {estimator: CompositionalMaclaurin, n_components: [10, 20000]}}\n",
    )
    assert many.metrics["gram_error"] < 0.1 < few.metrics["gram_error"]


def test_a_map_is_fitted_to_the_training_part_and_compared_on_the_test_part(tmp_path):
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(60, 4))
    rows = [",".join(map(str, [*x.tolist(), i % 2])) for i, x in enumerate(X)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,c,d,y", *rows]))
    trials, found = ended(
        tmp_path,
        "title: t\ntask: kernel_approximation\nmetrics: [relative_gram_error]\n"
        "datasets: {mine: {file: mine.csv, target: y}}\n"
        "kernels:\n  square: {kernel: polynomial, degree: 2}\n"
        "  cube: {kernel: polynomial, degree: 3}\n"
        "methods:\n  map: {estimator: RandomMaclaurin, n_components: 50}\n"
        "  sketch:\n    estimator: sklearn.kernel_approximation.PolynomialCountSketch\n"
        "    degree: 2\n    coef0: 1\n"
        "protocol: {splits: 2, train: 0.5, scale: [zscore, unit_norm], seed: 3}\n",
    )
    # the sketch has no kernel of its own and is compared with both
    cells = [(t.labels["kernel"], t.labels["method"], t.split) for t in trials]
    assert len(cells) == len(set(cells)) == 8
    both = zip(trials, found, strict=True)
    trial, row = next(one for one in both if (one[0].labels["method"], one[0].split) == ("map", 1))
    data = build.load_data(trial, BUILT_IN)
    parts = build.prepare(data, data.target, trial.spec.protocol, 1)
    kernel = PolynomialKernel(2)
    seed = build.random_state(3, "estimator", 1)
    Z = RandomMaclaurin(kernel, 50, random_state=seed).fit(parts.X_train).transform(parts.X_test)
    gram = kernel(parts.X_test)
    expected = np.linalg.norm(gram - Z @ Z.T) / np.linalg.norm(gram)
    assert row.metrics["relative_gram_error"] == pytest.approx(expected)
    assert row.info["n_train"] == 30


def test_goodness_is_that_of_the_kernel_on_training_rows(small, tmp_path):
    text = small.read_text().replace("[accuracy,", "[accuracy, goodness_error, goodness_margin,")
    small.write_text(text.replace("K: {", "majority: {estimator: DummyClassifier}\n  K: {"))
    found = {}
    for trial, row in zip(*ended(tmp_path, small.read_text()), strict=True):
        metrics = row.metrics
        assert (metrics.get("n_support", 0) > 0) == (trial.labels["method"] == "K")
        good = {k: v for k, v in metrics.items() if k.startswith("goodness")}
        assert len(good) == (0 if trial.labels["method"] == "majority" else 2)
        if good:  # the same for all methods
            key = trial.labels["dataset"], trial.split
            assert good == pytest.approx(found.setdefault(key, good))
            assert 0 < good["goodness_error"] < 0.5


@given(st.integers(2, 40), st.integers(0, 2**31 - 1))
def test_auc_is_that_of_scikit_learn(n, seed):
    rng = np.random.default_rng(seed)
    true, scores = np.r_[0, 1, rng.integers(2, size=n)], rng.integers(5, size=n + 2) / 7
    assert auc(true, scores) == pytest.approx(roc_auc_score(true, scores), abs=1e-12)


def test_feature_maps_are_compared_on_published_folds(tmp_path):
    (tmp_path / "own.py").write_text(
        "import numpy as np\n"
        "from kernlearn.plugins import register_dataset\n"
        "@register_dataset()\n"
        "def folded():\n"
        "    X = np.linspace(0, 1, 60).reshape(30, 2)\n"
        "    return {'data': X, 'target': np.arange(30) % 2, 'fold': np.arange(30) // 10}\n"
    )
    text = (
        "title: t\ntask: kernel_approximation\nplugins: [own.py]\ndatasets: [folded]\n"
        "kernels: {g: {kernel: polynomial, degree: 2}}\n"
        "methods: {RF: {estimator: RandomMaclaurin, n_components: 5}}\n"
        "metrics: [gram_error]\nprotocol: {folds: published, splits: 3}\n"
    )
    _, rows = ended(tmp_path, text)
    assert [(row.error, row.info["n_train"], row.info["n_samples"]) for row in rows] == [
        (None, 10, 10)
    ] * 3


def test_a_column_of_predictions_is_a_vector():
    """CatBoost gives classes in the shape (n, 1)."""
    labels = np.array([0, 2, 1])
    found = TASKS["classification"].load().label(labels[:, None], 3, labels)
    np.testing.assert_array_equal(found, labels)
