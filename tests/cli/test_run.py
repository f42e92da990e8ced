"""``kernlearn run`` and ``plan``."""

import os
import re
import signal
import subprocess
import sys

import pytest

from kernlearn.store import Store


def trials(out):
    """The trials that a run has finished."""
    return re.findall(r"^\[\d+/\d+\] (.*?): ", out, re.MULTILINE)


def test_a_session(kernlearn, small, tmp_path):
    assert "16 trials: 0 in the store, 0 failed, 16 to run" in kernlearn("plan", small).stdout
    assert not (tmp_path / "results").exists()
    wrong = tmp_path / "wrong.yaml"
    for text, words in {
        "  other: {max_trian: 9}\n": "unknown key; did you mean 'max_train'",
        "forks: [{choice: a, reason: b, alternatives: {c: [seeed=2]}}]": "-o seeed=2: ",
    }.items():
        wrong.write_text(small.read_text() + text)
        assert words in kernlearn("plan", wrong, "--all", code=2).stderr
    wrong.write_text(f"{small.read_text()}reported: r.csv\n")
    (tmp_path / "r.csv").write_text("dataset,method,metric,mean\nmoon,K,accuracy,0.9\n")
    assert "1 of 1 reported numbers" in kernlearn("plan", wrong).stdout
    (tmp_path / "r.csv").write_text("dataset,method,metric,mean\nmoons,K,accuracy,90\n")
    assert "accuracy is 90, not between 0 and 1" in kernlearn("plan", wrong, code=2).stderr

    first = kernlearn("run", small).stdout
    assert len(trials(first)) == 16
    assert "Report: results/runs/small/report.html\n" in first
    assert (tmp_path / "results/runs/small/report.html").is_file()
    shown = kernlearn("run", small, "-o", "metrics=[accuracy, comparisons]").stdout
    assert "small: 0 trials to run, 16 in the store" in shown
    assert "measured comparisons" in shown
    more = kernlearn("plan", small, "-o", "splits=3").stdout
    assert "24 trials: 16 in the store, 0 failed, 8 to run" in more
    assert "16 trials of small with other" in kernlearn("plan", small, "-o", "seed=2").stdout


def test_a_part_of_an_experiment_has_a_report_of_its_own(kernlearn, small, tmp_path):
    kernlearn("run", small)
    full = tmp_path / "results/runs/small/report.html"
    before = full.read_bytes()
    for options in (["--only", "method=K"], ["-o", "splits=1"], ["--profile", "quick"]):
        out = kernlearn("run", small, *options)
        (page,) = re.findall(r"Report: (\S+\.html)", out.stdout)
        assert (tmp_path / page).is_file()
        assert full.read_bytes() == before
    (tmp_path / "other").mkdir()
    same_name = tmp_path / "other" / "small.yaml"
    same_name.write_text(small.read_text().replace("A small experiment", "Another"))
    out = kernlearn("run", same_name)
    (page,) = re.findall(r"Report: (\S+\.html)", out.stdout)
    assert "Another" in (tmp_path / page).read_text()
    assert full.read_bytes() == before
    other = ("--only", "method=K", "--store", "results/runs/other.sqlite")
    chosen = kernlearn("run", small, *other).stdout
    assert "Report: results/runs/other_reports/" in chosen
    assert "RF" not in chosen.partition("in the store")[2]


def test_missing_data_is_one_message_that_says_where_to_put_it(kernlearn, small, tmp_path):
    out = kernlearn("run", "table3_1", "figure3_2", code=2)
    for name in ("nursery", "spambase", "cod_rna", "adult", "ijcnn1", "covertype"):
        assert out.stderr.count(f"\n  {name}: ") == 1
    assert "KERNLEARN_DATA" in out.stderr
    assert "--available" in out.stderr
    assert "nursery, spambase" in kernlearn("plan", "table3_1").stdout
    # the data of the chosen trials alone are needed
    small.write_text(small.read_text().replace("datasets:\n", "datasets:\n  adult: {}\n"))
    kernlearn("run", small, code=2)
    kernlearn("run", small, "--only", "dataset=moons,method=K")


def test_failed_trials_make_the_exit_code_1(kernlearn, small):
    text = small.read_text().replace("polynomial, degree: 3", "vovk")
    small.write_text(text.replace("[zscore, max_norm]", "[zscore]"))
    out = kernlearn("run", small, code=1)
    assert out.stdout.count("FAILED: ValueError") == 16
    assert re.search(r"small: all 16 trials failed, \d+ with: ValueError: ", out.stdout)
    assert "Report" not in out.stdout
    planned = kernlearn("plan", small, code=1).stdout
    assert "0 in the store, 16 failed, 0 to run" in planned
    again = kernlearn("run", small, code=1).stdout
    assert "FAILED" not in again
    assert "16 failed before (--retry-failed" in again
    assert kernlearn("run", small, "--retry-failed", code=1).stdout.count("FAILED") == 16


def test_several_processes(kernlearn, small, tmp_path):
    refused = kernlearn("run", small, "--jobs", "1000", code=2)
    assert "--allow-contention" in refused.stderr
    options = ("--jobs", "2", "--allow-contention", "--timeout", "100", "--memory", "4")
    out = kernlearn("run", small, *options, "--profile", "quick", "--no-report")
    assert len(trials(out.stdout)) == 6
    assert [path.name for path in (tmp_path / "results/runs").iterdir() if path.is_dir()] == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_two_runs_into_one_store_do_not_mix(kernlearn, small, tmp_path):
    small.write_text(small.read_text().replace("splits: 2", "splits: 100"))
    command = [sys.executable, "-m", "kernlearn", "run", str(small)]
    first = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for line in first.stdout:
        if line.startswith("[2/"):
            break
    second = kernlearn("run", small, code=2)
    assert "another run" in second.stderr
    assert "in the store" in kernlearn("plan", small).stdout  # reading is no run
    first.send_signal(signal.SIGTERM)
    assert "the same command goes on" in first.communicate()[1]
    assert first.returncode == 130
    small.write_text(small.read_text().replace("splits: 100", "splits: 1"))
    kernlearn("run", small)  # the lock went with the process


def test_a_terminal_has_a_bar_and_columns_limit_tables(small, tmp_path):
    pty = pytest.importorskip("pty", reason="needs a POSIX terminal")
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kernlearn", "run", str(small)],
        cwd=tmp_path,
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "60"},
    )
    os.close(child)
    seen = b""
    while True:
        try:
            part = os.read(parent, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(parent)
    assert process.wait() == 0
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode())
    assert "━" in text
    assert "16/16" in text
    assert "[16/16]" not in text
    table = [line for line in text.splitlines() if "±" in line or "──" in line]
    assert table
    assert max(map(len, table)) <= 60


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
@pytest.mark.parametrize("closed", [">&- 2>&-", "| head -1"])
def test_closed_streams_end_no_run(small, tmp_path, closed):
    command = [sys.executable, "-m", "kernlearn", "run", str(small), "--no-report"]
    command += ["--jobs", "2", "--allow-contention", "--profile", "quick"]
    out = subprocess.run(
        ["sh", "-c", f'"$@" {closed}', "sh", *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (out.returncode, out.stderr) == (0, "")
    with Store(tmp_path / "results/runs/store.sqlite", read_only=True) as store:
        rows = list(store.rows())
    assert all(row.done for row in rows)
    assert len(rows) == 6 or "head" in closed


def test_a_plan_tries_each_method(kernlearn, tmp_path):
    """What fails on a few rows fails in every trial; what needs more rows is tried on all."""
    (tmp_path / "mine.yaml").write_text(
        "title: t\ndatasets: [iris, wine]\nmethods:\n"
        "  fails: {estimator: sklearn.naive_bayes.CategoricalNB, min_categories: 1}\n"
        "  many: {estimator: sklearn.neighbors.KNeighborsClassifier, n_neighbors: 60}\n"
        "  unscored: {estimator: sklearn.svm.LinearSVC, C: {select: [0.1, 1]}}\n"
        "metrics: [accuracy]\nprotocol: {select_by: log_loss}\n"
    )
    planned = kernlearn("plan", "mine.yaml", code=1)
    fails = [line.split(": ")[1] for line in planned.stdout.splitlines() if "fails: " in line]
    assert fails == ["iris · unscored", "wine · fails", "wine · unscored"]
    kernlearn("plan", "mine.yaml", "--no-try")
