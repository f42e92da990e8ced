"""Addresses within pages: made of what they are about, the same wherever it stands."""

import pytest

from kernlearn.reports.addresses import Taken, claim_addresses, joined, numbered, place_of, slug
from kernlearn.reports.claims import Decision


def claim(says: str, section: str = "3.6") -> Decision:
    return Decision(says, section, "holds", "")


def test_a_place_is_named_by_its_labels_and_varied_parameters():
    row = {"dataset": "spambase", "kernel": None, "method": "H0/1", "params": '{"C":0.5,"D":50}'}
    assert place_of(row) == ("spambase", "H0/1", "C=0.5", "D=50")
    assert joined(*place_of(row), "fit_seconds") == "spambase.h0-1.c-0-5.d-50.fit-seconds"
    assert place_of({"dataset": "x"}) == ("x",)


def test_a_claim_keeps_its_address_among_others():
    long = "In all the data sets DSELECT increases the accuracy of BBS by around 5 to 6 %"
    alone = claim_addresses([claim(long)])
    assert claim_addresses([claim("Other"), claim(long)])[1:] == alone
    assert alone[0].startswith("claim.in-all-the-data-sets-dselect-increases-the.")
    # claims that begin with the same words, and one that is there twice
    more = claim_addresses([claim(f"{long} and more"), claim(long), claim(long)])
    assert len({*more, *alone}) == 3
    assert more[2] == f"{more[1]}.2"


def test_each_address_is_given_once():
    assert numbered(["a", "b", "a"]) == ["a", "b", "a.2"]
    taken = Taken()
    assert [taken.first("a"), taken.first("a"), taken.first("b")] == ["a", "", "b"]
    assert taken.addresses == {"a", "b"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [("L2-SVM γ=1/N", "l2-svm-γ-1-n"), ("match within spread", "match-within-spread"), ("*", "")],
)
def test_slugs(text, expected):
    assert slug(text) == expected
