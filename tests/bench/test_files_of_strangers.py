"""What agents are made of, and what strangers write (skills, logs, answers of servers): linear time, little memory."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from bench.reading import check_memory, check_time
from cuecard import CuecardError
from cuecard.adapters.mcp_client.transport import Gate
from cuecard.adapters.mcp_lines import Lines
from cuecard.agent import build_agent
from cuecard.catalogue.catalogue import admit_cards
from cuecard.config.catalogue_file import read_catalogue
from cuecard.config.documents.sources import AgentSources, SkillSource, SourceText
from cuecard.config.skills.skill_file import read_skill_file
from cuecard.config.transcript_file import read_transcript
from cuecard.types import messages_from_json
from cuecard.workbench.transcripts.formats import FORMS, read_conversation

pytestmark = pytest.mark.bench

FRONT = "---\nname: trip\ndescription: Plans.\n"
CALL = '{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}'
DEEP = '{"name": "a", "inputSchema": ' + '{"a": ' * 90 + "1" + "}" * 91


def skill(text: str) -> None:
    read_skill_file(SkillSource("SKILL.md", "trip/SKILL.md", text, "trip", "skills"))


def agent(text: str) -> None:
    build_agent(AgentSources(SourceText("a.yaml", "a.yaml", text)))


def section(text: str) -> None:
    agent(json.dumps({"agent": "a", "sections": [{"id": "s", "text": text}]}))


def core(text: str) -> None:
    spec = json.dumps({"agent": "a", "template": {"file": "a.xml"}})
    build_agent(AgentSources(SourceText("a.yaml", "a.yaml", spec), SourceText("a.xml", "a.xml", text)))


def turns(text: str) -> None:
    list(read_transcript(text, "log.json").requests())


def log(text: str) -> None:
    for form in FORMS:
        try:
            read_conversation(text, "log.json", form)  # type: ignore[arg-type]  # FORMS are its values
        except CuecardError:
            continue


def tools(text: str) -> None:
    admit_cards(read_catalogue(text, "tools.json"))


def messages(text: str) -> None:
    messages_from_json(json.loads(text))


def server(text: str) -> None:
    gate, lines = Gate("server"), Lines()
    for line in lines.feed(text.encode()):
        gate.received(line)


def listed(each: str, many: int) -> str:
    return "[" + ", ".join([each] * many) + "]"


READERS: dict[str, tuple[Callable[[str], None], Callable[[int], str]]] = {
    "skill: a long description": (skill, lambda n: f"{FRONT}x: {'a ' * (n // 2)}\n---\n"),
    "skill: keys": (skill, lambda n: FRONT + "".join(f"k{k}: a\n" for k in range(n // 8)) + "---\n"),
    "skill: front matter that never ends": (skill, lambda n: FRONT + "a: b: c\n" * (n // 8)),
    "skill: borders": (skill, lambda n: "---\n" * (n // 4)),
    "agent: sections": (agent, lambda n: "agent: a\nsections:\n" + "- {id: s, text: a}\n" * (n // 19)),
    "agent: unknown keys": (agent, lambda n: "agent: a\n" + "".join(f"k{k}: a\n" for k in range(n // 8))),
    "agent: open brackets": (agent, lambda n: "agent: a\nx: " + "[" * n),
    "agent: open quotes": (agent, lambda n: "agent: a\nx: '" + "a\n" * (n // 2)),
    "agent: quoted quotes": (agent, lambda n: "agent: a\nx: '" + "''" * (n // 2) + "'"),
    "template: tags": (section, lambda n: "{{#if a}}x{{/if}}" * (n // 17)),
    "template: mistakes": (section, lambda n: "{{a b(}}" * (n // 8)),
    "template: blocks left open": (section, lambda n: "{{#if a}}" * (n // 9)),
    "template: braces": (section, lambda n: "{" * n),
    "template: backslashes": (section, lambda n: "\\{{" * (n // 3)),
    "template: calls": (section, lambda n: "{{a(" * (n // 4)),
    "template: values of a call": (section, lambda n: "{{a(" + "b," * (n // 2) + ")}}"),
    "template: names of xml": (section, lambda n: '{{{xml a "b"}}}\n' * (n // 16)),
    "template: tags of Jinja": (section, lambda n: "`{# a #}` {% if x %}\n" * (n // 20)),
    "template: tags of Jinja in one line": (section, lambda n: "`{# a #} " * (n // 9)),
    "core: elements": (core, lambda n: "<a>" + "<b>x</b>" * (n // 8) + "</a>"),
    "core: attributes": (core, lambda n: "<a " + "".join(f'k{k}="x" ' for k in range(n // 9)) + "></a>"),
    "core: elements left open": (core, lambda n: "<a>" * (n // 3)),
    "core: ampersands": (core, lambda n: "<a>" + "&" * n + "</a>"),
    "transcript: brackets": (turns, lambda n: "[" * n),
    "transcript: turns": (turns, lambda n: json.dumps({"turns": [{"user": "a"}] * (n // 16)})),
    "log: messages": (log, lambda n: listed(CALL, n // 100)),
    "log: lines": (log, lambda n: f"{CALL}\n" * (n // 100)),
    "log: unknown lines": (log, lambda n: "{}\n" * (n // 3)),
    "tools: the same name": (tools, lambda n: listed('{"name": "a", "description": "b"}', n // 35)),
    "tools: deep schemas": (
        tools,
        lambda n: listed('{"name": "a", "inputSchema": ' + '{"a": ' * 90 + "1" + "}" * 91, n // 700),
    ),
    "messages: of no role": (messages, lambda n: listed('{"role": 1}', n // 13)),
    "messages: of the user": (messages, lambda n: listed('{"role": "user", "content": "a"}', n // 34)),
    "server: lines that are none": (server, lambda n: "x\n" * (n // 2)),
    "server: answers to nothing": (server, lambda n: '{"jsonrpc": "2.0", "id": 1, "result": {}}\n' * (n // 42)),
    "server: one long line": (server, lambda n: "[" * n),
}


@pytest.mark.parametrize("reader", READERS)
def test_four_times_the_text_takes_about_four_times_as_long(reader: str) -> None:
    check_time(reader, *READERS[reader])


@pytest.mark.parametrize("reader", READERS)
def test_a_large_text_takes_little_memory(reader: str) -> None:
    check_memory(reader, *READERS[reader])
