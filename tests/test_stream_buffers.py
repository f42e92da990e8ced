"""What `python -m benchmarks.stream_buffers` makes of the trials of drift_buffers."""

import numpy as np
import pandas as pd
import pytest

from benchmarks.stream_buffers import differences, holm


def test_holms_procedure_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_a_star_marks_a_difference_to_the_reference():
    rng = np.random.default_rng(0)
    common = rng.normal(0, 0.1, 20)  # of all methods on a seed
    gains = {"RS-x²": 0.0, "FIFO": 0.02, "RS": 0.0}
    rows = [
        ("stream", method, split, 0.7 + gain + common[split] + rng.normal(0, 0.005))
        for method, gain in gains.items()
        for split in range(20)
    ]
    values = pd.DataFrame(rows, columns=["dataset", "method", "split", "auc"])
    found = differences(values, "RS-x²")["stream"]
    assert list(found.index) == ["FIFO", "RS"]
    assert found["FIFO"].endswith("*")
    assert float(found["FIFO"].rstrip("*")) == pytest.approx(2, abs=0.5)
    assert float(found["RS"]) == pytest.approx(0, abs=0.5)
    same = values.assign(auc=values.groupby("split")["auc"].transform("first"))
    assert differences(same, "RS-x²")["stream"].tolist() == ["+0.0", "+0.0"]
