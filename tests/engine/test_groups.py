"""Splits by groups, by classes and in time, against scikit-learn's splitters."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from kernlearn.config import load_config
from kernlearn.config.model import Protocol
from kernlearn.config.names import BUILT_IN
from kernlearn.datasets import load
from kernlearn.datasets.data import Data
from kernlearn.engine import make_plan
from kernlearn.engine.build import generator, load_parts, prepare
from kernlearn.engine.search import with_validation
from kernlearn.engine.tasks import CLASSIFICATION
from kernlearn.engine.trial import run_trial
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
def trials(frame, tmp_path):
    """Return the trials of a protocol on the visits."""

    def made(protocol):
        frame.to_csv(tmp_path / "mine.csv", index=False)
        (tmp_path / "c.yaml").write_text(CONFIG % protocol)
        return make_plan(load_config(tmp_path / "c.yaml")).trials

    return made


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
        if parts.X_val is None:
            parts = with_validation(parts, trial)
        train, test = (set(units.codes) for units in (parts.units, parts.test_units))
        val = set(range(N_GROUPS)) - train - test
        assert len(parts.y_val) == 8 * len(val) > 0
        assert all(not a & b for a, b in combinations((train, val, test), 2))


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
            expected = folds[split - 1]
            np.testing.assert_array_equal(parts.X_test, X[expected])
            held = folds[split - 2]
            np.testing.assert_array_equal(parts.X_val, X[held])


@pytest.mark.parametrize("holdout", [None, 0.2])
def test_parts_have_the_same_shares_of_classes(frame, holdout):
    y = pd.factorize(frame["sick"], sort=True)[0]
    protocol = Protocol(train=0.5, holdout=holdout, stratify=True, seed=1)
    for split in range(5):
        parts = prepare(Data(np.arange(N)[:, None]), y, protocol, split)
        shares = [parts.y_train, parts.y_test, *([parts.y_val] if holdout else [])]
        for of_part in shares:
            assert of_part.mean() == pytest.approx(y.mean(), abs=1 / len(of_part))
        rows = [parts.X_train, parts.X_test, *([parts.X_val] if holdout else [])]
        assert len(parts.X_train) == N // 2
        assert len({*np.concatenate(rows).ravel()}) == sum(map(len, rows)) == N


def test_the_test_part_comes_after_the_others(trials, frame):
    days = pd.to_datetime(frame["day"])
    order = days.argsort(kind="stable").to_numpy()
    expected = [*TimeSeriesSplit(4).split(order)]
    for trial, (train, test) in zip(trials("splits: 4, time: day"), expected, strict=True):
        data, parts = loaded(trial)
        assert data.feature_names.tolist()[-2:] == ["a", "b"]
        np.testing.assert_array_equal(np.argsort(data.time, kind="stable"), order)
        np.testing.assert_array_equal(parts.y_test, data.target[order[test]])
        np.testing.assert_array_equal(parts.y_train, data.target[order[train]])
        held = with_validation(parts, trial)
        assert held.units.time.max() <= np.sort(parts.units.time)[-len(held.y_val)]


@pytest.mark.parametrize(
    "form", ["%d/%m/%Y", "%d.%m.%y", "%m-%d-%Y", "%d %b %Y", "%Y-%m-%d %H:%M"]
)
def test_dates_in_other_formats_have_the_same_order_or_are_refused(frame, tmp_path, form):
    days = pd.to_datetime(frame["day"])
    frame.assign(day=days.dt.strftime(form)).to_csv(tmp_path / "days.csv", index=False)
    if form == "%d.%m.%y":  # the year may come first
        with pytest.raises(DataError, match="2023-12-31"):
            load(tmp_path / "days.csv", target="sick", time="day")
        return
    data = load(tmp_path / "days.csv", target="sick", time="day")
    np.testing.assert_array_equal(np.argsort(data.time, kind="stable"), days.argsort())


def test_dates_of_which_day_or_month_may_come_first_are_refused(frame, tmp_path):
    months = pd.to_datetime(frame["day"]).dt.strftime("01/%m/%Y")
    frame.assign(day=months).to_csv(tmp_path / "months.csv", index=False)
    with pytest.raises(DataError, match="2023-12-31"):
        load(tmp_path / "months.csv", target="sick", time="day")


@pytest.mark.parametrize("protocol", ["groups: patient, folds: 5", "stratify: true, folds: 5"])
def test_scores_are_those_of_scikit_learn(trials, frame, protocol):
    """On the same rows, six digits."""
    y = pd.factorize(frame["sick"], sort=True)[0]
    for trial in trials(f"{protocol}, splits: 5"):
        _, parts = loaded(trial)
        model = LogisticRegression(C=1).fit(parts.X_train, parts.y_train)
        score = model.score(parts.X_test, parts.y_test)
        assert run_trial(trial).metrics["accuracy"] == pytest.approx(score, abs=1e-6)
        assert len(parts.y_train) + len(parts.y_test) < len(y)


def test_tests_take_groups_as_the_units(trials):
    (trial, *_) = trials("splits: 4, groups: patient")
    outcome, (_, parts) = run_trial(trial), loaded(trial)
    assert outcome.info["n_units"] == N_GROUPS
    n_train, n_test = (len({*u.codes}) for u in (parts.units, parts.test_units))
    assert outcome.info["ratio"] == n_test / n_train
    values = values_from_text(outcome.info["losses"]["accuracy"])
    assert len(values) == n_test
    assert values.mean() == pytest.approx(outcome.metrics["accuracy"])


def test_a_group_or_a_time_that_cannot_be(trials, frame, tmp_path):
    with pytest.raises(DataError, match="'nobody'"):
        trials("splits: 2, groups: nobody")
    with pytest.raises(ConfigError, match="time goes without folds, groups and stratify"):
        trials("splits: 2, groups: patient, time: day")
    with pytest.raises(ConfigError, match="two splits"):
        trials("splits: 1, time: day")
    with pytest.raises(ConfigError, match="no effect with time"):
        trials("splits: 2, train: 0.7, time: day")
    with pytest.raises(DataError, match="patient has neither numbers nor dates"):
        trials("splits: 2, time: patient")
    gaps = frame.assign(patient=frame["patient"].mask(frame["patient"] == "p03"))
    gaps.to_csv(tmp_path / "gaps.csv", index=False)
    with pytest.raises(DataError, match="groups: 8 of 240 rows lack patient"):
        load(tmp_path / "gaps.csv", target="sick", groups="patient")
