"""Calls in processes apart: what they return, how they end, and that they leave nothing."""

import ctypes
import os
import resource
import signal
import subprocess
import sys
import time
from itertools import repeat
from pathlib import Path

import numpy as np
import psutil
import pytest

from kernlearn.datasets import apart
from kernlearn.datasets.apart import Answer, Died, call_apart
from kernlearn.exceptions import DataError

HERE = "tests.datasets.test_apart"


def say(*values):
    print("noise")
    os.write(1, b"more noise\n")
    return Answer([*values, os.getpid(), str(Path.cwd()), os.environ.get("KERNLEARN_X")])


def arrays():
    big = np.arange(600_000.0).reshape(1000, 600)
    return Answer(["a"], (big, big.T, np.array(["é", "b"]), np.zeros((0, 3), dtype=">i2")))


def pickled():
    return Answer(None, (np.array([{}]),))


def refuse():
    raise DataError("f: no such thing")


def end(how):
    os._exit(how) if how > 0 else os.kill(os.getpid(), -how)


def crash():
    ctypes.string_at(1)


def spin():
    apart._SECONDS = 0
    apart.allow_for(10)
    any(False for _ in repeat(1))


def sleep():
    time.sleep(60)


def take(n_bytes):
    try:
        return Answer(len(bytearray(n_bytes)))
    except MemoryError:
        return Answer("refused")


def limits():
    return Answer([resource.getrlimit(resource.RLIMIT_CORE)[0], os.getpid()])


def test_values_and_arrays_come_back(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNLEARN_X", "é")
    value, pid, folder, variable = call_apart(f"{HERE}:say", {"a": [1]}).value
    assert (value, folder, variable) == ({"a": [1]}, str(tmp_path), "é")
    monkeypatch.delenv("KERNLEARN_X")
    assert call_apart(f"{HERE}:say").value[2] is None
    assert pid not in (os.getpid(), call_apart(f"{HERE}:say").value[0])
    big, turned, texts, empty = call_apart(f"{HERE}:arrays").arrays
    np.testing.assert_array_equal(big, np.arange(600_000.0).reshape(1000, 600))
    np.testing.assert_array_equal(turned, big.T)
    assert texts.tolist() == ["é", "b"]
    assert (empty.shape, empty.dtype.str) == ((0, 3), ">i2")
    assert capfd.readouterr() == ("", "")


def test_errors_and_deaths_are_told_apart():
    with pytest.raises(DataError, match=r"^f: no such thing$"):
        call_apart(f"{HERE}:refuse")
    for how, said in ((3, "exit code 3"), (-signal.SIGKILL, "it was killed"), (-6, "signal 6")):
        with pytest.raises(Died, match=said):
            call_apart(f"{HERE}:end", how)
    with pytest.raises(Died, match=f"signal {int(signal.SIGSEGV)}"):
        call_apart(f"{HERE}:crash")
    with pytest.raises(Died, match="exit code 1"):
        call_apart(f"{HERE}:pickled")  # no pickles come back
    with pytest.raises(Died, match="no process could be started"):
        call_apart("no.such:module")
    assert call_apart(f"{HERE}:say", 1).value[0] == 1


def test_what_hangs_or_takes_too_much_memory_ends():
    with pytest.raises(Died, match="it did not come to an end"):
        call_apart(f"{HERE}:spin")
    assert call_apart(f"{HERE}:take", 1 << 28, memory=1 << 27).value == "refused"
    assert call_apart(f"{HERE}:take", 1 << 26, memory=1 << 27).value == 1 << 26
    assert call_apart(f"{HERE}:take", 1 << 28).value == 1 << 28
    assert call_apart(f"{HERE}:limits", memory=1 << 27).value[0] == 0  # no core is dumped


def test_what_was_ready_and_ended_is_started_again():
    first = call_apart(f"{HERE}:say")
    os.kill(apart._ready.process.pid, signal.SIGKILL)
    assert call_apart(f"{HERE}:say").value[0] != first.value[0]
    apart._ready.process.kill()
    apart._ready.process.wait()
    assert call_apart(f"{HERE}:say").value[0] != first.value[0]


def test_an_interruption_ends_the_call(monkeypatch):
    call_apart(f"{HERE}:say")
    ready = psutil.Process(apart._ready.process.pid)

    def interrupted(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupted)
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(KeyboardInterrupt):
            call_apart(f"{HERE}:sleep")
    finally:
        signal.signal(signal.SIGALRM, before)
    assert not ready.is_running()
    assert call_apart(f"{HERE}:say", 2).value[0] == 2


def test_a_copy_of_a_process_asks_for_itself():
    call_apart(f"{HERE}:say")
    mine = apart._ready
    child = os.fork()
    if not child:
        status = 1
        try:
            other = apart._ready is None and call_apart(f"{HERE}:say", 7).value[0] == 7
            status = 0 if other and apart._ready is not mine else 2
            apart._end()
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert apart._ready is mine
    assert call_apart(f"{HERE}:say", 8).value[0] == 8


def test_the_process_ends_with_the_one_that_asked():
    code = f"from kernlearn.datasets import apart; apart.call_apart('{HERE}:say'); "
    code += "print(apart._ready.process.pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as asking:
        ready = psutil.Process(int(asking.stdout.readline()))
        asking.kill()
        ready.wait(timeout=20)


def test_it_imports_little():
    code = "import sys, kernlearn.datasets.apart; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
