"""Files that are not at hand, written exactly as published, read by the shipped cards."""

import gzip
from collections.abc import Iterable

import numpy as np
import pytest
from scipy.io import savemat

from kernlearn.datasets import catalogue, load
from tests.datasets.packing import tarred


@pytest.fixture
def values():
    """Random numbers, the same for every test."""
    return np.random.default_rng(0)


def lines(rows: Iterable[str]) -> str:
    return "\n".join(rows) + "\n"


def test_a_delve_task_in_the_archive_as_fetched(folder, values):
    row = " ".join(f"{v:.7e}" for v in values.normal(size=33))
    content = gzip.compress(lines([row] * 8192).encode())
    members = {"Source/x": b"1", "pumadyn-32fm/Dataset.data.gz": content}
    (folder / "pumadyn-32fm.tar.gz").write_bytes(tarred(members))
    bunch = load("pumadyn_32fm", data_dir=folder)
    assert bunch.data.shape == (8192, 32)
    assert [*bunch.data[0], bunch.target[0]] == [float(v) for v in row.split()]


def test_amazon_binary(folder, values):
    A = values.uniform(0, 1, (180, 180))
    variables = {"A": A, "C": np.repeat([[1], [2]], 90, axis=0)}
    savemat(folder / "AmazonBinary.mat", variables, do_compression=True)
    bunch = load("amazon_binary", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, A)
    assert bunch.similarity == "similarity"
    assert bunch.target_names.tolist() == ["1", "2"]
    assert np.bincount(bunch.target).tolist() == [90, 90]


def test_ohsumed(folder):
    features = " ".join(f"{i}:{i / 64}" for i in range(1, 46))
    rows = (f"{i % 3} qid:{1 + i % 106} {features} #docid = {i}" for i in range(16140))
    (folder / "OHSUMED.txt").write_text(lines(rows))
    bunch = load("ohsumed", data_dir=folder)
    assert bunch.data.shape == (16140, 45)
    assert len(np.unique(bunch.query)) == 106
    assert bunch.target_names.tolist() == ["0", "1", "2"]
    (folder / "OHSUMED.txt").unlink()
    for k in range(5):
        (folder / "ohsumed" / f"Fold{k + 1}").mkdir(parents=True)
        part = (f"{i % 3} qid:{5 * (1 + i % 21) + k} {features}" for i in range(3228))
        (folder / "ohsumed" / f"Fold{k + 1}" / "test.txt").write_text(lines(part))
    assert np.bincount(load("ohsumed", data_dir=folder).fold).tolist() == [3228] * 5


def test_adult_test_as_published_has_a_line_that_is_no_data(folder, make_card):
    form = catalogue()["adult_raw"].forms[0].model_dump() | {"files": ["f"], "rows": 2}
    row = (
        "25, Private, 226802, 11th, 7, Never-married, {}, Own-child, Black, Male, 0, 0, 40, {}, {}"
    )
    first = row.format("?", "United-States", "<=50K.")
    second = row.format("Sales", "Holand-Netherlands", ">50K.")
    (folder / "f").write_text(f"|1x3 Cross validator\n{first}\n{second}\n\n")
    form["fingerprint"] = None
    form["classes"] = {"<=50K": 1, ">50K": 1}
    bunch = load(make_card(form, n_features=14), data_dir=folder)
    assert bunch.target.tolist() == [1]
    assert bunch.data.shape == (1, 14)
    assert bunch.note == "1 of 2 rows with missing entries were left out (occupation in 1)."
