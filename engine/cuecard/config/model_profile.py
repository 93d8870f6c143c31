"""What a request knows of its model, and names of models as people write them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Literal, TypeAlias

from cuecard.records import dataclass

MidConversation: TypeAlias = Literal["system", "developer", "user"]
"""The role that carries an instruction mid-conversation; `user` if no role with more authority works there."""

Definitions: TypeAlias = Literal["deferred", "all"]
"""Where tool definitions are placed. `deferred`: those of discovered tools after the search result that found them;
`all`: all of them at the very beginning, from the start.
"""

Interface: TypeAlias = Literal["anthropic", "bedrock", "chat", "responses", "gemini"]
"""The format of requests: a provider may take with one what it refuses with another."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a request needs to know about its model; the defaults apply to an unknown model.

    The defaults are conservative: a large minimum, no gain from caching, no breakpoints, no role for instructions
    mid-conversation, a token count that errs on the high side, all definitions at the start. Units as in `Figures`;
    None means unknown. Output tokens cost five times as much as input tokens, the most common ratio.

    Where `definitions` depend on the interface, they are those of the one that the name states, such as `openai-chat:`,
    otherwise the best that there is; `interfaces` are then those that defer.
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
    interfaces: tuple[Interface, ...] = ()
    ends: date | None = None
    mid_conversation: MidConversation = "user"
    tokenizer: str = ""
    token_factor: float = 1.25
    searches: bool = True
    adds_tools: bool = False
    checks_thinking: bool = False
    forces_tools: bool = True
    endpoint: str = ""
    known: bool = True

    def defers(self, interface: Interface) -> bool:
        """Whether requests in this format may define tools where they are found."""
        return self.definitions == "deferred" and (not self.interfaces or interface in self.interfaces)


_PROVIDERS = frozenset(
    {
        "alibaba",
        "anthropic",
        "azure",
        "azure_ai",
        "bedrock",
        "cerebras",
        "chat",
        "cohere",
        "crusoe",
        "deepseek",
        "fireworks",
        "fireworks_ai",
        "gateway",
        "gemini",
        "github",
        "google",
        "google-cloud",
        "google-gla",
        "google-vertex",
        "groq",
        "heroku",
        "huggingface",
        "litellm",
        "lm_studio",
        "mistral",
        "models",
        "moonshotai",
        "nebius",
        "ollama",
        "openai",
        "openai-chat",
        "openai-responses",
        "openrouter",
        "ovhcloud",
        "responses",
        "sambanova",
        "snowflake",
        "together",
        "together_ai",
        "vercel",
        "vertex_ai",
        "vllm",
        "xai",
        "zai",
    }
)
"""The prefixes of model names in pydantic-ai, LiteLLM, routers and Google."""


_BEDROCK = re.compile(
    r"(?:[a-z]{2,6}(?:-gov)?\.)?(?:anthropic|openai|meta|mistral|amazon|deepseek|qwen)\.(?P<name>.+?)(?:-v\d+)?(?::\d+)?"
)
"""A region, the maker, the name, and a version."""


def bare_name(model: str) -> str:
    """The name as the model's own provider writes it: `anthropic:claude-opus-4-8` is `claude-opus-4-8`.

    Only known provider names are removed, so `qwen3:32b` and `meta-llama/llama-4` stay whole.
    """
    while True:
        places = [place for place in (model.find(":"), model.find("/")) if place > 0]
        if not places or model[: min(places)].lower() not in _PROVIDERS or not model[min(places) + 1 :]:
            return model
        model = model[min(places) + 1 :]


_INTERFACES: dict[str, Interface] = {
    "openai-chat": "chat",
    "chat": "chat",
    "openai-responses": "responses",
    "responses": "responses",
}
"""The prefixes of model names that state an interface."""


def interface_of(model: str) -> Interface | None:
    """The interface that the name of a model states, as `openai-chat:gpt-5.6` does; None if it states none."""
    prefixes = re.split("[:/]", model[: len(model) - len(bare_name(model))].lower())
    return next((_INTERFACES[prefix] for prefix in prefixes if prefix in _INTERFACES), None)


def wire_name(model: str, base_url: str = "") -> str:
    """The name as it goes into a request body: bare, except for the prefixes that routers with their own base URL read.

    `openai/gpt-5` is a name that a router knows; `openai:gpt-5` is one that only frameworks know.
    """
    if not base_url:
        return bare_name(model)
    head, colon, rest = model.partition(":")
    return rest if colon and rest and head.lower() in _PROVIDERS else model


def names_to_try(model: str) -> Iterator[str]:
    """The names under which a profile may be listed, the fullest first; the last is the one used by the model's maker.

    Bedrock writes `us.anthropic.claude-opus-4-5-20251101-v1:0`, and Vertex AI `claude-opus-4-5@20251101`.
    """
    bare = bare_name(model)
    last = bare.rpartition("/")[2] or bare
    own = _BEDROCK.fullmatch(last)
    yield from dict.fromkeys((model, bare, last, *([own["name"]] if own else [])))
