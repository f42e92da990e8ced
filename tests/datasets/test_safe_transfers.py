"""What comes over http could be changed on its way: it needs a fingerprint, or is refused."""

import shutil
import ssl
import subprocess

import pytest

from kernlearn.datasets import fetch, load
from kernlearn.datasets.transfers import _is_plain
from tests.datasets import serving
from tests.datasets.conftest import NURSERY_LIKE
from tests.datasets.serving import ROWS, error_of, left, source

cache = serving.cache
card = serving.card
server = serving.server
REFUSED = "not fetched over http, where it can be changed on its way"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A certificate of this machine that nobody else knows, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
        "-addext subjectAltName=IP:127.0.0.1 -keyout key -out certificate"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder / "certificate", folder / "key"


@pytest.fixture
def secure(server, certificate, monkeypatch):
    """A publisher with https, whose certificate is trusted, beside the other one."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate[0]))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    served = serving.Server()
    served.socket = context.wrap_socket(served.socket, server_side=True)
    yield from serving.serving(served)


def url(secure, path="/small.data"):
    return f"https://127.0.0.1:{secure.server_port}{path}"


def to(address):
    return lambda handler: handler.send(302, Location=address)


@pytest.fixture
def known(server, card):
    """The fingerprint of the rows."""
    server.answers["/small.data"] = ROWS
    fetch(card())
    return load(card()).fingerprint


@pytest.mark.parametrize(
    "address",
    [
        "http://example.org/small.data",
        "HTTP://EXAMPLE.ORG/small.data",
        "http://10.0.0.1/x",
        "http://127.0.0.1@example.org/x",
        "http://127.0.0.1.example.org/x",
        "http://[fe80::1]/x",
        "http://example.org\\@127.0.0.1/x",
        "http://localhost.example.org/x",
        "http:///x",
    ],
)
def test_addresses_of_other_machines_over_http(address):
    assert _is_plain(address)


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/x",
        "http://127.0.0.1:8000/x",
        "http://[::1]/x",
        "http://localhost/x",
        "HTTPS://10.0.0.1/x",
    ],
)
def test_other_addresses(address):
    assert not _is_plain(address)


def test_http_without_a_fingerprint_is_refused_before_anything_is_asked(
    make_card, tmp_path, monkeypatch
):
    monkeypatch.setattr("socket.socket.connect", lambda *_: pytest.fail("something was asked"))
    form = {"files": ["small.data"], "format": {"kind": "delimited"}}
    plain = source({"small.data": "http://example.org/small.data"})
    message = error_of(make_card(form, task="regression", source=plain))
    assert f"small.data: http://example.org/small.data: it is {REFUSED}" in message
    assert left(tmp_path) == []


@pytest.mark.parametrize("address", ["https://[::1", "https://a:b:c/", "http://a:99999999/"])
def test_addresses_that_are_none(make_card, server, address):
    form = {"files": ["small.data"], "format": {"kind": "delimited"}}
    wrong = make_card(form, task="regression", source=source({"small.data": address}))
    assert f"small.data: {address}: " in error_of(wrong, retries=0)


@pytest.mark.parametrize("target", ["http://example.org/x", "//example.org/x"])
def test_a_redirect_to_another_machine_over_http_is_refused(server, card, tmp_path, target):
    server.answers["/moved"] = to(target)
    message = error_of(card("/moved"))
    assert f"it is redirected to http://example.org/x, which is {REFUSED}" in message
    assert left(tmp_path) == []


def test_https_comes_and_a_redirect_from_it_to_http_is_refused(
    make_card, server, secure, tmp_path
):
    form = {
        "files": ["small.data"],
        "rows": 5,
        "classes": {"no": 3, "yes": 2},
        "format": {"kind": "delimited", **NURSERY_LIKE},
    }
    secure.answers["/small.data"] = ROWS
    (result,) = fetch(make_card(form, source=source({"small.data": url(secure)})))
    assert result.state == "fetched"
    secure.answers["/small.data"] = to(server.url("/small.data"))
    server.answers["/small.data"] = ROWS
    moved = make_card(form, source=source({"small.data": url(secure)}))
    assert f"it is redirected to {server.url('/small.data')}" in error_of(moved, force=True)
    assert server.asked == []


def test_with_a_fingerprint_a_redirect_to_http_is_followed_and_the_content_compared(
    server, secure, card, known, cache
):
    secure.answers["/small.data"] = to(server.url("/small.data"))
    downloads = source({"small.data": url(secure)})
    checked = card(fingerprint=known).model_copy(
        update={"source": card().source.model_validate(downloads)}
    )
    (result,) = fetch(checked, force=True)
    assert result.remark == "the content is that of the card"
    server.answers["/small.data"] = ROWS.replace(b"usual,1", b"usual,2")
    message = error_of(checked, force=True)
    assert f"differs from the card's ({known[:12]}), and it came over http" in message
    assert left(cache) == ["small.data", "small.data.rejected"]
    assert (cache / "small.data").read_bytes() == ROWS


def test_a_part_that_came_over_http_is_not_kept(make_card, server, secure, cache):
    form = {"files": ["a", "b"], "format": {"kind": "delimited", **NURSERY_LIKE}}
    form |= {"rows": 10, "classes": {"no": 6, "yes": 4}, "fingerprint": "0" * 64}
    secure.answers["/a"] = to(server.url("/a"))
    server.answers["/a"] = ROWS
    both = make_card(form, source=source({f: url(secure, f"/{f}") for f in "ab"}))
    assert "small: b: " in error_of(both)
    assert left(cache) == []


def test_what_comes_with_a_redirect_is_not_read(server, card, cache):
    def endless(handler):
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: /small.data\r\n\r\n")
        for _ in range(10_000):
            handler.wfile.write(bytes(1 << 16))

    server.answers["/endless"], server.answers["/small.data"] = endless, ROWS
    assert fetch(card("/endless"), max_bytes=1000)[0].state == "fetched"
    assert [path for path, _ in server.asked] == ["/endless", "/small.data"]
