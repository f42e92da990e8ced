"""What the templates of pages ask for: commands, keys, names and results, from the code itself.

The pages of reference/ and experiments.rst are templates of Jinja.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from numpydoc.docscrape import ClassDoc
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema
from typer.cli import get_docs_for_click
from typer.main import get_command

from kernlearn import config, datasets
from kernlearn.cli.app import app
from kernlearn.config import names
from kernlearn.kernels import registry
from kernlearn.reports import answers
from kernlearn.reports.page import Group, grouped, write_site
from kernlearn.reports.report import read_reports

ROOT = Path(__file__).parents[1]
#: What Sphinx copies as it is.
EXTRA = ROOT / "build" / "docs-extra"
_WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
}


class _Described(GenerateJsonSchema):
    """A schema that also describes keys by the parameters of docstrings."""

    def model_schema(self, schema: Any) -> dict[str, Any]:
        made = super().model_schema(schema)
        texts = {"kind": ["The name of the format."]}
        for base in reversed(schema["cls"].__mro__):
            if base.__module__.startswith("kernlearn"):
                params = ClassDoc(base)["Parameters"]
                texts |= {name: p.desc for p in params for name in p.name.split(", ")}
        for name, key in made.get("properties", {}).items():
            key.setdefault("description", " ".join(texts.get(name, ())))
        return made


def parts(model: type[BaseModel]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the mappings of a file that a model checks, by their places, the outermost first.

    Names of the user's are NAME in a place; an entry of a list is ``[]``.
    """
    schema = model.model_json_schema(schema_generator=_Described)

    def within(part: dict[str, Any], place: str) -> Iterator[tuple[str, dict[str, Any]]]:
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
            if kind := part["properties"].get("kind"):
                place += f"({' or '.join(kind.get('enum') or [kind['const']])})"
        if "properties" in part:
            yield place, part
        for name, key in part.get("properties", {}).items():
            yield from within(key, f"{place}.{name}".lstrip("."))
        for option in part.get("anyOf", part.get("oneOf", ())):
            yield from within(option, place)
        if "items" in part:
            yield from within(part["items"], f"{place}[]")
        if isinstance(part.get("additionalProperties"), dict):
            yield from within(part["additionalProperties"], f"{place}.NAME")

    return within(schema, "")


def words(key: dict[str, Any]) -> str:
    """Say what values a part of a schema allows."""
    if options := key.get("anyOf", key.get("oneOf")):
        said = [words(one) for one in options if one != {"type": "null"}]
        return " or ".join(dict.fromkeys(said))
    if "$ref" in key or "properties" in key:
        return "mapping"
    if values := key.get("enum", [key["const"]] if "const" in key else []):
        return " or ".join(f"`{json.dumps(v) if v is True else v}`" for v in values)
    if key.get("type") == "array":
        return f"list of {_several(key.get('items') or key['prefixItems'][0])}"
    if key.get("type") == "object":
        of_names = key.get("additionalProperties") or {}
        inner = next(iter(key.get("patternProperties", {}).values()), of_names)
        return f"mapping of names to {_several({} if inner is True else inner)}"
    return _WORDS.get(key.get("type", ""), "any value")


def _several(key: dict[str, Any]) -> str:
    return re.sub(r"\b(?<!`)(?:any )?(text|number|mapping|value)\b", r"\1s", words(key))


def default_of(key: dict[str, Any]) -> str:
    """Return the default of a key as YAML in quotes, if it says something."""
    value = key.get("default")
    if value in (None, "", []) or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        value = ", ".join(map(str, value))
    return json.dumps(value if isinstance(value, str) else json.dumps(value))


def commands() -> str:
    """Return all commands and their options in Markdown."""
    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=typer.Context(command), name="kernlearn")
    text = re.sub(r"Examples:\n((?:  .*\n)+)", r"```console\n\1```\n", text)
    text = text.replace("\n  kernlearn ", "\n$ kernlearn ")
    return text.replace("# `kernlearn`\n", "# Commands\n", 1)


def experiments() -> list[Group]:
    """Write the site of all experiments, which Sphinx copies; return them by chapter."""
    reports, skipped = read_reports(ROOT / "results" / "measured")
    write_site(reports, EXTRA / "experiments", skipped=skipped)
    return grouped(reports)


def escaped(text: str) -> str:
    """Return a text for Markdown: roles without their names, and no mark-up but code."""
    text = re.sub(r":(?:\w+):`~?\.?([^`<]+)`", r"`\1`", " ".join(text.split()))
    pieces = re.split(r"(`+[^`]+`+)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([*<\[\]$|])", r"\\\1", p) for p in pieces)


def sentence(text: str) -> str:
    """Return a description for Markdown as a sentence."""
    text = escaped(text)
    return f"{text[0].upper()}{text[1:]}{'' if text.endswith('.') else '.'}" if text else ""


def tasks(of_metric: tuple[str, ...]) -> str:
    """Return the tasks of a metric, those that predict in short."""
    is_general = {*of_metric}.issuperset(names.SUPERVISED)
    rest = [f"`{one}`" for one in of_metric if not (is_general and one in names.SUPERVISED)]
    return ", ".join(["all that predict"] * is_general + rest)


PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "_templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
PAGES.filters |= {one.__name__: one for one in (default_of, escaped, sentence, tasks, words)}
PAGES.globals |= {
    "commands": commands,
    "config": config,
    "datasets": datasets,
    "experiments": experiments,
    "names": names,
    "parts": parts,
    "registry": registry,
    "answers": answers,
}
