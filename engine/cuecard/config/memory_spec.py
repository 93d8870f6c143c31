"""The key `memory:` of an agent file: how entities enter the working memory, what is shown of them, and when they leave
it.
"""

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.values.names import Texts, as_tuple


class ExtractSpec(FileModel):
    """Where entities are found in a tool's result."""

    at: str = Field("", description="path to the value, such as `data` or `result.items`; empty for the result itself")
    limit: int = Field(10, ge=1, le=100, description="how many entities are taken from a list")
    when: str = Field("", description="a key of the result that must be true for this rule to apply")
    type: str = Field("", description="the entity type; empty to take it from the value or the tool's name")


class ForgetSpec(FileModel):
    """Where a tool's result says which entities were deleted."""

    at: str = Field(
        "",
        description="path to their ids or keys, or to objects with an `id` (one or a list); empty for the result "
        "itself",
    )
    when: str = Field("", description="a key of the result that must be true for this rule to apply")
    type: str = Field("", description="the type of the removed entities; empty for any")


def _one_or_more(value: Any) -> Any:
    return as_tuple(value if isinstance(value, list) else [value])


ForgetRules = Annotated[
    tuple[ForgetSpec, ...], BeforeValidator(_one_or_more, json_schema_input_type=ForgetSpec | list[ForgetSpec])
]
"""A rule, or a list of rules."""


class MemorySpec(FileModel):
    """The working memory: how much of it is shown, how entities get into it, and when they leave it."""

    per_type: int = Field(3, ge=1, le=100, description="how many lines each entity type gets")
    total: int = Field(10, ge=1, le=1000, description="how many entities are kept")
    empty: str = Field("", description="the text of an empty memory")
    extract: Annotated[tuple[ExtractSpec, ...], BeforeValidator(as_tuple)] = Field(
        (), description="where to find entities in tool results; all matching rules apply"
    )
    forget: dict[str, ForgetRules] = Field(
        default_factory=dict,
        description="tool name pattern (`*` and `?`) to where results name removed entities; all matching rules apply",
    )
    types: dict[str, str] = Field(
        default_factory=dict, description="tool name pattern (`*` and `?`) to entity type; the first match wins"
    )
    names: dict[str, Texts] = Field(
        default_factory=dict, description="entity type to the keys that may contain its name; `*` for all other types"
    )
    keys: dict[str, Texts] = Field(
        default_factory=dict,
        description="entity type to the keys that may contain what tools accept instead of its id; `*` for all other "
        "types",
    )
