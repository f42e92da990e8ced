import subprocess
import sys

import numpy as np
import pytest

from kernlearn.datasets import find_card, load
from kernlearn.datasets.loading import known
from kernlearn.exceptions import DataError

ROWS = "a,b,kind\n" + "".join(f"{i},{i * i or '?'},{'uv'[i % 2]}\n" for i in range(30))
OPTIONS = [{}, {"nominal": "onehot"}, {"missing": "mean"}, {"missing": "most_frequent"}]


@pytest.fixture
def nursery(nursery_like, folder):
    (folder / "small.data").write_text(
        "usual,1,no\nusual,more,yes\ngreat_pret,2,yes\npretentious,1,no\ngreat_pret,3,no\n"
    )
    return nursery_like


@pytest.mark.parametrize("options", OPTIONS)
def test_a_data_set_is_known_once_it_was_loaded(nursery, folder, options):
    assert known(nursery, data_dir=folder, **options) is None
    load(nursery, data_dir=folder, dtype=np.float32, **options)
    assert known(nursery, data_dir=folder, **options) is None
    expected = load(nursery, data_dir=folder, **options).fingerprint
    assert known(nursery, data_dir=folder, **options).fingerprint == expected


def test_a_changed_file_or_card_is_not_known(nursery, folder):
    load(nursery, data_dir=folder)
    form = nursery.forms[0].model_copy(update={"classes": {"yes": 2, "no": 3}})
    changed = nursery.model_copy(update={"forms": (form,)})
    assert known(changed, data_dir=folder) is None
    with (folder / "small.data").open("a") as file:
        file.write("\n")
    assert known(nursery, data_dir=folder) is None
    (folder / "small.data").unlink()
    with pytest.raises(DataError, match="1 data set is missing"):
        known(nursery, data_dir=folder)


def test_without_the_cache_nothing_is_known(nursery, folder):
    load(nursery, data_dir=folder, cache=False)
    assert known(nursery, data_dir=folder) is None


@pytest.mark.parametrize("options", OPTIONS)
def test_bundled_data_and_user_files_are_known_too(folder, options):
    (folder / "mine.csv").write_text(ROWS)
    for name, more in (("wine", {}), (folder / "mine.csv", {"target": "kind"})):
        assert known(name, **more, **options) is None
        expected = load(name, **more, **options).fingerprint
        assert known(name, **more, **options).fingerprint == expected
    assert known(folder / "mine.csv", target="a", **options) is None
    (folder / "mine.csv").write_text(ROWS.replace("29,841,v", "29,842,v"))
    assert known(folder / "mine.csv", target="kind", **options) is None


@pytest.mark.data
def test_similarities_are_known_as_such(data_dir):
    expected = load("voting", data_dir=data_dir).fingerprint
    found = known("voting", data_dir=data_dir)
    assert (found.fingerprint, found.similarity) == (expected, "similarity")
    assert find_card("voting").forms[0].fingerprint == expected


def test_what_is_known_needs_no_heavy_import(folder):
    (folder / "mine.csv").write_text(ROWS)
    expected = [load(name).fingerprint for name in (folder / "mine.csv", "iris")]
    code = f"""
import sys
from kernlearn.datasets.loading import known
for name in ({str(folder / "mine.csv")!r}, "iris"):
    print(known(name).fingerprint)
print([name for name in ("sklearn", "scipy", "pandas", "pyarrow", "pooch") if name in sys.modules])
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split("\n")[:3] == [*expected, "[]"]
