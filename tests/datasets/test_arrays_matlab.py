import h5py
import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from kernlearn.datasets import load
from kernlearn.datasets.formats import Expected, Matlab
from kernlearn.datasets.matlab import read_matlab
from kernlearn.exceptions import DataError

MATRIX = np.array([[1.0, 0.2, 0.7], [0.2, 1.0, 0.1], [0.6, 0.1, 1.0]])  # not symmetric
LABELS = np.array([[2], [1], [2]], dtype=np.uint8)
TWO = Expected(3, ("1", "2"))


def save_v73(path, **variables):
    """Write as MATLAB 7.3 does: HDF5 after 512 bytes of text, arrays column by column."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, value in variables.items():
            file[name] = np.asarray(value).T
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(508) + b"\x00\x02IM")


def save_v5(path, **variables):
    savemat(path, variables, do_compression=True)


def save_v4(path, **variables):
    savemat(path, variables, format="4")


SAVE = {"v4": save_v4, "v5": save_v5, "v73": save_v73}


@pytest.mark.parametrize("version", SAVE)
def test_matrix_and_labels(folder, version):
    SAVE[version](folder / "m.mat", A=MATRIX, C=LABELS)
    table = read_matlab([folder / "m.mat"], Matlab(), TWO)
    np.testing.assert_array_equal(table.X, MATRIX)
    assert table.y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("labels", [LABELS.T, LABELS.ravel(), LABELS.astype(float)])
@pytest.mark.parametrize("version", ["v5", "v73"])
def test_labels_of_any_shape_and_the_cards_names(folder, version, labels):
    SAVE[version](folder / "m.mat", S=MATRIX, y=labels, other=np.ones(7))
    table = read_matlab([folder / "m.mat"], Matlab(matrix="S", target="y"), TWO)
    assert table.y.tolist() == [1, 0, 1]


def test_cells_of_text_and_sparse_matrices(folder):
    cells = np.array(["b", "a", "b"], dtype=object)
    save_v5(folder / "m.mat", A=sparse.csc_matrix(MATRIX), C=cells)
    table = read_matlab([folder / "m.mat"], Matlab(), Expected(3, ("a", "b")))
    np.testing.assert_array_equal(table.X, MATRIX)
    assert table.y.tolist() == [1, 0, 1]


@pytest.fixture
def card(make_card):
    form = {"files": ["m.mat"], "format": {"kind": "matlab"}, "rows": 3, "classes": {1: 1, 2: 2}}
    return make_card(form, task="similarity", similarity="distance", n_features=3)


@pytest.mark.parametrize("version", SAVE)
def test_a_similarity_loads(card, folder, version):
    SAVE[version](folder / "m.mat", A=MATRIX, C=LABELS)
    first, again = load(card, data_dir=folder), load(card, data_dir=folder, dtype="float32")
    assert first.similarity == again.similarity == "distance"
    np.testing.assert_array_equal(first.data, MATRIX)
    assert again.data.dtype == np.float32
    assert first.target.tolist() == [1, 0, 1]
    assert first.target_names.tolist() == ["1", "2"]
    assert "query" not in first


def test_labels_that_no_card_lists(make_card, folder):
    form = {"files": ["m.mat"], "format": {"kind": "matlab"}, "rows": 3}
    card = make_card(form, task="similarity", similarity="similarity", n_features=3)
    save_v5(folder / "m.mat", A=MATRIX, C=[30, 4, 30])
    bunch = load(card, data_dir=folder)
    assert bunch.target_names.tolist() == ["4", "30"]
    assert bunch.target.tolist() == [1, 0, 1]


@pytest.mark.parametrize("version", ["v5", "v73"])
@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"A": MATRIX}, "has no full array called C"),
        ({"B": MATRIX, "C": LABELS}, "has no full array called A"),
        ({"A": MATRIX, "C": LABELS[:2]}, "found 2 labels of type .*, expected 3 numbers or texts"),
        ({"A": MATRIX, "C": [[1], [2], [3]]}, "row 3: found label '3', expected one of 1, 2"),
        ({"A": MATRIX * np.nan, "C": LABELS}, "row 1: an entry is not finite"),
        ({"A": np.ones((3, 3, 2)), "C": LABELS}, r"shape \(3, 3, 2\) .*expected a matrix of num"),
        ({"A": MATRIX[:, :2], "C": LABELS}, "found 2 features, expected 3"),
    ],
)
def test_faults(card, folder, version, variables, message):
    SAVE[version](folder / "m.mat", **variables)
    with pytest.raises(DataError, match=message) as caught:
        load(card, data_dir=folder)
    assert "m.mat" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_matrix_must_be_square(make_card, folder):
    form = {"files": ["m.mat"], "format": {"kind": "matlab"}, "rows": 3}
    card = make_card(form, task="similarity", similarity="similarity", n_features=2)
    save_v5(folder / "m.mat", A=MATRIX[:, :2], C=LABELS)
    with pytest.raises(DataError, match="found a 3 x 2 matrix, expected a square one"):
        load(card, data_dir=folder)


def test_a_group_is_no_array(folder):
    with h5py.File(folder / "m.mat", "w") as file:
        file["A/data"] = MATRIX
        file["C"] = LABELS
    with pytest.raises(DataError, match="has no full array called A"):
        read_matlab([folder / "m.mat"], Matlab(), TWO)


@pytest.mark.parametrize("content", [b"", b"1,2,3\n" * 100, b"\x89HDF\r\n\x1a\n" + bytes(600)])
def test_other_files(folder, content):
    (folder / "m.mat").write_bytes(content)
    with pytest.raises(
        DataError, match=r"m\.mat: (damaged, or no (MATLAB|HDF5) file|has no full)"
    ):
        read_matlab([folder / "m.mat"], Matlab(), TWO)


def test_a_bomb_is_refused(folder, monkeypatch):
    save_v5(folder / "m.mat", A=np.zeros((300, 300)), C=np.zeros(300))
    save_v73(folder / "h.mat", A=np.zeros((300, 300)), C=np.zeros(300))
    monkeypatch.setenv("KERNLEARN_MAX_MEMORY", "100kB")
    for file in ("m.mat", "h.mat"):
        with pytest.raises(DataError, match=r"holds more than 100\.0 kB"):
            read_matlab([folder / file], Matlab(), TWO)


def test_a_changed_byte_never_changes_a_number(folder):
    save_v5(folder / "m.mat", A=MATRIX, C=LABELS)
    content = (folder / "m.mat").read_bytes()
    refused = 0
    size = int.from_bytes(content[132:136], "little")
    for at in range(136, 136 + size):
        changed = bytearray(content)
        changed[at] ^= 0x10
        (folder / "m.mat").write_bytes(changed)
        try:
            table = read_matlab([folder / "m.mat"], Matlab(), TWO)
        except DataError:
            refused += 1
        else:  # a bit that only fills up the last byte
            np.testing.assert_array_equal(table.X, MATRIX)
    assert size - 2 <= refused
