"""What a prompt was made from, and how it is delivered: told by calls and manifests alike."""

from __future__ import annotations

from cuecard.model.values import Authority, Delivery, Host, ReloadPolicy
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Configuration:
    """Which files, and which selection among their sections, made a prompt.

    Attributes:
        agent: the agent's name.
        sha256: the fingerprint of all of its files, in hex; in the manifests of an engine with a salt, salted.
        catalogue: the fingerprint of all that is known of its tools, in hex; salted like the other.
        profile: which set of sections; empty for all.
        variant: which changes on top of the profile; empty for none.
        reload: the policy by which the engine was chosen, if its files are watched.
    """

    agent: str
    sha256: str
    catalogue: str = ""
    profile: str = ""
    variant: str = ""
    reload: ReloadPolicy | None = None


@dataclass(frozen=True, slots=True)
class DeliveryChoice:
    """Where step-tier text goes, and why.

    Attributes:
        name: `rewrite`, `append` or `frozen`.
        reason: why it is this one.
        host: what the host can change in mid-conversation.
        model: the name of the model, as the turn gave it.
        endpoint: the address of its service, without scheme, user and password; empty for the provider's own.
        authority: with whose words instructions reach the model that are not there from the start; `user` means the
            fallback, a reminder in the user's turn.
    """

    name: Delivery
    reason: str = ""
    host: Host = "messages"
    model: str = ""
    authority: Authority = "unknown"
    endpoint: str = ""

    @property
    def rebuilds(self) -> bool:
        """Whether the system prompt is made anew for every request, so that nothing has to be said behind it."""
        return self.name == "rewrite"

    @property
    def shows_all(self) -> bool:
        """Whether every tool is active, with its instructions, from the start."""
        return self.name == "frozen"
