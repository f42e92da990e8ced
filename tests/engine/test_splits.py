"""Splits by groups, by classes and in time, against scikit-learn's splitters."""

from contextlib import nullcontext
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from sklearn.model_selection import (
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from kernlearn.config.model import Protocol
from kernlearn.config.names import BUILT_IN
from kernlearn.datasets import load
from kernlearn.datasets.data import Data
from kernlearn.engine.build import build_estimator, load_parts
from kernlearn.engine.preparation import prepare
from kernlearn.engine.search import hold_out_inside, with_validation
from kernlearn.engine.splits import Units, generator, held_out, split_indices
from kernlearn.engine.tasks import CLASSIFICATION, REGRESSION
from kernlearn.engine.trial import execute, run_trial
from kernlearn.exceptions import ConfigError, DataError
from kernlearn.store import values_from_text

N, N_GROUPS = 240, 30

CONFIG = """\
title: t
datasets: {mine: {file: mine.csv, target: sick}}
methods: {logistic: {estimator: LogisticRegression, C: 1}}
protocol: {%s, scale: [zscore], seed: 3}
metrics: [accuracy]
"""


@pytest.fixture(scope="module")
def frame():
    """Visits of patients, who are sick or not, on days that go on."""
    rng = np.random.default_rng(0)
    patient = rng.permutation(np.repeat(np.arange(N_GROUPS), N // N_GROUPS))
    sick = rng.random(N_GROUPS) < 0.3
    X = rng.normal(size=(N_GROUPS, 2))[patient] + rng.normal(size=(N, 2))
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(N), unit="D")
    return pd.DataFrame(
        {
            "patient": [f"p{i:02}" for i in patient],
            "day": days.strftime("%Y-%m-%d"),
            "a": X[:, 0] + sick[patient],
            "b": X[:, 1],
            "sick": np.where(sick[patient], "yes", "no"),
        }
    )


@pytest.fixture
def trials(frame, planned, tmp_path):
    """Return the trials of a protocol on the visits."""
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return lambda protocol, *changes: planned(CONFIG % protocol, *changes).trials


def loaded(trial):
    return load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})


@pytest.mark.parametrize(
    "protocol",
    [
        "splits: 4, groups: patient",
        "splits: 4, groups: patient, train: 0.5, holdout: 0.2",
        "folds: 5, splits: 5, groups: patient",
        "folds: 5, splits: 5, groups: patient, stratify: true",
    ],
)
def test_rows_of_a_group_are_in_one_part(trials, frame, protocol):
    codes = pd.factorize(frame["patient"], sort=True)[0]
    for trial in trials(protocol):
        data, parts = loaded(trial)
        assert not any("patient" in name for name in data.feature_names)
        np.testing.assert_array_equal(data.groups, codes)
        if parts.val is None:
            parts = with_validation(parts, trial)
        train, test = (set(units.codes) for units in (parts.train.units, parts.test.units))
        val = set(range(N_GROUPS)) - train - test
        assert len(parts.val.y) == 8 * len(val) > 0
        assert all(not a & b for a, b in combinations((train, val, test), 2))


def test_folds_may_be_trained_on_but_for_the_tested_one(trials):
    for trial in trials("folds: 5, splits: 5, groups: patient, stratify: true, refit: true"):
        _, parts = loaded(trial)
        assert parts.val is None
        assert len(parts.train.y) + len(parts.test.y) == N
        held = with_validation(parts, trial)
        assert not {*held.train.units.codes} & {*parts.test.units.codes}
        (row,) = execute([trial])
        assert row.done


def test_folds_of_groups_and_classes_are_scikit_learns(frame):
    codes, y = (pd.factorize(frame[c], sort=True)[0] for c in ("patient", "sick"))
    X = frame[["a", "b"]].to_numpy()
    for splitter, groups, stratify in (
        (GroupKFold, codes, False),
        (StratifiedKFold, None, True),
        (StratifiedGroupKFold, codes, True),
    ):
        protocol = Protocol(folds=5, splits=5, seed=3, stratify=stratify)
        state = int(generator(3, "folds").integers(2**32))
        folds = [t for _, t in splitter(5, shuffle=True, random_state=state).split(X, y, groups)]
        for split in range(5):
            parts = prepare(Data(X, groups=groups), y, protocol, split)
            np.testing.assert_array_equal(parts.test.X, X[folds[split - 1]])
            np.testing.assert_array_equal(parts.val.X, X[folds[split - 2]])


@pytest.mark.parametrize("holdout", [None, 0.2])
def test_parts_have_the_same_shares_of_classes(frame, holdout):
    y = pd.factorize(frame["sick"], sort=True)[0]
    protocol = Protocol(train=0.5, holdout=holdout, stratify=True, seed=1)
    for split in range(5):
        parts = prepare(Data(np.arange(N)[:, None]), y, protocol, split)
        shares = [parts.train.y, parts.test.y, *([parts.val.y] if holdout else [])]
        for of_part in shares:
            assert of_part.mean() == pytest.approx(y.mean(), abs=1 / len(of_part))
        rows = [parts.train.X, parts.test.X, *([parts.val.X] if holdout else [])]
        assert len(parts.train.X) == N // 2
        assert len({*np.concatenate(rows).ravel()}) == sum(map(len, rows)) == N


@pytest.mark.parametrize(
    "counts", [[14, 14, 2], [20, 9, 1], [10, 10, 1, 1, 1], [5] * 10, [9, 1], [1] * 12, [30]]
)
def test_classes_too_small_for_each_part_are_divided_together(counts):
    y = np.repeat(np.arange(len(counts)), counts)
    for holdout in (None, 0.2):
        protocol = Protocol(train=0.6, holdout=holdout, stratify=True, seed=1)
        parts = prepare(Data(np.arange(len(y))[:, None]), y, protocol, 1)
        train, tested = parts.train.y, parts.test.y
        assert len(tested) == round(len(y) * (0.4 - (holdout or 0)))
        for label, count in enumerate(counts):
            if count >= 9:
                share = len(tested) / len(y)
                assert (tested == label).sum() == pytest.approx(share * count, abs=1.5)
                assert label in train


@pytest.mark.parametrize("gap", [0, 5])
def test_the_test_part_comes_after_the_others(trials, frame, gap):
    days = pd.to_datetime(frame["day"])
    order = days.argsort(kind="stable").to_numpy()
    expected = TimeSeriesSplit(4, gap=gap).split(order)
    planned = trials(f"splits: 4, time: day, gap: {gap}")
    for trial, (train, test) in zip(planned, expected, strict=True):
        data, parts = loaded(trial)
        assert data.feature_names.tolist()[-2:] == ["a", "b"]
        np.testing.assert_array_equal(np.argsort(data.time, kind="stable"), order)
        np.testing.assert_array_equal(parts.test.y, data.target[order[test]])
        np.testing.assert_array_equal(parts.train.y, data.target[order[train]])
        held = with_validation(parts, trial)
        assert held.train.units.time.max() <= np.sort(parts.train.units.time)[-len(held.val.y)]


def test_rows_of_one_time_are_in_one_part():
    rng = np.random.default_rng(0)
    time = rng.permutation(np.repeat(np.arange(12.0), rng.integers(2, 9, 12)))
    for holdout, split in product((None, 0.3), range(4)):
        protocol = Protocol(splits=4, time="year", holdout=holdout)
        train, kept, test = split_indices(len(time), protocol, split, Units(time=time))
        ends = [time[train].max(), *time[kept], time[test].min()]
        assert ends == sorted(ends)
        assert time[train].max() < min([*time[kept], time[test].min()])
        assert max([time[train].max(), *time[kept]]) < time[test].min()
        if holdout is None:
            few = protocol.model_copy(update={"max_train": 5, "max_test": 3})
            latest, _, soon = split_indices(len(time), few, split, Units(time=time))
            assert (latest.tolist(), soon.tolist()) == (train[-5:].tolist(), test[:3].tolist())
            rest, last = held_out(len(train), 0.3, Units(time=time[train]), rng)
            assert time[train][rest].max() < time[train][last].min()
    with pytest.raises(ValueError, match="12 different times"):
        split_indices(len(time), Protocol(splits=12, time="year"), 0, Units(time=time))


@pytest.mark.parametrize("stratify", [False, True])
@pytest.mark.parametrize("folds", [None, 5])
def test_limits_of_grouped_rows_are_of_rows(stratify, folds):
    codes, y = np.repeat(np.arange(100), 10), np.tile([0, 1], 500)
    protocol = Protocol(splits=2, groups="g", max_train=50, max_test=20, folds=folds)
    units = Units(codes=codes, classes=y if stratify and folds else None)
    train, _, test = split_indices(1000, protocol, 0, units)
    assert (len(train), len(test)) == (50, 20)
    assert not {*codes[train]} & {*codes[test]}


@pytest.mark.parametrize(
    ("form", "is_clear"),
    [
        ("%d/%m/%Y", True),
        ("%d %b %Y", True),
        ("%Y-%m-%d %H:%M", True),
        ("%d.%m.%y", False),  # the year may come first
        ("01/%m/%Y", False),  # day or month may
    ],
)
def test_dates_in_other_formats_have_the_same_order_or_are_refused(
    frame, tmp_path, form, is_clear
):
    days = pd.to_datetime(frame["day"])
    frame.assign(day=days.dt.strftime(form)).to_csv(tmp_path / "days.csv", index=False)
    with nullcontext() if is_clear else pytest.raises(DataError, match="2023-12-31"):
        data = load(tmp_path / "days.csv", target="sick", time="day")
        np.testing.assert_array_equal(np.argsort(data.time, kind="stable"), days.argsort())


@pytest.mark.parametrize("units", ["groups: patient", "time: day"])
@pytest.mark.parametrize("holdout", ["", ", holdout: 0.2"])
def test_an_estimator_chooses_on_the_rows_that_select_holds_out(trials, units, holdout):
    usual = "estimator: LogisticRegression, C: 1"
    own = "estimator: BBSClassifier, n_landmarks: 9, scoring: accuracy"
    ways = [
        f"{own}, C: {values}" for values in ("[[0.001, 0.1, 10]]", "{select: [0.001, 0.1, 10]}")
    ]
    if not holdout:  # rows that a protocol holds out reach no step of a pipeline
        ways.append(f"steps: [sklearn.preprocessing.StandardScaler, {{{ways[0]}}}]")
    planned = (trials(f"splits: 2, {units}{holdout}", (usual, way)) for way in ways)
    for same in zip(*planned, strict=True):
        chosen = [run_trial(trial).info["selected"] for trial in same]
        assert chosen == [chosen[0]] * len(ways)


INNER = "estimator: {estimator: BBSClassifier}"


@pytest.mark.parametrize(
    ("steps", "warned"),
    [
        ("estimator: BBSClassifier", False),
        ("estimator: LandmarkKNNClassifier", False),
        ("estimator: SpectrumSVM", False),
        ("steps: [sklearn.preprocessing.StandardScaler, {estimator: BBSClassifier}]", False),
        (f"estimator: sklearn.ensemble.BaggingClassifier, arguments: {{{INNER}}}", True),
        ("estimator: sklearn.linear_model.LogisticRegressionCV, Cs: 3", True),
    ],
)
def test_choices_on_random_rows_are_named(trials, steps, warned):
    usual = "estimator: LogisticRegression, C: 1"
    row = execute(trials("splits: 1, groups: patient", (usual, steps)))[0]
    assert row.done
    warnings = row.info.get("warnings", ())
    assert any("random training rows" in text for text in warnings) == warned


def test_a_model_of_a_transformed_target_chooses_on_the_latest_rows(planned, frame, tmp_path):
    frame.drop(columns=["sick", "patient"]).to_csv(tmp_path / "mine.csv", index=False)
    wrapped = (
        "estimator: sklearn.compose.TransformedTargetRegressor, regressor: {estimator: RegLand}"
    )
    changes = {
        "target: sick": "target: a",
        "title: t": "title: t\ntask: regression",
        "estimator: LogisticRegression, C: 1": wrapped,
        "[accuracy]": "[mse]",
    }
    trial, *_ = planned(CONFIG % "splits: 2, time: day", *changes.items()).trials
    _, parts = load_parts(trial, BUILT_IN, REGRESSION.target, {})
    estimator = build_estimator(trial, BUILT_IN, None, parts)
    hold_out_inside(estimator, parts, trial)
    held, time = estimator.regressor.validation_fraction, parts.train.units.time
    assert time[held].min() > np.delete(time, held).max()


@pytest.mark.parametrize("kind", ["series", "matrix", "labels"])
def test_points_to_compare_have_groups_and_times(frame, tmp_path, kind):
    series, names = frame[["a", "b"]].to_numpy(), [f"v{i}" for i in range(N)]
    pairs = pd.DataFrame(cdist(series, series), names, names)
    others = frame.drop(columns=["a", "b"]).set_axis(names)
    others.loc["v7", "sick"] = None  # whose group goes with it
    how = {"target": "sick", "groups": "patient", "time": "day"}
    if kind == "series":
        others.assign(s=series.tolist()).to_json(tmp_path / "f", orient="records", lines=True)
        how |= {"points": "s"}
    else:
        how |= {"matrix": "distance"}
        (others.join(pairs) if kind == "matrix" else pairs).to_csv(tmp_path / "f")
    if kind == "labels":
        others.sample(frac=1, random_state=0).to_csv(tmp_path / "l.csv")
        how |= {"labels": tmp_path / "l.csv"}
    elif kind == "matrix":
        how |= {"drop": ["row names"]}
    data, kept = load(tmp_path / "f", **how), others.drop(index="v7")
    np.testing.assert_array_equal(data.groups, pd.factorize(kept["patient"], sort=True)[0])
    order = pd.to_datetime(kept["day"]).argsort(kind="stable")
    np.testing.assert_array_equal(np.argsort(data.time, kind="stable"), order)
    assert not data.preparation.shared
    if kind == "series":
        by_place = load(tmp_path / "f", **{**how, "groups": 0, "time": None})
        np.testing.assert_array_equal(by_place.groups, data.groups)
    if kind != "matrix":
        data = load(tmp_path / "f", **{**how, "groups": None, "time": None})
        assert "patient" in data.preparation.shared


def test_tests_take_groups_as_the_units(trials):
    (trial, *_) = trials("splits: 4, groups: patient")
    outcome, (_, parts) = run_trial(trial), loaded(trial)
    assert outcome.info["n_units"] == N_GROUPS
    n_train, n_test = (len({*u.codes}) for u in (parts.train.units, parts.test.units))
    assert outcome.info["ratio"] == n_test / n_train
    values = values_from_text(outcome.info["losses"]["accuracy"])
    assert len(values) == n_test
    assert values.mean() == pytest.approx(outcome.metrics["accuracy"])


def test_tests_of_a_choice_by_the_mean_take_groups_too(trials):
    protocol = "folds: 5, splits: 5, groups: patient, select_by_mean: true"
    (trial, *_) = trials(protocol, ("C: 1", "C: {select: [1, 10]}"))
    _, parts = loaded(trial)
    for point in run_trial(trial).info["grid"]:
        values = values_from_text(point["losses"]["accuracy"])
        assert len(values) == len({*parts.test.units.codes})
        assert values.mean() == pytest.approx(point["metrics"]["accuracy"])


def test_a_group_or_a_time_that_cannot_be(trials, frame, tmp_path):
    for protocol, words in {
        "splits: 2, groups: nobody": "'nobody'",
        "splits: 2, groups: patient, time: day": "time goes without folds",
        "splits: 1, time: day": "two splits",
        "splits: 2, train: 0.7, time: day": "no effect with time",
        "splits: 2, time: patient": "patient has neither numbers nor dates",
    }.items():
        with pytest.raises((ConfigError, DataError), match=words):
            trials(protocol)
    gaps = frame.assign(patient=frame["patient"].mask(frame["patient"] == "p03"))
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.raises(DataError, match="groups: 8 of 240 rows lack patient"):
        load(tmp_path / "gaps.csv", target="sick", groups="patient")


def test_rows_of_one_time_are_held_out_at_random():
    units = Units(time=np.ones(40))
    with pytest.warns(UserWarning, match="one time"):
        rest, kept = held_out(40, 0.25, units, np.random.default_rng(0))
    assert sorted([*rest, *kept]) == [*range(40)]
    assert len(kept) == 10
