from kernlearn.config import load_config
from kernlearn.config.entries import candidates, unfold, varied
from kernlearn.engine import make_plan, run_plan
from kernlearn.reports.report import assemble
from kernlearn.store import Store


def test_lists_multiply_and_select_stays_a_grid():
    variants = unfold({"a": [1, 2], "b": 3, "c": {"select": [4, 5]}, "d": ["x", "y"]})
    assert [fixed for fixed, _ in variants] == [
        {"a": 1, "b": 3, "d": "x"},
        {"a": 1, "b": 3, "d": "y"},
        {"a": 2, "b": 3, "d": "x"},
        {"a": 2, "b": 3, "d": "y"},
    ]
    assert all(grid == {"c": [4, 5]} for _, grid in variants)


def test_by_dataset_falls_back_on_the_default_and_may_unfold():
    parameters = {"a": {"by_dataset": {"x": [1, 2], "default": 3}}}
    assert [f for f, _ in unfold(parameters, "x")] == [{"a": 1}, {"a": 2}]
    assert [f for f, _ in unfold(parameters, "other")] == [{"a": 3}]


def test_a_list_value_is_written_as_a_list_of_lists():
    assert [f for f, _ in unfold({"truncation": [[0, 1, 2]]})] == [{"truncation": [0, 1, 2]}]


def test_candidates_are_all_single_values():
    assert candidates({"by_dataset": {"x": {"select": [1, 2]}, "default": [3, 4]}}) == [1, 2, 3, 4]
    assert candidates(7) == [7]


def test_varied_are_the_labels_of_a_table():
    assert varied({"a": [1], "b": 2, "c": {"by_dataset": {"default": 1}}}) == ["a", "c"]


LISTS = """\
title: t
datasets: {moons: {generator: two_moons, n_samples: 60, noise: 0.3}}
methods:
  BBS: {estimator: BBSClassifier, n_landmarks: [5, 10], C: [[0.1, 1], [10, 100]]}
  FTUNE: {estimator: FTuneClassifier, n_landmarks: [5], transfers: [[1, 10]]}
protocol: {splits: 2, seed: 1}
metrics: [accuracy]
best: {metrics: [accuracy], within: [dataset]}
"""


def test_a_value_that_is_a_list_is_a_label_where_it_varies(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(LISTS)
    plan = make_plan(load_config(path))
    assert set(plan.axes) == {"n_landmarks", "C"}  # there is one list of transfers only
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).done == 10
        summary = assemble(plan, store).summary
    rows = summary[summary["metric"] == "accuracy"]
    found = rows[["method", "n_landmarks", "C"]].astype(object)
    assert found.where(found.notna(), None).to_numpy().tolist() == [
        ["BBS", 5, "[0.1,1]"],
        ["BBS", 5, "[10,100]"],
        ["BBS", 10, "[0.1,1]"],
        ["BBS", 10, "[10,100]"],
        ["FTUNE", 5, None],
    ]
    assert plan.trials[-1].spec.method.parameters["transfers"] == [1, 10]
