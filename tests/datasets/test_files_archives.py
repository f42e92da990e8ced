import bz2
import gzip
import io
import lzma
import tarfile
import zipfile

import pytest

from kernlearn.datasets import load, locate
from kernlearn.datasets import unpacking as module
from kernlearn.datasets.unpacking import container, find_member, is_archive, read_bytes
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_ROWS

CONTENT = NURSERY_ROWS.encode()
PACK = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
TAR = {".tar": "w", ".tar.gz": "w:gz", ".tgz": "w:gz", ".tar.bz2": "w:bz2", ".tar.xz": "w:xz"}


def archive(path, members):
    """Write an archive of the kind that its name says."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
        return path
    with tarfile.open(path, TAR["".join(path.suffixes)]) as packed:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            packed.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("inner", PACK)
@pytest.mark.parametrize("outer", [".zip", *TAR])
def test_a_data_set_loads_out_of_an_archive_and_nothing_is_written(
    nursery_like, folder, outer, inner
):
    members = {"readme.txt": b"read me", "deep/down/small.data" + inner: PACK[inner](CONTENT)}
    packed = archive(folder / f"small{outer}", members)
    bunch = load(nursery_like, data_dir=folder)
    (folder / "plain").mkdir()
    (folder / "plain" / "small.data").write_bytes(CONTENT)
    assert bunch.fingerprint == load(nursery_like, data_dir=folder / "plain").fingerprint
    assert bunch.path == folder
    assert locate(nursery_like, folder).paths == (packed / "small.data",)
    assert sorted(path.name for path in folder.iterdir()) == ["plain", packed.name]


def test_any_archive_in_the_data_sets_own_folder_counts(nursery_like, folder):
    (folder / "small").mkdir()
    archive(folder / "small" / "download(1).zip", {"small.data": CONTENT})
    archive(folder / "else.zip", {"small.data": b"not asked"})
    assert load(nursery_like, data_dir=folder).data.shape == (5, 2)


def test_the_archive_that_the_publisher_names_counts(make_card, nursery_like, folder):
    form = nursery_like.forms[0].model_dump()
    source = {
        "publisher": "Nobody",
        "page": "https://example.org/x",
        "downloads": {"small.data": "https://example.org/static/little+thing.zip"},
    }
    archive(folder / "little+thing.zip", {"small.data": CONTENT})
    assert load(make_card(form, source=source), data_dir=folder).data.shape == (5, 2)


def test_a_plain_file_is_preferred(nursery_like, folder):
    archive(folder / "small.zip", {"small.data": b"other"})
    (folder / "small.data").write_bytes(CONTENT)
    assert locate(nursery_like, folder).paths == (folder / "small.data",)


def test_a_changed_archive_is_read_again(nursery_like, folder):
    first = archive(folder / "small.zip", {"small.data": CONTENT})
    before = load(nursery_like, data_dir=folder)
    archive(first, {"small.data": NURSERY_ROWS.replace("usual,1", "usual,2").encode()})
    assert load(nursery_like, data_dir=folder).fingerprint != before.fingerprint


def test_the_path_in_the_card_tells_two_members_apart(nursery_like, make_card, folder):
    members = {"a/small.data": b"wrong", "b/small.data": CONTENT}
    archive(folder / "small.zip", members)
    with pytest.raises(
        DataError, match=r"small\.zip: holds several files called small\.data: 'a/"
    ):
        load(nursery_like, data_dir=folder)
    form = nursery_like.forms[0].model_dump() | {"members": {"small.data": "b/small.data"}}
    assert load(make_card(form), data_dir=folder).data.shape == (5, 2)


@pytest.mark.parametrize(
    "name", ["../small.data", "/etc/small.data", "..\\small.data", "a/../../x"]
)
@pytest.mark.parametrize("outer", [".zip", ".tar.gz"])
def test_members_that_point_outside_are_refused(nursery_like, folder, tmp_path, outer, name):
    archive(folder / f"small{outer}", {name: CONTENT, "small.data": CONTENT})
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(DataError, match=r"small\.\S+: has a member .* points outside") as caught:
        load(nursery_like, data_dir=folder, cache=False)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("outer", [".zip", ".tar.gz", ".tar.xz"])
def test_a_bomb_is_refused(nursery_like, folder, monkeypatch, outer):
    monkeypatch.setattr(module, "LIMIT", 1 << 20)
    archive(folder / f"small{outer}", {"small.data": bytes(5 << 20)})
    with pytest.raises(DataError, match=r"holds more than 1.0 MB unpacked") as caught:
        load(nursery_like, data_dir=folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("inner", [".gz", ".bz2", ".xz"])
def test_a_bomb_in_one_file_is_refused(folder, monkeypatch, inner):
    monkeypatch.setattr(module, "LIMIT", 1 << 20)
    path = folder / f"x{inner}"
    path.write_bytes(PACK[inner](bytes(5 << 20)))
    with pytest.raises(DataError, match=r"x\.\w+: holds more than 1.0 MB unpacked"):
        read_bytes(path)


def test_a_zip_that_lies_about_its_size_is_refused(folder, monkeypatch):
    monkeypatch.setattr(module, "LIMIT", 1 << 20)
    path = archive(folder / "x.zip", {"y": bytes(5 << 20)})
    size = (5 << 20).to_bytes(4, "little")
    content = path.read_bytes()
    assert content.count(size) == 2
    path.write_bytes(content.replace(size, (7).to_bytes(4, "little")))
    with pytest.raises(DataError, match=r"damaged or cut short|holds more than"):
        read_bytes(path / "y")


@pytest.mark.parametrize("outer", [".zip", *TAR])
@pytest.mark.parametrize("keep", [0.0, 0.3, 0.9])
def test_an_archive_cut_short_is_named(nursery_like, folder, outer, keep):
    path = archive(folder / f"small{outer}", {"small.data": CONTENT * 50})
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])
    with pytest.raises(DataError) as caught:
        load(nursery_like, data_dir=folder)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_links_in_an_archive_are_not_followed(folder):
    path = folder / "x.tar"
    with tarfile.open(path, "w") as packed:
        info = tarfile.TarInfo("y")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed.addfile(info)
    with pytest.raises(DataError, match="the member y is a link or no plain file"):
        read_bytes(path / "y")


def test_a_file_packed_by_compress_says_how_to_unpack(folder):
    (folder / "isolet5.data.Z").write_bytes(b"\x1f\x9d\x90")
    with pytest.raises(DataError, match="unpack it with 'gzip -d'"):
        read_bytes(folder / "isolet5.data.Z")


def test_small_things(folder):
    path = archive(folder / "x.zip", {"a/y.gz": b"", "z": b"1"})
    assert find_member(path, "y") == "a/y.gz"
    assert find_member(path, "w") is None
    assert container(path / "z") == path
    assert container(folder / "z") == folder / "z"
    assert is_archive("X.ZIP")
    with pytest.raises(DataError, match=r"x\.zip: has no member w"):
        read_bytes(path / "w")
