"""The terms of the glossary that a page uses, and its methods in words."""

import inspect
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

from kernlearn.config.model import ExperimentConfig
from kernlearn.datasets.resources import shipped

# A row of a table: names, separated by commas, and the meaning.
_ROW = re.compile(r"^\| (?P<names>[^|]+) \| (?P<meaning>[^|]+) \|$", re.MULTILINE)
_MARKS = re.compile(r"[*`]")


@dataclass(frozen=True)
class Term:
    """An entry of the glossary: its names, as written and one by one, and its meaning."""

    title: str
    names: tuple[str, ...]
    meaning: str


@dataclass(frozen=True)
class Described:
    """A method: its name, what it is in words, its estimators, and their parameters."""

    name: str
    words: str
    estimator: str
    parameters: str
    baseline: bool


@cache
def glossary() -> tuple[Term, ...]:
    """Return the entries of ``docs/glossary.md``; none where an installation lacks it."""
    try:
        text = (shipped("glossary") / "glossary.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        return ()
    rows = [(row["names"], row["meaning"]) for row in _ROW.finditer(text)]
    return tuple(
        Term(names, tuple(names.split(", ")), _MARKS.sub("", meaning))
        for names, meaning in rows
        if names not in ("term", "---")
    )


def terms(names: Iterable[str]) -> list[Term]:
    """Return the entries that have one of the names, in the order of the glossary."""
    wanted = {name.lower() for name in names}
    return [term for term in glossary() if wanted & {name.lower() for name in term.names}]


def names_in(label: str) -> set[str]:
    """Return what may be names of the glossary in the label of a method, such as FTUNE+D-S."""
    parts = re.split(r"[+\s,()]+", label)
    added = {f"+{part.partition('-')[0]}" for part in parts[1:]} if "+" in label else set()
    return {label, *parts, *added}


def methods(config: ExperimentConfig) -> list[Described]:
    """Describe the methods of a config: what its estimator is, and what is set on it."""
    found = []
    for label, method in config.methods.items():
        steps = [name for _, name in method.labelled_steps]
        known = [config.scope.estimators.get(name) for name in steps]
        words = ", then ".join(one.summary or _first_line(one.target) for one in known if one)
        given = "; ".join(f"{k} {v}" for k, v in method.parameters.items())
        found.append(Described(label, words, ", ".join(steps), given, method.baseline))
    return found


def _first_line(target: Any) -> str:
    """Return the first line of the docstring of a class; one that is not loaded stays so."""
    return "" if isinstance(target, str) else (inspect.getdoc(target) or "").partition("\n")[0]
