"""Where files are looked for, plain, packed and in archives."""

import os
from pathlib import Path

import h5py
import numpy as np
import pytest

from kernlearn.datasets import catalogue, load, locate, missing_message, search_path
from kernlearn.datasets.files import PACKED, opened
from kernlearn.exceptions import DataError
from tests.datasets.packing import tarred, zipped

WHOLE = {"files": ["small", "small.t"], "format": {"kind": "libsvm"}, "rows": 2}
WHOLE |= {"classes": {-1: 1, 1: 1}}
SAMPLE = WHOLE | {"files": ["part"], "sample": True, "note": "A part."}


def put(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("x")
    return folder


def test_the_order_of_the_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", os.pathsep.join(["/first", "", "/second", "/first"]))
    expected = ["mine", "/first", "/second", "datasets", str(tmp_path / "cache" / "datasets")]
    assert search_path("mine") == [Path(part) for part in expected]
    assert search_path() == [Path(part) for part in expected[1:]]


@pytest.mark.parametrize("sub", ["small", "."])
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_files_lie_in_a_folder_of_their_own_or_next_to_others(make_card, folder, sub, suffix):
    put(folder / sub, "small" + suffix)
    assert locate(make_card(WHOLE), folder) is None
    put(folder / sub, "small.t")
    (folder / sub / "small").mkdir(exist_ok=True) if suffix else None
    result = locate(make_card(WHOLE), folder)
    assert [path.name for path in result.paths] == ["small" + suffix, "small.t"]
    assert {path.parent for path in result.paths} == {folder / sub}


def test_files_of_common_names_and_of_other_data_sets(make_card, folder):
    card = make_card(WHOLE | {"files": ["Dataset.data"], "own_folder": True})
    put(folder, "Dataset.data")
    assert locate(card, folder) is None
    put(folder / "small", "Dataset.data")
    assert locate(card, folder).paths == (folder / "small" / "Dataset.data",)
    put(folder / "other", "small", "small.t")
    assert locate(make_card(WHOLE), folder) is None
    card = make_card(WHOLE | {"folder": "other"})
    assert locate(card, folder).paths[0] == folder / "other" / "small"


def test_archives(make_card, folder):
    card = make_card(WHOLE | {"files": ["small", "test/small"]})
    members = {"data/small": "train", "test/small": "test", "data/readme": "x"}
    (folder / "small.zip").write_bytes(zipped(members))
    with pytest.raises(DataError, match="several files called small"):
        locate(card, folder)
    (folder / "small.zip").write_bytes(
        zipped({"small": "train", "test/small": "test", "data/readme": "x"})
    )
    paths = locate(card, folder).paths
    assert paths == (folder / "small.zip" / "small", folder / "small.zip" / "test" / "small")
    with opened(paths[1]) as stream:
        assert stream.read() == b"test"
    (folder / "small.zip").unlink()
    members = {"./small": b"1 2\n", "in/small.t": b"1 2\n"}
    (folder / "small.tar.gz").write_bytes(tarred(members, links=["link"]))
    paths = locate(make_card(WHOLE), folder).paths
    assert [path.relative_to(folder).as_posix() for path in paths] == [
        "small.tar.gz/small",
        "small.tar.gz/in/small.t",
    ]
    with opened(paths[0]) as stream:
        assert stream.read() == b"1 2\n"
    with (
        pytest.raises(DataError, match="has no file link"),
        opened(folder / "small.tar.gz" / "link"),
    ):
        pass
    put(folder, "small.tar.gz")  # damaged
    with pytest.raises(DataError, match=r"small\.tar\.gz: damaged"):
        locate(make_card(WHOLE), folder)
    put(folder / "small", "small", "small.t")
    assert locate(make_card(WHOLE), folder).paths[0] == folder / "small" / "small"


def test_the_whole_is_preferred_and_the_named_folder_first(
    make_card, folder, tmp_path, monkeypatch
):
    card = make_card(WHOLE, SAMPLE)
    monkeypatch.setenv("KERNLEARN_DATA", str(put(folder, "part")))
    assert locate(card).form.sample
    put(tmp_path / "cache" / "datasets" / "small", "small", "small.t")
    assert not locate(card).form.sample
    assert locate(card, folder).paths == (folder / "part",)
    put(folder, "small", "small.t")
    assert not locate(card, folder).form.sample
    put(Path("datasets"), "small", "small.t")
    assert locate(card).paths[0] == folder / "small"


def test_one_message_for_all_that_is_missing(folder, tmp_path):
    cards = [catalogue()[name] for name in ("nursery", "iris", "ijcnn1", "covertype")]
    put(folder, "nursery.data")
    message = missing_message(cards, folder)
    assert message.startswith("2 data sets are missing:\n  ijcnn1: ijcnn1 + ijcnn1.t\n")
    for text in ("binary/ijcnn1.t.bz2", "ics.uci.edu/dataset/31/covertype", "KERNLEARN_DATA"):
        assert text in message
    assert f"\n  {folder}\n" in message
    assert f"\n  {tmp_path / 'cache' / 'datasets'} (does not exist)\n" in message
    assert missing_message(cards[:2], folder) == ""
    assert "xxx (does not exist)" in missing_message(cards, "x" * 5000)


@pytest.mark.parametrize("name", ["b.csv.gz", "b.csv.xz", "b.zip", "b.tar.gz", "b.npz", "b.h5"])
def test_kilobytes_that_stand_for_many_bytes_are_refused(folder, monkeypatch, name):
    monkeypatch.setattr("kernlearn.datasets.files._MOST_UNPACKED", 2**16)
    path, text = folder / name, "a,b,y\n" + "0,0,1\n0,0,2\n" * 2**17
    if name.endswith("zip"):
        path.write_bytes(zipped({"b.csv": text}))
    elif "tar" in name:
        path.write_bytes(tarred({"b.csv": text.encode()}))
    elif "csv" in name:
        with PACKED[path.suffix](path, "wb") as stream:
            stream.write(text.encode())
    elif name == "b.npz":
        np.savez_compressed(path, X=np.zeros((1000, 1000)), y=np.arange(1000) % 2)
    else:
        with h5py.File(path, "w") as file:
            file.create_dataset("X", (1000, 10**9), "f8", chunks=(1, 1000))
            file["y"] = np.arange(1000) % 2
    with pytest.raises(DataError, match="times its size"):
        load(path)
    monkeypatch.undo()
    if name not in ("b.npz", "b.h5"):
        assert load(path).data.shape == (2**18, 2)


def test_what_is_no_file_of_data(folder):
    os.mkfifo(folder / "pipe.csv")
    (folder / "zero.csv").symlink_to("/dev/zero")
    (folder / "lfs.csv").write_text("version https://git-lfs.github.com/spec/v1\noid x\nsize 9\n")
    for name, what in {"pipe": "pipe", "zero": "device", "lfs": "`git lfs pull`"}.items():
        with pytest.raises(DataError, match=what):
            load(folder / f"{name}.csv")


def test_values_in_another_file_are_not_read(folder):
    (folder / "secret").write_bytes(np.arange(40.0).tobytes())
    layout = h5py.VirtualLayout((10, 4), "f8")
    layout[:] = h5py.VirtualSource(folder / "other.h5", "X", (10, 4))
    with h5py.File(folder / "external.h5", "w") as file:
        file.create_dataset("X", (10, 4), "f8", external=[(folder / "secret", 0, 320)])
        file["y"] = np.arange(10) % 2
    with h5py.File(folder / "virtual.h5", "w") as file:
        file.create_virtual_dataset("X", layout)
        file["y"] = np.arange(10) % 2
    for path in folder.glob("*.h5"):
        with pytest.raises(DataError, match="the values of X are in another file"):
            load(path)
