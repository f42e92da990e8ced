"""A method fitted to all rows: what it predicts for new rows is what one would write by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernlearn.engine import fit_method
from kernlearn.exceptions import ConfigError, DataError, SelectionError

CONFIG = """\
title: Mine
task: {task}
datasets: {{mine: {{file: mine.csv, target: kind, {data}}}}}
methods:
  M: {{{method}}}
protocol: {{{protocol}}}
metrics: [{metric}]
"""
NUMBERS, CITY = ["age", "dose"], ["city"]


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 120
    table = pd.DataFrame(
        {
            "age": rng.normal(50, 10, n).round(1),
            "city": rng.choice(["Ulm", "Bonn", "Jena"], n),
            "dose": rng.exponential(2, n).round(2),
        }
    )
    table["kind"] = ((table["age"] > 50) ^ (table["city"] == "Ulm")).astype(int) + 1
    table.loc[rng.choice(n, 15, replace=False), "dose"] = np.nan
    return table


@pytest.fixture
def fitted(tmp_path, monkeypatch, frame):
    monkeypatch.chdir(tmp_path)

    def fit(
        method="estimator: KNeighborsClassifier, n_neighbors: 3",
        data="missing: impute, nominal: onehot",
        protocol="scale: [zscore]",
        task="classification",
        metric="accuracy",
        table=frame,
    ):
        table.to_csv("mine.csv", index=False)
        how = {"data": data, "protocol": protocol, "task": task, "metric": metric}
        (tmp_path / "mine.yaml").write_text(CONFIG.format(method=method, **how))
        return fit_method("mine.yaml", "M")

    return fit


def test_a_table_is_encoded_filled_and_scaled_as_by_hand(fitted, frame):
    model = fitted()
    by_hand = make_pipeline(
        ColumnTransformer([("n", SimpleImputer(), NUMBERS), ("c", OneHotEncoder(), CITY)]),
        StandardScaler(),
        KNeighborsClassifier(3),
    ).fit(frame, frame["kind"])
    new = frame.sample(60, random_state=1)[["kind", "dose", "city", "age"]]
    np.testing.assert_allclose(model.predict_proba(new), by_hand.predict_proba(new))
    assert model.predict(new).dtype.kind == "i"  # as the reader of the file has labels
    assert model.score(new, new["kind"]) == by_hand.score(new, new["kind"])


def test_the_chosen_parameter_is_that_of_held_out_rows_and_the_fit_of_all(fitted, frame):
    model = fitted("estimator: KNeighborsClassifier, n_neighbors: {select: [1, 40]}")
    assert model[-1].n_neighbors == 1
    assert model[-1].n_samples_fit_ == len(frame)


@pytest.mark.parametrize("missing", ["impute", "category"])
def test_gaps_of_new_rows(fitted, frame, missing):
    table = frame.assign(dose=frame["dose"].fillna(1.0))
    table.loc[::7, "city"] = None
    model = fitted(data=f"missing: {missing}, nominal: onehot", table=table)
    Z = pd.DataFrame(
        model[0].transform(table.head(8)), columns=model[0].get_feature_names_out()
    ).filter(like="city")
    assert Z.iloc[1:7].sum(axis=1).eq(1).all()
    gaps = Z.iloc[[0, 7]]
    if missing == "impute":
        assert not gaps.to_numpy().any()
    else:
        assert gaps["city=missing"].eq(1).all()


def test_a_table_as_it_is_and_labels_as_text(fitted, frame):
    table = frame.assign(kind=frame["kind"].map({1: "yes", 2: "no"}))
    model = fitted(
        "estimator: sklearn.ensemble.HistGradientBoostingClassifier, columns: raw, "
        "categorical_features: from_dtype",
        table=table,
        data="missing: impute",
        protocol="splits: 2",
    )
    own = table[["age", "city", "dose"]].assign(city=table["city"].astype("category"))
    by_hand = clone(model[-1]).fit(own, table["kind"])
    np.testing.assert_array_equal(model.predict(table), by_hand.predict(own))


@pytest.mark.parametrize("labels", [(1, 2), ("yes", "no")])
def test_weights_of_classes_are_by_their_labels(fitted, frame, labels):
    weights = dict(zip(labels, (5, 1), strict=True))
    model = fitted(
        f"estimator: LogisticRegression, class_weight: {weights}",
        table=frame.assign(kind=frame["kind"].map({1: labels[0], 2: labels[1]})),
    )
    assert model[-1].class_weight == weights


def test_points_are_taken_as_they_are(fitted):
    words = pd.DataFrame(
        {"word": ["anna", "annie", "otto", "lotto"] * 10, "kind": [1, 1, 2, 2] * 10}
    )
    model = fitted(
        "estimator: BBSClassifier, n_landmarks: 4, similarity: levenshtein",
        table=words,
        data="points: word",
        protocol="splits: 2",
    )
    np.testing.assert_array_equal(model.predict(["hanna", "motto"]), [1, 2])


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda table: table.drop(columns="dose"), "dose"),
        (lambda table: table.assign(city="Rome"), "Rome"),
        (lambda table: table.assign(age="old"), "old"),
    ],
)
def test_new_rows_that_are_not_of_the_table(fitted, frame, change, error):
    with pytest.raises(DataError, match=error):
        fitted().predict(change(frame))


def test_what_cannot_be_fitted_is_refused(fitted):
    with pytest.raises(ConfigError, match="scale_target"):
        fitted(
            "estimator: Ridge", protocol="scale_target: zscore", task="regression", metric="mse"
        )
    with pytest.raises(SelectionError, match="n_landmarks 5, 10, 20, 50"):
        fit_method("demo_landmarks", "BBS", dataset="two_moons")
    with pytest.raises(SelectionError, match="FTUNE-S"):
        fit_method("demo_landmarks", "FTUNES", dataset="two_moons", n_landmarks=5)
