"""A run that is killed again and again loses nothing, does nothing twice and leaves nothing."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psutil
import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan, run_plan
from kernlearn.store import Store
from tests.command import command
from tests.engine.numbers import numbers

#: Runs the command in a child of a process that has its imports behind it, and sends it a signal a
#: number of milliseconds after its start, its first finished trial or, after that, a change of
#: the store's log. The child has a session of its own, so that what it starts can be found.
KILLER = """\
import os, signal, sys, time
from pathlib import Path
import kernlearn.cli.app, kernlearn.cli.progress, kernlearn.reports.site
import kernlearn.engine.trial
import kernlearn.features, kernlearn.svm, sklearn.datasets, filelock, joblib, loky
if "dask" in sys.argv:
    import distributed

out, log, *arguments = sys.argv[1:]
sys.argv = ["kernlearn", *arguments]
all_signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP

def changes():
    try:
        return os.stat(log).st_mtime_ns
    except FileNotFoundError:
        return 0

for line in sys.stdin:
    when, milliseconds, number, to_all = line.split()
    Path(out).write_text("")
    signal.pthread_sigmask(signal.SIG_BLOCK, all_signals)
    child = os.fork()
    if child == 0:
        os.setsid()
        for stream in (1, 2):
            os.dup2(os.open(out, os.O_WRONLY | os.O_APPEND), stream)
        # a background job would hand on an ignored one
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        break
    signal.pthread_sigmask(signal.SIG_UNBLOCK, all_signals)
    ended = 0, 0
    while when != "start" and b'"trial_done"' not in Path(out).read_bytes() and not ended[0]:
        time.sleep(0.01)
        ended = os.waitpid(child, os.WNOHANG)
    if when == "write":
        before = changes()
        while changes() == before and not ended[0]:
            ended = os.waitpid(child, os.WNOHANG)
    time.sleep(float(milliseconds) / 1000)
    if not ended[0]:
        (os.killpg if to_all == "True" else os.kill)(child, int(number))
        ended = os.waitpid(child, 0)
    print(child, os.waitstatus_to_exitcode(ended[1]), flush=True)
else:
    sys.exit()
try:
    signal.pthread_sigmask(signal.SIG_UNBLOCK, all_signals)
    kernlearn.cli.app.main()
except KeyboardInterrupt:  # before the command has begun
    sys.exit(130)
"""
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"]
#: Options of each way to run trials, and the milliseconds until its first trial.
WAYS = {
    "one job": ([], 600),
    "two jobs": (["--jobs", "2", "--allow-contention"], 3000),
    "Dask": (["--executor", "dask", "--jobs", "2", "--allow-contention"], 4000),
}

#: What is counted of them.
COUNTS = ("trials", "lost", "doubled", "failed", "differing numbers", "processes left")


def rows(path):
    """What the store has of each trial, after its file was checked."""
    if not path.exists():
        return {}
    with sqlite3.connect(path, timeout=30) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            return {}  # killed before its tables were made
    with Store(path, read_only=True) as store:
        return {
            r.key: (0, "done" if r.done else "failed", r.started, json.dumps(r.metrics))
            for r in store.rows()
        }


def members(session):
    """The processes of a session that still run."""
    found = []
    for number in psutil.pids():
        with suppress(ProcessLookupError, psutil.NoSuchProcess):
            if os.getsid(number) == session:
                process = psutil.Process(number)
                if process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
    return found


def left_after(session, seconds=10.0):
    """How many processes outlive the command by some seconds; they are ended then."""
    end = time.monotonic() + seconds
    while (left := members(session)) and time.monotonic() < end:
        time.sleep(0.05)
    for process in left:
        process.kill()
    return len(left)


def moment_of(moment, kills, until_trial):
    """A moment: a quarter at any time until the first trial, the others amid trials and writes."""
    if kills % 4 == 0:
        return f"start {moment.uniform(0, until_trial)}"
    if kills % 4 == 1:
        return f"write {moment.choice([0, 0, moment.uniform(0, 2)])}"
    return f"trial {moment.uniform(0, 500)}"


def said_done(out):
    """The keys of the trials that the command has said to be done."""
    lines = [line for line in out.read_text().splitlines() if line.startswith('{"event"')]
    events = [json.loads(line) for line in lines if line.endswith("}")]
    return [event["key"] for event in events if event["event"] == "trial_done"]


@pytest.fixture
def killed(small, tmp_path):
    """A function that kills runs of one way to run trials, and counts what became of them."""
    # 8 cells of 25 splits
    small.write_text(small.read_text().replace("splits: 2", "splits: 25"))
    plan = make_plan(load_config(small))
    assert len(plan.trials) == 200
    with Store(tmp_path / "whole") as whole:
        run_plan(plan, whole)
        expected = numbers(plan, whole)

    def kill(way, n_kills):
        folder = tmp_path / way.replace(" ", "_")
        folder.mkdir()
        return kill_often(small, plan, expected, folder, way, n_kills)

    return kill


def kill_often(small, plan, expected, folder, way, n_kills):
    path = folder / "killed" / "s.sqlite"
    options, until_trial = WAYS[way]
    arguments = ["run", str(small), "--store", str(path), "--output", str(folder / "out")]
    arguments += ["--log-json", *options]
    log, out = f"{path}-wal", folder / "said"
    killer = subprocess.Popen(
        [sys.executable, "-c", KILLER, str(out), log, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    moment = random.Random(f"2013 {way}")
    before, told, kills, progress, count = {}, set(), 0, 0, Counter()
    # the last one leaves something done and something to do
    while kills < n_kills or not 0 < len(before) < 200:
        number = signal.Signals[SIGNALS[(kills + kills // 4) % 4]]
        to_all = moment.random() < 0.5  # as a terminal does, and managers of services and jobs
        when = moment_of(moment, kills, until_trial)
        killer.stdin.write(f"{when} {int(number)} {to_all}\n")
        killer.stdin.flush()
        session, ended = map(int, killer.stdout.readline().split())
        count["processes left"] += left_after(session)
        after, said = rows(path), said_done(out)
        # what was there is there, made by the run that made it, and what was said to be done too
        count["lost"] += len((before.keys() | set(said)) - after.keys())
        count["doubled"] += len(told & set(said)) + len(said) - len(set(said))
        count["doubled"] += sum(after.get(key, row) != row for key, row in before.items())
        new = after.keys() - before.keys()
        count["trials"] += len(new)
        count["failed"] += sum(after[key][1] != "done" for key in new)
        measured = {key: json.loads(after[key][3]) for key in new}
        count["differing numbers"] += sum(
            {k: v for k, v in found.items() if "seconds" not in k} != expected[key]
            for key, found in measured.items()
        )
        told |= set(said)
        text = out.read_text()
        if ended == 0:  # faster than the kills: whole, and the others need a new store
            assert after.keys() == expected.keys()
            shutil.rmtree(path.parent)
            before, told = {}, set()
            continue
        # by the signal, if it came before the command could answer
        assert ended in ({-9} if number == signal.SIGKILL else {130, -number}), (when, text)
        if number != signal.SIGKILL and way != "Dask":  # whose workers have logs of their own
            assert "Traceback" not in text, (when, number, text)
        kills += 1
        print(f"{way}: {kills} kills, {dict(count)}", flush=True)
        progress += len(new) > 0
        before = after
    killer.communicate()
    counts = {name: count[name] for name in COUNTS}
    print(f"\n{way}: {kills} kills, " + ", ".join(f"{n} {name}" for name, n in counts.items()))
    assert counts == {**dict.fromkeys(counts, 0), "trials": count["trials"]}
    assert progress > n_kills / 2

    # what is left is done as if nothing had happened
    ended = command(folder, *arguments[: -len(options) or None])
    assert ended.returncode == 0, ended.stderr
    after = rows(path)
    assert {key: after[key] for key in before} == before
    assert all(status == "done" for _, status, *_ in after.values())
    with Store(path) as killed:
        assert numbers(plan, killed) == expected


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")


@needs_fork
@pytest.mark.parametrize(
    ("way", "n_kills"),
    [
        ("two jobs", 3),
        pytest.param("one job", 4, marks=pytest.mark.exhaustive),
        pytest.param("Dask", 4, marks=pytest.mark.exhaustive),
    ],
)
def test_kills_lose_nothing(killed, way, n_kills):
    if way == "Dask":
        pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    killed(way, n_kills)


@needs_fork
@pytest.mark.exhaustive
def test_200_kills_with_and_without_dask_lose_nothing(killed):
    pytest.importorskip("distributed", reason="needs the extra 'cluster'")
    kills = {"one job": 90, "two jobs": 70, "Dask": 40}
    with ThreadPoolExecutor(len(kills)) as threads:  # under load they are less regular
        list(threads.map(killed, kills.keys(), kills.values()))
