"""Signed conversations that clients carry, with their agent and age."""

from __future__ import annotations

from dataclasses import replace

from cuecard.conversation import Conversation
from cuecard.errors import InputError, Problem
from cuecard.model import Clock, ConversationState, Json
from cuecard.model.sealed import seal, unseal
from cuecard.outside.clock import utc_now

NAME = "conversation"
"""Its name in errors: the name of the field."""


WITHOUT_KEY = (
    "start a new conversation, and set CUECARD_KEY: without it, the service signs with a key that it made when it "
    "started, so that no conversation of another replica, or from before a restart, can be loaded"
)
"""What a service without a key of its host's says of conversations that it cannot open."""


class Envelopes:
    """Seals and opens conversations with one key; replicas with the same key can open each other's.

    A key that is not `lasting` was made by this process: conversations of others cannot be opened, and errors say so.
    """

    def __init__(self, key: str, max_age: float, clock: Clock = utc_now, *, lasting: bool = True) -> None:
        self._key, self._max_age, self._clock, self._lasting = key, max_age, clock, lasting

    def close(self, agent: str, chat: Conversation, *, ended: bool = False) -> str:
        """The conversation as a text that the client keeps but cannot change; `ended` as in `Conversation.to_json`."""
        told = {"agent": agent, "issued": int(self._clock().timestamp()), "state": chat.to_json(ended=ended)}
        return seal(told, self._key, as_text=True)

    def open(self, text: str | None, agent: str) -> ConversationState | None:
        """The state in the text; None if there is none yet.

        Raises:
            InputError: when it was changed, was signed with another key, belongs to another agent, or is too old.
        """
        if text is None:
            return None
        sealed = self._unseal(text)
        if not _is_ours(sealed):
            hint = "pass on the `conversation` of the previous answer, complete and unchanged"
            raise InputError(Problem("bad-conversation", "this service did not produce this text", hint, NAME))
        if sealed["agent"] != agent:
            told = f"the conversation belongs to the agent `{sealed['agent']}`, not to `{agent}`"
            raise InputError(Problem("foreign-call", told, "name that agent, or start a new conversation", NAME))
        self._check_age(sealed["issued"])
        return ConversationState.from_json(sealed["state"], NAME)

    def _unseal(self, text: str) -> Json:
        try:
            return unseal(text, self._key, NAME)
        except InputError as error:
            if self._lasting:
                raise
            raise InputError(map(_without_key, error.problems)) from None

    def _check_age(self, issued: int) -> None:
        age = self._clock().timestamp() - issued
        if age > self._max_age:
            told = (
                f"the conversation was last continued {age:,.0f} seconds ago; at most {self._max_age:,.0f} are allowed"
            )
            raise InputError(Problem("old-conversation", told, "start a new conversation", NAME))


def _without_key(problem: Problem) -> Problem:
    return replace(problem, advice=WITHOUT_KEY) if problem.code == "bad-signature" else problem


def _is_ours(sealed: Json) -> bool:
    """Whether it is a conversation of this service: a key may also sign other texts, such as those of `Engine.dump`."""
    named = isinstance(sealed, dict) and sealed.keys() == {"agent", "issued", "state"}
    return named and isinstance(sealed["agent"], str) and type(sealed["issued"]) is int
