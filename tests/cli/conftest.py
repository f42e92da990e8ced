from tests.command import kernlearn, kernlearn_process
from tests.engine.conftest import small

__all__ = ["kernlearn", "kernlearn_process", "small"]
