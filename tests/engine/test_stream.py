"""Trials on data sets that are streams: the numbers of the same estimators fitted by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler, Normalizer, StandardScaler

from kernlearn.config import load_config
from kernlearn.datasets import product_rows
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.build import random_state
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import OnePassRidgeClassifier, row_hashes
from kernlearn.store import Store

STREAM = "stream: {rows: 3000, chunk_size: 700, test_rows: 400, hold_out: 0.2}"
DRAWN = f"drawn: {{generator: product_rows, n_features: 6, {STREAM}}}"
CONFIG = """\
title: t
task: TASK
datasets: {DATA}
methods: {m: {METHOD}}
protocol: {splits: SPLITS, seed: 5, scale: [SCALE]}
metrics: [METRIC]
"""
METRICS = {"classification": "accuracy", "bipartite_ranking": "auc", "regression": "mse"}
MAP = "{estimator: RandomMaclaurin, name: map, h01: true, n_components: 20, "
MAP += "kernel: {kernel: polynomial, degree: 3}}"
ONE_PASS = f"steps: [{MAP}, OnePassRidgeClassifier]"


def planned(
    folder, data=DRAWN, method=ONE_PASS, task="classification", splits=1, scale="", metric=None
):
    path = folder / "c.yaml"
    text = CONFIG.replace("TASK", task).replace("DATA", data).replace("METHOD", method)
    text = text.replace("SPLITS", str(splits)).replace("SCALE", scale)
    path.write_text(text.replace("METRIC", metric or METRICS[task]))
    return make_plan(load_config(path))


def measured(plan, folder, **options):
    with Store(folder / "s") as store:
        run_plan(plan, store, **options)
        results = store.get(trial.key for trial in plan.trials)
        return [results[trial.key] for trial in plan.trials]


def the_only(*arguments, **options):
    (result,) = measured(planned(*arguments, **options), arguments[0])
    assert result.done, result.error
    return result


def is_held(X, share, split=0):
    """Whether each row is held out: its hash is in the lowest share of all numbers of 64 bits."""
    return row_hashes(X, random_state(5, "held out", split)) < share * 2.0**64


def gathered(chunks):
    chunks = [*chunks]
    return np.concatenate([X for X, _ in chunks]), np.concatenate([y for _, y in chunks])


def by_hand(n_rows=3000, share=0.2, test_rows=400, split=0, **options):
    """The rows to train on and those to test on, from all rows in memory."""
    seed = random_state(5, "data", split)
    X, y = gathered(product_rows(max(n_rows, 5000), 6, random_state=seed, **options))
    held = is_held(X, share, split)
    train = ~held & (np.arange(len(X)) < n_rows)
    return X[train], y[train], X[held][:test_rows], y[held][:test_rows]


def feature_map(split=0):
    state = random_state(5, "estimator", split)
    return RandomMaclaurin(PolynomialKernel(3), 20, h01=True, random_state=state)


def test_one_pass_is_that_by_hand(tmp_path):
    results = measured(planned(tmp_path, splits=2), tmp_path)
    for split, result in enumerate(results):
        X, y, X_test, y_test = by_hand(split=split)
        model = OnePassRidgeClassifier(feature_map(split)).fit(X, y)
        assert result.metrics["accuracy"] == np.mean(model.predict(X_test) == y_test)
        assert result.metrics["fit_seconds"] > 0
        assert result.info["n_train"] == len(y)
        assert result.info["rows_read"] == 3000
        assert result.info["n_test"] == 400
    assert results[0].metrics["accuracy"] != results[1].metrics["accuracy"]


def test_more_rows_to_train_on_are_tested_on_the_same(tmp_path):
    data = DRAWN.replace("rows: 3000", "rows: [800, 3000]")
    plan = planned(tmp_path, data)
    assert [trial.labels["rows"] for trial in plan.trials] == [800, 3000]
    for n_rows, result in zip([800, 3000], measured(plan, tmp_path), strict=True):
        X, y, X_test, y_test = by_hand(n_rows)
        model = OnePassRidgeClassifier(feature_map()).fit(X, y)
        assert result.metrics["accuracy"] == np.mean(model.predict(X_test) == y_test)


@pytest.mark.parametrize("workers", ["2", pytest.param("[1, 2]", marks=pytest.mark.exhaustive)])
def test_workers_and_chunks_change_nothing(workers, tmp_path):
    data = DRAWN.replace("rows: 3000", f"rows: 3000, workers: {workers}")
    plan = planned(tmp_path, data)
    assert all(trial.spec.runs_alone for trial in plan.trials)
    found = measured(plan, tmp_path)
    (tmp_path / "other").mkdir()
    here = the_only(tmp_path / "other", DRAWN.replace("size: 700", "size: 1500"))
    for result in found:
        assert result.metrics["accuracy"] == here.metrics["accuracy"]
        assert (result.info["n_train"], result.info["rows_read"]) == (here.info["n_train"], 3000)
        assert "fit_cpu_seconds" not in result.metrics
    assert "fit_cpu_seconds" in here.metrics


def test_chunk_by_chunk(tmp_path):
    method = "steps: [sklearn.preprocessing.StandardScaler, sklearn.linear_model.SGDClassifier]"
    result = the_only(tmp_path, method=method)
    X, y, X_test, y_test = by_hand()
    rows = np.flatnonzero(~is_held(gathered(_drawn())[0], 0.2))
    ends = np.searchsorted(rows, [700, 1400, 2100, 2800])
    parts = np.split(np.arange(len(y)), ends)
    scaler = StandardScaler().fit(X[parts[0]])
    model = SGDClassifier(random_state=random_state(5, "estimator", 0))
    for part in parts:
        model.partial_fit(scaler.transform(X[part]), y[part], classes=[0, 1])
    expected = np.mean(model.predict(scaler.transform(X_test)) == y_test)
    assert result.metrics["accuracy"] == expected


def _drawn():
    return product_rows(3000, 6, random_state=random_state(5, "data", 0))


def test_all_rows_in_memory(tmp_path):
    method = "estimator: sklearn.linear_model.RidgeClassifier, in_memory: true"
    result = the_only(tmp_path, method=method)
    X, y, X_test, y_test = by_hand()
    assert result.metrics["accuracy"] == RidgeClassifier().fit(X, y).score(X_test, y_test)
    assert result.info["n_train"] == len(y)


@pytest.mark.parametrize(
    ("scale", "scalers"),
    [
        ("zscore", [StandardScaler]),
        ("minmax, unit_norm", [MinMaxScaler, Normalizer]),
        ("zscore, max_norm", [StandardScaler, None]),
    ],
)
def test_scaling_is_learnt_on_the_rows_to_train_on(tmp_path, scale, scalers):
    method = "estimator: Ridge, in_memory: true"  # no folds that are told by the bits of rows
    result = the_only(tmp_path, method=method, task="regression", scale=scale)
    X, y, X_test, y_test = by_hand(numbers=True)
    for make in scalers:
        if make is None:
            longest = np.sqrt((X**2).sum(axis=1)).max()
            X, X_test = X / longest, X_test / longest
        else:
            scaler = make().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
    expected = np.mean((Ridge().fit(X, y).predict(X_test) - y_test) ** 2)
    assert result.metrics["mse"] == pytest.approx(expected, rel=1e-9)


def _csv(path, X, y):
    pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y).to_csv(
        path, index=False
    )


def _parquet(path, X, y):
    pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y).to_parquet(
        path, row_group_size=600
    )


def _libsvm(path, X, y):
    rows = zip(X.tolist(), y.tolist(), strict=True)
    lines = [f"{t} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(x, 1)) for x, t in rows]
    path.write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("write", "name", "options"),
    [
        (_csv, "rows.csv", "target: y"),
        (_parquet, "rows.parquet", "target: y"),
        (_libsvm, "rows.txt", ""),
    ],
)
def test_files_in_chunks(tmp_path, write, name, options):
    X, y = gathered(product_rows(2000, 4, random_state=1))
    write(tmp_path / name, X, y)
    of_file = "n_features: 4, " if write is _libsvm else ""
    stream = f"stream: {{{of_file}rows: [900, 2000], chunk_size: 400, hold_out: 0.2}}"
    data = "a: {" + ", ".join(filter(None, [f"file: {name}", options, stream])) + "}"
    results = measured(planned(tmp_path, data, "estimator: OnePassRidgeClassifier"), tmp_path)
    held = is_held(X, 0.2)
    for n_rows, result in zip([900, 2000], results, strict=True):
        train = ~held & (np.arange(2000) < n_rows)
        model = OnePassRidgeClassifier().fit(X[train], y[train])
        assert result.metrics["accuracy"] == model.score(X[held], y[held])
        assert result.info["rows_read"] == n_rows


def test_labels_are_those_of_the_file_and_may_be_merged(tmp_path):
    X, t = gathered(product_rows(1500, 4, random_state=1, numbers=True))
    y = np.select([t < -1, t < 1], ["low", "middle"], "high")
    _csv(tmp_path / "a.csv", X, y)
    stream = "stream: {chunk_size: 400, hold_out: 0.2}"
    data = f"a: {{file: a.csv, target: y, {stream}}}"
    held = is_held(X, 0.2)
    result = the_only(tmp_path, data, "estimator: OnePassRidgeClassifier")
    model = OnePassRidgeClassifier().fit(X[~held], y[~held])
    assert result.metrics["accuracy"] == model.score(X[held], y[held])
    merged = data.replace("target: y", "target: y, binarize: [low, high]")
    for method in ("estimator: OnePassRidgeClassifier", "estimator: OLP"):
        (folder := tmp_path / method[-3:]).mkdir()
        (folder / "a.csv").write_bytes((tmp_path / "a.csv").read_bytes())
        result = the_only(folder, merged, method, "bipartite_ranking")
        if "OLP" not in method:
            model = OnePassRidgeClassifier().fit(X[~held], y[~held] != "middle")
            scores = model.decision_function(X[held])
            assert result.metrics["auc"] == roc_auc_score(y[held] != "middle", scores)
    failed = measured(
        planned(tmp_path, data, "estimator: OnePassRidgeClassifier", "bipartite_ranking"), tmp_path
    )
    assert "needs two classes, not 3: give the data set `binarize`" in failed[0].error
    failed = measured(planned(tmp_path, data, "estimator: OnePassRidge", "regression"), tmp_path)
    assert "numbers are needed" in failed[0].error


def test_a_file_that_was_changed_is_not_the_one_planned(tmp_path):
    X, y = gathered(product_rows(500, 4, random_state=1))
    _csv(tmp_path / "a.csv", X, y)
    data = "a: {file: a.csv, target: y, stream: {chunk_size: 400}}"
    plan = planned(tmp_path, data, "estimator: OnePassRidgeClassifier")
    same = planned(tmp_path, data, "estimator: OnePassRidgeClassifier")
    assert plan.trials[0].key == same.trials[0].key
    _csv(tmp_path / "a.csv", X + 1, y)
    (failed,) = measured(plan, tmp_path)
    assert "a: not the file that the trial was planned for" in failed.error
    other = planned(tmp_path, data, "estimator: OnePassRidgeClassifier")
    assert other.trials[0].key != plan.trials[0].key
