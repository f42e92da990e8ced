"""Hostile cards: each is a card, or refused in a few lines that begin with its name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.datasets import Card, load, locate, read_card
from kernlearn.datasets.resources import shipped
from tests.fuzz.mutated import mutated_yaml
from tests.fuzz.settings import fuzzing, limited, outcome

SHIPPED = sorted(shipped("datasets").glob("*.yaml"))

#: Values that suit some keys of cards.
VALUES = (
    "9223372036854775808",
    "2147483647",
    "1000000000",
    "-1",
    "a",
    "x1",
    "[0, 1, 2]",
    "similarity",
    "regression",
    "ranking",
    "ordinal",
    "mean",
    "{kind: libsvm}",
    "{kind: npz}",
    "{kind: letor}",
    "{kind: ts, points: true}",
    "{kind: sklearn, loader: load_iris}",
    "{kind: delimited}",
    "{kind: parquet, target: y}",
    "{kind: excel}",
    "{kind: stata}",
    "{kind: matlab}",
    "{kind: jsonl, points: a, target: b}",
    "{kind: arff, target: 0}",
    "{a: 2, b: 2}",
    "{'1': 4}",
    "[small.data, small.data]",
    "[../small.data]",
    "[/etc/passwd]",
    "[small.data/x]",
    "'\\n'",
    "http://localhost/x",
    "file:///etc/passwd",
    "[1000000000000]",
    "utf-16",
    "blanks",
    "','",
)

#: A card of each kind of text, and its data.
SMALL = {
    "delimited": (
        "format: {kind: delimited, header: true, target: c, drop: [d], nominal: {a: [u, v]}, "
        "missing: '?', delimiter: ',', skip: [7], decimal: '.', encoding: utf-8}",
        "a,b,c,d\nu,1,1,x\nv,2,2,y\nu,?,1,z\nv,4,2,z\n\nbad\n",
    ),
    "one hot": (
        "format: {kind: delimited, delimiter: ' ', one_hot: true, comment: '#'}",
        "# a\n1 2 1 0\n3 4 0 1\n5 6 1 0\n7 8 0 1\n",
    ),
    "blocks": (
        "format: {kind: delimited, blocks: 2, columns: [a, b]}",
        "1,2\n3,4\n5,6\n7,8\n",
    ),
    "points": (
        "format: {kind: delimited, points: 0, target: 2, quote: '\"', drop: [1]}",
        '"a, b",0,1\nc,0,2\nd,0,1\n,0,2\n',
    ),
    "libsvm": ("format: {kind: libsvm, zero_based: false}", "1 1:1\n2 2:1\n1 1:3 2:4\n2 1:1\n"),
    "arff": (
        "format: {kind: arff, target: c, rename: {one: 1}, drop: []}",
        "@relation r\n@attribute a real\n@attribute b real\n@attribute c {1,2}\n@data\n"
        "1,2,1\n3,4,2\n5,6,1\n7,8,2\n",
    ),
}


def card_text(name: str) -> str:
    form, _ = SMALL[name]
    n_features = 1 if name == "points" else 2
    return (
        f"name: small\ntitle: t\ntask: classification\nn_features: {n_features}\n"
        "source: {publisher: p, page: 'https://example.org/', downloads: "
        "{small.data: 'https://example.org/small.data'}}\nmissing: drop\ndrop: []\n"
        "dense: false\nlicence: l\ncitation: c\nnotes: [n]\nforms:\n- files: [small.data]\n"
        "  rows: 4\n  classes: {1: 2, 2: 2}\n  folds: []\n  sample: false\n  note: n\n"
        f"  {form}\n"
    )


def is_clear(message: str, beginning: str) -> bool:
    lines = message.splitlines()
    return len(lines) <= 21 and all(x.startswith(beginning) and len(x) < 2000 for x in lines)


@fuzzing
@given(data=st.data())
def test_shipped_cards_mutated(tmp_path, data):
    source = data.draw(st.sampled_from(SHIPPED))
    text = source.read_text(encoding="utf-8")
    path = tmp_path / source.name
    path.write_bytes(data.draw(mutated_yaml(text, VALUES)))
    with limited():
        card, message = outcome(read_card, path)
        if card is None:
            assert is_clear(message, f"{path}:")
            return
        assert Card.model_validate(card.model_dump()) == card
        locate(card, tmp_path)


@pytest.mark.parametrize("name", SMALL)
def test_small_cards_load(tmp_path, name):
    (tmp_path / "small.yaml").write_text(card_text(name))
    (tmp_path / "small.data").write_text(SMALL[name][1])
    bunch = load(tmp_path / "small.yaml", cache=False)
    assert len(bunch.target) in (3, 4)  # a row may lack an entry


@pytest.mark.parametrize("name", SMALL)
@fuzzing
@given(data=st.data())
def test_data_by_cards_mutated(tmp_path, name, data):
    path = tmp_path / "small.yaml"
    path.write_bytes(data.draw(mutated_yaml(card_text(name), VALUES)))
    (tmp_path / "small.data").write_text(SMALL[name][1])
    nominal = data.draw(st.sampled_from(["ordinal", "onehot"]))
    with limited():
        bunch, message = outcome(load, path, cache=False, nominal=nominal)
        if bunch is None:
            assert len(message) < 50_000
            return
        assert len(bunch.target) == bunch.data.shape[0]
