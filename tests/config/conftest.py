from collections.abc import Callable

import pytest

from kernlearn.config.model import LoadedExperiment
from kernlearn.exceptions import ConfigError
from tests.engine.conftest import SMALL, load, planned, small

__all__ = ["SMALL", "load", "planned", "small"]


@pytest.fixture
def refused(load: Callable[..., LoadedExperiment]) -> Callable[..., str]:
    """A function that returns what is wrong with a text, with changes of it."""

    def call(*arguments: object) -> str:
        with pytest.raises(ConfigError) as caught:
            load(*arguments)
        return str(caught.value)

    return call
