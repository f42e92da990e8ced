"""Files that are not at hand, written exactly as published, read by the shipped cards."""

import gzip
import io
import tarfile
from collections.abc import Iterable

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from kernlearn.datasets import catalogue, load
from kernlearn.exceptions import DataError

CLIMATE = (
    "Study Run vconst_corr vconst_2 vconst_3 vconst_4 vconst_5 vconst_7 ah_corr ah_bolus slm_corr "
    "efficiency_factor tidal_mix_coef vertical_decay_scale convect_corr bckgrnd_vdc1 "
    "bckgrnd_vdc_ban bckgrnd_vdc_eq bckgrnd_vdc_psim Prandtl outcome"
)


def save_v73(path, **variables):
    """Write as MATLAB 7.3 does: HDF5 after 512 bytes of text, arrays column by column."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.asarray(value).T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(508) + b"\x00\x02IM")


def save_v5(path, **variables):
    savemat(path, variables, do_compression=True)


@pytest.fixture
def values():
    """Random numbers, the same for every test."""
    return np.random.default_rng(0)


def lines(rows: Iterable[str]) -> str:
    return "\n".join(rows) + "\n"


def test_mfeat_zer(folder, values):
    X = values.uniform(0, 800, (2000, 47)).round(6)
    text = lines("".join(f"{value:>13.6f}" for value in row) for row in X)
    (folder / "mfeat").mkdir()
    (folder / "mfeat" / "mfeat-zer").write_text(text)
    bunch = load("mfeat_zernike", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, np.repeat(np.arange(10), 200))
    (folder / "mfeat" / "mfeat-zer").write_text(text[: text.rindex("\n", 0, -1) + 1])
    with pytest.raises(DataError, match="found 1999 rows, expected 2000 in blocks of 200"):
        load("mfeat_zernike", data_dir=folder)


def test_pop_failures(folder, values):
    X = values.uniform(0, 1, (540, 18)).round(9)
    outcome = np.arange(540) >= 46
    rows = [
        f"{1 + i // 180:>3} {1 + i % 180:>4} {'  '.join(f'{v:.9f}' for v in x)}  {int(y)}"
        for i, (x, y) in enumerate(zip(X, outcome, strict=True))
    ]
    (folder / "pop_failures.dat").write_text(CLIMATE + "\n" + lines(rows))
    bunch = load("climate", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, outcome)
    assert bunch.feature_names[0] == "vconst_corr"
    assert bunch.feature_names[-1] == "Prandtl"


@pytest.mark.parametrize("file", ["column_2C.dat", "column_2C_weka.arff"])
def test_vertebral_column(folder, values, file):
    X = values.uniform(-10, 120, (310, 6)).round(2)
    if file.endswith(".dat"):
        head, between, labels = "", " ", ["AB"] * 210 + ["NO"] * 100
    else:
        names = catalogue()["vertebral"].forms[0].format.columns[:-1]
        attributes = lines(f"@attribute {name} numeric" for name in names)
        head = f"@relation column_2C_weka\n\n{attributes}"
        head += "@attribute class {Abnormal,Normal}\n\n@data\n"
        between, labels = ",", ["Abnormal"] * 210 + ["Normal"] * 100
    rows = (between.join([*map(str, x), y]) for x, y in zip(X.tolist(), labels, strict=True))
    (folder / file).write_text(head + lines(rows))
    bunch = load("vertebral", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, X)
    assert bunch.target.tolist() == [1] * 210 + [0] * 100
    assert bunch.feature_names[-1] == "degree_spondylolisthesis"


def test_svmguide3_with_features_that_only_some_rows_have(folder, values):
    X = values.uniform(-1, 1, (1243, 22)).round(6)
    X[::3, 21] = 0
    y = np.where(np.arange(1243) < 296, 1, -1)
    rows = (
        f"{label:+d} " + " ".join(f"{i}:{v:g}" for i, v in enumerate(x, 1) if v) + " "
        for label, x in zip(y.tolist(), X.tolist(), strict=True)
    )
    (folder / "svmguide3").write_text(lines(rows))
    bunch = load("svmguide3", data_dir=folder)
    np.testing.assert_allclose(bunch.data, X, rtol=1e-5)
    assert np.bincount(bunch.target).tolist() == [947, 296]


def test_house_16h(folder, values):
    rows = [", ".join(f"{v:.7f}" for v in x) for x in values.uniform(0, 9, (100, 17)).round(7)]
    names = lines(f"@attribute P{i} numeric" for i in range(16))
    head = f"% a comment\n\n@relation house_16H.arff\n{names}@attribute price numeric\n\n@data\n"
    (folder / "house_16H.arff").write_text(head + lines(rows * 227 + rows[:84]))
    bunch = load("house_16h", data_dir=folder)
    assert bunch.data.shape == (22784, 16)
    first = [float(entry) for entry in rows[0].split(",")]
    assert [*bunch.data[0], bunch.target[0]] == first


def test_a_delve_task_in_the_archive_as_fetched(folder, values):
    row = " ".join(f"{v:.7e}" for v in values.normal(size=33))
    content = gzip.compress(lines([row] * 8192).encode())
    with tarfile.open(folder / "pumadyn-32fm.tar.gz", "w:gz") as packed:
        for name, data in (("Source/x", b"1"), ("pumadyn-32fm/Dataset.data.gz", content)):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))
    bunch = load("pumadyn_32fm", data_dir=folder)
    assert bunch.data.shape == (8192, 32)
    assert [*bunch.data[0], bunch.target[0]] == [float(v) for v in row.split()]


@pytest.mark.parametrize("save", [save_v5, save_v73])
def test_amazon_binary(folder, values, save):
    A = values.uniform(0, 1, (180, 180))
    save(folder / "AmazonBinary.mat", A=A, C=np.repeat([[1], [2]], 90, axis=0))
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
    assert bunch.note == "1 of 2 rows with missing entries were left out."
