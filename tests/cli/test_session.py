"""Sessions of a user with several commands: output, exit codes and files."""

import re
import subprocess
import sys

import pytest

HEAVY = ["numba", "pandas", "matplotlib", "altair", "sklearn", "scipy", "numpy", "pydantic"]


def test_help_and_import_load_nothing_heavy():
    code = (
        "import sys, kernlearn, kernlearn.cli.app, typer.testing\n"
        "out = typer.testing.CliRunner().invoke(kernlearn.cli.app.app, ['--help'])\n"
        "assert out.exit_code == 0 and 'run' in out.output\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_a_process_ends_with_one_line_and_exit_code_2(kernlearn_process):
    out = kernlearn_process("validate", "nonesuch")
    assert (out.returncode, out.stdout) == (2, "")
    assert out.stderr.startswith("kernlearn: nonesuch: no such file")
    assert "Traceback" not in out.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX pipes")
def test_a_reader_that_stops_reading_is_no_error(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-m", "kernlearn", "list"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 1


def test_run_then_run_again_then_report(kernlearn, small, tmp_path):
    first = kernlearn("run", small)
    assert first.returncode == 0, first.stderr
    assert "small: 16 trials to run, 0 in the store" in first.stdout
    assert (
        "[16/16] moons · polynomial · H0/1 · n_components=10 · split 2: accuracy" in first.stdout
    )
    assert "Report: results/runs/small/report.html" in first.stdout
    assert (tmp_path / "results/runs/small/table.md").is_file()

    second = kernlearn("run", small, "--summary", "measured")
    assert "small: 0 trials to run, 16 in the store" in second.stdout
    assert (tmp_path / "measured/small.csv").is_file()

    report = kernlearn("report", small, "--output", "elsewhere")
    table = re.compile(r"┏.*┘", re.S)
    assert table.search(report.stdout)[0] == table.search(first.stdout)[0]
    assert (tmp_path / "elsewhere/small/report.html").is_file()

    plan = kernlearn("plan", small, "--splits", "3").stdout.splitlines()
    assert [line.split()[0] for line in plan[:-1]] == ["cached"] * 16 + ["new"] * 8
    assert re.fullmatch(
        r"small: 24 trials: 8 new, 16 cached, 0 failed, 0 stale; 8 to run, about \d+ s, one at a "
        r"time",
        plan[-1],
    )


def test_plan_leaves_no_store_behind(kernlearn, small, tmp_path):
    assert "16 new" in kernlearn("plan", small).stdout
    assert not (tmp_path / "results").exists()
    missing = kernlearn("report", small)
    assert missing.returncode == 2
    assert "no such store" in missing.stderr


def test_a_typo_is_one_line_and_exit_code_2(kernlearn, small):
    small.write_text(small.read_text().replace("n_components: [10", "n_component: [10"))
    for command in ("run", "validate", "plan"):
        out = kernlearn(command, small)
        assert out.returncode == 2
        assert out.stdout == ""
        assert out.stderr == (
            f"kernlearn: {small}:9: methods.RF.n_component: MaclaurinSVM has no parameter "
            "'n_component'; did you mean 'n_components'?\n"
        )
    assert "Traceback" in kernlearn("--debug", "validate", small).stderr


def test_faults_of_several_configs_come_together(kernlearn, small, tmp_path):
    other = tmp_path / "other.yaml"
    other.write_text("title: 3\n")
    small.write_text(small.read_text().replace("splits: 2", "splits: -2"))
    out = kernlearn("run", small, other, "nonesuch")
    assert out.returncode == 2
    assert f"{small}:11: protocol.splits" in out.stderr
    assert f"{other}:1: datasets: is missing" in out.stderr
    assert "nonesuch: no such file" in out.stderr


def test_missing_data_is_one_message_that_says_where_to_put_it(kernlearn, tmp_path):
    out = kernlearn("run", "table3_1", "figure3_2")
    assert out.returncode == 2
    for name in ("nursery", "spambase", "cod_rna", "adult", "ijcnn1", "covertype"):
        assert out.stderr.count(f"\n  {name}: ") == 1
    assert "KERNLEARN_DATA" in out.stderr
    assert "--available" in out.stderr
    assert "Traceback" not in out.stderr
    (tmp_path / "datasets").mkdir()
    left_out = kernlearn("plan", "table3_1", "--available")
    assert left_out.returncode == 0
    assert "left out, not found: nursery, spambase" in left_out.stdout


def test_a_corrupt_file_is_named_with_its_line(kernlearn, tmp_path):
    folder = tmp_path / "datasets" / "nursery"
    folder.mkdir(parents=True)
    (folder / "nursery.data").write_text("usual,proper,complete,1,convenient,convenient\n")
    out = kernlearn("run", "table3_1", "--available", "-o", "only=[{dataset: nursery}]")
    assert out.returncode == 2
    assert "nursery.data" in out.stderr
    assert ":1:" in out.stderr or "line 1" in out.stderr
    assert "Traceback" not in out.stderr


def test_failures_are_told_and_the_exit_code_is_1(kernlearn, small):
    text = small.read_text().replace("polynomial, degree: 3", "vovk")
    small.write_text(text.replace("[zscore, max_norm]", "[zscore]"))
    out = kernlearn("run", small)
    assert out.returncode == 1
    assert out.stdout.count("FAILED: ValueError") == 16
    planned = kernlearn("plan", small).stdout
    assert "0 new, 0 cached, 16 failed, 0 stale" in planned
    assert planned.count("  ValueError: ") == 16
    # they are not tried again unasked, and what is not whole is no success
    again = kernlearn("run", small)
    assert again.returncode == 1
    assert "16 failed before: `kernlearn plan` shows why, --retry-failed" in again.stdout
    assert "FAILED" not in again.stdout
    retried = kernlearn("run", small, "--retry-failed")
    assert retried.returncode == 1
    assert retried.stdout.count("FAILED: ValueError") == 16


def test_list_names_what_a_config_can_use(kernlearn):
    out = kernlearn("list").stdout
    for name in (
        "table3_1",
        "nursery",
        "unit_ball",
        "exponential",
        "MaclaurinSVM",
        "accuracy",
    ):
        assert name in out


def test_version(kernlearn):
    from kernlearn import __version__

    assert kernlearn("--version").stdout == f"{__version__}\n"


@pytest.mark.exhaustive
@pytest.mark.data
def test_the_real_table_in_small(kernlearn, data_dir):
    out = kernlearn(
        "run",
        "table3_1",
        "--data-dir",
        data_dir,
        "--profile",
        "smoke",
        "-o",
        "metrics=[accuracy]",
    )
    assert out.returncode == 0, out.stderr
    assert out.stdout.count("(0.") == 36
    assert "not run" not in out.stdout
