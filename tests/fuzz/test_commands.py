"""Hostile arguments: every command and option ends with a result, or with what is wrong in lines.

The commands and their options are found in the program, so that new ones are tried too.
"""

import contextlib
import os
import shutil
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import pytest
import typer
from hypothesis import event, given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from kernlearn.cli.app import app
from tests.command import Finished, command
from tests.fuzz.settings import EXAMPLES, fuzzing, limited

#: Seconds after which a command waits for something that does not come.
PATIENCE = 60
CONFIG = """\
title: Six trials
datasets:
  moons: {generator: two_moons, n_samples: 40, noise: 0.2}
  own: {file: tiny.csv}
methods:
  SVM: {estimator: LinearSVM, C: [1, 2]}
  guess: {estimator: DummyClassifier, baseline: true}
protocol: {splits: 1}
metrics: [accuracy]
table: {rows: [method, C]}
profiles:
  quick: {max_train: 20}
"""
ROWS = "a,b,c\n" + "".join(f"{i % 7},{i * i % 5},{'xy'[i % 3 == 0]}\n" for i in range(30))
CARD = """\
name: small
title: Small
task: classification
n_features: 2
source: {publisher: Nobody}
licence: none
citation: none
forms:
- files: [small.csv]
  rows: 30
  classes: {x: 20, y: 10}
  format: {kind: delimited, header: true, target: c}
"""

#: Arguments that suit a parameter of a name; others are drawn from all of these.
SUITABLE = {
    "configs": ["tiny.yaml"],
    "config": ["tiny.yaml"],
    "what": ["tiny.yaml"],
    "option": ["protocol.seed=1", "splits=1"],
    "profile": ["full", "quick"],
    "splits": ["1", "2"],
    "only": ["method=SVM", "dataset=moons,C=1"],
    "force": ["all", "SVM"],
    "jobs": ["1", "2"],
    "executor": ["in-process"],
    "timeout": ["20"],
    "memory": ["1GB"],
    "output": ["out"],
    "store": ["s.sqlite"],
    "summary": ["sums"],
    "against": ["sums"],
    "junit": ["j.xml"],
    "data": ["tiny.csv", "iris", "small.yaml"],
    "target": ["c", "0", "-1"],
    "task": ["classification", "regression"],
    "seed": ["0", "7"],
    "run_a": ["1", "s.sqlite"],
    "run_b": ["1", "s.sqlite"],
    "metric": ["accuracy"],
    "control": ["guess"],
    "margin": ["0.1"],
    "best_of": ["SVM"],
    "paths": ["s.sqlite", "other.sqlite", "new.sqlite"],
    "experiment": ["tiny"],
    "form": ["csv", "json"],
    "similarity": ["gaussian", "cosine", "strings"],
    "transfer": ["1", "sign"],
    "kernel": ["gaussian"],
    "max_points": ["20", "30"],
    "pairs": ["5"],
    "trials": ["3"],
    "buffer_size": ["2"],
    "buffer": ["fifo", "rs"],
    "positive": ["x"],
    "radius": ["1"],
    "eta": ["1"],
    "delta": ["0.1"],
    "epsilon": ["0.1"],
    "plot": ["p.svg"],
    "names": ["iris"],
    "name": ["iris", "mine"],
    "wanted_by": ["tiny.yaml"],
    "into": ["got"],
    "file": ["tiny.csv"],
    "folder": ["cards"],
    "title": ["T"],
    "separator": [","],
    "drop": ["a"],
    "grades": ["x,y"],
    "labels": ["tiny.csv"],
    "matrix": ["distance"],
    "points": ["a"],
    "kind": ["distance"],
    "data_dir": ["folder"],
    "max_memory": ["1GB"],
}
#: What is given too, so that a command has something to do, and is not at it for minutes.
BRIEF = {
    "forks": ["tiny.yaml"],
    "init": ["--config", "new.yaml"],
    "check": ["--against", "sums", "--profile", "full"],
    "regret": ["--buffer-size", "2", "--max-points", "20"],
}

TEXTS = [
    "",
    " ",
    "-",
    "--",
    "-x",
    "-1",
    "--x=",
    "--help",
    "a" * 300,
    "a" * 5000,
    "a/" * 2000,
    "\0",
    "a\0b.csv",
    "\udcff",
    "caf\udce9.csv",
    "~nobody",
    "~nobody/x.csv",
    "~",
    ".",
    "..",
    "a\nb",
    "[red]x[/red]",
    "[/]",
    "\x1b[2J",
    "<script>",
    "%s",
    "{0}",
    "$HOME",
    "*",
    "😀" * 80,
    "'",
    '"',
    "=1+1",
    "x=y=z",
    "a,b",
    ",",
    ",,",
    "=",
    "a=",
    "=a",
    "#1",
    "s.sqlite#1",
    "s.sqlite#99",
    "1#1",
    "#",
    "\ufeff",
    "\u202e",
    "\r",
    "http://localhost:1/x",
    "file:///proc/version",
    "null",
    "yes",
    "a:b",
    "!!x",
    "&a",
    "*a",
    "{",
    "[",
    "0x10",
    "1_000",
    "１",
    "²",
    "os.system",
    "numpy.load",
    "sklearn.svm.SVC",
    "editex",
    "dtw",
    "sigmoid",
    "hellinger",
    "precomputed",
    "oops",
    "tiny",
]
NUMBERS = [
    "-1",
    "0",
    "-0",
    "1",
    "2",
    "3.5",
    "1e3",
    "2147483648",
    "-9223372036854775809",
    "18446744073709551616",
    "1" + "0" * 30,
    "9" * 5000,
    "-" + "9" * 5000,
    "nan",
    "-nan",
    "inf",
    "-inf",
    "1e999",
    "1e-999",
    "0.0",
    "1e-300",
    "1e308",
    "٣",
    " 1",
    "1 ",
    "+1",
    "0.5",
    "1.0",
]
#: In the folder of each example; `special` makes those that are no files.
PLACES = [
    "folder",
    "folder.yaml",
    "folder.csv",
    "folder.sqlite",
    "pipe",
    "pipe.csv",
    "pipe.yaml",
    "pipe.sqlite",
    "pipe.parquet",
    "pipe.svg",
    "null.csv",
    "null.yaml",
    "zero.csv",
    "zero.yaml",
    "zero.svg",
    "zero.sqlite",
    "zero.npz",
    "zero.mat",
    "full.csv",
    "full.svg",
    "full.json",
    "full.yaml",
    "missing.csv",
    "missing/x.csv",
    "closed.csv",
    "closed.yaml",
    "closed/x",
    "loop.csv",
    "loop.yaml",
    "lost.csv",
    "lost.sqlite",
    "empty.csv",
    "empty.yaml",
    "empty.sqlite",
    "empty.parquet",
    "empty.xlsx",
    "socket.csv",
    "socket.yaml",
    "tiny.csv/x",
    "tiny.yaml/x",
    "/proc/version",
    "/proc/self/x",
    "/proc/x/y.csv",
    "tiny.csv",
    "s.sqlite",
    "tiny.yaml",
    "small.yaml",
    "small.csv",
    "bytes.csv",
    "bytes.npz",
    "bytes.zip",
    "bytes.yaml",
    "a.csv.gz",
    "x.svg",
    "x.png",
    "x.pdf",
    "x.json",
    "x.parquet",
    "x.tex",
    "x.md",
    "x.",
    ".x",
    "x.yaml/",
]
SETTINGS = [
    "splits=[",
    "protocol.seed=nan",
    "protocol.seed=" + "9" * 5000,
    "protocol: x",
    "metrics=[]",
    "metrics=&a [*a]",
    "metrics=&a [&b [*b, *a], *a]",
    "protocol.splits=1e9",
    "methods={}",
    "datasets.moons={generator: two_moons, n_samples: 99999999999}",
    "protocol.splits=.inf",
    "datasets.moons.n_samples=.inf",
    "datasets.moons.n_samples=-1",
    "datasets.moons.noise=.nan",
    "!!python/object/apply:os.system [id]",
    "title=!!python/name:os.system",
    "a..b=1",
    ".=1",
    "protocol.=1",
    "protocol.splits.x=1",
    'title="a\\0b"',
    'title="\\ud800"',
    "title=[red]",
    "methods.SVM.C=[1, 2, .nan]",
    "methods.SVM.C=1e400",
    "methods.SVM.C=-1",
    "methods.0=1",
    "plugins=[x.py]",
    "datasets.d={file: pipe.csv}",
    "datasets.d={file: zero.csv}",
    "datasets.d={file: folder}",
    "datasets.d={file: closed.csv}",
    'datasets.d={file: "a\\0.csv"}',
    "datasets.d={file: ~nobody}",
    'datasets={"x\\0": iris}',
    "datasets.d={name: ../../x}",
    "plugins=[pipe]",
    "plugins=[folder]",
    "title=" + "[" * 5000,
    "title=" + "a" * 5000,
    "methods.SVM.kernel=" + "{a: " * 500,
    "protocol.splits=1000000000",
    "protocol.train=0",
    "protocol.train=1e-300",
    "protocol.holdout=1",
    "protocol={}",
    "table={rows: [x]}",
    "table=1",
    "defaults=papers",
    "methods.SVM={estimator: os.system}",
    "methods.SVM={estimator: sklearn.svm.SVC}",
    "metrics=[accuracy, accuracy]",
    "datasets.moons=\x1b[2J",
    "splits=2020-01-01",
    "splits=yes",
    "kernels={k: {kernel: rbf, sigma: 0}}",
    "methods={m: {estimator: KernelSVM, kernel: rbf}}",
]


def commands(found: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """The commands of the program by their words, those in groups too."""
    for name, one in getattr(found, "commands", {}).items():
        if hasattr(one, "commands"):
            yield from commands(one, (*words, name))
        else:
            yield " ".join([*words, name]), one


COMMANDS = dict(commands(typer.main.get_command(app)))

hostile = st.sampled_from(TEXTS) | st.sampled_from(NUMBERS) | st.sampled_from(PLACES)


def argument_of(parameter: Any) -> st.SearchStrategy[str]:
    """Mostly what suits the parameter, or else what suits none."""
    suitable = st.sampled_from(SUITABLE.get(parameter.name, [*NUMBERS[:6], "tiny.csv"]))
    wrong = hostile | st.sampled_from(SETTINGS) if parameter.name == "option" else hostile
    return st.integers(0, 9).flatmap(lambda i: suitable if i < 8 else wrong)


@st.composite
def arguments(draw: Any, name: str) -> list[str]:
    """Draw the arguments and up to four options of a command, some of them twice."""
    parameters = COMMANDS[name].params
    positional, options = [], []
    for one in parameters:
        if one.param_type_name == "argument":
            few = 1 if one.nargs == 1 else 3
            drawn = draw(st.lists(argument_of(one), min_size=int(one.required), max_size=few))
            positional += drawn
        elif one.required:
            options.append(one)
    optional = [p for p in parameters if p.param_type_name == "option"]
    if optional:
        options += draw(st.lists(st.sampled_from(optional), max_size=5))
    words = []
    for one in options:
        word = draw(st.sampled_from([*one.opts, *one.secondary_opts]))
        if one.is_flag:
            words.append([word])
        else:
            value = draw(argument_of(one))
            words.append(draw(st.sampled_from([[word, value], [f"{word}={value}"]])))
    words = [*BRIEF.get(name, []), *chain.from_iterable(words)]
    if draw(st.integers(0, 19)) == 19:
        words.insert(draw(st.integers(0, len(words))), draw(hostile))
    before = draw(st.booleans())
    return [*positional, *words] if before else [*words, *positional]


def special(folder: Path) -> None:
    """Put files into a folder that are none: pipes, devices, sockets, links to nothing."""
    for suffix in ("", ".yaml", ".csv", ".sqlite"):
        (folder / f"folder{suffix}").mkdir()
    for suffix in ("", ".yaml", ".csv", ".sqlite", ".parquet", ".svg"):
        os.mkfifo(folder / f"pipe{suffix}")
    for name in PLACES:
        stem = name.partition(".")[0]
        if stem in ("null", "zero", "full"):
            (folder / name).symlink_to(f"/dev/{stem}")
    for name in ("loop.csv", "loop.yaml"):
        (folder / name).symlink_to(name)
    for name in ("lost.csv", "lost.sqlite"):
        (folder / name).symlink_to("nowhere")
    for name in ("socket.csv", "socket.yaml"):
        os.mknod(folder / name, stat.S_IFSOCK | 0o600)
    (folder / "closed").mkdir(mode=0)
    for name in ("closed.csv", "closed.yaml"):
        (folder / name).write_text(ROWS if name.endswith("csv") else CONFIG)
        (folder / name).chmod(0)


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A folder with a config, data, a card, a store with results, and files that are damaged."""
    folder = tmp_path_factory.mktemp("template")
    for name, text in {"tiny.yaml": CONFIG, "tiny.csv": ROWS, "small.yaml": CARD}.items():
        (folder / name).write_text(text)
    (folder / "small.csv").write_text(ROWS)
    for suffix in ("csv", "yaml", "sqlite", "parquet", "xlsx"):
        (folder / f"empty.{suffix}").touch()
    for suffix in ("csv", "npz", "zip", "yaml"):
        (folder / f"bytes.{suffix}").write_bytes(b"PK\x03\x04" + bytes(range(256)) * 9)
    for more in (["--option", "protocol.seed=1"], ["--summary", "sums"]):
        out = command(folder, "run", "tiny.yaml", *more)
        assert out.returncode == 0, out.stderr
    # the chart engine takes gigabytes of addresses at first, which `limited` refuses
    out = command(folder, "regret", "tiny.csv", *BRIEF["regret"], "--plot", "p.svg")
    assert out.returncode == 0, out.stderr
    (folder / "p.svg").unlink()
    shutil.copy(folder / "results" / "runs" / "store.sqlite", folder / "s.sqlite")
    shutil.copy(folder / "s.sqlite", folder / "other.sqlite")
    shutil.rmtree(folder / "cache")
    return folder


#: Where something was opened to be written, made, renamed or removed while this is a list.
_written: list[str] | None = None
_CHANGES = {
    "os.mkdir": [0],
    "os.rename": [0, 1],
    "os.remove": [0],
    "os.rmdir": [0],
    "os.link": [1],
    "os.symlink": [1],
    "os.truncate": [0],
    "os.chmod": [0],
}


def _noted(event: str, values: tuple[Any, ...]) -> None:
    if _written is None or event not in (*_CHANGES, "open"):
        return
    if event == "open":
        flags = values[2] or 0
        places = [0] if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT) else []
    else:
        places = _CHANGES[event]
    for place in places:
        if isinstance(values[place], str | bytes | os.PathLike):
            _written.append(os.fsdecode(os.fspath(values[place])))


@cache
def _listen() -> None:
    sys.addaudithook(_noted)  # which cannot be taken away


@contextlib.contextmanager
def alone(base: Path) -> Iterator[None]:
    """Reach nothing outside of this machine, change no file outside of a folder, end in time."""
    global _written
    _listen()
    connect = socket.socket.connect

    def local(self: Any, address: Any) -> Any:
        if isinstance(address, tuple) and not str(address[0]).startswith("127."):
            raise ConnectionRefusedError(f"{address[0]} is elsewhere")
        return connect(self, address)

    def waits(*_: object) -> None:
        raise AssertionError(f"still waiting after {PATIENCE} s")

    _written = []
    handler = signal.signal(signal.SIGALRM, waits)
    signal.alarm(PATIENCE)
    try:
        with (
            mock.patch.object(socket.socket, "connect", local),
            mock.patch.object(socket, "getaddrinfo", side_effect=socket.gaierror("no network")),
            mock.patch("pooch.core.time", SimpleNamespace(sleep=lambda seconds: None)),
            mock.patch.object(tempfile, "tempdir", str(base / "temporary")),
        ):
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        changed, _written = _written, None
    inside = base / "inside"
    paths = {os.path.normpath(inside / one) for one in changed}
    outside = {p for p in paths if not Path(p).is_relative_to(base) and "__pycache__" not in p}
    assert not {p for p in outside if not p.startswith(("/dev/", "/proc/"))}


def ended(base: Path, words: list[str]) -> Finished:
    with alone(base), limited():
        return command(base / "inside", *words, HOME=str(base / "home"))


def check(base: Path, template: Path, words: list[str]) -> Finished:
    """Run a command in a new copy of the folder, and look at how it ended and what it left."""
    folder = base / "inside"
    shutil.rmtree(base, ignore_errors=True)
    base.mkdir()
    (base / "temporary").mkdir()
    shutil.copytree(template, folder)
    special(folder)
    devices = {name: (folder / name).readlink() for name in PLACES if name[:4] in _DEVICES}
    out = ended(base, words)
    if "still computing" in out.stderr:  # what is compiled at first takes seconds
        out = ended(base, words)
    said = f"{words}: {out.returncode}: {out.stderr[-3000:]}"
    assert "Traceback" not in out.stderr, said
    assert out.returncode in (0, 1, 2), said
    (out.stdout + out.stderr).encode()  # what no output can show has been written out
    if out.returncode == 2:
        # the program says how it is used and one line, or its own lines
        lines = out.stderr.splitlines()
        errors = [line for line in lines if line.startswith(("Error: ", "kernlearn: "))]
        assert errors, said
        assert len(lines) < 200, said  # one for each data set of the catalogue
    for name, target in devices.items():
        assert (folder / name).is_symlink(), f"{words}: replaced {name}"
        assert (folder / name).readlink() == target
    for suffix in ("", ".csv", ".yaml", ".sqlite", ".parquet", ".svg"):
        assert (folder / f"pipe{suffix}").is_fifo(), f"{words}: replaced pipe{suffix}"
    return out


_DEVICES = ("null", "zero", "full")


@pytest.mark.skipif(sys.platform != "linux", reason="needs the devices and pipes of Linux")
@pytest.mark.parametrize("name", COMMANDS)
@settings_of(fuzzing, max_examples=max(2, EXAMPLES // 20))
@given(data=st.data())
def test_hostile_arguments(tmp_path, template, name, data):
    words = data.draw(arguments(name))
    out = check(tmp_path / "base", template, [*name.split(), *words])
    event(f"exit code {out.returncode}")


LONG = "9" * 5000
#: Faults that were found so.
CASES = [
    f"compare {LONG} 1",
    f"compare s.sqlite#{LONG} 1",
    "rademacher iris --target c",
    "init tiny.csv --config new.yaml --target=--1",
    f"init tiny.csv --config new.yaml --target {LONG}",
    f"datasets add tiny.csv --name mine --drop {LONG}",
    f"goodness tiny.csv --target {LONG}",
    "init tiny.csv --force --config null.yaml",
    "export --output full.csv",
    "export --output pipe.parquet",
    "export --output folder.csv",
    "compare 1 2 --all --output pipe.csv",
    "regret tiny.csv --buffer-size 2 --plot pipe.svg",
    "check tiny.yaml --against sums --profile full --junit pipe",
]


@pytest.mark.parametrize("words", CASES, ids=lambda words: words.replace(LONG, "99"))
def test_commands_that_did_harm(tmp_path, template, words):
    assert check(tmp_path / "base", template, words.split()).returncode == 2


def test_an_export_to_a_link_writes_where_it_leads(tmp_path):
    (tmp_path / "tiny.csv").write_text(ROWS)
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    (tmp_path / "here.csv").symlink_to("there.csv")
    assert command(tmp_path, "run", "tiny.yaml", "--no-report").returncode == 0
    assert command(tmp_path, "export", "--output", "here.csv").returncode == 0
    assert (tmp_path / "here.csv").is_symlink()
    assert (tmp_path / "there.csv").read_text().startswith("experiment,")
