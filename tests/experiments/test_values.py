from kernlearn.experiments.config.entries import candidates, unfold, varied


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
