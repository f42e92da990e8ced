"""Fetching data sets; transfers and archives have tests of their own."""

import gzip
import os
import time

import pytest

from kernlearn.datasets import fetch, load, locate
from kernlearn.exceptions import DataError
from tests.datasets import serving
from tests.datasets.conftest import NURSERY_LIKE
from tests.datasets.serving import ROWS, error_of, left, source

cache = serving.cache
card = serving.card
server = serving.server


def test_a_file_comes_and_is_checked(server, card, cache):
    server.answers["/small.data"] = ROWS
    seen, done = [], []
    (result,) = fetch(card(), progress=lambda *a: seen.append(a), on_done=done.append)
    assert (result.name, result.state, result.n_bytes) == ("small", "fetched", len(ROWS))
    assert result.paths == (cache / "small.data",)
    assert result.remark == "the card has no fingerprint to compare the content with"
    assert done == [result]
    assert seen[0] == ("small", "small.data", 0, len(ROWS))
    assert seen[-1] == ("small", "small.data", len(ROWS), len(ROWS))
    assert left(cache) == ["small.data"]
    assert (cache / "small.data").read_bytes() == ROWS
    assert load(card()).target.tolist() == [0, 1, 1, 0, 0]


def test_available_files_are_not_transferred_unless_forced(server, card, cache):
    server.answers["/small.data"] = ROWS
    fetch(card())
    assert fetch(card())[0].state == "there"
    assert len(server.asked) == 1
    assert fetch([card()], force=True)[0].state == "fetched"
    assert len(server.asked) == 2
    assert left(cache) == ["small.data"]


def test_a_forced_fetch_that_fails_leaves_the_good_file(server, card, cache):
    server.answers["/small.data"] = ROWS
    fetch(card())
    server.answers["/small.data"] = b"sorry, closed today\n"
    error_of(card(), force=True)
    assert (cache / "small.data").read_bytes() == ROWS
    assert load(card()).data.shape == (5, 2)


def test_a_user_defined_folder(server, card, folder):
    server.answers["/small.data"] = ROWS
    assert fetch(card(), folder=folder)[0].paths == (folder / "small" / "small.data",)


def test_the_fingerprint_is_compared(server, card):
    server.answers["/small.data"] = ROWS
    fetch(card())
    known = load(card()).fingerprint
    (result,) = fetch(card(fingerprint=known), force=True)
    assert result.remark == "the content is that of the card"
    server.answers["/small.data"] = ROWS.replace(b"usual,1", b"usual,2")
    (result,) = fetch(card(fingerprint=known), force=True)
    assert result.state == "fetched"
    assert f"differs from the card's ({known[:12]})" in result.remark


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (ROWS[:-20], "small.data, line 4: found 2, expected 3 columns"),
        (ROWS[: ROWS.index(b"great_pret,3")], "found 4 rows, expected 5"),
        (b"\xff" + ROWS, "expected UTF-8 text"),
        (gzip.compress(b"\0" * 300, mtime=0), "found '\\x00', expected text"),
    ],
)
def test_altered_content_is_set_aside(server, card, cache, body, reason):
    server.answers["/small.data"] = body
    message = error_of(card())
    assert server.url("/small.data") in message
    assert f"the content is not what the card says: {cache}" in message
    assert reason in message
    assert all(name.endswith(".rejected") for name in left(cache))
    assert len(left(cache)) == 1
    assert locate(card()) is None


def test_a_folder_that_is_a_file(server, card, folder):
    (folder / "small").write_text("x")
    assert "cannot be written" in error_of(card(), folder=folder)


def test_the_second_file_alone_is_fetched_after_a_failure(make_card, server, cache):
    form = {"files": ["a", "b"], "format": {"kind": "delimited", **NURSERY_LIKE}}
    form |= {"rows": 10, "classes": {"no": 6, "yes": 4}}
    card = make_card(form, source=source({f: server.url("/" + f) for f in "ab"}))
    server.answers["/a"] = ROWS
    assert "small: b: " in error_of(card)
    assert left(cache) == ["a"]
    server.answers["/b"] = ROWS
    assert fetch(card)[0].state == "fetched"
    assert [path for path, _ in server.asked] == ["/a", "/b", "/b"]


def test_the_others_are_fetched_and_all_failures_are_reported_at_once(make_card, server, card):
    server.answers["/small.data"] = ROWS
    form = {"files": ["x"], "format": {"kind": "delimited"}}
    lost = [
        make_card(form, name=name, task="regression", source=source({"x": server.url("/x")}))
        for name in ("first", "last")
    ]
    done = []
    with pytest.raises(DataError) as caught:
        fetch([lost[0], card(), "wine", lost[1]], on_done=done.append)
    lines = str(caught.value).split("\n")
    assert [line.split(":")[0] for line in lines] == ["first", "last"]
    assert [result.state for result in done] == ["failed", "fetched", "carried", "failed"]


def test_without_an_address_the_message_says_where_to_get_it(make_card, folder):
    form = {"files": ["x"], "format": {"kind": "delimited"}}
    message = error_of(make_card(form, task="regression"), folder=folder)
    assert "no address is known for x; get it from Nobody, https://example.org/small" in message
    assert str(folder / "small") in message


def test_an_unknown_name_fetches_nothing(server, card):
    server.answers["/small.data"] = ROWS
    with pytest.raises(DataError, match="did you mean spambase"):
        fetch([card(), "spambas"])
    assert server.asked == []


def test_a_sample_does_not_stand_in_the_way_of_the_whole(make_card, server, folder):
    whole = {"files": ["all"], "format": {"kind": "delimited"}, "rows": 3}
    part = whole | {"files": ["part"], "rows": 1, "sample": True, "note": "One row."}
    card = make_card(whole, part, task="regression", source=source({"all": server.url("/all")}))
    (folder / "part").write_text("1,2,3\n")
    server.answers["/all"] = b"1,2,3\n4,5,6\n7,8,9\n"
    (result,) = fetch(card, folder=folder)
    assert result.paths == (folder / "small" / "all",)
    assert not load(card, data_dir=folder).sample


def test_what_a_killed_fetch_left_is_swept_after_a_day(server, card, cache):
    server.answers["/small.data"] = ROWS
    for name, age in (("old", 90_000), ("new", 60)):
        left_over = cache / f".fetching-{name}"
        left_over.mkdir(parents=True)
        os.utime(left_over, (time.time() - age,) * 2)
    fetch(card())
    assert [path.name for path in cache.glob(".fetching-*")] == [".fetching-new"]
