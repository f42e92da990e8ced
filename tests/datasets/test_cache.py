import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from kernlearn.datasets import cache
from kernlearn.datasets.cache import Contents, cached, recall, stamp


class Source:
    """A file, and a count of how often it was parsed."""

    def __init__(self, path, data):
        path.write_text("content")
        self.path, self.data, self.parsed = path, data, 0
        self.query = None

    def make(self):
        self.parsed += 1
        names = np.array([f"x{i}" for i in range(self.data.shape[1])])
        labels = np.array(["ä", "b"])
        return Contents(self.data, np.arange(2), labels, names, "ab12", self.query, "ö")

    def get(self, **variant):
        return cached(stamp("small", [self.path], variant), self.make)


@pytest.fixture(params=["dense", "sparse"])
def source(request, folder):
    X = np.array([[0.0, 1.5, 0.0], [0.0, 0.0, -2.0]])
    return Source(folder / "file", X if request.param == "dense" else sparse.csr_matrix(X))


def dense(contents):
    return contents.data.toarray() if sparse.issparse(contents.data) else contents.data


def only_copy(tmp_path):
    (copy,) = (tmp_path / "cache" / "parsed").iterdir()
    return copy


def test_a_copy_is_equal_and_made_once(source):
    first, second = source.get(), source.get()
    assert source.parsed == 1
    assert type(second.data) is type(first.data)
    assert second.data.dtype == first.data.dtype
    np.testing.assert_array_equal(dense(second), dense(first))
    for field in ("target", "target_names", "feature_names"):
        np.testing.assert_array_equal(getattr(second, field), getattr(first, field))
        assert getattr(second, field).dtype == getattr(first, field).dtype
    assert second.fingerprint == "ab12"
    assert second.note == "ö"
    assert second.query is None


def test_queries_are_kept(source):
    source.query = np.array([7, 10**12])
    source.get()
    assert source.get().query.tolist() == [7, 10**12]
    assert source.parsed == 1


def test_another_variant_has_its_own_copy(source):
    for variant in ("ordinal", "onehot", "ordinal", "onehot"):
        source.get(nominal=variant)
    assert source.parsed == 2


def test_a_changed_file_replaces_its_copy(source, tmp_path):
    source.get()
    source.path.write_text("other content")
    source.get()
    source.get()
    assert source.parsed == 2
    only_copy(tmp_path)


def test_a_file_changed_at_the_same_size_is_seen(source):
    source.get()
    os.utime(source.path, ns=(1, 1))
    source.get()
    assert source.parsed == 2


def test_another_layout_of_copies_is_not_read(source, monkeypatch):
    source.get()
    monkeypatch.setattr(cache, "_VERSION", cache._VERSION + 1)
    source.get()
    assert source.parsed == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(data=st.data())
def test_a_damaged_copy_is_made_again(source, tmp_path, data):
    expected = source.get()
    copy = only_copy(tmp_path)
    content = bytearray(copy.read_bytes())
    at = data.draw(st.integers(0, len(content) - 1))
    if data.draw(st.booleans(), label="cut"):
        del content[at:]
    else:
        content[at] ^= data.draw(st.integers(1, 255))
    copy.write_bytes(content)
    found = source.get()
    np.testing.assert_array_equal(dense(found), dense(expected))
    assert found.target_names.tolist() == ["ä", "b"]


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"\x80\x04N."])
def test_a_copy_that_is_none_is_made_again(source, tmp_path, content):
    source.get()
    only_copy(tmp_path).write_bytes(content)
    source.get()
    source.get()
    assert source.parsed == 2


def test_pickles_are_not_loaded(source, tmp_path):
    source.get()
    copy = only_copy(tmp_path)
    with np.load(copy) as stored:
        arrays = dict(stored)
    arrays["target"] = np.array([{}, {}], dtype=object)
    np.savez(copy, allow_pickle=True, **arrays)
    assert source.get().target.tolist() == [0, 1]
    assert source.parsed == 2


def test_works_where_nothing_can_be_written(source, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "file"))
    np.testing.assert_array_equal(dense(source.get()), dense(source.get()))
    assert source.parsed == 2


def test_a_failed_write_leaves_nothing_behind(source, tmp_path, monkeypatch):
    def full(*args, **kwargs):
        raise OSError("no space left on device")

    monkeypatch.setattr(np, "savez", full)
    source.get()
    assert list((tmp_path / "cache" / "parsed").iterdir()) == []


def note_of(tmp_path):
    (note,) = (tmp_path / "cache" / "notes").iterdir()
    return note


def test_the_fingerprint_is_remembered_until_file_or_variant_change(source, tmp_path):
    mark = stamp("small", [source.path], {"nominal": "ordinal"})
    assert recall(mark) is None
    source.get(nominal="ordinal")
    assert recall(mark) == "ab12"
    assert recall(stamp("small", [source.path], {"nominal": "onehot"})) is None
    note_of(tmp_path).unlink()
    source.get(nominal="ordinal")  # a copy without its note
    assert recall(mark) == "ab12"
    assert source.parsed == 1
    os.utime(source.path, ns=(1, 1))
    assert recall(stamp("small", [source.path], {"nominal": "ordinal"})) is None


def test_a_damaged_note_is_no_note(source, tmp_path):
    mark = stamp("small", [source.path], {})
    source.get()
    note = note_of(tmp_path)
    content = note.read_bytes()
    for at in range(len(content)):
        note.write_bytes(content[:at])
        assert recall(mark) is None
        note.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        assert recall(mark) is None
    note.write_bytes(content)
    assert recall(mark) == "ab12"
