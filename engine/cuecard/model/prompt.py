"""The pieces of a prompt: segments, blocks and cuts, where they come from and how they are delivered."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, replace
from types import MemberDescriptorType
from typing import Any, Literal, Protocol, TypeVar, cast

from cuecard.model.storage import LATER
from cuecard.model.values import Authority, Delivery, Host, Json, Lifetime, ReloadPolicy, Tier
from cuecard.records import dataclass

_Record = TypeVar("_Record")
_Value = TypeVar("_Value")

REMINDER = "<system-reminder>\n{text}</system-reminder>\n"
"""Around a block that has to stand in the user's turn, unless the agent file has other words for it."""


class _LazyField:
    """A field that may be given what makes its value, which is asked once, when somebody reads it."""

    def __init__(self, slot: MemberDescriptorType) -> None:
        self._get, self._set = slot.__get__, slot.__set__

    def __get__(self, owner: object, kind: type) -> Any:
        if owner is None:
            return self
        value = self._get(owner, kind)
        if callable(value):
            value = value()
            self._set(owner, value)
        return value

    def __set__(self, owner: object, value: object) -> None:
        self._set(owner, value)


def made_later(make: Callable[[], _Value]) -> _Value:
    """What makes the value of a field that is `made_when_read`, in its place."""
    return cast("_Value", make)


def made_when_read(name: str) -> Callable[[type[_Record]], type[_Record]]:
    """Records with slots of which this field may be given by `made_later`. So a table of tokens is loaded where
    somebody looks at a number of tokens, and nowhere else.
    """

    def decorated(kind: type[_Record]) -> type[_Record]:
        type.__setattr__(kind, name, _LazyField(kind.__dict__[name]))
        return kind

    return decorated


@made_when_read("tokens")
@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of the system prompt; `tokens` in the manifest's encoding, `sha256` of the UTF-8 text, in hex.

    In a step of an engine with a salt, `sha256` is salted as in the manifest. `stable` is false behind the boundary of
    a layout that has one.
    """

    id: str
    text: str
    tier: Tier
    tokens: int
    sha256: str
    stable: bool = True


@made_when_read("tokens")
@dataclass(frozen=True, slots=True)
class Appended:
    """A block that `append` delivery adds to the conversation, once.

    It belongs after the *last* result of the batch that contains `after_call_id`. If that is None, it goes with user
    message number `turn` (counted from 0), after its text; if both are None (the host gave no id), it goes at the end.
    `id` is stable for the same text, so a host can find and replace the block.

    A block whose `lifetime` is `turn` is sent until the turn ends and belongs in no stored history; one whose lifetime
    is `step` goes at the end of each request.
    """

    after_call_id: str | None
    text: str
    id: str = ""
    tokens: int = 0
    sha256: str = ""
    turn: int | None = None
    lifetime: Lifetime = field(default="conversation", metadata=LATER)

    @property
    def stays(self) -> bool:
        """Whether it remains in the conversation."""
        return self.lifetime == "conversation"


@dataclass(frozen=True, slots=True)
class EndedText:
    """A text that was sent for one turn or one request and is sent no more: never the text itself.

    Attributes:
        what: the section it came from; `ephemeral` for that of the turn.
        sha256: the fingerprint of the text, by which it is recognised where a host has stored it; never salted.
        turn: the number of its turn; None if the messages have been shortened since.
        after_call_id: the result that it followed; None if it went with the user's message.
    """

    what: str
    sha256: str
    turn: int | None = None
    after_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """A tool and the search result that named it first."""

    tool: str
    after_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """Something that could have been in the prompt and was left out, with the reason."""

    what: str
    reason: str
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """Something wrong with a source that did not stop the prompt: a code such as `missing_file`, and what happened."""

    code: str
    message: str


@dataclass(frozen=True, slots=True)
class SourceRow:
    """One source of a section in the manifest: what became of it, and how many characters (code points) it gave."""

    name: str
    path: str
    status: Literal["loaded", "missing", "read_error", "truncated", "empty", "draft"]
    characters: int = 0


@dataclass(frozen=True, slots=True)
class SectionRecord:
    """One section in the manifest: where it went, why, what it costs, and which values it reads; never its text."""

    id: str
    tier: Tier
    placement: Literal["system", "message", "appended"]
    source: str
    reason: str
    tokens: int
    sha256: str
    reads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TokenSource:
    """Which table counted: the encoding, where the table came from, and whether counts are exact for that encoding."""

    encoding: str
    source: str
    exact: bool


class Tokenizer(Protocol):
    """Counts the tokens of a text, and says by which table."""

    @property
    def source(self) -> TokenSource:
        """The table."""

    def __call__(self, text: str) -> int:
        """How many tokens the text costs."""


def most_tokens(text: str) -> int:
    """The most tokens that a text can have: none is shorter than a byte."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


_FIRST_LETTERS = re.compile(r"\s[A-Za-z]")


def least_tokens(text: str) -> int:
    """The fewest tokens that a text can have in a bundled encoding: no token spans the beginnings of two words."""
    return len(_FIRST_LETTERS.findall(text))


@dataclass(frozen=True, slots=True)
class _Bytes:
    """The tokenizer for which every byte is a token: what fits by it fits in any case."""

    source: TokenSource = TokenSource("bytes", "none", exact=False)

    def __call__(self, text: str) -> int:
        return most_tokens(text)


BYTES = _Bytes()


@dataclass(frozen=True, slots=True)
class LibraryOrigin:
    """Which version of a library an agent is.

    Attributes:
        version: its number.
        label: the label that it was found by; empty for a number.
        stale_since: since when the library could not be asked whether the label has moved, in ISO 8601; empty if it
            could.
        removed: whether the label was removed, and the version that it pointed to still serves.
    """

    version: int
    label: str = ""
    stale_since: str = ""
    removed: bool = False


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
        access: the named set of gates that the user passed; empty for none.
        library: which version of a library the agent is; None for files.
    """

    agent: str
    sha256: str
    catalogue: str = ""
    profile: str = ""
    variant: str = ""
    reload: ReloadPolicy | Literal["append"] | None = None
    access: str = field(default="", metadata=LATER)
    library: LibraryOrigin | None = field(default=None, metadata=LATER)


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


@dataclass(frozen=True, slots=True)
class RenderedResult:
    """The text to send as the result of a tool call, and what happened to the result on the way.

    Attributes:
        text: the text to send.
        tool: the tool's name.
        call_id: the id of the call, if the result has one.
        rule: the key of `results` in the agent file that applied; empty if none did.
        source: where its template is written, as `file:line`.
        left_out: how much of the result was cut out, in `unit`; 0 if nothing was.
        whole: the original length, in `unit`; 0 if no rule limits it.
        unit: the unit of both: `characters`, `lines` or `tokens`.
        trust: how often each kind of hostile text was neutralised.
        diagnostics: problems that did not stop it, such as a template that does not fit this result.
        media: the pictures and files in the result, as the tool wrote them, which the text marks: to be sent beside it
            where the model takes them.
    """

    text: str
    tool: str
    call_id: str | None = None
    rule: str = ""
    source: str = ""
    left_out: int = 0
    whole: int = 0
    unit: str = "characters"
    trust: Mapping[str, int] = field(default_factory=dict)
    diagnostics: tuple[Diagnostic, ...] = ()
    media: tuple[Json, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Plain JSON; of pictures and files only their number, since whoever sent the result has them."""
        flat = {**asdict(replace(self, media=())), "media": len(self.media)}
        return {**flat, "trust": dict(self.trust), "diagnostics": [asdict(each) for each in self.diagnostics]}
