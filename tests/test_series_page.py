"""`docs/series.md` shows the committed numbers.

``python -m benchmarks.series`` writes it anew.
"""

from benchmarks import series


def test_the_tables_are_those_of_the_committed_numbers():
    text = series.PAGE.read_text(encoding="utf-8")
    assert series.with_tables(text) == text


def test_every_method_and_budget_is_in_the_table():
    found = series.standing()
    assert series.table().count("\n") == 2 + len(found)
    assert set(found["landmarks"].dropna()) == set(series.BUDGETS)


def test_the_parts_of_the_tests_are_all_data_sets():
    for landmarks in series.BUDGETS:
        whole, few, more = (len(frame) for _, frame in series._groups(landmarks))
        assert whole == few + more
