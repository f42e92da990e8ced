"""The task `prequential`: points of a stream are scored before they are learned from."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from kernlearn.experiments import Store, load_config, make_plan, run_plan
from kernlearn.experiments.engine import build
from kernlearn.experiments.engine.streams import prequential_auc, stream_scores
from kernlearn.experiments.registry import BUILT_IN
from kernlearn.pairwise import OLP

CONFIG = """\
title: t
task: prequential
datasets: {stream: {generator: two_gaussians, n_samples: 700, n_features: 3, jump: 1}}
methods: {OLP: {estimator: OLP, buffer_size: 5, average: false, METHOD}}
metrics: [prequential_auc]
protocol: {splits: 2, scale: [zscore], max_train: 600, validation: 0.25}
"""


def measured(folder, method):
    path = folder / "c.yaml"
    path.write_text(CONFIG.replace("METHOD", method))
    plan = make_plan(load_config(path))
    with Store(folder / "s") as store:
        run_plan(plan, store)
        return [(trial, store.get([trial.key])[trial.key]) for trial in plan.trials]


def test_windows_of_one_class_have_no_auc():
    y = np.repeat([0, 1, 0, 1, 0], [10, 10, 10, 10, 60])
    rng = np.random.default_rng(0)
    scores = rng.random(100)
    assert np.isnan(prequential_auc(y, scores)[0])
    y[::7] = 1
    windows = [slice(i, i + 10) for i in range(0, 100, 10)]
    expected = [roc_auc_score(y[w], scores[w]) for w in windows if 0 < y[w].mean() < 1]
    assert prequential_auc(y, scores) == (pytest.approx(np.mean(expected)), len(expected))
    assert len(expected) == 8


def test_points_are_scored_by_what_came_before_their_block():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((230, 3)), rng.integers(0, 2, 230)
    found = stream_scores(OLP(5, random_state=0), X, y, np.array([0, 1]))
    np.testing.assert_array_equal(found[:100], 0)
    for start, end in ((100, 200), (200, 230)):
        model = OLP(5, random_state=0).partial_fit(X[:start], y[:start], classes=[0, 1])
        np.testing.assert_array_equal(found[start:end], model.decision_function(X[start:end]))


def test_the_first_part_decides_and_the_rest_is_measured(tmp_path):
    for trial, result in measured(tmp_path, "eta: {select: [0.00001, 1]}"):
        data = build.load_data(trial, BUILT_IN, None)
        X, y = data.data[:600], data.target[:600]
        X = (X - X[:150].mean(axis=0)) / X[:150].std(axis=0)
        made = build.build_estimator(trial, BUILT_IN, None)
        aucs = {}
        for eta in (0.00001, 1):
            first = stream_scores(made.set_params(eta=eta), X[:150], y[:150], np.array([0, 1]))
            aucs[eta] = prequential_auc(y[:150], first)[0]
            del made._class_sums  # begin anew
        best = max(aucs, key=aucs.get)
        assert result.info["selected"] == {"eta": best}
        scores = stream_scores(made.set_params(eta=best), X, y, np.array([0, 1]))
        expected, n_windows = prequential_auc(y[150:], scores[150:])
        assert result.metrics["prequential_auc"] == pytest.approx(expected)
        assert (result.info["n"], result.info["n_windows"]) == (600, n_windows)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("buffer: {name: time_biased, half_life: 1}", "half_life=1 is too short"),
        ("buffer: class_balanced, eta: 1", None),
    ],
)
def test_buffers_in_configs(tmp_path, method, message):
    for _, result in measured(tmp_path, method):
        if message is None:
            assert 0.5 < result.metrics["prequential_auc"] <= 1
        else:
            assert message in result.error


def test_what_cannot_follow_a_stream(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        CONFIG.replace(
            "estimator: OLP, buffer_size: 5, average: false, METHOD", "estimator: AllPairsSVM"
        )
    )
    plan = make_plan(load_config(path))
    with Store(tmp_path / "s") as store:
        run_plan(plan, store)
        results = store.get(t.key for t in plan.trials).values()
    assert all("needs an estimator with partial_fit" in result.error for result in results)
