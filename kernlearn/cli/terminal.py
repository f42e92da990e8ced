"""Output to places that cannot show all characters, or cannot be written."""

import codecs
import errno
import io
import os
import sys
import unicodedata
from contextlib import suppress
from typing import Any

import typer

from kernlearn.datasets.escaping import VisibleStream, unfiltered, visible_output

_HANDLER = "kernlearn-plain"
#: What is written for characters that an output's encoding lacks and that have no decomposition.
_PLAIN = {
    **dict.fromkeys("–—−‑‐─━", "-"),
    **dict.fromkeys("│┃▏", "|"),
    **dict.fromkeys("‘’′", "'"),
    **dict.fromkeys("“”″", '"'),
    **dict(zip("▁▂▃▄▅▆▇█", "12345678", strict=True)),
    "×": "x",
    "·": ".",
    "•": "*",
    "…": "...",
    "±": "+-",
    "≤": "<=",
    "≥": ">=",
    "≈": "~",
    "≠": "!=",
    "→": "->",
    "←": "<-",
    "√": "sqrt",
    "∞": "inf",
    "∈": "in",
    "∑": "sum",
    "Σ": "sum",
    "✓": "ok",
    "✗": "x",
    "▲": "^",
    "▼": "v",
    "△": "^",
    "▽": "v",
    "‖": "||",
    "⟨": "<",
    "⟩": ">",
    "⁄": "/",
    "°": "deg",
    "ß": "ss",
    "ø": "o",
    "Ø": "O",
    "æ": "ae",
    "œ": "oe",
    "ł": "l",
    "Ł": "L",
}


class _AsciiText(io.TextIOWrapper):
    """Text in ASCII; click would write UTF-8 to an output that calls itself so."""

    encoding = "iso-8859-1"


def plain(text: str) -> str:
    """Return a text in ASCII: symbols by words or signs, letters without accents.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        What has no such form is a question mark.
    """
    return "".join(map(_plain_character, text))


def _plain_character(character: str) -> str:
    if character.isascii():
        return character
    if character in _PLAIN:
        return _PLAIN[character]
    parts = unicodedata.normalize("NFKD", character)
    found = "".join(part if part.isascii() else _PLAIN.get(part, "") for part in parts)
    if found:
        return found
    name = unicodedata.name(character, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        return name.split(" LETTER ")[1].split()[0].lower()
    return "?"


def _replace(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end


def _is_terminal(stream: Any) -> bool:
    return stream is not None and stream.isatty()


def write_data(text: str) -> None:
    """Write the data of an export to the standard output: as it is, but on a terminal."""
    stream = sys.stdout
    typer.echo(
        text, nl=False, file=stream if _is_terminal(stream) else unfiltered(stream), color=True
    )


def write_heading(text: str) -> None:
    """Write a line in bold letters, where there are any."""
    stream, shown = unfiltered(sys.stdout), visible_output(text)
    typer.echo(typer.style(shown, bold=True) if _is_terminal(stream) else shown, file=stream)


def prepare_output() -> None:
    """Let the standard output and error write all that a text has.

    What their encodings lack is written in ASCII. Control characters, which may come with the
    names in a store, a card or a config, are written out.
    """
    codecs.register_error(_HANDLER, _replace)
    for name in ("stdout", "stderr"):
        _prepare(name)
        stream = getattr(sys, name)
        if stream is not None and not isinstance(stream, VisibleStream):
            setattr(sys, name, VisibleStream(stream))


def _prepare(name: str) -> None:
    """Replace the errors of the encoding of a stream."""
    stream = getattr(sys, name)
    if not isinstance(stream, io.TextIOWrapper) or stream.errors == _HANDLER:
        return
    if codecs.lookup(stream.encoding).name == "ascii":
        buffered = stream.line_buffering, stream.write_through
        setattr(sys, name, _AsciiText(stream.detach(), "ascii", _HANDLER, None, *buffered))
    else:
        stream.reconfigure(errors=_HANDLER)


def flush_output() -> None:
    """Write what is left, so that an error of it is seen.

    Raises
    ------
    OSError
        If the standard output cannot be written.
    """
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()


def said(error: OSError) -> str:
    """Return a message for what the system refused, with the file if it is known.

    The standard output is given up if it was that: the interpreter would write what is left.
    """
    if error.filename is not None:
        return f"{error.filename}: {error.strerror or error}"
    if error.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT):
        with suppress(OSError, AttributeError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return f"the output cannot be written: {error.strerror}"
    return str(error.strerror or error)
