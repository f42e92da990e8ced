import pytest
from pydantic import ValidationError

from kernlearn.datasets import read_card
from kernlearn.datasets.resources import shipped
from kernlearn.exceptions import DataError

LIBSVM = {"files": ["small"], "format": {"kind": "libsvm"}, "rows": 3, "classes": {-1: 2, 1: 1}}


def changed(tmp_path, old, new):
    text = (shipped("datasets") / "cod_rna.yaml").read_text()
    assert old in text
    path = tmp_path / "cod_rna.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


def test_a_card_reads_back(tmp_path):
    card = read_card(changed(tmp_path, "title: ", "title: The "))
    assert card.title == "The cod-rna (detection of non-coding RNA)"
    assert card.rows == 59535
    assert card.classes == ("-1", "1")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("task: classification", "task: guessing", r"task: .*'classification'.*found 'guessing'"),
        ("title:", "titel:", r"titel: Extra inputs"),
        ("kind: libsvm", "kind: sparse", r"forms\.0\.format: .*'libsvm'"),
        ("{kind: libsvm}", "{kind: libsvm, zero: 1}", r"format\.libsvm\.zero: Extra inputs"),
        ("rows: 59535", "rows: 59536", r"forms\.0: classes: the counts sum to 59535, rows is 595"),
        ("-1: 39690", "[1]: 39690", r"yaml:\d+: a key must be a plain word"),
        ("n_features: 8", "n_features: eight", r"n_features: .*integer.*found 'eight'"),
        ("[cod-rna]", "[../cod-rna]", r"forms\.0\.files\.0: "),
        ("page: https", "page: htps", r"source\.page: "),
        ("    cod-rna:", "    cod_rna:", r"source\.downloads: cod_rna: not a file of any form"),
        (
            "task: classification",
            "task: regression",
            r"classes: not allowed for regression",
        ),
        ("name: cod_rna", "name: cod", r"name: 'cod', but the file is called 'cod_rna'"),
        ("title: cod-rna", "title: [", r"yaml:\d+: not valid YAML"),
    ],
)
def test_faults_name_file_and_key(tmp_path, old, new, message):
    path = changed(tmp_path, old, new)
    with pytest.raises(DataError, match=message) as caught:
        read_card(path)
    assert all(line.startswith(str(path)) for line in str(caught.value).splitlines())


def test_faults_name_the_line(tmp_path):
    path = changed(tmp_path, "n_features: 8", "n_features: eight")
    line = path.read_text().splitlines().index("n_features: eight") + 1
    with pytest.raises(DataError, match=rf"cod_rna\.yaml:{line}: n_features: "):
        read_card(path)
    path = changed(tmp_path, "{kind: libsvm}", "\n      {kind: libsvm,\n      zero: 1}")
    line = path.read_text().splitlines().index("      zero: 1}") + 1
    with pytest.raises(DataError, match=rf"cod_rna\.yaml:{line}: forms\.0\.format"):
        read_card(path)


def test_words_of_yaml_1_1_are_labels(tmp_path):
    text = (shipped("datasets") / "cod_rna.yaml").read_text()
    path = tmp_path / "cod_rna.yaml"
    path.write_text(text.replace("-1: 39690", "no: 39690").replace(" 1: 19845", " on: 19845"))
    assert read_card(path).classes == ("no", "on")


BOMB = "notes: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"n{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
)


@pytest.mark.parametrize(
    ("new", "message"),
    [
        (BOMB, "more than 300000 values, aliases unfolded"),
        ("notes: " + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ("notes:\n" + "- " * 100_000 + "x", "nested too deeply"),
        ("notes: &me [*me]", "an alias that contains itself"),
        ("notes:\n" + "- x\n" * 400_000, "more than 300000 values"),
        ("n_features: " + "9" * 5000, "(cannot build as int|too many digits)"),
        ("n_features: 0x" + "f" * 5000, "too many digits"),
        ("n_features: 1" + "0" * 400, "n_features: "),
        ("n_features: 2013-02-30", "n_features: .*found '2013-02-30'"),
        ("n_features: !!timestamp 2013-02-30", "no tag '!!timestamp' here"),
        ("n_features: .inf", "n_features: "),
        ("n_features: !!python/name:os.system", "no tag"),
        ("n_features: &x 1\n<<: [*x]", "expected a mapping to merge"),
        ('licence: "\\ud800"', "a character that is not text"),
    ],
    ids=lambda text: text[:30],
)
def test_hostile_cards_are_refused_in_short_messages(tmp_path, new, message):
    path = changed(tmp_path, "n_features: 8\n", f"{new}\n")
    with pytest.raises(DataError, match=message) as caught:
        read_card(path)
    assert all(line.startswith(f"{path}:") for line in str(caught.value).splitlines())
    assert len(str(caught.value)) < 2000


def test_a_thousand_faults_are_some_and_a_number(tmp_path):
    path = changed(tmp_path, "n_features: 8\n", "".join(f"key{i}: 1\n" for i in range(1000)))
    with pytest.raises(DataError, match="and 981 more faults") as caught:
        read_card(path)
    assert len(str(caught.value).splitlines()) == 21


def test_all_faults_at_once(tmp_path):
    path = changed(tmp_path, "n_features: 8\n", "n_features: 0\nsorce: none\n")
    with pytest.raises(DataError) as caught:
        read_card(path)
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "n_features",
        "sorce",
    ]
    lines = path.read_text().splitlines()
    assert [int(line.split(":")[1]) for line in str(caught.value).splitlines()] == [
        lines.index("n_features: 0") + 1,
        lines.index("sorce: none") + 1,
    ]


@pytest.mark.parametrize("content", [b"", b"- 1\n", b"just text\n", b"\xff\xfe\n", b"1: 2\n"])
def test_other_files_are_no_cards(tmp_path, content):
    path = tmp_path / "other.yaml"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"other\.yaml"):
        read_card(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_card(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        (LIBSVM | {"files": []}, "files: at least one"),
        (LIBSVM | {"format": {"kind": "sklearn", "loader": "load_iris"}}, "files: must be empty"),
        (LIBSVM | {"sample": True}, "note: a sample must state"),
        (LIBSVM | {"classes": None}, "classes: required for classification"),
        (LIBSVM | {"fingerprint": "abc"}, "fingerprint"),
        (LIBSVM | {"labels": [-1, 1]}, "labels: must be left out if classes are given"),
        (LIBSVM | {"members": {"other": "a/b"}}, "members: other: not among files"),
        (LIBSVM | {"members": {"small": "../b"}}, "members"),
        (LIBSVM | {"members": {"small": "/b"}}, "members"),
        (LIBSVM | {"members": {"small": "a/../b"}}, "members"),
    ],
)
def test_forms_must_hold_together(make_card, form, message):
    with pytest.raises(ValidationError, match=message):
        make_card(form)


def test_a_card_needs_a_form(make_card):
    with pytest.raises(ValidationError, match="forms: at least one is required"):
        make_card(LIBSVM, forms=[])


def test_all_forms_have_the_same_classes_in_one_order(make_card):
    other = LIBSVM | {"classes": {1: 1, -1: 2}}
    with pytest.raises(ValidationError, match=r"forms\.1\.classes: must be those"):
        make_card(LIBSVM, other)


def test_labels_whose_counts_are_not_known(make_card):
    form = {key: value for key, value in LIBSVM.items() if key != "classes"}
    card = make_card(form | {"labels": [-1, 1]})
    assert card.classes == ("-1", "1")
    with pytest.raises(ValidationError, match="not allowed for regression"):
        make_card(form | {"labels": [-1, 1]}, task="regression")


def test_only_a_similarity_says_which_kind(make_card):
    with pytest.raises(ValidationError, match="similarity: required for the task similarity"):
        make_card(LIBSVM, task="similarity")
    with pytest.raises(ValidationError, match="similarity: required for the task similarity"):
        make_card(LIBSVM, similarity="distance")
    assert make_card(LIBSVM, task="similarity", similarity="distance").similarity == "distance"
