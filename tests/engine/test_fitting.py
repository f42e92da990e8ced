"""A method fitted to all rows: what it predicts for new rows is what one would write by hand."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kernlearn.engine import fit_method
from kernlearn.engine.preparation import SCALERS
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


@pytest.mark.parametrize("scaler", SCALERS)
def test_a_pipeline_is_cloned_and_cross_validated(fitted, frame, scaler):
    model = fitted(protocol=f"scale: [{scaler}]")
    scores = cross_val_score(model, frame, frame["kind"], cv=3)
    assert 0.5 < scores.mean() <= 1
    again = clone(model).fit(frame, frame["kind"])
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_the_chosen_parameter_is_that_of_held_out_rows_and_the_fit_of_all(fitted, frame):
    model = fitted("estimator: KNeighborsClassifier, n_neighbors: {select: [1, 40]}")
    assert model[-1].estimator_.n_neighbors == 1
    assert model[-1].estimator_.n_samples_fit_ == len(frame)


@pytest.mark.parametrize("missing", ["impute", "category"])
def test_gaps_of_new_rows(fitted, frame, missing):
    table = frame.assign(dose=frame["dose"].fillna(1.0))
    table.loc[::7, "city"] = None
    model = fitted(data=f"missing: {missing}, nominal: onehot", table=table)
    made = model[0].transform(table.head(8))
    Z = pd.DataFrame(made, columns=model[0].get_feature_names_out()).filter(like="city")
    assert Z.iloc[1:7].sum(axis=1).eq(1).all()
    gaps = Z.iloc[[0, 7]]
    if missing == "impute":
        assert not gaps.to_numpy().any()
    else:
        assert gaps["city=missing"].eq(1).all()


def test_gaps_and_values_that_were_not_there_before(fitted, frame):
    new = frame.head(4).copy()
    new.loc[1, "age"] = np.nan
    model = fitted()
    with pytest.warns(UserWarning, match=r"age \(1\)"):
        model.predict(new)
    without = fitted(data="nominal: onehot")  # whose rows with gaps are left out
    with pytest.raises(DataError, match="row 2, which lacks age"):
        without.predict(new.fillna({"dose": 1.0}))
    new = frame.head(4).assign(city="Rome", dose=1.0)
    with pytest.raises(DataError, match="Rome"):
        model.predict(new)
    model.set_params(columns__unknown="missing")
    with pytest.warns(UserWarning, match="city"):
        model.predict(new)
    assert not model[0].transform(new)[:, 1:4].any()


def test_new_files_and_frames_are_read_as_the_data_was(fitted, frame, tmp_path):
    texts = frame.round(2).astype(object).where(frame.notna(), "-9")
    texts["age"] = texts["age"].map("{} €".format)
    texts.loc[::9, "dose"] = "<0.1"
    reading = 'read_as: {missing: ["-9"], replace: {"<0.1": 0.05, "€": ""}}'
    data = f"missing: impute, nominal: onehot, {reading}"
    model = fitted(data=data, table=texts)
    texts.drop(columns="kind").to_csv("new.csv", index=False)
    for new in (model[0].read("new.csv"), texts, pd.read_csv("new.csv")):
        Z = model[0].transform(new)
        np.testing.assert_allclose(Z[:, 0], frame["age"])
        np.testing.assert_allclose(Z[::9, -1], 0.05)
        np.testing.assert_array_equal(np.isnan(Z[1::9, -1]), frame["dose"][1::9].isna())


def test_an_odd_entry_of_new_rows_is_named(fitted, frame):
    texts = frame.assign(age=frame["age"].map("{:.1f}".format).str.replace(".", ","))
    data = 'missing: impute, nominal: onehot, read_as: {decimal: ","}'
    texts["dose"] = texts["dose"].map("{:.2f}".format).str.replace(".", ",").replace("nan", None)
    model = fitted(data=data, table=texts)
    np.testing.assert_allclose(model[0].transform(texts)[:, 0], frame["age"].round(1))
    texts.loc[3, "age"] = "<20"
    with pytest.raises(DataError, match=r"row 4, column age: found '<20'.*replace"):
        model.predict(texts)


def test_truth_values_are_predicted_as_such(fitted, frame):
    table = frame.assign(kind=frame["kind"] == 1)
    assert fitted(table=table).score(table, table["kind"]) > 0.7


def test_rows_without_names_are_taken_by_position(fitted, frame):
    model = fitted(table=frame.drop(columns="city"))
    rows = frame[["age", "dose"]]
    np.testing.assert_array_equal(model.predict(rows.to_numpy()), model.predict(rows))


def test_entries_of_a_matrix_are_found_by_the_names_of_points(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(40, 2)) + np.repeat([[0, 0], [2, 2]], 20, axis=0)
    names = [f"p{i}" for i in range(40)]
    D = pd.DataFrame(np.linalg.norm(points[:, None] - points, axis=2), columns=names)
    D.assign(kind=np.repeat(["a", "b"], 20)).to_csv("d.csv", index=False)
    (tmp_path / "m.yaml").write_text(
        "title: t\ndatasets: {d: {file: d.csv, matrix: distance, target: kind}}\n"
        "methods: {k: {estimator: SimilarityKNNClassifier, n_neighbors: 3}}\nmetrics: [accuracy]\n"
    )
    model = fit_method("m.yaml", "k")
    expected = model.predict(D)
    assert (expected == np.repeat(["a", "b"], 20)).mean() > 0.8
    np.testing.assert_array_equal(model.predict(D[names[::-1]]), expected)
    np.testing.assert_array_equal(model.predict(D.to_numpy()), expected)
    with pytest.raises(DataError, match="p3"):
        model.predict(D.drop(columns="p3"))


def test_of_a_matrix_the_compared_columns_will_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = np.random.default_rng(0).normal(size=(60, 2))
    D = np.linalg.norm(points[:, None] - points, axis=2)
    np.savez("d.npz", D=D, y=(points[:, 0] > 0).astype(int))
    (tmp_path / "m.yaml").write_text(
        "title: t\ndatasets: {d: {file: d.npz, matrix: distance}}\n"
        "methods: {b: {estimator: BBSClassifier, n_landmarks: 7}}\nmetrics: [accuracy]\n"
    )
    model = fit_method("m.yaml", "b")
    compared = model[-1].estimator_.compared_indices_
    assert len(compared) == 7
    np.testing.assert_array_equal(model.predict(D[:, compared]), model.predict(D))
    np.testing.assert_array_equal(model.predict(pd.DataFrame(D)), model.predict(D))
    with pytest.raises(DataError, match="59 columns, expected those of all 60 points"):
        model.predict(D[:, 1:])


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
    by_hand = clone(model[-1].estimator).fit(own, table["kind"])
    np.testing.assert_array_equal(model.predict(table), by_hand.predict(own))


@pytest.mark.parametrize("labels", [(1, 2), ("yes", "no")])
def test_weights_of_classes_are_by_their_labels(fitted, frame, labels):
    model = fitted(
        f"estimator: LogisticRegression, class_weight: {dict(zip(labels, (5, 1), strict=True))}",
        table=frame.assign(kind=frame["kind"].map({1: labels[0], 2: labels[1]})),
    )
    weights = dict(zip(model.classes_, (1, 5) if "yes" in labels else (5, 1), strict=True))
    assert weights[labels[0]] == 5
    assert [*model[-1].estimator_.class_weight.values()] == [5, 1]
    plain = fitted("estimator: LogisticRegression")
    shares = [(one.predict(frame) == labels[0]).mean() for one in (model, plain)]
    assert shares[0] > 0.8


@pytest.mark.parametrize("scoring", ["f1", "roc_auc"])
def test_choices_inside_go_by_the_metric_of_the_config(fitted, frame, scoring):
    table = frame.assign(kind=frame["kind"].map({1: "no", 2: "yes"}))
    model = fitted("estimator: BBSClassifier, n_landmarks: 20", metric=scoring, table=table)
    assert {*model.predict(frame)} <= {"no", "yes"}
    assert model[-1].estimator_.scoring == scoring


def test_grades_are_predicted_by_their_labels(fitted, frame):
    grades = np.digitize(frame["age"], [45, 55])
    table = frame.assign(kind=np.array(["low", "mid", "high"])[grades])
    model = fitted(
        "estimator: Ridge",
        data="missing: impute, nominal: onehot, grades: [low, mid, high]",
        task="ordinal",
        metric="aae",
        table=table,
    )
    assert model.score(table, table["kind"]) > 0.6
    assert cross_val_score(model, table, table["kind"], cv=3).mean() > 0.6
    with pytest.raises(ValueError, match="none"):
        clone(model).fit(table, ["none"] * len(table))


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
    frame = pd.DataFrame({"id": [7, 8], "word": ["hanna", "motto"]})
    np.testing.assert_array_equal(model.predict(frame), [1, 2])
    with pytest.raises(DataError, match="no column word"):
        model.predict(frame.rename(columns={"word": "text"}))


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


def test_lines_that_were_skipped_are_named_in_new_files(fitted, frame, tmp_path):
    data = "missing: impute, nominal: onehot, read_as: {skip: [1]}"
    own = frame.to_csv(index=False)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    (tmp_path / "mine.csv").write_text(f"a title\n{own}")
    (tmp_path / "new.csv").write_text(f"another\n{own}")

    class Titled(pd.DataFrame):
        def to_csv(self, *_, **__):
            """Leave the file as it is."""

    model = fitted(data=data, table=Titled(frame))
    with pytest.warns(UserWarning, match="lines 1 are left out"):
        assert len(model[0].read("new.csv")) == len(frame)
