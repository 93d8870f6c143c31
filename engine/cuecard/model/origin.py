"""What a prompt was made from, and how it is delivered: told by calls and manifests alike."""

from __future__ import annotations

from typing import Literal

from cuecard.model.values import Authority, Delivery, Host, ReloadPolicy
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which files, and which selection among their sections, made a prompt.

    Attributes:
        agent: the agent's name.
        sha256: the fingerprint of all of its files, in hex; in the manifests of an engine with a salt, salted.
        catalogue: the fingerprint of everything known about its tools, in hex; salted like `sha256`.
        profile: which set of sections; empty for all.
        variant: the changes on top of the profile; empty for none.
        reload: the policy by which the engine was chosen, if its files are watched; `append` only in what was stored
            while there was such a policy.
    """

    agent: str
    sha256: str
    catalogue: str = ""
    profile: str = ""
    variant: str = ""
    reload: ReloadPolicy | Literal["append"] | None = None


@dataclass(frozen=True, slots=True)
class DeliveryChoice:
    """Where step-tier text goes, and why.

    Attributes:
        name: `rewrite`, `append` or `frozen`.
        reason: why this delivery was chosen.
        host: what the host can change mid-conversation.
        model: the name of the model, as the turn gave it.
        endpoint: the address of its service, without scheme, user and password; empty for the provider's own.
        authority: the role that carries instructions which are not there from the start; `user` means the fallback, a
            reminder in the user's turn.
    """

    name: Delivery
    reason: str = ""
    host: Host = "messages"
    model: str = ""
    authority: Authority = "unknown"
    endpoint: str = ""

    @property
    def rebuilds(self) -> bool:
        """Whether the system prompt is rebuilt for every request, so that nothing has to be announced after it."""
        return self.name == "rewrite"

    @property
    def places_blocks(self) -> bool:
        """Whether text that is not in the system prompt goes into blocks of the conversation."""
        return self.name != "rewrite" and self.host == "messages"

    @property
    def shows_all(self) -> bool:
        """Whether every tool is active, with its instructions, from the start."""
        return self.name == "frozen"
