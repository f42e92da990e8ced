"""Open records: ``kernlearn export --format ro-crate``, and faults."""

import zipfile

import pytest

from kernlearn.store import Store
from tests.engine.stores import begun, done, trial
from tests.reports.sites import plant

STORE = "results/runs/store.sqlite"


def test_a_record_is_written(kernlearn, small, tmp_path):
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
    assert out.stdout.startswith("small.zip: small, 11 files, ")
    assert zipfile.is_zipfile(tmp_path / "small.zip")


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
