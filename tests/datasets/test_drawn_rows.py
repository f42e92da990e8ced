"""Streams of drawn rows."""

from itertools import islice

import numpy as np
import pytest

from kernlearn.datasets import product_rows
from kernlearn.datasets.drawn_rows import STREAMS


def gathered(source):
    chunks = [*source]
    return np.concatenate([X for X, _ in chunks]), np.concatenate([y for _, y in chunks])


def plain(n_rows, d, noise, seed):
    """The rows one by one, as the documentation says."""
    rows, targets = [], []
    for i in range(n_rows):
        if i % 1024 == 0:
            rng = np.random.default_rng([seed, i // 1024])
            z = rng.standard_normal((1024, d))
            e = rng.standard_normal(1024)
        cut = [min(max(value, -2.0), 2.0) for value in z[i % 1024]]
        rows.append([value / (2 * np.sqrt(d)) for value in cut])
        targets.append(cut[0] * cut[1] + cut[2] + noise * e[i % 1024])
    return np.array(rows), np.array(targets)


@pytest.mark.parametrize("size", [1, 700, 1024, 5000])
def test_rows_do_not_depend_on_the_chunks(size):
    n = 37 if size == 1 else 2500
    source = product_rows(n, 4, 0.5, size, 7, numbers=True)
    X, t = gathered(source)
    expected, targets = plain(n, 4, 0.5, 7)
    np.testing.assert_array_equal(X, expected)
    np.testing.assert_allclose(t, targets, rtol=1e-14)
    assert (np.linalg.norm(X, axis=1) <= 1).all()
    _, y = gathered(product_rows(n, 4, 0.5, size, 7))
    np.testing.assert_array_equal(y, targets > 0)
    assert y.dtype == np.int64


def test_each_part_can_be_read_by_itself():
    source = product_rows(2500, 3, batch_size=1000, random_state=1)
    assert source.is_divided
    parts = source.partitions
    assert [part.name for part in parts] == [
        "rows 0 to 999",
        "rows 1000 to 1999",
        "rows 2000 to 2499",
    ]
    X, _ = gathered(source)
    ((last, _),) = [*parts[2]]
    np.testing.assert_array_equal(last, X[2000:])


def test_a_stream_without_end_begins_with_the_same_rows():
    endless = product_rows(None, 3, batch_size=600, random_state=1)
    assert not endless.is_divided
    X = np.concatenate([X for X, _ in islice(endless, 4)])
    np.testing.assert_array_equal(X, gathered(product_rows(2400, 3, random_state=1))[0])


def test_seeds_give_other_rows_and_a_source_keeps_its_own():
    one, other = product_rows(50, 3, random_state=1), product_rows(50, 3, random_state=2)
    assert (gathered(one)[0] != gathered(other)[0]).any()
    for source in (
        product_rows(50, 3),
        product_rows(50, 3, random_state=np.random.RandomState(0)),
    ):
        np.testing.assert_array_equal(gathered(source)[0], gathered(source)[0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_samples": 0}, "n_samples"),
        ({"n_features": 2}, "'n_features' must be at least 3, got 2"),
        ({"noise": -1.0}, "noise"),
        ({"batch_size": 0}, "batch_size"),
    ],
)
def test_what_is_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        product_rows(**options)


@pytest.mark.parametrize("name", STREAMS)
def test_streams_by_name_can_be_read_again(name):
    made = STREAMS[name]
    assert made.name == made.make.__name__ == name
    assert made.title
    assert not {"n_samples", "batch_size", "random_state", "numbers"} & made.parameters.keys()
    source = made.source(2000, 300, 5, False, n_features=4)
    assert source.is_divided == made.divided
    (X, y), (again, _) = gathered(source), gathered(source)
    assert X.shape == (2000, 4)
    assert set(y) == {0, 1}
    np.testing.assert_array_equal(X, again)
    longer = made.source(None, 300, 5, False, n_features=4)
    np.testing.assert_array_equal(X[:600], np.concatenate([X for X, _ in islice(longer, 2)]))
