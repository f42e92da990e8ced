"""What the sections of a config have in common."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Fraction = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]


class Section(BaseModel):
    """A part of a config in which unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
