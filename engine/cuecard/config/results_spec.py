"""The keys `results` and `memory` of an agent file."""

import re
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import Texts, ToolPattern, as_tuple, holds

LengthUnit: TypeAlias = Literal["characters", "lines", "tokens"]
"""The unit in which the length of a result is counted."""

_OTHER_PATH = re.compile(r"/|\$(?:\.|\[|$)|.*(?:\[|(?:^|\.)(?:\*|$|\.))")
"""What paths of other languages have: a slash or `$` in front, brackets, `*`, and dots without a key between them."""


def _of_keys(path: str) -> str:
    if path and _OTHER_PATH.match(path):
        raise ValueError("should be keys with dots between them, such as `data.items`: nothing else is read as a path")
    return path


KeyPath = Annotated[str, AfterValidator(_of_keys)]
"""A path to a value, for `value_at`."""

KeyPaths = Annotated[Texts, AfterValidator(lambda paths: tuple(map(_of_keys, paths)))]
"""A path, or a list of paths."""


class ResultSpec(FileModel):
    """How the results of a tool are rendered. Templates read `content`, `result`, `tool` and `cut`."""

    text: str | None = Field(
        None, description="a Handlebars template; by default `{{{content}}}`, the text of the result"
    )
    file: str | None = Field(None, description="the same in a file, relative to the agent file")
    error: str | None = Field(None, description="the same for a failed call; by default the text of the error")
    field: KeyPath = Field(
        "", description="the field that contains the text, such as `output` or `a.b`; by default the whole result"
    )
    head: int | None = Field(None, ge=0, description="how much of the beginning of a long text is kept")
    tail: int | None = Field(None, ge=0, description="how much of its end is kept; without either, nothing is cut")
    unit: LengthUnit = Field("characters", description="what `head` and `tail` count; tokens in the agent's encoding")
    marker: Annotated[str, holds("count")] | None = Field(
        None, description="the text in place of what was cut: {count} is how much; by default that of `words.results`"
    )
    trust: Literal["data", "author"] = Field(
        "data",
        description="`author` prints results as they are, for texts that an exact edit must find again: markup, "
        "headings, and lines that begin as the template's own do",
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


CallPart: TypeAlias = Literal["result", "arguments"]
"""What a rule reads of a call: what the tool returned, or what the model asked for."""


class TypePlace(FileModel):
    """Where a call says which type it is about: one `updateItem` may serve all collections."""

    from_: CallPart = Field("arguments", alias="from", description="the part of the call that says it")
    at: KeyPath = Field(description="path to the type, such as `collection`", min_length=1)


class _CallRule(FileModel):
    """What a rule reads, and when it applies."""

    from_: CallPart = Field(
        "result", alias="from", description="what it reads: what the tool returned, or the arguments of the call"
    )
    when: str = Field("", description="a key of the result that must be true for this rule to apply")


class ExtractSpec(_CallRule):
    """Where entities are found in a call of a tool."""

    at: KeyPath = Field("", description="path to the value, such as `data` or `result.items`; empty for all of it")
    limit: int = Field(10, ge=1, le=100, description="how many entities are taken from a list")
    type: str | TypePlace = Field(
        "", description="the entity type, or where the call says it; empty to take it from the value or the tool's name"
    )


class ForgetSpec(_CallRule):
    """Where a call of a tool says which entities were deleted; nothing is, if it failed."""

    at: KeyPath = Field(
        "", description="path to their ids or keys, or to objects that hold an id (one or a list); empty for all of it"
    )
    type: str | TypePlace = Field(
        "",
        description="the type of the removed entities, or where the call says it; empty for the type that `types` "
        "gives the tool, else for any",
    )


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
    ids: dict[str, KeyPaths] = Field(
        default_factory=dict,
        description="entity type to the keys or paths that may contain its id, by default `id`; `*` for all other "
        "types",
    )
    names: dict[str, KeyPaths] = Field(
        default_factory=dict,
        description="entity type to the keys or paths (`title.rendered`) that may contain its name; `*` for all other "
        "types",
    )
    keys: dict[str, KeyPaths] = Field(
        default_factory=dict,
        description="entity type to the keys or paths that may contain what tools accept instead of its id; `*` for "
        "all other types",
    )
