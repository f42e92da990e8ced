"""What a config and the command line may say of where trials are carried out."""

from typing import Annotated, Literal

from pydantic import ByteSize, Field

from kernlearn.experiments._section import Count, Section


class Execution(Section):
    """Where trials are carried out and what each may take; no part of what is measured."""

    executor: Literal["in-process", "processes", "dask"] | None = Field(
        default=None, description="by default the simplest that does what the other keys ask"
    )
    jobs: Count = Field(default=1, description="trials at a time")
    scheduler: str | None = Field(default=None, description="address of a Dask scheduler")
    timeout: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="seconds after which a trial is ended"
    )
    memory: Annotated[ByteSize, Field(gt=0)] | None = Field(
        default=None, description="memory, such as 4GB, beyond which a trial is ended"
    )
    retries: Annotated[int, Field(ge=0, le=100)] = Field(
        default=2, description="how often a trial is tried again whose process died"
    )
