import pytest

from kernlearn import memory

N_ROWS = 7


@pytest.fixture
def small_blocks(monkeypatch):
    """Return a function after which similarities are computed in blocks of N_ROWS rows."""

    def set_size():
        monkeypatch.setattr(memory, "BLOCK_BYTES", 1)
        monkeypatch.setattr(memory, "FEWEST_ROWS", N_ROWS)

    return set_size
