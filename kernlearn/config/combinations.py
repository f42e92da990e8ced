"""Which combinations of data set, kernel and method an experiment measures."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernlearn.config.model import ExperimentConfig


def wanted(config: "ExperimentConfig", labels: Mapping[str, Any]) -> bool:
    """Whether a combination of labels is run, as ``only`` and ``exclude`` say."""

    def among(combinations: Sequence[Mapping[str, Any]]) -> bool:
        return any(all(labels.get(k) == v for k, v in one.items()) for one in combinations)

    return (not config.only or among(config.only)) and not among(config.exclude)
