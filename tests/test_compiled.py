"""Compiled functions, where their cache cannot be written."""

import pytest
from numba.core import caching

from kernlearn.compiled import compiled


@pytest.mark.parametrize(
    ("place", "method", "error"),
    [("IndexDataCacheFile", "save", OSError), ("FunctionCache", "__init__", RuntimeError)],
)
def test_a_cache_that_cannot_be_written_is_none(monkeypatch, place, method, error):
    def fail(*_):
        raise error("No space left on device")

    monkeypatch.setattr(getattr(caching, place), method, fail)
    twice = compiled()(lambda x: 2 * x)
    assert twice(3) == 6
