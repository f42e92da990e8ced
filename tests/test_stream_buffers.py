"""What `python -m benchmarks.stream_buffers` makes of the trials of drift_buffers."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.stream_buffers import differences, holm


def test_holms_procedure_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_star_marks_a_difference_to_the_reference_of_the_same_size():
    rng = np.random.default_rng(0)
    common = rng.normal(0, 0.1, 20)  # of all methods on a seed
    gains = {"RS-x², s = 10": 0.0, "RS-x², s = 50": 0.1, "FIFO, s = 10": 0.02, "moments": 0.03}
    rows = [
        ("stream", method, split, 0.7 + gain + common[split] + rng.normal(0, 0.005))
        for method, gain in gains.items()
        for split in range(20)
    ]
    values = pd.DataFrame(rows, columns=["dataset", "method", "split", "auc"])
    values.loc[values["method"] == "FIFO, s = 10", "auc"] += rng.normal(0, 0.001, 20)
    found = differences(values)["stream"]
    assert list(found.index) == ["FIFO, s = 10", "moments"]
    assert found["FIFO, s = 10"].endswith("*")
    assert float(found["FIFO, s = 10"].rstrip("*")) == pytest.approx(2, abs=0.5)
    assert float(found["moments"].rstrip("*")) == pytest.approx(-7, abs=0.5)
    same = values.assign(auc=values.groupby("split")["auc"].transform("first"))
    assert differences(same)["stream"].tolist() == ["+0.0", "+0.0"]
