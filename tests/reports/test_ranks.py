import numpy as np
import pandas as pd
import pytest

from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import critical_difference, friedman, holm, rank_methods

# average ranks on 14 data sets, Demšar (2006), table 2 and section 3.2.2
AVERAGE = {"C4.5": 3.143, "+m": 2.0, "+cf": 2.893, "+m+cf": 1.964}


def test_the_numbers_of_demsar():
    chi_square, f_statistic, p_value = friedman([*AVERAGE.values()], 14)
    assert chi_square == pytest.approx(9.28, abs=0.02)
    assert f_statistic == pytest.approx(3.69, abs=0.01)
    assert 0.01 < p_value < 0.05
    assert critical_difference(4, 14) == pytest.approx(1.25, abs=0.01)
    adjusted = holm(AVERAGE, 14)
    # z = 2.416, 1.904 and 0.074 with the standard error 0.488
    assert adjusted["C4.5"] == pytest.approx(3 * 0.0157, abs=0.001)
    assert adjusted["+cf"] == pytest.approx(2 * 0.0569, abs=0.002)
    assert adjusted["+m"] == pytest.approx(0.94, abs=0.01)


def test_ranks_of_scores_with_ties_in_both_directions():
    scores = pd.DataFrame({"a": [0.9] * 12, "b": [0.9] * 6 + [0.8] * 6, "c": [0.5] * 12})
    ranks = rank_methods(scores, 1)
    assert ranks.average == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert [*rank_methods(scores, -1).average] == ["c", "b", "a"]


def test_too_few_data_sets_are_refused():
    scores = pd.DataFrame(np.ones((10, 3)), columns=list("abc"))
    scores.iloc[0, 0] = np.nan
    with pytest.raises(ReportError, match="3 methods on 9 data sets"):
        rank_methods(scores, 1)
