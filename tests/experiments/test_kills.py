"""A run that is killed again and again loses nothing and does nothing twice."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys

import pytest

from kernlearn.experiments import Store, load_config, make_plan, run_plan
from tests.experiments.numbers import numbers

#: Runs the command in a child of a process that has its imports behind it, and kills it the
#: given number of milliseconds after its start, or after its first finished trial.
KILLER = """\
import os, signal, sys, time
import kernlearn.cli.app, kernlearn.cli.progress, kernlearn.reports.site
import kernlearn.experiments.engine.trial
import kernlearn.features, kernlearn.solvers, sklearn.datasets, filelock

sys.argv = ["kernlearn", *sys.argv[1:]]
for line in sys.stdin:
    when, milliseconds = line.split()
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(tell, 1)
        sys.stdout = os.fdopen(1, "w")
        kernlearn.cli.app.main()
        os._exit(0)
    os.close(tell)
    said = b"" if when == "trial" else b"["
    while b"[" not in said and (more := os.read(told, 1000)):
        said += more
    time.sleep(float(milliseconds) / 1000)
    os.kill(child, signal.SIGKILL)
    print(os.waitpid(child, 0)[1], flush=True)
    os.close(told)
"""


def rows(path):
    """What the store has of each trial, after its file was checked."""
    with sqlite3.connect(path, timeout=30) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        if not connection.execute("PRAGMA user_version").fetchone()[0]:
            return {}  # killed before its tables were made
        assert connection.execute("SELECT count(*) FROM superseded").fetchone() == (0,)
        found = connection.execute("SELECT key, run, status, started, metrics FROM trial")
        return {key: rest for key, *rest in found}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")
@pytest.mark.parametrize("n_kills", [12, pytest.param(100, marks=pytest.mark.exhaustive)])
def test_kills_lose_nothing(small, tmp_path, n_kills):
    # 8 cells of 25 splits
    small.write_text(small.read_text().replace("splits: 2", "splits: 25"))
    path, output = tmp_path / "killed" / "s.sqlite", tmp_path / "out"
    arguments = ["run", str(small), "--store", str(path), "--output", str(output)]
    plan = make_plan(load_config(small))
    assert len(plan.trials) == 200
    killer = subprocess.Popen(
        [sys.executable, "-c", KILLER, *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    moment = random.Random(2013)
    before, kills, progress = {}, 0, 0
    # the last one leaves something done and something to do
    while kills < n_kills or not 0 < len(before) < 200:
        # every fourth at any moment, while the config is read too; the others amid trials
        when = f"start {moment.uniform(0, 500)}" if kills % 4 == 0 else "trial 0"
        if kills % 4 > 1:
            when = f"trial {moment.uniform(0, 30)}"
        killer.stdin.write(f"{when}\n")
        killer.stdin.flush()
        ended = int(killer.stdout.readline())
        after = rows(path) if path.exists() else {}
        # what was there is there, made by the run that made it
        assert {key: after[key] for key in before} == before
        if ended == 0:  # faster than the kills: whole, and the others need a new store
            assert after.keys() == {t.key for t in plan.trials}
            shutil.rmtree(path.parent)
            before = {}
            continue
        assert ended == 9  # by the signal
        kills += 1
        progress += len(after) > len(before)
        before = after
    killer.communicate()
    assert progress > n_kills / 2

    command = [sys.executable, "-m", "kernlearn", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = rows(path)
    assert {key: after[key] for key in before} == before
    assert after.keys() == {t.key for t in plan.trials}
    assert all(status == "done" for _, status, *_ in after.values())

    with Store(tmp_path / "whole") as whole, Store(path) as killed:
        run_plan(plan, whole)
        assert numbers(plan, killed) == numbers(plan, whole)
