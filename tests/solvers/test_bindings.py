"""The official bindings are loaded once and late, and what their libraries print is heard."""

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from kernlearn.solvers import libsvm
from kernlearn.solvers.bindings import PrintHook, official_binding


def test_a_binding_that_is_not_there():
    assert official_binding("no_such_binding", "library", "print") is None


def test_threads_share_one_binding():
    with ThreadPoolExecutor(4) as threads:
        found = {id(one.result()) for one in [threads.submit(libsvm.official) for _ in range(8)]}
    assert len(found) == 1
    assert libsvm.official().hook is libsvm.official().hook


@pytest.mark.parametrize("module", ["libsvm", "liblinear"])
def test_estimators_are_imported_without_bindings(module):
    code = "import sys; from kernlearn.landmarks import *; from kernlearn.solvers import *; "
    code += f"sys.exit(any(name in sys.modules for name in ('{module}', 'numba')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class Library:
    """A fake C library with one print hook per process."""

    def __init__(self):
        self.hook = None

    def install(self, hook):
        self.hook = hook

    def say(self, text):
        assert self.hook, "would go to the terminal"
        self.hook(text)


def test_collects_what_is_printed_inside_and_prints_the_rest(capsys):
    library = Library()
    hook = PrintHook(library.install)
    with hook.capture() as heard:
        library.say(b"one ")
        library.say(b"two")
    assert "".join(heard) == "one two"
    assert capsys.readouterr().out == ""
    library.say(b"three")
    assert "".join(heard) == "one two"
    assert capsys.readouterr().out == "three"


def test_collects_no_longer_after_an_error(capsys):
    library = Library()
    try:
        with PrintHook(library.install).capture() as heard:
            raise ZeroDivisionError
    except ZeroDivisionError:
        library.say(b"later")
    assert heard == []
    assert capsys.readouterr().out == "later"


def test_each_thread_hears_itself_and_the_first_to_leave_keeps_the_rest_silent(capsys):
    library = Library()
    hook = PrintHook(library.install)
    inside, outside = threading.Event(), threading.Event()
    heard_there = []

    def other():
        with hook.capture() as heard:
            inside.set()
            outside.wait(10)
            library.say(b"there")
        heard_there.extend(heard)

    thread = threading.Thread(target=other)
    with hook.capture() as heard_here:
        thread.start()
        inside.wait(10)
        library.say(b"here")
    outside.set()
    thread.join(10)
    assert heard_here == ["here"]
    assert heard_there == ["there"]
    assert capsys.readouterr().out == ""


def test_text_of_a_thread_that_does_not_listen_is_printed(capsys):
    library = Library()
    hook = PrintHook(library.install)
    with hook.capture() as heard:
        thread = threading.Thread(target=library.say, args=(b"stranger",))
        thread.start()
        thread.join(10)
    assert heard == []
    assert capsys.readouterr().out == "stranger"
