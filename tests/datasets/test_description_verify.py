import bz2

import pytest

from kernlearn.datasets import catalogue, load, verify
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_ROWS


@pytest.fixture
def card(nursery_like, folder):
    """A card whose fingerprint is that of the file in the folder."""
    (folder / "small.data").write_text(NURSERY_ROWS)
    known = load(nursery_like, data_dir=folder).fingerprint
    form = nursery_like.forms[0].model_copy(update={"fingerprint": known})
    return nursery_like.model_copy(update={"forms": (form,)})


def verified(card, folder):
    (result,) = verify(card, data_dir=folder)
    assert "\n" not in result.remark
    return result


def test_what_is_as_the_card_says(card, folder):
    result = verified(card, folder)
    assert (result.name, result.state, result.remark) == ("small", "ok", "")
    assert result.paths == (folder / "small.data",)
    assert result.fingerprint == card.forms[0].fingerprint


@pytest.mark.parametrize(
    ("old", "new", "state", "remark"),
    [
        ("usual,1", "usual,2", "differs", "the content's fingerprint is"),
        ("great_pret,3,no\n", "", "differs", "found 4 rows, expected 5"),
        ("usual,1,no", "usual,1,yes", "differs", "found 2 rows of no, expected 3"),
        ("usual,1,no", "usual,no", "damaged", "line 1: found 2, expected 3 columns"),
        ("usual,1,no", "usual,7,no", "damaged", "line 1, column 2 (children): found '7'"),
        (NURSERY_ROWS, " ", "damaged", "the file is empty"),
    ],
)
def test_what_is_not(card, folder, old, new, state, remark):
    (folder / "small.data").write_text(NURSERY_ROWS.replace(old, new, 1))
    result = verified(card, folder)
    assert result.state == state
    assert remark in result.remark
    assert result.paths == (folder / "small.data",)


def test_the_order_of_the_rows_does_not_matter(card, folder):
    (folder / "small.data").write_text("".join(reversed(NURSERY_ROWS.splitlines(keepends=True))))
    assert verified(card, folder).state == "ok"


def test_a_packed_file_that_is_cut_is_damaged(card, folder):
    (folder / "small.data").unlink()
    (folder / "small.data.bz2").write_bytes(bz2.compress(NURSERY_ROWS.encode())[:-8])
    assert verified(card, folder).state == "damaged"


def test_the_files_are_read_not_the_parsed_copy(card, folder):
    import os

    load(card, data_dir=folder)
    file = folder / "small.data"
    stat = file.stat()
    file.write_text(NURSERY_ROWS.replace("usual,1", "usual,2"))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert verified(card, folder).state == "differs"


def test_a_card_without_a_fingerprint(nursery_like, folder):
    (folder / "small.data").write_text(NURSERY_ROWS)
    result = verified(nursery_like, folder)
    assert (result.state, result.remark) == ("unknown", "the card has no fingerprint")
    assert result.fingerprint


def test_what_is_not_there(nursery_like, folder):
    result = verified(nursery_like, folder)
    assert (result.state, result.remark, result.paths) == ("missing", "small.data", ())


def test_all_of_the_catalogue_or_some_names():
    results = verify()
    assert [result.name for result in results] == list(catalogue())
    assert {r.state for r in results if r.name in ("iris", "wine", "digits")} == {"ok"}
    assert [result.name for result in verify(["wine", "iris"])] == ["wine", "iris"]
    assert verify("iris")[0].state == "ok"
    with pytest.raises(DataError, match="did you mean wine"):
        verify(["iris", "wein"])


@pytest.mark.data
def test_the_real_data(data_dir):
    names = ["nursery", "spambase", "voting", "breast_cancer"]
    assert [result.state for result in verify(names, data_dir=data_dir)] == ["ok"] * len(names)
