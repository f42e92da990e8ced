"""The details of a summary that pages show, checked: summaries may come from anyone."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NotRequired

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

from kernlearn.datasets.escaping import visible
from kernlearn.exceptions import SummaryError
from kernlearn.reports import conclusions, significance
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.summary_files import parsed
from kernlearn.reports.summary_reading import read_text

#: What summaries of earlier versions lack, and what pages call it.
_LATER = {
    "measured": "when it was measured",
    "rules": "the rules of the verdicts",
    "claims": "the claims",
    "conclusions": "the differences between methods",
    "chances": "the counts after exchanges",
    "data": "what was done to the data",
}
_EMPTY: dict[str, Any] = {"data": {}, "settings": [], "indicative": False}


def _known(one: Any) -> Any:
    allowed = (*_OUTCOMES[type(one)],)
    said = one.count if isinstance(one, Chance) else one.outcome
    if said not in allowed:
        raise ValueError(f"expected one of {', '.join(allowed)}")
    return one


_OUTCOMES = {
    Decision: significance.OUTCOMES,
    Conclusion: conclusions.OUTCOMES,
    Chance: ("match", "shown"),
}
_Count = Annotated[int, Field(ge=0, le=2**62)]
_Date = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d")]


class _Shown(TypedDict):
    """What pages show of a summary; all else is kept as it is."""

    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    profile: str
    written: _Date
    trials: _Count
    done: _Count
    trial_seconds: Annotated[float, Field(ge=0, le=1e12)]
    remarks: list[str]
    measured_on: list[dict[str, Any]]
    settings: NotRequired[list[str]]
    indicative: NotRequired[bool]
    measured: NotRequired[Annotated[list[_Date], Field(max_length=2)]]
    left_out: NotRequired[list[str]]
    rules: NotRequired[list[str]]
    claims: NotRequired[list[Annotated[Decision, AfterValidator(_known)]]]
    conclusions: NotRequired[list[Annotated[Conclusion, AfterValidator(_known)]]]
    chances: NotRequired[list[Annotated[Chance, AfterValidator(_known)]]]
    data: NotRequired[dict[str, list[str]]]
    unknown: NotRequired[list[str]]


@dataclass(frozen=True)
class Details:
    """The details of a summary.

    Attributes
    ----------
    values : dict
        All of them, as they stand in the file, with empty ones for those that it lacks.
    claims : list of Decision
    conclusions : list of Conclusion
    chances : list of Chance
    unknown : list of str
        What a summary of an earlier version does not say, in words.
    """

    values: dict[str, Any]
    claims: list[Decision]
    conclusions: list[Conclusion]
    chances: list[Chance]
    unknown: list[str]


def read_shown(experiment: str, folder: Path) -> Details:
    """Read the details of the summary of an experiment in a folder.

    Raises
    ------
    SummaryError
        If there are none, or a value is not what it should be; the message is one line.
    """
    path = folder / f"{experiment}.json"
    text = read_text(path)
    try:
        checked = parsed(_details(), text)
    except ValueError as error:
        raise SummaryError(f"{path}: {visible(str(error))}") from None
    values = json.loads(text)
    absent = [words for name, words in _LATER.items() if name not in values]
    unknown = [*values.get("unknown", []), *absent]
    values |= {name: _EMPTY.get(name, []) for name in (*_EMPTY, *_LATER) if name not in values}
    claims, differences, chances = (
        checked.get(name, []) for name in ("claims", "conclusions", "chances")
    )
    return Details(values, claims, differences, chances, unknown)


@cache
def _details() -> TypeAdapter[Any]:
    return TypeAdapter(_Shown)
