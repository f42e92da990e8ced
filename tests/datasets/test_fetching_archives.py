"""Archives and packed files as a publisher sends them."""

import bz2
import gzip
import io
import tarfile
import zipfile

import pytest

from kernlearn.datasets import fetch
from tests.datasets import serving
from tests.datasets.conftest import NURSERY_LIKE
from tests.datasets.serving import PAGE, ROWS, error_of, left, source

cache = serving.cache
card = serving.card
server = serving.server


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return stream.getvalue()


def tarred(*members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for info, content in members:
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


@pytest.mark.parametrize("page", [PAGE, b"\xef\xbb\xbf \n<html>", b"", b"\n\n"])
def test_a_page_in_place_of_the_file(server, card, cache, page):
    server.answers["/small.data"] = page
    reason = "an empty file" if not page.strip() else "a web page, not the file"
    assert f"the server sent {reason}" in error_of(card())
    assert left(cache) == []


def test_a_packed_file_stays_packed(server, card, cache):
    server.answers["/small.data"] = lambda h: h.send(
        200, gzip.compress(ROWS), Content_Encoding="gzip"
    )
    assert fetch(card())[0].paths == (cache / "small.data.gz",)
    server.answers["/b"] = bz2.compress(ROWS)
    assert fetch(card("/b"), force=True)[0].paths == (cache / "small.data.bz2",)
    assert left(cache) == ["small.data.bz2"]
    server.answers["/cut"] = gzip.compress(ROWS)[:-9]
    assert "small.data.gz: damaged or cut short" in error_of(card("/cut"), force=True)
    server.answers["/bomb"] = gzip.compress(bytes(1 << 20))
    message = error_of(card("/bomb"), force=True, max_bytes=100_000)
    assert "holds more than 100.0 kB unpacked, the limit" in message
    assert left(cache) == ["small.data.bz2"]


def test_files_are_taken_out_of_a_zip_that_comes_once(make_card, server, cache):
    server.answers["/both.zip"] = zipped(
        deep__a_data=ROWS, b_data_gz=gzip.compress(ROWS), readme_txt="x", up__="", evil_sh="x"
    )
    form = {"files": ["a.data", "b.data"], "format": {"kind": "delimited", **NURSERY_LIKE}}
    form |= {"rows": 10, "classes": {"no": 6, "yes": 4}}
    both = dict.fromkeys(form["files"], server.url("/both.zip"))
    (result,) = fetch(make_card(form, source=source(both)))
    assert result.paths == (cache / "a.data", cache / "b.data.gz")
    assert len(server.asked) == 1
    assert left(cache) == ["a.data", "b.data.gz"]


def test_of_several_members_the_card_names_the_right_one(server, card, cache):
    server.answers["/small.zip"] = zipped(a__small_data=b"no", b__small_data=ROWS)
    made = card("/small.zip", members={"small.data": "b/small.data"})
    assert fetch(made)[0].paths == (cache / "small.data",)
    assert (cache / "small.data").read_bytes() == ROWS


def test_a_file_that_python_cannot_unpack_is_kept_with_the_command_for_it(server, card, cache):
    server.answers["/small.zip"] = zipped(small_data_Z=b"\x1f\x9d\x90data")
    message = error_of(card("/small.zip"))
    assert message.endswith(f"unpack it with: gzip -d '{cache / 'small.data.Z'}'")
    assert left(cache) == ["small.data.Z"]


def test_a_tar_is_opened_too(server, card, cache):
    members = [(tarfile.TarInfo("t/readme"), b"x"), (tarfile.TarInfo("t/small.data"), ROWS)]
    server.answers["/small.tar.gz"] = tarred(*members)
    assert fetch(card("/small.tar.gz"))[0].paths == (cache / "small.data",)


def zip_link():
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        info = zipfile.ZipInfo("small.data")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    return stream.getvalue()


def tar_link(kind, target):
    info = tarfile.TarInfo("small.data")
    info.type, info.linkname = kind, target
    return tarred((info, b""))


def broken_zip():
    content = bytearray(zipped(small_data=ROWS))
    content[len("small.data") + 32] ^= 0xFF
    return bytes(content)


UNSAFE = {
    "up": (lambda: zipped(**{"..__..__small_data": ROWS}), "points outside of it"),
    "root": (lambda: zipped(__small_data=ROWS), "points outside of it"),
    "windows": (lambda: zipped(**{"C:\\small_data": ROWS}), "points outside of it"),
    "tar up": (lambda: tarred((tarfile.TarInfo("../small.data"), ROWS)), "points outside of it"),
    "no name": (lambda: tarred((tarfile.TarInfo(""), ROWS)), "a member without a name"),
    "zip link": (zip_link, "is a link or no plain file"),
    "tar link": (lambda: tar_link(tarfile.SYMTYPE, "/etc/passwd"), "is a link or no plain file"),
    "hard link": (lambda: tar_link(tarfile.LNKTYPE, "../x"), "is a link or no plain file"),
    "device": (lambda: tar_link(tarfile.CHRTYPE, ""), "is a link or no plain file"),
    "bomb": (
        lambda: zipped(small_data=bytes(2_000_000)),
        "than 1.0 MB unpacked, the limit",
    ),
    "tar bomb": (
        lambda: tarred((tarfile.TarInfo("x"), bytes(2_000_000))),
        "than 1.0 MB unpacked, the limit",
    ),
    "several": (lambda: zipped(a__small_data=ROWS, b__small_data=ROWS), "several files"),
    "none": (lambda: zipped(a__other_csv=ROWS), "no small.data, but other.csv"),
    "cut": (lambda: zipped(small_data=ROWS)[:-30], "damaged or cut short"),
    "broken": (broken_zip, "damaged or cut short"),
}


@pytest.mark.parametrize("kind", UNSAFE)
def test_unsafe_and_damaged_archives(server, card, cache, tmp_path, kind):
    make, reason = UNSAFE[kind]
    server.answers["/small.zip"] = make()
    assert reason in error_of(card("/small.zip"), max_bytes=1_000_000)
    assert left(tmp_path) == []
