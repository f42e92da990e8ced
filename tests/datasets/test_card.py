"""Cards: what they may say, and faults with file, line and key."""

import subprocess
import sys

import pytest
from pydantic import ValidationError

from kernlearn.datasets import catalogue, find_card, read_card
from kernlearn.datasets.card import Card
from kernlearn.datasets.files import shipped
from kernlearn.exceptions import DataError


def changed(tmp_path, old, new):
    text = (shipped("datasets") / "cod_rna.yaml").read_text()
    assert old in text
    path = tmp_path / "cod_rna.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("task: classification", "task: guessing", r"task: 'guessing'"),
        ("title:", "titel:", r"titel: unknown key"),
        ("kind: libsvm", "kind: sparse", r"forms\.0\.format: .*'libsvm'"),
        ("{kind: libsvm}", "{kind: libsvm, zero: 1}", r"format\.zero: unknown key"),
        ("rows: 59535", "rows: 59536", r"forms\.0: classes"),
        ("-1: 39690", "[1]: 39690", r"yaml:\d+: a key must be a plain word"),
        ("n_features: 8", "n_features: eight", r"yaml:4: n_features: .*integer.*not 'eight'"),
        ("[cod-rna]", "[../cod-rna]", r"forms\.0\.files\.0: "),
        ("page: https", "page: htps", r"source\.page: "),
        ("task: classification", "task: regression", "classes: for classification"),
        ("name: cod_rna", "name: cod", r"name: 'cod'"),
        ("title: cod-rna", "title: [", r"yaml:\d+: not valid YAML"),
        ("title: cod-rna", "title: !!python/name:os.system", r"yaml:2: not valid YAML: no tag"),
    ],
)
def test_faults_name_file_and_key(tmp_path, old, new, message):
    path = changed(tmp_path, old, new)
    with pytest.raises(DataError, match=message) as caught:
        read_card(path)
    assert all(line.startswith(str(path)) for line in str(caught.value).splitlines())


def test_all_faults_at_once(tmp_path):
    path = changed(tmp_path, "n_features: 8\n", "n_features: 0\nsorce: none\n")
    with pytest.raises(DataError, match=r"(?s)n_features: .*sorce: "):
        read_card(path)


FORM = {"files": ["f"], "format": {"kind": "libsvm"}, "rows": 3, "classes": {"a": 2, "b": 1}}


@pytest.mark.parametrize(
    ("form", "changes", "message"),
    [
        ({"files": []}, {}, "files: at least one"),
        ({"format": {"kind": "sklearn", "loader": "load_iris"}}, {}, "none of a data set"),
        ({"folds": [1, 1, 2]}, {}, "their rows sum to 4, rows is 3"),
        ({}, {"task": "similarity"}, "required for the task similarity"),
        ({}, {"forms": []}, "at least 1 item"),
        ({"classes": None}, {}, "for classification, not regression"),
        ({"format": {"kind": "delimited", "one_hot": True, "blocks": 2}}, {}, "one of them"),
        ({"format": {"kind": "delimited", "blocks": 2}, "classes": None}, {}, "has classes"),
    ],
)
def test_contradictions(make_card, form, changes, message):
    with pytest.raises(ValidationError, match=message):
        make_card(FORM | form, **changes)


def test_the_catalogue(monkeypatch):
    six = {"nursery", "spambase", "cod_rna", "adult", "ijcnn1", "covertype"}
    assert catalogue().keys() >= six | {"iris", "wine", "digits"}
    assert catalogue() is catalogue()
    for name in six:
        card = catalogue()[name]
        assert isinstance(card, Card)
        assert set(card.source.downloads) == set(card.forms[0].files)
    with pytest.raises(DataError, match=r"'nursry'; did you mean 'nursery'"):
        find_card("nursry")
    with pytest.raises(DataError, match=r"allowed: abalone, adiac, .*wine_white"):
        find_card("qqqqq")


def test_reading_the_cards_loads_no_heavy_library():
    code = (
        "import sys\n"
        "from kernlearn.datasets import catalogue, missing_message\n"
        "missing_message(catalogue().values())\n"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
