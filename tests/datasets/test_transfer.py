"""Transfers that are cut, slow, refused or answered otherwise."""

import errno
import threading
import time

import pytest

from kernlearn.datasets import fetch, locate
from tests.datasets import serving
from tests.datasets.serving import LONG_ROWS, ROWS, cut, error_of, left, once, source

cache = serving.cache
card = serving.card
long = serving.long
server = serving.server


def test_a_cut_transfer_is_repeated(server, long, cache):
    server.answers["/long.data"] = once(cut(LONG_ROWS, 100_000), lambda h: h.send(200, LONG_ROWS))
    (result,) = fetch(long)
    assert len(server.asked) == 2
    assert result.paths[0].read_bytes() == LONG_ROWS
    assert left(cache) == ["long.data"]


def test_a_transfer_that_fails_leaves_nothing(server, long, cache):
    server.answers["/long.data"] = cut(LONG_ROWS, 100_000)
    message = error_of(long, retries=0)
    assert "the connection was cut after 100.0 kB of 334.3 kB" in message
    assert f"put the file into {cache} by hand" in message
    assert locate(long) is None
    assert left(cache) == []


def test_a_fetch_that_is_stopped_leaves_nothing(server, long, cache):
    server.answers["/long.data"] = LONG_ROWS

    def stop(name, file, so_far, total):
        if so_far > 50_000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(long, progress=stop)
    assert locate(long) is None
    assert left(cache) == []
    assert not list(cache.glob(".fetching-*"))


def test_a_chunked_answer_that_is_cut(server, card, cache):
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"%x\r\n%s\r\n" % (len(ROWS[:30]), ROWS[:30]))
        handler.close_connection = True

    server.answers["/small.data"] = answer
    assert "the connection was cut after 30 bytes" in error_of(card(), retries=1)
    assert len(server.asked) == 2
    assert left(cache) == []


def test_an_address_that_has_moved(server, card, cache):
    message = error_of(card())
    url = server.url("/small.data")
    assert message.startswith(f"small: small.data: {url}: the server answered 404 Not Found.")
    assert len(server.asked) == 1  # asking again would not help
    assert left(cache) == []


def test_a_server_in_trouble_is_asked_again(server, card):
    server.answers["/small.data"] = once(*2 * [lambda h: h.send(500)], lambda h: h.send(200, ROWS))
    assert fetch(card())[0].state == "fetched"
    server.answers["/small.data"] = lambda h: h.send(503)
    message = error_of(card(), force=True, retries=1)
    assert "the server answered 503 Service Unavailable" in message


def test_a_server_that_is_not_there(make_card, server):
    server.server_close()  # the port is free again
    form = {"files": ["f"], "format": {"kind": "delimited"}}
    card = make_card(form, task="regression", source=source({"f": server.url("/f")}))
    assert "the server cannot be reached, or hung up" in error_of(card, retries=0)


@pytest.mark.parametrize(
    ("first", "pause", "reason"),
    [
        (b"", 30.0, "no answer within 0.2 s"),
        (b"HTTP/1.1 200 OK\r\n\r\n1,2", 30.0, "nothing came within 0.2 s after 3 bytes"),
        (b"HTTP/1.1 200 OK\r\n\r\n1,2", 0.02, "hardly anything came within 0.2 s"),
    ],
)
def test_an_endlessly_slow_answer(server, card, cache, first, pause, reason):
    stop = threading.Event()

    def answer(handler):
        handler.close_connection = True
        handler.wfile.write(first)
        while first and not stop.wait(pause):
            handler.wfile.write(b"0")
        stop.wait(30)

    server.answers["/small.data"] = answer
    start = time.monotonic()
    assert reason in error_of(card(), timeout=0.2, retries=0)
    assert time.monotonic() - start < 10  # the server would go on for 30 s
    stop.set()
    assert left(cache) == []


def test_redirects(server, card):
    server.answers["/old"] = lambda h: h.send(301, Location="/small.data")
    server.answers["/small.data"] = ROWS
    assert fetch(card("/old"))[0].state == "fetched"
    server.answers["/round"] = lambda h: h.send(302, Location="/round")
    assert "redirected without end" in error_of(card("/round"), force=True, retries=0)
    server.answers["/file"] = lambda h: h.send(302, Location="file:///etc/passwd")
    assert "No connection adapters" in error_of(card("/file"), force=True, retries=0)


def test_a_file_that_is_larger_than_allowed(server, card, cache):
    server.answers["/small.data"] = lambda h: h.send(200, ROWS, ETag='"1"')
    assert "larger than 50 bytes, the limit" in error_of(card(), max_bytes=50)

    def answer(handler):  # of a size that is not told
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n" + ROWS)

    server.answers["/small.data"] = answer
    assert "larger than 50 bytes, the limit" in error_of(card(), max_bytes=50)
    assert left(cache) == []


def test_a_full_disk(server, card, cache, monkeypatch):
    server.answers["/small.data"] = ROWS

    def full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("kernlearn.datasets.fetching.copyfile", full)
    message = error_of(card())
    assert "cannot be written: No space left on device" in message
    assert locate(card()) is None
    assert len(server.asked) == 1
    assert left(cache) == []


def test_two_fetches_at_once(server, long, cache):
    both = threading.Barrier(2, timeout=10)

    def answer(handler):
        both.wait()
        handler.send(200, LONG_ROWS)

    server.answers["/long.data"] = answer
    results = []
    threads = [threading.Thread(target=lambda: results.extend(fetch(long))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [result.state for result in results] == ["fetched", "fetched"]
    assert left(cache) == ["long.data"]
    assert (cache / "long.data").read_bytes() == LONG_ROWS
