"""What a turn file expects of its prompt, for `cuecard test` and the pytest plugin."""

from typing import Self

from pydantic import Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import NameOrNames, Texts


class Expectation(FileModel):
    """What a prompt must satisfy; keys that are left out are not checked."""

    contains: Texts = Field(
        (), description="texts that the prompt must contain, in the system prompt, messages or appended blocks"
    )
    absent: Texts = Field((), description="texts that it must not contain")
    active: NameOrNames = Field((), description="tools that must be active")
    inactive: NameOrNames = Field((), description="tools that must not be active")
    sections: Texts = Field((), description="sections that must be there, in this order; others may come between them")
    without: Texts = Field((), description="sections that must not be there")
    max_tokens: int | None = Field(None, ge=1, description="the maximum number of tokens of the whole prompt")
    results: dict[str, Texts] = Field(
        default_factory=dict,
        description="by tool or call id: texts that the model must read in the results of this turn's `history`",
    )
    shares_cache: bool | None = Field(
        None,
        description="whether it must begin with the previous turn's prompt, which the provider then has cached",
    )
    snapshot: bool = Field(
        default=False,
        description="whether it must match the snapshot that `cuecard test --update` wrote to `snapshots/`",
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("asks for nothing: write what the prompt must hold, such as `contains: hello`")
        return self
