"""Conditions: when a section is part of the prompt."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import Texts, as_tuple
from cuecard.model import Json


def _named(value: Any) -> Any:
    return {"input": value} if isinstance(value, str) else value


Patterns = Annotated[Texts, Field(min_length=1)]


class ConditionSpec(FileModel):
    """One test on the values of a call; exactly one key. A text alone is short for `input`."""

    input: str | None = Field(
        None, description="true if this value is not empty, 0 or false; `a.b` reads a key of an object"
    )
    set: str | None = Field(None, description="true if this input has a value, even an empty one, 0 or false")
    equals: dict[str, Json] | None = Field(
        None, description="true if each of these inputs has this value, or one of a list of values", min_length=1
    )
    at_least: dict[str, float] | None = Field(
        None, description="true if each of these numbers, or lengths of texts and lists, is at least this", min_length=1
    )
    at_most: dict[str, float] | None = Field(
        None, description="true if each of these numbers, or lengths of texts and lists, is at most this", min_length=1
    )
    tool: str | None = Field(None, description="true if this tool exists for the call")
    model: Patterns | None = Field(
        None, description="true if the turn's model has this name, or one of a list; `*` matches any part"
    )
    empty: str | None = Field(None, description="true if this section is absent or empty")
    not_: Condition | None = Field(None, alias="not", description="true if the condition is false")
    all: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true if every condition is true", min_length=1
    )
    any: Annotated[tuple[Condition, ...] | None, BeforeValidator(as_tuple)] = Field(
        None, description="true if at least one condition is true", min_length=1
    )

    @model_validator(mode="after")
    def _one_key(self) -> ConditionSpec:
        if [getattr(self, name) is None for name in self.model_fields_set] != [False]:
            keys = ", ".join(field.alias or name for name, field in type(self).model_fields.items())
            raise ValueError(f"should have one of the keys {keys}")
        return self


Condition = Annotated[
    ConditionSpec,
    BeforeValidator(_named, json_schema_input_type=str | ConditionSpec),
]
"""A condition, or the name of an input that must not be empty."""
