import bz2
import gzip

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import catalogue, fingerprint, load
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_LIKE, NURSERY_ROWS


@pytest.fixture
def nursery(nursery_like, folder):
    (folder / "small.data").write_text(NURSERY_ROWS)
    return nursery_like


def test_what_is_returned(nursery, folder):
    bunch = load(nursery, data_dir=folder)
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.tolist() == [0, 1, 1, 0, 0]
    assert bunch.target.dtype == np.int64
    assert bunch.target_names.tolist() == ["no", "yes"]
    assert bunch.feature_names.tolist() == ["parents", "children"]
    assert bunch.card is nursery
    assert bunch.path == folder
    assert (bunch.sample, bunch.note) == (False, "")
    assert bunch.fingerprint == fingerprint(bunch.data, bunch.target_names[bunch.target])


def test_one_column_a_nominal_value(nursery, folder):
    ordinal, onehot = (load(nursery, data_dir=folder, nominal=n) for n in ("ordinal", "onehot"))
    assert onehot.data.shape == (5, 7)
    assert onehot.feature_names.tolist()[2:4] == ["parents=great_pret", "children=1"]
    np.testing.assert_array_equal(onehot.data.sum(axis=1), 2)
    np.testing.assert_array_equal(onehot.data[:, :3].argmax(axis=1), ordinal.data[:, 0])
    np.testing.assert_array_equal(onehot.data[:, 3:].argmax(axis=1), ordinal.data[:, 1])
    assert onehot.fingerprint != ordinal.fingerprint


def test_numeric_columns_stay_in_place(make_card, folder):
    columns = {"columns": ["a", "b", "y"], "nominal": {"b": ["u", "v"]}}
    form = {"files": ["f"], "format": {"kind": "delimited", **columns}}
    (folder / "f").write_text("1.5,v,9\n2,u,8\n")
    bunch = load(make_card(form, task="regression"), data_dir=folder, nominal="onehot")
    np.testing.assert_array_equal(bunch.data, [[1.5, 0, 1], [2, 1, 0]])
    assert bunch.feature_names.tolist() == ["a", "b=u", "b=v"]
    assert bunch.target.tolist() == [9.0, 8.0]
    assert bunch.target_names.tolist() == []


@pytest.mark.parametrize("nominal", ["ordinal", "onehot"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, "float32", np.dtype("float64")])
def test_a_second_load_is_the_same(nursery, folder, nominal, dtype):
    first, second, third = (
        load(nursery, data_dir=folder, nominal=nominal, dtype=dtype, cache=cache)
        for cache in (True, True, False)
    )
    for other in (second, third):
        np.testing.assert_array_equal(other.data, first.data)
        assert other.data.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(other.target, first.target)
        assert other.fingerprint == first.fingerprint


def test_no_copy_is_kept_unless_wanted(nursery, folder, tmp_path):
    load(nursery, data_dir=folder, cache=False)
    assert not (tmp_path / "cache").exists()
    load(nursery, data_dir=folder)
    assert len(list((tmp_path / "cache" / "parsed").iterdir())) == 1


def test_a_changed_card_does_not_meet_an_old_copy(nursery, folder):
    before = load(nursery, data_dir=folder)
    form = nursery.forms[0].model_copy(update={"classes": {"yes": 2, "no": 3}})
    after = load(nursery.model_copy(update={"forms": (form,)}), data_dir=folder)
    np.testing.assert_array_equal(after.target, 1 - before.target)


def test_csv_libsvm_and_packed_files_have_one_fingerprint(nursery, make_card, folder):
    bunch = load(nursery, data_dir=folder)
    order = [3, 1, 4, 0, 2]
    dump_svmlight_file(
        bunch.data[order], bunch.target[order], str(folder / "two"), zero_based=False
    )
    (folder / "two.bz2").write_bytes(bz2.compress((folder / "two").read_bytes()))
    (folder / "two").unlink()
    labels = {"0": 3, "1": 2}
    form = {"files": ["two"], "format": {"kind": "libsvm"}, "rows": 5, "classes": labels}
    other = load(make_card(form), data_dir=folder)
    packed = folder / "small.data.gz"
    packed.write_bytes(gzip.compress((folder / "small.data").read_bytes()))
    (folder / "small.data").unlink()
    assert load(nursery, data_dir=folder).fingerprint == bunch.fingerprint
    # the labels are part of the content: 0 and 1 here, no and yes there
    assert other.fingerprint == fingerprint(bunch.data, bunch.target) != bunch.fingerprint


def test_csr_and_dense_have_one_fingerprint(make_card, folder):
    (folder / "f").write_text("+1 3:1\n-1 7:2\n")
    (folder / "g").write_text("0,0,0,0,0,0,2,0,0,0,-1\n0,0,1,0,0,0,0,0,0,0,1\n")
    facts = {"rows": 2, "classes": {-1: 1, 1: 1}}
    first, second = (
        load(
            make_card({"files": [file], "format": {"kind": kind}, **facts}, n_features=10),
            data_dir=folder,
            dtype=np.float32,
        )
        for file, kind in (("f", "libsvm"), ("g", "delimited"))
    )
    assert sparse.issparse(first.data)
    assert not sparse.issparse(second.data)
    assert first.data.dtype == second.data.dtype == np.float32
    assert first.fingerprint == second.fingerprint


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (NURSERY_ROWS[: NURSERY_ROWS.index("great_pret,3")], "found 4 rows, expected 5"),
        (NURSERY_ROWS + "usual,1,no\n", "found 6 rows, expected 5"),
        (NURSERY_ROWS.replace("usual,1,no", "usual,1,yes"), "found 2 rows of no, expected 3"),
        (NURSERY_ROWS.replace("usual,1,no", "usual,7,no"), "line 1, column 2 .*found '7'"),
        ("", "the file is empty"),
    ],
)
def test_files_that_are_not_what_the_card_says(nursery, folder, rows, message):
    (folder / "small.data").write_text(rows)
    with pytest.raises(DataError, match=rf"small\.data.*{message}") as caught:
        load(nursery, data_dir=folder)
    assert "\n" not in str(caught.value)


def test_other_content_of_the_right_size_is_noted(nursery, folder):
    known = load(nursery, data_dir=folder).fingerprint
    form = nursery.forms[0].model_copy(update={"fingerprint": known})
    card = nursery.model_copy(update={"forms": (form,)})
    assert load(card, data_dir=folder).note == ""
    (folder / "small.data").write_text(NURSERY_ROWS.replace("usual,1", "usual,2"))
    assert "differs from the card's" in load(card, data_dir=folder).note
    assert load(card, data_dir=folder, nominal="onehot").note == ""


def test_a_sample_says_so(make_card, folder):
    whole = {"files": ["all"], "format": {"kind": "delimited", **NURSERY_LIKE}, "rows": 500}
    whole["classes"] = {"no": 300, "yes": 200}
    part = whole | {"files": ["part"], "rows": 5, "classes": {"no": 3, "yes": 2}}
    card = make_card(whole, part | {"sample": True, "note": "Five of 500 rows."})
    (folder / "part").write_text(NURSERY_ROWS)
    bunch = load(card, data_dir=folder)
    assert bunch.sample
    assert bunch.note == "Five of 500 rows."


def test_scikit_learn_with_other_features_is_noticed(make_card):
    form = {"format": {"kind": "sklearn", "loader": "load_diabetes"}}
    with pytest.raises(DataError, match="scikit-learn: found 10 features, expected 2"):
        load(make_card(form, task="regression"))


def test_missing_files(folder):
    with pytest.raises(DataError, match=r"1 data set is missing:\n  nursery: nursery\.data"):
        load("nursery", data_dir=folder)


def test_an_unknown_name():
    with pytest.raises(DataError, match=r"'spam_base'; did you mean spambase\?"):
        load("spam_base")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"nominal": "codes"}, "nominal must be one of ordinal, onehot, got 'codes'"),
        ({"missing": "keep"}, "missing must be one of drop, mean, .* got 'keep'"),
        ({"dtype": np.int64}, "dtype must be float64, float32 or None, got .*int64"),
        ({"dtype": "quad"}, "dtype must be float64, float32 or None, got 'quad'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        load("iris", **arguments)


@pytest.mark.data
def test_real_covertype_whole_or_sample(data_dir):
    bunch = load("covertype", data_dir=data_dir)
    form = catalogue()["covertype"].forms[1 if bunch.sample else 0]
    assert bunch.data.shape == (form.rows, 54)
    assert np.bincount(bunch.target).tolist() == list(form.classes.values())
    assert bunch.feature_names[0] == "Elevation"
    assert bunch.feature_names[-1] == "Soil_Type40"
    assert bool(bunch.note) == bunch.sample
    np.testing.assert_array_equal(bunch.data[:, 10:14].sum(axis=1), 1)
    np.testing.assert_array_equal(bunch.data[:, 14:].sum(axis=1), 1)


@pytest.mark.data
def test_real_adult_is_binary_and_ijcnn1_cut_short_is_refused(data_dir, folder):
    X = load("adult", data_dir=data_dir).data
    assert set(X.data) == {1.0}
    assert np.diff(X.indptr).max() == 14
    packed = (data_dir / "ijcnn1" / "ijcnn1.bz2").read_bytes()
    (folder / "ijcnn1.bz2").write_bytes(packed[: len(packed) // 2])
    (folder / "ijcnn1.t.bz2").write_bytes(packed)
    with pytest.raises(DataError, match=r"ijcnn1\.bz2: damaged or cut short"):
        load("ijcnn1", data_dir=folder)


@pytest.mark.data
def test_real_nursery_one_hot(data_dir):
    bunch = load("nursery", data_dir=data_dir, nominal="onehot")
    assert bunch.data.shape == (12960, 27)
    # every combination of the values occurs once
    assert len(np.unique(bunch.data, axis=0)) == 12960
