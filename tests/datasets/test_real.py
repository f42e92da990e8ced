"""Every data set of the folder KERNLEARN_DATA, by its card, and through other formats and back."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernlearn.datasets import catalogue, fingerprint, load
from kernlearn.exceptions import DataError

# published rows, features, rows of each class (or how many classes, or the target's range)
CLASSES = {
    "nursery": (12960, 8, [4320, 2, 328, 4266, 4044]),
    "spambase": (4601, 57, [2788, 1813]),
    "cod_rna": (59535, 8, [39690, 19845]),
    "adult": (32561 + 16281, 123, 2),
    "ijcnn1": (49990 + 91701, 22, 2),
    "isolet": (6238 + 1559, 617, 26),
    "letter": (20000, 16, 26),
    "magic": (19020, 10, [6688, 12332]),
    "pendigits": (7494 + 3498, 16, 10),
    "steel_plates_faults": (1941, 27, 7),
    "mfeat": (2000, 240, [200] * 10),
    "optdigits": (3823 + 1797, 64, 10),
    "satimage": (4435 + 2000, 36, 6),
    "segment": (210 + 2100, 19, [330] * 7),
    "fourclass": (862, 2, 2),
    "liver_disorders": (345, 6, [145, 200]),
    "heart": (270, 13, [150, 120]),
    "diabetes": (768, 8, [500, 268]),
    "vowel": (990, 10, [90] * 11),
    "ionosphere": (351, 34, [126, 225]),
    "german": (1000, 24, [700, 300]),
    "svmguide1": (3089 + 4000, 4, 2),
    "sonar": (208, 60, [111, 97]),
    "musk": (476, 166, [269, 207]),
    "ocr49": (2000, 196, [1012, 988]),
    "phishing": (11055, 30, 2),
    "retinopathy": (1151, 19, [540, 611]),
    "waveform": (5000, 21, 3),
    "wine_red": (1599, 11, 6),
    "wine_white": (4898, 11, 7),
    "house_votes_84": (435, 16, [267, 168]),
    "mq2008": (15211, 46, 3),
    "aural_sonar": (100, 100, [50, 50]),
    "protein": (213, 213, [72, 72, 39, 30]),
    "voting": (435, 435, [267, 168]),
}
NUMBERS = {
    "abalone": (4177, 8, 1, 29),
    "bodyfat": (252, 14, 0.995, 1.1089),
    "california_housing": (20640, 8, 14999, 500001),
    "cpu_small": (8192, 12, 0, 99),
    "pumadyn_8fm": (8192, 8, None, None),
    "pumadyn_8nh": (8192, 8, None, None),
    "pumadyn_32nm": (8192, 32, None, None),
    "bank_8fm": (8192, 8, 0, None),
    "bank_32nh": (8192, 32, 0, None),
    "bank_32nm": (8192, 32, 0, None),
    "house_8l": (22784, 8, 0, None),
    "house_8h": (22784, 8, 0, None),
}
# those that a second folder may have: as above, and what is said of the file
LATER = {
    "mfeat_zernike": (2000, 47, [200] * 10),
    "climate": (540, 18, [46, 494]),
    "vertebral": (310, 6, [100, 210]),
    "svmguide3": (1243, 22, 2),
    "house_16h": (22784, 16, None),
    "bank_32fm": (4096, 32, None),
}
DROPPED = {"breast_cancer": (699, 9, [458, 241], 683), "adult_raw": (48842, 14, 2, 45222)}
EIGENVALUES = {"aural_sonar": -2.10, "protein": -12.4, "voting": -0.27}


@pytest.mark.data
@pytest.mark.parametrize("name", [*CLASSES, *NUMBERS])
def test_it_is_what_its_publisher_says(name, data_dir):
    rows, n_features, *target = (CLASSES | NUMBERS)[name]
    bunch = load(name, data_dir=data_dir)
    assert bunch.data.shape == (rows, n_features)
    assert bunch.fingerprint == bunch.card.forms[0].fingerprint
    assert (bunch.note, bunch.sample) == ("", False)
    assert sparse.issparse(bunch.data) == (name == "adult")
    if name in NUMBERS:
        low, high = target
        assert low is None or bunch.target.min() == pytest.approx(low)
        assert high is None or bunch.target.max() == pytest.approx(high)
        assert bunch.target_names.size == 0
    else:
        counts = np.bincount(bunch.target)
        expected = target[0]
        assert (len(counts) if isinstance(expected, int) else counts.tolist()) == expected
        assert counts.min() > 0
    assert len(bunch.feature_names) == n_features


@pytest.mark.data
@pytest.mark.parametrize("name", LATER)
def test_data_of_a_second_folder(name, data_dirs, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", os.pathsep.join(map(str, data_dirs)))
    try:
        bunch = load(name)
    except DataError:
        pytest.skip(f"none of the folders of KERNLEARN_DATA has {name}")
    rows, n_features, target = LATER[name]
    assert bunch.data.shape == (rows, n_features)
    assert bunch.fingerprint in {form.fingerprint for form in bunch.card.forms}
    if target is not None:
        counts = np.bincount(bunch.target)
        assert (len(counts) if isinstance(target, int) else counts.tolist()) == target


@pytest.mark.data
@pytest.mark.parametrize("name", DROPPED)
def test_rows_with_missing_entries(name, data_dir):
    rows, n_features, counts, left = DROPPED[name]
    bunch = load(name, data_dir=data_dir)
    assert bunch.card.rows == rows
    assert bunch.data.shape == (left, n_features)
    assert bunch.note == f"{rows - left} of {rows} rows with missing entries were left out."
    assert bunch.fingerprint == bunch.card.forms[0].fingerprint
    whole = load(name, data_dir=data_dir, missing="mean")
    assert whole.data.shape == (rows, n_features)
    found = np.bincount(whole.target).tolist()
    assert (len(found) if isinstance(counts, int) else found) == counts


@pytest.mark.data
def test_every_folder_has_its_card(data_dir):
    found = {path.name for path in data_dir.iterdir() if path.is_dir()}
    assert found <= catalogue().keys()
    assert found == (CLASSES | NUMBERS | DROPPED | {"covertype": 0}).keys() - {"adult_raw"}


@pytest.mark.data
def test_queries_of_mq2008(data_dir):
    query = load("mq2008", data_dir=data_dir).query
    assert len(np.unique(query)) == 784
    assert np.count_nonzero(np.diff(query)) == 783  # each query's rows stand together


@pytest.mark.data
@pytest.mark.parametrize("name", EIGENVALUES)
def test_similarities(name, data_dir):
    bunch = load(name, data_dir=data_dir)
    assert bunch.similarity == "similarity"
    np.testing.assert_array_equal(bunch.data, bunch.data.T)
    lowest = np.linalg.eigvalsh(bunch.data)[0]
    assert lowest == pytest.approx(EIGENVALUES[name], rel=0.02)


@pytest.mark.data
@pytest.mark.parametrize(("name", "repeated"), [("wine_red", 240), ("wine_white", 937)])
def test_repeated_wines(name, repeated, data_dir):
    bunch = load(name, data_dir=data_dir)
    rows = np.column_stack([bunch.data, bunch.target])
    assert len(rows) - len(np.unique(rows, axis=0)) == repeated


@pytest.mark.data
def test_votes_with_three_values(data_dir):
    bunch = load("house_votes_84", data_dir=data_dir, nominal="onehot")
    assert bunch.data.shape == (435, 48)
    np.testing.assert_array_equal(bunch.data.sum(axis=1), 16)


def write_csv(path, X, y):
    lines = [",".join([*map(repr, row), str(label)]) for row, label in zip(X, y, strict=True)]
    path.write_text("\n".join(lines) + "\n")
    return {"kind": "delimited"}


def write_arff(path, X, y):
    write_csv(path, X, y)
    kind = "{" + ",".join(dict.fromkeys(y)) + "}" if isinstance(y[0], str) else "numeric"
    names = "".join(f"@attribute 'column {i}' numeric\n" for i in range(len(X[0])))
    head = f"% written here\n@relation data\n{names}@attribute class {kind}\n@data\n"
    path.write_text(head + path.read_text())
    return {"kind": "arff", "target": "class"}


def write_libsvm(path, X, y):
    lines = [
        " ".join([str(label), *(f"{i}:{v!r}" for i, v in enumerate(row, 1) if v)])
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return {"kind": "libsvm"}


def write_npz(path, X, y):
    with path.open("wb") as file:
        np.savez_compressed(file, X=np.array(X), y=np.array(y))
    return {"kind": "npz"}


def write_parquet(path, X, y):
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(len(X[0]))])
    frame.assign(label=y).to_parquet(path, index=False)
    return {"kind": "parquet", "target": "label"}


WRITERS = [write_csv, write_arff, write_libsvm, write_npz, write_parquet]


# enough of a data set to meet all its kinds of values, and little enough to be quick
CELLS = 10_000
TABLES = [name for name in [*CLASSES, *NUMBERS, *DROPPED] if name != "mq2008"]


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_through_all_formats_to_the_same_fingerprint(name, data_dir, folder, make_card):
    bunch = load(name, data_dir=data_dir)
    n_features = bunch.data.shape[1]
    order = np.random.default_rng(0).permutation(len(bunch.target))[: CELLS // n_features]
    X, y = bunch.data[order], bunch.target[order]
    X = X.toarray() if sparse.issparse(X) else X
    numbers = bunch.card.classes is None
    codes = y if numbers else np.unique(y, return_inverse=True)[1]
    names = y if numbers else bunch.target_names[y]
    for write in WRITERS:
        # LIBSVM's files have only numbers for labels
        labels = (codes if write is write_libsvm else names).tolist()
        form = {"format": write(folder / "f", X.tolist(), labels), "rows": len(X), "files": ["f"]}
        if not numbers:
            texts, counts = np.unique(list(map(str, labels)), return_counts=True)
            form["classes"] = dict(zip(texts.tolist(), counts.tolist(), strict=True))
        task = "regression" if numbers else "classification"
        card = make_card(form, task=task, n_features=n_features)
        again = load(card, data_dir=folder)
        assert again.fingerprint == fingerprint(X, np.array(labels)), write.__name__
