"""Predictions for the rows of a Dask array or data frame: lazy, partition by partition."""

from typing import Any

from numpy.typing import NDArray


def lazily(model: Any, method: str, X: Any, like: NDArray[Any]) -> Any:
    """Return what a method returns for rows, as a Dask array that is not computed yet.

    Parameters
    ----------
    model : estimator
        Fitted, and without what only more rows need; it is sent once to a worker.
    method : str
    X : Dask array or data frame
    like : ndarray of shape (0, ...)
        What the method returns for no rows.

    Returns
    -------
    dask.array.Array
        With a block for each partition, whose number of rows is known if that of the partition is.
    """
    from dask import delayed

    shared = delayed(model, pure=False, traverse=False)
    options = {"method": method, "like": like, "meta": like}
    if hasattr(X, "columns"):
        return X.map_partitions(_predict, shared, **options)
    X = X.rechunk({1: -1})
    shape = {"drop_axis": 1} if like.ndim == 1 else {"chunks": (X.chunks[0], like.shape[1:])}
    return X.map_blocks(_predict, shared, dtype=like.dtype, **shape, **options)


def _predict(rows: Any, model: Any, method: str, like: NDArray[Any]) -> NDArray[Any]:
    return getattr(model, method)(rows) if rows.shape[0] else like
