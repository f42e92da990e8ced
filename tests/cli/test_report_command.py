"""``kernlearn report``: the site of a store, and reports of named experiments."""

import os
from unittest import mock

import pytest

STORE = "results/runs/store.sqlite"


def test_a_run_then_a_site_of_it(kernlearn, small, tmp_path):
    assert kernlearn("run", small, "--profile", "quick").returncode == 0
    assert (tmp_path / "results/runs/small-quick/report.html").is_file()
    assert (tmp_path / "results/runs/small-quick/assets/site.css").is_file()

    lost = kernlearn("report")
    assert lost.returncode == 2
    assert "store.sqlite: nothing to show" in lost.stderr
    assert "small: kernlearn has no config of that name; --config FILE" in lost.stderr

    out = kernlearn("report", "--config", small, "--summary", "measured")
    assert out.returncode == 0, out.stderr
    assert out.stdout.splitlines() == [
        "small: profile quick, 6 of 6 trials",
        "Site: results/site/index.html",
    ]
    assert (tmp_path / "results/site/small.html").is_file()
    assert (tmp_path / "measured/small.csv").is_file()

    from_summary = kernlearn("report", "--from", "measured", "--config", small, "--output", "f")
    assert from_summary.returncode == 0, from_summary.stderr
    assert from_summary.stdout.splitlines()[0] == out.stdout.splitlines()[0]
    assert from_summary.stdout.endswith("Site: f/index.html\n")
    assert "single splits are not on them" in (tmp_path / "f/index.html").read_text()
    alone = kernlearn("report", "--from", "measured")
    assert alone.returncode == 2
    assert "measured: nothing to show\n  small: kernlearn has no config" in alone.stderr

    full = kernlearn("report", STORE, "--config", small, "--profile", "full", "--output", "s")
    assert "small: profile full, 6 of 16 trials" in full.stdout
    assert "10 of 16 trials not run yet" in (tmp_path / "s/small.html").read_text()
    again = kernlearn("report", STORE, "--config", small, "--splits", "1", "--output", "s")
    assert "small: profile quick, splits=1, 6 of 6 trials" in again.stdout


def test_named_experiments_are_shown_as_before(kernlearn, small, tmp_path):
    assert kernlearn("run", small, "--splits", "1").returncode == 0
    out = kernlearn("report", small, "--splits", "1", "--output", "elsewhere")
    assert out.returncode == 0, out.stderr
    assert "waveform" in out.stdout
    assert out.stdout.endswith("Report: elsewhere/small/report.html\n")
    assert (tmp_path / "elsewhere/small/small.csv").is_file()
    assert not (tmp_path / "results/site").exists()


def test_a_store_is_known_by_what_it_is(kernlearn, small, tmp_path):
    assert kernlearn("run", small, "--splits", "1", "--store", "numbers").returncode == 0
    out = kernlearn("report", "numbers", "--config", small, "--splits", "1")
    assert out.returncode == 0, out.stderr
    assert (tmp_path / "results/site/index.html").is_file()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["report"], "results/runs/store.sqlite: no such store"),
        (["report", "none.sqlite"], "none.sqlite: no such store"),
        (["report", "none.sqlite", "table3_1"], "a store stands alone"),
        (["report", "table3_1", "--config", "x.yaml"], "belongs to the site of a store"),
        (["report", "nonesuch"], "nonesuch: no such file"),
        (["report", "broken.db"], "broken.db"),
        (["report", "empty.sqlite"], "empty.sqlite"),
        (["report", "--from", "nowhere"], "nowhere: cannot be read"),
        (["report", "--from", ".", "--splits", "1"], "--splits: belongs to the report of a store"),
        (
            ["report", "table6", "--from", "."],
            ".: no summary of table6; there are",
        ),
    ],
)
def test_a_fault_is_one_message(kernlearn, tmp_path, arguments, said):
    (tmp_path / "broken.db").write_text("not a store " * 100)
    (tmp_path / "empty.sqlite").touch()
    out = kernlearn(*arguments)
    assert out.returncode == 2
    assert said in out.stderr
    assert "Traceback" not in out.stderr
    assert out.stdout == ""
    assert not (tmp_path / "results").exists()


@pytest.mark.data
def test_a_store_is_shown_where_its_data_is_not(kernlearn, tmp_path):
    """As after a run on another machine: the store knows what the data was."""
    config = tmp_path / "sonar.yaml"
    config.write_text(
        "title: t\ndatasets: {sonar: {sample: 60}}\nmethods: {D: {estimator: DummyClassifier}}\n"
        "protocol: {splits: 3, seed: 1}\nmetrics: [accuracy]\n"
    )
    data = os.environ["KERNLEARN_DATA"]
    run = kernlearn("run", config, "--summary", "base", KERNLEARN_DATA=data)
    assert run.returncode == 0, run.stderr
    there = kernlearn("report", "--config", config, "--output", "there", KERNLEARN_DATA=data)
    assert "sonar: profile full, 3 of 3 trials" in there.stdout

    assert kernlearn("plan", config).returncode == 2
    away = kernlearn("report", "--config", config, "--output", "away")
    assert away.returncode == 0, away.stderr
    assert "sonar: profile full, 3 of 3 trials" in away.stdout
    splits = [tmp_path / place / "files/sonar/splits.csv" for place in ("there", "away")]
    assert splits[0].read_text() == splits[1].read_text()
    assert (
        "data not found here, results from the store: sonar"
        in (tmp_path / "away/sonar.html").read_text()
    )
    named = kernlearn("report", config)
    assert named.returncode == 0, named.stderr
    assert "results from the store: sonar" in named.stdout
    checked = kernlearn("check", config, "--against", "base", "--profile", "full")
    assert checked.returncode == 0, checked.stderr
    assert "sonar: 7 cells: 2 same, 5 timed" in checked.stdout

    # of data that was prepared otherwise the store has nothing
    config.write_text(config.read_text().replace("sample: 60", "sample: 50"))
    other = kernlearn("report", config)
    assert other.returncode == 2
    assert "sonar" in other.stderr
    assert "none of its trials" in kernlearn("report", "--config", config).stderr


def test_a_profile_is_indicative_and_leaves_the_full_report_alone(kernlearn, small, tmp_path):
    """`quick` put ▼ on two rows of splits and replaced the report of the full run."""
    small.write_text(
        small.read_text()
        + "reported: table3_1.csv\nverdict: {accuracy: {absolute: 0.015}}\n"
        + "best: {metrics: [accuracy]}\n"
    )
    numbers = "dataset,kernel,method,metric,mean\nmoons,polynomial,K,accuracy,0.1\n"
    (tmp_path / "reported").mkdir()
    (tmp_path / "reported" / "table3_1.csv").write_text(numbers)
    with mock.patch("kernlearn.config.entries.shipped", return_value=tmp_path / "reported"):
        full = kernlearn("run", small)
        page = tmp_path / "results/runs/small/table.md"
        before = page.read_text()
        quick = kernlearn("run", small, "--profile", "quick")
    assert full.returncode == quick.returncode == 0, full.stderr + quick.stderr
    assert "▲" in full.stdout
    assert "**" in before.partition("\n")[2]
    assert "1 reported: 1 ▲ better" in full.stdout
    assert "  ▲  better than reported" in full.stdout
    assert "▼" not in full.stdout
    assert "(quick, indicative)" in quick.stdout
    assert "Indicative: profile quick" in quick.stdout
    table = (tmp_path / "results/runs/small-quick/table.md").read_text()
    for text in (quick.stdout, table):
        assert not {*"✓≈▲▼"} & {*text}
    assert "**" not in table.partition("\n")[2]
    assert page.read_text() == before


def test_a_report_is_written_again_only_if_something_changed(kernlearn, small, tmp_path):
    """A run with everything in the store drew all charts again."""
    quick = ("run", small, "--profile", "quick")
    page = tmp_path / "results/runs/small-quick/report.html"

    def written():
        before = page.stat().st_mtime_ns if page.exists() else 0
        out = kernlearn(*quick)
        assert out.returncode == 0, out.stderr
        assert "numbers measured" in out.stdout
        return page.stat().st_mtime_ns != before

    assert written()
    assert not written()
    (page.parent / "table.md").unlink()
    assert written()
    assert (page.parent / "table.md").exists()
    page.write_text("changed")
    assert written()
    small.write_text(small.read_text().replace("A small experiment", "Another title"))
    assert written()
    assert "Another title" in page.read_text()
    assert not written()
    kernlearn(*quick, "--force", "K", "--no-report")
    assert written()


def test_signs_are_explained_once_and_numbers_counted_under_each_table(kernlearn, small):
    text = small.read_text().replace("table: {", "table: {each: [dataset], ")
    small.write_text(text.replace("[dataset, method, n_components]", "[method, n_components]"))
    out = kernlearn("run", small).stdout
    assert out.count(" numbers measured") == 2
    assert out.count("  ±  standard deviation over the splits") == 1
    assert out.index("numbers measured") < out.index("  ±  ")


def test_columns_that_are_numbers_have_a_name(kernlearn, small):
    text = small.read_text().replace(
        "[dataset, method, n_components]", "[dataset], columns: [method, n_components]"
    )
    small.write_text(
        text.replace(
            "metrics: [accuracy, fit_seconds, predict_seconds, speedup]", "metrics: [accuracy]"
        )
    )
    out = kernlearn("run", small)
    assert "columns: number of features D\n" in out.stdout, out.stdout
    # nothing is left after the last trial
    assert "[16/16]" in out.stdout
    assert " left" not in out.stdout.partition("[16/16]")[2].partition("\n")[0]
    assert " left" in out.stdout.partition("[10/16]")[2].partition("\n")[0]
