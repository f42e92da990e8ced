"""What the model of a config finds wrong, put into words."""

from collections.abc import Sequence
from typing import Any

from kernlearn.experiments._yaml import KeyPath, shortened
from kernlearn.experiments.components import suggestion
from kernlearn.experiments.config import ExperimentConfig

_PLAIN = {
    "missing": "is missing",
    "dict_type": "must be a mapping of keys to values",
    "model_type": "must be a mapping of keys to values",
    "list_type": "must be a list",
    "string_type": "must be text",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
}


def explain(error: Any, raw: Any) -> tuple[KeyPath, str]:
    """Turn one pydantic error into a path and a sentence."""
    path = _real_path(error["loc"], raw)
    kind, given = error["type"], error.get("input")
    if kind == "extra_forbidden":
        return path, "unknown key" + suggestion(str(path[-1]), _allowed_keys(error["loc"][:-1]))
    if kind == "literal_error":
        # pydantic writes the alternatives as "'a', 'b' or 'c'"
        expected = error["ctx"]["expected"].replace(" or ", ", ").split(", ")
        return path, f"{shortened(given)} is not allowed" + suggestion(
            str(given), [e.strip("'") for e in expected]
        )
    text = _PLAIN.get(kind) or error["msg"].removeprefix("Value error, ")
    text = text[0].lower() + text[1:]
    if kind == "missing" or isinstance(given, (dict, list)):
        return path, text
    return path, f"{text}, not {shortened(given)}"


def _real_path(loc: Sequence[str | int], raw: Any) -> KeyPath:
    """Drop what pydantic adds to a location (the branch of a union) from the path."""
    path: list[str | int] = []
    here = raw
    for i, step in enumerate(loc):
        last = i == len(loc) - 1
        if isinstance(here, dict) and (step in here or last):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
        elif not (last and here is None):
            continue
        path.append(step)
    return tuple(path)


def _allowed_keys(loc: Sequence[str | int]) -> list[str]:
    """Return the keys of the section at a location of the model."""
    model: Any = ExperimentConfig
    for step in loc:
        field = getattr(model, "model_fields", {}).get(step)
        if field is None:
            continue
        for candidate in _models_in(field.annotation):
            model = candidate
    return list(model.model_fields)


def _models_in(annotation: Any) -> list[Any]:
    if hasattr(annotation, "model_fields"):
        return [annotation]
    found = []
    for argument in getattr(annotation, "__args__", ()):
        found += _models_in(argument)
    return found
