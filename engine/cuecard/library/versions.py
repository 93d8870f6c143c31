"""The nouns of a library: versions and moves of labels, their names, and the content of a version."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import field
from typing import Any

from pydantic import ValidationError

from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.errors import InputError, LibraryError, Problem, visible
from cuecard.model import Json
from cuecard.records import dataclass
from cuecard.reload.states import sources_of

PRODUCTION, LATEST, DRAFT = "production", "latest", "draft"
"""The label of a name that has none; the one that the library moves; the one that needs no check."""

MAX_CONTENT = 16 * 1024 * 1024
"""The maximum number of characters of a version, as JSON."""

MAX_MESSAGE = 2_000
"""The maximum number of characters of a message or an author."""

_LABEL = re.compile(r"[A-Za-z][\w.-]{0,63}", re.ASCII)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_AGENT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_NAME_HINT = "write `AGENT`, `AGENT@LABEL` or `AGENT@NUMBER`, such as `cms@production`"


@dataclass(frozen=True, slots=True)
class Reference:
    """A name such as `cms@production` or `cms@12`; `number` is 0 where it has a label."""

    agent: str
    label: str = PRODUCTION
    number: int = 0

    def __str__(self) -> str:
        return f"{self.agent}@{self.number or self.label}"


def read_reference(name: str) -> Reference:
    """The name in its parts.

    Raises:
        InputError: when it is not such a name.
    """
    agent, _, chosen = name.partition("@")
    if not _AGENT.fullmatch(agent) or ("@" in name and not chosen):
        raise InputError(
            Problem("wrong-argument", f"`{visible(name[:80])}` names no agent of a library", _NAME_HINT, "name")
        )
    if chosen.isascii() and chosen.isdecimal() and 0 < int(chosen[:9]) == int(chosen):
        return Reference(agent, "", int(chosen))
    return Reference(agent, check_label(chosen or PRODUCTION))


def check_label(label: str) -> str:
    """The label, which can be told from a number.

    Raises:
        InputError: when it cannot.
    """
    if not _LABEL.fullmatch(label):
        told = f"`{visible(label[:80])}` cannot be a label"
        hint = "begin it with a letter; then at most 63 letters, digits, `_`, `-` and `.`"
        raise InputError(Problem("wrong-argument", told, hint, "label"))
    return label


def check_words(text: str, name: str) -> str:
    """A message or an author, which databases and terminals can hold.

    Raises:
        InputError: when it is empty, too long, or has control characters.
    """
    if not text.strip() or len(text) > MAX_MESSAGE:
        told = f"`{name}` has {len(text):,} characters; it needs between 1 and {MAX_MESSAGE:,}"
        raise InputError(Problem("wrong-argument", told, "say in a sentence what changed", name))
    return check_characters(text, name)


def check_characters(text: str, name: str) -> str:
    """A text without NUL, other control characters and lone surrogates.

    Raises:
        InputError: when it has one, with the place of the first.
    """
    for at, character in enumerate(text):
        if (
            (ord(character) < 32 and character not in "\t\n\r")
            or "\x7f" <= character <= "\x9f"
            or "\ud800" <= character <= "\udfff"
        ):
            told = f"character {at + 1:,} of `{name}` is {visible(character)}, which no text of a prompt can hold"
            raise InputError(Problem("control-character", told, "remove it", name))
    return text


@dataclass(frozen=True, slots=True)
class Version:
    """One checked version of a whole agent; it never changes.

    Attributes:
        agent: the agent's name.
        number: counts the versions of the agent from 1.
        sha256: the fingerprint of its content.
        configuration: the fingerprint of its texts, as manifests have it (`Configuration.sha256`).
        author: who made it; `tool` for what a model wrote.
        created: when, in ISO 8601 and UTC.
        message: what changed.
        parent: the version that it was made from, if there was one.
        labels: the labels that point to it now.
    """

    agent: str
    number: int
    sha256: str
    configuration: str
    author: str
    created: str
    message: str
    parent: int | None = None
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.agent}@{self.number}"

    def to_json(self) -> dict[str, Json]:
        """The version as plain JSON."""
        return {name: list(told) if isinstance(told, tuple) else told for name, told in _fields(self)}


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a label: an entry of the audit trail.

    Attributes:
        at: when, in ISO 8601 and UTC.
        author: who moved it.
        action: `publish`, `edit`, `write`, `label`, `unlabel`, `rollback` or `import`.
        label: which label.
        before: the version that it pointed to, if there was one.
        after: the version that it points to since; None if it was removed.
        message: why.
    """

    at: str
    author: str
    action: str
    label: str
    before: int | None
    after: int | None
    message: str

    def to_json(self) -> dict[str, Json]:
        """The move as plain JSON."""
        return dict(_fields(self))


def _fields(record: Version | Move) -> Iterable[tuple[str, Any]]:
    return ((name, getattr(record, name)) for name in record.__slots__)


@dataclass(frozen=True, slots=True)
class VersionContent:
    """What a version holds: every text of an agent, and what its check and its export need besides.

    Attributes:
        sources: the texts that make the prompt.
        imported: the definitions of tools that `cuecard tools import` keeps beside their instructions.
        home: the names of the agent file's folder and those above it, as far as its files lie there, outermost first.
        lost: the warnings about placeholders that an edit has taken out on purpose.
    """

    sources: AgentSources
    imported: tuple[SourceText, ...] = ()
    home: tuple[str, ...] = field(default=(), compare=False)
    lost: tuple[str, ...] = field(default=(), compare=False)

    @property
    def sha256(self) -> str:
        """The fingerprint of the content; where it was written, is not part of it."""
        written = json.dumps([self.sources.content(), _plain(self.imported)])
        return hashlib.sha256(written.encode("ascii")).hexdigest()

    def texts(self) -> dict[str, str]:
        """Every text by its path, relative to the agent file's folder."""
        return {each.path: each.text for each in (*self.sources.texts(), *self.imported)}

    def to_text(self) -> str:
        """The content as JSON in ASCII, which every database stores as it is.

        Raises:
            InputError: when it is too large.
        """
        record = {
            "format": 1,
            "sources": self.sources.content(),
            "imported": _plain(self.imported),
            "home": self.home,
            "lost": self.lost,
            "folders": self.sources.folders,
        }
        text = json.dumps(record)
        if len(text) > MAX_CONTENT:
            told = (
                f"the texts of the agent take {len(text):,} characters as JSON; a version has at most {MAX_CONTENT:,}"
            )
            raise InputError(Problem("large-file", told, "take out what no prompt needs", "library"))
        return text

    @classmethod
    def from_text(cls, text: str, name: str) -> VersionContent:
        """The content that `to_text` wrote; errors show its files as `name/PATH`.

        Raises:
            LibraryError: when it wrote something else.
        """

        def named(path: str) -> str:
            return f"{name}/{path}"

        try:
            record = json.loads(text)
            known = {"folders": tuple(record["folders"])}
            sources = sources_of({**record["sources"], **known}, named)
            imported = tuple(SourceText(named(path), path, held) for path, held in record["imported"])
            return cls(sources, imported, tuple(record["home"]), tuple(record["lost"]))
        except (ValueError, LookupError, TypeError, RecursionError, ValidationError):
            told = "the content of this version was damaged, or written by something else"
            hint = "move its labels to another version; restore the database from a copy"
            raise LibraryError(Problem("damaged-library", told, hint, name)) from None


def _plain(sources: Iterable[SourceText]) -> list[tuple[str, str]]:
    return [(each.path, each.text) for each in sources]
