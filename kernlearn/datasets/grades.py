"""The order of labels: that of numbers or of the alphabet, unless somebody gives it."""

from collections.abc import Iterable, Sequence

from kernlearn.exceptions import DataError


def are_numbers(labels: Iterable[str]) -> bool:
    """Tell whether all labels are numbers."""
    try:
        return bool([float(label) for label in labels])
    except ValueError:
        return False


def default_order(labels: Iterable[str]) -> list[str]:
    """Sort labels as numbers if all are, else by the alphabet."""
    every = list(labels)
    return sorted(every, key=float) if are_numbers(every) else sorted(every)


def in_order(labels: Iterable[str], grades: Sequence[str], where: str) -> list[str]:
    """Sort labels as `grades` says, which must name all; others in it are passed over."""
    every, given = list(labels), [str(grade) for grade in grades]
    if unknown := [label for label in every if label not in given]:
        raise DataError(
            f"{where}: grades: {', '.join(unknown[:5])} of the target not among {', '.join(given)}"
        )
    if len(set(given)) < len(given):
        raise DataError(f"{where}: grades: {', '.join(given)}: one of them is given twice")
    return [grade for grade in given if grade in every]
