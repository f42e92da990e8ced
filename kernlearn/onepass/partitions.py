"""Sums over the partitions of a source: in this process, or as tasks of Dask in a tree of merges.

When a `distributed.Client` is active, each partition is a task that runs where its data are, and
so are merges of a few results each; the last one comes back. Everything that a task needs is in
the graph, not scattered, so that whatever is lost with a worker is computed again.
"""

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeVar
from uuid import uuid4

from threadpoolctl import ThreadpoolController

from kernlearn.datasets.sources import Partition, RowSource

Context = TypeVar("Context")
Value = TypeVar("Value")

#: Values that one task merges.
MERGED_TOGETHER = 8


def active_client() -> Any:
    """Return the `distributed.Client` that is active, or None.

    It is the one that Dask's collections are computed by; the setting ``scheduler`` of Dask, such
    as "synchronous", comes before it.
    """
    distributed = sys.modules.get("distributed")  # not imported: there is no client
    if distributed is None:
        return None
    import dask

    if dask.config.get("scheduler", None) not in (None, "dask.distributed", "distributed"):
        return None
    try:
        client = distributed.default_client()
    except ValueError:
        return None
    if client.asynchronous:
        raise ValueError(
            "the active client of Dask is asynchronous; an estimator waits for results"
        )
    return client


def runs_on_cluster(source: RowSource) -> bool:
    """Tell whether the partitions of a source are tasks of a cluster."""
    return source.is_divided and active_client() is not None


def reduce_partitions(
    source: RowSource,
    gather: Callable[[Context, Partition], Value],
    merge: Callable[[Sequence[Value]], Value],
    context: Context,
) -> Value:
    """Return the merged values of the partitions of a source.

    Parameters
    ----------
    source : RowSource
        If it is not divided, or no client is active, its partitions are read one after the other
        in this process.
    gather : callable
        Called with the context and a partition, over whose chunks it iterates; returns the value
        of the partition. On a cluster it runs with one thread of BLAS.
    merge : callable
        Returns the value of several. Both functions must leave their arguments as they are, as a
        task may run again, and must be functions of a module.
    context : object
        What all partitions need, such as a fitted map. It is sent once to a worker.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        What `gather` raises, with the name of the partition.
    """
    parts = source.partitions
    if len(parts) and runs_on_cluster(source):
        return _on_cluster(active_client(), parts, gather, merge, context)
    result = None
    for part in parts:
        value = _named(context, part, gather)
        result = value if result is None else merge([result, value])
    return result  # type: ignore[return-value]


def _on_cluster(client: Any, parts: list[Partition], gather: Any, merge: Any, context: Any) -> Any:
    from dask import delayed

    run = uuid4().hex
    # tasks of one kind share the first part of their key: so the scheduler knows their number, and
    # does not load more partitions than workers can take
    shared = delayed(_same, pure=False)(context, dask_key_name=f"context-{run}")
    values = [
        delayed(_task, pure=False, traverse=False)(
            shared, part.computed(()), gather, *part.lazy, dask_key_name=(f"gather-{run}", i)
        )
        for i, part in enumerate(parts)
    ]
    level = 0
    while len(values) > 1:
        groups = [values[i : i + MERGED_TOGETHER] for i in range(0, len(values), MERGED_TOGETHER)]
        values = [
            delayed(merge, pure=False)(group, dask_key_name=(f"merge-{level}-{run}", i))
            if len(group) > 1
            else group[0]
            for i, group in enumerate(groups)
        ]
        level += 1
    future = client.compute(values[0])
    try:
        return future.result()
    finally:
        future.cancel()


def _same(context: Context) -> Context:
    return context


def _task(context: Any, part: Partition, gather: Any, *values: Any) -> Any:
    # a worker runs as many tasks at a time as it has cores
    with _thread_pools().limit(limits=1):
        return _named(context, part.computed(values), gather)


def _named(context: Any, part: Partition, gather: Any) -> Any:
    with part.naming_errors():
        return gather(context, part)


@cache
def _thread_pools() -> ThreadpoolController:
    return ThreadpoolController()  # looks through all libraries, which takes time
