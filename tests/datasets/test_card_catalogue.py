import subprocess
import sys

import pytest

from kernlearn.datasets import catalogue, find_card
from kernlearn.exceptions import DataError

SIX = {"nursery", "spambase", "cod_rna", "adult", "ijcnn1", "covertype"}
BUNDLED = {"iris", "wine", "breast_cancer_wdbc", "digits", "diabetes_sklearn"}


def test_table_3_1_and_bundled_data_sets_are_there():
    assert catalogue().keys() >= SIX | BUNDLED


def test_the_catalogue_is_read_once_and_cannot_be_changed():
    assert catalogue() is catalogue()
    with pytest.raises(TypeError):
        catalogue()["mine"] = None  # type: ignore[index]


@pytest.mark.parametrize("name", sorted(SIX))
def test_every_file_says_where_to_fetch_it(name):
    card = catalogue()[name]
    assert set(card.source.downloads) == set(card.forms[0].files)


def test_a_misspelt_name_is_guessed():
    with pytest.raises(DataError, match=r"'nursry'; did you mean nursery\?"):
        find_card("nursry")


def test_an_unknown_name_lists_all():
    with pytest.raises(DataError, match=r"available: abalone, adiac, .*wine_white"):
        find_card("qqqqq")


def test_reading_the_cards_loads_no_heavy_library():
    code = (
        "import sys\n"
        "from kernlearn.datasets import catalogue, locate, missing_message, search_path\n"
        "missing_message(catalogue().values())\n"
        "print([m for m in ('numpy', 'scipy', 'pandas', 'sklearn', 'numba') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
