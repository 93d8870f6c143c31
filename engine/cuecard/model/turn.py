"""The turn, and the gates of its tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Annotated, Literal, TypeAlias

from pydantic import AwareDatetime

from cuecard.model.boundary import Count, JsonObject
from cuecard.model.messages import Message, Summary, agreed
from cuecard.model.prompt import Diagnostic
from cuecard.model.values import Authority, DeliveryWish, FileText, Host, Memory, ReloadPolicy
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Gates:
    """The gates of one call.

    Attributes:
        enabled: names of the tools that are switched on; empty for all.
        harness: categories of harness tools that belong to this kind of run.
        flags: feature flags; only one that is exactly False switches anything off.
        secrets: names of the available secrets; None if the host does not say, in which case none is required.
        allowed: only these tools; None for all.
        blocked: never these, even if allowed.
    """

    enabled: tuple[str, ...] = ()
    harness: tuple[str, ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    secrets: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None
    blocked: tuple[str, ...] = ()


RunLimit: TypeAlias = Literal["steps", "retries", "failures", "kept_tools", "first_tool"]
"""A limit of a run."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """The limits of a run; None where there is none. In a turn they override those of the agent file's `run`.

    Attributes:
        steps: the maximum number of requests to the model for one user message; at least 1.
        retries: how often a tool that failed may be called again for one user message.
        failures: after so many failed results of a conversation, its tools are refused.
        kept_tools: how many discovered tools a new baseline keeps, those that were used last.
        first_tool: the tool that has to be called before any other, for each user message.
        force_first: whether requests force the model to call that tool first (`tool_choice`).
        always: tools that none of these limits refuses, such as one that ends the turn.
    """

    steps: Count | None = None
    retries: Count | None = None
    failures: Count | None = None
    kept_tools: Count | None = None
    first_tool: str | None = None
    force_first: bool | None = None
    always: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What the host knows about one call; every field has a default.

    Attributes:
        inputs: values of the inputs that the agent file declares.
        memory: the working memory as this call starts.
        now: the time with its zone; None to ask the engine's clock.
        tools: names of the tools that exist for this call; None means the whole catalogue.
        tools_before: the tools that existed at the end of the previous run, if the host itself told the model about
            tools that came or went within that run, so that it is not repeated; otherwise None.
        discovered: tools found earlier in the conversation whose results are no longer in the history.
        reload: the policy by which a watched engine was chosen for this call, for the manifest.
        delivery: overrides the engine's delivery for this call; a different one than before starts a new baseline.
        model: the name of the model, such as `claude-opus-4-8`, with or without its provider; `auto` delivery depends
            on it.
        endpoint: the base URL of the service; empty for the provider's own. If no models file knows it, only the user
            role carries instructions mid-conversation.
        authority: the role of appended blocks, if the host knows better than the model's profile.
        host: whether the host can append messages mid-conversation, or only set the system prompt.
        profile: the profile: one of the agent file's named sets of sections.
        variant: the changes on top of the profile.
        files: files that the host supplies for sections, by their path in the agent file.
        gates: switches that turn tools on and off.
        access: what the user may do: one of the agent file's named sets of gates, which hold besides `gates`.
        environment: the names of the environment variables that are set, for skills that need some; None if unknown.
        messages: the conversation before the current message, oldest first, for the agent's history policy.
        summary: the summary stored with the conversation.
        message: the current message; None if the host sends it by other means.
        query: the user's words, if there is no `message`: sections that search them, such as for the names of skills,
            read them here; they do not enter the prompt themselves.
        metadata: runtime facts, sent as a separate message.
        ephemeral: an instruction for this call only, which hosts should not store.
        diagnostics: problems on the way to this turn, for the manifest.
        ahead: tools found by the user's words, best first; `Engine.look_ahead` fills it. If it is None and the agent
            file has `tools.ahead`, the call searches itself.
        conversation: the host's id of the conversation, for records; later calls that continue it need not repeat it.
            It enters no prompt.
        run: limits of the run that override those of the agent file.
        not_enforced: limits that the host cannot enforce; the manifest says so where the agent has them.
    """

    inputs: JsonObject = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    now: AwareDatetime | None = None
    tools: tuple[str, ...] | None = None
    tools_before: tuple[str, ...] | None = None
    discovered: tuple[str, ...] = ()
    reload: ReloadPolicy | None = None
    delivery: DeliveryWish | None = None
    model: str = ""
    endpoint: str = ""
    authority: Authority | None = None
    host: Host = "messages"
    profile: str = ""
    variant: str = ""
    files: Mapping[str, FileText] = field(default_factory=dict)
    gates: Gates = field(default_factory=Gates)
    access: str = ""
    environment: tuple[str, ...] | None = None
    messages: tuple[Annotated[Message, agreed], ...] = ()
    summary: str | Summary = ""
    message: Annotated[Message, agreed] | None = None
    query: str = ""
    metadata: JsonObject = field(default_factory=dict)
    ephemeral: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    ahead: tuple[str, ...] | None = None
    conversation: str = ""
    run: RunLimits = field(default_factory=RunLimits)
    not_enforced: tuple[RunLimit, ...] = ()
