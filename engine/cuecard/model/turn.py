"""The turn: what the host knows of one call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from cuecard.model.gates import Gates
from cuecard.model.messages import Message, Summary
from cuecard.model.prompt import Diagnostic
from cuecard.model.values import Authority, DeliveryWish, FileText, Host, Json, Memory, ReloadPolicy
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Turn:
    """What the host knows of one call; every field has a default.

    Attributes:
        inputs: values of the inputs that the agent file declares.
        memory: the working memory as this call starts.
        now: the time with its zone; the engine's clock is asked when it is None.
        tools: names of the tools that exist for this call; None means the whole catalogue.
        tools_before: the tools that existed as the run before ended, where the host itself has told the model of tools
            that went or came within that run, so that this is not said again; None where nothing of the kind happened.
        discovered: tools found earlier in the conversation whose results are no longer in the history.
        reload: the policy by which a watched engine was chosen for this call, for the manifest; `append` also lets the
            call go on from one that another state of the files has made. The agent file's holds where it is None.
        delivery: overrides the engine's delivery for this call; another one than before opens a new baseline.
        model: the name of the model, such as `claude-opus-4-8`, with or without its provider in front; decides what
            `auto` delivery means.
        endpoint: the base URL of the service that is asked; empty for the provider's own. Where no models file knows
            it, no role but the user's carries instructions in mid-conversation.
        authority: the role in which the host places appended blocks, where it knows better than the model's profile.
        host: whether the host can append messages in mid-conversation, or only set the system prompt.
        profile: which set of sections, of those that the agent file names.
        variant: which changes on top of the profile.
        files: files that the host supplies for sections, by their path in the agent file.
        gates: what switches tools on and off in lists of tools.
        environment: the names of environment variables that are set, for skills that need some; None if nobody knows.
        messages: the conversation before the current message, oldest first, for the agent's history policy.
        summary: the summary that is stored with the conversation.
        message: the current message; None where the host sends it by other ways.
        query: the user's words, where there is no `message`: sections that look for something in them, such as
            the names of skills, read them here; they enter no prompt themselves.
        metadata: runtime facts for a message of their own.
        ephemeral: an instruction for this call alone, which no host should store.
        diagnostics: what went wrong on the way to this turn, for the manifest.
        ahead: tools that the user's words have found, best first; `Engine.look_ahead` fills it. Where it is None and
            the agent file has `tools.ahead`, the call searches itself.
    """

    inputs: Mapping[str, Json] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    now: datetime | None = None
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
    environment: tuple[str, ...] | None = None
    messages: tuple[Message, ...] = ()
    summary: str | Summary = ""
    message: Message | None = None
    query: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    ephemeral: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    ahead: tuple[str, ...] | None = None
