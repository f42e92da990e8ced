import os
from pathlib import Path

import pytest

from kernlearn.datasets import catalogue, locate, missing_message, search_path

LIBSVM = {"files": ["small", "small.t"], "format": {"kind": "libsvm"}, "rows": 2}
WHOLE = LIBSVM | {"classes": {-1: 1, 1: 1}}
SAMPLE = WHOLE | {"files": ["part"], "sample": True, "note": "A part."}


def put(folder, *names):
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).write_text("x")
    return folder


def test_the_order_of_the_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("KERNLEARN_DATA", os.pathsep.join(["/first", "", "/second", "/first"]))
    expected = ["mine", "/first", "/second", "datasets", str(tmp_path / "cache" / "datasets")]
    assert search_path("mine") == [Path(part) for part in expected]
    assert search_path() == [Path(part) for part in expected[1:]]


def test_without_a_variable_the_cache_is_the_users(monkeypatch):
    monkeypatch.delenv("KERNLEARN_CACHE")
    assert search_path()[-1].parent.name.lower() == "kernlearn"


@pytest.mark.parametrize("sub", ["small", "."])
@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_files_lie_in_a_folder_of_their_own_or_beside_others(make_card, folder, sub, suffix):
    put(folder / sub, "small" + suffix, "small.t")
    found = locate(make_card(WHOLE), folder)
    assert [path.name for path in found.paths] == ["small" + suffix, "small.t"]
    assert {path.parent for path in found.paths} == {folder / sub}


def test_files_with_a_common_name_are_only_taken_from_their_own_folder(make_card, folder):
    card = make_card(WHOLE | {"files": ["Dataset.data"], "own_folder": True})
    put(folder, "Dataset.data")
    assert locate(card, folder) is None
    put(folder / "small", "Dataset.data")
    assert locate(card, folder).paths == (folder / "small" / "Dataset.data",)


def test_files_may_lie_in_the_folder_of_what_they_are_published_with(make_card, folder):
    put(folder / "other", "small", "small.t")
    assert locate(make_card(WHOLE), folder) is None
    card = make_card(WHOLE | {"folder": "other"})
    assert locate(card, folder).paths[0] == folder / "other" / "small"
    put(folder / "small", "small", "small.t")
    assert locate(card, folder).paths[0] == folder / "small" / "small"


def test_an_unreadable_archive_counts_only_if_nothing_else_is_there(make_card, folder):
    card = make_card(WHOLE)
    put(folder, "small.zip")
    assert locate(card, folder).paths[0] == folder / "small.zip" / "small"
    put(folder / "small", "small", "small.t")
    assert locate(card, folder).paths[0] == folder / "small" / "small"


def test_one_of_two_files_is_not_enough(make_card, folder):
    put(folder, "small")
    assert locate(make_card(WHOLE), folder) is None


def test_a_folder_is_no_file(make_card, folder):
    put(folder, "small")
    (folder / "small.t").mkdir()
    assert locate(make_card(WHOLE), folder) is None


def test_the_whole_is_preferred_to_a_sample_wherever_it_lies(
    make_card, folder, tmp_path, monkeypatch
):
    card = make_card(WHOLE, SAMPLE)
    monkeypatch.setenv("KERNLEARN_DATA", str(put(folder, "part")))
    assert locate(card).form.sample
    put(tmp_path / "cache" / "datasets" / "small", "small", "small.t")
    assert not locate(card).form.sample


def test_the_folder_given_comes_before_the_order_of_the_forms(make_card, folder, tmp_path):
    card = make_card(WHOLE, SAMPLE)
    put(tmp_path / "cache" / "datasets" / "small", "small", "small.t")
    assert not locate(card, folder).form.sample
    put(folder, "part")
    assert locate(card, folder).paths == (folder / "part",)
    put(folder, "small", "small.t")  # of the forms in the folder the preferred one
    assert not locate(card, folder).form.sample


def test_the_first_folder_wins(make_card, folder, monkeypatch):
    put(Path("datasets"), "small", "small.t")
    assert locate(make_card(WHOLE)).paths[0] == Path("datasets/small")
    monkeypatch.setenv("KERNLEARN_DATA", str(put(folder, "small", "small.t")))
    assert locate(make_card(WHOLE)).paths[0] == folder / "small"


def test_one_message_for_all_that_is_missing(folder, tmp_path):
    cards = [catalogue()[name] for name in ("nursery", "iris", "ijcnn1", "covertype")]
    put(folder, "nursery.data")
    message = missing_message(cards, folder)
    assert message.startswith("2 data sets are missing:\n  ijcnn1: ijcnn1 + ijcnn1.t\n")
    assert "  covertype: covtype.data or covtype.sample15000.csv\n" in message
    assert "nursery" not in message
    assert "iris" not in message
    for address in ("binary/ijcnn1.t.bz2", "https://archive.ics.uci.edu/dataset/31/covertype"):
        assert address in message
    assert f"\n  {folder}\n" in message
    assert f"\n  {tmp_path / 'cache' / 'datasets'} (does not exist)\n" in message
    assert "KERNLEARN_DATA" in message


def test_the_message_for_one(folder):
    assert missing_message([catalogue()["spambase"]], folder).startswith(
        "1 data set is missing:\n"
    )


def test_a_folder_that_cannot_be_asked_is_one_that_has_nothing():
    message = missing_message([catalogue()["spambase"]], "x" * 5000)
    assert "xxx (does not exist)\n" in message


def test_no_message_if_nothing_is_missing(folder):
    put(folder, "spambase.data")
    assert missing_message([catalogue()["spambase"], catalogue()["wine"]], folder) == ""
