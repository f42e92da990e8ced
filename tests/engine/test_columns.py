"""Methods that get the table as it is, beside those that get a matrix, on the same rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from kernlearn.config.model import Protocol
from kernlearn.config.names import BUILT_IN
from kernlearn.datasets.data import Data
from kernlearn.engine.build import build_kernel, load_parts
from kernlearn.engine.preparation import prepare
from kernlearn.engine.splits import random_state, split_indices
from kernlearn.engine.tasks import CLASSIFICATION
from kernlearn.engine.trial import run_trial
from kernlearn.kernels import GaussianKernel

CONFIG = """\
title: t
datasets: {mine: {file: mine.csv, target: sick, missing: impute}}
methods:
  boosting:
    estimator: sklearn.ensemble.HistGradientBoostingClassifier
    columns: raw
    categorical_features: from_dtype
  by column:
    columns: raw
    steps:
      - estimator: sklearn.compose.ColumnTransformer
        name: columns
        transformers:
          - - - numbers
              - estimator: sklearn.pipeline.Pipeline
                steps:
                  - [fill, {estimator: sklearn.impute.SimpleImputer}]
                  - [scale, {estimator: sklearn.preprocessing.StandardScaler}]
              - [age, dose]
            - - ward
              - {estimator: sklearn.preprocessing.OneHotEncoder, handle_unknown: ignore}
              - [ward]
      - {estimator: LogisticRegression, name: model}
  boosted trees:
    estimator: sklearn.ensemble.AdaBoostClassifier
    n_estimators: 5
    arguments: {estimator: {estimator: sklearn.tree.DecisionTreeClassifier}}
    estimator__max_depth: 2
  logistic: {estimator: LogisticRegression}
protocol: {splits: 3, train: 0.7, scale: [zscore]}
metrics: [accuracy, log_loss]
"""


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 300
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n).round(1),
            "ward": rng.choice(["A", "B", "C"], n),
            "dose": rng.exponential(1, n).round(3),
        }
    )
    shown = (table["age"] - 50) / 10 + (table["ward"] == "B") + rng.normal(0, 0.7, n)
    table["sick"] = np.where(shown > 0.3, "yes", "no")
    for column, share in (("age", 0.2), ("ward", 0.1)):
        table.loc[rng.random(n) < share, column] = np.nan
    return table


@pytest.fixture
def trials(frame, planned, tmp_path):
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return planned(CONFIG).trials


def model_of(method, state):
    """The same estimator, made by hand."""
    fill = Pipeline([("fill", SimpleImputer()), ("scale", StandardScaler())])
    ward = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("n", fill, ["age", "dose"]), ("w", ward, ["ward"])])
    tree = DecisionTreeClassifier(max_depth=2, random_state=state)
    return {
        "boosting": HistGradientBoostingClassifier(
            categorical_features="from_dtype", random_state=state
        ),
        "by column": Pipeline([("c", columns), ("m", LogisticRegression(random_state=state))]),
        "boosted trees": AdaBoostClassifier(tree, n_estimators=5, random_state=state),
        "logistic": LogisticRegression(random_state=state),
    }[method]


def test_scores_are_those_of_scikit_learn(trials, frame):
    """On the same rows, six digits; gaps are filled in by what the training part says."""
    y = pd.factorize(frame["sick"], sort=True)[0]
    table = frame.drop(columns="sick").astype({"ward": "category"})
    dummies = pd.get_dummies(frame["ward"], dtype=float)  # a gap is 0 in all
    matrix = pd.concat([frame["age"], dummies, frame["dose"]], axis=1).to_numpy()
    for trial in trials:
        outcome, method = run_trial(trial), trial.labels["method"]
        _, parts = load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})
        model = model_of(method, random_state(0, "estimator", trial.split))
        if method in ("boosting", "by column"):
            rows = [part.index.to_numpy() for part in (parts.train.X, parts.test.X)]
            X_train, X_test = (table.iloc[of_part] for of_part in rows)
            assert parts.train.X["ward"].isna().any()
            pd.testing.assert_frame_equal(parts.train.X, X_train)
        else:
            rows = split_indices(len(y), trial.spec.protocol, trial.split)[::2]
            steps = make_pipeline(SimpleImputer(), StandardScaler())
            X_train = steps.fit_transform(matrix[rows[0]])
            X_test = steps.transform(matrix[rows[1]])
            np.testing.assert_allclose(parts.train.X, X_train, atol=1e-12)
        model.fit(X_train, y[rows[0]])
        score = model.score(X_test, y[rows[1]])
        assert outcome.metrics["accuracy"] == pytest.approx(score, abs=1e-6), method
        assert outcome.info["n_train"] + outcome.info["n_test"] == len(frame)


def test_what_was_filled_in_is_said(trials, frame):
    gaps = frame.isna()
    said = f"{gaps.to_numpy().sum()} missing entries in {gaps.any(axis=1).sum()} of 300 rows"
    assert any(said in text and "within each split" in text for text in trials[0].source.prepared)


def test_what_is_no_table_cannot_be_passed_as_one(planned):
    table = (
        "mine: {file: mine.csv, target: sick, missing: impute}",
        "moons: {generator: two_moons}",
    )
    with pytest.raises(ValueError, match="columns: raw is for tables of a file"):
        run_trial(planned(CONFIG, table).trials[0])


def test_a_kernel_of_an_estimator_within_another_is_its_own():
    text = {"estimator": "SVR", "kernel": "rbf"}
    made = BUILT_IN.make(
        BUILT_IN.estimator("sklearn.compose.TransformedTargetRegressor"),
        {"regressor": text, "regressor__gamma": 0.5},
    )
    assert (made.regressor.kernel, made.regressor.gamma) == ("rbf", 0.5)


def test_text_is_part_of_the_table_as_it_is(planned, tmp_path):
    """Beside other columns, for the methods that take it alone."""
    words = [f"{word} no{i}" for i, word in enumerate(["good", "bad", "fine", "poor"] * 30)]
    columns = {"note": words, "x": [i % 7 for i in range(120)], "label": [0, 1] * 60}
    pd.DataFrame(columns).to_csv(tmp_path / "notes.csv", index=False)
    config = """\
title: t
datasets: {notes: {file: notes.csv, target: label, read_as: {text: [note]}}}
methods:
  text:
    columns: raw
    steps:
      - estimator: sklearn.compose.ColumnTransformer
        transformers: [[[n, {estimator: sklearn.feature_extraction.text.CountVectorizer}, note]]]
      - {estimator: LogisticRegression}
  number: {estimator: LogisticRegression}
protocol: {splits: 1, train: 0.7}
metrics: [accuracy]
"""
    text, number = (run_trial(trial).metrics["accuracy"] for trial in planned(config).trials)
    assert text == 1
    assert number < 0.8


def test_a_width_is_learnt_on_what_the_method_gets(planned, tmp_path):
    """In any order: others get the table as it is, or scaled."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(90, 3)) * [1, 10, 100], columns=list("abc"))
    table.assign(label=rng.integers(0, 2, 90)).to_csv(tmp_path / "num.csv", index=False)
    config = """\
title: t
datasets: {num: {file: num.csv, target: label}}
kernels: {g: {kernel: gaussian, sigma: mean_distance}}
methods:
  raw: {estimator: BBSClassifier, n_landmarks: 10, C: 1, columns: raw}
  scaled: {estimator: BBSClassifier, n_landmarks: 10, C: 1}
protocol: {splits: 2, scale: [zscore]}
metrics: [accuracy]
"""
    raw, other, scaled, _ = planned(config).trials
    widths = []
    for trial in (raw, scaled, other, raw):
        _, parts = load_parts(trial, BUILT_IN, CLASSIFICATION.target, {})
        widths.append(build_kernel(trial, BUILT_IN, parts).sigma)
        expected = GaussianKernel("mean_distance").fit(parts.train.X).sigma_
        assert widths[-1] == pytest.approx(expected)
    assert widths[0] == widths[3] > 10 * widths[1]


def test_pairs_that_a_matrix_lacks_are_filled_in_by_training_points():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 2))
    D = np.abs(points[:, np.newaxis] - points).sum(axis=2)
    lacks = np.triu(rng.random(D.shape) < 0.02, 1)
    lacks |= lacks.T
    data = Data(np.where(lacks, np.nan, D), similarity="distance")
    protocol = Protocol(splits=1, train=0.7)
    train, _, test = split_indices(60, protocol, 0)
    parts = prepare(data, np.arange(60), protocol, 0)
    known = np.where(lacks, np.nan, D)[:, train]
    own = np.arange(60)[:, np.newaxis] == train
    means = np.nanmean(np.where(own, np.nan, known)[train], axis=0)
    both = (means[:, np.newaxis] + means) / 2
    expected = np.where(lacks[np.ix_(train, train)], both, known[train])
    np.testing.assert_allclose(parts.train.X, expected)
    np.testing.assert_allclose(parts.test.X, np.where(np.isnan(known[test]), means, known[test]))
