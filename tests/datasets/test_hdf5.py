"""HDF5 files, also as MATLAB 7.3 writes them, and the process in which they are read."""

import os
import resource
import signal

import h5py
import numpy as np
import pytest

from kernlearn.datasets import apart, content, hdf5_content, load, matlab
from kernlearn.datasets.apart import Answer
from kernlearn.exceptions import DataError
from tests.command import kernlearn, kernlearn_process  # noqa: F401
from tests.datasets.test_arrays_matlab import save_v5, save_v73

X = np.array([[1, 2.0], [3, 4], [5, 6], [7, 9]])
Y = np.array([1, 2, 1, 2])


def save(path, **values):
    with h5py.File(path, "w") as file:
        for name, value in values.items():
            file[name] = value


def outside(path):
    """Write files whose parts are in others, by kinds of parts."""
    save(path / "other.h5", d=X)
    (path / "raw.bin").write_bytes(X.tobytes())
    layout = h5py.VirtualLayout(shape=X.shape, dtype=float)
    layout[:] = h5py.VirtualSource(str(path / "other.h5"), "d", shape=X.shape)
    for name in ("virtual", "external", "link"):
        with h5py.File(path / f"{name}.h5", "w") as file:
            file["y"] = Y
            if name == "virtual":
                file.create_virtual_dataset("X", layout)
            elif name == "external":
                where = [(str(path / "raw.bin"), 0, X.nbytes)]
                file.create_dataset("X", shape=X.shape, dtype=float, external=where)
            else:
                file["X"] = h5py.ExternalLink(str(path / "other.h5"), "/d")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("virtual", "a virtual data set, made of others"),
        ("external", "an external data set, whose values are in another file"),
        ("link", "a link to another file"),
    ],
)
def test_parts_that_are_in_other_files_are_refused_by_name(kernlearn, tmp_path, name, kind):  # noqa: F811
    outside(tmp_path)
    assert h5py.File(tmp_path / f"{name}.h5")["X"].shape == X.shape  # it could be read
    message = f"{name}.h5: X is {kind}; write its values into the file itself\n"
    for words in (("datasets", "add", f"{name}.h5", "--name", "mine"), ("goodness", f"{name}.h5")):
        finished = kernlearn(*words)
        assert (finished.returncode, finished.stderr) == (2, f"kernlearn: {message}")
    with pytest.raises(DataError, match=kind):
        matlab.load_matlab(tmp_path / f"{name}.h5", ["X"])


def test_links_within_a_file_do_not_lead_out_of_it(tmp_path):
    save(tmp_path / "other.h5", **{"group/X": X})
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["out"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/group")
        file["soft"] = h5py.SoftLink("/out/X")
        file["in/X"] = X
    read = matlab.load_matlab(tmp_path / "f.h5", ["soft", "in/X", "in/none", "in/X/more", "in"])
    assert [*read] == ["in/X"]
    np.testing.assert_array_equal(read["in/X"], X)
    with pytest.raises(DataError, match="out/X is a link to another file"):
        matlab.load_matlab(tmp_path / "f.h5", ["out/X"])


@pytest.mark.parametrize(
    "labels",
    [Y, Y[:, None], Y[None], Y == 1, list("uvuv"), np.array([b"u", b"v"] * 2), Y.astype("f2")],
)
def test_labels_of_all_kinds(tmp_path, labels):
    save(tmp_path / "f.h5", X=X, y=labels, empty=h5py.Empty("f8"), text="note")
    bunch = load(tmp_path / "f.h5", cache=False)
    np.testing.assert_array_equal(bunch.data, X)
    assert sorted(np.bincount(bunch.target)) == [2, 2]


def test_matlab_stores_column_by_column_and_others_row_by_row(tmp_path):
    save_v73(tmp_path / "f.mat", X=X, y=Y[:, None])
    save(tmp_path / "f.h5", X=X, y=Y[:, None])
    for file in ("f.mat", "f.h5"):
        assert matlab.matlab_heads(tmp_path / file)["X"].shape == (4, 2)
        np.testing.assert_array_equal(load(tmp_path / file, cache=False).data, X)


def test_texts_that_would_fill_memory_are_refused(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["X"] = np.ones((200_000, 2))
        file["y"] = ["x" * 100_000, *["y"] * 199_999]
    monkeypatch.setenv("KERNLEARN_MAX_MEMORY", "100MB")
    with pytest.raises(DataError, match=r"f\.h5: needs more memory than there is, and 100") as no:
        load(tmp_path / "f.h5", cache=False)
    assert "\n" not in str(no.value)


def kill(*_):
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize(
    ("save_as", "file", "kind"), [(save, "f.h5", "HDF5"), (save_v5, "f.mat", "MATLAB")]
)
def test_the_death_of_the_process_that_reads_is_one_line(
    tmp_path, monkeypatch, save_as, file, kind
):
    save_as(tmp_path / file, X=X, y=Y)
    call = apart.call_apart

    def dies(_, *arguments, **limits):
        return call("tests.datasets.test_hdf5:kill", *arguments, **limits)

    monkeypatch.setattr(content, "call_apart", dies)
    message = f"{file}: damaged, or no {kind} file: the process that read it died: signal 11"
    with pytest.raises(DataError, match=message):
        load(tmp_path / file, cache=False)


def too_slow(*_):
    apart._SECONDS = 0
    apart.allow_for(10)
    while True:
        pass


def test_a_file_that_keeps_the_process_computing_is_one_line(tmp_path, monkeypatch):
    save(tmp_path / "f.h5", X=X, y=Y)
    call, slow = apart.call_apart, "tests.datasets.test_hdf5:too_slow"
    monkeypatch.setattr(content, "call_apart", lambda _, *a, **k: call(slow, *a, **k))
    with pytest.raises(DataError, match=r"f\.h5: .* died: it did not come to an end"):
        load(tmp_path / "f.h5", cache=False)


def test_the_libraries_are_not_loaded_here(kernlearn_process, tmp_path):  # noqa: F811
    save(tmp_path / "f.h5", X=X, y=Y)
    finished = kernlearn_process("goodness", "f.h5", PYTHONPROFILEIMPORTTIME="1")
    assert finished.returncode == 0
    assert "sklearn" in finished.stderr
    assert "h5py" not in finished.stderr


def test_what_is_read_there_is_what_is_read_here(tmp_path):
    save(tmp_path / "f.h5", X=X, y=Y, Z=X.astype(">f4"), b=np.zeros((0, 3), dtype=bool))
    here = hdf5_content.load(str(tmp_path / "f.h5"), ["X", "Z", "b", "none"])
    there = matlab.load_matlab(tmp_path / "f.h5", ["X", "Z", "b", "none"])
    assert isinstance(here, Answer)
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY
    assert [*there] == here.value == ["X", "Z", "b"]
    for one, other in zip(here.arrays, there.values(), strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
