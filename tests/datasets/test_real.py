"""Every data set that is here, by its card, and through other formats and back."""

import os

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from kernlearn.datasets import catalogue, fingerprint, load, locate

# rows and features as published, rows without missing entries
MISSING = {"breast_cancer": (699, 9, 683), "adult_raw": (48842, 14, 45222)}
# enough of a data set to meet all its kinds of values, and little enough to be quick
CELLS = 10_000
HERE = {name: card for name, card in catalogue().items() if locate(card) is not None}
#: More numbers than this take seconds to read.
LARGE = 1_000_000


@pytest.fixture(autouse=True)
def _folders(no_real_folders, data_dirs, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", os.pathsep.join(map(str, data_dirs)))


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.exhaustive)
        if (card.forms[0].rows or 0) * card.n_features > LARGE
        else name
        for name, card in HERE.items()
    ],
)
def test_the_content_is_that_of_the_card(name):
    bunch = load(name)
    form = locate(bunch.card).form
    assert bunch.fingerprint == (form.fingerprint or "")
    rows = MISSING.get(name, (0, 0, form.rows))[2]
    points = getattr(form.format, "points", None) is not None
    assert bunch.data.shape == (rows, bunch.card.n_features)[: 2 - points]
    assert sparse.issparse(bunch.data) == (name == "adult")
    assert len(bunch.feature_names) == bunch.card.n_features * (not points)
    if form.classes and name not in MISSING:
        assert np.bincount(bunch.target).tolist() == list(form.classes.values())


@pytest.mark.data
@pytest.mark.parametrize("name", MISSING)
def test_rows_with_missing_entries(name):
    rows, n_features, left = MISSING[name]
    note = f"{rows - left} of {rows} rows with missing entries were left out ("
    assert load(name).note.startswith(note)
    assert load(name, missing="mean").data.shape == (rows, n_features)


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


@pytest.mark.data
@pytest.mark.parametrize("name", ["abalone", "adult", "breast_cancer", "wine_white"])
@pytest.mark.parametrize("write", [write_csv, write_arff, write_libsvm, write_npz, write_parquet])
def test_through_other_formats_to_the_same_fingerprint(name, write, folder, make_card):
    bunch = load(name)
    n_features = bunch.data.shape[1]
    order = np.random.default_rng(0).permutation(len(bunch.target))[: CELLS // n_features]
    X, y = bunch.data[order], bunch.target[order]
    X = X.toarray() if sparse.issparse(X) else X
    numbers = bunch.card.classes is None
    # LIBSVM's files have only numbers for labels
    labels = (y if numbers or write is write_libsvm else bunch.target_names[y]).tolist()
    form = {"format": write(folder / "f", X.tolist(), labels), "rows": len(X), "files": ["f"]}
    if not numbers:
        texts, counts = np.unique(list(map(str, labels)), return_counts=True)
        form["classes"] = dict(zip(texts.tolist(), counts.tolist(), strict=True))
    task = "regression" if numbers else "classification"
    form["fingerprint"] = fingerprint(X, np.array(labels))
    again = load(make_card(form, task=task, n_features=n_features), data_dir=folder)
    assert (again.fingerprint, again.note) == (form["fingerprint"], "")
