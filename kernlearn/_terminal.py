"""The console that every command prints to."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

#: Width of what is no terminal.
UNBOUNDED = 10_000


def say(console: "Console", text: str) -> None:
    """Print a text as it is: nothing in it is markup, and no line is broken."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def make_console() -> "Console":
    """Return a console; a pipe has no width of its own: there lines take what they need."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=UNBOUNDED)
