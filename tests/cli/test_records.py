"""Open records: ``kernlearn export --format ro-crate`` and ``kernlearn merge``, and faults."""

import sqlite3
from contextlib import closing

import pytest

from kernlearn.experiments import Store
from kernlearn.experiments.store.crate_rows import ROW_FILES
from tests.experiments.stores import begun, done, trial
from tests.reports.sites import plant
from tests.reports.test_crate import change

STORE = "results/runs/store.sqlite"


def test_a_record_goes_to_another_and_comes_back(kernlearn, small, tmp_path):
    with Store(tmp_path / STORE) as store:
        plant(store, small)
    out = kernlearn(
        "export",
        "--format",
        "ro-crate",
        "--config",
        small,
        "-o",
        "small.zip",
        "--license",
        "CC0-1.0",
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.startswith("small.zip: small, 14 files, ")
    back = kernlearn("merge", "small.zip", "back.sqlite")
    assert back.returncode == 0, back.stderr
    assert "small.zip into back.sqlite: 16 trials added" in back.stdout
    dumps = []
    for path in (STORE, "back.sqlite"):
        with closing(sqlite3.connect(tmp_path / path)) as connection:
            dumps.append([*connection.iterdump()])
    assert dumps[0] == dumps[1]


def test_rows_of_a_stranger_that_do_not_fit_are_counted(kernlearn, small, tmp_path):
    with Store(tmp_path / STORE) as store:
        plant(store, small)
    options = ("export", "--format", "ro-crate", "--config", small, "-o", "record")
    assert kernlearn(*options).returncode == 0
    change(
        tmp_path / "record", ROW_FILES["trial"], lambda text: text.replace('"done"', '"won"', 1)
    )
    out = kernlearn("merge", "record", "back.sqlite")
    assert out.returncode == 0
    assert "record: 1 row does not fit and is left out: trial " in out.stderr
    assert "15 trials added" in out.stdout
    (tmp_path / "record" / ROW_FILES["run"]).write_text("")
    assert (
        "is not the file that the crate was written with"
        in kernlearn("merge", "record", "back.sqlite").stderr
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "ro-crate"], "name a folder, or a .zip file, with --output"),
        (["--format", "ro-crate", "-o", "x"], "name it with --experiment; there are: none\n  e: "),
        (["--format", "ro-crate", "-o", "x", "--experiment", "f"], "there are: none"),
        (["--license", "CC0"], "belong to --format ro-crate"),
        (["--format", "crate"], "expected one of csv, json, parquet, ro-crate"),
    ],
)
def test_faults_are_one_message(kernlearn, tmp_path, options, said):
    with begun(tmp_path / STORE) as (_, put):
        put(trial(), done(trial(), accuracy=1.0))
    out = kernlearn("export", *options)
    assert out.returncode == 2
    assert said in out.stderr
    assert "Traceback" not in out.stderr
    assert out.stdout == ""
    assert not (tmp_path / "x").exists()
