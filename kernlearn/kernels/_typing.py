"""Names for the types that the signatures of several modules share."""

from typing import Any, TypeAlias

# An array-like or a scipy sparse matrix or array; scipy has no static types for the latter.
MatrixLike: TypeAlias = Any
