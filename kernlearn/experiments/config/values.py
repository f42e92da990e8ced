"""Forms of a parameter's value in a config: a value, a list, ``select`` and ``by_dataset``."""

from collections.abc import Mapping
from itertools import product
from typing import Any

FORMS = ("list", "select", "by_dataset")


def form_of(value: Any) -> str:
    """Return ``"select"``, ``"by_dataset"``, ``"list"`` or ``"value"``."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in FORMS[1:]:
        return next(iter(value))
    return "list" if isinstance(value, list) else "value"


def form_fault(value: Any, forms: tuple[str, ...] = FORMS) -> str | None:
    """Return what is wrong with the form of a parameter's value, or None.

    ``forms`` are the forms that are allowed besides a plain value.
    """
    form = form_of(value)
    inner: tuple[str, ...] = ()
    if form in FORMS[1:] and form not in forms:
        return f"{form} has no place here; give {' or a '.join(['a value', *forms])}"
    if form == "select":
        members = value["select"]
        if not (isinstance(members, list) and members):
            return "select must be a list of values to choose from"
    elif form == "by_dataset":
        if not (isinstance(value["by_dataset"], dict) and value["by_dataset"]):
            return "by_dataset must be a mapping of data sets to values"
        members, inner = list(value["by_dataset"].values()), ("list", "select")
    elif form == "list" and "list" in forms:
        members = value
        if not members:
            return "an empty list gives no method; give one value or more"
    else:
        return None
    return next((fault for m in members if (fault := form_fault(m, inner))), None)


def candidates(value: Any) -> list[Any]:
    """Return every single value that a parameter can take."""
    form = form_of(value)
    if form == "list":
        return value
    if form == "select":
        return value["select"]
    if form == "by_dataset":
        return [v for each in value["by_dataset"].values() for v in candidates(each)]
    return [value]


def unfold(
    parameters: Mapping[str, Any], dataset: str = ""
) -> list[tuple[dict[str, Any], dict[str, list[Any]]]]:
    """Expand parameters into every combination of their lists.

    Parameters
    ----------
    parameters : mapping
        As in a config.
    dataset : str
        Label of the data set, for ``by_dataset``.

    Returns
    -------
    list of (fixed, grid)
        ``fixed`` are the values of one combination, ``grid`` the candidates that are chosen
        among on validation data.
    """
    grid: dict[str, list[Any]] = {}
    axes: dict[str, list[Any]] = {}
    for name, value in parameters.items():
        if form_of(value) == "by_dataset":
            choices = value["by_dataset"]
            value = choices[dataset] if dataset in choices else choices["default"]
        if form_of(value) == "select":
            grid[name] = value["select"]
        else:
            axes[name] = value if isinstance(value, list) else [value]
    return [
        (dict(zip(axes, combination, strict=True)), grid)
        for combination in product(*axes.values())
    ]


def varied(parameters: Mapping[str, Any]) -> list[str]:
    """Return the parameters that differ between the variants of one method."""
    return [n for n, value in parameters.items() if form_of(value) in ("list", "by_dataset")]
