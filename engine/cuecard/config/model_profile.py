"""What a request needs to know about its model."""

from __future__ import annotations

from datetime import date
from typing import Literal, TypeAlias

from cuecard.records import dataclass

MidConversation: TypeAlias = Literal["system", "developer", "user"]
"""The role that carries an instruction mid-conversation; `user` if no role with more authority works there."""

Definitions: TypeAlias = Literal["deferred", "all"]
"""Where tool definitions are placed. `deferred`: those of discovered tools after the search result that found them;
`all`: all of them at the very beginning, from the start.
"""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """What a request needs to know about its model; the defaults apply to an unknown model.

    The defaults are conservative: a large minimum, no gain from caching, no breakpoints, no role for instructions
    mid-conversation, a token count that errs on the high side, all definitions at the start. Units as in `Figures`;
    None means unknown. Output tokens cost five times as much as input tokens, the most common ratio.
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
    searches: bool = True
    adds_tools: bool = False
    checks_thinking: bool = False
    endpoint: str = ""
    known: bool = True
