"""Pictures that were drawn before are taken from the user's cache."""

import pytest
import vl_convert

from kernlearn.reports import pictures


@pytest.fixture
def drawings(tmp_path, monkeypatch):
    """The specifications that were drawn, with a cache of one's own."""
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    found, draw = [], vl_convert.vegalite_to_svg

    def drawn(text, **options):
        found.append(text)
        return draw(text, **options)

    monkeypatch.setattr(vl_convert, "vegalite_to_svg", drawn)
    return found


def chart(*values):
    rows = [{"x": value, "y": value} for value in values]
    encoding = {axis: {"field": axis, "type": "quantitative"} for axis in "xy"}
    return {"data": {"values": rows}, "mark": "point", "encoding": encoding}


def test_a_picture_is_drawn_once(drawings, tmp_path):
    first = pictures.save_pictures(chart(1, 2), tmp_path / "first")
    second = pictures.save_pictures(chart(1, 2), tmp_path / "second")
    assert len(drawings) == 1
    assert [f.read_bytes() for f in first] == [f.read_bytes() for f in second]
    assert first[0].read_text().startswith("<svg")
    other, _ = pictures.save_pictures(chart(1, 3), tmp_path / "second")
    assert len(drawings) == 2
    assert other.read_bytes() != first[0].read_bytes()


@pytest.mark.parametrize("suffix", [".svg", ".pdf"])
def test_a_damaged_picture_is_drawn_again(drawings, tmp_path, suffix):
    whole = [f.read_bytes() for f in pictures.save_pictures(chart(1), tmp_path / "first")]
    (kept,) = (tmp_path / "cache" / "pictures").glob(f"*{suffix}")
    kept.write_bytes(b"")
    again = pictures.save_pictures(chart(1), tmp_path / "second")
    assert len(drawings) == 2
    assert again[0].read_bytes() == whole[0]


def test_pictures_that_were_used_last_are_kept(drawings, tmp_path, monkeypatch):
    monkeypatch.setattr(pictures, "_MOST_KEPT", 4)
    for value in (1, 2, 1, 3):
        pictures.save_pictures(chart(value), tmp_path / f"{len(drawings)} {value}")
    assert len([*(tmp_path / "cache" / "pictures").iterdir()]) == 4
    for name, value in (("x", 1), ("y", 3)):
        pictures.save_pictures(chart(value), tmp_path / name)
    assert len(drawings) == 3


def test_without_a_cache_pictures_are_drawn(drawings, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("KERNLEARN_CACHE", str(blocked))
    for name in "ab":
        svg, pdf = pictures.save_pictures(chart(1), tmp_path / name)
        assert svg.is_file()
        assert pdf.read_bytes().startswith(b"%PDF")
    assert len(drawings) == 2
