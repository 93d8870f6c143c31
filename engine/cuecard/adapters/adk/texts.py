"""Conversations of ADK sessions: the state, which events show, has digests; sessions of their own have the texts."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session

from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Json
from cuecard.model.signed_text import seal, unseal

APP = ".cuecard"
"""Behind the name of an app, this is the app whose sessions have the texts."""

_LOG = logging.getLogger("cuecard")
_TEXT = "conversation"
_SHOWN = ("invocation", "digest", "agent", "found")


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """What the state of a session says of a conversation.

    Attributes:
        invocation: the invocation that its call is for.
        digest: the digest of its text; empty where the state has the text itself, as older versions wrote it.
        agent: the name of the engine's agent.
        found: the names of the tools found so far, sealed.
        text: the text, where it is known.
    """

    invocation: str
    digest: str = ""
    agent: str = ""
    found: str = ""
    text: str = ""

    @classmethod
    def of(cls, engine: Engine, session: Session, invocation: str, text: str, found: tuple[str, ...]) -> SessionRecord:
        """That of a conversation of the engine in this session."""
        digest = _digest(text)
        sealed = seal({"of": digest, "in": _name(session), "found": [*found]}, engine.key, as_text=True)
        return cls(invocation, digest, engine.agent.spec.agent, sealed, text)

    @classmethod
    def read(cls, held: Any, key: str) -> SessionRecord:
        """That in the state of a session.

        Raises:
            InputError: when it is something else.
        """
        held = held if isinstance(held, Mapping) else {}
        known = {name: held[name] for name in _SHOWN if isinstance(held.get(name), str)}
        text = held.get("conversation")
        if not isinstance(text, str) and len(known) < len(_SHOWN):
            told = "the session state does not contain a conversation under this key"
            raise InputError(Problem("bad-conversation", told, "remove it, or give the plugin another `name`", key))
        return cls(known.get("invocation", ""), text=text) if isinstance(text, str) else cls(**known)

    @property
    def shown(self) -> dict[str, str]:
        """What the state says."""
        return {name: getattr(self, name) for name in _SHOWN}

    def tools(self, engine: Engine, session: Session) -> tuple[str, ...]:
        """The tools found so far, for a prompt that is made anew because nobody has the text.

        Clients may send changes of the state, so those that another session has found count as none; so do those of
        older versions, which did not say where they were found.

        Raises:
            InputError: when they are another conversation's, or it is another agent's.
        """
        own = engine.agent.spec.agent
        if self.agent != own:
            told = f"the conversation belongs to the agent `{self.agent}`, not to `{own}`"
            raise InputError(Problem("foreign-call", told, "give the plugin another `name`", "conversation"))
        read: Json = unseal(self.found, engine.key, "conversation")
        if not isinstance(read, dict) or read.get("of") != self.digest:
            told = "the tools in the session state are those of another conversation"
            raise InputError(
                Problem("bad-conversation", told, "remove the conversation from the state", "conversation")
            )
        names = read.get("found") if read.get("in") == _name(session) else ()
        return tuple(str(name) for name in names) if isinstance(names, list) else ()

    async def save(self, service: BaseSessionService, session: Session) -> None:
        """Keep the text in a session of its own, in no app that anybody talks to."""
        try:
            await service.create_session(**self._place(session), state={_TEXT: self.text})
        except AlreadyExistsError:  # it is known by its text
            return
        except Exception as error:  # noqa: BLE001 - whatever the service raises: another process makes its prompt anew
            _LOG.warning("the conversation is not kept for other processes: %s", type(error).__name__)

    async def load(self, service: BaseSessionService, session: Session) -> str:
        """The text; empty where it is not to be had."""
        if self.text:
            return self.text
        try:
            held = await service.get_session(**self._place(session), config=None)
        except Exception as error:  # noqa: BLE001 - the same
            _LOG.warning("the conversation is not known here: %s", type(error).__name__)
            return ""
        text = held.state.get(_TEXT) if held else None
        return text if isinstance(text, str) and _digest(text) == self.digest else ""

    async def delete(self, service: BaseSessionService, session: Session) -> None:
        """Keep the text no longer."""
        try:
            await service.delete_session(**self._place(session))
        except Exception as error:  # noqa: BLE001 - the same
            _LOG.warning("a conversation that has ended is still kept: %s", type(error).__name__)

    def _place(self, session: Session) -> dict[str, str]:
        app, name = f"{session.app_name}{APP}", f"{session.id}.{self.digest[:32]}"
        return {"app_name": app, "user_id": session.user_id, "session_id": name}


def _name(session: Session) -> str:
    return _digest(f"{session.app_name}\n{session.user_id}\n{session.id}")


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
