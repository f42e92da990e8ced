"""An archive given as a data file: the one file in it is read, or its files are named."""

import gzip
import io
import tarfile
import zipfile

import numpy as np
import pytest

from kernlearn.datasets import load
from kernlearn.exceptions import DataError
from tests.command import kernlearn  # noqa: F401
from tests.datasets.test_files_archives import archive

ROWS = b"a,b,y\n1,2,u\n3,4,v\n5,6,u\n7,9,v\n"


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


ONE = {
    "alone": {"f.csv": ROWS},
    "of any name": {"deep/down/measured": ROWS},
    "beside others": {"README": b"read", "notes.md": b"", "a/f.csv": ROWS, "LICENSE.txt": b"l"},
    "hidden": {"f.csv": ROWS, "__MACOSX/f.csv": b"x", ".DS_Store": b"x", "a/._f.csv": b"x"},
    "text": {"f.txt": ROWS, "notes.md": b"read"},
    "packed": {"f.csv.gz": gzip.compress(ROWS), "README": b""},
    "arrays": {"f.npz": npz(X=[[1, 2], [3, 4], [5, 6], [7, 9]], y=list("uvuv"))},
}


@pytest.mark.parametrize("outer", [".zip", ".tar", ".tar.gz", ".tgz", ".tar.xz"])
@pytest.mark.parametrize("name", ONE)
def test_the_one_data_file_is_read(kernlearn, tmp_path, name, outer):  # noqa: F811
    path = archive(tmp_path / f"mine{outer}", ONE[name])
    bunch = load(path, cache=False)
    assert bunch.data.tolist() == [[1, 2], [3, 4], [5, 6], [7, 9]]
    assert bunch.path == tmp_path
    if outer != ".zip":
        return
    added = kernlearn("datasets", "add", path.name, "--name", "mine")
    assert (added.returncode, added.stderr) == (0, "")
    assert "in the archive mine.zip" in added.stdout
    assert (tmp_path / "datasets" / "mine" / "mine.zip").is_symlink()
    again = load("mine", data_dir=tmp_path / "datasets", cache=False)
    assert again.fingerprint == bunch.fingerprint
    assert kernlearn("goodness", path.name).returncode == 0


SEVERAL = {
    "two": (
        {"a.csv": ROWS, "b/c.arff": b"x"},
        "an archive with 2 data files, 'a.csv', 'b/c.arff': name one of them, as f.zip/a.csv",
    ),
    "many": (
        {f"{i}.csv": ROWS for i in range(7)},
        "an archive with 7 data files, '0.csv', '1.csv', '2.csv', '3.csv', '4.csv' and 2 more: ",
    ),
    "none": (
        {"a.png": b"x", "b.py": b"x"},
        "an archive of 'a.png', 'b.py', none of which is a data file of a known format: unpack ",
    ),
    "nested": (
        {"a.zip": b"x"},
        "an archive of 'a.zip', none of which is a data file of a known format: unpack it",
    ),
    "empty": ({}, "an archive of no files, none of which is a data file"),
    "arrays and more": (
        {"X.npy": npy(np.eye(2)), "y.csv": ROWS, "z.csv": ROWS},
        "an archive with 2 data files, 'y.csv', 'z.csv': name one",
    ),
    "spreadsheet": (
        {"[Content_Types].xml": b"x", "xl/workbook.xml": b"x"},
        "an archive of '[Content_Types].xml', 'xl/workbook.xml': a spreadsheet needs the ending",
    ),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_others_are_refused_in_one_line_that_names_their_files(kernlearn, tmp_path, name):  # noqa: F811
    members, message = SEVERAL[name]
    archive(tmp_path / "f.zip", members)
    for words in (("datasets", "add", "f.zip", "--name", "mine"), ("goodness", "f.zip")):
        finished = kernlearn(*words)
        assert finished.returncode == 2
        assert len(finished.stderr.splitlines()) == 1
        assert finished.stderr.startswith(f"kernlearn: f.zip: {message}")
    assert not (tmp_path / "datasets").exists()


def test_one_of_several_is_named(kernlearn, tmp_path):  # noqa: F811
    archive(tmp_path / "f.zip", {"a.csv": ROWS, "b/a.csv": ROWS.replace(b"9", b"8")})
    for name, last in (("a.csv", 9), ("b/a.csv", 8)):
        assert load(tmp_path / "f.zip" / name, cache=False).data[3, 1] == last
        added = kernlearn("datasets", "add", f"f.zip/{name}", "--name", f"mine{last}")
        assert (added.returncode, added.stderr) == (0, "")
        again = load(f"mine{last}", data_dir=tmp_path / "datasets", cache=False)
        assert again.data[3, 1] == last
    missing = kernlearn("goodness", "f.zip/c.csv")
    assert (missing.returncode, missing.stderr) == (2, "kernlearn: f.zip: has no member c.csv\n")


def test_a_config_names_one_of_several(kernlearn, tmp_path):  # noqa: F811
    archive(tmp_path / "f.zip", {"a.csv": ROWS * 9, "b.csv": ROWS})
    (tmp_path / "c.yaml").write_text(
        "title: t\ndatasets: {mine: {file: f.zip/b.csv}}\n"
        "methods: {K: {estimator: LinearSVM}}\nprotocol: {splits: 2, train: 0.5}\n"
        "metrics: [accuracy]\n"
    )
    assert kernlearn("validate", "c.yaml").returncode == 0
    planned = kernlearn("plan", "c.yaml")
    assert planned.returncode == 0, planned.stderr


def test_an_archive_by_another_name_says_which_it_needs(tmp_path):
    path = tmp_path / "f.csv"
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a.csv", ROWS)
        packed.writestr("b.csv", ROWS)
    with pytest.raises(
        DataError, match=r"an archive of 'a.csv', 'b.csv': rename it to end in \.z"
    ):
        load(path, cache=False)


def test_arrays_are_no_archive_whatever_their_name(tmp_path):
    path = tmp_path / "f.zip"
    path.write_bytes(npz(X=[[1, 2], [3, 4], [5, 6], [7, 9]], y=list("uvuv")))
    assert load(path, cache=False).data.shape == (4, 2)


def test_a_link_in_an_archive_is_refused(tmp_path):
    with tarfile.open(tmp_path / "f.tar", "w") as packed:
        info = tarfile.TarInfo("f.csv")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(info)
    with pytest.raises(DataError, match=r"the member f\.csv is a link or no plain file"):
        load(tmp_path / "f.tar", cache=False)


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_files_of_any_format_may_be_packed(tmp_path, ending):
    from tests.datasets.test_files_archives import PACK

    content = PACK[ending](npz(X=[[1, 2], [3, 4], [5, 6], [7, 9]], y=list("uvuv")))
    (tmp_path / f"f.npz{ending}").write_bytes(content)
    assert load(tmp_path / f"f.npz{ending}", cache=False).data.shape == (4, 2)


def test_one_array_is_no_data_set(tmp_path):
    np.save(tmp_path / "f.npy", np.eye(3))
    with pytest.raises(DataError, match=r"f\.npy: an NPY file holds one array and no labels: wri"):
        load(tmp_path / "f.npy", cache=False)
