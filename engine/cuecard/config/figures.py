"""Figures of models, each with its source and the day it was read."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator, Discriminator, Field, Tag

from cuecard.config.documents.validation import FileModel
from cuecard.config.model_profile import Definitions, Interface, MidConversation


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("should be a date, such as 2026-11-20") from None


class Figure(FileModel):
    """Where a figure comes from."""

    source: str = Field(min_length=1, description="the document that states it")
    as_of: Annotated[date, BeforeValidator(_day)] = Field(description="the day it was read, YYYY-MM-DD")
    note: str = Field("", description="anything else readers should know, such as conflicting sources")


class Count(Figure):
    """A whole number."""

    value: int = Field(ge=0, description="the figure")


class Ratio(Figure):
    """A ratio; 1 is the base price or count."""

    value: float = Field(ge=0, description="the figure")


class FigureWord(Figure):
    """A name."""

    value: str = Field(description="the name")


class Role(Figure):
    """A role of messages."""

    value: MidConversation = Field(description="the role; `user` if no other works there")


_Places: TypeAlias = Annotated[
    Annotated[Definitions, Tag("word")] | Annotated[dict[Interface, Definitions], Tag("interfaces")],
    Discriminator(lambda value: "interfaces" if isinstance(value, Mapping) else "word"),
]


class DefinitionsPlace(Figure):
    """Where the definitions of tools can stand."""

    value: _Places = Field(
        description="`deferred` if a tool can be defined where it is found, otherwise `all`; or one of these for each "
        "interface, such as `{responses: deferred, chat: all}`: those that are not stated take all of them"
    )


class Day(Figure):
    """A day."""

    value: Annotated[date, BeforeValidator(_day)] = Field(description="the day, YYYY-MM-DD")


class Truth(Figure):
    """Whether something is so."""

    value: bool = Field(description="true or false")


class Figures(FileModel):
    """Facts about models; a missing value is taken from the next more general entry."""

    context: Count | None = Field(None, description="context size in the model's tokens")
    min_cache_tokens: Count | None = Field(
        None, description="the shortest prefix that is cached, in the model's tokens"
    )
    cache_read: Ratio | None = Field(None, description="price of a cached input token, relative to uncached input")
    cache_write: Ratio | None = Field(
        None, description="price of a token written to the cache, relative to uncached input"
    )
    cache_lifetime: Count | None = Field(
        None, description="minimum lifetime of an unused entry in seconds, at the `cache_write` price"
    )
    long_cache_write: Ratio | None = Field(None, description="price of a token written for the longer lifetime")
    long_cache_lifetime: Count | None = Field(None, description="the longer lifetime in seconds")
    breakpoints: Count | None = Field(None, description="cache breakpoints that a request may set; 0 if there are none")
    look_back: Count | None = Field(
        None,
        description="how many blocks back, including its own, a breakpoint looks for a cache entry; null for no limit",
    )
    output: Ratio | None = Field(None, description="price of an output token, relative to uncached input")
    definitions: DefinitionsPlace | None = Field(None, description="where the definitions of discovered tools can go")
    ends: Day | None = Field(None, description="the first day on which the model is no longer served")
    mid_conversation: Role | None = Field(None, description="the role of instructions mid-conversation")
    tokenizer: FigureWord | None = Field(None, description="the encoding, if a public one is exact")
    token_factor: Ratio | None = Field(None, description="the model's tokens per token counted by cuecard")
    searches: Truth | None = Field(
        None, description="whether the model calls a search tool when it needs one; `auto` delivery relies on it"
    )

    adds_tools: Truth | None = Field(
        None,
        description="whether messages can add tools mid-conversation (Anthropic's `tool_addition`, OpenAI's "
        "`additional_tools`)",
    )
    checks_thinking: Truth | None = Field(
        None, description="whether thinking is only accepted while the text before it is the same (prefix checks)"
    )
    forces_tools: Truth | None = Field(
        None,
        description="whether a request can force the model to call a tool (`tool_choice`); true by default",
    )

    def values(self) -> dict[str, Any]:
        """The bare figures that this entry states."""
        stated = ((name, getattr(self, name)) for name in Figures.model_fields)
        found = {name: figure.value for name, figure in stated if figure is not None}
        return {**found, **_placed(found["definitions"])} if "definitions" in found else found


def _placed(value: Definitions | dict[Interface, Definitions]) -> dict[str, Any]:
    if isinstance(value, str):
        return {"definitions": value, "interfaces": ()}
    late = tuple(sorted(name for name, place in value.items() if place == "deferred"))
    return {"definitions": "deferred" if late else "all", "interfaces": late}
