"""Turn files and what they expect."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from cuecard.config.documents.validation import FileModel
from cuecard.config.values import Moment, NameOrNames, Names, Texts, as_tuple
from cuecard.model import DeliveryWish, Entity, FileText, Host, Json, Memory, RunLimits, ToolResult, Turn
from cuecard.model.messages import Summary, messages_from_json
from cuecard.model.turn import Gates, RunLimit
from cuecard.model.values import APPEND_REMOVED


class Expectation(FileModel):
    """What a prompt must satisfy; keys that are left out are not checked."""

    contains: Texts = Field(
        (), description="texts that the prompt must contain, in the system prompt, messages or appended texts"
    )
    absent: Texts = Field((), description="texts that it must not contain")
    active: NameOrNames = Field((), description="tools that must be active")
    inactive: NameOrNames = Field((), description="tools that must not be active")
    sections: Texts = Field((), description="sections that must be there, in this order; others may come between them")
    without: Texts = Field((), description="sections that must not be there")
    max_tokens: int | None = Field(None, ge=1, description="the maximum number of tokens of the whole prompt")
    results: dict[str, Texts] = Field(
        default_factory=dict,
        description="by tool or call id: texts that the model must read in the results of this turn's `history`",
    )
    shares_cache: bool | None = Field(
        None,
        description="whether it must begin with the previous turn's prompt, which the provider then has cached",
    )
    snapshot: bool = Field(
        default=False,
        description="whether it must match the snapshot that `cuecard test --update` wrote to `snapshots/`",
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("asks for nothing: write what the prompt must hold, such as `contains: hello`")
        return self


class EntityEntry(FileModel):
    """One entity of the working memory."""

    type: str = Field(description="the kind of thing, such as `page`")
    id: str = Field(description="the id that tools use")
    name: str = Field(description="the name that people use")
    key: str = Field("", description="what tools accept instead of the id, if different, such as a slug")

    def to_entity(self) -> Entity:
        """The entity in the engine's own type."""
        return Entity(self.type, self.id, self.name, self.key)


class ResultEntry(FileModel):
    """One tool result of the conversation so far."""

    tool: str = Field(description="the tool's name")
    result: Json = Field(description="what it returned")
    call_id: str | None = Field(None, description="the id of the tool call")
    is_error: bool = Field(default=False, description="whether the tool failed")
    pending: bool = Field(
        default=False, description="whether the tool is waiting for confirmation and has done nothing yet"
    )
    batch: str | None = Field(None, description="an id shared by the results of calls made in one model message")
    arguments: Json = Field(None, description="the arguments of the call")

    def to_result(self) -> ToolResult:
        """The result in the engine's own type."""
        return ToolResult(**dict(self))


class SearchEntry(FileModel):
    """A search of the conversation so far, which the engine answers itself: what it finds is discovered."""

    search: str = Field(description="the query, as the model would write it", min_length=1)
    finds: NameOrNames | None = Field(
        None, description="tools that it must find, besides others; an empty list if it must find nothing"
    )
    limit: int | None = Field(None, ge=1, le=50, description="the maximum number of tools; by default the agent file's")
    call_id: str | None = Field(None, description="the id of the tool call")
    batch: str | None = Field(None, description="an id shared by the results of calls made in one model message")


def _kind_of_entry(value: Any) -> str:
    is_search = isinstance(value, SearchEntry) or (isinstance(value, dict) and "search" in value)
    return "SearchEntry" if is_search else "ResultEntry"


# The tags stand in the places of problems, so none may be the name of a key.
HistoryEntry = Annotated[
    Annotated[ResultEntry, Tag("ResultEntry")] | Annotated[SearchEntry, Tag("SearchEntry")],
    Discriminator(_kind_of_entry),
]
"""A result as it was, or a search that is made anew."""


class SummaryEntry(FileModel):
    """The stored summary, and which messages it covers."""

    text: str = Field("", description="the summary")
    covers: int = Field(0, ge=0, description="how many of the first messages it covers; these are not sent again")
    upto: str = Field("", description="alternatively, the id of the last message that it covers")


class GatesEntry(FileModel):
    """What switches tools on and off."""

    enabled: Names = Field((), description="tools that are switched on; all by default")
    harness: Texts = Field((), description="categories of harness tools that belong to this kind of run")
    flags: dict[str, bool] = Field(default_factory=dict, description="feature flags")
    secrets: Texts | None = Field(
        None, description="names of the available secrets; if omitted, secrets are not checked"
    )
    allowed: Names | None = Field(None, description="only these tools; all by default")
    blocked: Names = Field((), description="never these tools, even if allowed")

    def to_gates(self) -> Gates:
        """The gates in the engine's own type."""
        return Gates(self.enabled, self.harness, self.flags, self.secrets, self.allowed, self.blocked)


class RunEntry(FileModel):
    """Limits of a run, over those of the agent file's `run`."""

    steps: int | None = Field(None, ge=1, description="the maximum number of requests to the model")
    retries: int | None = Field(None, ge=0, description="how often a tool that failed may be called again")
    failures: int | None = Field(
        None, ge=1, description="after so many failed calls of the conversation, all are refused"
    )
    kept_tools: int | None = Field(None, ge=1, description="how many discovered tools a new system prompt keeps")
    first_tool: str | None = Field(None, description="the tool that has to be called before any other")
    force_first: bool | None = Field(None, description="whether the model is forced to call that tool (`tool_choice`)")
    always: Names | None = Field(None, description="tools that none of these limits refuses")


StoredSummary = Annotated[
    SummaryEntry,
    BeforeValidator(
        lambda value: {"text": value} if isinstance(value, str) else value, json_schema_input_type=str | SummaryEntry
    ),
]
"""A summary, or just its text, which then covers none of the messages."""


class TurnFields(FileModel):
    """What your program knows about one user message, from a file or a request."""

    removed: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"reload: append": f"leave it out; in the agent file, {APPEND_REMOVED}"}
    )

    now: Moment | None = Field(None, description="the time, ISO 8601 with a zone")
    inputs: dict[str, Json] = Field(default_factory=dict, description="values of the agent's inputs")
    memory: Annotated[tuple[EntityEntry, ...], BeforeValidator(as_tuple)] = Field(
        (), description="entities, newest first"
    )
    tools: Names | None = Field(None, description="the tools that exist; all by default")
    discovered: Names = Field((), description="tools found earlier whose results are no longer in the history")
    delivery: DeliveryWish | None = Field(None, description="overrides the agent's delivery for this turn")
    model: str = Field("", description="the provider's name of the model, such as `claude-opus-4-8`")
    endpoint: str = Field("", description="the base URL of the service; empty for the provider's own")
    host: Host = Field(
        "messages", description="whether your program can append messages, or only set the system prompt"
    )

    profile: str = Field("", description="the profile: one of the agent file's named sets of sections")
    variant: str = Field("", description="the variant: one of the agent file's named changes on top of the profile")
    files: dict[str, str | None] = Field(
        default_factory=dict, description="files for sections, by their path in the agent file; null for a missing one"
    )
    gates: GatesEntry = Field(GatesEntry.usual(), description="switches that turn tools on and off")
    access: str = Field("", description="what the user may do: one of the agent file's named sets of gates")
    environment: Texts | None = Field(
        None,
        description="names of the environment variables that are set, for skills; if omitted, they are not checked",
    )
    messages: Annotated[tuple[dict[str, Json], ...], BeforeValidator(as_tuple)] = Field(
        (), description="the conversation before the current message: mappings with `role` and `content`"
    )
    summary: StoredSummary = Field(SummaryEntry.usual(), description="the summary stored with the conversation")
    message: str | dict[str, Json] | None = Field(None, description="the current message: its text, or a mapping")
    query: str = Field("", description="the user's words, if your program sends the message by other means")
    metadata: dict[str, Json] = Field(default_factory=dict, description="runtime facts, sent as a separate message")
    ephemeral: str = Field("", description="an instruction for this turn only")
    ahead: Names | None = Field(
        None,
        description="tools found ahead by the user's words; if omitted, they are searched for if the agent file says "
        "so",
    )
    conversation: str = Field("", description="your program's id of the conversation, for records")
    run: RunEntry = Field(RunEntry.usual(), description="limits of the run that override those of the agent file")
    not_enforced: Annotated[tuple[RunLimit, ...], BeforeValidator(as_tuple)] = Field(
        (), description="limits of a run that your program cannot enforce"
    )

    @property
    def spoken(self) -> dict[str, Json] | None:
        """The current message as a mapping."""
        return {"role": "user", "content": self.message} if isinstance(self.message, str) else self.message


class TurnFile(TurnFields):
    """What your program knows about one user message, in a file."""

    history: Annotated[tuple[HistoryEntry, ...], BeforeValidator(as_tuple)] = Field(
        (),
        description="tool results of the conversation, oldest first; `search` instead of `tool` and `result` for a "
        "search that is made anew",
    )
    expect: Expectation = Field(Expectation.usual(), description="the expectations that `cuecard test` checks")


class ConversationFile(FileModel):
    """Several turns of one conversation, for `cuecard test`."""

    turns: Annotated[tuple[TurnFile, ...], BeforeValidator(as_tuple)] = Field(
        description="the turns, oldest first; the `history` of each contains only what happened since the previous "
        "turn",
        min_length=1,
    )

    @property
    def talk(self) -> tuple[TurnFile, ...]:
        """The turns, each with the messages of those before it, as a host would send them, unless it has its own."""
        made: list[TurnFile] = []
        said: tuple[dict[str, Json], ...] = ()
        for turn in self.turns:
            own = "messages" in turn.model_fields_set
            made.append(turn if own else turn.model_copy(update={"messages": said}))
            said = (*made[-1].messages, *((turn.spoken,) if turn.spoken else ()))
        return tuple(made)


def to_turn(file: TurnFields, inputs: Mapping[str, Json]) -> Turn:
    """The turn with these inputs.

    Raises:
        InputError: naming everything that is wrong in a message.
    """
    return Turn(
        inputs=inputs,
        memory=Memory(tuple(entry.to_entity() for entry in file.memory)),
        now=file.now,
        tools=file.tools,
        discovered=file.discovered,
        delivery=file.delivery,
        model=file.model,
        endpoint=file.endpoint,
        host=file.host,
        profile=file.profile,
        variant=file.variant,
        files={path: FileText(path, text) for path, text in file.files.items()},
        gates=file.gates.to_gates(),
        access=file.access,
        environment=file.environment,
        messages=messages_from_json(file.messages, "turn.messages"),
        summary=Summary(file.summary.text, file.summary.covers, file.summary.upto),
        message=messages_from_json([file.spoken], "turn.message")[0] if file.spoken else None,
        query=file.query,
        metadata=file.metadata,
        ephemeral=file.ephemeral,
        ahead=file.ahead,
        conversation=file.conversation,
        run=RunLimits(**dict(file.run)),
        not_enforced=file.not_enforced,
    )
