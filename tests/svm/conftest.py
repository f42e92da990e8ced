import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _one_thread():
    """LIBSVM's OpenMP threads cost more than they save on problems of a test's size."""
    with threadpool_limits(1):
        yield
