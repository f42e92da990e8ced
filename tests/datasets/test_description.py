import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from kernlearn.datasets import describe, load, picture, unit_ball, waveform
from kernlearn.exceptions import DataError

BLOCKS = " ▁▂▃▄▅▆▇█"


def test_a_data_set_that_is_here():
    about = describe("wine", width=60)
    bunch = load("wine")
    assert about.found
    assert about.facts["size"] == "178 rows, 13 features"
    assert about.facts["licence"] == "CC BY 4.0"
    assert "files" not in about.facts
    assert about.shape == (178, 13)
    assert about.classes == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert about.target is None
    for i, column in enumerate(about.features):
        values = bunch.data[:, i]
        assert column.name == bunch.feature_names[i]
        assert (column.min, column.max) == (values.min(), values.max())
        assert column.mean == pytest.approx(values.mean())
        assert (column.zeros, column.missing) == ((values == 0).mean(), 0)
    assert about.picture == picture(bunch, width=60)


def test_a_data_set_that_is_not():
    about = describe("nursery")
    assert not about.found
    assert about.facts["files"] == "nursery.data"
    assert about.notes
    assert (about.shape, about.classes, about.features, about.picture) == ((), None, (), "")
    with pytest.raises(DataError, match="did you mean nursery"):
        describe("nurserey")


def test_missing_entries_are_counted_over_all_rows(make_card, folder):
    form = {"files": ["f"], "format": {"kind": "delimited", "missing": "?"}, "rows": 4}
    form["classes"] = {"a": 2, "b": 2}
    (folder / "f").write_text("0,1,a\n?,3,b\n2,?,a\n4,5,b\n")
    about = describe(make_card(form), data_dir=folder)
    assert [column.missing for column in about.features] == [1, 1]
    first = about.features[0]
    assert (first.min, first.max, first.mean, first.zeros) == (0.0, 4.0, 2.0, 0.25)
    assert any("left out" in note for note in about.notes)
    assert about.classes == {"a": 1, "b": 1}


def test_sparse_columns_count_the_zeros_that_are_not_stored(make_card, folder):
    form = {"files": ["f"], "format": {"kind": "libsvm"}, "rows": 4, "classes": {-1: 2, 1: 2}}
    (folder / "f").write_text("1 1:-2\n-1 1:-4\n1 9:3\n-1\n")
    card = make_card(form, n_features=12)
    assert sparse.issparse(load(card, data_dir=folder).data)
    columns = describe(card, data_dir=folder).features
    shown = [(c.min, c.max, c.mean, c.zeros) for c in (columns[0], columns[1], columns[8])]
    assert shown == [(-4, 0, -1.5, 0.5), (0, 0, 0, 1), (0, 3, 0.75, 0.75)]


def test_a_number_as_target():
    about = describe("diabetes_sklearn", width=40)
    assert about.classes is None
    assert (about.target.min, about.target.max) == (25.0, 346.0)
    assert about.picture.startswith("target\n")


@pytest.mark.parametrize("width", [24, 31, 72, 200])
@pytest.mark.parametrize("name", ["digits", "iris", "diabetes_sklearn"])
def test_a_picture_keeps_to_its_width(name, width):
    lines = picture(load(name), width=width).splitlines()
    assert max(map(len, lines[1:])) <= width
    assert all(line == line.rstrip() for line in lines)


def test_classes_far_apart_are_drawn_apart():
    X = np.r_[np.zeros((50, 3)), np.ones((50, 3))] + np.arange(100)[:, None] * 1e-6
    bunch = Bunch(data=X, target=np.repeat([0, 1], 50), target_names=np.array(["left", "right"]))
    title, left, right, axis = picture(bunch, width=30).splitlines()
    assert title == "first principal component (100.0 % of variance)"
    assert left == " left ▏█"
    assert right == "right ▏" + " " * 22 + "█"
    assert axis.split() == ["-1.732", "1.732"]


def test_a_rare_class_of_many_rows_is_seen():
    X = np.random.RandomState(0).standard_normal((20_000, 2))
    target = np.zeros(20_000, dtype=int)
    target[777] = 1
    bunch = Bunch(data=sparse.csr_matrix(X), target=target, target_names=np.array(["a", "b"]))
    assert picture(bunch).splitlines()[2].count("█") == 1


def test_a_histogram_is_what_numpy_counts():
    y = np.r_[np.zeros(40), 1, np.full(20, 9.0)]
    bunch = Bunch(data=np.ones((61, 2)), target=y, target_names=np.array([]))
    lines = picture(bunch, width=24).splitlines()
    heights = [sum(BLOCKS.index(line.ljust(24)[i]) for line in lines[1:-1]) for i in range(24)]
    assert [(i, h) for i, h in enumerate(heights) if h] == [(0, 40), (2, 1), (23, 20)]
    assert lines[-1] == "0" + " " * 22 + "9"


def test_the_spectrum_of_a_similarity_matrix():
    values = np.r_[16.0, 4.0, np.zeros(20), -4.0, -16.0]
    Q = np.linalg.qr(np.random.RandomState(0).standard_normal((24, 24)))[0]
    bunch = Bunch(data=Q * values @ Q.T, target=None, similarity="similarity")
    lines = picture(bunch, width=48).splitlines()
    assert lines[0].startswith("eigenvalues, 16 to -16, ")
    line = lines.index("─" * 24)
    above = "".join(text.ljust(24)[0] for text in lines[1:line])
    assert above == "█████"
    assert sum(text.ljust(24)[23] == "▀" for text in lines[line + 1 : -1]) == 5
    assert sum(text.ljust(24)[22] == "▀" for text in lines[line + 1 : -1]) == 3


def test_generators_and_odd_data_have_pictures_too():
    assert "first principal" in picture(unit_ball(50, 3, random_state=0))
    assert len(picture(waveform(60, random_state=0)).splitlines()) == 5
    constant = Bunch(data=np.ones((4, 2)), target=np.zeros(4, int), target_names=np.array(["a"]))
    assert "(0.0 % of variance)" in picture(constant)
    wide = Bunch(data=np.eye(3, 50), target=None, target_names=np.array([]))
    assert "(50.0 % of variance)" in picture(wide)
    many = Bunch(
        data=np.arange(30.0)[:, None],
        target=np.arange(30),
        target_names=np.array([f"class number {i}" for i in range(30)]),
    )
    assert picture(many, width=30).splitlines()[-1] == "and 18 more classes"
    with pytest.raises(ValueError, match="width must be at least 24, got 10"):
        picture(many, width=10)


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "nursery"])
def test_real_data(name, data_dir):
    about = describe(name, data_dir=data_dir)
    assert about.found
    assert len(about.features) == about.shape[1]
    assert len(about.picture.splitlines()) == 2 + len(about.classes)
