"""Rows of tests/cases/systems/README.md that no single turn shows, each in a conversation of several turns, on hosts.

A test has the ids of the rows that it proves in its name.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from cases.system_rows import ROOT, Asked, Play, in_a_loop, lines, on_pydantic_ai, opened
from cms.seed import open_site
from cuecard import Engine, Entity, FileText, Gates, Memory, Message, Step, ToolResult, Turn, compare_manifests
from cuecard.adapters import anthropic
from cuecard.adapters.openai import chat_request
from cuecard.config.turn_file import to_turn
from cuecard.template.backends import python_backend
from cuecard.types import Json, Summary, SummaryRequest
from cuecard.workbench.played import past_results, read_turn
from cuecard.workbench.render import split_prompt
from unit.cms.talked import Talk
from unit.cms.test_run_limits import Chat, results
from unit.pipeline.history.chat import assistant, talk, user

PROMPTS = ROOT / "prompts"
POLYANT, ROOM = PROMPTS / "polyant" / "agent.yaml", PROMPTS / "polyant" / "room.yaml"
PIONEER, CMS = PROMPTS / "pioneer" / "agent.yaml", PROMPTS / "cms" / "agent.yaml"
START = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
SUPERVISOR = Gates(harness=("supervisor",))

on_hosts = pytest.mark.parametrize("play", [in_a_loop, on_pydantic_ai])


def rows(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("row", ["+".join(names)])


def at(minutes: int, inputs: dict[str, Json] | None = None, **more: Any) -> Asked:
    return Asked(Turn(inputs or {}, now=START + timedelta(minutes=minutes), **more))


def found(*tools: str, call: str = "found") -> tuple[ToolResult, ...]:
    return (ToolResult("tool_search", {"tools": [*tools]}, call),)


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


# Polyant


@rows("polyant-2", "polyant-29")
@on_hosts
def test_the_clock_is_asked_in_each_turn(row: str, play: Play) -> None:
    times = [START, START + timedelta(minutes=1)]
    engine = replace(opened(POLYANT, "rewrite"), clock=lambda: times[0])

    def asked() -> Iterator[Asked]:
        yield Asked(Turn())
        del times[0]
        yield Asked(Turn())

    first, second = play(engine, asked())

    assert [["9:05\u202fAM" in sent.system, "9:06\u202fAM" in sent.system] for sent in (first, second)] == [
        [True, False],
        [False, True],
    ]


@rows("polyant-16")
@on_hosts
def test_an_edited_section_is_in_the_next_turn(row: str, play: Play, tmp_path: Path) -> None:
    folder = shutil.copytree(POLYANT.parent, tmp_path / "polyant")
    before = Engine.open(folder, delivery="rewrite")
    (folder / "sections" / "02-soul.md").write_text("## Soul\n\nCheerful since yesterday.\n", encoding="utf-8")
    after = Engine.open(folder, delivery="rewrite")
    first, second, third = play(before, [at(0), replace(at(0), engine=after), at(0)])
    soul = (POLYANT.parent / "sections" / "02-soul.md").read_text(encoding="utf-8").strip()

    assert second.system == first.system.replace(soul, "## Soul\n\nCheerful since yesterday.") != first.system
    assert third.system == second.system


@rows("polyant-17")
@on_hosts
def test_catalogue_skills_and_time_are_those_of_the_turn(row: str, play: Play) -> None:
    chat = at(0, gates=SUPERVISOR, environment=())
    room = at(1, gates=Gates(harness=("supervisor", "room")), environment=("BILLING_TOKEN",))
    said = play(opened(POLYANT, "rewrite"), [chat, room, chat])
    marks = ("**postToRoom**", "<name>unpaid-invoices</name>", "9:06")

    assert [[mark in sent.system for mark in marks] for sent in said] == [[False] * 3, [True] * 3, [False] * 3]


@rows("polyant-27", "pioneer-42")
@on_hosts
@pytest.mark.parametrize(
    ("agent", "tool", "slug"), [(POLYANT, "readSkill", "travel-planning"), (PIONEER, "read_skill", "csv-report")]
)
def test_a_skill_is_read_as_a_result_and_not_in_the_prompt(
    row: str, play: Play, agent: Path, tool: str, slug: str
) -> None:
    engine = opened(agent)
    body = (agent.parent / "skills" / slug / "SKILL.md").read_text(encoding="utf-8").split("---\n")[2].strip()
    read = engine.read_skill(slug, Turn(environment=()))
    sent = play(
        engine, [at(0, environment=()), replace(at(1, environment=()), results=(ToolResult(tool, read.text, "r"),))]
    )

    assert read.text.strip() == body
    assert [max(body.splitlines(), key=len) in each.text for each in sent] == [False, False]
    assert not engine.read_skill(slug[:-1]).found


@rows("polyant-33", "polyant-64")
@on_hosts
def test_three_blocks_follow_the_eighth_section(row: str, play: Play) -> None:
    all_three = at(
        0,
        {"channel": "telegram", "channelId": "7", "context": "An event."},
        messages=tuple(talk(16)),
        summary=Summary("They greeted each other."),
        message=user("Go on."),
    )
    _, second, third = play(opened(POLYANT, "rewrite"), [at(0), all_three, at(0)])
    eight = sorted(POLYANT.parent.glob("sections/*.md"))
    heads = [lines(path.read_text(encoding="utf-8"))[0] for path in eight]

    assert len(heads) == 8
    assert in_order(
        second.system,
        *heads,
        "## Current channel\n\nYou are talking via telegram.\n- Channel ID: 7\n- User name: unknown",
        "## Conversation Context\n\nAn event.",
        "## Previous conversation context (summary)\n\nThey greeted each other.\n\nNote: ",
    )
    assert [lines(part)[0] for part in third.system.split("\n\n---\n\n")] == heads


@rows("polyant-50", "polyant-52", "polyant-54")
@on_hosts
def test_a_summary_is_written_after_the_reply_and_a_failure_keeps_the_last(row: str, play: Play) -> None:
    engine, asked, answers = opened(POLYANT, "rewrite"), list[SummaryRequest](), ["First.", "Second.", "", "Fourth."]

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return answers[len(asked) - 1]

    def turns() -> Iterator[Asked]:
        history = list[Message]()
        stored: str | Summary = ""
        for number in range(1, 13):
            turn = Turn(now=START, messages=tuple(history), summary=stored, message=user(f"question {number}"))
            yield Asked(turn)
            before = len(asked)
            stored = engine.summarize(turn, summarizer).summary  # after the request was sent
            assert len(asked) == before + (number > 8)
            history += [user(f"question {number}"), assistant(f"answer {number}")]

    sent = play(engine, turns())
    told = [each.system.partition("(summary)\n\n")[2].partition("\n")[0] for each in sent]

    assert told == [*[""] * 9, "First.", "Second.", "Second."]
    assert asked[0].text.splitlines()[:2] == ["Messages to summarize:", "User: question 1"]


@rows("polyant-55")
def test_a_room_loads_fifty_messages_and_no_summary(row: str) -> None:
    turns = [
        at(0, messages=tuple(talk(number)), summary=Summary("Old."), message=user("Go on.")) for number in (16, 80, 50)
    ]
    sent = in_a_loop(opened(ROOM, "rewrite"), turns)

    assert [len(each.messages) - 1 for each in sent] == [16, 50, 50]
    assert sent[1].messages[0] == "message 31"
    assert not any("Old." in each.text for each in sent)


@rows("polyant-59")
@on_hosts
def test_what_tools_find_is_in_results_and_not_in_the_prompt(row: str, play: Play) -> None:
    results = (ToolResult("searchMemory", {"found": "Jana takes sugar."}, "1"),)
    first, second, third = play(opened(POLYANT), [at(0), replace(at(0), results=results), at(0)])

    assert first.system == second.system == third.system
    assert "sugar" not in second.text + third.text


@rows("polyant-70", "polyant-71", "polyant-79", "cms-94")
@on_hosts
@pytest.mark.parametrize("agent", [POLYANT, CMS])
def test_conversations_of_one_engine_see_nothing_of_each_other(row: str, play: Play, agent: Path) -> None:
    secrets = Memory((Entity("page", "page-9", "SECRET"),)) if agent is CMS else Memory()
    inputs: dict[str, Json] = {} if agent is CMS else {"channel": "telegram", "userName": "SECRET", "context": "SECRET"}
    told: Sequence[Asked] = [at(0, inputs, memory=secrets), at(1, inputs, memory=secrets)]
    plain = [at(5), at(6)]
    shared = opened(agent)

    def between() -> Iterator[Asked]:
        for each in plain:
            assert all("SECRET" in sent.text for sent in play(shared, told))
            yield each

    assert [sent.text for sent in play(shared, between())] == [sent.text for sent in play(Engine.open(agent), plain)]


# Pioneer

FILES = {"SOUL.md": "Voice: calm and exact. " * 700, "IDENTITY.md": "Name: Wren", "USER.md": "Name: Ines"}


def files(**more: str) -> dict[str, FileText]:
    return {path: FileText(path, text) for path, text in {**FILES, **more}.items()}


def rounds(delivery: Any = None) -> tuple[Engine, list[Step]]:
    """The requests of a second turn of Pioneer, in which a tool fails and the host asks to try again."""
    engine = opened(PIONEER, delivery)
    chat = engine.conversation()
    chat.user(Turn(now=START, files=files(), tools=("shell_exec",)))
    chat.step()
    chat.user(Turn(now=START, files=files(), tools=("shell_exec",)))
    first = chat.step()
    retry = {"retry_instruction": "Look at the folder first."}
    return engine, [first, chat.step([ToolResult("shell_exec", "exit_code=127", "c", is_error=True)], inputs=retry)]


@rows("pioneer-4", "pioneer-7")
@pytest.mark.parametrize("delivery", ["rewrite", "append", "frozen"])
def test_a_retry_changes_its_section_between_rounds_and_nothing_that_is_stable(row: str, delivery: Any) -> None:
    _, (first, second) = rounds(delivery)
    changed = [each.id for each in compare_manifests(first.manifest, second.manifest).changes if each.kind != "same"]
    said = [{"role": "user", "content": "Go on."}]
    bodies = [chat_request(step, said, model="gpt-5.2")["messages"] for step in (first, second)]
    stable, _, _ = bodies[1][0]["content"].partition("<!-- PIONEER_PROMT_CACHE_BOUNDARY -->")

    assert {each.partition(":")[0] for each in changed} <= {"retry_runtime_instruction", "turn-text", "changed-text"}
    assert changed
    assert bodies[0][0]["content"].startswith(stable.rstrip())
    assert ["Look at the folder first." in json.dumps(body) for body in bodies] == [False, True]


@rows("pioneer-6", "pioneer-48")
def test_the_fingerprint_of_the_stable_half_follows_the_files_and_nothing_else(row: str) -> None:
    engine = opened(PIONEER, "rewrite")
    chat, made = engine.conversation(), []
    for inputs, soul in (({}, "Calm."), ({"extra_system": "Shell: zsh"}, "Calm."), ({}, "Dry.")):
        call = chat.user(Turn(inputs, now=START, files=files(**{"SOUL.md": soul}), tools=(), profile="full"))
        made.append(split_prompt(engine.agent, call, chat.step()))
    first, second, third = made

    assert first.stable_sha256 == second.stable_sha256 != third.stable_sha256
    assert first.dynamic_sha256 != second.dynamic_sha256
    assert len({each.full_sha256 for each in made}) == 3
    assert {(each.compiler, each.agent, each.profile) for each in made} == {("cuecard/1", "pioneer", "full")}
    assert second.stable_sections[:2] == ("identity_base", "assistant_safety")
    assert second.dynamic_sections == ("extra_system",)


@rows("pioneer-8")
def test_two_hundred_entries_are_loaded(row: str) -> None:
    sent = in_a_loop(opened(PIONEER), [at(0, messages=tuple(talk(n)), message=user("Go on.")) for n in (4, 402)])

    assert [len(each.messages) - 1 for each in sent] == [4, 400]
    assert sent[1].messages[0] == "message 3"


@rows("pioneer-10")
@on_hosts
def test_tokens_are_counted_with_one_table_for_every_model(row: str, play: Play) -> None:
    sent = play(opened(PIONEER), [at(n, model=model) for n, model in enumerate(("claude-opus-4-8", "gpt-5.2"))])

    assert {each.step.manifest.tokens.source.encoding for each in sent} == {"cl100k_base"}


@rows("pioneer-11", "pioneer-13", "pioneer-17")
def test_from_eighty_percent_of_the_budget_on_a_model_is_asked_for_a_summary(row: str) -> None:
    engine, asked = opened(PIONEER), list[SummaryRequest]()
    room = 128_000 - 16_000

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return "All of it, in short."

    def turns() -> Iterator[Asked]:
        for share in (0.79, 0.81):
            long = "word " * int(room * share / 8)
            history = tuple((user if n % 2 else assistant)(f"{n} {long}") for n in range(8))
            turn = Turn(now=START, messages=history, message=user("Go on."), tools=())
            yield Asked(engine.summarize(turn, summarizer))

    first, second = in_a_loop(engine, turns())

    assert [len(first.messages), len(second.messages)] == [9, 2]
    assert second.messages == ("Summary of earlier conversation:\nAll of it, in short.", "Go on.")
    assert [request.max_tokens for request in asked] == [room // 10]
    assert all(kept in asked[0].system for kept in ("decisions", "file paths", "corrected", "still open"))


@rows("pioneer-34")
def test_a_provider_caches_up_to_the_boundary_in_each_turn(row: str) -> None:
    chat, bodies = opened(PIONEER).conversation(), []
    for text in ("Shell: zsh", "Shell: bash"):
        chat.user(Turn({"extra_system": text}, now=START, files=files(), tools=(), host="system-only"))
        said = [{"role": "user", "content": "Hi"}]
        bodies.append(anthropic.request(chat.step(), said, model="claude-opus-4-8")["system"])

    assert bodies[0][0] == bodies[1][0]
    assert bodies[0][0]["cache_control"] == {"type": "ephemeral"}
    assert ["Shell: zsh" in body[1]["text"] for body in bodies] == [True, False]


@rows("pioneer-38")
@on_hosts
def test_the_manifest_of_each_turn_holds_no_text(row: str, play: Play) -> None:
    secret = "a-word-that-stands-nowhere-else"  # noqa: S105 - a text to look for
    inputs: dict[str, Json] = {"retry_instruction": secret, "dynamic_context": secret}
    held = files(**dict.fromkeys(FILES, secret))
    sent = play(opened(PIONEER), [at(n, inputs, files=held, tools=()) for n in range(2)])

    assert [each.text.count(secret) >= 5 for each in sent] == [True, True]
    assert [secret in json.dumps(each.step.manifest.to_json()) for each in sent] == [False, False]


@rows("pioneer-43", "pioneer-44", "pioneer-45", "pioneer-55")
@on_hosts
def test_tools_are_what_the_turn_lists_whatever_the_prompt_names(row: str, play: Play) -> None:
    inputs: dict[str, Json] = {"active_skills": ["*"]}
    engine = opened(PIONEER, "rewrite")
    with_it, without = (at(0, inputs, tools=tools) for tools in (("read_skill", "shell_exec"), ("shell_exec",)))
    sent = play(engine, [with_it, without, with_it])
    both = ["read_skill", "shell_exec"]

    assert [sorted(each.offered) for each in sent] == [both, ["shell_exec"], both]
    assert [sorted(each.step.active_tools) for each in sent] == [both, ["shell_exec"], both]
    assert all("`read_skill`" in each.system for each in sent)
    assert [bool(each.step.refusal("read_skill")) for each in sent] == [False, True, False]
    assert not any(card.description in each.text for card in engine.tools.values() for each in sent)


# The CMS assistant

NAMES = [("page", "About Us"), ("section", "Opening hours"), ("image", "team-photo-2026.jpg"), ("post", "The old mill")]
TEN = Memory(tuple(Entity(kind, f"{kind}-{n}", name) for n in range(10) for kind, name in [NAMES[n % 4]]))


def dearest(number: int) -> tuple[ToolResult, ...]:
    engine = opened(CMS, "rewrite")
    cost = {name: engine.count(each.text) for name, each in engine.agent.protocols.items()}
    others = (name for name in cost if name not in engine.agent.core)
    return found(*sorted(others, key=lambda name: -cost[name])[:number])


@rows("cms-5", "cms-96", "cms-97", "cms-98")
@on_hosts
def test_each_part_of_the_prompt_costs_what_the_page_says(row: str, play: Play) -> None:
    def tokens(step: Step, section: str) -> int:
        return sum(part.tokens for part in step.manifest.sections if part.id == section)

    def planned(name: str) -> Step:
        file = read_turn(CMS.parent / "turns" / f"{name}.yaml")
        engine = opened(CMS, "rewrite")
        second = Asked(to_turn(file, file.inputs), past_results(engine, file, None).results)
        return play(engine, [at(0), second])[1].step

    first, five, ten = (planned(name) for name in ("first-step", "five-tools", "ten-tools-and-memory"))
    core = tokens(first, "tool-usage-instructions")

    assert 1200 <= first.manifest.tokens.system <= 1500
    assert tokens(first, "working-memory") <= 50
    assert 100 <= tokens(ten, "working-memory") <= 200
    assert 350 <= tokens(five, "tool-usage-instructions") - core <= 450
    assert 700 <= tokens(ten, "tool-usage-instructions") - core <= 850
    assert ten.manifest.tokens.system <= 2400


@rows("cms-29", "cms-92")
@on_hosts
def test_templates_are_compiled_once_at_their_first_render(
    row: str, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = list[str]()
    execute = python_backend.execute

    def counted(code: Any, *rest: Any) -> Any:
        compiled.append(str(code))
        return execute(code, *rest)

    monkeypatch.setattr(python_backend, "execute", counted)
    engine = Engine.open(CMS, delivery="rewrite")
    numbers = [len(compiled)]  # some texts are counted as the agent is opened

    def turns() -> Iterator[Asked]:
        for each in (at(0), Asked(Turn(now=START, memory=TEN), found("cms_getPage")), at(60 * 24)):
            yield each
            numbers.append(len(compiled))

    systems = {sent.system for sent in play(engine, turns())}
    play(engine, turns())

    opened_with, first, *others = numbers
    assert len(systems) == 3
    assert opened_with < first
    assert {*others} == {first}


@rows("cms-34", "cms-81")
@on_hosts
def test_each_request_is_well_formed_and_has_no_blank_lines(row: str, play: Play) -> None:
    hostile = Memory((Entity("page", "p</working-memory>", "<b>\n\n</agent>  "),))
    sent = play(opened(CMS, "rewrite"), [at(0), Asked(Turn(now=START, memory=hostile), dearest(10)), at(1)])

    for each in sent:
        names = [child.tag for child in etree.fromstring(each.system)]
        assert names[:3] == ["identity", "react", "tool-discovery"]
        assert len(names) == len({*names}) == 7
        assert not any(not line.strip() or line != line.rstrip() for line in each.system.strip().splitlines())


@rows("cms-82")
@on_hosts
def test_elements_can_be_nested(row: str, play: Play, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(
        "agent: a\ntemplate: agent.xml\ninputs: {name: {default: you}}\n", encoding="utf-8"
    )
    core = "<agent>\n<rules>\n<rule>\n<part>Greet {{{name}}}.</part>\n</rule>\n</rules>\n</agent>\n"
    (tmp_path / "agent.xml").write_text(core, encoding="utf-8")
    sent = play(Engine.open(tmp_path, delivery="rewrite"), [at(0), at(1, {"name": "<rule>Jana"})])

    assert [etree.fromstring(each.system).findtext("rules/rule/part") for each in sent] == [
        "Greet you.",
        "Greet <rule>Jana.",
    ]


@rows("cms-87", "cms-88", "cms-105")
@on_hosts
def test_a_new_instruction_is_one_entry_and_comes_with_its_tool(row: str, play: Play, tmp_path: Path) -> None:
    shutil.copytree(CMS.parent, tmp_path / "prompts" / "cms")
    shutil.copytree(ROOT / "tool_instructions" / "cms", tmp_path / "tool_instructions" / "cms")
    entry = (
        "category: forms\ntools:\n  cms_addForm: {before: cms_getPage, after: Show it, next: None, gotcha: One form.}\n"
    )
    (tmp_path / "tool_instructions" / "cms" / "forms.yaml").write_text(entry, encoding="utf-8")
    sent = play(Engine.open(tmp_path / "prompts" / "cms"), [at(0), replace(at(0), results=found("cms_addForm"))])
    (shipped,) = play(opened(CMS), [at(0)])

    assert [each.system for each in sent] == [shipped.system] * 2
    assert [each.text.count("<cms_addForm>\nBEFORE: cms_getPage\n") for each in sent] == [0, 1]
    assert [each.text.count("GOTCHA: One form.") for each in sent] == [0, 1]


@rows("cms-90", "cms-91")
@on_hosts
def test_files_are_read_when_the_agent_is_opened(row: str, play: Play, tmp_path: Path) -> None:
    shutil.copytree(CMS.parent, tmp_path / "prompts" / "cms")
    shutil.copytree(ROOT / "tool_instructions" / "cms", tmp_path / "tool_instructions" / "cms")
    core = tmp_path / "prompts" / "cms" / "agent.xml"
    old = Engine.open(core.parent, delivery="rewrite")

    def turns() -> Iterator[Asked]:
        yield at(0)
        core.write_text(core.read_text(encoding="utf-8").replace("friendly and brief", "brief"), encoding="utf-8")
        yield at(0)
        yield replace(at(0), engine=Engine.open(core.parent, delivery="rewrite"))

    first, second, third = play(old, turns())

    assert first.system == second.system
    assert third.system == first.system.replace("Be friendly and brief,", "Be brief,") != first.system


@rows("cms-113")
@on_hosts
def test_a_budget_in_tokens_limits_the_instructions_that_stay(row: str, play: Play, tmp_path: Path) -> None:
    (tmp_path / "agent.yaml").write_text(f"extends: {CMS}\nbudget: {{total: 8000, protocols: 150}}\n", encoding="utf-8")
    asked = [at(0), replace(at(1), results=found("cms_getPage", "cms_listPages", "cms_createPage")), at(2)]
    _, second, third = play(Engine.open(tmp_path), asked)

    for sent in (second, third):
        assert {"cms_getPage", "cms_listPages"} < {*sent.step.active_tools}
        assert "cms_createPage" not in sent.step.active_tools
        assert "budget.protocols: 150 tokens" in str(sent.step.manifest.cuts)


@rows("cms-114")
def test_tools_stay_when_the_history_is_shortened(row: str) -> None:
    chat = opened(CMS).conversation()
    chat.user(Turn(now=START))
    chat.step(found("cms_getPage"))
    chat.compacted(kept=0)
    chat.user(Turn(now=START))
    (system, _) = chat_request(chat.step(), [{"role": "user", "content": "Go on."}], model="gpt-5.2")["messages"]

    assert chat.step().active_tools[-1] == "cms_getPage"
    assert "<cms_getPage>\nBEFORE: " in system["content"]


# The CMS assistant, with its own search and the tools of the example


@pytest.fixture
def assistant_of_the_cms(tmp_path: Path) -> Iterator[Talk]:
    database = open_site(tmp_path / "site", clock=lambda: START)
    yield Talk(database)
    database.close()


@rows("cms-16", "cms-83", "cms-84")
def test_capabilities_find_their_tools_and_topics_do_not(row: str, assistant_of_the_cms: Talk) -> None:
    good = {
        "create blog post": "cms_createPost",
        "attach image to section": "cms_updateSectionImage",
        "hide menu item": "cms_toggleNavigationItem",
        "search images": "cms_searchImages",
        "list page sections": "cms_getPageSections",
        "section fields": "cms_getSectionFields",
    }
    first = {query: assistant_of_the_cms.search(query)["tools"][0] for query in good}
    bad = {query: assistant_of_the_cms.search(query)["tools"][:4] for query in ("summer sale", "mountains", "bees")}

    assert first == good
    assert not any({"cms_createPost", "cms_createPageWithContent"} & {*tools} for tools in bad.values())


@rows("cms-116")
def test_a_search_answers_with_at_most_eight_names_and_a_message(row: str, assistant_of_the_cms: Talk) -> None:
    answer = assistant_of_the_cms.search("change pages, sections, images, posts and menus")
    nothing = assistant_of_the_cms.search("qwertz yxcvb")

    assert len(answer["tools"]) == 8
    assert answer["message"]
    assert nothing["tools"] == []
    assert nothing["message"]


@rows("cms-78")
def test_each_category_has_tools_that_are_found(row: str, assistant_of_the_cms: Talk) -> None:
    for category in ("posts", "pages", "sections", "images", "navigation"):
        tools = assistant_of_the_cms.search(f"list {category}")["tools"]
        assert [opened(CMS).tools[name].category for name in tools].count(category) >= 1


@rows("cms-40", "cms-41")
def test_memory_follows_what_tools_return_and_delete(row: str, assistant_of_the_cms: Talk) -> None:
    talk = assistant_of_the_cms
    made = talk.use("cms_createPage", {"title": "Our bakery"})["page"]["id"]
    talk.use("cms_createPost", {"title": "Rye bread"})
    talk.use("cms_deletePage", {"pageId": made})
    talk.use("cms_deletePage", {"pageId": made, "confirmed": True})
    talk.use("cms_listPages", {})
    shown = [f'"Our bakery" ({made})' in newest(text) for text in talk.seen]
    post = ['"Rye bread" (rye-bread)' in newest(text) for text in talk.seen]

    assert shown == [False, True, True, True, False]
    assert post == [False, False, True, True, True]


def newest(text: str) -> str:
    """The working memory that a request tells last."""
    return text.rpartition("[WORKING MEMORY]")[2]


@rows("cms-72")
def test_a_tool_is_refused_after_two_retries(row: str, assistant_of_the_cms: Talk) -> None:
    talk = assistant_of_the_cms
    talk.search("get page")
    answers = talk.repeat("cms_getPage", {"slug": "contct"}, times=4)

    assert ["not_found" in answer for answer in answers] == [True, True, True, False]
    assert "3" in answers[3]
    assert talk.use("cms_getPage", {"slug": "contact"})["slug"] == "contact"


@rows("cms-110")
def test_each_turn_of_the_cms_acknowledges_first(row: str) -> None:
    chat = Chat()
    search = ("tool_search", {"query": "show a page"})

    for _ in range(2):
        steps, _ = chat.say([[search], [("acknowledge", {"message": "Gladly."})], [search]])
        assert ["call `acknowledge` first" in text for text in results(steps)] == [True, False, False]
