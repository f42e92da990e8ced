"""Reference pages that are made of the application itself, so that none can be out of date.

Commands and options are those of the ``kernlearn`` command, keys those of the models of configs
and cards, names those of the registry. Each is a function that returns the page in Markdown.
"""

import inspect
import re
import typing
from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple

from click import Context
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typer.cli import get_docs_for_click
from typer.main import get_command

from kernlearn.cli.app import app
from kernlearn.config.names import BUILT_IN, ESTIMATORS, METRICS, SCORERS, SUPERVISED, TASKS
from kernlearn.datasets import catalogue, generators
from kernlearn.datasets.card import Card
from kernlearn.kernels.registry import KERNELS, LIBRARIES

# Of the models of formats, which each have one.
_KIND = "The name of the format."


class Key(NamedTuple):
    """A key of a YAML file."""

    name: str
    type: str
    default: str
    description: str
    required: bool


class Part(NamedTuple):
    """A mapping within a YAML file, and its keys."""

    name: str
    about: str
    keys: list[Key]


def described(model: type[BaseModel]) -> dict[str, str]:
    """Return what the docstrings of a model and its bases say of each name."""
    found: dict[str, str] = {}
    for base in model.__mro__:
        if not (issubclass(base, BaseModel) and base.__doc__):
            continue
        text = inspect.cleandoc(base.__doc__)
        for names, lines in re.findall(r"^(\w[\w, ]*)(?: : .*)?\n((?:    .*\n?)+)", text, re.M):
            for name in names.split(", "):
                found.setdefault(name, " ".join(lines.split()))
    return found


def parts(model: type[BaseModel], name: str = "") -> list[Part]:
    """Return the mappings of a file that a model checks, the outermost first.

    Names of the user's are NAME in a key; an entry of a list is ``[]``.
    """
    about = inspect.cleandoc(model.__doc__ or "").partition("\n\n")[0]
    texts, keys, inner = {"kind": _KIND, **described(model)}, [], []
    for key, field in model.model_fields.items():
        place = f"{name}.{key}" if name else key
        text = " ".join((field.description or texts.get(key, "")).split())
        kind, needed = type_text(field.annotation), field.is_required()
        keys.append(Key(place, kind, _default(field), text, needed))
        for one, end in _models(field.annotation):
            inner += parts(one, place + end)
    return [Part(name, about, keys), *inner]


def _models(annotation: Any, end: str = "") -> Iterator[tuple[type[BaseModel], str]]:
    """Yield the models within a type, and how a key goes on to them."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        kind = annotation.model_fields.get("kind")
        names = " or ".join(typing.get_args(kind.annotation)) if kind else ""
        yield annotation, f"{end}({names})" if kind else end
        return
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is dict:
        yield from _models(inside[1], f"{end}.NAME")
    elif origin in (list, tuple):
        yield from _models(inside[0], f"{end}[]")
    elif origin is typing.Annotated:
        yield from _models(inside[0], end)
    elif origin in (typing.Union, UnionType):
        for one in inside:
            yield from _models(one, end)


def type_text(annotation: Any) -> str:
    """Say in words what values a type allows."""
    origin, inside = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_text(inside[0])
    if origin is Literal:
        return " or ".join(f"`{str(v).lower() if v is True else v}`" for v in inside)
    if origin in (typing.Union, UnionType):
        words = [type_text(one) for one in inside if one is not NoneType]
        return " or ".join(dict.fromkeys(words))
    if origin is dict:
        return f"mapping of names to {_plural(type_text(inside[1]))}"
    if origin in (list, tuple):
        return f"list of {_plural(type_text(inside[0]))}"
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        return "mapping"
    words = {str: "text", bool: "`true` or `false`", int: "whole number", float: "number"}
    return words.get(annotation, "number" if inspect.isclass(annotation) else "any value")


def _plural(words: str) -> str:
    plurals = {"text": "texts", "number": "numbers", "any value": "values", "mapping": "mappings"}
    return plurals.get(words, words.replace("whole number", "whole numbers"))


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return ""
    value = field.get_default(call_default_factory=True)
    if value is None or value in ("", [], {}, ()) or isinstance(value, BaseModel):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def escaped(text: str) -> str:
    """Return a text for Markdown: roles without their names, and no mark-up but code."""
    text = re.sub(r":(?:\w+):`~?\.?([^`<]+)`", r"`\1`", text)
    pieces = re.split(r"(`+[^`]+`+)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<\[\]$|])", r"\\\1", p) for p in pieces)


def sentence(text: str) -> str:
    """Return a description for Markdown as a sentence."""
    text = escaped(text)
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def _directive(name: str, argument: str, *lines: str) -> list[str]:
    return [f"```{{{name}}} {argument}", *lines, "```", ""]


def commands_page() -> str:
    """Return the page of all commands and their options."""
    command = get_command(app)
    context = Context(command, info_name="kernlearn")
    text = get_docs_for_click(obj=command, ctx=context, name="kernlearn")

    def console(match: re.Match[str]) -> str:
        typed = [f"$ {line.strip()}" for line in match[1].splitlines()]
        return "\n".join(["```console", *typed, "```", ""])

    text = re.sub(r"Examples:\n((?:  .*\n)+)", console, text)
    return text.replace("# `kernlearn`\n", "# Commands\n", 1)


def _keys_page(title: str, about: str, model: type[BaseModel]) -> str:
    lines = [f"# {title}", "", about, ""]
    for part in parts(model):
        lines += [f"## `{part.name}`" if part.name else "## The whole file", ""]
        lines += [escaped(part.about), ""]
        for key in part.keys:
            facts = [f":type: {key.type}"]
            if key.default:  # in quotes: it is YAML, and may be a quote
                facts.append(":default: '" + key.default.replace("'", "''") + "'")
            needed = " Required." if key.required else ""
            text = sentence(key.description)
            lines += _directive("confval", key.name, *facts, "", f"{text}{needed}")
    return "\n".join(lines)


def card_page() -> str:
    """Return the page of all keys of cards."""
    about = (
        "Every key of the card of a data set, the YAML file that `kernlearn datasets add` writes; "
        "[data of your own](../data.md) explains what is done with them. What stands in brackets "
        "is the `kind` of the format."
    )
    return _keys_page("Keys of cards", about, Card)


def _table(heads: list[str], rows: list[list[str]]) -> list[str]:
    rules = ["---"] * len(heads)
    return [f"| {' | '.join(row)} |" for row in (heads, rules, *rows)] + [""]


def metrics_page() -> str:
    """Return the page of tasks and metrics."""
    better = {1: "more", -1: "less", 0: ""}
    tasks = [[f"`{name}`", escaped(task.title)] for name, task in TASKS.items()]
    metrics, scorers = [], []
    for name, one in METRICS.items():
        where = set(one.tasks)
        words = ["all that predict"] if where.issuperset(SUPERVISED) else []
        words += [f"`{task}`" for task in one.tasks if not (words and task in SUPERVISED)]
        facts = (
            escaped(BUILT_IN.label(name)),
            better[one.better],
            ", ".join(words),
            escaped(one.title),
        )
        metrics.append([f"`{name}`", *facts])
    for name, one in SCORERS.items():
        if name not in METRICS:
            words = [f"`{task}`" for task in one.tasks]
            scorers.append([f"`{name}`", better[one.better], f"`{one.scorer}`", ", ".join(words)])
    lines = ["# Tasks and metrics", "", "## Tasks", ""]
    lines += [*_table(["`task`", "what is measured"], tasks), "## Metrics", ""]
    lines += [
        "Those that kernlearn measures itself, for the tasks named. "
        "[Configs](../configs.md#metrics) says how they are named, and which are measured only "
        "where a config does so.",
        "",
    ]
    lines += _table(["metric", "in tables", "better", "tasks", "meaning"], metrics)
    lines += ["## Scorers of scikit-learn", ""]
    lines += [
        "Measured where a config names them. An error that is named plainly is the negative of "
        "scikit-learn's scorer. scikit-learn's user guide defines them.",
        "",
    ]
    lines += _table(["metric", "better", "scorer", "tasks"], scorers)
    return "\n".join(lines)


def names_page() -> str:
    """Return the page of the names that configs can use, besides metrics."""
    lines = ["# Names in configs", "", "What `kernlearn list` lists, without plug-ins.", ""]
    sections = {
        "Estimators": {name: one.title for name, one in ESTIMATORS.items()},
        "Kernels and similarities": {name: one.title for name, one in KERNELS.items()},
        "Similarities of libraries": {
            f"{name}.*": f"{', '.join(sorted(one.kinds))} of {one.points}"
            for name, one in sorted(LIBRARIES.items())
        },
        "Generators": {name: one.title for name, one in sorted(generators().items())},
    }
    for title, entries in sections.items():
        rows = [[f"`{name}`", escaped(text)] for name, text in entries.items()]
        lines += [f"## {title}", "", *_table(["name", ""], rows)]
    rows = []
    for name, card in catalogue().items():
        publisher, page = escaped(card.source.publisher), card.source.page
        n_rows = f"{card.rows:,}" if card.rows else "?"
        size = f"{n_rows} × {card.n_features:,}"
        where = f"[{publisher}]({page})" if page else publisher
        rows.append([f"`{name}`", escaped(card.title), size, where])
    lines += ["## Data sets", "", *_table(["name", "", "size", "publisher"], rows)]
    return "\n".join(lines)


#: The pages by name, with what they are made of.
PAGES = {
    "commands": commands_page,
    "card": card_page,
    "metrics": metrics_page,
    "names": names_page,
}
