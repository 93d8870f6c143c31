"""What running code can access: contexts, `@data`, partials, and the branches of blocks bound to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.template.guards.escaping import TrustedText
from cuecard.template.runtime.values import CallableValue, same

Scope: TypeAlias = "tuple[Json, Any]"
"""Contexts from the inside out, as linked pairs: `../` follows them."""

Data: TypeAlias = dict[str, Any]
"""A frame of `@data`; `_parent` is the frame around it."""

Body: TypeAlias = "Callable[[Json, Data, Scope, Any, Env], str]"
"""A generated function: context, data frame, scope, block parameters, environment -> text."""

LoopBody: TypeAlias = "Callable[..., str]"
"""A generated function for some items, described in `template.loop.Loop`."""

PartialBody: TypeAlias = "Callable[[Json, Data, Env], str]"
"""A partial: context, data frame, environment -> text. It sees only its own context (Handlebars.js invokePartial)."""


UNDEFINED = object()
"""Stands for a missing context in a scope."""

NULL_CONTEXT: Mapping[str, Json] = MappingProxyType({})
"""Null as the context of a block helper (Handlebars.js nullContext)."""


@dataclass(frozen=True, slots=True)
class Env:
    """The partials that can be called from here, and the depth of calls."""

    partials: dict[str, PartialBody]
    depth: int = 0

    def find(self, name: str) -> PartialBody | None:
        """The partial with this name."""
        return self.partials.get(name)


@dataclass(frozen=True, slots=True)
class Fn:
    """A branch of a block, or an inline partial, bound to its surroundings."""

    body: Body
    data: Data
    scope: Scope
    params: Any
    env: Env
    takes_params: bool = False
    inlines: Callable[[Env], Env] | None = None

    def __call__(self, context: Json, data: Data | None = None, params: Sequence[Json] | None = None) -> TrustedText:
        """Render the branch with this context; the result is safe to print as it is."""
        bound = (params, self.params) if self.takes_params else self.params
        frame = self.data if data is None else data
        return TrustedText(self.body(context, frame, self.inner(context), bound, self.env))

    def as_partial(self, context: Json, data: Data, env: Env) -> str:
        """Call the inline partial by name."""
        own = Env(self.env.partials, env.depth)
        own = self.inlines(own) if self.inlines else own
        return self.body(context, data, self.inner(context), self.params, own)

    def inner(self, context: Json) -> Scope:
        """The inner scope; a missing context is JavaScript's undefined, unlike an item that is null."""
        return push(UNDEFINED if context is None else context, self.scope)


@dataclass(frozen=True, slots=True)
class HelperOptions:
    """The argument of a helper with a parameter named `options`: hash, context, `@data`, and the branches of its
    block.
    """

    name: str
    hash: Mapping[str, Json]
    context: Json
    data: Data
    fn: Fn | None = None
    inverse: Fn | None = None


def push(context: Json, scope: Scope | None) -> Scope:
    """The scope inside a block; a block that keeps its context adds nothing (Handlebars.js wrapProgram)."""
    if scope is None:
        return (context, None)
    around = scope[0]
    if type(context) is dict and type(around) is dict:
        kept = context is around
    elif context is None or context is UNDEFINED:
        kept = around is None or around is UNDEFINED
    elif context is NULL_CONTEXT:
        kept = around is None or around is NULL_CONTEXT
    else:
        kept = same(context, around)
    return scope if kept else (context, scope)


def outer(scope: Any, depth: int, *, boxed: bool = False) -> Json:
    """The context `depth` levels out; None beyond the root. `boxed`: inside a block that keeps its context, which adds
    a level if there is no context to keep.
    """
    for _ in range(depth - (boxed and scope is not None and scope[0] is UNDEFINED)):
        scope = scope[1] if scope is not None else None
    return None if scope is None or scope[0] is UNDEFINED else scope[0]


def up(data: Any, depth: int) -> Json:
    """The frame of `@data` this many levels out; None beyond the outermost."""
    for _ in range(depth):
        data = data.get("_parent") if data is not None else None
    return data


def frame(data: Data) -> Data:
    """A new frame of `@data` within this one."""
    return {**data, "_parent": data}


@dataclass(frozen=True, slots=True)
class PartialBlock(CallableValue):
    """The block of a partial call, as the partial sees it; inside it, `@partial-block` is the one around the call."""

    block: Fn
    around: PartialBody | None

    def __call__(self, context: Json, data: Data, _env: Env) -> str:
        """Call the block by name."""
        return self.block(context, {**frame(data), "partial-block": self.around})

    def is_blank(self) -> bool:
        """Whether it prints nothing without a context."""
        return not self(None, {}, self.block.env)
