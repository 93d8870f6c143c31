"""The shapes of responses, for OpenAPI and for the types generated from it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from cuecard.model import Authority, Delivery, Json, Lifetime, ReloadPolicy, Tier

_API = "the number of this interface; what is added later keeps it"
_PLACED = "only if the request has told its `messages`"
_RESULTS = "texts for those results of this request that the agent file has a template for"


class Shape(BaseModel):
    """An answer or a part of one; a later version of the service may add fields."""


def _absent(description: str | None) -> Any:
    """A field that is left out of most answers."""
    return Field(None, description=description)


class SegmentShape(Shape):
    """A piece of the system prompt; the stable part ends where `stable` becomes false."""

    id: str
    text: str
    tier: Tier
    stable: bool


class AppendedShape(Shape):
    """A text that belongs after the last result of the batch with `after_call_id`, or with the user message `turn`; at
    the end of the request if both are null.
    """

    id: str
    text: str
    after_call_id: str | None
    turn: int | None
    lifetime: Lifetime = _absent(
        "`turn` or `step` if the text belongs into requests of this turn and into no stored history; "
        "otherwise left out",
    )


class EndedShape(Shape):
    """A text of one turn or one request that is no longer sent: never the text itself."""

    what: str = Field(description="the section that it came from; `ephemeral` for that of the turn")
    sha256: str = Field(description="the fingerprint of the text")
    turn: int | None = Field(description="the number of its turn, if that is still known")
    after_call_id: str | None = Field(description="the result that it followed; null with the user's message")


class DiscoveryShape(Shape):
    """A tool, and the search result that named it first."""

    tool: str
    after_call_id: str | None


class RefusalsShape(Shape):
    """The answers to calls of inactive tools, and of tools that a limit of the run refuses."""

    tools: list[str] = Field(description="every tool in the agent's catalogue; other tools are not listed")
    inactive: str = Field(description="`{tool}` stands for the tool, `{search}` for the search tool")
    search: str
    withheld: dict[str, str] = Field(description="by tool, for tools that were found but do not fit")
    limited: dict[str, str] = _absent("by tool, for tools that have failed too often")
    others: str = _absent("the answer for every other tool of `tools`, if a limit refuses all")
    first: str = _absent("the tool that has to be called before others; those called beside it may be")
    always: list[str] = _absent("tools that no limit refuses")


class StepShape(Shape):
    """The whole desired state of one request to the model, never a delta."""

    system: str = Field(description="the system prompt")
    segments: list[SegmentShape] = Field(description="the same, in segments")
    appended: list[AppendedShape]
    active_tools: list[str] = Field(description="the tools that may be called")
    base_tools: list[str] = Field(description="tools whose instructions are in the system prompt")
    discovered: list[DiscoveryShape] = Field(
        description="those of `active_tools` that a search has found, and by which result"
    )
    found: list[DiscoveryShape] = Field(description="every tool that searches have returned")
    turns: list[str | None] = Field(description="for each user message, the last result before it")
    messages: list[dict[str, Json]] = Field(description="the message stack, if the turn supplied the messages")
    reminder: str = Field(description="the wrapper of appended text in the user's turn; `{text}` is the text")
    refusals: RefusalsShape
    offers_search: bool = Field(description="whether the request has the search tool; it stays so until a new baseline")
    stopped: str = _absent("why a limit of the run allows no further request; otherwise left out")
    forced_tool: str = _absent("the tool that the request must force the model to call (`tool_choice`)")
    front: list[str] = _absent("the definitions to send, in their order, if the request has told its `definitions`")
    ended: list[EndedShape] = _absent(
        "texts that earlier requests held and this one must not: a stored history may contain them"
    )
    checks_thinking: bool = _absent(
        "true if the model checks its earlier thinking against what stood before it: leave out that of the "
        "turns in `ended`",
    )


class PlacedShape(Shape):
    """Where the appended texts belong among the messages that the request has told."""

    behind: list[list[int]] = Field(
        description="for each message, which of `appended` stand behind it, in this order, counted from 0"
    )
    thoughtless: list[int] = Field(
        description="the messages whose thinking is left out, since the model checks it against texts that have ended"
    )


class DeliveryShape(Shape):
    """Where new instructions go, and why."""

    name: Delivery
    reason: str
    authority: Authority = Field(description="the role that appended texts should have")


class DiagnosticShape(Shape):
    """A problem that did not stop anything."""

    code: str
    message: str


class RenderedResultShape(Shape):
    """What to send to the model as the result of a tool call, in this request and in all later ones."""

    at: int = Field(description="which of the results in the request, counted from 0")
    tool: str
    call_id: str | None
    text: str = Field(description="the text to send")
    rule: str = Field(description="the entry of `results` in the agent file that counted")
    source: str = Field(description="where its template is written")
    left_out: int = Field(description="how much was cut out of the result, in `unit`")
    whole: int = Field(description="the length of the whole result, in `unit`; 0 where nothing limits it")
    unit: str
    trust: dict[str, int] = Field(description="how often each kind of hostile text was neutralised")
    diagnostics: list[DiagnosticShape]
    media: int = Field(description="how many pictures and files the text marks; send them beside it where possible")


class SearchToolShape(Shape):
    """The search tool as described to the model, in the agent's words."""

    name: str
    description: str
    query: str
    limit: str


class ReadsShape(Shape):
    """What is read of tool results; of all others, the name, the id and the outcome are enough."""

    tools: dict[str, int] = Field(
        description="the agent's tools: 0 if nobody reads the results, 1 if ids and names are read in them, 2 if they "
        "are read as a whole, 3 if a template tells them, so that one whose text was lost is sent again for it"
    )
    items: int = Field(description="how many items of a list are read at most where ids and names are read")
    lists: list[str] = Field(description="the tools in whose results lists are read as a whole all the same")
    words: list[str] = Field(description="results of those tools whose JSON has one of these texts are read, too")
    room: int = Field(description="how many characters of results a request should have at most")
    said: bool = Field(description="whether the user's words are of use, as `said` of `prepare-call`")


class CallShape(Shape):
    """What is told about a user message, beside its model requests."""

    delivery: DeliveryShape
    reload: ReloadPolicy
    served: str = Field(description="why this state of the files serves the user message")
    search_tool: SearchToolShape
    reads: ReadsShape
    one_turn: bool = _absent(
        "true if some text belongs to this turn alone: after the answer, send `ended` to `/v1/remember` "
        "and store the conversation that it returns",
    )


class PreparedCall(CallShape):
    """A user message, and its first model request."""

    api: int = Field(description=_API)
    conversation: str = Field(description="signed; send it with the next request")
    step: StepShape
    results: list[RenderedResultShape] = Field(description=_RESULTS)
    placed: PlacedShape | None = _absent(_PLACED)
    manifest: dict[str, Json] | None = _absent(None)


class PreparedStep(Shape):
    """A model request."""

    api: int = Field(description=_API)
    conversation: str = Field(description="signed; send it with the next request")
    step: StepShape
    results: list[RenderedResultShape] = Field(description=_RESULTS)
    placed: PlacedShape | None = _absent(_PLACED)
    anew: CallShape | None = _absent("what is told about the user message, if it was prepared anew")
    manifest: dict[str, Json] | None = _absent(None)


class HitShape(Shape):
    """A tool, and how well it fits, from 0 to 1."""

    tool: str
    score: float


class SearchAnswer(Shape):
    """The answer of the search tool.

    The model gets `tools`, `message` and, unless they are empty, `withheld` and `categories`.
    """

    tools: list[str]
    withheld: list[str]
    categories: dict[str, list[str]] | list[str]
    message: str
    hits: list[HitShape]
    confidence: float
    diagnostics: list[DiagnosticShape]
    api: int = Field(description=_API)
    conversation: str = _absent("signed; only if the user message was prepared anew: send it with the next request")


class EntityShape(Shape):
    """A thing that the conversation has touched."""

    type: str
    id: str
    name: str
    key: str


class MemoryAnswer(Shape):
    """The working memory, newest first."""

    api: int = Field(description=_API)
    conversation: str = Field(description="signed; send it with the next request")
    memory: list[EntityShape]


class ToolShape(Shape):
    """A tool in the catalogue."""

    name: str
    description: str
    category: str


class InputShape(Shape):
    """A value that turns supply."""

    name: str
    type: str
    required: bool
    description: str
    tier: Literal["call", "step"] = _absent("`step` if it may change between the requests of a turn")
    lifetime: Lifetime = _absent("left out if its value lives as long as the conversation")


class ServedShape(Shape):
    """What is served of an agent; of a library, which version."""

    name: str
    sha256: str = Field(description="the fingerprint of all of its files")
    since: str = Field(description="when this state started serving, ISO 8601")
    state: Literal["ready", "stale"] = Field(
        description="stale: the files differ from the state that is served, or the library cannot be asked"
    )
    version: int = _absent("the number of the version in the library; left out for files")
    stale_since: str = _absent("since when the library cannot be asked, ISO 8601; otherwise left out")
    removed: bool = _absent("whether the label was removed; otherwise left out")


class AgentShape(ServedShape):
    """An agent as currently served."""

    problems: list[dict[str, Json]] = Field(description="why the files are not served")
    search_tool: SearchToolShape
    core_tools: list[str]
    tools: list[ToolShape]
    inputs: list[InputShape]
    profiles: list[str]
    variants: list[str]
    access: list[str] = Field(description="the names of what a user may do: one for each `access` of a turn")
    reload: ReloadPolicy


class AgentsAnswer(Shape):
    """Every agent that is served."""

    api: int = Field(description=_API)
    agents: list[AgentShape]


class ReadyAgent(ServedShape):
    """Whether an agent is up to date; `/v1/agents` lists the problems of its files."""

    codes: list[str]


class Readiness(Shape):
    """Whether the service is ready, and serves the newest files."""

    state: Literal["ready", "stale", "draining"] = Field(description="draining: it will stop, and has status 503")
    agents: list[ReadyAgent]


class Health(Shape):
    """The process is running."""

    state: Literal["ok"]
    version: str


class ProblemShape(Shape):
    """One problem."""

    code: str
    docs: str = Field(description="the command that explains the code, such as `cuecard explain unknown-key`")
    message: str
    hint: str
    name: str = Field(description="the field, or the file")
    span: dict[str, int] | None
    source: str
    severity: Literal["error", "warning"]
    chain: list[str]


class ProblemDetails(Shape):
    """Problem details (RFC 9457)."""

    api: int = Field(description=_API)
    type: str
    title: str
    status: int
    detail: str
    code: str
    problems: list[ProblemShape]
    more: int = _absent("how many further problems there are; left out if there is none")
