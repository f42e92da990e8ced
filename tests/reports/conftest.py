from tests.experiments.conftest import small

__all__ = ["small"]
