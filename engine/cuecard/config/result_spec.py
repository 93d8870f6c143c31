"""Tool results as texts: the template that renders them for the model, and their maximum length."""

from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import ToolPattern
from cuecard.config.values.placeholder_rule import holds

LengthUnit: TypeAlias = Literal["characters", "lines", "tokens"]
"""The unit in which the length of a result is counted."""


class ResultSpec(FileModel):
    """How the results of a tool are rendered. Templates read `content`, `result`, `tool` and `cut`."""

    text: str | None = Field(
        None, description="a Handlebars template; by default `{{{content}}}`, the text of the result"
    )
    file: str | None = Field(None, description="the same in a file, relative to the agent file")
    error: str | None = Field(None, description="the same for a failed call; by default the text of the error")
    field: str = Field(
        "", description="the field that contains the text, such as `output` or `a.b`; by default the whole result"
    )
    head: int | None = Field(None, ge=0, description="how much of the beginning of a long text is kept")
    tail: int | None = Field(None, ge=0, description="how much of its end is kept; without either, nothing is cut")
    unit: LengthUnit = Field("characters", description="what `head` and `tail` count; tokens in the agent's encoding")
    marker: Annotated[str | None, holds("count")] = Field(
        None, description="the text in place of what was cut: {count} is how much; by default that of `words.results`"
    )
    trust: Literal["data", "author"] = Field(
        "data", description="`author` prints markup in results unchanged, even that of the template's own elements"
    )

    @model_validator(mode="after")
    def _once(self) -> Self:
        if self.text is not None and self.file is not None:
            raise ValueError("has two of what it may have once: text, file")
        if self.limits == (0, 0):
            raise ValueError("would leave nothing of a result: give `head` or `tail` a number above 0")
        if self.marker is not None and self.limits is None:
            raise ValueError("has a `marker` and cuts nothing: add `head` or `tail`")
        return self

    @property
    def limits(self) -> tuple[int, int] | None:
        """How much of the beginning and the end is kept; None if nothing is cut."""
        return None if self.head is None and self.tail is None else (self.head or 0, self.tail or 0)


def _as_mapping(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


Results = dict[
    ToolPattern, Annotated[ResultSpec, BeforeValidator(_as_mapping, json_schema_input_type=str | ResultSpec)]
]
"""Templates by tool, or by pattern."""
