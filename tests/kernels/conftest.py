from tests.landmarks.conftest import small_blocks

__all__ = ["small_blocks"]
