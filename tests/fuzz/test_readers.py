"""Hostile data files of every format: each gives data of the right shape, or one line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from kernlearn.datasets import Card, iter_chunks, load
from tests.command import command
from tests.fuzz.files import CARDS, LABELS, Sample, letor, samples
from tests.fuzz.mutated import damaged
from tests.fuzz.settings import EXAMPLES, fuzzing, limited, outcome

NAMES = [*samples()]
each = settings_of(fuzzing, max_examples=EXAMPLES if EXAMPLES > 20 else 4)

#: What the reading in chunks of some formats is told.
CHUNKED = {
    "csv": {"format": "csv", "target": "y"},
    "libsvm": {"format": "libsvm", "n_features": 2},
    "parquet": {"format": "parquet", "target": "y", "drop": ["s"]},
    "plain parquet": {"format": "parquet", "target": "y", "drop": ["s"]},
}


@st.composite
def hostile(draw, sample: Sample) -> bytes:
    """Damage one part of a file or more, or the file as a whole."""
    parts = list(sample.parts)
    if draw(st.integers(0, 3)) == 0 and sample.pack != b"".join:
        return draw(damaged(sample.content))
    for _ in range(draw(st.integers(1, 2))):
        at = draw(st.integers(0, len(parts) - 1))
        parts[at] = draw(damaged(parts[at]))
    return sample.pack(parts)


def check_shape(bunch) -> None:
    """Check what every data set is."""
    X, y = bunch.data, bunch.target
    assert len(y) == X.shape[0] > 0
    assert y.ndim == 1
    if X.ndim == 2:
        assert len(bunch.feature_names) == X.shape[1] > 0
        assert np.isfinite(X.data if hasattr(X, "tocsr") else X).all()
    if len(bunch.target_names):
        assert 0 <= y.min() <= y.max() < len(bunch.target_names)
    else:
        assert np.isfinite(y).all()


def is_clear(message: str, path: object) -> bool:
    return str(path) in message and len(message.splitlines()) == 1 and len(message) < 2000


@pytest.mark.parametrize("name", NAMES)
def test_what_is_not_damaged_is_read(tmp_path, name):
    sample = samples()[name]
    path = tmp_path / sample.name
    path.write_bytes(sample.content)
    bunch, message = outcome(load, path, cache=False)
    if name == "npy":
        assert "no labels" in message
        return
    assert not message
    check_shape(bunch)
    assert len(bunch.target) in (3, 4, len(LABELS))
    added = command(tmp_path, "datasets", "add", path, "--name", "mine")
    assert (added.returncode, added.stderr) == (0, "")
    again = load("mine", data_dir=tmp_path / "datasets", cache=False)
    assert again.fingerprint == bunch.fingerprint


@pytest.mark.parametrize("name", NAMES)
@each
@given(data=st.data())
def test_files(tmp_path, name, data):
    sample = samples()[name]
    path = tmp_path / sample.name
    path.write_bytes(data.draw(hostile(sample)))
    with limited():
        bunch, message = outcome(load, path, cache=False)
    if bunch is None:
        assert is_clear(message, path), message
    else:
        check_shape(bunch)


@pytest.mark.parametrize("name", CARDS)
@each
@given(data=st.data())
def test_files_of_cards(tmp_path, name, data):
    sample = letor() if name == "letor" else samples()[name]
    form, task = CARDS[name]
    content = {
        "name": "small",
        "title": "t",
        "task": task,
        "n_features": 2,
        "licence": "l",
        "source": {"publisher": "p"},
        "citation": "c",
        "forms": [{"files": [sample.name], "format": form}],
    }
    if task == "classification":
        labels = dict.fromkeys(("1", "2") if name in ("arff", "ts") else ("a", "b"), 3)
        content["forms"][0] |= {"classes": labels, "rows": 6}
    card = Card.model_validate(content)
    path = tmp_path / sample.name
    path.write_bytes(sample.content)
    assert load(card, data_dir=tmp_path, cache=False).data.shape == (6, 2)
    path.write_bytes(data.draw(hostile(sample)))
    with limited():
        bunch, message = outcome(load, card, data_dir=tmp_path, cache=False)
    if bunch is None:
        assert is_clear(message, path), message
        return
    check_shape(bunch)
    assert bunch.data.shape[1] == 2
    if task == "classification":
        n_left = 6 - bunch.preparation.rows_dropped  # of which an entry is missing
        assert len(bunch.target) == n_left
        assert np.bincount(bunch.target).max() <= 3


@fuzzing
@given(data=st.data())
def test_commands(tmp_path_factory, data):
    sample = samples()[data.draw(st.sampled_from(NAMES))]
    folder = tmp_path_factory.mktemp("given")
    (folder / sample.name).write_bytes(data.draw(hostile(sample)))
    words = data.draw(
        st.sampled_from(
            [
                ("datasets", "add", sample.name, "--name", "mine"),
                ("goodness", sample.name, "--max-points", "6"),
            ]
        )
    )
    with limited():
        finished = command(folder, *words)
    assert finished.returncode in (0, 2), finished.stderr
    assert "Traceback" not in finished.stderr
    if finished.returncode:
        *notes, error = finished.stderr.splitlines()  # what is left out and coded, then the error
        assert error.startswith("kernlearn: ")
        assert all(line.startswith(f"{sample.name}: ") for line in notes)


@pytest.mark.parametrize("name", CHUNKED)
@each
@given(data=st.data())
def test_files_in_chunks(tmp_path, name, data):
    sample = samples()[name]
    path = tmp_path / sample.name
    path.write_bytes(sample.content)
    assert sum(len(y) for _, y in iter_chunks(path, 2, **CHUNKED[name])) == len(LABELS)
    path.write_bytes(data.draw(hostile(sample)))
    with limited():
        chunks, message = outcome(lambda: [*iter_chunks(path, 2, **CHUNKED[name])])
    if chunks is None:
        assert is_clear(message, path), message
        return
    widths = {X.shape[1] for X, _ in chunks}
    assert len(widths) <= 1
    for X, y in chunks:
        assert len(y) == X.shape[0] > 0
        assert np.isfinite(X.data if hasattr(X, "tocsr") else X).all()
