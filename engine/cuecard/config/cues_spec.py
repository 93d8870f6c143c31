"""When each of a tool's four cues reaches the model."""

from typing import Annotated, Self

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from cuecard.config.cues import CUES, PENDING, Cue
from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import as_tuple


class CuesSpec(FileModel):
    """When each cue reaches the model under `append`: a system prompt always prints all four."""

    on_discovery: Annotated[tuple[Cue, ...], BeforeValidator(as_tuple)] = Field(
        CUES, description="parts that follow the search result that found the tool"
    )
    on_result: Annotated[tuple[Cue, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="parts that follow the tool's first result that is neither an error nor a request for confirmation",
    )
    pending: str = Field(
        PENDING,
        description="the key that is true in a result that asks for confirmation, when nothing has been deleted yet; "
        "results that the host marks as `pending` count as well",
    )

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        said = (*self.on_discovery, *self.on_result)
        if sorted(said) != sorted(CUES) or not self.on_discovery:
            message = (
                "should name each of before, after, next and gotcha once, in `on_discovery` or `on_result`, and not "
            )
            raise PydanticCustomError("cues", f"{message}all of them in `on_result`")
        return self
