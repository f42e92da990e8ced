import threading

from kernlearn.solvers.nodes import PrintHook


class Library:
    """Stands for a C library with one print hook a process."""

    def __init__(self):
        self.hook = None

    def install(self, hook):
        self.hook = hook

    def say(self, text):
        assert self.hook, "would go to the terminal"
        self.hook(text)


def test_collects_and_gives_the_default_back():
    library = Library()
    hook = PrintHook(library.install)
    with hook.capture() as heard:
        library.say(b"one ")
        library.say(b"two")
    assert "".join(heard) == "one two"
    assert not library.hook  # a null pointer


def test_gives_the_default_back_after_an_error():
    library = Library()
    try:
        with PrintHook(library.install).capture():
            raise ZeroDivisionError
    except ZeroDivisionError:
        pass
    assert not library.hook


def test_each_thread_hears_itself_and_the_first_to_leave_keeps_the_rest_silent():
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
    assert not library.hook


def test_text_of_a_thread_that_does_not_listen_is_dropped():
    library = Library()
    hook = PrintHook(library.install)
    with hook.capture() as heard:
        thread = threading.Thread(target=library.say, args=(b"stranger",))
        thread.start()
        thread.join(10)
    assert heard == []
