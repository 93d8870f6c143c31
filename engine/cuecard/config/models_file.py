"""Models files: what providers' documents say of their models, figure by figure, each with its source and date."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from cuecard.config.documents.validation import FileModel
from cuecard.config.documents.yaml_text import Document
from cuecard.errors import Problem, did_you_mean

MidConversation: TypeAlias = Literal["system", "developer", "user"]
"""The role that carries an instruction in mid-conversation; `user` where no role with more authority works there."""

Definitions: TypeAlias = Literal["deferred", "all"]
"""Where the definitions of tools stand. `deferred`: those of discovered tools after the search result that found them;
`all`: every one in front of everything else, from the start."""

SHIPPED_PROVIDERS = ("anthropic", "openai", "google", "deepseek", "xai", "mistral", "qwen", "meta", "amazon", "vllm")
"""The providers that `prompts/models.yaml` describes."""

_DATE = re.compile(r"[-@]\d{4}-?\d{2}-?\d{2}$")


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        raise ValueError("should be a date, such as 2026-11-20") from None


class Figure(FileModel):
    """Where a figure comes from."""

    source: str = Field(min_length=1, description="the document that says so")
    as_of: Annotated[date, BeforeValidator(_day)] = Field(description="the day it was read, YYYY-MM-DD")
    note: str = Field("", description="what else a reader should know, such as sources that disagree")


class Count(Figure):
    """A whole number."""

    value: int = Field(ge=0, description="the figure")


class Ratio(Figure):
    """A ratio, 1 being the plain case."""

    value: float = Field(ge=0, description="the figure")


class Word(Figure):
    """A name."""

    value: str = Field(description="the name")


class Role(Figure):
    """A role of messages."""

    value: MidConversation = Field(description="the role; `user` when no other works there")


class Place(Figure):
    """Where the definitions of tools can stand."""

    value: Definitions = Field(description="`deferred` where a tool that is found can be defined there; else `all`")


class Day(Figure):
    """A day."""

    value: Annotated[date, BeforeValidator(_day)] = Field(description="the day, YYYY-MM-DD")


class Figures(FileModel):
    """What is known of a provider's models; what is left out is taken from the next wider entry."""

    context: Count | None = Field(None, description="context size, tokens of the model")
    min_cache_tokens: Count | None = Field(None, description="shorter prefixes are not cached, tokens of the model")
    cache_read: Ratio | None = Field(None, description="price of a cached input token, plain input being 1")
    cache_write: Ratio | None = Field(None, description="price of a token written to the cache, plain input being 1")
    cache_lifetime: Count | None = Field(None, description="seconds an unused entry lives at least, as `cache_write`")
    long_cache_write: Ratio | None = Field(None, description="price of a token written for the longer lifetime")
    long_cache_lifetime: Count | None = Field(None, description="seconds of the longer lifetime")
    breakpoints: Count | None = Field(
        None, description="cache breakpoints that a request may set; 0 when there are none"
    )
    look_back: Count | None = Field(
        None,
        description="how many blocks, itself included, a breakpoint is compared with entries at; none: all of them",
    )
    output: Ratio | None = Field(None, description="price of a token of the answer, plain input being 1")
    definitions: Place | None = Field(None, description="where definitions of discovered tools can stand")
    ends: Day | None = Field(None, description="the day from which on the model is not served")
    mid_conversation: Role | None = Field(None, description="the role of instructions in mid-conversation")
    tokenizer: Word | None = Field(None, description="the encoding, where a public one is exact")
    token_factor: Ratio | None = Field(None, description="tokens of the model per token counted by cuecard")

    def values(self) -> dict[str, Any]:
        """The bare figures that this entry states."""
        stated = ((name, getattr(self, name)) for name in Figures.model_fields)
        return {name: figure.value for name, figure in stated if figure is not None}


class ModelEntry(Figures):
    """One model, or all models whose names begin alike."""

    provider: str = Field(description="whose models these are; one of `providers`")


class ModelsFile(FileModel):
    """What is known of models."""

    providers: dict[str, Figures] = Field(default_factory=dict, description="what holds for all models of a provider")
    models: dict[Annotated[str, Field(pattern=r"^[^*]+\*?$")], ModelEntry] = Field(
        default_factory=dict, description="by name; a `*` at the end stands for any ending, the longest match wins"
    )


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a request has to know of its model; the defaults are what an unknown model gets.

    They err on the careful side: a large minimum, no gain from caching, no breakpoints, no role for instructions in
    mid-conversation, a count that is rather too high, all definitions in front. Units as in `Figures`; None means
    unknown. Answers cost five times what is read, which is the most common ratio.
    """

    name: str
    provider: str = ""
    context: int | None = None
    min_cache_tokens: int = 4096
    cache_read: float = 1.0
    cache_write: float = 1.0
    cache_lifetime: int | None = None
    long_cache_write: float | None = None
    long_cache_lifetime: int | None = None
    breakpoints: int = 0
    look_back: int | None = None
    output: float = 5.0
    definitions: Definitions = "all"
    ends: date | None = None
    mid_conversation: MidConversation = "user"
    tokenizer: str = ""
    token_factor: float = 1.25


@dataclass(frozen=True, slots=True)
class ModelProfiles:
    """Every profile that the files state."""

    providers: Mapping[str, Figures] = field(default_factory=dict)
    models: Mapping[str, ModelEntry] = field(default_factory=dict)

    def merged(self, file: ModelsFile) -> ModelProfiles:
        """These profiles with another file laid over them: figure by figure, the file wins."""
        providers = {name: _over(self.providers.get(name), entry) for name, entry in file.providers.items()}
        models = {name: _over(self.models.get(name), entry) for name, entry in file.models.items()}
        return ModelProfiles({**self.providers, **providers}, {**self.models, **models})

    def find(self, model: str, provider: str = "") -> ModelProfile:
        """The profile of a model: its own entry, else the longest pattern, else the provider's, else the careful one.

        A date at the end of the name (`-20260801`, `@2026-08-01`) is not needed for a match. Never an error.
        """
        entry = self._entry(model)
        owner = entry.provider if entry else provider
        wider = self.providers.get(owner, Figures())
        figures = {**wider.values(), **(entry.values() if entry else {})}
        return ModelProfile(model, owner, **figures)

    def _entry(self, model: str) -> ModelEntry | None:
        for name in (model, _DATE.sub("", model)):
            if name in self.models:
                return self.models[name]
        patterns = [name for name in self.models if name.endswith("*") and model.startswith(name[:-1])]
        return self.models[max(patterns, key=len)] if patterns else None


def unknown_providers(document: Document, file: ModelsFile, known: Iterable[str]) -> list[Problem]:
    """An error for each model whose provider is neither in this file nor known before."""
    providers = {*known, *file.providers}
    return [
        document.problem(
            ("models", name, "provider"),
            "unknown-provider",
            f"there is no provider `{entry.provider}`",
            did_you_mean(entry.provider, providers),
        )
        for name, entry in file.models.items()
        if entry.provider not in providers
    ]


def _over(below: Any, entry: Any) -> Any:
    return (
        entry
        if below is None
        else below.model_copy(update={key: getattr(entry, key) for key in entry.model_fields_set})
    )
