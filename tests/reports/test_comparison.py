import numpy as np
import pytest
from scipy import stats

from kernlearn.exceptions import StoreError
from kernlearn.reports.comparison import COLUMNS, Side, compare, different_environments, read_side
from tests.engine.stores import begun, done, trial


def put_all(put, method, values, metric="accuracy", **about):
    for split, value in enumerate(values):
        if value is not None:
            t = trial(method, split, **about)
            put(t, done(t, **{metric: value}))


def rows_by(frame, label="method"):
    return {row[label]: row for row in frame.to_dict("records")}


@pytest.fixture
def noisy():
    rng = np.random.default_rng(0)
    base = rng.normal(size=12)
    return base, base + 0.3 + 0.1 * rng.normal(size=12)


def test_two_runs_of_a_store_split_by_split(tmp_path, noisy):
    a, b = noisy
    path = tmp_path / "s"
    # the last split of a and the first of b have no partner
    for values, only, error in (([*a, None], "A", 1.0), ([None, *b[1:], 9.0], "B", 2.0)):
        with begun(path, cpu=only) as (_, put):
            put_all(put, "m", list(values))
            put_all(put, "m", [error + x for x in a], "error_percent", x=1)
            put_all(put, only, [0.5])
            put_all(put, "equal", [0.25, 0.5])
    left, right = read_side("1"), read_side("2", path)
    assert len(left.trials) == 12 + 12 + 1 + 2
    frame = compare(left, right, metrics=["accuracy"])
    assert list(frame.columns) == COLUMNS
    found = rows_by(frame)
    expected = stats.ttest_rel(b[1:], a[1:]).confidence_interval(0.95)
    row = found["m"]
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert row["difference"] == pytest.approx(np.mean(b[1:] - a[1:]))
    assert (row["mean_a"], row["mean_b"]) == pytest.approx((a[1:].mean(), b[1:].mean()))
    assert (row["n_a"], row["n_b"], row["paired"]) == (11, 11, True)
    assert row["outcome"] == "b better"
    assert found["equal"]["outcome"] == "same"
    assert found["A"]["outcome"] == "only a"
    assert (found["A"]["mean_a"], found["A"]["n_a"], found["A"]["n_b"]) == (0.5, 1, 0)
    assert np.isnan(found["A"]["mean_b"])
    assert found["B"]["outcome"] == "only b"
    # less of an error is better
    (error,) = compare(left, right, metrics=["error_percent"]).to_dict("records")
    assert error["outcome"] == "a better"
    assert error["params"] == '{"x":1}'
    assert different_environments(left, right) == ["cpu: A / B"]
    assert different_environments(left, left) == []


def test_what_chance_explains_is_undecided(tmp_path):
    for name, values in (("a", [0.1, 0.2, 0.3]), ("b", [0.2, 0.1, 0.35])):
        with begun(tmp_path / name) as (_, put):
            put_all(put, "m", values)
            put_all(put, "one", [values[0]])
    found = rows_by(compare(*(read_side(str(tmp_path / n)) for n in "ab")))
    assert found["m"]["outcome"] == found["one"]["outcome"] == "undecided"
    assert np.isinf(found["one"]["high"])


def test_other_data_or_protocol_is_not_paired(tmp_path, noisy):
    a, b = noisy
    b = b[:9]
    for name, values, seed in (("a", a, 1), ("b", b, 2)):
        with begun(tmp_path / name) as (_, put):
            put_all(put, "m", values, seed=seed, experiment=name)
    (row,) = compare(*(read_side(str(tmp_path / n)) for n in "ab")).to_dict("records")
    expected = stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert (row["n_a"], row["n_b"], row["paired"]) == (12, 9, False)
    assert row["same_settings"] is False
    assert row["experiment"] == "a / b"


def test_cells_of_two_profiles_meet_their_like(tmp_path):
    for name, shift in (("a", 0.0), ("b", 0.1)):
        with begun(tmp_path / name) as (_, put):
            put_all(put, "m", [0.1 + shift, 0.2 + shift], seed=1)
            put_all(put, "m", [0.5 + shift, 0.6 + shift], seed=2)
    frame = compare(*(read_side(str(tmp_path / n)) for n in "ab"))
    assert sorted(frame["mean_a"]) == pytest.approx([0.15, 0.55])
    assert frame["difference"].tolist() == pytest.approx([0.1, 0.1])
    assert frame["same_settings"].all()
    assert frame["outcome"].tolist() == ["b better", "b better"]


def test_experiments_meet_by_name_if_there_are_several(tmp_path):
    for name in "ab":
        with begun(tmp_path / name) as (_, put):
            put_all(put, "m", [0.1, 0.2], seed=1, experiment="one")
            put_all(put, "m", [0.3, 0.4], seed=2, experiment="two")
    frame = compare(*(read_side(str(tmp_path / n)) for n in "ab"))
    assert frame["experiment"].tolist() == ["one", "two"]
    assert set(frame["outcome"]) == {"same"}


def test_sides_that_are_not_there_are_told(tmp_path):
    path = tmp_path / "s"
    with begun(path) as (_, put):
        put_all(put, "m", [0.1])
    assert len(read_side(f"{path}#1").trials) == 1
    with pytest.raises(StoreError, match=r"no run 2; there are:\n  1: .* e, profile full"):
        read_side("2")
    with pytest.raises(StoreError, match="no such store"):
        read_side(str(tmp_path / "none"))
    empty = Side("none", [], [])
    assert compare(empty, empty).empty
