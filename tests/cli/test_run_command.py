"""``kernlearn run``: choice of trials, executors, and output."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest

from kernlearn.engine import local


def trials(out):
    """The lines of finished trials, without their numbers."""
    return re.findall(r"^\[\d+/\d+\] (.*?): ", out, re.MULTILINE)


def test_only_and_force_choose_trials(kernlearn, small):
    first = kernlearn("run", small, "--only", "dataset=moons,method=K", "--only", "split=2")
    assert first.returncode == 0, first.stderr
    assert len(trials(first.stdout)) == 9
    assert "moons · polynomial · K · split 1" in trials(first.stdout)
    assert "9 cached" in kernlearn("plan", small).stdout

    forced = kernlearn("run", small, "--force", "K", "--only", "dataset=moons")
    assert len(trials(forced.stdout)) == 5
    # what is left of waveform, and all of moons
    planned = kernlearn("plan", small, "--force", "moons").stdout.splitlines()[-1]
    assert "16 trials: 4 new, 12 cached" in planned
    assert "12 to run" in planned

    for arguments, words in (
        (("--force", "KK"), "--force KK: nothing of that name; did you mean 'K'?"),
        (("--only", "method=k"), "--only method=k: no such value; did you mean 'K'?"),
        (("--only", "moons"), "--only 'moons': expected LABEL=VALUE"),
    ):
        wrong = kernlearn("run", small, *arguments)
        assert wrong.returncode == 2
        assert words in wrong.stderr
        assert "Traceback" not in wrong.stderr


def test_plan_and_run_show_the_chosen_rows_alone(kernlearn, small):
    both = ("--only", "dataset=moons,dataset=waveform,method=K")
    planned = kernlearn("plan", small, *both).stdout
    assert planned.count("· K ·") == 4
    assert planned.count(" small: ") == 4
    assert "small: 4 trials: 4 new" in planned
    done = kernlearn("run", small, *both).stdout
    assert len(trials(done)) == 4
    table = done[done.index("dataset") :]
    assert "waveform" in table
    assert "RF" not in table
    assert "12 of 16 trials" not in table
    # the page tells of all
    page = (small.parent / "results" / "runs" / "small" / "report.html").read_text()
    assert "12 of 16 trials not run yet" in page


def test_only_asks_for_the_data_of_the_chosen_alone(kernlearn, small):
    small.write_text(small.read_text().replace("datasets:\n", "datasets:\n  adult: {}\n"))
    for command in ("plan", "run"):
        refused = kernlearn(command, small)
        assert refused.returncode == 2
        assert "adult" in refused.stderr
        chosen = kernlearn(command, small, "--only", "dataset=moons,method=K")
        assert chosen.returncode == 0, chosen.stderr
        assert "moons" in chosen.stdout


def test_several_processes_are_shared_and_marked_and_shared_cores_refused(
    kernlearn, small, monkeypatch
):
    refused = kernlearn("run", small, "--jobs", "1000")
    assert refused.returncode == 2
    assert "1000 trials at a time with 1 thread each would share the" in refused.stderr
    assert "--allow-contention" in refused.stderr
    started = []
    start = local.Worker._start
    monkeypatch.setattr(local.Worker, "_start", lambda self: started.append(self) or start(self))
    other = small.with_name("other.yaml")
    other.write_text(small.read_text().replace("seed: 1", "seed: 2"))
    out = kernlearn(
        "run",
        small,
        other,
        "--jobs",
        "2",
        "--allow-contention",
        "--no-report",
        "--profile",
        "quick",
        "--timeout",
        "100",
        "--memory",
        "4GB",
    )
    assert out.returncode == 0, out.stderr
    assert len(trials(out.stdout)) == 12
    assert len(set(started)) == 2
    # nothing is written but the store
    assert "│" not in out.stdout
    assert [p.name for p in small.parent.glob("results/runs/*") if p.is_dir()] == []
    report = kernlearn("report", small, "--profile", "quick")
    assert "times of 6 of 6 trials were measured while other processes used" in report.stdout
    refused = kernlearn("run", small, "--no-report", "--summary", "numbers")
    assert refused.returncode == 2
    assert "a summary is part of the report" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--memory", "4XB"), "--memory '4XB': expected a size such as 4GB"),
        (("--timeout", "soon"), "--timeout"),
        (("--executor", "proceses"), "expected one of in-process, processes, dask"),
        (("--executor", "in-process", "--jobs", "2"), "take 'processes'"),
        (("--scheduler", "tcp://127.0.0.1:9"), "no Dask scheduler at tcp://127.0.0.1:9"),
    ],
)
def test_what_cannot_be_is_one_message(kernlearn, small, arguments, words, monkeypatch):
    if "--scheduler" in arguments:
        pytest.importorskip("distributed", reason="needs the extra 'cluster'")
        monkeypatch.setattr("kernlearn.engine.cluster._CONNECT", 1.0)
    out = kernlearn("run", small, *arguments)
    assert out.returncode == 2
    assert words in out.stderr
    assert "Traceback" not in out.stderr


def test_the_log_is_json(kernlearn, small):
    out = kernlearn("run", small, "--log-json", "--profile", "quick")
    assert out.returncode == 0, out.stderr
    events = [json.loads(line) for line in out.stdout.splitlines()]
    names = [event["event"] for event in events]
    assert names[0] == "run_planned"
    assert names[-2:] == ["run_ended", "report_written"]
    assert names.count("trial_started") == names.count("trial_done") == events[0]["to_run"] == 6
    done = next(e for e in events if e["event"] == "trial_done")
    assert done["labels"] == {"dataset": "waveform", "kernel": "polynomial", "method": "K"}
    assert 0 < done["metrics"]["accuracy"] <= 1
    assert (done["status"], done["error"], done["number"], done["of"]) == ("done", None, 1, 6)
    assert {e["time"][:2] for e in events} == {"20"}


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
    second = kernlearn("run", small)
    assert second.returncode == 2
    assert re.search(
        r"store.sqlite: another run is writing to it \(small, since 20", second.stderr
    )
    assert "Traceback" not in second.stderr
    # reading is no run
    assert "cached" in kernlearn("plan", small).stdout
    first.send_signal(signal.SIGTERM)
    _, said = first.communicate()
    assert first.returncode == 130
    assert re.fullmatch(r"Stopped\. \d+ of 800 trials are done and kept in .*\n", said)
    # the lock went with the process
    small.write_text(small.read_text().replace("splits: 100", "splits: 1"))
    assert kernlearn("run", small).returncode == 0


def test_on_a_terminal_there_are_bars(small, tmp_path):
    """In a pseudo terminal, since a pipe gets lines."""
    pty = pytest.importorskip("pty", reason="needs a POSIX terminal")
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "kernlearn", "run", str(small)],
        cwd=tmp_path,
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"},
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
    text = seen.decode()
    assert "━" in text
    assert "16/16" in text
    assert "[16/16]" not in text
    assert "left" in text
