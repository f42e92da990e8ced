"""Summaries of results, files that may come from anyone: what is read of them is checked."""

from functools import cache
from typing import Annotated, Any

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

_STRICT = ConfigDict(strict=True)
_Seconds = Annotated[float, Field(ge=0, le=1e12)]


class _Details(TypedDict, total=False):
    """What the details of a summary are read for; all else is for people."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    profile: str
    seconds: dict[str, _Seconds]
    trial_seconds: _Seconds


def parse_details(text: str) -> dict[str, Any]:
    """Return the details of a summary.

    Raises
    ------
    ValueError
        If they are not a JSON object, or a value that is read is not what it should be; the
        message is one line.
    """
    found: dict[str, Any] = parsed(_details(), text)
    return found


def parse_parameters(text: str) -> dict[str, Any]:
    """Return the varied parameters or the labels of a cell, which stand as JSON; empty for none.

    Raises
    ------
    ValueError
        If they are not a JSON object of texts and numbers.
    """
    found: dict[str, Any] = parsed(_parameters(), text) if text else {}
    return found


@cache
def _details() -> TypeAdapter[Any]:
    return TypeAdapter(_Details)


@cache
def _parameters() -> TypeAdapter[Any]:
    return TypeAdapter(dict[str, str | int | float | bool | None], config=_STRICT)


def parsed(adapter: TypeAdapter[Any], text: str) -> Any:
    """Return what a JSON text holds; a ValueError says in one line what does not fit."""
    try:
        return adapter.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "json_invalid":
            message = f"not valid JSON: {first['msg'].removeprefix('Invalid JSON: ')}"
        else:
            place = ".".join(map(str, first["loc"]))
            message = f"{place}: {first['msg']}" if place else "not a JSON object"
        raise ValueError(message) from None
