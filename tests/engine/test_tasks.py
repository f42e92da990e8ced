from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from kernlearn.config.names import BUILT_IN, METRICS, SUPERVISED, TASKS
from kernlearn.engine import build, run_plan
from kernlearn.engine.preparation import Part
from kernlearn.engine.splits import random_state
from kernlearn.engine.tasks import CLASSIFICATION, Predictions, auc, equal_frequency
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.pairwise import stream_regret
from kernlearn.pairwise.regret import follow
from kernlearn.reports.report import remarks
from kernlearn.store import Store
from tests.engine.conftest import SMALL


@pytest.fixture
def ended(planned, tmp_path):
    """A function that runs a text, and returns its trials and their rows in order."""

    def run(text, *changes):
        plan = planned(text, *changes)
        with Store(tmp_path / "s") as store:
            run_plan(plan, store)
            rows = store.get(trial.key for trial in plan.trials)
        return plan.trials, [rows[trial.key] for trial in plan.trials]

    return run


def test_bins_hold_as_many_rows_each():
    values = np.random.default_rng(0).permutation(np.arange(100.0))
    np.testing.assert_array_equal(equal_frequency(values, 10), values // 10)


def test_metrics_by_hand():
    true, predicted = np.array([0, 0, 1, 3]), np.array([0, 1, 1, 1])
    predictions = Predictions(Part(None, true), predicted)
    measured = {task: TASKS[task].load().measure(predictions) for task in SUPERVISED[-3:-1]}
    assert measured == {
        "regression": {"mse": 1.25, "mae": 0.75},
        "ordinal": {"aae": 0.75, "macro_aae": pytest.approx(2.5 / 3), "zero_one": 0.5},
    }
    assert CLASSIFICATION.measure(predictions) == {"accuracy": 0.5, "error_percent": 50}


def test_a_metric_may_change_what_it_gets():
    def changing(y_true, y_pred):
        y_true[:] = y_pred[:] = 0
        return 1.0

    predictions = Predictions(Part(None, np.array([0, 1])), np.array([1, 1]))
    own = [replace(METRICS["accuracy"], name="changing", target=changing)]
    assert replace(CLASSIFICATION, own=own).measure(predictions)["changing"] == 1
    assert CLASSIFICATION.measure(predictions)["accuracy"] == 0.5


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


@pytest.mark.parametrize(
    ("metric", "better", "changes"),
    [
        ("mse", 0.01, []),
        (
            "aae",
            0.5,
            [
                ("task: regression", "task: ordinal"),
                ("mine.csv}", "mine.csv, bins: 5}"),
                ("metrics: [mse", "metrics: [aae, f1_macro, zero_one"),
                (", scale_target: max_abs", ""),
            ],
        ),
    ],
)
def test_regression_and_ordinal_regression_of_a_file(ended, tmp_path, metric, better, changes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = 100 * (X @ [1, 2, 0] + 0.01 * rng.normal(size=200))
    np.savetxt(tmp_path / "mine.csv", np.c_[X, y], delimiter=",", header="a,b,c,y", comments="")
    for trial, row in zip(*ended(REGRESSION, *changes), strict=True):
        is_svr = trial.labels["method"] == "SVR"
        assert (row.metrics[metric] < better) == is_svr
        assert row.info.get("selected") == ({"C": 10} if is_svr else None)
        assert ("f1_macro" in row.metrics) == (metric == "aae")


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
def test_ranking_on_the_published_folds(ended, data_dir, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", str(data_dir))
    found = {t.labels["method"]: row for t, row in zip(*ended(RANKING), strict=True)}
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


def test_bipartite_ranking_judges_scores_by_auc(ended):
    _, found = ended(BIPARTITE)
    assert all(0.85 < result.metrics["auc"] < 1 for result in found)
    true, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.5, 0.4, 0.9])
    assert TASKS["bipartite_ranking"].load().measure(Predictions(Part(None, true), scores)) == {
        "auc": 0.75
    }


IRIS = """\
title: t
datasets: {iris: {}}
methods: {SVM: {estimator: sklearn.svm.LinearSVC}, logistic: {estimator: LogisticRegression}}
protocol: {splits: 2}
metrics: [accuracy, log_loss, roc_auc]
"""


def test_a_metric_without_a_value_leaves_the_others(ended, planned):
    """An SVM has no probabilities, and three classes no ROC curve."""
    trials, rows = ended(IRIS)
    ways = {t.labels["method"]: r for t, r in zip(trials, rows, strict=True)}
    assert "log_loss" in ways["logistic"].metrics
    assert "log_loss" not in ways["SVM"].metrics
    assert "predict_proba" in ways["SVM"].info["not_measured"]["log_loss"]
    assert "roc_auc_ovr" in ways["logistic"].info["not_measured"]["roc_auc"]
    assert 0 < ways["SVM"].metrics["accuracy"] < 1
    shown = remarks(planned(IRIS), [*zip(trials, rows, strict=True)])
    assert any(text.startswith("2 of 4 trials have no log_loss:") for text in shown)


def test_a_method_that_needs_vectors_says_so(ended, tmp_path):
    rows = "".join(f"{'ab'[i % 2]}{'c' * i},{i % 2}\n" for i in range(40))
    (tmp_path / "w.csv").write_text("word,kind\n" + rows)
    _, rows = ended(IRIS, ("iris: {}", "w: {file: w.csv, points: word, target: kind}"))
    assert all("the points are strings: take a method or kernel" in row.error for row in rows)


def test_bipartite_ranking_needs_two_classes(ended):
    moons = "two_moons, n_samples: 200, noise: 0.3"
    _, found = ended(BIPARTITE, (moons, "waveform, n_samples: 90"))
    assert all("needs two classes, not 3" in str(result.error) for result in found)


REGRET = """\
title: t
task: regret
datasets: {stream: {generator: two_gaussians, n_samples: [40, 80], n_features: 3}}
methods: {OLP: {estimator: OLP, radius: 2, buffer_size: 5, regularization: [0, 0.1]}}
metrics: [regret, buffer_regret]
protocol: {splits: 1, train: 0.5, scale: [max_norm]}
"""


def test_regret_is_that_of_the_learner_on_the_training_part(ended):
    trials, rows = ended(REGRET)
    assert [row.done for row in rows] == [True] * 4
    for trial, result in zip(trials, rows, strict=True):
        assert result.info["n"] == trial.labels["n_samples"] // 2
        _, parts = build.load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})
        learner = build.build_estimator(trial, BUILT_IN, None)
        seen = follow(learner, parts.train.X, parts.train.y)
        expected = stream_regret(
            parts.train.X,
            parts.train.y,
            seen.hypotheses,
            seen.contents,
            radius=2,
            regularization=trial.labels["regularization"],
        )
        pairs, metrics = expected.all_pairs, result.metrics
        assert (metrics["regret"], metrics["regret_per_round"]) == (pairs.regret, pairs.per_round)
        assert metrics["buffer_regret"] == expected.buffer.regret


def test_a_compositional_map_is_compared_with_the_composed_kernel(ended):
    _, (few, many) = ended(
        "title: t\ntask: kernel_approximation\nmetrics: [gram_error]\nprotocol: {splits: 1}\n"
        "datasets: {ball: {generator: unit_ball, n_samples: 20, n_features: 3}}\n"
        "kernels: {square: {kernel: polynomial, degree: 2}}\n"
        "methods: {map: {estimator: CompositionalMaclaurin, n_components: [10, 20000]}}\n"
    )
    assert many.metrics["gram_error"] < 0.1 < few.metrics["gram_error"]


def test_a_map_is_fitted_to_the_training_part_and_compared_on_the_test_part(ended, tmp_path):
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(60, 4))
    rows = [",".join(map(str, [*x.tolist(), i % 2])) for i, x in enumerate(X)]
    (tmp_path / "mine.csv").write_text("\n".join(["a,b,c,d,y", *rows]))
    trials, found = ended(
        "title: t\ntask: kernel_approximation\nmetrics: [relative_gram_error]\n"
        "datasets: {mine: {file: mine.csv, target: y}}\n"
        "kernels:\n  square: {kernel: polynomial, degree: 2}\n"
        "  cube: {kernel: polynomial, degree: 3}\n"
        "methods:\n  map: {estimator: RandomMaclaurin, n_components: 50}\n"
        "  sketch:\n    estimator: sklearn.kernel_approximation.PolynomialCountSketch\n"
        "    degree: 2\n    coef0: 1\n"
        "protocol: {splits: 2, train: 0.5, scale: [zscore, unit_norm], seed: 3}\n"
    )
    # the sketch has no kernel of its own and is compared with both
    cells = [(t.labels["kernel"], t.labels["method"], t.split) for t in trials]
    assert len(cells) == len(set(cells)) == 8
    both = zip(trials, found, strict=True)
    trial, row = next(one for one in both if (one[0].labels["method"], one[0].split) == ("map", 1))
    _, parts = build.load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})
    kernel = PolynomialKernel(2)
    seed = random_state(3, "estimator", 1)
    Z = RandomMaclaurin(kernel, 50, random_state=seed).fit(parts.train.X).transform(parts.test.X)
    gram = kernel(parts.test.X)
    expected = np.linalg.norm(gram - Z @ Z.T) / np.linalg.norm(gram)
    assert row.metrics["relative_gram_error"] == pytest.approx(expected)
    assert row.info["n_train"] == 30


def test_goodness_is_that_of_the_kernel_on_training_rows(ended):
    goodness = ("[accuracy,", "[accuracy, goodness_error, goodness_margin,")
    majority, found = ("K: {", "majority: {estimator: DummyClassifier}\n  K: {"), {}
    for trial, row in zip(*ended(SMALL, goodness, majority), strict=True):
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


def test_feature_maps_are_compared_on_published_folds(ended, tmp_path):
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
    _, rows = ended(text)
    assert [(row.info["n_train"], row.info["n_samples"]) for row in rows] == [(10, 10)] * 3


def test_a_column_of_predictions_is_a_vector():
    """CatBoost gives classes in the shape (n, 1)."""
    labels = np.array([0, 2, 1])
    found = CLASSIFICATION.label(labels[:, None], 3, labels)
    np.testing.assert_array_equal(found, labels)
