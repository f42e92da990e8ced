"""Two stores compared cell by cell, against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.config import load_config
from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import COLUMNS, compare_stores, ranking_metric

RNG = np.random.default_rng(0)
BASE = RNG.normal(size=12)
BETTER = BASE + 0.3 + 0.1 * RNG.normal(size=12)


def side(values, metric="accuracy", **labels):
    names = {"experiment": "e", "dataset": "d", "kernel": None, "method": "m", "params": "{}"}
    names |= {"metric": metric, "settings": "s", "points": "p", **labels}
    rows = [{**names, "split": i, "value": v} for i, v in enumerate(values) if v is not None]
    return pd.DataFrame(rows)


def outcome(a, b):
    (row,) = compare_stores(a, b).to_dict("records")
    return row


def test_shared_splits_are_paired():
    row = outcome(side([*BASE, None]), side([None, *BETTER[1:], 9.0]))
    expected = stats.ttest_rel(BETTER[1:], BASE[1:]).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert (row["n_a"], row["n_b"], row["paired"]) == (11, 11, True)
    assert row["outcome"] == "b better"
    assert outcome(side(BASE, "mse"), side(BETTER, "mse"))["outcome"] == "a better"
    assert outcome(side(BASE), side(BASE))["outcome"] == "same"
    assert outcome(side([0.1, 0.2, 0.3]), side([0.2, 0.1, 0.35]))["outcome"] == "undecided"


def test_other_points_are_not_paired():
    row = outcome(side(BASE), side(BETTER[:9], points="q", experiment="f"))
    expected = stats.ttest_ind(BETTER[:9], BASE, equal_var=False).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high))
    assert (row["n_a"], row["n_b"], row["paired"]) == (12, 9, False)
    assert row["experiment"] == "e / f"
    assert row["same_settings"] is False


def test_cells_of_one_side_and_of_several_settings():
    a = pd.concat([side([0.1, 0.2]), side([0.5, 0.6], settings="t"), side([1.0], method="A")])
    b = pd.concat([side([0.2, 0.3]), side([0.6, 0.7], settings="t"), side([1.0], method="B")])
    frame = compare_stores(a, b)
    assert list(frame) == COLUMNS
    assert frame["outcome"].tolist() == ["b better", "b better", "only a", "only b"]
    assert frame["difference"].tolist()[:2] == pytest.approx([0.1, 0.1])
    assert compare_stores(a[:0], b[:0]).empty


def test_the_metric_that_methods_are_ranked_by():
    config = load_config("table3_1").config
    assert ranking_metric(config, "t") == "accuracy"
    assert ranking_metric(config, "t", "fit_seconds") == "fit_seconds"
    with pytest.raises(ReportError, match="no metric 'acuracy'"):
        ranking_metric(config, "t", "acuracy")
