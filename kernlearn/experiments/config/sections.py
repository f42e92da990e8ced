"""What the sections of a config have in common."""

from typing import Annotated, Literal

from pydantic import BaseModel, ByteSize, ConfigDict, Field

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Section(BaseModel):
    """A part of a config in which unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


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
