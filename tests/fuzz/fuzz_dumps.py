"""Any text is a conversation that an engine gave away, or fails with an InputError: never one that somebody edited."""

from __future__ import annotations

import json
from functools import cache

from cuecard import CuecardError, Engine, Entity, Memory, Turn
from cuecard.agent.build import build_agent
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.files.clock import utc_now
from cuecard.files.tokens import bundled_counter
from fuzz.drawn import check_told
from fuzz.json_pieces import PIECES as JSON

PIECES = (
    *JSON,
    *('"conversation":', '"signature":', '"format": 1', '"call":', '"memory":', '"results":', '"entities":', "\x00"),
)
PHRASES = (
    *('{"conversation": {"format": 1, "memory": {"entities": [], "forgotten": []}}', ', "signature": "', '"}', "}"),
    *('{"conversation": {"format": 1}}', '"results": [{"tool": "a", "call_id": "1"}]', '"call": null', ", "),
)
_AGENT = "agent: a\ninputs: {x: {default: ''}}\nsections: [{id: s, text: 'You help {{x}}.'}]\n"


@cache
def engines() -> tuple[Engine, Engine]:
    """One that signs, and one that does not."""
    agent = build_agent(AgentSources(SourceText("agent.yaml", "agent.yaml", _AGENT)))
    counter = bundled_counter(agent.spec.tokens.encoding)
    plain = Engine(agent, agent.spec.delivery, counter, utc_now)
    return plain, Engine(agent, agent.spec.delivery, counter, utc_now, key="k" * 32)


@cache
def dumped() -> str:
    """A conversation that goes on."""
    conversation = engines()[0].conversation()
    conversation.user(Turn({"x": "Ann"}, Memory((Entity("page", "p", "Home"),))))
    return engines()[0].dump(conversation)


def target(data: bytes) -> None:
    """Load one input as it is, and as an edit of a real one: at a place, some characters are others."""
    text = data.decode("utf-8", "surrogateescape")
    at = len(text) * 7 % len(dumped())
    for given in (text, dumped()[:at] + text + dumped()[at + len(text) :], json.dumps({"conversation": text})):
        for engine in engines():
            try:
                loaded = engine.load(given)
            except CuecardError as error:
                check_told(error)
            else:
                assert not engine.key
                loaded.user(Turn({"x": "Ben"}))
