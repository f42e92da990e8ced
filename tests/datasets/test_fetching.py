"""Fetching data sets from a publisher in this process, and comparing them with their cards."""

import bz2
import gzip

import pytest

from kernlearn.datasets import fetch, fingerprint, load, locate
from kernlearn.exceptions import DataError
from tests.datasets import serving
from tests.datasets.conftest import NURSERY_LIKE
from tests.datasets.packing import tarred, zipped
from tests.datasets.serving import PAGE, ROWS, cut, error_of, left, once, source

cache = serving.cache
card = serving.card
server = serving.server


def test_a_file_comes_and_is_checked(server, card, cache, folder):
    server.answers["/small.data"] = ROWS
    found = fetch(card())
    assert found.paths == (cache / "small.data",)
    assert left(cache) == ["small.data"]
    assert load(card()).target.tolist() == [0, 1, 1, 0, 0]
    assert fetch(card()) == found
    assert len(server.asked) == 1
    fetch(card(), force=True)
    assert len(server.asked) == 2
    assert fetch(card(), folder=folder, force=True).paths == (folder / "small" / "small.data",)
    assert fetch("wine", force=True).paths == ()


def test_the_fingerprint_is_compared(server, card, cache):
    server.answers["/small.data"] = ROWS
    fetch(card())
    rows = load(card())
    content = fingerprint(rows.data, rows.target_names[rows.target])
    assert fetch(card(fingerprint=content), force=True).paths == (cache / "small.data",)
    server.answers["/small.data"] = ROWS.replace(b"usual,1", b"usual,2")
    message = error_of(card(fingerprint=content), force=True)
    assert f"expected {content[:12]}; nothing is kept" in message
    assert (cache / "small.data").read_bytes() == ROWS


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ROWS[:-20], "line 4"),
        (ROWS[: ROWS.index(b"great_pret,3")], "found 4 rows, expected 5"),
        (b"\xff" + ROWS, "can't decode byte 0xff"),
        (PAGE, "the server sent a web page, not the file"),
        (b"", "does not read as the card says"),
    ],
)
def test_altered_content_is_not_kept(server, card, cache, body, reason):
    server.answers["/small.data"] = body
    assert reason in error_of(card())
    assert left(cache) == []
    assert locate(card()) is None


def test_damaged_archives_are_not_kept(server, card, cache):
    server.answers["/x.gz"] = gzip.compress(ROWS)[:-9]
    assert "damaged or cut short" in error_of(card("/x.gz"))
    server.answers["/x.zip"] = zipped({"other": ROWS})
    assert "found other, expected small.data" in error_of(card("/x.zip"))
    assert left(cache) == []


@pytest.mark.parametrize(
    ("path", "body", "file"),
    [
        ("/x.gz", gzip.compress(ROWS), "small.data.gz"),
        ("/x.bz2?packed", bz2.compress(ROWS), "small.data.bz2"),
        ("/x.zip", zipped({"small.data": ROWS, "readme": b"x"}), "x.zip"),
        ("/x.tar.gz", tarred({"in/small.data": ROWS, "readme": b"x"}), "x.tar.gz"),
        # a member that points out of the archive is read from it, not written
        ("/x.zip", zipped({"../../small.data": ROWS}), "x.zip"),
        ("/x.tar.gz", tarred({"/small.data": ROWS}), "x.tar.gz"),
    ],
)
def test_packed_files_and_archives_stay_as_published(
    server, card, cache, tmp_path, path, body, file
):
    cache.mkdir(parents=True)
    (cache / "small.data").write_bytes(ROWS[:-20])  # damaged, and would hide the new one
    server.answers[path] = body
    fetch(card(path), force=True)
    assert left(tmp_path / "cache") == [f"datasets/small/{file}"]
    assert load(card(path)).data.shape == (5, 2)


def test_attempts_are_repeated(server, card, cache):
    answers = [lambda h: h.send(503), cut(ROWS, 20), lambda h: h.send(200, ROWS)]
    server.answers["/small.data"] = once(*answers)
    fetch(card())
    server.answers["/small.data"] = cut(ROWS, 20)
    assert "small.data" in error_of(card(), force=True, retries=1)
    assert (cache / "small.data").read_bytes() == ROWS
    assert "404" in error_of(card("/gone"), force=True, retries=0)


def test_nothing_comes_over_http_that_cannot_be_compared(make_card, folder):
    form = {"files": ["x"], "format": {"kind": "delimited"}}
    card = make_card(form, task="regression", source=source({"x": "http://data.example.org/x"}))
    assert "not fetched over http" in error_of(card, folder=folder)


def test_failures_say_what_to_do(make_card, card, folder):
    form = {"files": ["x"], "format": {"kind": "delimited"}}
    message = error_of(make_card(form, task="regression"), folder=folder)
    assert "no address is known for x; get it from Nobody, https://example.org/small" in message
    with pytest.raises(DataError, match="did you mean 'spambase'"):
        fetch("spambas")
    (folder / "small").write_text("x")
    with pytest.raises(DataError, match="small: cannot be written"):
        fetch(card(), folder=folder, force=True)


def test_several_files_and_samples(make_card, server, folder):
    form = {"files": ["a", "b"], "format": {"kind": "delimited", **NURSERY_LIKE}}
    form |= {"rows": 10, "classes": {"no": 6, "yes": 4}}
    both = make_card(form, source=source({f: server.url("/x.zip") for f in "ab"}))
    server.answers["/x.zip"] = zipped({"a": ROWS, "in/b": ROWS})
    assert len(fetch(both).paths) == 2
    assert len(server.asked) == 1  # once for both
    whole = {"files": ["all"], "format": {"kind": "delimited"}, "rows": 3}
    part = whole | {"files": ["part"], "rows": 1, "sample": True, "note": "One row."}
    card = make_card(whole, part, task="regression", source=source({"all": server.url("/all")}))
    (folder / "part").write_text("1,2,3\n")
    server.answers["/all"] = b"1,2,3\n4,5,6\n7,8,9\n"
    assert fetch(card, folder=folder).paths == (folder / "small" / "all",)
    assert not load(card, data_dir=folder).sample
