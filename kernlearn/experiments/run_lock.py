"""One run at a time into a store."""

from collections.abc import Iterator
from contextlib import contextmanager

from kernlearn.exceptions import StoreError
from kernlearn.experiments.store import Store


@contextmanager
def run_lock(store: Store) -> Iterator[None]:
    """Keep other runs out of a store within a block; reading and merging go on.

    The system lets the lock go when the process ends, however that happens.

    Parameters
    ----------
    store : Store

    Raises
    ------
    StoreError
        If another run holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{store.path}.lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        runs = store.runs()
        last = f" ({runs[-1].experiment}, since {runs[-1].started})" if runs else ""
        raise StoreError(
            f"{store.path}: another run is writing to it{last}; wait for it to end, or name "
            "another file with --store and `kernlearn merge` the two afterwards"
        ) from None
    except OSError as error:
        raise StoreError(f"{lock.lock_file}: cannot be made: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()
