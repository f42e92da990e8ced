"""A publisher in a thread of this process, so that nothing leaves the machine."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import pytest

from kernlearn.datasets import fetch
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_LIKE, NURSERY_ROWS

ROWS = NURSERY_ROWS.encode()
PAGE = b"<!DOCTYPE html>\n<html><body>Moved</body></html>"


class Server(ThreadingHTTPServer):
    """Answers what a test lays down for a path, and notes what it was asked."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, []

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}{path}"

    def handle_error(self, request, client_address):
        pass  # a client that hangs up is part of these tests


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        answer = self.server.answers.get(self.path)
        if answer is None:
            self.send(404)
        elif callable(answer):
            answer(self)
        else:
            self.send(200, answer)

    def send(self, status, body=b"", length=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)
        if length is not None and length != len(body):
            self.close_connection = True

    def log_message(self, *arguments):
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    # pooch waits 1 s, 2 s, … between attempts
    monkeypatch.setattr("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None))
    served = Server()
    thread = threading.Thread(target=served.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield served
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.fixture
def card(make_card, server):
    """A data set of one small file, at /small.data; its address and form can be changed."""

    def make(path="/small.data", file="small.data", **changes):
        form = {
            "files": [file],
            "format": {"kind": "delimited", **NURSERY_LIKE},
            "rows": 5,
            "classes": {"no": 3, "yes": 2},
        }
        downloads = {file: server.url(path)}
        return make_card(form | changes, source=source(downloads))

    return make


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache" / "datasets" / "small"


def source(downloads):
    return {"publisher": "Nobody", "page": "https://example.org/small", "downloads": downloads}


def left(folder: Path):
    """All files below a folder."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir())


def error_of(card, **options):
    with pytest.raises(DataError) as caught:
        fetch(card, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("small: ")
    return message


def once(*answers):
    """Give one answer after the other."""
    rest = list(answers)
    return lambda handler: rest.pop(0)(handler)


def cut(body, after):
    return lambda handler: handler.send(200, body[:after], length=len(body))
