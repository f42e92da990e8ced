from collections.abc import Callable
from pathlib import Path

import pytest

from kernlearn.config import load_config
from kernlearn.config.model import LoadedExperiment
from kernlearn.exceptions import ConfigError
from tests.engine.conftest import SMALL, small

__all__ = ["SMALL", "small"]


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., LoadedExperiment]:
    """A function that loads a text, with changes of it."""

    def call(text: str, *changes: tuple[str, str]) -> LoadedExperiment:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "c.yaml"
        path.write_text(text, encoding="utf-8")
        return load_config(path)

    return call


@pytest.fixture
def refused(load: Callable[..., LoadedExperiment]) -> Callable[..., str]:
    """A function that returns what is wrong with a text, with changes of it."""

    def call(*arguments: object) -> str:
        with pytest.raises(ConfigError) as caught:
            load(*arguments)
        return str(caught.value)

    return call
