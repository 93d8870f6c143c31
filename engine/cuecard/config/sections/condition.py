"""Conditions: when a section is part of the prompt."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import as_tuple
from cuecard.model import Json


def _named(value: Any) -> Any:
    return {"input": value} if isinstance(value, str) else value


class ConditionSpec(FileModel):
    """One test on the values of a call; exactly one key. A text alone is short for `input`."""

    input: str | None = Field(
        None, description="true when this value is not empty, 0 or false; `a.b` goes into objects"
    )
    equals: dict[str, Json] | None = Field(
        None, description="true when each of these inputs has this value", min_length=1
    )
    tool: str | None = Field(None, description="true when this tool exists for the call")
    not_: Condition | None = Field(None, alias="not", description="true when the condition is not")
    all: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true when every condition is", min_length=1
    )
    any: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true when one of the conditions is", min_length=1
    )

    @model_validator(mode="after")
    def _one_key(self) -> ConditionSpec:
        if [getattr(self, name) is None for name in self.model_fields_set] != [False]:
            raise ValueError("should have one of the keys input, equals, tool, not, all, any")
        return self


Condition = Annotated[
    ConditionSpec,
    BeforeValidator(_named, json_schema_input_type=str | ConditionSpec),
]
"""A condition, or the name of an input that must not be empty."""

ConditionSpec.model_rebuild()
