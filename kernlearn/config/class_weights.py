"""Weights of classes in a config, by the labels of the data."""

from collections.abc import Mapping
from typing import Any


def weights_by_code(weights: Mapping[Any, Any], classes: Mapping[str, int]) -> dict[Any, Any]:
    """Return weights by the codes of classes, whose keys are labels, or codes if none is a label.

    Without classes, as before data is read, they are returned as they are.
    """
    if not classes:
        return dict(weights)
    from kernlearn.datasets.text import canonical_label

    by_label = {canonical_label(key): weight for key, weight in weights.items()}
    codes = {str(code): code for code in classes.values()}
    known = classes if by_label.keys() & classes.keys() else codes
    if unknown := [key for key in by_label if key not in known]:
        raise ValueError(
            f"class_weight: no class {', '.join(unknown)}; the data has {', '.join(classes)}"
        )
    return {known[key]: weight for key, weight in by_label.items()}
