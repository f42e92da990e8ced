import numpy as np
import pytest

from kernlearn.datasets import add, find_card, load, own_cards
from kernlearn.exceptions import DataError

TEXT = "length,colour,kind,weight\n" + "".join(
    f"{i},{'red' if i % 2 else 'blue'},{'big' if i > 15 else 'small'},{i * i}\n" for i in range(30)
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "My data-2.csv"
    path.write_text(TEXT)
    return path


def test_a_path_is_looked_at_and_loaded(file):
    for name in (file, str(file)):
        bunch = load(name, target="kind")
        assert bunch.data.shape == (30, 3)
        assert bunch.target_names.tolist() == ["big", "small"]
        assert bunch.target[0] == 1
        assert bunch.card.name == "my_data_2"
        assert bunch.path == file.parent
    assert load(file, target="kind", nominal="onehot").data.shape == (30, 4)
    assert load(file, target="weight").target_names.size == 0


def test_a_second_load_sees_that_the_file_has_changed(file):
    before = load(file, target="kind").fingerprint
    file.write_text(TEXT.replace("29,red,big", "29,red,small"))
    assert load(file, target="kind").fingerprint != before


def test_arrays_of_numpy(tmp_path):
    X, y = np.random.default_rng(0).normal(size=(40, 3)), np.arange(40) % 2
    np.savez(tmp_path / "mine.npz", X=X, y=y)
    bunch = load(tmp_path / "mine.npz")
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)


def test_a_card_is_loaded_by_its_path_and_by_its_name(file, tmp_path):
    added = add(file, name="mine", target="kind", folder=tmp_path / "cards")
    expected = load(file, target="kind").fingerprint
    assert load(added.path).fingerprint == expected
    assert load("mine", data_dir=tmp_path / "cards").fingerprint == expected
    assert find_card("mine", tmp_path / "cards").name == "mine"
    assert own_cards(tmp_path / "cards") == {"mine": added.path}
    with pytest.raises(DataError, match="no data set is called 'mine'"):
        load("mine")
    with pytest.raises(DataError, match="leave target out"):
        load(added.path, target="kind")
    file.unlink()
    with pytest.raises(DataError, match="1 data set is missing"):
        load(added.path)


def test_a_shipped_card_is_not_hidden_by_a_user_card(tmp_path):
    (tmp_path / "iris.yaml").write_text("nonsense")
    assert own_cards(tmp_path) == {}
    assert find_card("iris", tmp_path).n_features == 4


def test_what_cannot_be_is_said_in_one_line(file, tmp_path):
    with pytest.raises(DataError, match="no such file"):
        load(tmp_path / "none.csv")
    with pytest.raises(DataError, match="kid"):
        load(file, target="kid")
    with pytest.raises(DataError, match="target is for the path of a file"):
        load("iris", target="kind")
